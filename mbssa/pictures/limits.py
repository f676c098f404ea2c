"""Limits of pictures: too many parts, or Matplotlib missing."""

from __future__ import annotations

from importlib.util import find_spec


def require_matplotlib() -> None:
    """Raise unless Matplotlib is there.

    Raises
    ------
    ModuleNotFoundError
        With the command that installs it.
    """
    if find_spec("matplotlib") is None:
        raise ModuleNotFoundError(
            'pictures need Matplotlib: pip install "mbssa[pictures]"', name="matplotlib"
        )


def refuse_beyond(most: int, there: int, what: str, picture: str, instead: str) -> None:
    """Raise if there are more of something than a picture can show.

    Raises
    ------
    ValueError
        With a sentence that says how many there are and what to do instead.
    """
    if there > most:
        raise ValueError(
            f"{there:,} {what} are too many for {picture}, which shows at most {most}; {instead}"
        )
