"""What the global approach says of contacts: those that its equations leave open where they contradict.

It solves as many equations as there are unknowns, the most independent first; where the others do not hold,
the instant's status is ``DROPPED``. If what misses is the gap of a contact, the contact is lifted, or
penetrates.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from groups.encoding import RowTables
from groups.global_system import GlobalRun
from groups.kernels import jets
from groups.kernels.closing import CAUSE
from groups.kernels.status import DROPPED, LIFTED, PENETRATES
from mbssa.joints.equations import Elementary

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def part_contacts(run: GlobalRun) -> None:
    """Say of instants whose equations contradict that a contact is lifted or penetrates, if one is the cause.

    Their residual is then its gap.
    """
    rows, (status, residual, _, _) = run.system.rows, run.quality
    at = np.flatnonzero(status == DROPPED)
    gaps = np.flatnonzero(rows.is_gap)
    if not len(at) or not len(gaps):
        return
    found = np.stack([gap_of(rows, int(e), run.poses[0], run.poses[1], at) for e in gaps])
    worst = found[np.abs(found).argmax(axis=0), np.arange(len(at))]
    cause = np.abs(worst) >= CAUSE * residual[at]
    status[at[cause]] = np.where(worst[cause] > 0.0, LIFTED, PENETRATES)
    residual[at[cause]] = np.abs(worst[cause])


def gap_of(rows: RowTables, equation: int, position: Floats, rotation: Floats, at: Ints) -> Floats:
    """The gap of one contact at some instants, positive where its bodies are apart; m, or over the size.

    Parameters
    ----------
    position : (m, T, 3), ``rotation`` : (m, T, 3, 3) of the bodies on the stage
    at : (n,) instants
    """
    term = int(rows.first_term[equation])
    pair = int(rows.joint[term])
    bodies = rows.pair[pair]
    turns = [rotation[b, at] for b in bodies]
    ends = [
        position[b, at] + turn @ rows.origin[pair, k]
        for k, (b, turn) in enumerate(zip(bodies, turns, strict=True))
    ]
    axes = turns[0] @ rows.axes[pair, 0]
    d = np.einsum("nba,nb->na", axes, ends[1] - ends[0])
    C = axes.transpose(0, 2, 1) @ turns[1] @ rows.axes[pair, 1]
    code, less = int(rows.code[term]), float(rows.parameter[term])
    found: Floats
    if code == jets.CONTACT:
        from mbssa.joints.contact import gap

        starts = np.cumsum([0, *(len(curve.data) for curve in rows.curves)]).tolist()
        first, second, kind, _ = rows.number[term].tolist()
        other = rows.curves[starts.index(second)] if kind == 2 else None
        found = gap(rows.curves[starts.index(first)], other, kind, d, C)[0] - less
        return found
    kind_of = (
        Elementary("along", (int(rows.number[term, 0]),)) if code == jets.ALONG else Elementary("distance")
    )
    found = kind_of(d, C, {})[0] - less
    return found
