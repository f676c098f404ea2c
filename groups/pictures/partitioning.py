"""Conditions of choices of coordinates, and of structural groups, along a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.canvas import BODY_COLOURS, FAILED, FRAME_COLOUR, add_key, panels_over_time
from groups.pictures.coordinates import CURVE_INSTANTS
from groups.pictures.scene import chosen
from mbssa.pictures.style import INK, entitle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from groups.partitioning import PartitionSweep

#: Conditions below it are drawn at the lower edge.
_LEAST = 1e-4
_LABELS = {"whole": "any choice: all of J", "groups": "worst structural group"}


def conditions(swept: PartitionSweep) -> Figure:
    """Condition of J_v over time for each way to choose the independent coordinates, and of the groups."""
    figure, ((axes,),) = panels_over_time([["condition: 1 best, 0 singular"]], swept.time, 130.0, 62.0)
    values = swept.conditions
    at, lowest, handles = chosen(len(swept.time), CURVE_INSTANTS), 1.0, list[Any]()
    for name, colour, look, thick in (
        # Choices may be the same: what lies above is thinner, or has gaps.
        ("whole", FRAME_COLOUR, "dotted", 1.1),
        ("structural", BODY_COLOURS[0], "solid", 2.4),
        ("groups", BODY_COLOURS[1], "solid", 1.1),
        ("anew", BODY_COLOURS[2], "solid", 1.1),
        ("held", BODY_COLOURS[5], "dashed", 1.6),
        ("once", BODY_COLOURS[3], "dashdot", 1.1),
    ):
        drawn = np.maximum(values[name][at], _LEAST)
        lowest, label = min(lowest, float(np.nanmin(drawn, initial=1.0))), _LABELS.get(name, name)
        handles += axes.plot(swept.time[at], drawn, color=colour, ls=look, lw=thick, label=label)
    label = f"below {swept.near:.2g}, or a determinant through zero"
    near: dict[str, Any] = {"color": FAILED, "lw": 0.0, "zorder": 0.5, "label": label}
    spans = [axes.axvspan(*swept.time[[one.first, one.last]].tolist(), **near) for one in swept.warnings]
    changes = [
        axes.axvline(float(swept.time[k]), color=INK, lw=0.6, zorder=0.6, label="held changes")
        for k, _, _ in swept.changes
    ]
    handles += [*spans[:1], *changes[:1]]
    axes.set_yscale("log")
    axes.set_ylim(max(_LEAST, 0.5 * lowest), 1.3)
    entitle(figure, swept.opened.mechanism.name or "mechanism")
    add_key(figure, handles)
    return figure
