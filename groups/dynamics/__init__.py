"""Inverse dynamics of solved motions: driving forces and reactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy.typing as npt

from groups.dynamics.inverse import backwards
from groups.dynamics.results import Forces, JointForces, results_of
from groups.trajectory import Trajectory

if TYPE_CHECKING:
    from mbssa import Structure

__all__ = ["Forces", "JointForces", "forces"]


def forces(
    trajectory: Trajectory,
    structure: Structure | None = None,
    *,
    applied: Mapping[str, npt.ArrayLike] | None = None,
    minimum_norm: bool = False,
) -> Forces:
    """Inverse dynamics of a solved motion: driving forces, reactions, shaking force, powers.

    Masses, gravity and force elements are those of the mechanism. Structural groups are balanced in the
    reverse order of their dependency, each over all instants in one call, by the transpose of the Jacobian of
    their joints.

    Parameters
    ----------
    trajectory : of all bodies, with accelerations
    structure : whose groups are balanced; the mechanism's own by default
    applied : further forces, N, or torques, N m, by joint coordinate: (T,), or a number; positive along the
        coordinate
    minimum_norm : give reactions that redundant constraints leave open those values with which the sum of
        squares of all reactions (moments over the mechanism's size) is least; else they are NaN

    Raises
    ------
    ValueError
        Bodies or accelerations were not kept, the mechanism is not determined, or ``structure`` or
        ``applied`` does not fit.

    Examples
    --------
    >>> import groups, mbssa
    >>> structure = mbssa.decompose(mbssa.load("slider_crank_isostatic"))
    >>> trajectory = groups.build(structure).solve()
    >>> forces = groups.forces(trajectory, applied={"1-4.slide": -500.0})
    >>> forces.drives, forces.ok, bool(abs(forces.balance).max() < 1e-9)
    (('1-2.angle',), True, True)
    """
    if not isinstance(trajectory, Trajectory):
        raise TypeError(
            f"forces takes a trajectory, such as model.solve(…), not a {type(trajectory).__name__}"
        )
    return results_of(*backwards(trajectory, structure, applied), minimum_norm)
