"""Base of the tables of model files and cam profiles: strictness, and words for their faults."""

from __future__ import annotations

import difflib

from pydantic import BaseModel, ConfigDict

#: Remedy by the type of pydantic's error.
WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a text in quotes",
    "bool_type": "true or false",
    "list_type": "a list […]",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}


def unknown_key(key: str, keys: list[str]) -> str:
    """The sentence for a key that a table does not have.

    >>> unknown_key("axes", ["axis", "point"])
    "unknown key; did you mean 'axis'? the keys here are axis, point"
    """
    near = difflib.get_close_matches(key, keys, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown key; {hint}the keys here are {', '.join(keys)}"


def shown(value: object) -> str:
    """A value of the file as a message shows it, 60 characters at most."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


class Table(BaseModel):
    """A TOML table: no unknown keys, no conversion of types."""

    model_config = ConfigDict(extra="forbid", strict=True)
