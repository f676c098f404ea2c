"""Inverse dynamics: driving forces and reactions of a solved motion, group by group in reverse order."""

# The bodies of a group are in equilibrium under all loads, reactions of later groups among them.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from groups.dynamics.block import Balance, Block, JointLoads, balanced
from groups.dynamics.forces import exerted
from groups.dynamics.forces.at import Solved, coordinate_fault
from groups.dynamics.masses import Wrench, masses
from groups.dynamics.state import State
from groups.setting import locked_rotations, without_equation
from mbssa import ModelError, decompose, with_inputs
from mbssa.arrays import Bools, Floats
from mbssa.bounds import LARGEST_LOAD, range_fault

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Structure
    from mbssa.joints.frames import Frames

Bytes = npt.NDArray[np.int8]

#: Status of a group at an instant, by its number.
STATUS = ("ok", "no solved motion", "singular: reactions are not bounded", "a later group has no solution")
OK, UNSOLVED, SINGULAR, LATER_FAILED = range(4)


@dataclass(eq=False)
class Solution:
    """Result of the pass over the groups."""

    state: State
    loads: Floats  # (N, 6, P, T) about the point of the state; of the frame what it receives
    status: Bytes  # (T, G)
    joints: dict[int, JointLoads] = field(default_factory=dict)
    locks: dict[int, JointLoads] = field(default_factory=dict)  # moments that lock passive rotations, by body
    chosen: Floats | None = None  # (P - 1, T) values of the parameters; None: zero
    least: float = 0.0  # N m, change by a parameter from which on a component depends on it

    @staticmethod
    def of(state: State, wrenches: Iterable[Wrench], n_groups: int) -> Solution:
        """The given loads before any block is balanced."""
        loads = np.zeros((state.mechanism.n_bodies, 6, 1, state.instants))
        for wrench in wrenches:
            loads[wrench.body, :, 0] += wrench.about(state.point) * state.scale
        return Solution(state, loads, np.zeros((state.instants, n_groups), dtype=np.int8))

    def balance(self, block: Block) -> tuple[Balance, list[JointLoads], Bytes]:
        """Balance a block: loads of its joints and locks, and its status."""
        loads = self.loads[list(block.bodies)]
        found, exerted = balanced(self.state, block, loads)
        status = np.where(found.singular | bool(found.deficient), SINGULAR, OK).astype(np.int8)
        status[~np.isfinite(loads).all(axis=(0, 1, 2))] = LATER_FAILED  # or there is no motion
        return found, exerted, status

    def take(self, block: Block, exerted: Sequence[JointLoads]) -> None:
        """Keep the loads of a block's joints and locks, and hand them on to earlier bodies."""
        for each in exerted:
            more = max(0, each.loads.shape[2] - self.loads.shape[2])  # new parameters
            self.loads = np.pad(self.loads, ((0, 0), (0, 0), (0, more), (0, 0))) if more else self.loads
            for body, load in zip(each.bodies, each.loads, strict=True):
                self.loads[body, :, : load.shape[1]] += load
        count = len(block.joints)
        self.joints.update(zip(block.joints, exerted[:count], strict=True))
        self.locks.update(zip([spin.body for spin in block.spins], exerted[count:], strict=True))

    def value(self, columns: Floats) -> Floats:
        """Values (…, T) of columns (…, P, T) at the chosen parameters."""
        if self.chosen is None:
            return columns[..., 0, :]
        extra = columns[..., 1:, :]
        found: Floats = columns[..., 0, :] + (extra * self.chosen[: extra.shape[-2]]).sum(axis=-2)
        return found

    def is_open(self, columns: Floats) -> Bools:
        """Whether components (…) of columns (…, P, T), N m, depend on parameters that are not chosen."""
        with np.errstate(invalid="ignore"):
            most: Floats = np.nanmax(np.abs(columns[..., 1:, :]), axis=(-2, -1), initial=0.0)
        return np.asarray((most > self.least) & (self.chosen is None))


