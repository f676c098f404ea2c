"""Wheel on a terrain y(x) that stands still with the frame: a natural cubic spline through its points."""

# They touch at the point of the terrain next to the wheel's centre.

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from groups.dynamics.forces.at import At
from groups.dynamics.forces.formulas import contact_loads
from mbssa.arrays import Floats
from mbssa.graph.nodes import Number
from mbssa.joints.axes import in_space
from mbssa.joints.cams.contact import POINT, contacts
from mbssa.joints.cams.curves import Curve, ground
from mbssa.loads import Force
from mbssa.units import quantity_text

#: Cosine between the line from the terrain to the wheel and the terrain's tangent, beyond its ends.
_SLANTED = 1e-9


def exert(force: Force, at: At) -> Number:
    """Equal and opposite forces on the wheel and on the frame, none while the wheel is off the terrain."""
    assert force.point is not None
    assert force.terrain is not None
    search = partial(_search, force, ground(force.terrain), at.mechanism.units)
    points = (0.0, 0.0), force.point
    return contact_loads(force, at, (0, force.bodies[0]), points, force.radius or 0.0, search)


def _search(
    force: Force, curve: Curve, units: tuple[str, str], time: Floats, x: Floats, y: Floats, *pose: Floats
) -> Sequence[Floats]:
    """Place of contact on the terrain, normal and gap (T,) of the wheel's centre."""
    assert force.terrain is not None
    centre = in_space(np.stack([x, y], axis=1))
    known = np.flatnonzero(np.isfinite(centre).all(axis=1))
    found = contacts(curve, None, POINT, centre[known], np.tile(np.eye(3), (len(known), 1, 1)))
    _, tangent, _ = curve.at(curve.parameter(found.place[:, 0]))
    slanted = np.abs((found.normal * tangent).sum(axis=1)) > _SLANTED * np.hypot(*tangent.T)
    if slanted.any():
        t = int(known[slanted.argmax()])
        places = force.terrain[0][0], force.terrain[-1][0], x[t]
        begin, end, there = (quantity_text(each, "m", units) for each in places)
        raise ValueError(
            f"force {force.id} terrain: at t = {time[t]:.6g} s the wheel at "
            f"x = {there} is beyond its ends, {begin} to {end}; add points"
        )
    numbers = np.full((5, len(time)), np.nan)
    foot = found.point - found.gap[:, None] * found.normal
    numbers[:, known] = [*foot.T, *found.normal.T, found.gap]
    return list(numbers)
