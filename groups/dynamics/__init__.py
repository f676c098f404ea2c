"""Inverse dynamics of solved motions: driving forces and reactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from groups.dynamics.inverse import acting_on, driven_elsewhere, solve_backwards
from groups.dynamics.results import Forces, JointForces, results_of
from groups.dynamics.state import State
from groups.trajectory import Trajectory
from mbssa import Structure, decompose

__all__ = ["Forces", "JointForces", "forces"]


def forces(
    trajectory: Trajectory,
    structure: Structure | None = None,
    *,
    applied: Mapping[str, npt.ArrayLike] | None = None,
    drives: Sequence[str] | str | None = None,
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
    drives : joint coordinates that carry the drives of the same motion instead of its inputs, such as
        ``1-4.slide`` or, where a joint has one coordinate, ``1-4``
    minimum_norm : give reactions that redundant constraints leave open those values with which the sum of
        squares of all reactions (moments over the mechanism's size) is least; else they are NaN

    Raises
    ------
    ValueError
        Bodies or accelerations were not kept, the mechanism is not determined, by the ``drives`` where they
        are given, or ``structure`` or ``applied`` does not fit.
    ModelError
        Every name of ``drives`` that is no coordinate.

    Examples
    --------
    >>> import groups, mbssa
    >>> structure = mbssa.decompose(mbssa.load("slider_crank_isostatic"))
    >>> trajectory = groups.build(structure).solve()
    >>> forces = groups.forces(trajectory, applied={"1-4.slide": -500.0})
    >>> forces.drives, forces.ok, bool(abs(forces.balance).max() < 1e-9)
    (('1-2.angle',), True, True)
    >>> piston = groups.forces(trajectory, applied={"1-4.slide": -500.0}, drives="1-4.slide")
    >>> piston.drives, piston.driving[0].round(6).tolist()
    (('1-4.slide',), [500.0])
    """
    if not isinstance(trajectory, Trajectory):
        raise TypeError(
            f"forces takes a trajectory, such as model.solve(…), not a {type(trajectory).__name__}"
        )
    if drives is not None:
        if structure is not None:
            raise ValueError("drives have a structure of their own; leave the structure out")
        trajectory, structure = driven_elsewhere(trajectory, drives)
    structure = decompose(trajectory.mechanism) if structure is None else structure
    if not isinstance(structure, Structure):
        given = type(structure).__name__
        raise TypeError(f"a {given} is no structure; mbssa.decompose(mechanism) gives what is taken here")
    mine, theirs = trajectory.mechanism, structure.mechanism
    arrays = ("joint_type", "joint_start", "joint_body", "driven")
    if not all(np.array_equal(getattr(mine, name), getattr(theirs, name)) for name in arrays):
        raise ValueError(
            "the structure has other joints or driven coordinates than the trajectory; decompose its "
            "mechanism, or name the coordinates by drives=…"
        )
    if not structure.determined:
        raise ValueError("the mechanism has no structural groups: it is not determined; see mbssa check")
    state = State.of(trajectory)
    with np.errstate(invalid="ignore", divide="ignore"):
        acting = acting_on(state, applied)
        solution = solve_backwards(state, acting.all, structure)
    return results_of(state, acting, solution, structure, minimum_norm)
