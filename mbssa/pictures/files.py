"""Pictures as files: the same bytes for the same picture, whole or not at all."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbssa.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Endings of file names that :func:`save` supports, and the metadata in each.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Creator": "mbssa", "Date": None},
    "png": {"Software": "mbssa"},
    "pdf": {"Creator": "mbssa", "Producer": None, "CreationDate": None},
}

#: Dots per inch of a PNG: what journals ask of line drawings.
PNG_RESOLUTION = 600

# Text that can be searched and edited in SVG and PDF.
_SETTINGS: Any = {"svg.hashsalt": "mbssa", "svg.fonttype": "none", "pdf.fonttype": 42, "path.simplify": False}


def ending_of(path: str | os.PathLike[str]) -> str:
    """``svg``, ``png`` or ``pdf``, by the ending of a file name.

    >>> ending_of("figures/rotor.SVG")
    'svg'

    Raises
    ------
    ValueError
        Any other ending.
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in _METADATA:
        raise ValueError(f"{os.fspath(path)}: a picture is written as .svg, .png or .pdf")
    return ending


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a picture to a .svg, .png or .pdf file, which is either whole or not there.

    The same picture gives the same bytes, whatever the day or the hash seed. PNG has 600 dots per inch.

    Parameters
    ----------
    figure : from :func:`structural_graph` or :func:`structural_diagram`
    path : its ending decides the format

    Raises
    ------
    ValueError
        The ending is none of the three.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import mbssa, tempfile, pathlib
    >>> from mbssa.pictures import save, structural_diagram
    >>> figure = structural_diagram(mbssa.decompose(mbssa.load("spatial_four_bar")))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "four_bar.svg")
    ...     save(figure, path)
    ...     'id="arrow-1-2"' in path.read_text()
    True
    """
    write_whole(Path(path), rendered(figure, ending_of(path)))


def rendered(figure: Figure, ending: str) -> bytes:
    """A picture as the bytes of a file with this ending."""
    import matplotlib as mpl

    stream = io.BytesIO()
    with mpl.rc_context(_SETTINGS):
        figure.savefig(stream, format=ending, dpi=PNG_RESOLUTION, metadata=_METADATA[ending])
    return stream.getvalue()
