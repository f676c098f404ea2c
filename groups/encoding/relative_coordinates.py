"""Data of a group for :mod:`groups.kernels.relative`: steps, cuts and struts in relative coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.encoding.constraint_tables import RowTables, encode_rows
from groups.encoding.joint_steps import Steps, free_body, joint_steps
from groups.encoding.struts import origin_on, pack_strut, strut_signs
from groups.kernels import jets, layout, linear, loop_closure, newton
from groups.tree import GroupTree, Strut
from mbssa.arrays import Floats, Ints
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration
from mbssa.mechanism import Mechanism

if TYPE_CHECKING:
    from groups.setting import Setting
    from mbssa.joints.user import UserFunction


#: Residual that counts as closed, over the mechanism's size, and over its distance from the origin.
CLOSED, ROUNDING = 1e-12, 4e-15
#: Residual of an equation that was left out: over the size, and over what it misses at the reference already.
LEFT_OUT, ROUNDED = 1e-9, 100.0

#: Cosine from which two axes are one.
_SAME_AXIS = 1.0 - 1e-12


@dataclass(frozen=True, eq=False)
class RelativeGroup:
    """Arguments of :func:`groups.kernels.relative.solve_relative` for one group."""

    ints: Ints
    floats: Floats
    memory: Floats
    method: int
    unknowns: tuple[str, ...]
    closing: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    users: tuple[tuple[UserFunction, int], ...] = ()


def encode_relative(opened: GroupTree, setting: Setting, *, newton: bool = False) -> RelativeGroup:
    """Relative coordinates of a group and its closing equations."""
    mechanism, frames, reference = setting.mechanism, setting.frames, setting.reference
    drives, inputs, spins = setting.drives, setting.inputs, setting.spins
    geared = {} if newton else setting.geared.get(opened.number, {})
    planar = mechanism.space == "planar"
    known = len(opened.known)
    stage = [*opened.known, *(link.body for link in opened.links)]
    place = {body: k for k, body in enumerate(stage)}
    steps, start, moved_by = Steps(), [0], [set[int]() for _ in opened.known]
    for link in opened.links:
        before = len(steps.names)
        if link.joint < 0:
            free_body(setting, link.body, steps)
        else:
            joint_steps(setting, link.joint, link.forward, geared, steps)
        steps.flush()
        start.append(len(steps.kind))
        moved_by.append(moved_by[place[link.parent]] | set(range(before, len(steps.names))))
    names, x, balls, n = steps.names, steps.x, steps.balls, len(steps.names)
    influence = np.zeros((len(stage), n), dtype=np.int64)
    for k, unknowns in enumerate(moved_by):
        influence[k, sorted(unknowns)] = 1

    held = [spin for spin in spins if place.get(spin.body, -1) >= known]
    cuts = () if geared else opened.cuts
    pins = [j for j in cuts if _is_pin(mechanism, j)]
    rod_joints = [j for j in cuts if _is_rod(mechanism, j)]
    rod_struts = [strut for strut in opened.struts if strut.slide < 0 or strut.slide_driven]
    others = [j for j in cuts if j not in pins and j not in rod_joints]
    rows = encode_rows(mechanism, frames, others, place, drives, held).bound(False)
    width = 2 if planar else 3
    if width * len(pins) + len(rod_joints) + len(rod_struts) + len(rows) != n:
        # More equations than unknowns: all in one form, of which a full set is chosen.
        pins, rod_joints = [], []
        rows = encode_rows(mechanism, frames, list(opened.cuts), place, drives, held).bound(False)
    packed = [pack_strut(strut, setting) for strut in opened.struts]
    rods, rod_floats = _rods(mechanism, frames, place, rod_joints, rod_struts, opened.struts, packed, drives)
    meeting = _meeting(opened, mechanism, steps, influence, pins, place, n) if not len(rows) else None
    near_from, near_factor, near_zero = _counters(rows, setting, steps, stage)
    turn_zero = _turn_zero(opened, setting, steps, start) if planar else np.zeros(0)
    reach = n == 1 and len(rods) == 1 and not len(rows) and _elementary(steps, 1)
    reach = reach and influence[rods[0, 0], 0] != influence[rods[0, 1], 0]
    method = layout.REACH if reach else layout.MEET if meeting else layout.NEWTON
    if newton:
        method = layout.NEWTON
    counts = {
        layout.N_KNOWN: known, layout.N_LINKS: len(opened.links), layout.N_STEPS: len(steps.kind),
        layout.N_UNKNOWNS: n, layout.N_BALLS: len(balls), layout.N_PINS: len(pins), layout.N_RODS: len(rods),
        layout.N_PAIRS: len(rows.pair), layout.N_ROWS: len(rows), layout.N_TERMS: len(rows.code),
        layout.N_CURVES: len(rows.curve_data), layout.N_FOREIGN: rows.room if rows.users else 0,
        layout.N_STRUTS: len(packed), layout.N_CONSTANTS: len(steps.transforms), layout.N_INPUTS: len(inputs),
        layout.METHOD: method, layout.PLANAR: int(planar),
    }  # fmt: skip
    ints, floats, memory = layout.places(counts)
    tree, cut = layout.tree_of(ints, floats), layout.cuts_of(ints, floats)
    layout.fill(
        tree, known=opened.known, own=[link.body for link in opened.links],
        parent=[place[link.parent] for link in opened.links], first_step=start, kind=steps.kind,
        axis=steps.axis, unknown=steps.unknown, drive=steps.drive, constant=steps.constant,
        factor=steps.factor, transform=steps.transforms, influence=influence,
        scale=[frames.size if is_slide else 1.0 for is_slide in _slides(steps, n)], turn_zero=turn_zero,
        centre=_centre(opened, mechanism, frames, reference),
    )  # fmt: skip
    layout.fill(
        cut, pin=[[place[b] for b in mechanism.joint_bodies(j)[:2]] for j in pins],
        pin_point=[frames.origin[j] for j in pins], rod=rods, rod_point=rod_floats,
        limit=[frames.size, max(CLOSED * frames.size, ROUNDING * setting.extent), LEFT_OUT * frames.size],
    )  # fmt: skip
    layout.fill(
        layout.rows_of(ints, floats, np.zeros(ints[layout.N_WORK])), pair=rows.pair, origin=rows.origin,
        axes=rows.axes, code=rows.code, joint=rows.joint, number=rows.number, sign=rows.sign,
        parameter=rows.parameter, weight=rows.factor, near_from=near_from, near_factor=near_factor,
        near_zero=near_zero, first_term=rows.first_term, drive=rows.drive, contact=rows.is_gap,
        scale=np.where(rows.is_length, 1.0 / frames.size, 1.0), zero=rows.constant, curves=rows.curve_data,
    )  # fmt: skip
    if meeting:
        room = layout.meeting_of(ints, np.zeros(ints[layout.N_WORK]))
        layout.fill(room, step=meeting[:3], far=meeting[3], slides=meeting[4:])
    bodies = list(opened.known)
    layout.fill(
        layout.memory_of(ints, memory), x=x, ball=balls, u=inputs, held=rows.near, solved=np.ones(len(rows)),
        known=np.hstack([reference.position[bodies], reference.rotation[bodies].reshape(-1, 9)]),
        turned=reference.angle[bodies] if planar else (),
    )  # fmt: skip
    layout.fill(
        layout.legs_of(ints, floats, memory), ints=[item[0] for item in packed],
        floats=[item[1] for item in packed],
        signs=[strut_signs(s, item[1], reference) for s, item in zip(opened.struts, packed, strict=True)],
    )  # fmt: skip
    closed = settle(ints, floats, memory)
    if closed != n:
        raise ValueError(
            f"SG-{opened.number}: {closed} independent closing equations for {n} unknowns at the reference"
        )
    solved = layout.memory_of(ints, memory).solved
    closes = [mechanism.joint_ids[j] for j in opened.cuts]
    closes += ["-".join(mechanism.body_name(b) for b in strut.bodies) for strut in rod_struts]
    return RelativeGroup(
        ints,
        floats,
        memory,
        method,
        tuple(names),
        tuple(closes),
        tuple(
            f"{mechanism.joint_ids[rows.source[r]]} {rows.name[r]}"
            for r in np.flatnonzero(solved == 0).tolist()
        ),
        tuple((function, layout.place_of_users(ints) + term) for function, term in rows.users),
    )


def _centre(tree: GroupTree, mechanism: Mechanism, frames: Frames, reference: Configuration) -> Floats:
    """Mean of the group's joints at the reference, in the world."""
    joints = [link.joint for link in tree.links if link.joint >= 0]
    joints += [*tree.cuts, *(j for strut in tree.struts for j in (strut.pin, strut.ball))]
    points = [
        reference.position[b] + reference.rotation[b] @ frames.origin[j, 1]
        for j in joints
        for b in [mechanism.joint_bodies(j)[1]]
    ]
    centre: Floats = np.mean(points, axis=0)
    return centre


