"""Balance of a block of bodies: multipliers of the joints that close its tree, loads of all its joints."""

# By virtual work along the free motions of the tree's joints, the rows of the closing joints balance all
# given loads; a joint of the tree carries what the bodies beyond it receive besides (Featherstone, Rigid Body
# Dynamics Algorithms, ch. 8). Wrenches of a block are forces times size and moments about one point, so that
# those of several bodies add up.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from groups.dynamics.equilibrium import Balance, balance
from groups.dynamics.state import State
from groups.joint_jacobian import JointRows, PairPose, joint_rows, pair_pose, pair_rows, spin_rows
from groups.passive_rotations import LockedRotation
from groups.tree import Link, ball_of, spanning
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.joints.axes import cross
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import elementary_values, pose
from mbssa.joints.system import unknowns

#: Kinds of coordinates that have no value, or no motion of their own, in some poses.
_SINGULAR_KINDS = ("cardan", "elevation", "distance")


@dataclass(frozen=True, eq=False)
class JointLoads:
    """Loads of one joint on its bodies, with P columns: the load, and its change by parameters."""

    bodies: tuple[int, ...]
    # (T, S, 6, P) on each body by the constraints alone: N, and N m about the joint's point, world axes
    wrench: Floats
    driving: Floats  # (T, D, P) N times size, or N m
    rate: Floats  # (T, D) m/s over the size, or rad/s


class _Motions(NamedTuple):
    """Free motions of a link's body against its parent."""

    twists: Floats  # (T, 6, k) by the coordinates of the joint, of the block's point
    driven: list[int]  # which of them are driven
    pair: PairPose | None  # None: a free body


def balanced(
    state: State, loads: Floats, bodies: Sequence[int], joints: Sequence[int], spins: Sequence[LockedRotation]
) -> tuple[Balance, list[tuple[JointLoads, Floats]]]:
    """Balance of the bodies of a block under ``loads`` (B, T, 6, P), and loads of its joints and locks."""
    # The second array of a joint is what its constraints and drives together exert on its bodies about their
    # centres, (T, S, 6, P), forces times size.
    mechanism, given = state.mechanism, loads.shape[3]
    free = list(unknowns(mechanism.space))
    links, cuts = _tree(mechanism, set(bodies), joints)
    point = state.centre[list(bodies)].mean(axis=0)
    rows = [joint_rows(state, joint, mechanism.joints[joint].driven) for joint in cuts]
    rows += [spin_rows(state, spin) for spin in spins]
    beyond = _loads_and_rows(state, loads, bodies, rows, point)
    motions, work = dict[int, _Motions](), []
    for link in reversed(links):
        own = motions[link.body] = _motions(state, link, point)
        undriven = [k for k in range(own.twists.shape[2]) if k not in own.driven]
        work.append(own.twists[:, free][:, :, undriven].swapaxes(1, 2) @ beyond[link.body])
        if link.joint >= 0 and link.parent in beyond:
            beyond[link.parent] += beyond[link.body]
    system = np.concatenate(work, axis=1)
    found = balance(system[:, :, given:], system[:, :, :given])
    weights = np.zeros((state.instants, system.shape[2], found.multipliers.shape[2]))
    weights[:, range(given), range(given)], weights[:, given:] = 1.0, found.multipliers
    ends = np.cumsum([len(each.names) for each in rows])
    closing = [
        _exerted(state, each, multipliers)
        for each, multipliers in zip(rows, np.split(found.multipliers, ends, axis=1), strict=False)
    ]
    exerted = dict(zip(cuts, closing, strict=False))
    for link in links:
        if link.joint >= 0:
            carried = np.zeros((state.instants, 6, weights.shape[2]))
            carried[:, free] = beyond[link.body] @ -weights
            exerted[link.joint] = _carried(state, link, motions[link.body], carried, point)
    return found, [*(exerted[joint] for joint in joints), *closing[len(cuts) :]]


def _tree(
    mechanism: Mechanism, own: set[int], joints: Sequence[int]
) -> tuple[tuple[Link, ...], tuple[int, ...]]:
    """Spanning tree of a block, and joints that close it; joints with singular coordinates close."""
    carrying = [joint for joint in joints if _carries(mechanism, joint)]
    links, cuts = spanning(mechanism, own, carrying)
    return links, (*cuts, *(joint for joint in joints if joint not in carrying))


def _carries(mechanism: Mechanism, joint: int) -> bool:
    """Whether the free motions of a joint are independent in every pose."""
    pair = type_of_joint(mechanism, joint).pair
    if pair is None:
        return False
    ball = _ball(mechanism, joint)
    return not any(e.kind in _SINGULAR_KINDS and k not in ball for k, e in enumerate(pair.coordinates))


def _ball(mechanism: Mechanism, joint: int) -> list[int]:
    """Coordinates of three free turns at the end of the steps of a joint of two bodies."""
    pair, driven = type_of_joint(mechanism, joint).pair, _driven(mechanism, joint)
    assert pair is not None
    return sorted(ball_of(pair.steps, [k in driven for k in range(len(pair.coordinates))]))


