"""What all tables of model files and cam profiles have in common."""

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """A TOML table: no unknown keys, no conversion of types."""

    model_config = ConfigDict(extra="forbid", strict=True)