# --- what closes it --------------------------------------------------------------------------------


def _is_pin(mechanism: Mechanism, joint: int) -> bool:
    return type_of_joint(mechanism, joint).is_ball and not mechanism.n_driven_of_joint[joint]


def _is_rod(mechanism: Mechanism, joint: int) -> bool:
    return type_of_joint(mechanism, joint).line == "rod" and not mechanism.n_driven_of_joint[joint]


def _rods(
    mechanism: Mechanism,
    frames: Frames,
    place: Mapping[int, int],
    joints: Sequence[int],
    struts: Sequence[Strut],
    all_struts: Sequence[Strut],
    packed: Sequence[tuple[Ints, Floats, Floats, Floats]],
    drives: Mapping[tuple[int, str], int],
) -> tuple[Ints, Floats]:
    """Bodies and inputs (n, 3), points and coefficients of the squared length (n, 9)."""
    ints, floats = [], []
    for j in joints:
        a, b = mechanism.joint_bodies(j)[:2]
        ints.append((place[a], place[b], -1))
        square = float(frames.parameters["length"][j]) ** 2
        floats.append(np.concatenate([frames.origin[j].ravel(), [square, 0.0, 0.0]]))
    for strut in struts:
        _, _, arm, along = packed[all_struts.index(strut)]
        row = drives[strut.slide, "slide"] if strut.slide >= 0 else -1
        ints.append((place[strut.base], place[strut.tip], row))
        ends = (origin_on(mechanism, frames, strut.pin, strut.base),
                origin_on(mechanism, frames, strut.ball, strut.tip))  # fmt: skip
        floats.append(np.concatenate([*ends, [arm @ arm, 2 * arm @ along, along @ along]]))
    return np.array(ints, dtype=np.int64).reshape(-1, 3), np.array(floats).reshape(-1, 9)


