"""Pass backwards over the groups of a solved motion, by the compiled kernel where it can, else by NumPy."""

# NumPy solves what the kernel does not: redundant constraints, singular instants, instants without a solved
# motion, and users' functions.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.dynamics.elimination import elimination_of
from groups.dynamics.equilibrium import SUSPICIOUS
from groups.dynamics.inverse import Acting, JointLoads, Solution, acting_on, loads_of, solve_backwards
from groups.dynamics.masses import Energy, MassTable
from groups.dynamics.state import State
from groups.kernels import balance
from groups.kernels.constraint_tables import RowTables, encode_rows
from groups.kernels.jets import SIZE, WORK, evaluate
from groups.motion import drive_rows
from groups.passive_rotations import locked_rotations
from groups.rotations import rotation_of
from mbssa import decompose
from mbssa.arrays import Floats, Ints
from mbssa.compiled import chosen, is_worth_compiling
from mbssa.joints.system import unknowns

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Mechanism, Structure
    from mbssa.joints.frames import Frames


#: Seconds that compiling the kernel takes; those of NumPy for a joint at an instant; both roughly.
COMPILING, PER_JOINT = 30.0, 3e-6

#: Joints times instants below which NumPy is at once ready.
_FEW = 2_000


def backwards(
    trajectory: Trajectory,
    structure: Structure | None,
    applied: Mapping[str, npt.ArrayLike] | None,
    compiled: bool | None = None,
) -> tuple[State, Acting, Solution, Structure]:
    """The whole pass of a trajectory, by the groups of a structure or of its mechanism's own."""
    structure = decompose(trajectory.mechanism) if structure is None else structure
    mine, theirs = trajectory.mechanism, structure.mechanism
    if mine is not theirs and not np.array_equal(mine.driven, theirs.driven):
        raise ValueError(
            "the structure has other driven coordinates than the trajectory; decompose its mechanism"
        )
    if not structure.determined:
        raise ValueError("the mechanism has no structural groups: it is not determined; see mbssa check")
    state = State.of(trajectory)
    with np.errstate(invalid="ignore", divide="ignore"):
        acting = acting_on(state, applied)
        found = None
        work = mine.n_joints * state.instants
        wanted = work > _FEW if compiled is None else compiled
        if wanted and (plan := Plan.of(structure, state.frames)) is not None:
            kernels = {balance.balance_backwards: COMPILING}
            if compiled or is_worth_compiling(kernels, PER_JOINT * work):
                found = by_kernel(plan, acting, structure, compiled=True)
        return state, acting, found or solve_backwards(state, acting, structure), structure


@dataclass(frozen=True, eq=False)
class Plan:
    """Tables of the kernel for one structure."""

    # Of all joints and locked passive rotations, lengths over the size, from the bodies' centres.
    rows: RowTables
    blocks: balance.Blocks
    equations: balance.Equations
    points: balance.Points
    drives: Mapping[tuple[int, str], int]  # row of the motion by (joint index, coordinate)
    # By joint index, then by locked passive rotation: bodies, first row among the wrenches.
    slots: tuple[tuple[tuple[int, ...], int], ...]
    spins: tuple[int, ...]  # bodies with a locked passive rotation

    @staticmethod
    def of(structure: Structure, frames: Frames) -> Plan | None:
        """The tables; None where a group has redundant equations, or a function of the user's."""
        mechanism = structure.mechanism
        spins, drives = locked_rotations(structure, frames), drive_rows(mechanism)
        joints = range(mechanism.n_joints)
        rows = encode_rows(mechanism, frames, joints, range(mechanism.n_bodies), drives, spins)
        if rows.users:
            return None
        bodies = [_bodies_of(mechanism, frames, joint) for joint in joints] + [(0, s.body) for s in spins]
        last = np.array([structure.group_of_body[list(those)].max() for those in bodies]) - 1
        spun = np.cumsum(rows.source < 0) - 1 + mechanism.n_joints
        owner = np.where(rows.source < 0, spun, rows.source)
        blocks = _blocks(structure, last[owner])
        if blocks is None:
            return None
        first = np.concatenate([[0], np.cumsum([len(those) for those in bodies])])
        slot = np.full((len(rows.code), 2), -1, dtype=np.int64)
        for term in np.flatnonzero(rows.constraint[rows.equation]).tolist():
            mine = int(owner[rows.equation[term]])
            slot[term] = [first[mine] + bodies[mine].index(b) for b in rows.pair[rows.joint[term]].tolist()]
        second = np.array([*(mechanism.joint_bodies(joint)[1] for joint in joints), *(s.body for s in spins)])
        place = np.zeros((len(second), 3))
        place[: mechanism.n_joints] = frames.origin[:, 1] - frames.centre[second[: mechanism.n_joints]]
        return Plan(
            replace(rows, origin=rows.origin - frames.centre[rows.pair]).over(frames.size),
            blocks,
            (rows.first_term, rows.drive, slot),
            (
                np.array([b for those in bodies for b in those], dtype=np.int64),
                np.repeat(np.arange(len(bodies)), np.diff(first)),
                second,
                place / frames.size,
            ),
            drives,
            tuple(zip(bodies, first.tolist(), strict=False)),
            tuple(spin.body for spin in spins),
        )


