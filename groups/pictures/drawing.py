"""The skeleton of a mechanism at one instant, on the axes of a canvas."""

# Functions that draw take a scene at one instant.

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.canvas import DRIVEN, EDGE, FINE, FRAME_COLOUR, MARK, PATH, Canvas, add_key, canvas_for
from groups.pictures.paths import PATH_INSTANTS, PointName, points_of
from groups.pictures.scene import Mark, Scene, chosen, failed_at, scene_of
from groups.trajectory import at_rest
from mbssa.arrays import Ints
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import joint_frames
from mbssa.joints.joint_type import JointType
from mbssa.pictures.geometry import directions
from mbssa.pictures.hues import DASHES, HATCHES, darker
from mbssa.pictures.labels import Label, Obstacle, place_labels
from mbssa.pictures.limits import refuse_beyond
from mbssa.pictures.style import FONT, INK, MM_PER_INCH, SMALL_TEXT, entitle, text_size
from mbssa.texts import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from groups.trajectory import Trajectory
    from mbssa import Mechanism


#: Bodies that a picture on paper can tell apart.
MOST_BODIES = 60

#: Line between two joints whose coordinates are coupled.
_COUPLED: dict[str, Any] = {"ls": (0, (4, 3)), "lw": FINE}

_FILLS = {"none": "white", "half": "#BBBBBB", "full": INK}

#: Width of a link, points, and of lines by kind; others are edges.
LINK = 2.6
_WIDTHS = {"link": LINK, "tube": 2.2 * LINK, "rod": LINK, "slot": 2.6 * LINK}

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
    hatched supports. Bodies that were not solved at this instant are left out, and the title says so. A
    ValueError for an instant or points that are not there, and for more than 60 bodies.

    Parameters
    ----------
    instant : number of an instant; negative ones count from the end
    points : whose paths are drawn too, see :func:`paths`; None for those that the model names
    where : what the title says after the name; the time by default

    Examples
    --------
    >>> import groups, mbssa
    >>> trajectory = groups.build(mbssa.decompose(mbssa.load("slider_crank"))).solve()
    >>> figure = groups.pictures.mechanism_at(trajectory, 3)
    >>> [text.get_text() for text in figure.texts if text.get_gid() == "name-piston"]
    ['piston']
    """
    there = len(trajectory.time)
    if not -there <= instant < there:
        raise ValueError(f"there is no instant {instant}: the motion has instants 0 to {there - 1}")
    scene, canvas = pictured(trajectory, instant % there)
    still = scene.at(instant % there)
    for point in points_of(scene, points):
        canvas.line(point.path(scene), **PATH)
    draw(canvas, still)
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
    drawn = len({0, *trajectory.kept.tolist()})
    refuse_beyond(MOST_BODIES, drawn, "bodies", "one picture", "keep fewer when solving")
    scene = scene_of(trajectory, np.union1d(instants, chosen(len(trajectory.time), PATH_INSTANTS)))
    return scene, canvas_for(scene, names=drawn if named else 0)


def title_of(trajectory: Trajectory, scene: Scene, where: str | None = None) -> str:
    """Name, time or what stands for it, and what failed at this instant."""
    instant = int(scene.instants[0])
    time, failed = trajectory.time[instant], failed_at(trajectory, instant)
    text = f"{scene.mechanism.name or 'mechanism'}, {where or f't = {time:.4g} s'}"
    lost = np.flatnonzero(~np.isfinite(scene.position).all(axis=1)).tolist()
    missing = listed([scene.mechanism.body_name(scene.bodies[k]) for k in lost], 4)
    return text + (f"\n{failed}" + (f"; not drawn: {missing}" if missing else "") if failed else "")


def draw(canvas: Canvas, scene: Scene) -> None:
    """Draw the lines of all bodies, white dashes on those of a hue that another group has, and the joints."""
    for line in scene.lines:
        points, colour = scene.world(line.body, line.points), scene.colours[line.body]
        if not np.isfinite(points).all():
            continue
        if line.closed:
            canvas.polygon(points, facecolor=colour, alpha=0.22, lw=0, zorder=1.8)
        if line.joint >= 0 and line.body == 0:
            left_first = points[np.argsort(points[:, 0], kind="stable")]
            canvas.line(left_first, FRAME_COLOUR, EDGE, zorder=1.5, hatched=not canvas.solid)
        elif line.kind != "facet":
            width, dashes = _WIDTHS.get(line.kind, EDGE), DASHES[scene.hues[line.body].pattern]
            canvas.line(points, colour, width)
            if dashes is not None and line.kind:
                canvas.line(points, "white", 0.45 * width, ls=(0, dashes), zorder=2.1)
            if line.kind == "slot":
                canvas.line(points, "white", 1.8 * LINK, zorder=2.1)
    for mark in scene.marks:
        _draw_joint(canvas, scene, mark)


def _draw_joint(canvas: Canvas, scene: Scene, mark: Mark) -> None:
    """The symbol of a joint, its rod or its axle, and its support on the frame, in the plane hatched."""
    kind, at = mark.type, scene.place(mark)
    ends = np.stack([at, scene.place(mark, 1 - mark.seat)]) if {*mark.bodies} <= {*scene.bodies} else None
    if kind.is_coupling:  # between the two joints, whose own symbols are at its ends
        if ends is not None:
            canvas.line(ends, INK, zorder=2.4, **_COUPLED)
        return
    if 0 in mark.bodies and kind.guide is None and not mark.radii:
        foot = scene.place(mark, mark.bodies.index(0))
        if canvas.solid:
            canvas.dot(foot, marker="s", ms=2.1 * MARK, color="#C4C4C4", zorder=1.5)
        else:
            pin = foot[:2] + canvas.scale * _SUPPORT
            canvas.polygon(pin, facecolor="#DDDDDD", edgecolor=FRAME_COLOUR, lw=FINE, zorder=1.6)
            canvas.line(foot[:2] + canvas.scale * _FOOT, FRAME_COLOUR, EDGE, zorder=1.6, hatched=True)
    if not np.isfinite(at).all():
        return
    if ends is not None and kind.line == "rod":
        canvas.line(ends, INK, lw=EDGE)
        canvas.dot(ends[1], marker="o", ms=0.7 * MARK, mfc=INK, mec=INK, zorder=4)
    edge, width = (DRIVEN, 2 * FINE) if mark.driven else (INK, FINE)
    axes = scene.world(mark.bodies[mark.seat], mark.origin[mark.seat] + mark.axes[mark.seat].T) - at
    if kind.guide is not None and not canvas.solid and kind.solid != "rider":
        x, y = axes[kind.guide, :2]
        corners = at[:2] + canvas.scale * _BLOCK @ np.array([[x, y], [-y, x]])
        canvas.polygon(corners, facecolor="white", edgecolor=edge, lw=width, zorder=3)
        return
    if canvas.solid and kind.axle:
        canvas.line(at + 4.0 * canvas.scale * np.outer([-1.0, 1.0], axes[2]), edge, EDGE, zorder=2.5)
    canvas.dot(at, mec=edge, mew=width, zorder=4, **_symbol(kind, canvas.solid))


def _symbol(kind: JointType, solid: bool) -> dict[str, Any]:
    """Matplotlib's keywords for the marker of a type of joint."""
    if kind.is_coupling:
        return _COUPLED
    if kind.solid == "rider" and not solid:  # drawn as the pin that it is
        return {"marker": "o", "mfc": INK, "ms": 0.9 * MARK}
    return {"marker": kind.symbol, "mfc": _FILLS[kind.fill], "ms": MARK}


