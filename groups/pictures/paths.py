"""Paths of points of the bodies over the whole motion: points chosen by name, or those of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.pictures.canvas import BODY_COLOURS, EDGE, FINE, STYLES, add_key, canvas_for
from groups.pictures.scene import Scene, scene_of, sentence
from groups.trajectory import body_index
from mbssa.arrays import Floats
from mbssa.pictures.limits import refuse_beyond
from mbssa.pictures.style import entitle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from groups.trajectory import Trajectory


#: A point, as :func:`paths` has them.
PointName = str | tuple[str | int, str | Sequence[float]]

#: Instants that a path is drawn through.
PATH_INSTANTS = 2000

#: Paths that one picture can tell apart, and that it draws by default.
MOST_PATHS, _BY_DEFAULT = 24, 8


@dataclass(frozen=True, eq=False)
class Point:
    """A point of a body: ``at`` (3,) in the body's own frame, m."""

    body: int
    at: Floats
    label: str

    def path(self, scene: Scene) -> Floats:
        """World coordinates (F, 3) at the instants of the scene, m."""
        return scene.world(self.body, self.at[None])[:, 0]


def paths(trajectory: Trajectory, points: Sequence[PointName] | None = None) -> Figure:
    """Paths of points over the whole motion: in the plane with equal scales, in space in three dimensions.

    A filled dot is where a path begins, an open one where it ends; it is broken where the motion was
    not solved. No more than 2,000 evenly chosen instants are drawn. Each point is ``"body.point"`` or
    ``(body, point)``, the point a name of the model or world coordinates at the reference, m; or the id of a
    joint, for its centre. If none is given, they are the points that the model names, or the centres of the
    joints between moving bodies where it names none; the first 8 of them. A ValueError has all points
    that are not there, or says that they are more than 24.

    >>> import groups, mbssa
    >>> trajectory = groups.build(mbssa.decompose(mbssa.load("planar_four_bar"))).solve()
    >>> figure = groups.pictures.paths(trajectory, ["coupler.tracer", "2-3"])
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['coupler.tracer', '2-3']
    """
    scene = scene_of(trajectory, PATH_INSTANTS)
    drawn = points_of(scene, points)
    refuse_beyond(MOST_PATHS, len(drawn), "paths", "one picture", "name fewer points")
    lines = [point.path(scene) for point in drawn]
    canvas = canvas_for(scene, np.concatenate(lines) if lines else None)
    handles = []
    for i, (point, path) in enumerate(zip(drawn, lines, strict=True)):
        colour = BODY_COLOURS[i % 8]
        handles.append(canvas.line(path, colour, EDGE, ls=STYLES[i // 8], zorder=1.4))
        handles[-1].set_label(point.label.replace("$", r"\$"))
        sound = path[np.isfinite(path).all(axis=1)]
        for at, inside in zip(sound[[0, -1]] if len(sound) else (), (colour, "white"), strict=False):
            canvas.dot(at, marker="o", ms=3.6, mfc=inside, mec=colour, mew=FINE, zorder=3)
    add_key(canvas.figure, handles)
    name, (start, end) = scene.mechanism.name or "mechanism", trajectory.time[[0, -1]]
    failed = sentence(trajectory)
    entitle(canvas.figure, f"{name}, t = {start:.4g} … {end:.4g} s" + (f"\n{failed}" if failed else ""))
    return canvas.figure


def points_of(scene: Scene, names: Sequence[PointName] | None) -> list[Point]:
    """The points chosen; the model's named points on moving bodies where none are; else joint centres."""
    if names is None:
        points = {body: scene.mechanism.geometry_of(body).points for body in scene.bodies[1:]}
        names = [(body + 1, point) for body, of in points.items() for point in of] or _centres(scene)
        names = names[:_BY_DEFAULT]
    found, faults = list[Point](), list[str]()
    for name in [names] if isinstance(names, str) else names:
        try:
            found.append(_point(scene, name))
        except (KeyError, ValueError) as fault:
            faults.append(str(fault.args[0]))
    if faults:
        raise ValueError("; ".join(faults))
    return found


def _centres(scene: Scene) -> list[PointName]:
    """Joints between moving bodies, those in one place once."""
    found: dict[PointName, Floats] = {}
    for mark in scene.marks:
        path = scene.place(mark)
        same = [np.allclose(path, at, 0.0, 1e-6 * scene.size, equal_nan=True) for at in found.values()]
        if 0 not in mark.bodies and not any(same):
            found[scene.mechanism.joint_ids[mark.joint]] = path
    return [*found]


def _point(scene: Scene, name: PointName) -> Point:
    """A point of a body by its name in the model or its place in the world at the reference, or a joint's."""
    mechanism = scene.mechanism
    geometry = sorted(mechanism.body_geometry.items())
    known = [f"{mechanism.body_name(body)}.{point}" for body, of in geometry for point in of.points]
    unnamed = "the model names no points; give (body, (x, y, z)) in world coordinates at the reference"
    choices = f"the model's points are {', '.join(known)}" if known else unnamed
    if isinstance(name, str):
        joint = mechanism.called(f"{name}.").removesuffix(".")
        for mark in scene.marks:
            if mechanism.joint_ids[mark.joint] == joint:
                return Point(mark.bodies[mark.seat], mark.origin[mark.seat], name)
        owner, dot, point = name.rpartition(".")
        if not dot:
            raise ValueError(f"point {name!r}: write body.point, or the id of a joint; {choices}")
        name = owner, point
    body, at = body_index(mechanism, name[0]), name[1]
    label = mechanism.body_name(body)
    if body not in scene.bodies:
        raise ValueError(f"body {label} was not kept when the motion was solved")
    if isinstance(at, str):
        if (place := mechanism.geometry_of(body).points.get(at)) is None:
            raise ValueError(f"body {label} has no point {at!r}; {choices}")
        return Point(body, scene.frames.on_body(body, place), f"{label}.{at}")
    where = ", ".join(f"{value:g}" for value in at)
    if len(at) != (2 if scene.planar else 3):
        raise ValueError(f"({where}) of body {label} is no point of a {mechanism.space} mechanism")
    return Point(body, scene.frames.on_body(body, tuple(at)), f"{label} ({where})")