class Acting(NamedTuple):
    """Given loads: of masses with their energies, of elements by their ids, of applied forces by name."""

    masses: list[Wrench]
    energies: tuple[Floats, Floats, Floats]  # as :func:`groups.dynamics.masses.masses`
    elements: dict[str, list[Wrench]]

    @property
    def all(self) -> list[Wrench]:
        return [*self.masses, *chain.from_iterable(self.elements.values())]


def acting_on(state: State, applied: Mapping[str, npt.ArrayLike] | None) -> Acting:
    """Loads that act on the bodies but reactions and driving forces."""
    mechanism = state.mechanism
    elements = {force.id: exerted(force, state)[0] for force in mechanism.forces}
    if not isinstance(applied or {}, Mapping):
        raise TypeError(f"applied takes forces by coordinate, such as {{'1-2.angle': 5.0}}, not {applied!r}")
    faults = []
    for name, values in (applied or {}).items():
        fault = coordinate_fault(mechanism, name)
        try:
            effort = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            effort, fault = np.zeros(0), fault or f"{values!r} is no number"
        if not fault and effort.shape not in ((), (state.instants,)):
            fault = f"shape {effort.shape}; write ({state.instants},) or a number"
        if not fault and (large := range_fault(np.abs(effort).max(initial=0.0), largest=LARGEST_LOAD)):
            fault = f"the largest {large}" if effort.ndim else large
        if fault:
            faults.append(f"applied {name!r}: {fault}")
            continue
        at, called = Solved(state), mechanism.called(name)
        at.along(called, effort)
        elements[called] = [*elements.get(called, ()), *at.wrenches]
    if faults:
        raise ValueError("\n  ".join(faults))
    return Acting(*masses(state), elements)


def driven_elsewhere(trajectory: Trajectory, drives: Sequence[str] | str) -> tuple[Trajectory, Structure]:
    """The same motion of the mechanism that is driven in other coordinates, and its structure."""
    try:
        structure = decompose(with_inputs(trajectory.mechanism, drives))
    except ModelError as error:
        raise ModelError(error.source, [fault.at("drives") for fault in error.faults]) from None
    if bare := without_equation(structure.mechanism):
        raise ValueError(f"drives {', '.join(bare)}: no joint is driven in that; name another coordinate")
    if not structure.determined:
        named = ", ".join(structure.mechanism.driven_coordinates) or "of no coordinate"
        raise ValueError(
            f"drives {named} do not determine the mechanism, so that their forces are not unique; mbssa "
            "transform finds sets that do"
        )
    names = trajectory.named_groups
    return replace(trajectory, mechanism=structure.mechanism, group_names=names), structure


def solve_backwards(
    state: State, wrenches: Sequence[Wrench], structure: Structure, together: bool = False
) -> Solution:
    """Balance every group, from the last to the first, or all bodies together."""
    blocks = blocks_of(structure, state.frames, together)
    solution = Solution.of(state, wrenches, structure.n_groups)
    for place in reversed(range(len(blocks))):
        found, exerted, status = solution.balance(blocks[place])
        # Only redundant constraints of later groups constrain these bodies.
        if found.deficient and len(blocks) > 1:
            return solve_backwards(state, wrenches, structure, together=True)
        solution.take(blocks[place], exerted)
        solution.status[:, place : None if together else place + 1] = status[:, None]
    return solution


def blocks_of(structure: Structure, frames: Frames, together: bool = False) -> list[Block]:
    """A block for each group, or one of all bodies; a joint belongs to the last of its bodies."""
    numbers, spins = [structure.group_of_body, structure.joint_group], locked_rotations(structure, frames)
    body_group, joint_group = (
        np.minimum(number, 1 if together else structure.n_groups) for number in numbers
    )
    return [
        Block(
            tuple(np.flatnonzero(body_group == group).tolist()),
            tuple(np.flatnonzero(joint_group == group).tolist()),
            tuple(spin for spin in spins if body_group[spin.body] == group),
        )
        for group in range(1, int(body_group.max(initial=0)) + 1)
    ]
