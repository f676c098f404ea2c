"""The mechanism in grey, with the findings of a check in colour."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.canvas import Canvas
from groups.pictures.drawing import draw_bodies, draw_ground, draw_names, pictured, resting
from groups.pictures.scene import Scene
from groups.pictures.style import FINE, MARK, add_key
from mbssa import check
from mbssa.arrays import Floats
from mbssa.joints.system import unknowns
from mbssa.pictures.style import entitle
from mbssa.singularities.passive_rotations import free_motions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mbssa import Mechanism
    from mbssa.analysis.check import Report


_BODY = "#B8BEC6"

#: Colours of what is fatal, redundant, a passive rotation, and a motion that the inputs leave.
_FATAL, _REDUNDANT, _SPIN, _FREE = "#D55E00", "#CC79A7", "#0072B2", "#009E73"

#: Labels of the rings around joints, by their colours.
_RINGS = {_FATAL: "cannot be solved because of it", _REDUNDANT: "redundant constraints"}

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

    Examples
    --------
    >>> import mbssa
    >>> from groups.pictures import findings_at_reference
    >>> figure = findings_at_reference(mbssa.load("spatial_4r"))
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['redundant constraints']
    """
    report = check(mechanism) if report is None else report
    scene, canvas = pictured(resting(mechanism), 0)
    fatal = {body - 1 for finding in report.findings if finding.fatal for body in finding.bodies}
    colours = tuple(_FATAL if body in fatal else _BODY for body in range(mechanism.n_bodies))
    scene = replace(scene.at(0), colours=colours)
    draw_ground(canvas, scene)
    draw_bodies(canvas, scene)
    handles = _rings(canvas, scene, report)
    handles += _arrows(canvas, scene, _spins(report), _SPIN, "passive rotation, about the arrow")
    for k, motion in enumerate(_motions(report)):
        label = f"motion that the inputs leave{'' if k == 0 else f', {k + 1}'}"
        handles += _arrows(canvas, scene, motion, _FREE, label)
    if handles:
        add_key(canvas.figure, handles, lines=False)
    draw_names(canvas, scene)
    verdict = "solvable" if report.solvable else "not solvable as given"
    entitle(canvas.figure, f"{mechanism.name or 'mechanism'}, {verdict}")
    return canvas.figure


def _rings(canvas: Canvas, scene: Scene, report: Report) -> list[Any]:
    """A ring around each joint of a finding; the key's entries."""
    from matplotlib.lines import Line2D

    joints = {joint: _REDUNDANT for f in report.findings if f.kind == "redundant" for joint in f.joints}
    joints |= {joint: _FATAL for f in report.findings if f.fatal for joint in f.joints}
    ids = scene.mechanism.joint_ids
    ring: dict[str, Any] = {"marker": "o", "mfc": "none", "mew": 2.5 * FINE}
    drawn: dict[str, Any] = {}
    for mark in scene.marks:
        colour = joints.get(ids[mark.joint])
        if colour is not None:
            ring["mec"] = colour
            canvas.dot(scene.place(mark), zorder=5, ms=2.4 * MARK, **ring)
            drawn[colour] = Line2D([], [], ls="", label=_RINGS[colour], ms=1.4 * MARK, **ring)
    return list(drawn.values())


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
        moved = np.flatnonzero(np.linalg.norm(velocities, axis=1) > _STILL)
        found.append([*zip(centres[moved], velocities[moved], strict=True)])
    return found


def _arrows(
    canvas: Canvas, scene: Scene, arrows: list[tuple[Floats, Floats]], colour: str, label: str
) -> list[Any]:
    """Arrows at places, the longest of them a share of the mechanism's size; the key's entry."""
    from matplotlib.lines import Line2D

    longest = max((float(np.linalg.norm(vector)) for _, vector in arrows), default=0.0)
    if longest == 0.0:
        return []
    look: dict[str, Any] = {"color": colour, "zorder": 6}
    if not canvas.solid:
        look |= {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.008}
    for at, vector in arrows:
        tip = _ARROW * scene.size / longest * vector
        canvas.axes.quiver(*canvas.on_axes(at), *canvas.on_axes(tip), **look)
    return [Line2D([], [], color=colour, ls="", marker=r"$\rightarrow$", ms=2 * MARK, label=label)]
