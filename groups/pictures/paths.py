"""Paths of points of the bodies over the whole motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.canvas import Canvas, canvas_for
from groups.pictures.failures import failures, sentence
from groups.pictures.key import add_key
from groups.pictures.points import Point, PointName, points_of
from groups.pictures.scene import Scene, scene_of
from groups.pictures.style import EDGE, FINE, body_colour
from mbssa.arrays import Floats
from mbssa.pictures.limits import refuse_beyond, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from groups.trajectory import Trajectory


#: Instants that a path is drawn through.
PATH_INSTANTS = 2000

#: Paths that one picture can tell apart.
MOST_PATHS = 24

_STYLES = ("solid", "dashed", "dashdot", "dotted")


def paths(trajectory: Trajectory, points: Sequence[PointName] | None = None) -> Figure:
    """Paths of points over the whole motion: in the plane with equal scales, in space in three dimensions.

    A filled dot is where a path begins, an open one where it ends; it is broken where the motion was
    not solved. No more than 2,000 evenly chosen instants are drawn.

    Parameters
    ----------
    trajectory : a solved motion
    points : each ``"body.point"`` or ``(body, point)``, the point a name of the model or world
        coordinates at the reference, m; or the id of a joint, for its centre. If not given, the points
        that the model names, or the centres of the joints between moving bodies where it names none;
        the first 8 of them

    Raises
    ------
    ValueError
        Points that are not there, all of them; or more than 24.
    ModuleNotFoundError
        Matplotlib is missing; the message says how to install it.

    Examples
    --------
    >>> import groups, mbssa
    >>> from groups.pictures import paths
    >>> bar = mbssa.load("planar_four_bar")
    >>> trajectory = groups.build(mbssa.decompose(bar)).solve(groups.constant_speed(bar, steps=9))
    >>> figure = paths(trajectory, ["coupler.tracer", "2-3"])
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['coupler.tracer', '2-3']
    """
    require_matplotlib()
    scene = scene_of(trajectory, PATH_INSTANTS)
    drawn = points_of(scene, points)
    refuse_beyond(MOST_PATHS, len(drawn), "paths", "one picture", "name fewer points")
    lines = [path_of(scene, point) for point in drawn]
    canvas = canvas_for(scene, np.concatenate(lines) if lines else None)
    handles = []
    for i, (point, line) in enumerate(zip(drawn, lines, strict=True)):
        colour = body_colour(i + 1)
        handles += draw_path(canvas, line, colour, EDGE, _STYLES[i // 8])
        sound = line[np.isfinite(line).all(axis=1)]
        for at, inside in zip(sound[[0, -1]] if len(sound) else (), (colour, "white"), strict=False):
            canvas.dot(at, marker="o", ms=3.6, mfc=inside, mec=colour, mew=FINE, zorder=3)
        handles[-1].set_label(point.label.replace("$", r"\$"))
    if handles:
        add_key(canvas.figure, handles)
    title = (
        f"{scene.mechanism.name or 'mechanism'}, t = {trajectory.time[0]:.4g} … {trajectory.time[-1]:.4g} s"
    )
    failed = sentence(failures(trajectory), len(trajectory.time))
    canvas.title(f"{title}\n{failed}" if failed else title)
    return canvas.figure


def path_of(scene: Scene, point: Point) -> Floats:
    """World coordinates (F, 3) of a point at the instants of the scene, m."""
    return scene.world(point.body, point.local[None])[:, 0]


def draw_path(canvas: Canvas, line: Floats, colour: str, width: float, style: str = "solid") -> list[Any]:
    """One path on the canvas."""
    return [canvas.line(line, colour, width, style=style, zorder=1.4)]
