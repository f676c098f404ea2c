"""Limits of pictures: too many parts, or Matplotlib missing."""

from __future__ import annotations

from importlib.util import find_spec


def require_matplotlib() -> None:
    """Raise ModuleNotFoundError, with the command that installs it, unless Matplotlib is there."""
    if find_spec("matplotlib") is None:
        raise ModuleNotFoundError(
            'pictures need Matplotlib: pip install -e ".[pictures]" in the clone', name="matplotlib"
        )


def refuse_beyond(most: int, there: int, what: str, picture: str, instead: str) -> None:
    """Raise ValueError if there are more of something than a picture can show."""
    if there > most:
        raise ValueError(
            f"{there:,} {what} are too many for {picture}, which shows at most {most}; {instead}"
        )
