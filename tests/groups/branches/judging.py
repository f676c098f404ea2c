"""What a solved motion says against the truth of :mod:`certified_paths`."""

from dataclasses import dataclass

import numpy as np
from certified_paths import Closure, cubics, follow

import groups
import mbssa
from groups.rotations import rotation_of

#: Largest difference of poses, of the size or of entries of a rotation.
SAME = 1e-6


@dataclass(frozen=True)
class Verdict:
    """By run: instants with status 0 that are not on the branch; steps refused; regular steps tried.

    A run counts up to its first refusal, and no longer than the truth is known. ``crossed`` : a singular pose
    is on the way, before the last instant; it is a silent answer as well if the first instant after it has
    status 0 everywhere.
    """

    silent: tuple[int, ...]
    refused: int
    regular: int
    crossed: bool
    truth: object


def judge(mechanism, motion, model=None, **options):
    """Solve a motion and hold it against the truth."""
    truth = follow(mechanism, cubics(motion), motion.time)
    model = groups.build(mbssa.decompose(mechanism)) if model is None else model
    options = {"compiled": False, "level": "acceleration"} | options
    return compare(mechanism, truth, model.solve(motion, **options), model.structure.group_of_body)


def compare(mechanism, truth, trajectory, group_of_body):
    """A solved motion against a branch; ``group_of_body`` (N,) numbers groups from 1."""
    sound = trajectory.status == 0
    known = len(truth.position)
    off = differences(mechanism, truth, trajectory)
    of_body = group_of_body[1:] - 1
    silent = [t for t in range(known) if (sound[t, of_body] & ~(off[t] <= SAME)).any()]
    all_sound = sound.all(axis=1)
    bad = np.flatnonzero(~all_sound[:known])
    first = int(bad[0]) if len(bad) else known
    refused = int(first < known)
    crossed = truth.singular
    if crossed and first >= known and all_sound[known]:
        silent.append(known)
    return Verdict(tuple(silent), refused, max(first - 1, 0) + refused, crossed, truth)


def differences(mechanism, truth, trajectory):
    """(T, N - 1) largest difference of each moving body; of one that spins, that of its two balls."""
    closure = Closure(mechanism)
    d, known = closure.d, len(truth.position)
    position = trajectory.position[:known]
    if closure.planar:
        c, s = np.cos(trajectory.orientation[:known]), np.sin(trajectory.orientation[:known])
        rotation = np.array([[c, -s], [s, c]]).transpose(2, 3, 0, 1)
    else:
        rotation = rotation_of(trajectory.orientation[:known])
    off = np.abs(position - truth.position).max(axis=2) / closure.size
    off = np.maximum(off, np.abs(rotation - truth.rotation).reshape(*off.shape, d * d).max(axis=2))
    for bodies, balls in closure.passive:
        for body in bodies:
            off[:, body] = 0.0
        for j in balls:
            side = 0 if closure.ends[j, 0] in bodies else 1
            body, point = closure.ends[j, side], closure.origin[j, side]
            here = position[:, body] + rotation[:, body] @ point
            there = truth.position[:, body] + truth.rotation[:, body] @ point
            off[:, body] = np.maximum(off[:, body], np.abs(here - there).max(axis=1) / closure.size)
    return off[:, 1:]


def turning(mechanism, way, instants, bend=0.0):
    """A motion of the one input from the reference by so many rad (or m) in a second.

    ``bend`` : share of the way by which the speed grows over it.
    """
    (name,) = mechanism.driven_coordinates
    start = Closure(mechanism).reference_inputs()[0]
    law = groups.polynomial(start, way * (1.0 - bend), way * bend)
    return groups.sample(mechanism, {name: law}, np.linspace(0.0, 1.0, instants))
