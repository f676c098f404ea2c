"""The skeleton of a mechanism at one instant, on the axes of a canvas."""

# Functions that draw take a scene at one instant.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.canvas import Canvas, canvas_for
from groups.pictures.paths import PATH_INSTANTS, PointName, points_of
from groups.pictures.scene import Scene, chosen, failed_at, scene_of
from groups.pictures.shapes import Mark, Outline
from groups.pictures.style import DRIVEN, EDGE, FINE, FRAME_COLOUR, LINK, MARK, PATH_COLOUR, add_key
from groups.posed import at_rest
from mbssa.arrays import Floats, Ints
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import joint_frames
from mbssa.pictures.geometry import directions
from mbssa.pictures.hues import DASHES, HATCHES, darker
from mbssa.pictures.labels import Label, Obstacle, place_labels
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.style import FONT, INK, MM_PER_INCH, SMALL_TEXT, entitle, text_size
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

#: Widths of guides; other lines are edges.
_WIDTHS = {"tube": 2.2 * LINK, "rod": LINK, "slot": 2.6 * LINK}

#: Corners of a block, and of the triangle and the line under a pin on the frame, mm.
_BLOCK = np.array([[-2.6, -1.5], [2.6, -1.5], [2.6, 1.5], [-2.6, 1.5]])
_SUPPORT, _FOOT = np.array([[0.0, 0.0], [-2.1, -3.4], [2.1, -3.4]]), np.array([[-3.0, -3.4], [3.0, -3.4]])

#: Gap between a name and its line, mm; places along a line at which the name can stand, the best first.
_GAP, _ALONG = 0.9, (0.5, 0.35, 0.65, 0.2, 0.8)


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
    instant : number of an instant; negative ones count from the end
    points : whose paths are drawn too, see :func:`paths`; None for those that the model names
    where : what the title says after the name; the time by default

    Raises
    ------
    ValueError
        No such instant, points that are not there, or more than 60 bodies.

    Examples
    --------
    >>> import groups, mbssa
    >>> from groups.pictures import mechanism_at
    >>> trajectory = groups.build(mbssa.decompose(mbssa.load("slider_crank"))).solve()
    >>> figure = mechanism_at(trajectory, 3)
    >>> [text.get_text() for text in figure.texts if text.get_gid() == "name-piston"]
    ['piston']
    """
    there = len(trajectory.time)
    if not -there <= instant < there:
        raise ValueError(f"there is no instant {instant}: the motion has instants 0 to {there - 1}")
    scene, canvas = pictured(trajectory, instant % there)
    still = scene.at(instant % there)
    for point in points_of(scene, points):
        canvas.line(point.path(scene), PATH_COLOUR, FINE, zorder=1.4)
    draw_ground(canvas, still)
    draw_bodies(canvas, still)
    draw_key(canvas, scene)
    draw_names(canvas, still)
    entitle(canvas.figure, title_of(trajectory, still, where))
    return canvas.figure


def at_reference(mechanism: Mechanism) -> Figure:
    """Draw a mechanism at its reference, also where it cannot be solved; raises as :func:`mechanism_at`.

    >>> import mbssa
    >>> len(at_reference(mbssa.load("slider_crank")).axes)
    1
    """
    return mechanism_at(resting(mechanism), -1, where="reference")


def resting(mechanism: Mechanism) -> Trajectory:
    """The mechanism as its joints hold it at the reference; as the file has it where they cannot."""
    frames = joint_frames(mechanism)
    found = assemble(mechanism, frames, hold=True, starts=0)
    poses = found.configuration if found.closed else frames.reference
    return at_rest(mechanism, poses, np.arange(mechanism.n_bodies))


def pictured(trajectory: Trajectory, instants: int | Ints, *, named: bool = True) -> tuple[Scene, Canvas]:
    """The scene at these instants and those of paths, and axes, ``named`` with room for bodies' names."""
    require_matplotlib()
    scene = scene_of(trajectory, np.union1d(instants, chosen(len(trajectory.time), PATH_INSTANTS)))
    refuse_beyond(MOST_BODIES, len(scene.bodies), "bodies", "one picture", "keep fewer when solving")
    return scene, canvas_for(scene, names=len(scene.bodies) if named else 0)


def title_of(trajectory: Trajectory, scene: Scene, where: str | None = None) -> str:
    """Name, time or what stands for it, and what failed at this instant."""
    text = f"{scene.mechanism.name or 'mechanism'}, {where or f't = {scene.time[0]:.4g} s'}"
    failed = failed_at(trajectory, int(scene.instants[0]))
    lost = np.flatnonzero(~np.isfinite(scene.position).all(axis=1)).tolist()
    missing = listed([scene.mechanism.body_name(scene.bodies[k]) for k in lost], 4)
    return text + (f"\n{failed}" + (f"; not drawn: {missing}" if missing else "") if failed else "")


