"""Balance of a block of bodies: multipliers of the joints that close its tree, loads of all its joints."""

# By virtual work along the free motions of the tree's joints, the rows of the closing joints balance all
# given loads; a joint of the tree carries what the bodies beyond it receive besides (Featherstone, Rigid Body
# Dynamics Algorithms, ch. 8). Loads are forces times size and moments about the point of the state. Where
# there are more rows than motions, a space of multipliers is indeterminate: the self-stress of redundant
# constraints. It is kept as further columns of the loads, by parameters.

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from groups.dynamics.gears import rows_on_teeth
from groups.dynamics.state import State
from groups.joint_jacobian import link_twists, spin_rows, tree_rows
from groups.setting import LockedRotation
from groups.tree import Link, ball_of, spanning
from mbssa import Mechanism
from mbssa.arrays import Bools, Floats
from mbssa.joints.catalogue import type_of_joint

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


def balanced(state: State, block: Block, loads: Floats) -> tuple[Balance, list[JointLoads]]:
    """Balance of a block under loads (B, 6, P, T) on its bodies; loads of its joints, then of its locks."""
    mechanism, place = state.mechanism, {body: k for k, body in enumerate(block.bodies)}
    carrying = [joint for joint in block.joints if _carries(mechanism, joint)]
    links, cuts = spanning(mechanism, set(block.bodies), carrying)
    closing = [*cuts, *(joint for joint in block.joints if joint not in carrying)]
    rows = [rows_on_teeth(state, joint) for joint in closing]
    rows += [spin_rows(state, spin) for spin in block.spins]
    drives = [len(mechanism.joints[joint].driven) for joint in closing] + [0] * len(block.spins)

    def with_bodies_beyond(values: Floats) -> Floats:
        found = values.copy()
        for link in reversed(links):  # parents come first
            if link.parent in place:
                found[place[link.parent]] += found[place[link.body]]
        return found

    free, driven = zip(*(_motions(state, link) for link in links), strict=True)
    received = with_bodies_beyond(loads)
    works = (
        np.einsum("akt,apt->tkp", along, received[place[link.body]])
        for along, link in zip(free, links, strict=True)
    )
    found = balance(tree_rows(state, links, free, rows), np.concatenate([*works], axis=1))
    multipliers = np.ascontiguousarray(found.multipliers.transpose(1, 2, 0))
    whole = np.pad(loads, ((0, 0), (0, 0), (0, multipliers.shape[1] - loads.shape[2]), (0, 0)))
    closed, parts = [], np.split(multipliers, np.cumsum([of.shape[2] for _, of in rows], dtype=int))
    for (bodies, of), mine, count in zip(rows, parts, drives, strict=False):
        exerted = np.einsum("saet,ept->sapt", of, mine)
        closed.append(JointLoads(bodies, exerted, mine[len(mine) - count :]))
        for body, load in zip(bodies, exerted, strict=True):
            if body in place:
                whole[place[body]] += load
    received, carried = with_bodies_beyond(whole), dict(zip(closing, closed, strict=False))
    for link, along in zip(links, driven, strict=True):
        if link.joint >= 0:
            load = received[place[link.body]]
            pair = np.stack([load, -load] if link.forward else [-load, load])
            driving = np.einsum("akt,apt->kpt", along, -load)
            carried[link.joint] = JointLoads(mechanism.joint_bodies(link.joint)[:2], pair, driving)
    return found, [*(carried[joint] for joint in block.joints), *closed[len(closing) :]]


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