def settle(ints: Ints, floats: Floats, memory: Floats) -> int:
    """Write the assembly mode and the rows that are solved to ``memory``; return the number of equations."""
    work = np.zeros(ints[layout.N_WORK])
    g = layout.group_of(ints, floats, memory, work)
    rows = layout.rows_of(ints, floats, work) if ints[layout.N_ROWS] > 0 else None
    pose, last = g.pose, g.memory
    known, n = len(last.known), len(pose.x)
    pose.stage[:known, :12], pose.x[:], pose.ball[:], pose.u[:] = last.known, last.x, last.ball, last.u
    pose.turned[: len(last.turned)] = last.turned
    if rows is not None:
        rows.near[:] = last.held
    newton.place(g.tree, pose, g.equations)
    closed = g.cuts.number
    if closed > n and rows is not None:
        closed = loop_closure.choose_rows(g, rows)
    if closed == n:
        if n > 0:
            loop_closure.jacobian(g, rows, g.equations.matrix, False)
            sign, *_ = linear.factorise(g.equations.matrix, g.equations.order)
            last.head[layout.SIGN] = sign or 1.0
        if rows is not None:
            # Rounded geometry cannot close better than it does at the reference.
            g.cuts.limit[2] = max(g.cuts.limit[2], ROUNDED * loop_closure.left_out(g, rows))
    return closed


def _slides(steps: Steps, n: int) -> list[bool]:
    """(n,) whether each unknown is a length."""
    turns = {u for u, kind in zip(steps.unknown, steps.kind, strict=True) if kind != layout.SLIDE}
    return [u not in turns for u in range(n)]


