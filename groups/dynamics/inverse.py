"""Inverse dynamics: driving forces and reactions of a solved motion, group by group in reverse order."""

# The bodies of a group are in equilibrium under all loads, reactions of later groups among them. By virtual
# work along the free motions of the tree's joints, the rows of the closing joints balance all given loads; a
# joint of the tree carries what the bodies beyond it receive besides (Featherstone, Rigid Body Dynamics
# Algorithms, ch. 8). Loads are forces times size and moments about the point of the state. Where there are
# more rows than motions, a space of multipliers is indeterminate: the self-stress of redundant constraints.
# It is kept as further columns of the loads, by parameters.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from groups.dynamics.forces import exerted
from groups.dynamics.forces.at import Solved, coordinate_fault
from groups.dynamics.gears import rows_on_teeth
from groups.dynamics.state import State, Wrench, masses
from groups.joint_jacobian import link_twists, spin_rows, tree_rows
from groups.setting import LockedRotation, locked_rotations, without_equation
from groups.tree import Link, ball_of, spanning
from mbssa import Mechanism, ModelError, decompose, with_inputs
from mbssa.arrays import Bools, Floats
from mbssa.bounds import LARGEST_LOAD, range_fault
from mbssa.joints.catalogue import type_of_joint

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Structure
    from mbssa.joints.frames import Frames

Bytes = npt.NDArray[np.int8]

#: Status of a group at an instant, by its number.
STATUS = ("ok", "no solved motion", "singular: reactions are not bounded", "a later group has no solution")
OK, UNSOLVED, SINGULAR, LATER_FAILED = range(4)


#: Kinds of coordinates that have no value, or no motion of their own, in some poses.
_SINGULAR_KINDS = ("cardan", "elevation", "distance")

#: Ratio of singular values below which equations depend on one another; multipliers of a probe of magnitude 1
#: beyond which the rank is determined.
_DEPENDENT, _SUSPICIOUS = 1e-8, 1e5


class Block(NamedTuple):
    """Bodies that are balanced together, by these joints and locked passive rotations."""

    bodies: tuple[int, ...]
    joints: tuple[int, ...]
    spins: tuple[LockedRotation, ...]


class JointLoads(NamedTuple):
    """Loads of a joint, with its drives, on its S bodies; P columns: the load, its change by parameters."""

    bodies: tuple[int, ...]
    loads: Floats  # (S, 6, P, T)
    driving: Floats  # (D, P, T) N times size, or N m


class Balance(NamedTuple):
    """Multipliers of one block of bodies."""

    multipliers: Floats  # (T, m, P + k) N m: of the load, by each of P - 1 parameters, and by k new ones
    singular: Bools  # (T,) instants at which the equations lose rank
    deficient: int  # motions of the bodies that no equation constrains, at the other instants


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
        """Balance a block: multipliers, loads of its joints, then of its locks, and its status."""
        state, mechanism, whole = self.state, self.state.mechanism, self.loads[list(block.bodies)]
        place = {body: k for k, body in enumerate(block.bodies)}
        carrying = [joint for joint in block.joints if _carries(mechanism, joint)]
        links, cuts = spanning(mechanism, set(block.bodies), carrying)
        closing = [*cuts, *(joint for joint in block.joints if joint not in carrying)]
        rows = [rows_on_teeth(state, joint) for joint in closing]
        rows += [spin_rows(state, spin) for spin in block.spins]
        drives = [len(mechanism.joints[joint].driven) for joint in closing] + [0] * len(block.spins)
        free, driven = zip(*(_motions(state, link) for link in links), strict=True)
        work = tree_rows(state, links, free, [(block.bodies, whole)])
        found = balance(tree_rows(state, links, free, rows), work)
        status = np.where(found.singular | bool(found.deficient), SINGULAR, OK).astype(np.int8)
        status[~np.isfinite(whole).all(axis=(0, 1, 2))] = LATER_FAILED  # or there is no motion
        multipliers = np.ascontiguousarray(found.multipliers.transpose(1, 2, 0))
        whole = np.pad(whole, ((0, 0), (0, 0), (0, multipliers.shape[1] - whole.shape[2]), (0, 0)))
        closed, parts = [], np.split(multipliers, np.cumsum([of.shape[2] for _, of in rows], dtype=int))
        for (bodies, of), mine, count in zip(rows, parts, drives, strict=False):
            exerted = np.einsum("saet,ept->sapt", of, mine)
            closed.append(JointLoads(bodies, exerted, mine[len(mine) - count :]))
            for body, load in zip(bodies, exerted, strict=True):
                if body in place:
                    whole[place[body]] += load
        carried = dict(zip(closing, closed, strict=False))
        for link, along in zip(reversed(links), reversed(driven), strict=True):  # parents come first
            load = whole[place[link.body]]  # with what the bodies beyond receive
            if link.parent in place:
                whole[place[link.parent]] += load
            if link.joint >= 0:
                pair = np.stack([load, -load] if link.forward else [-load, load])
                driving = np.einsum("akt,apt->kpt", along, -load)
                carried[link.joint] = JointLoads(mechanism.joint_bodies(link.joint)[:2], pair, driving)
        return found, [*(carried[joint] for joint in block.joints), *closed[len(closing) :]], status

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
    """Given loads: of elements by their ids, of applied forces by name, and all with those of masses."""

    all: list[Wrench]
    energies: tuple[Floats, Floats, Floats]  # as :func:`groups.dynamics.state.masses`
    elements: dict[str, list[Wrench]]


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
    inertial, energies = masses(state)
    return Acting([*inertial, *chain.from_iterable(elements.values())], energies, elements)


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


