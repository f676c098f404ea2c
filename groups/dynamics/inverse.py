"""Inverse dynamics: driving forces and reactions of a solved motion, group by group in reverse order."""

# The bodies of a group are in equilibrium under all loads, reactions of later groups among them.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.dynamics.block import JointLoads, balanced
from groups.dynamics.equilibrium import Balance
from groups.dynamics.forces import wrenches_of
from groups.dynamics.forces.coordinate import along_coordinate
from groups.dynamics.masses import Energy, Wrench, masses
from groups.dynamics.state import State
from groups.passive_rotations import LockedRotation, locked_rotations
from mbssa import decompose, with_inputs
from mbssa.arrays import Floats, Ints

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Mechanism, Structure
    from mbssa.joints.frames import Frames

Bytes = npt.NDArray[np.int8]

#: Status of a group at an instant, by its number.
STATUS = ("ok", "no solved motion", "singular: reactions are not bounded", "a later group has no solution")
OK, UNSOLVED, SINGULAR, LATER_FAILED = range(4)


@dataclass(eq=False)
class Solution:
    """Result of the pass over the groups."""

    state: State
    # (N, T, 6, P) about each body's centre: force times size, moment, N m; of the frame what it receives
    loads: Floats
    status: Bytes
    joints: dict[int, JointLoads] = field(default_factory=dict)
    locks: dict[int, JointLoads] = field(default_factory=dict)  # moments that lock passive rotations, by body

    @property
    def parameters(self) -> int:
        """Number of reactions that the balance leaves indeterminate."""
        return int(self.loads.shape[3]) - 1

    def widen(self, columns: int) -> None:
        """Add columns for new parameters."""
        if (more := columns - self.loads.shape[3]) > 0:
            self.loads = np.pad(self.loads, [*[(0, 0)] * 3, (0, more)])


@dataclass(frozen=True, eq=False)
class Acting:
    """Given loads: of masses, of force elements by their ids, of applied forces by their coordinates."""

    state: State
    elements: Mapping[str, Sequence[Wrench]]

    @cached_property
    def masses(self) -> tuple[list[Wrench], Energy]:
        """Loads and energy of all bodies with mass."""
        return masses(self.state)

    @property
    def all(self) -> list[Wrench]:
        return [*self.masses[0], *(each for several in self.elements.values() for each in several)]


def acting_on(state: State, applied: Mapping[str, npt.ArrayLike] | None) -> Acting:
    """Loads that act on the bodies but reactions and driving forces."""
    mechanism = state.trajectory.mechanism
    elements = {force.id: wrenches_of(force, state) for force in mechanism.forces}
    faults = []
    for name, values in (applied or {}).items():
        joint, _, coordinate = name.rpartition(".")
        effort = np.asarray(values, dtype=np.float64)
        try:
            found = mechanism.joint(joint)
        except KeyError as error:
            faults.append(f"applied {name!r}: {error.args[0]}")
            continue
        if coordinate not in found.type.drivable:
            faults.append(f"applied {name!r}: joint {joint} has {', '.join(found.type.drivable)}")
        elif effort.shape not in ((), (state.instants,)):
            faults.append(f"applied {name!r}: shape {effort.shape}; write ({state.instants},) or a number")
        else:
            called = f"{found.id}.{coordinate}"
            loads = along_coordinate(state, called, np.broadcast_to(effort, state.instants))
            elements[called] = [*elements.get(called, ()), *loads]
    if faults:
        raise ValueError("\n  ".join(faults))
    return Acting(state, elements)


def driven_elsewhere(trajectory: Trajectory, drives: Sequence[str] | str) -> tuple[Trajectory, Structure]:
    """The same motion of the mechanism that is driven in other coordinates, and its structure."""
    structure = decompose(with_inputs(trajectory.mechanism, drives))
    if not structure.determined:
        named = ", ".join(structure.mechanism.driven_coordinates) or "of no coordinate"
        raise ValueError(
            f"drives {named} do not determine the mechanism, so that their forces are not unique; mbssa "
            "transform finds sets that do"
        )
    names = trajectory.named_groups
    return replace(trajectory, mechanism=structure.mechanism, group_names=names), structure


