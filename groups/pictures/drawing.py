"""The skeleton of a mechanism at one instant, on the axes of a canvas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.cams import Outline
from groups.pictures.canvas import Canvas, canvas_for
from groups.pictures.failures import failed_at
from groups.pictures.key import add_key
from groups.pictures.labels import name_label
from groups.pictures.paths import PATH_INSTANTS, draw_path, path_of
from groups.pictures.points import PointName, points_of
from groups.pictures.scene import Scene, at_rest, scene_of
from groups.pictures.shapes import Mark
from groups.pictures.style import DRIVEN, EDGE, FINE, FRAME_COLOUR, LINK, MARK, PATH_COLOUR
from mbssa.arrays import Floats, Ints
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import joint_frames
from mbssa.pictures.hues import DASHES, HATCHES, darker
from mbssa.pictures.labels import Obstacle, place_labels
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.style import FONT, INK, MM_PER_INCH, SMALL_TEXT, text_size
from mbssa.texts import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from groups.trajectory import Trajectory
    from mbssa import Mechanism


#: Bodies that a picture on paper can tell apart.
MOST_BODIES = 60

#: Dashes of the line between two joints whose coordinates are coupled.
_COUPLED = (0, (4, 3))

#: Symbols of pins and blocks in the plane, which ISO 3952 has.
_STANDARD = ("o", "s")

_FILLS = {"none": "white", "half": "#BBBBBB", "full": INK}


def mechanism_at(
    trajectory: Trajectory,
    instant: int = 0,
    *,
    points: Sequence[PointName] | None = (),
    where: str | None = None,
) -> Figure:
    """The mechanism at one instant: bodies as lines and polygons between their joints.

    Each structural group has a hue, in the order in which they are solved, and its bodies are shades of it.
    Joints have a symbol for each type, driven ones in vermilion; the frame is grey, in the plane with
    hatched supports. Bodies that were not solved at this instant are left out, and the title says so.

    Parameters
    ----------
    trajectory : a solved motion
    instant : number of an instant; negative ones count from the end
    points : whose paths are drawn too, see :func:`paths`; None for those that the model names
    where : what the title says after the name; the time by default

    Raises
    ------
    ValueError
        No such instant, points that are not there, or more than 60 bodies.
    ModuleNotFoundError
        Matplotlib is missing; the message says how to install it.

    Examples
    --------
    >>> import groups, mbssa
    >>> from groups.pictures import mechanism_at
    >>> crank = mbssa.load("slider_crank")
    >>> trajectory = groups.build(mbssa.decompose(crank)).solve(groups.constant_speed(crank, steps=9))
    >>> figure = mechanism_at(trajectory, 3)
    >>> [text.get_text() for text in figure.texts if text.get_gid() == "name-piston"]
    ['piston']
    """
    require_matplotlib()
    there = len(trajectory.time)
    if not -there <= instant < there:
        raise ValueError(f"there is no instant {instant}: the motion has instants 0 to {there - 1}")
    scene = scene_of(trajectory, np.array([instant % there]))
    refuse_beyond(MOST_BODIES, len(scene.bodies), "bodies", "one picture", "keep fewer when solving")
    canvas = canvas_for(scene, names=len(scene.bodies))
    traced = scene_of(trajectory, PATH_INSTANTS)
    for point in points_of(traced, points):
        draw_path(canvas, path_of(traced, point), PATH_COLOUR, FINE)
    draw_ground(canvas, scene)
    draw_bodies(canvas, scene, 0)
    draw_key(canvas, scene)
    draw_names(canvas, scene, 0)
    canvas.title(title_of(trajectory, scene, 0, where))
    return canvas.figure


def at_reference(mechanism: Mechanism) -> Figure:
    """Draw a mechanism at its reference, also where it cannot be solved; raises as :func:`mechanism_at`.

    >>> import mbssa
    >>> len(at_reference(mbssa.load("slider_crank")).axes)
    1
    """
    return mechanism_at(resting(mechanism), -1, points=(), where="reference")


def resting(mechanism: Mechanism) -> Trajectory:
    """The mechanism as its joints hold it at the reference; as the file has it where they cannot."""
    frames = joint_frames(mechanism)
    found = assemble(mechanism, frames, hold=True, starts=0)
    poses = found.configuration if found.closed else frames.reference
    return at_rest(mechanism, poses, np.arange(mechanism.n_bodies))


def title_of(trajectory: Trajectory, scene: Scene, f: int, where: str | None = None) -> str:
    """Name, time or what stands for it, and what failed at this instant."""
    name = scene.mechanism.name or "mechanism"
    failed = failed_at(trajectory, int(scene.instants[f]))
    missing = [
        scene.mechanism.body_name(body)
        for k, body in enumerate(scene.bodies)
        if not np.isfinite(scene.position[f, k]).all()
    ]
    text = f"{name}, {where or f't = {scene.time[f]:.4g} s'}"
    if failed:
        text += f"\n{failed}" + (f"; not drawn: {listed(missing, 4)}" if missing else "")
    return text


def draw_bodies(canvas: Canvas, scene: Scene, f: int) -> list[Any]:
    """Lines, faces, wheels, guides and joints of the moving bodies at instant f of the scene."""
    drawn: list[Any] = []
    for body, shape in zip(scene.bodies[1:], scene.shapes[1:], strict=True):
        points = scene.world(body, shape.points)[f] if len(shape.points) else shape.points
        if not np.isfinite(points).all():
            continue
        colour = scene.colours[body]
        for face in _outline_of(shape.lines) if not canvas.solid else shape.faces.tolist():
            if len(face) > 2:
                drawn.append(canvas.face(points[face], colour))
        width = LINK if len(shape.lines) == 1 else EDGE
        for line in shape.lines.tolist():
            drawn += _line(canvas, scene, body, points[line], width)
    for outline in scene.outlines:
        if outline.body:
            drawn += _outlined(canvas, scene, outline, f)
    for guide in scene.guides:
        if guide.body:
            ends = scene.world(guide.body, guide.ends)[f]
            if np.isfinite(ends).all():
                width = {"tube": 2.2 * LINK, "rod": LINK, "slot": 2.6 * LINK}.get(guide.kind, EDGE)
                drawn += _line(canvas, scene, guide.body, ends, width)
                if guide.kind == "slot":
                    drawn.append(canvas.line(ends, "white", 1.8 * LINK, zorder=2.1))
    for mark in scene.marks:
        drawn += _mark(canvas, scene, mark, f)
    return drawn


def draw_ground(canvas: Canvas, scene: Scene) -> list[Any]:
    """Draw the frame's supports and rails."""
    drawn: list[Any] = []
    k = canvas.scale
    for outline in scene.outlines:
        if outline.body == 0:
            drawn += _outlined(canvas, scene, outline, 0)
    for guide in scene.guides:
        if guide.body == 0:
            ends = scene.world(0, guide.ends)[0]
            drawn.append(canvas.line(ends, FRAME_COLOUR, EDGE, zorder=1.5))
            if not canvas.solid:
                drawn += _hatched(canvas, ends[0, :2], ends[1, :2], 1.6 * k)
    for mark in scene.marks:
        if 0 not in mark.bodies or mark.slide is not None or mark.radii is not None or mark.type.is_coupling:
            continue
        at = scene.world(0, mark.origin[mark.bodies.index(0)][None])[0, 0]
        if canvas.solid:
            drawn.append(canvas.dot(at, marker="s", ms=2.1 * MARK, color="#C4C4C4", zorder=1.5))
        else:
            foot = at[:2] + k * np.array([[-2.1, -3.4], [2.1, -3.4]])
            corners = np.array([at[:2], *foot])
            drawn.append(
                canvas.polygon(corners, facecolor="#DDDDDD", edgecolor=FRAME_COLOUR, lw=FINE, zorder=1.6)
            )
            wide = foot + k * np.array([[-0.9, 0.0], [0.9, 0.0]])
            drawn.append(canvas.line(np.column_stack([wide, [0, 0]]), FRAME_COLOUR, EDGE, zorder=1.6))
            drawn += _hatched(canvas, wide[0], wide[1], 1.5 * k)
    return drawn