def draw_names(canvas: Canvas, scene: Scene) -> None:
    """Names of the bodies, each beside its lines, clear of joints, lines and each other."""
    canvas.figure.draw_without_rendering()
    size = canvas.figure.get_size_inches() * MM_PER_INCH
    low, high = canvas.axes.get_position().get_points() * size + [[1.0], [-1.0]]
    joints = [at for at in map(scene.place, scene.marks) if np.isfinite(at).all()]
    obstacles = [Obstacle(canvas.paper(at[None]), 1.0) for at in joints]
    labels = {}
    for body, local in zip(scene.bodies[1:], scene.points[1:], strict=True):
        points = scene.world(body, local)
        if not len(points) or not np.isfinite(points).all():
            continue
        own = [line.points for line in scene.lines if line.body == body and line.kind not in ("", "facet")]
        ends = [end for line in own for end in pairwise(line)]
        lines = canvas.paper(scene.world(body, np.reshape(ends, (-1, 3)))).reshape(-1, 2, 2)
        points, ways = canvas.paper(points), lines[:, 1] - lines[:, 0]
        name, length = scene.mechanism.body_name(body), np.hypot(*ways.T)
        width, height = text_size(name, SMALL_TEXT)
        half = np.array([width, height]) / 2
        # Possible places of the name, the preferred ones first; those beyond the page are disliked.
        places = [points.mean(axis=0)] if len(lines) > 2 else []
        for i in np.argsort(-length, kind="stable")[:3].tolist():
            if length[i]:
                normal = np.array([-ways[i, 1], ways[i, 0]]) / (length[i] if ways[i, 0] >= 0 else -length[i])
                away = (np.abs(normal) @ half + _GAP) * normal
                places += [lines[i, 0] + part * ways[i] + side * away for part in _ALONG for side in (1, -1)]
        for distance in (2.2, 5.0):
            places += [point + way * (half + distance) for way in directions(8) for point in points]
        at = np.array(places)
        beyond = np.maximum(low - (at - half), at + half - high).max(axis=1).clip(0.0)
        dislike = 0.12 * np.arange(len(at)) + 20.0 * beyond
        labels[body] = Label(name, width, height, at, name, dislike)
        obstacles += [Obstacle(np.linspace(start, end, 15), 0.1, weight=0.5) for start, end in lines]
    look: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": SMALL_TEXT, "family": FONT}
    look["bbox"] = {"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.75, "edgecolor": "none"}
    middles = place_labels([*labels.values()], obstacles) / size
    for (body, label), (x, y) in zip(labels.items(), middles, strict=True):
        look["color"], look["gid"] = darker(scene.hues[body].colour), f"name-{label.text}"
        canvas.figure.text(x, y, label.text.replace("$", r"\$"), **look)


def draw_key(canvas: Canvas, scene: Scene) -> None:
    """A key of the groups, of driven joints and of joint types whose symbol in the plane is not standard."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(facecolor=hue.colour, edgecolor="white", hatch=HATCHES[hue.pattern], label=label)
        for _, label, hue in scene.groups
    ]
    symbols = {
        f"{kind.code} {kind.name.lower()}": {"color": INK, "mew": FINE} | _symbol(kind, canvas.solid)
        for kind in dict.fromkeys(mark.type for mark in scene.marks)
        if canvas.solid or kind.symbol not in ("o", "s")  # pins and blocks, which ISO 3952 has
    }
    if any(mark.driven for mark in scene.marks):
        symbols["driven"] = {"marker": "o", "mfc": "white", "mec": DRIVEN, "mew": 2 * FINE}
    usual: dict[str, Any] = {"ls": "", "ms": MARK, "mec": INK}
    handles += [Line2D([], [], **usual | look, label=label) for label, look in symbols.items()]
    add_key(canvas.figure, handles, lines=False)
