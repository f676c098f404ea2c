"""The rotor control, 15 moving bodies in seven groups: beside the global approach, and one instant.

    python -m pytest benchmarks/test_kinematics_rotor.py --benchmark-only -s

The global approach is our own too: all constraints of all bodies in one compiled, dense Newton. Both
give position, velocity and acceleration of all bodies, and are compared first.
The set-up of the global approach is in its time: less than a hundredth of it.
Aims: a thirtieth of the global approach; 20 µs for a call that solves one instant.
"""

from __future__ import annotations

import statistics

import numpy as np
import pytest

import groups
import mbssa
from benchmarks.race import INSTANTS, Runner, on_one_core, race, same

#: Most microseconds that a call for one instant may take.
ONE_INSTANT = 20.0


@pytest.fixture(scope="module")
def structure():
    return mbssa.decompose(mbssa.load("rotor"))


def arrays(trajectory):
    return trajectory.position, trajectory.orientation, trajectory.velocity, trajectory.acceleration


def test_all_bodies(benchmark, structure):
    model = groups.build(structure)
    motion = groups.default_motion(structure.mechanism, steps=INSTANTS)

    def ours():
        return arrays(model.solve(motion, level="acceleration", compiled=True))

    def globally():
        return arrays(groups.solve_globally(structure, motion, compiled=True))

    assert same(ours(), globally(), [1]) < 1e-9
    race(
        benchmark,
        "rotor: position, velocity, acceleration of all bodies",
        Runner("ours, group by group", ours),
        [Runner("ours, globally", globally, aim=1 / 30, every=7)],
    )


def test_one_instant(benchmark, structure):
    model = groups.build(structure)
    motion = groups.default_motion(structure.mechanism, steps=INSTANTS)
    at = INSTANTS // 3
    columns = (
        np.ascontiguousarray(a[:, at : at + 1]) for a in (motion.value, motion.rate, motion.acceleration)
    )
    one = groups.Motion(motion.time[at : at + 1], motion.names, *columns)

    def ours():
        return arrays(model.solve(one, level="acceleration", compiled=True))

    whole = arrays(model.solve(motion, level="acceleration", compiled=True))
    assert same(ours(), [array[at : at + 1] for array in whole], [1]) < 1e-9
    with on_one_core():
        benchmark.pedantic(ours, rounds=300, warmup_rounds=20)
    took = 1e6 * statistics.median(benchmark.stats.stats.data)
    met = "met" if took <= ONE_INSTANT else "missed"
    print(f"\n\nrotor, one instant: {took:.1f} µs a call (aim {ONE_INSTANT:.0f} µs, {met})")
