"""Findings of ``check`` on the drawing of a mechanism: joints ringed, bodies coloured, motions as arrows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.canvas import Canvas, canvas_for
from groups.pictures.drawing import MOST_BODIES, draw_bodies, draw_ground, draw_names, resting
from groups.pictures.key import add_key
from groups.pictures.scene import Scene, scene_of
from groups.pictures.style import FINE, MARK
from mbssa import check
from mbssa.arrays import Floats
from mbssa.joints.system import unknowns
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.singularities.passive_rotations import free_motions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mbssa import Mechanism
    from mbssa.analysis.check import Report


_BODY = "#B8BEC6"

#: Colours of what is fatal, redundant, a passive rotation, and a motion that the inputs leave.
_FATAL, _REDUNDANT, _SPIN, _FREE = "#D55E00", "#CC79A7", "#0072B2", "#009E73"

#: Speed, of a motion whose twists have the norm 1, below which a body only turns or stands still.
_STILL = 1e-6

#: Longest arrow, share of the mechanism's size; motions that are drawn.
_ARROW, _MOST_MOTIONS = 0.22, 3


def findings_at_reference(mechanism: Mechanism, report: Report | None = None) -> Figure:
    """Draw a mechanism in grey with the findings of a check in colour.

    Joints with redundant constraints, and joints and bodies of what keeps the mechanism from being solved,
    are marked; a passive rotation is an arrow along its axis; a motion that the inputs do not prescribe is an
    arrow of velocity at each body that it moves, at most three of them.

    Parameters
    ----------
    report : of :func:`mbssa.check`, which is run if it is not given

    Raises
    ------
    ValueError
        More than 60 bodies.
    ModuleNotFoundError
        Matplotlib is missing; the message says how to install it.

    Examples
    --------
    >>> import mbssa
    >>> from groups.pictures import findings_at_reference
    >>> figure = findings_at_reference(mbssa.load("spatial_4r"))
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['redundant constraints']
    """
    require_matplotlib()
    report = check(mechanism) if report is None else report
    scene = scene_of(resting(mechanism), 1)
    refuse_beyond(MOST_BODIES, len(scene.bodies), "bodies", "one picture", "keep fewer when solving")
    fatal = {body - 1 for finding in report.findings if finding.fatal for body in finding.bodies}
    colours = tuple(_FATAL if body in fatal else _BODY for body in range(mechanism.n_bodies))
    scene = replace(scene, colours=colours)
    canvas = canvas_for(scene, names=len(scene.bodies))
    draw_ground(canvas, scene)
    draw_bodies(canvas, scene, 0)
    handles = _rings(canvas, scene, report)
    handles += _arrows(canvas, scene, _spins(report), _SPIN, "passive rotation, about the arrow")
    for k, motion in enumerate(_motions(report)):
        label = f"motion that the inputs leave{'' if k == 0 else f', {k + 1}'}"
        handles += _arrows(canvas, scene, motion, _FREE, label)
    if handles:
        add_key(canvas.figure, handles, lines=False)
    draw_names(canvas, scene, 0)
    said = "solvable" if report.solvable else "not solvable as given"
    canvas.title(f"{mechanism.name or 'mechanism'}, {said}")
    return canvas.figure


def _rings(canvas: Canvas, scene: Scene, report: Report) -> list[Any]:
    """A ring around each joint of a finding; the key's entries."""
    joints = {joint: _REDUNDANT for f in report.findings if f.kind == "redundant" for joint in f.joints}
    joints |= {joint: _FATAL for f in report.findings if f.fatal for joint in f.joints}
    ids = scene.mechanism.joint_ids
    drawn: dict[str, None] = {}
    for mark in scene.marks:
        colour = joints.get(ids[mark.joint])
        if colour is None:
            continue
        at = scene.world(mark.bodies[mark.seat], mark.origin[mark.seat][None])[0, 0]
        look: dict[str, Any] = {
            "marker": "o",
            "ms": 2.4 * MARK,
            "mfc": "none",
            "mec": colour,
            "mew": 2.5 * FINE,
        }
        canvas.dot(at, zorder=5, **look)
        drawn[colour] = None
    from matplotlib.lines import Line2D

    names = {_FATAL: "cannot be solved because of it", _REDUNDANT: "redundant constraints"}
    look = {"ls": "", "marker": "o", "ms": 1.4 * MARK, "mfc": "none", "mew": 2.5 * FINE}
    return [Line2D([], [], mec=colour, label=names[colour], **look) for colour in drawn]


def _spins(report: Report) -> list[tuple[Floats, Floats]]:
    """Point and direction of each passive rotation."""
    treatment = report.structure.treatment
    return [
        (np.array(spin.point), np.array(spin.direction))
        for spin in (treatment.passive_rotations if treatment is not None else ())
        if spin.point is not None and spin.direction is not None
    ]


def _motions(report: Report) -> list[list[tuple[Floats, Floats]]]:
    """Places and velocities of the moving bodies, for each motion that the inputs leave."""
    numeric = report.numeric
    if numeric is None or numeric.configuration is None or numeric.frames is None or not numeric.all.free:
        return []
    free = unknowns(report.structure.mechanism.space)
    centres = numeric.configuration.centres(numeric.frames.centre)
    found = []
    for basis in free_motions(numeric.matrix, numeric.tolerance).T[:_MOST_MOTIONS]:
        twists = np.zeros((len(centres), 6))
        twists[1:, list(free)] = basis.reshape(-1, len(free))
        velocities = twists[:, :3]
        speed = np.linalg.norm(velocities, axis=1)
        moved = np.flatnonzero(speed > _STILL).tolist()
        found.append([(centres[body], velocities[body]) for body in moved])
    return found


def _arrows(
    canvas: Canvas, scene: Scene, arrows: list[tuple[Floats, Floats]], colour: str, label: str
) -> list[Any]:
    """Arrows at places, the longest of them a share of the mechanism's size; the key's entry."""
    from matplotlib.lines import Line2D

    longest = max((float(np.linalg.norm(vector)) for _, vector in arrows), default=0.0)
    if longest == 0.0:
        return []
    size = 3 if canvas.solid else 2
    for at, vector in arrows:
        tip = _ARROW * scene.size / longest * vector
        look: dict[str, Any] = {"color": colour, "zorder": 6}
        if not canvas.solid:
            look |= {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.008}
        canvas.axes.quiver(*at[:size], *tip[:size], **look)
    return [Line2D([], [], color=colour, ls="", marker=r"$\rightarrow$", ms=2 * MARK, label=label)]