def backwards(
    trajectory: Trajectory, structure: Structure | None, applied: Mapping[str, npt.ArrayLike] | None
) -> tuple[State, Acting, Solution, Structure]:
    """The whole pass of a trajectory, by the groups of a structure or of its mechanism's own."""
    structure = decompose(trajectory.mechanism) if structure is None else structure
    mine, theirs = trajectory.mechanism, structure.mechanism
    if mine is not theirs and not np.array_equal(mine.driven, theirs.driven):
        raise ValueError(
            "the structure has other driven coordinates than the trajectory; decompose its mechanism, or "
            "name them by drives=…"
        )
    if not structure.determined:
        raise ValueError("the mechanism has no structural groups: it is not determined; see mbssa check")
    state = State.of(trajectory)
    with np.errstate(invalid="ignore", divide="ignore"):
        acting = acting_on(state, applied)
        return state, acting, solve_backwards(state, acting.all, structure), structure


def solve_backwards(state: State, wrenches: Sequence[Wrench], structure: Structure) -> Solution:
    """Balance every group, from the last to the first."""
    # Where a group's own equations do not constrain its bodies, because redundant constraints of later groups
    # do, all bodies are balanced together.
    blocks = [group.body_indices.tolist() for group in structure.groups]
    found = _pass(state, wrenches, structure, blocks)
    if found is None:
        found = _pass(state, wrenches, structure, [sorted(body for block in blocks for body in block)])
    assert found is not None
    return found


def _pass(
    state: State, wrenches: Sequence[Wrench], structure: Structure, blocks: list[list[int]]
) -> Solution | None:
    """One pass over blocks of bodies; None where a block is under-constrained by its own equations."""
    status = np.zeros((state.instants, structure.n_groups), dtype=np.int8)
    solution = Solution(state, loads_of(state, wrenches)[..., None], status)
    number = structure.group_of_body if len(blocks) == structure.n_groups else np.minimum(
        structure.group_of_body, 1
    )  # fmt: skip
    joints = owned_joints(state.trajectory.mechanism, state.frames, number, len(blocks))
    failed = (state.trajectory.status != 0).any(axis=1)
    spins = locked_rotations(structure, state.frames)
    for place in reversed(range(len(blocks))):
        which = slice(None) if len(blocks) != structure.n_groups else slice(place, place + 1)
        waiting = ~np.isfinite(solution.loads[blocks[place]]).all(axis=(0, 2, 3))
        mine = [spin for spin in spins if spin.body in blocks[place]]
        found = _block(solution, blocks[place], joints[place], mine)
        if found.deficient and len(blocks) > 1:
            return None
        singular = found.singular | bool(found.deficient)
        for at, code in ((singular, SINGULAR), (waiting, LATER_FAILED), (waiting & failed, UNSOLVED)):
            solution.status[at, which] = code
    return solution


def owned_joints(mechanism: Mechanism, frames: Frames, number: Ints, blocks: int) -> list[list[int]]:
    """Indices of the joints of each block: those whose last body is in it; ``number`` is from 1, by body."""
    joints: list[list[int]] = [[] for _ in range(blocks)]
    for joint in range(mechanism.n_joints):
        last = max(int(number[body]) for body in frames.bodies_of(mechanism, joint))
        if last:
            joints[last - 1].append(joint)
    return joints


def loads_of(state: State, wrenches: Sequence[Wrench]) -> Floats:
    """Loads (N, T, 6) on the bodies about their centres, force times size, and moment, N m."""
    loads = np.zeros((*state.centre.shape[:2], 6))
    size = np.array([state.frames.size] * 3 + [1.0] * 3)
    for wrench in wrenches:
        loads[wrench.body] += wrench.about(state.centre[wrench.body]) * size
    return loads


def _block(
    solution: Solution, bodies: list[int], joints: list[int], spins: Sequence[LockedRotation]
) -> Balance:
    """Balance a block, hand its joints' loads on to earlier bodies, and keep what they are."""
    found, exerted = balanced(solution.state, solution.loads[bodies], bodies, joints, spins)
    solution.widen(found.multipliers.shape[2])
    for loads, whole in exerted:
        for slot, body in enumerate(loads.bodies):
            solution.loads[body] += whole[:, slot]
    kept = [loads for loads, _ in exerted]
    solution.joints.update(zip(joints, kept, strict=False))
    solution.locks.update(zip([spin.body for spin in spins], kept[len(joints) :], strict=True))
    return found