def _elementary(steps: Steps, n: int) -> bool:
    """Whether every unknown is one turn or slide."""
    moves = [u for u, kind in zip(steps.unknown, steps.kind, strict=True) if u >= 0 and kind < layout.BALL_X]
    factors = {abs(f) for f, u in zip(steps.factor, steps.unknown, strict=True) if u >= 0}
    return sorted(moves) == list(range(n)) and factors == {1.0}


def _turn_zero(opened: GroupTree, setting: Setting, steps: Steps, start: list[int]) -> Floats:
    """(links,) angle of each body in the plane less its parent's and the turns of the steps between them."""
    reference, x, inputs = setting.reference, steps.x, setting.inputs
    zero = np.zeros(len(opened.links))
    for k, link in enumerate(opened.links):
        zero[k] = reference.angle[link.body] - reference.angle[link.parent]
        for s in range(start[k], start[k + 1]):
            if steps.kind[s] == layout.TURN:
                moved = x[steps.unknown[s]] if steps.unknown[s] >= 0 else inputs[steps.drive[s]]
                zero[k] -= steps.factor[s] * moved
    return zero


def _counters(
    rows: RowTables, setting: Setting, steps: Steps, stage: Sequence[int]
) -> tuple[Ints, Floats, Floats]:
    """Counter of turns of each term: a revolute joint about the same axis between the same bodies, if any."""
    mechanism, frames, drives, names, x = (
        setting.mechanism, setting.frames, setting.drives, steps.names, steps.x,
    )  # fmt: skip
    source = np.full(len(rows.code), -1, dtype=np.int64)
    factor, zero = np.zeros(len(rows.code)), np.zeros(len(rows.code))
    for t in np.flatnonzero(rows.code == jets.COUNTED).tolist():
        pair = rows.joint[t]
        bodies = [stage[k] for k in rows.pair[pair].tolist()]
        axis = frames.rotation[bodies[0]] @ rows.axes[pair, 0, :, 2]
        for j in range(mechanism.n_joints):
            ends = mechanism.joint_bodies(j)[:2]
            if not type_of_joint(mechanism, j).is_bearing or sorted(ends) != sorted(bodies):
                continue
            along = float(axis @ frames.rotation[ends[0]] @ frames.axes[j, 0, :, 2])
            name = f"{mechanism.joint_ids[j]}.angle"
            if abs(along) < _SAME_AXIS or ((j, "angle") not in drives and name not in names):
                continue
            factor[t] = np.sign(along) * (1.0 if ends[0] == bodies[0] else -1.0)
            if (j, "angle") in drives:
                row = drives[j, "angle"]
                source[t], at = -2 - row, setting.inputs[row]
            else:
                source[t], at = names.index(name), x[names.index(name)]
            zero[t] = factor[t] * at - rows.near[t]
    return source, factor, zero


def _meeting(
    tree: GroupTree,
    mechanism: Mechanism,
    steps: Steps,
    influence: Ints,
    pins: Sequence[int],
    place: Mapping[int, int],
    n: int,
) -> tuple[int, ...] | None:
    """Three single steps and one ball: steps of J1, J2, J3, which end J2 and J3 carry, their kinds."""
    if mechanism.space == "planar" or n != 3 or len(pins) != 1 or len(tree.cuts) != 1:
        return None
    if any(strut.slide < 0 or strut.slide_driven for strut in tree.struts) or not _elementary(steps, n):
        return None
    ends = [place[b] for b in mechanism.joint_bodies(pins[0])[:2]]
    on = [[u for u in range(n) if influence[end, u]] for end in ends]
    if set(on[0]) & set(on[1]) or len(on[0]) + len(on[1]) != 3:
        return None
    far = 0 if len(on[0]) >= len(on[1]) else 1
    step_of = {u: s for s, u in enumerate(steps.unknown) if u >= 0}
    chain = sorted(step_of[u] for u in on[far])  # parents come first in the order of the links
    if len(chain) == 2:
        chain.insert(0, step_of[on[1 - far][0]])
    return (*chain, far, *(int(steps.kind[s] == layout.SLIDE) for s in chain))