def _driven(mechanism: Mechanism, joint: int) -> list[int]:
    """Places of a joint's driven coordinates among all of its own."""
    view = mechanism.joints[joint]
    return [view.type.coordinates.index(name) for name in view.driven]


def _loads_and_rows(
    state: State, loads: Floats, bodies: Sequence[int], rows: Sequence[JointRows], point: Floats
) -> dict[int, Floats]:
    """By body, columns (T, n, P + m) of its loads and of the closing rows about the block's point."""
    given, free = loads.shape[3], list(unknowns(state.mechanism.space))
    width = given + sum(len(each.names) for each in rows)
    found = {body: np.zeros((state.instants, len(free), width)) for body in bodies}
    for body, load in zip(bodies, loads, strict=True):
        found[body][:, :, :given] = _about(state, load, state.centre[body], point)[:, free]
    first = given
    for each in rows:
        after = first + len(each.names)
        for slot, body in enumerate(each.bodies):
            if body in found:
                columns = each.jacobian[:, :, slot].swapaxes(1, 2)
                found[body][:, :, first:after] += _about(state, columns, state.centre[body], point)[:, free]
        first = after
    return found


def _motions(state: State, link: Link, point: Floats) -> _Motions:
    """Free motions of a link's body; a ball turns about the world's axes, so that no pose is singular."""
    if link.joint < 0:
        free = np.eye(6)[:, list(unknowns(state.mechanism.space))]
        return _Motions(np.broadcast_to(free, (state.instants, *free.shape)), [], None)
    pair, ball = pair_pose(state, link.joint), _ball(state.mechanism, link.joint)
    values = elementary_values(pair.equations.coordinates, *pair[1:4])
    local = pose(pair.equations, values, pair.parameters)[2]
    linear, angular = pair.axes @ local[:, :3], pair.axes @ local[:, 3:]
    if ball:
        linear[:, :, ball], angular[:, :, ball] = 0.0, np.eye(3)
    arm = (point - pair.point)[:, None] / state.frames.size
    linear += cross(angular.swapaxes(1, 2), arm).swapaxes(1, 2)
    sign = 1.0 if link.forward else -1.0
    twists = sign * np.concatenate([linear, angular], axis=1)
    return _Motions(twists, _driven(state.mechanism, link.joint), pair)


def _about(state: State, wrench: Floats, point: Floats, other: Floats) -> Floats:
    """Wrenches (T, 6, k), forces times size, about another point than one (T, 3)."""
    arm, force = (point - other) / state.frames.size, wrench[:, :3].swapaxes(1, 2)
    moment = wrench[:, 3:] + cross(arm[:, None], force).swapaxes(1, 2)
    return np.concatenate([wrench[:, :3], moment], axis=1)


def _exerted(state: State, rows: JointRows, multipliers: Floats) -> tuple[JointLoads, Floats]:
    """Loads of a joint by its multipliers, and what it exerts with its drives; see :func:`balanced`."""
    columns, split = rows.jacobian.transpose(2, 0, 3, 1), rows.constraints
    reaction, driving = columns[..., :split] @ multipliers[:, :split], multipliers[:, split:]
    whole = reaction + columns[..., split:] @ driving
    ends = zip(rows.bodies, reaction, strict=True)
    wrench = np.stack([_about(state, each, state.centre[b], rows.point) for b, each in ends], axis=1)
    wrench[:, :, :3] /= state.frames.size
    rate = _rate(state, rows.bodies, rows.jacobian[:, split:])
    return JointLoads(rows.bodies, wrench, driving, rate), whole.swapaxes(0, 1)


def _carried(
    state: State, link: Link, motions: _Motions, carried: Floats, point: Floats
) -> tuple[JointLoads, Floats]:
    """The same of a joint of the tree from which its body receives a wrench (T, 6, P) about a point."""
    pair, driven = motions.pair, motions.driven
    assert pair is not None
    bodies = state.mechanism.joint_bodies(link.joint)[:2]
    driving = motions.twists[:, :, driven].swapaxes(1, 2) @ carried
    second = carried if link.forward else -carried
    ends = zip((-second, second), bodies, strict=True)
    whole = np.stack([_about(state, each, point, state.centre[b]) for each, b in ends], axis=1)
    _, rows = pair_rows(state, bodies, pair, tuple(pair.equations.coordinates[k] for k in driven))
    along = _about(state, rows[:, :, 1].swapaxes(1, 2), state.centre[bodies[1]], pair.point)
    reaction = _about(state, second, point, pair.point) - along @ driving
    reaction[:, :3] /= state.frames.size
    wrench = np.stack([-reaction, reaction], axis=1)
    return JointLoads(bodies, wrench, driving, _rate(state, bodies, rows)), whole


def _rate(state: State, bodies: Sequence[int], rows: Floats) -> Floats:
    """Rates (T, D) of coordinates by their rows (T, D, S, 6) on the bodies."""
    found = np.zeros(rows.shape[:2])
    for slot, b in enumerate(bodies if rows.shape[1] else ()):
        linear = state.velocity(b, state.centre[b] - state.position[b]) / state.frames.size
        twist = np.concatenate([linear, state.twist[b, :, 3:]], axis=1)
        found += (rows[:, :, slot] @ twist[:, :, None])[:, :, 0]
    return found