def _bodies_of(mechanism: Mechanism, frames: Frames, joint: int) -> tuple[int, ...]:
    found = frames.relations.get(joint)
    return mechanism.joint_bodies(joint)[:2] if found is None else tuple(found.bodies)


def _blocks(structure: Structure, block_of_equation: Ints) -> balance.Blocks | None:
    """Equations and bodies by group; None unless each group has as many equations as freedoms."""
    columns = np.array(unknowns(structure.mechanism.space), dtype=np.int64)
    start, bodies = structure.members
    counts = np.bincount(block_of_equation, minlength=structure.n_groups)
    if (counts != len(columns) * np.diff(start)).any():
        return None
    return (
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.argsort(block_of_equation, kind="stable"),
        start.astype(np.int64),
        bodies.astype(np.int64),
        columns,
    )


def _elimination(plan: Plan, motion: balance.Motion, size: float, at: int) -> balance.Elimination | None:
    """Order of elimination by the matrices at one instant; None where one of them is singular there."""
    # Numbers that are zero in a pose taken at random are zero everywhere.
    start, equation, body_start, bodies, columns = plan.blocks
    rows, n = plan.rows, len(motion[0])
    P, R, V, T, A = _stage(n)
    for b in range(n):
        balance.set_body(at, b, motion, size, P, R, V, T, A)
    kernel_rows = rows.kernel_rows
    table, anywhere = (np.zeros((len(rows.code), SIZE)) for _ in range(2))
    evaluate(0, len(table), kernel_rows, P, R, V, T, False, np.zeros((WORK, SIZE)), table)
    generator = np.random.default_rng(7)
    P += generator.uniform(-1.0, 1.0, P.shape) * (np.isin((0, 1, 2), columns))
    turn = np.where(np.isin((2, 3, 4, 5), (2, *columns)), generator.normal(size=(n, 4)), 0.0)
    R[:] = rotation_of(turn / np.linalg.norm(turn, axis=1)[:, None]) @ R
    evaluate(0, len(table), kernel_rows, P, R, V, T, False, np.zeros((WORK, SIZE)), anywhere)
    block_of, column = np.full(n, -1), np.zeros(n, dtype=np.int64)
    for block in range(len(start) - 1):
        mine = bodies[body_start[block] : body_start[block + 1]]
        block_of[mine], column[mine] = block, len(columns) * np.arange(len(mine))
    block_of_equation = np.repeat(np.arange(len(start) - 1), np.diff(start))
    here, place_of = np.argsort(equation, kind="stable"), np.arange(len(equation))
    owner, local = block_of_equation[here], place_of[here] - start[block_of_equation[here]]
    matrices = [np.zeros((k, k)) for k in np.diff(start)]
    patterns = [np.zeros((k, k), dtype=np.bool_) for k in np.diff(start)]
    used: list[tuple[int, int, int, int, int]] = []
    for r, e in enumerate(rows.equation.tolist()):
        for side, b in enumerate(rows.pair[rows.joint[r]].tolist()):
            for c, m in enumerate((6 * side + columns).tolist()):
                if block_of[b] == owner[e] and anywhere[r, 1 + m] != 0.0:
                    i, j = int(column[b]) + c, int(local[e])
                    used.append((r, m, int(owner[e]), i, j))
                    matrices[owner[e]][i, j] += table[r, 1 + m]
                    patterns[owner[e]][i, j] = True
    found = elimination_of(matrices, patterns)
    if found is None:
        return None
    slots = np.full((len(rows.code), 12), -1, dtype=np.int64)
    for r, m, block, i, j in used:
        slots[r, m] = found[0][block][i, j]
    return (slots, *found[1])