def draw_names(canvas: Canvas, scene: Scene, f: int) -> None:
    """Names of the bodies, each beside its lines."""
    canvas.figure.draw_without_rendering()
    width, height = canvas.figure.get_size_inches() * MM_PER_INCH
    box = canvas.axes.get_position().get_points() * (width, height)
    page = box[0] + 1, box[1] - 1
    labels, obstacles, colours = [], [], []
    steps = np.linspace(0.0, 1.0, 15)[:, None]
    for body, shape in zip(scene.bodies[1:], scene.shapes[1:], strict=True):
        points = scene.world(body, shape.points)[f] if len(shape.points) else shape.points
        if not len(points) or not np.isfinite(points).all():
            continue
        ends = [scene.world(body, guide.ends)[f] for guide in scene.guides if guide.body == body]
        lines = canvas.paper(np.concatenate([points[shape.lines], np.array(ends).reshape(-1, 2, 3)]))
        name = scene.mechanism.body_name(body)
        labels.append(name_label(name, text_size(name, SMALL_TEXT), lines, canvas.paper(points), page))
        colours.append(darker(scene.hues[body].colour))
        obstacles += [Obstacle((1 - steps) * start + steps * end, 0.1, weight=0.5) for start, end in lines]
    at = [scene.world(mark.bodies[mark.seat], mark.origin[mark.seat][None])[f, 0] for mark in scene.marks]
    joints = np.array(at).reshape(-1, 3)
    joints = canvas.paper(joints[np.isfinite(joints).all(axis=1)])
    obstacles += [Obstacle(joint[None], 1.0) for joint in joints]
    for label, colour, centre in zip(labels, colours, place_labels(labels, obstacles), strict=True):
        name = label.text
        canvas.figure.text(
            centre[0] / width,
            centre[1] / height,
            name.replace("$", r"\$"),
            ha="center",
            va="center_baseline",
            fontsize=SMALL_TEXT,
            family=FONT,
            color=colour,
            gid=f"name-{name}",
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.75, "edgecolor": "none"},
        )


