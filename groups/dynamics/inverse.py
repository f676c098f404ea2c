"""Inverse dynamics: driving forces and reactions of a solved motion, group by group in reverse order."""

# The bodies of a group are in equilibrium under all loads, reactions of later groups among them; the unknown
# multipliers of its own joints have the group's transposed Jacobian as their matrix. NumPy solves a group for
# all instants in one call; groups.dynamics.backwards leaves regular ones to a kernel.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.dynamics.equilibrium import Balance, balance
from groups.dynamics.forces import wrenches_of
from groups.dynamics.forces.coordinate import along_coordinate
from groups.dynamics.masses import Energy, Wrench, masses
from groups.dynamics.state import State
from groups.joint_jacobian import JointRows, joint_rows, spin_rows
from groups.passive_rotations import LockedRotation, locked_rotations
from mbssa.arrays import Floats, Ints
from mbssa.joints.axes import cross
from mbssa.joints.system import unknowns

if TYPE_CHECKING:
    from mbssa import Mechanism, Structure
    from mbssa.joints.frames import Frames

Bytes = npt.NDArray[np.int8]

#: Status of a group at an instant, by its number.
STATUS = ("ok", "no solved motion", "singular: reactions are not bounded", "a later group has no solution")
OK, UNSOLVED, SINGULAR, LATER_FAILED = range(4)


@dataclass(frozen=True, eq=False)
class JointLoads:
    """Loads of one joint on its bodies, with P columns: the load, and its change by parameters."""

    bodies: tuple[int, ...]
    # (T, S, 6, P) on each body by the constraints alone: N, and N m about the joint's point, world axes
    wrench: Floats
    driving: Floats  # (T, D, P) N times size, or N m
    rate: Floats  # (T, D) m/s over the size, or rad/s


@dataclass(eq=False)
class Solution:
    """Result of the pass over the groups."""

    state: State
    # (N, T, 6, P) about each body's centre: force times size, moment, N m; of the frame what it receives
    loads: Floats
    status: Bytes
    energy: Energy
    joints: dict[int, JointLoads] = field(default_factory=dict)
    locks: dict[int, JointLoads] = field(default_factory=dict)  # moments that lock passive rotations, by body

    @property
    def parameters(self) -> int:
        """Number of reactions that the balance leaves indeterminate."""
        return int(self.loads.shape[3]) - 1

    def widen(self, columns: int) -> None:
        """Add columns for new parameters."""
        if columns > self.loads.shape[3]:
            self.loads = _wider(self.loads, columns)


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
    def of_elements(self) -> list[Wrench]:
        return [each for several in self.elements.values() for each in several]

    @property
    def all(self) -> list[Wrench]:
        return [*self.masses[0], *self.of_elements]

    def at(self, instants: npt.NDArray[np.intp]) -> Acting:
        """The same loads at some instants."""
        elements = {name: [each.at(instants) for each in several] for name, several in self.elements.items()}
        return Acting(self.state.at(instants), elements)


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


def solve_backwards(state: State, acting: Acting, structure: Structure) -> Solution:
    """Balance every group, from the last to the first."""
    # Where a group's own equations do not constrain its bodies, because redundant constraints of later groups
    # do, all bodies are balanced together.
    blocks = [group.body_indices.tolist() for group in structure.groups]
    found = _pass(state, acting, structure, blocks)
    if found is None:
        found = _pass(state, acting, structure, [sorted(body for block in blocks for body in block)])
    assert found is not None
    return found


def _pass(state: State, acting: Acting, structure: Structure, blocks: list[list[int]]) -> Solution | None:
    """One pass over blocks of bodies; None where a block is under-constrained by its own equations."""
    solution = Solution(
        state,
        loads_of(state, acting.all)[..., None],
        np.zeros((state.instants, structure.n_groups), dtype=np.int8),
        acting.masses[1],
    )
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


def balanced(
    state: State, loads: Floats, bodies: Sequence[int], joints: Sequence[int], spins: Sequence[LockedRotation]
) -> tuple[Balance, list[tuple[JointLoads, Floats]]]:
    """Balance of the bodies of a block under ``loads`` (B, T, 6, P), and loads of its joints and locks."""
    # The second array of a joint is what its constraints and drives together exert on its bodies about their
    # centres, (T, S, 6, P), forces times size.
    mechanism = state.trajectory.mechanism
    rows = [joint_rows(state, joint, mechanism.joints[joint].driven) for joint in joints]
    rows += [spin_rows(state, spin) for spin in spins]
    free = list(unknowns(mechanism.space))
    jacobian = _jacobian(rows, bodies, free)
    acting = loads[:, :, free].transpose(1, 0, 2, 3).reshape(state.instants, jacobian.shape[2], -1)
    found = balance(jacobian.swapaxes(1, 2), acting)
    exerted = []
    first = 0
    for each in rows:
        stop = first + len(each.names)
        exerted.append(_exerted(state, each, found.multipliers[:, first:stop]))
        first = stop
    return found, exerted


def _jacobian(rows: Sequence[JointRows], bodies: Sequence[int], free: Sequence[int]) -> Floats:
    """Jacobian (T, m, n) of all equations of a block by the twists of its bodies."""
    instants = len(rows[0].jacobian)
    place = {body: k for k, body in enumerate(bodies)}
    found = np.zeros((instants, sum(len(each.names) for each in rows), len(bodies), len(free)))
    first = 0
    for each in rows:
        stop = first + len(each.names)
        for slot, body in enumerate(each.bodies):
            if body in place:
                found[:, first:stop, place[body]] += each.jacobian[:, :, slot][:, :, free]
        first = stop
    return found.reshape(instants, found.shape[1], -1)


def _exerted(state: State, rows: JointRows, multipliers: Floats) -> tuple[JointLoads, Floats]:
    """Loads of one joint, and what it exerts on its bodies with its drives; see :func:`balanced`."""
    instants, columns = len(multipliers), multipliers.shape[2]
    size, bodies = state.frames.size, list(rows.bodies)
    scale = np.array([size] * 3 + [1.0] * 3)[:, None]
    flat = rows.jacobian.reshape(instants, -1, len(bodies) * 6).swapaxes(1, 2)
    split = rows.constraints
    reaction = flat[:, :, :split] @ multipliers[:, :split]
    whole = reaction + flat[:, :, split:] @ multipliers[:, split:]
    whole = whole.reshape(instants, len(bodies), 6, columns)
    wrench = reaction.reshape(instants, len(bodies), 6, columns) / scale
    arm = state.centre[bodies].swapaxes(0, 1) - rows.point[:, None]
    force = np.moveaxis(wrench[:, :, :3], 3, 2)
    wrench[:, :, 3:] += np.moveaxis(cross(arm[:, :, None], force), 2, 3)
    twist = np.concatenate(
        [
            [state.velocity(b, state.centre[b] - state.position[b]) / size for b in bodies],
            state.twist[bodies, :, 3:],
        ],
        axis=2,
    )
    rate = np.einsum("tesc,stc->te", rows.jacobian[:, split:], twist)
    return JointLoads(rows.bodies, wrench, multipliers[:, split:], rate), whole


def _wider(array: Floats, columns: int) -> Floats:
    """Zeros added along the last axis."""
    added = np.zeros((*array.shape[:-1], columns - array.shape[-1]))
    return np.concatenate([array, added], axis=-1)