def _stage(n: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Arrays of n bodies: P, R, V, T and accelerations."""
    return np.zeros((n, 3)), np.zeros((n, 3, 3)), np.zeros((n, 6)), np.zeros(n), np.zeros((n, 6))


def by_kernel(plan: Plan, acting: Acting, structure: Structure, *, compiled: bool) -> Solution | None:
    """Balance all groups by the kernel, doubtful instants by NumPy; None if those have redundant rows."""
    state = acting.state
    instants, n, slots = state.instants, len(state.position), len(plan.points[0])
    driving, rate = np.zeros((2, len(plan.drives), instants))
    wrench, on_frame, energy = (
        np.zeros((slots, instants, 6)),
        np.zeros((instants, 6)),
        np.zeros((3, instants)),
    )
    doubtful = np.zeros(instants, dtype=np.bool_)
    widest = int(np.diff(plan.blocks[0]).max(initial=0))
    arrays = (state.position, state.rotation, state.twist, state.acceleration, state.angle)
    motion = (*(np.ascontiguousarray(each) for each in arrays), state.frames.centre)
    sound = np.isfinite(state.acceleration).all(axis=(0, 2))
    elimination = _elimination(plan, motion, state.frames.size, int(np.argmax(sound)))
    if elimination is None or not sound.any():
        return None
    numbers = 1 + max(int(each.max(initial=0)) for each in (elimination[2], elimination[15]))
    chosen(balance.balance_backwards, ask=compiled)(
        0, instants, plan.rows.kernel_rows, plan.blocks, elimination, plan.equations, _masses(state), motion,
        loads_of(state, acting.of_elements), plan.points, state.frames.size, SUSPICIOUS,
        (driving, rate, wrench, on_frame, energy, doubtful),
        (
            *_stage(n), np.zeros((WORK, SIZE)), np.zeros((len(plan.rows.code), SIZE)), np.zeros((n, 6)),
            np.zeros(numbers), np.zeros(len(elimination[2])), *np.zeros((5, widest)),
        ),
    )  # fmt: skip
    status = np.zeros((instants, structure.n_groups), dtype=np.int8)
    found = Solution(state, on_frame[None, ..., None], status, Energy(*energy))
    names = [joint.driven for joint in structure.mechanism.joints]
    for place, (bodies, first) in enumerate(plan.slots):
        rows = [plan.drives[place, name] for name in (names[place] if place < len(names) else ())]
        loads = wrench[first : first + len(bodies)].swapaxes(0, 1)[..., None]
        joint = JointLoads(bodies, loads, driving[rows].T[..., None], rate[rows].T)
        if place < len(names):
            found.joints[place] = joint
        else:
            found.locks[plan.spins[place - len(names)]] = joint
    return _mended(found, acting, structure, np.flatnonzero(doubtful))


def _mended(
    found: Solution, acting: Acting, structure: Structure, at: npt.NDArray[np.intp]
) -> Solution | None:
    """The solution with some instants by NumPy."""
    if not len(at):
        return found
    part = acting.at(at)
    exact = solve_backwards(part.state, part, structure)
    if exact.parameters:
        return None
    found.loads[0, at], found.status[at] = exact.loads[0], exact.status
    for mine, theirs in ((found.joints, exact.joints), (found.locks, exact.locks)):
        for key, loads in theirs.items():
            for name in ("wrench", "driving", "rate"):
                getattr(mine[key], name)[at] = getattr(loads, name)
    for name in ("kinetic", "kinetic_power", "gravity_power"):
        getattr(found.energy, name)[at] = getattr(exact.energy, name)
    return found


def _masses(state: State) -> balance.Masses:
    frames, table = state.frames, MassTable.of(state.mechanism, state.frames)
    n = state.mechanism.n_bodies
    mass, place, matrix = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3, 3))
    mass[table.body], matrix[table.body] = table.mass, table.moment
    place[table.body] = (table.centre - frames.centre[table.body]) / frames.size
    return mass, place, matrix, table.gravity