def draw_bodies(canvas: Canvas, scene: Scene) -> None:
    """Lines, faces, wheels, guides and joints of the moving bodies."""
    for body, shape in zip(scene.bodies[1:], scene.shapes[1:], strict=True):
        points = scene.world(body, shape.points)
        if np.isfinite(points).all():
            for face in shape.faces:
                canvas.face(points[face], scene.colours[body])
            for line in shape.lines:
                _line(canvas, scene, body, points[line], LINK if len(shape.lines) == 1 else EDGE)
    for outline in (*scene.outlines, *scene.guides):
        if outline.body:
            _outlined(canvas, scene, outline)
    for mark in scene.marks:
        _mark(canvas, scene, mark)


def draw_ground(canvas: Canvas, scene: Scene) -> None:
    """Draw the frame's outlines, supports and rails."""
    for outline in (*scene.outlines, *scene.guides):
        if outline.body == 0:
            _outlined(canvas, scene, outline)
    for mark in scene.marks:
        if 0 not in mark.bodies or mark.type.guide is not None or mark.radii or mark.type.is_coupling:
            continue
        at = scene.place(mark, mark.bodies.index(0))
        if canvas.solid:
            canvas.dot(at, marker="s", ms=2.1 * MARK, color="#C4C4C4", zorder=1.5)
            continue
        look: dict[str, Any] = {"facecolor": "#DDDDDD", "edgecolor": FRAME_COLOUR, "lw": FINE}
        canvas.polygon(at[:2] + canvas.scale * _SUPPORT, zorder=1.6, **look)
        canvas.line(at[:2] + canvas.scale * _FOOT, FRAME_COLOUR, EDGE, zorder=1.6, hatched=True)


def draw_names(canvas: Canvas, scene: Scene) -> None:
    """Names of the bodies, each beside its lines, clear of joints, lines and each other."""
    canvas.figure.draw_without_rendering()
    width, height = canvas.figure.get_size_inches() * MM_PER_INCH
    page = canvas.axes.get_position().get_points() * (width, height) + [[1.0], [-1.0]]
    labels, obstacles, colours = [], [], []
    steps = np.linspace(0.0, 1.0, 15)[:, None]
    for body, shape in zip(scene.bodies[1:], scene.shapes[1:], strict=True):
        points = scene.world(body, shape.points)
        if not len(points) or not np.isfinite(points).all():
            continue
        ends = [scene.world(body, guide.points) for guide in scene.guides if guide.body == body]
        lines = canvas.paper(np.concatenate([points[shape.lines], np.array(ends).reshape(-1, 2, 3)]))
        labels.append(_name(scene.mechanism.body_name(body), lines, canvas.paper(points), page))
        colours.append(darker(scene.hues[body].colour))
        obstacles += [Obstacle((1 - steps) * start + steps * end, 0.1, weight=0.5) for start, end in lines]
    joints = np.array([scene.place(mark) for mark in scene.marks]).reshape(-1, 3)
    joints = canvas.paper(joints[np.isfinite(joints).all(axis=1)])
    obstacles += [Obstacle(joint[None], 1.0) for joint in joints]
    look: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": SMALL_TEXT, "family": FONT}
    look["bbox"] = {"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.75, "edgecolor": "none"}
    for label, colour, (x, y) in zip(labels, colours, place_labels(labels, obstacles), strict=True):
        text, gid = label.text.replace("$", r"\$"), f"name-{label.text}"
        canvas.figure.text(x / width, y / height, text, color=colour, gid=gid, **look)


def _name(name: str, lines: Floats, points: Floats, page: Floats) -> Label:
    """Name of a body with its possible places, the preferred ones first; all in mm on paper."""
    # Places beyond the page (lower left, upper right corner) are disliked.
    size = text_size(name, SMALL_TEXT)
    half = np.array(size) / 2
    places = [points.mean(axis=0)] if len(lines) > 2 else []
    length = np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)
    for i in np.argsort(-length, kind="stable")[:3].tolist():
        if length[i]:
            along = lines[i, 1] - lines[i, 0]
            normal = np.array([-along[1], along[0]]) / length[i]
            away = (np.abs(normal) @ half + _GAP) * (-normal if normal[1] < 0 else normal)
            places += [lines[i, 0] + part * along + side * away for part in _ALONG for side in (1, -1)]
    for distance in (2.2, 5.0):
        places += [point + way * (half + distance) for way in directions(8) for point in points]
    at = np.array(places)
    beyond = np.maximum(page[0] - (at - half), at + half - page[1]).max(axis=1).clip(0.0)
    return Label(name, *size, at, name, 0.12 * np.arange(len(at)) + 20.0 * beyond)


