"""A motion as a file: the ending of its name says what is made."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from groups.pictures.animation import animate
from groups.pictures.coordinates import coordinates
from groups.pictures.drawing import mechanism_at
from groups.pictures.page import page
from groups.pictures.paths import PointName, paths
from mbssa.cli.outputs import MOVING, STILL
from mbssa.film import FILMS, Film
from mbssa.pictures.files import save

if TYPE_CHECKING:
    from groups.trajectory import Trajectory

Picture = Literal["coordinates", "paths", "mechanism"]


def write(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    picture: Picture = "coordinates",
    points: Sequence[PointName] | None = None,
    curves: Sequence[str] | None = None,
    derived: Mapping[str, str] | None = None,
    units: Literal["file", "si"] = "si",
    film: Film | None = None,
) -> None:
    """Write a motion as a film (``.gif``, ``.mp4``, ``.webm``), a page in 3D (``.html``) or a still picture.

    Parameters
    ----------
    path : its ending says what is made; the file is either whole or not there afterwards
    picture : of a ``.png``, ``.svg`` or ``.pdf``: "coordinates" over time, "paths" of points, or the
        "mechanism" at the first instant
    points : whose paths are drawn, as in :func:`paths`; coordinates have none
    curves, derived, units : of coordinates over time, as in :func:`coordinates`
    film : size and rate of an animation

    Raises
    ------
    ValueError
        Another ending or picture, or what :func:`coordinates`, :func:`paths`, :func:`mechanism_at`,
        :func:`animate` or :func:`page` refuse.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import groups, mbssa, pathlib, tempfile
    >>> from groups.pictures import write
    >>> trajectory = groups.build(mbssa.decompose(mbssa.load("slider_crank"))).solve()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(trajectory, pathlib.Path(folder, "crank.svg"), picture="mechanism")
    ...     write(trajectory, pathlib.Path(folder, "crank.html"))
    ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
    ['crank.html', 'crank.svg']
    """
    ending = Path(path).suffix.lower()
    faults = []
    if ending not in (*STILL, *MOVING):
        faults.append(f"{os.fspath(path)}: a motion is drawn as .gif, .mp4, .webm, .html, .png, .svg or .pdf")
    stills = {
        "coordinates": lambda: coordinates(trajectory, curves, derived=derived, units=units),
        "paths": lambda: paths(trajectory, points),
        "mechanism": lambda: mechanism_at(trajectory, 0, points=points),
    }
    if picture not in stills:
        faults.append(f"picture = {picture!r}: write one of {', '.join(stills)}")
    if faults:
        raise ValueError("; ".join(faults))
    if ending in FILMS:
        rate = film or Film()
        animate(trajectory, path, points=points, frames=rate.frames, fps=rate.fps, width=rate.width)
    elif ending in MOVING:
        page(trajectory, path, points=points)
    else:
        save(stills[picture](), path)
