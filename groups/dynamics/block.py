"""Balance of a block of bodies: multipliers of the joints that close its tree, loads of all its joints."""

# By virtual work along the free motions of the tree's joints, the rows of the closing joints balance all
# given loads; a joint of the tree carries what the bodies beyond it receive besides (Featherstone, Rigid Body
# Dynamics Algorithms, ch. 8). Loads are forces times size and moments about the point of the state.

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add, or_
from typing import Any, NamedTuple

import numpy as np

from groups.dynamics.equilibrium import Balance, balance
from groups.dynamics.state import State
from groups.joint_jacobian import joint_rows, pair_pose, spin_rows
from groups.setting import LockedRotation
from groups.tree import Link, ball_of, spanning
from mbssa import Mechanism
from mbssa.arrays import Floats
from mbssa.graph.frames import cross, total
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import elementary_values, pose
from mbssa.joints.system import unknowns

#: Kinds of coordinates that have no value, or no motion of their own, in some poses.
_SINGULAR_KINDS = ("cardan", "elevation", "distance")


@dataclass(frozen=True, eq=False)
class Block:
    """Bodies that are balanced together, by these joints and locked passive rotations."""

    bodies: tuple[int, ...]
    joints: tuple[int, ...]
    spins: tuple[LockedRotation, ...]


class JointLoads(NamedTuple):
    """Loads of a joint, with its drives, on its S bodies; P columns: the load, its change by parameters."""

    bodies: tuple[int, ...]
    loads: Floats  # (S, 6, P, T)
    driving: Floats  # (D, P, T) N times size, or N m


def balanced(state: State, block: Block, loads: Floats) -> tuple[Balance, list[JointLoads]]:
    """Balance of a block under loads (B, 6, P, T) on its bodies; loads of its joints, then of its locks."""
    mechanism, columns = state.mechanism, loads.shape[2]
    carrying = [joint for joint in block.joints if _carries(mechanism, joint)]
    links, cuts = spanning(mechanism, set(block.bodies), carrying)
    cuts = (*cuts, *(joint for joint in block.joints if joint not in carrying))
    rows = [joint_rows(state, joint, mechanism.joints[joint].driven) for joint in cuts]
    rows += [spin_rows(state, spin) for spin in block.spins]
    motions = {link.body: _motions(state, link) for link in links}
    ends = np.cumsum([0, *(len(each.names) for each in rows)]).tolist()
    system = np.zeros((state.instants, sum(free.shape[1] for free, _ in motions.values()), ends[-1]))
    work = np.empty((*system.shape[:2], columns))
    beyond = _inwards(links, {body: frozenset({body}) for body in block.bodies}, or_)
    received, first = _inwards(links, dict(zip(block.bodies, loads, strict=True)), add), 0
    for link in links:
        (along, _), own = motions[link.body], beyond[link.body]
        mine = slice(first, first := first + along.shape[1])
        work[:, mine] = np.einsum("akt,apt->tkp", along, received[link.body])
        for each, begin, end in zip(rows, ends, ends[1:], strict=False):
            inside = [load for body, load in zip(each.bodies, each.loads, strict=True) if body in own]
            if inside and not (len(inside) == len(each.bodies) == 2):  # which are equal and opposite
                system[:, mine, begin:end] = np.einsum("akt,aet->tke", along, total(inside))
    found = balance(system, work)
    multipliers = np.ascontiguousarray(found.multipliers.transpose(1, 2, 0))
    more = multipliers.shape[1] - columns
    whole = dict(zip(block.bodies, np.pad(loads, ((0, 0), (0, 0), (0, more), (0, 0))), strict=True))
    closing = []
    for each, begin, end in zip(rows, ends, ends[1:], strict=False):
        exerted = np.einsum("saet,ept->sapt", each.loads, multipliers[begin:end])
        closing.append(JointLoads(each.bodies, exerted, multipliers[begin + each.constraints : end]))
        for body, load in zip(each.bodies, exerted, strict=True):
            if body in whole:
                whole[body] += load
    received, carried = _inwards(links, whole, add), dict(zip(cuts, closing, strict=False))
    for link in links:
        if link.joint >= 0:
            load = received[link.body]
            driving = np.einsum("akt,apt->kpt", motions[link.body][1], -load)
            pair = np.stack([load, -load] if link.forward else [-load, load])
            carried[link.joint] = JointLoads(mechanism.joint_bodies(link.joint)[:2], pair, driving)
    return found, [*(carried[joint] for joint in block.joints), *closing[len(cuts) :]]


def _inwards(links: Sequence[Link], values: dict[int, Any], add: Callable[[Any, Any], Any]) -> dict[int, Any]:
    """Sums of what each body has with the bodies beyond it."""
    found = dict(values)
    for link in reversed(links):  # parents come first
        if link.parent in found:
            found[link.parent] = add(found[link.parent], found[link.body])
    return found


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
    mechanism, size = state.mechanism, state.frames.size
    if link.joint < 0:  # a free body: about its own place, wherever it is
        twists = np.zeros((6, 6, state.instants))
        twists[:] = np.eye(6)[:, :, None]
        arm = (state.point - state.position[link.body].T) / size
        twists[:3] += np.array(cross(twists[3:], arm[:, None]))
        return twists[:, list(unknowns(mechanism.space))], twists[:, :0]
    pair, ball = pair_pose(state, link.joint), _ball(mechanism, link.joint)
    values = elementary_values(pair.equations.coordinates, *pair[1:4])
    local = pose(pair.equations, values, pair.parameters)[2]
    local = local.reshape(state.instants, 2, 3, -1)
    twists = np.einsum("tab,tkbe->kaet", pair.axes, local).reshape(6, -1, state.instants)
    if ball:  # turns about the world's axes, so that no pose is singular
        twists[:3, ball], twists[3:, ball] = 0.0, np.eye(3)[:, :, None]
    twists[:3] += np.array(cross(twists[3:], (state.point - pair.point)[:, None] / size))
    if not link.forward:
        twists *= -1.0
    view = mechanism.joints[link.joint]
    driven = [view.type.coordinates.index(name) for name in view.driven]
    free = [k for k in range(twists.shape[1]) if k not in driven]
    return twists[:, free] if driven else twists, twists[:, driven]