def balance(transposed: Floats, loads: Floats) -> Balance:
    """Solve A λ = -b over time: transposed Jacobian A (T, n, m), loads b (T, n, P) and their derivatives."""
    instants, n, m = transposed.shape
    columns = loads.shape[2]
    sound = np.asarray(np.isfinite(transposed).all(axis=(1, 2)) & np.isfinite(loads).all(axis=(1, 2)))
    found, rank = np.full((instants, m, columns), np.nan), np.full(instants, -1)
    if n == m:
        # A probe is solved with the loads: a load in general position, whose solution is large wherever the
        # matrix is nearly singular, for any loads.
        probe = np.broadcast_to(np.cos(np.arange(1.0, n + 1))[:, None], (instants, n, 1))
        right = np.concatenate([-loads, probe], axis=2)
        with suppress(np.linalg.LinAlgError):  # a matrix that is singular ends the call for all
            solved = np.linalg.solve(transposed[sound], right[sound])
            found[sound] = solved[:, :, :-1]
            size = np.abs(solved[:, :, -1]).max(axis=1, initial=0.0)
            rank[sound] = np.where(size <= _SUSPICIOUS, n, -1)
    doubtful = np.flatnonzero(sound & (rank < 0))
    left, values, right = np.linalg.svd(transposed[doubtful])
    rank[doubtful] = (values > _DEPENDENT * values[:, :1]).sum(axis=1)
    full = int(rank.max(initial=0))
    found = np.pad(found, ((0, 0), (0, 0), (0, m - full)), constant_values=np.nan)
    kept = rank[doubtful] == full
    here, left, values, right = (each[kept] for each in (doubtful, left, values, right))
    inner = left[:, :, :full].transpose(0, 2, 1) @ loads[here] / values[:, :full, None]
    found[here, :, :columns] = -right[:, :full].transpose(0, 2, 1) @ inner
    found[here, :, columns:] = right[:, full:].transpose(0, 2, 1)
    singular = sound & (rank < full)
    found[singular] = np.nan
    return Balance(found, singular, n - full)


def _carries(mechanism: Mechanism, joint: int) -> bool:
    """Whether the free motions of a joint are independent in every pose."""
    pair = type_of_joint(mechanism, joint).pair
    if pair is None:
        return False
    ball = _ball(mechanism, joint)
    return not any(e.kind in _SINGULAR_KINDS and k not in ball for k, e in enumerate(pair.coordinates))


def _ball(mechanism: Mechanism, joint: int) -> list[int]:
    """Coordinates of three free turns at the end of the steps of a joint of two bodies."""
    kind, driven = type_of_joint(mechanism, joint), mechanism.joints[joint].driven
    assert kind.pair is not None
    return sorted(ball_of(kind.pair.steps, [name in driven for name in kind.coordinates]))


def _motions(state: State, link: Link) -> tuple[Floats, Floats]:
    """Twists (6, k, T) of a link's body against its parent, by free coordinates and by driven ones."""
    driven, ball = list[int](), list[int]()
    if link.joint >= 0:
        view, ball = state.mechanism.joints[link.joint], _ball(state.mechanism, link.joint)
        driven = [view.type.coordinates.index(name) for name in view.driven]
    twists = link_twists(state, link, ball)
    free = [k for k in range(twists.shape[1]) if k not in driven]
    return twists[:, free] if driven else twists, twists[:, driven]
