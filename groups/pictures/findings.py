"""The mechanism in grey, with the findings of a check in colour."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.canvas import FINE, MARK, add_key
from groups.pictures.drawing import draw, draw_names, pictured, resting
from mbssa import check
from mbssa.arrays import Floats
from mbssa.joints.system import unknowns
from mbssa.pictures.style import entitle
from mbssa.singularities.passive_rotations import free_motions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mbssa import Mechanism
    from mbssa.analysis.check import Report


#: Colours of bodies, of what is fatal, redundant, a passive rotation, and a motion that the inputs leave.
_BODY, _FATAL, _REDUNDANT, _SPIN, _FREE = "#B8BEC6", "#D55E00", "#CC79A7", "#0072B2", "#009E73"

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
    arrow of velocity at each body that it moves, at most three of them. The report is that of
    :func:`mbssa.check`, which is run if it is not given. A ValueError for more than 60 bodies.

    >>> import groups, mbssa
    >>> figure = groups.pictures.findings_at_reference(mbssa.load("spatial_4r"))
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['redundant constraints']
    """
    report = check(mechanism) if report is None else report
    scene, canvas = pictured(resting(mechanism), 0)
    from matplotlib.lines import Line2D

    fatal = {body - 1 for finding in report.findings if finding.fatal for body in finding.bodies}
    colours = [_FATAL if body in fatal else _BODY for body in range(mechanism.n_bodies)]
    scene = replace(scene.at(0), colours=colours)
    draw(canvas, scene)
    handles: dict[str, Any] = {}
    rings = {joint: _REDUNDANT for f in report.findings if f.kind == "redundant" for joint in f.joints}
    rings |= {joint: _FATAL for f in report.findings if f.fatal for joint in f.joints}
    for mark in scene.marks:
        if colour := rings.get(mechanism.joint_ids[mark.joint]):
            ring: dict[str, Any] = {"marker": "o", "mfc": "none", "mec": colour, "mew": 2.5 * FINE}
            canvas.dot(scene.place(mark), zorder=5, ms=2.4 * MARK, **ring)
            handles[_RINGS[colour]] = Line2D([], [], ls="", ms=1.4 * MARK, label=_RINGS[colour], **ring)
    spins = () if report.structure.treatment is None else report.structure.treatment.passive_rotations
    along = [(spin.point, spin.direction) for spin in spins if spin.point is not None]
    arrows: dict[str, tuple[str, Any]] = {"passive rotation, about the arrow": (_SPIN, along)}
    for k, motion in enumerate(_motions(report)):
        arrows[f"motion that the inputs leave{f', {k + 1}' if k else ''}"] = _FREE, motion
    in_plane = {} if canvas.solid else {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.008}
    for label, (colour, some) in arrows.items():
        at, way = np.moveaxis(np.reshape(some, (-1, 2, 3)), 1, 0)
        if longest := float(np.linalg.norm(way, axis=1).max(initial=0.0)):
            ends = [*canvas.on_axes(at), *canvas.on_axes(_ARROW * scene.size / longest * way)]
            canvas.axes.quiver(*ends, color=colour, zorder=6, **in_plane)
            handles[label] = Line2D(
                [], [], c=colour, ls="", marker=r"$\rightarrow$", ms=2 * MARK, label=label
            )
    add_key(canvas.figure, [*handles.values()], lines=False)
    draw_names(canvas, scene)
    verdict = "solvable" if report.solvable else "not solvable as given"
    entitle(canvas.figure, f"{mechanism.name or 'mechanism'}, {verdict}")
    return canvas.figure


def _motions(report: Report) -> list[Floats]:
    """Places and velocities (n, 2, 3) of the moving bodies, for each motion that the inputs leave."""
    numeric = report.numeric
    if numeric is None or numeric.configuration is None or numeric.frames is None or not numeric.all.free:
        return []
    free = unknowns(report.structure.mechanism.space)
    centres = numeric.configuration.centres(numeric.frames.centre)
    found = []
    for basis in free_motions(numeric.matrix, numeric.tolerance).T[:_MOST_MOTIONS]:
        twists = np.zeros((len(centres), 6))
        twists[1:, list(free)] = basis.reshape(-1, len(free))
        moved = np.linalg.norm(twists[:, :3], axis=1) > _STILL
        found.append(np.stack([centres, twists[:, :3]], axis=1)[moved])
    return found