def draw_key(canvas: Canvas, scene: Scene) -> None:
    """A key of the groups, of driven joints and of joint types whose symbol in the plane is not standard."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for group in scene.structure.groups:
        if not set(scene.bodies).isdisjoint(group.body_indices.tolist()):
            hue = scene.hues[int(group.body_indices[0])]
            patch = Patch(facecolor=hue.colour, edgecolor="white", hatch=HATCHES[hue.pattern])
            patch.set_label(f"SG-{group.number} {group.type_name}")
            handles.append(patch)
    symbols: dict[str, dict[str, Any]] = {}
    for kind in dict.fromkeys(mark.type for mark in scene.marks):
        if not canvas.solid and kind.symbol in _STANDARD:
            continue
        look: dict[str, Any] = {"marker": kind.symbol, "mfc": _FILLS[kind.fill], "mew": FINE}
        if kind.is_coupling:
            look = {"ls": _COUPLED, "color": INK, "lw": FINE}
        elif not canvas.solid and kind.solid == "rider":  # drawn as the pin that it is
            look |= {"marker": "o", "mfc": INK}
        symbols[f"{kind.code} {kind.name.lower()}"] = look
    if any(mark.driven for mark in scene.marks):
        symbols["driven"] = {"marker": "o", "mfc": "white", "mec": DRIVEN, "mew": 2 * FINE}
    usual: dict[str, Any] = {"ls": "", "ms": MARK, "mec": INK}
    handles += [Line2D([], [], **usual | look, label=label) for label, look in symbols.items()]
    if handles:
        add_key(canvas.figure, handles, lines=False)


def _line(canvas: Canvas, scene: Scene, body: int, points: Floats, width: float) -> None:
    """A line of a body in its colour, with white dashes where its group's hue is another group's too."""
    canvas.line(points, scene.colours[body], width)
    dashes = DASHES[scene.hues[body].pattern]
    if dashes is not None:
        canvas.line(points, "white", 0.45 * width, ls=(0, dashes), zorder=2.1)


def _mark(canvas: Canvas, scene: Scene, mark: Mark) -> None:
    """The symbol of a joint, and its rod or its axle."""
    body, kind, at, axes = mark.bodies[mark.seat], mark.type, scene.place(mark), mark.axes[mark.seat]
    if not np.isfinite(at).all() or (kind.is_coupling and not scene.has(mark)):
        return
    if kind.is_coupling:
        # Between the two joints, whose own symbols are at its ends.
        ends = np.stack([scene.place(mark, side) for side in (0, 1)])
        canvas.line(ends, INK, FINE, ls=_COUPLED, zorder=2.4)
        return
    edge, width = (DRIVEN, 2 * FINE) if mark.driven else (INK, FINE)
    look: dict[str, Any] = {"marker": kind.symbol, "ms": MARK, "mfc": _FILLS[kind.fill]}
    if kind.line == "rod":
        other = scene.place(mark, 1 - mark.seat)
        canvas.line(np.stack([at, other]), INK, EDGE)
        canvas.dot(other, marker="o", ms=0.7 * MARK, mfc=INK, mec=INK, zorder=4)
    if kind.guide is not None and not canvas.solid and kind.solid == "rider":
        look = {"marker": "o", "ms": 0.9 * MARK, "mfc": INK}
    elif kind.guide is not None and not canvas.solid:
        x, y = np.diff(scene.world(body, np.stack([np.zeros(3), axes[:, kind.guide]])), axis=0)[0, :2]
        corners = at[:2] + canvas.scale * _BLOCK @ np.array([[x, y], [-y, x]])
        canvas.polygon(corners, facecolor="white", edgecolor=edge, lw=width, zorder=3)
        return
    elif canvas.solid and kind.axle:
        axis = axes[:, 2] * 4.0 * canvas.scale
        stub = scene.world(body, mark.origin[mark.seat] + np.stack([-axis, axis]))
        canvas.line(stub, edge, EDGE, zorder=2.5)
    canvas.dot(at, mec=edge, mew=width, zorder=4, **look)


def _outlined(canvas: Canvas, scene: Scene, outline: Outline) -> None:
    points, colour = scene.world(outline.body, outline.points), scene.colours[outline.body]
    if not np.isfinite(points).all():
        return
    if not outline.kind:
        canvas.line(points, colour, EDGE)
        if outline.closed:
            canvas.face(points, colour)
    elif outline.body == 0:
        left_first = points[np.argsort(points[:, 0], kind="stable")]
        canvas.line(left_first, FRAME_COLOUR, EDGE, zorder=1.5, hatched=not canvas.solid)
    else:
        _line(canvas, scene, outline.body, points, _WIDTHS.get(outline.kind, EDGE))
        if outline.kind == "slot":
            canvas.line(points, "white", 1.8 * LINK, zorder=2.1)
