"""The page of a motion, shown in a notebook or in a browser."""

from __future__ import annotations

import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from groups.pictures.page import page_text
from groups.pictures.paths import PointName
from mbssa.files import write_whole

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


@dataclass(frozen=True)
class Player:
    """A page that plays a motion; a notebook shows it in place as the value of a cell.

    Attributes
    ----------
    html : the page, complete in itself
    path : the file that a browser was asked to open; None in a notebook
    height : of the frame in a notebook, pixels

    Examples
    --------
    >>> Player("<!doctype html>", height=300)._repr_html_()[:41]
    '<iframe srcdoc="&lt;!doctype html&gt;" st'
    """

    html: str = field(repr=False)
    path: Path | None = None
    height: int = 480

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe srcdoc="{escape(self.html)}" style="{style}" allow="fullscreen"></iframe>'


def show(trajectory: Trajectory, points: Sequence[PointName] | None = None, *, height: int = 480) -> Player:
    """Play a motion: in place in a notebook, else in the browser, from a temporary file.

    Parameters
    ----------
    points : whose paths are drawn, as in :func:`groups.pictures.paths`
    height : of the frame in a notebook, pixels

    Raises
    ------
    ValueError
        As :func:`groups.pictures.page`.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import groups, mbssa
    >>> crank = mbssa.load("slider_crank")
    >>> trajectory = groups.build(mbssa.decompose(crank)).solve(groups.constant_speed(crank, steps=9))
    >>> trajectory.show().path.name  # doctest: +SKIP
    'motion.html'
    """
    text = page_text(trajectory, points=points)
    if in_notebook():
        return Player(text, height=height)
    path = Path(tempfile.mkdtemp(prefix="mbssa-"), "motion.html")
    write_whole(path, text.encode())
    webbrowser.open(path.as_uri())
    return Player(text, path, height)


def in_notebook() -> bool:
    """Whether this process runs the cells of a notebook: Jupyter, VS Code, Colab or marimo."""
    marimo, ipython = sys.modules.get("marimo"), sys.modules.get("IPython")
    if marimo is not None and marimo.running_in_notebook():
        return True
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