def draw_key(canvas: Canvas, scene: Scene) -> None:
    """A key of the groups, of driven joints and of joint types whose symbol in the plane is not standard."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    drawn = set(scene.bodies)
    handles: list[Any] = []
    for group in scene.structure.groups:
        if not drawn.isdisjoint(group.body_indices.tolist()):
            hue = scene.hues[int(group.body_indices[0])]
            patch = Patch(facecolor=hue.colour, edgecolor="white", hatch=HATCHES[hue.pattern])
            patch.set_label(f"SG-{group.number} {group.type_name}")
            handles.append(patch)
    for kind in dict.fromkeys(mark.type for mark in scene.marks):
        if not canvas.solid and kind.symbol in _STANDARD:
            continue
        label, inside = f"{kind.code} {kind.name.lower()}", _FILLS[kind.fill]
        if kind.is_coupling:
            handles.append(Line2D([], [], ls=_COUPLED, color=INK, lw=FINE, label=label))
            continue
        symbol = kind.symbol
        if not canvas.solid and kind.solid == "rider":  # drawn as the pin that it is
            symbol, inside = "o", INK
        handles.append(
            Line2D([], [], ls="", marker=symbol, ms=MARK, mfc=inside, mec=INK, mew=FINE, label=label)
        )
    if any(mark.driven for mark in scene.marks):
        handles.append(
            Line2D([], [], ls="", marker="o", ms=MARK, mfc="white", mec=DRIVEN, mew=2 * FINE, label="driven")
        )
    if handles:
        add_key(canvas.figure, handles, lines=False)


def _line(canvas: Canvas, scene: Scene, body: int, points: Floats, width: float) -> list[Any]:
    """A line of a body in its colour, with white dashes where its group's hue is another group's too."""
    drawn = [canvas.line(points, scene.colours[body], width)]
    dashes = DASHES[scene.hues[body].pattern]
    if dashes is not None:
        drawn.append(canvas.line(points, "white", 0.45 * width, style=(0, dashes), zorder=2.1))
    return drawn


def _mark(canvas: Canvas, scene: Scene, mark: Mark, f: int) -> list[Any]:
    body = mark.bodies[mark.seat]
    at = scene.world(body, mark.origin[mark.seat][None])[f, 0]
    if not np.isfinite(at).all():
        return []
    drawn: list[Any] = []
    edge, width = (DRIVEN, 2 * FINE) if mark.driven else (INK, FINE)
    axes = mark.axes[mark.seat]
    if mark.type.line == "rod":
        other = scene.world(mark.bodies[1 - mark.seat], mark.origin[1 - mark.seat][None])[f, 0]
        drawn.append(canvas.line(np.stack([at, other]), INK, EDGE))
        drawn.append(canvas.dot(other, marker="o", ms=0.7 * MARK, mfc=INK, mec=INK, zorder=4))
    if mark.type.is_coupling:
        # Between the two joints, whose own symbols are at its ends.
        ends = [
            scene.world(body, mark.origin[side][None])[f, 0]
            for side, body in enumerate(mark.bodies)
            if body in scene.bodies
        ]
        return [canvas.line(np.stack(ends), INK, FINE, style=_COUPLED, zorder=2.4)] if len(ends) > 1 else []
    if mark.slide is not None and mark.type.solid == "rider" and not canvas.solid:
        look = {"marker": "o", "ms": 0.9 * MARK, "mfc": INK, "mec": edge, "mew": width}
        return [*drawn, canvas.dot(at, zorder=4, **look)]
    if mark.slide is not None and not canvas.solid:
        axis = scene.world(body, mark.origin[mark.seat] + np.outer([0.0, 1.0], axes[:, mark.slide]))[f]
        along = (axis[1] - axis[0])[:2]
        across = np.array([-along[1], along[0]])
        corners = [
            at[:2] + canvas.scale * (i * 2.6 * along + j * 1.5 * across)
            for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        ]
        drawn.append(canvas.polygon(np.array(corners), facecolor="white", edgecolor=edge, lw=width, zorder=3))
        return drawn
    if canvas.solid and mark.type.axle:
        axis = axes[:, 2] * 4.0 * canvas.scale
        stub = scene.world(body, mark.origin[mark.seat] + np.stack([-axis, axis]))[f]
        drawn.append(canvas.line(stub, edge, EDGE, zorder=2.5))
    look = {"marker": mark.type.symbol, "mfc": _FILLS[mark.type.fill]}
    drawn.append(canvas.dot(at, ms=MARK, mec=edge, mew=width, zorder=4, **look))
    return drawn


def _outlined(canvas: Canvas, scene: Scene, outline: Outline, f: int) -> list[Any]:
    points = scene.world(outline.body, outline.points)[f]
    if not np.isfinite(points).all():
        return []
    colour = scene.colours[outline.body]
    face = [canvas.face(points, colour)] if outline.closed else []
    return [*face, canvas.line(points, colour, EDGE)]


def _outline_of(lines: Ints) -> list[list[int]]:
    """The rim of a plane polygon, one face instead of a fan of triangles with seams."""
    return [lines[:, 0].tolist()]


def _hatched(canvas: Canvas, start: Floats, end: Floats, length: float) -> list[Any]:
    """Short strokes on the right of a line from start to end, the sign of what stands still."""
    along = end - start
    size = float(np.linalg.norm(along))
    along = along / size
    if along[0] < 0:
        start, along = end, -along
    stroke = length * (np.array([along[1], -along[0]]) - along) / np.sqrt(2)
    count = max(int(size / (0.8 * length)), 2)
    begins = start + np.linspace(0.08, 1.0, count)[:, None] * size * along
    return [
        canvas.line(np.column_stack([[a, a + stroke], [0, 0]]), FRAME_COLOUR, FINE, zorder=1.5)
        for a in begins
    ]
