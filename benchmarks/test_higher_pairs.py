"""Cams, gears, rolling, contacts and users' equations: by groups, globally, and as others solve cams.

    python -m pytest benchmarks/test_higher_pairs.py --benchmark-only -s

Everybody answers for all bodies up to acceleration, and is compared first. The global approach is our own:
all bodies in one compiled Newton, the place of a contact eliminated within the joint as in the groups. The
rival takes the textbook's way for cams (:mod:`benchmarks.higher_rival`): two unknowns more for each contact.
It is in NumPy, as it is usually written. It follows a contact from the instant before. So do our
groups where no other can be nearer; the global approach, which checks the
groups, seeks the nearest contact of the whole profiles anew at every instant.
Aims: faster than the global approach; a tenth of the rival.
"""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest

import groups
import mbssa
from benchmarks import higher_rival
from benchmarks.higher_models import corner, many_cams
from benchmarks.higher_turns import in_turns
from benchmarks.race import Runner, same

#: Processor time: see :mod:`benchmarks.higher_turns`.
pytestmark = pytest.mark.benchmark(timer=time.process_time)

CAMS = ("cam_roller", "cam_flat", "cam_swing", "involute_teeth")
OTHERS = ("planetary", "differential", "rack_steering", "three points in a corner")

#: Motions of models whose own one cannot go on for ever: instants a second, laws.
LAWS = {
    "involute_teeth": (1440, {"1-2.angle": groups.harmonic(0.26, 4.0, mean=0.2618)}),
    "differential": (200, {"1-2.angle": groups.speed(-41.0), "1-4.angle": groups.harmonic(2.0, 0.5)}),
}

#: How far answers may differ: a law's jerk jumps where its segments meet, and what is left of Newton's error
#: in the position counts as often in the acceleration there.
CLOSE = 1e-8

#: Instants; of who takes milliseconds for one.
INSTANTS, FEWER = 3_601, 361


def load(name):
    return corner() if name.startswith("three points") else mbssa.load(name)


def motion_of(name, mechanism, instants):
    """The first instants of a long motion; steps are as long for few instants as for many."""
    if name in LAWS:
        often, laws = LAWS[name]
        return groups.sample(mechanism, laws, np.arange(instants) / often)
    own = mechanism.motion
    duration = own.duration * (instants - 1) / (own.steps - 1)
    return groups.default_motion(mechanism, steps=instants, duration=duration)


def arrays(trajectory):
    return trajectory.position, trajectory.orientation, trajectory.velocity, trajectory.acceleration


def of_bodies(trajectory):
    """Position, velocity and acceleration (T, n, 3) of the movable bodies in the plane."""
    position, angle, velocity, acceleration = (a[:, 1:] for a in arrays(trajectory))
    return np.concatenate([position, angle[..., None]], axis=2), velocity, acceleration


def numbers(motion):
    return motion.time, motion.value, motion.rate, motion.acceleration


def of_rival(answer):
    return answer.position, answer.velocity, answer.acceleration


def say_solvers(model):
    solvers = Counter(solver.title for solver in model.solvers)
    print(f"groups: {', '.join(f'{count} × {text}' for text, count in solvers.items())}")


@pytest.mark.parametrize("name", CAMS + OTHERS)
def test_all_bodies(benchmark, name):
    structure = mbssa.decompose(load(name))
    model = groups.build(structure)
    motion, fewer = (motion_of(name, structure.mechanism, n) for n in (INSTANTS, FEWER))
    ours = model.solve(fewer)
    assert ours.ok, ours.faults()
    quaternions = [] if structure.mechanism.space == "planar" else [1]
    assert same(arrays(ours), arrays(groups.solve_globally(structure, fewer)), quaternions) < CLOSE
    rivals = [Runner("ours, globally", lambda: groups.solve_globally(structure, motion), INSTANTS, aim=1.0)]
    if name in CAMS:
        rival = higher_rival.rival(structure.mechanism)
        assert same(of_bodies(ours), of_rival(higher_rival.solve(rival, *numbers(fewer)))) < CLOSE
        rivals += [
            Runner(
                "two unknowns a cam, in NumPy",
                lambda: higher_rival.solve(rival, *numbers(fewer)),
                FEWER,
                aim=0.1,
                every=3,
            )
        ]
    in_turns(
        benchmark,
        f"{name}: position, velocity, acceleration of all bodies",
        Runner("ours, group by group", lambda: model.solve(motion), INSTANTS),
        rivals,
    )
    say_solvers(model)


def test_an_equation_of_the_users(benchmark):
    structure = mbssa.decompose(mbssa.load("rope_hoist"))
    model = groups.build(structure)
    motion, fewer = (motion_of("rope_hoist", structure.mechanism, n) for n in (INSTANTS, FEWER))
    ours, globally = (
        arrays(found) for found in (model.solve(fewer), groups.solve_globally(structure, fewer))
    )
    assert same(globally, ours) < 1e-9
    in_turns(
        benchmark,
        "rope_hoist: a rope over drum and pulley, one equation of three bodies",
        Runner("ours, group by group", lambda: model.solve(motion), INSTANTS),
        [Runner("ours, globally", lambda: groups.solve_globally(structure, motion), INSTANTS, aim=1.0)],
    )
    say_solvers(model)


@pytest.mark.parametrize("cams", [1, 10, 50])
def test_many_cams_on_one_shaft(benchmark, cams):
    """Eliminated within the joint, or two unknowns more for each: what grows with their number."""
    structure = mbssa.decompose(many_cams(cams))
    model = groups.build(structure)
    rival = higher_rival.rival(structure.mechanism)
    long, few, least = (motion_of("", structure.mechanism, n) for n in (3_601, 361, max(37, 361 // cams)))
    ours = model.solve(least)
    assert ours.ok, ours.faults()
    assert same(arrays(ours), arrays(groups.solve_globally(structure, least))) < CLOSE
    for answer in (
        higher_rival.solve(rival, *numbers(least)),
        higher_rival.solve(rival, *numbers(least), sparse=True),
    ):
        assert same(of_bodies(ours), of_rival(answer)) < CLOSE
    others = [
        ("ours, globally, dense", lambda: groups.solve_globally(structure, long), long, 1.0),
        ("ours, globally, sparse", lambda: groups.solve_globally(structure, few, method="sparse"), few, None),
        ("two unknowns a cam, NumPy", lambda: higher_rival.solve(rival, *numbers(least)), least, 0.1),
        (
            "two unknowns a cam, NumPy and SuperLU",
            lambda: higher_rival.solve(rival, *numbers(least), sparse=True),
            least,
            0.1,
        ),
    ]
    in_turns(
        benchmark,
        f"{cams} cams on one shaft: {3 * (cams + 1)} unknowns, the rival's {rival.unknowns}",
        Runner("ours, group by group", lambda: model.solve(long), len(long.time)),
        [
            Runner(label, run, len(motion.time), aim, every=3 if len(motion.time) < 361 else 1)
            for label, run, motion, aim in others
        ],
    )
    say_solvers(model)
