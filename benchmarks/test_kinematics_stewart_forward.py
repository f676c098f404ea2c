"""The Stewart platform from the lengths of its legs: poses of all 13 moving bodies, closed to 1e-10 m.

    python -m pytest benchmarks/test_kinematics_stewart_forward.py --benchmark-only -s

CasADi knows that six unknowns are enough, and writes the same arrays as ours. It
runs mapped serially, every instant from the reference, and accumulated, every instant from the one
before; accumulated also as C code, where there is a compiler. Exudyn solves all bodies at once, statically,
over fewer and so ten times larger steps, and stores nothing on the way. All answers are compared with ours
first.
Aims: a third of CasADi; a hundredth of Exudyn.
"""

from __future__ import annotations

from functools import partial
from shutil import which

import numpy as np
import pytest

import groups
import mbssa
from benchmarks import platform_rivals
from benchmarks.race import INSTANTS, Runner, race, same

#: Exudyn's instants.
FEWER = INSTANTS // 10


def test_stewart_forward(benchmark):
    pytest.importorskip("casadi")
    exudyn_models = pytest.importorskip("benchmarks.exudyn_models", exc_type=ImportError)
    mechanism = mbssa.load("stewart")
    model = groups.build(mbssa.decompose(mechanism))
    motion = groups.default_motion(mechanism, steps=INSTANTS)
    legs = platform_rivals.platform_legs(mechanism)

    def ours():
        trajectory = model.solve(motion, level="position", compiled=True)
        return trajectory.position, trajectory.orientation

    mapped = platform_rivals.casadi_forward(legs, INSTANTS, follow=False)
    followed = platform_rivals.casadi_forward(legs, INSTANTS, follow=True)
    as_c = platform_rivals.casadi_forward(legs, INSTANTS, follow=True, in_c=True) if which("gcc") else None
    static = exudyn_models.platform(mechanism, motion)
    mine = ours()
    assert model.solve(motion, level="position", compiled=True).residual.max() < 1e-10
    by_casadi = {"mapped": mapped, "accumulated": followed, "accumulated, C": as_c}
    for theirs in (way(motion.value) for way in by_casadi.values() if way):
        assert same(mine, [np.moveaxis(array, 0, 1) for array in theirs], [1]) < 1e-9
    assert same([array[-1, 1:] for array in mine], static.run(FEWER), [1]) < 1e-9
    race(
        benchmark,
        "stewart: poses of all bodies from leg lengths",
        Runner("ours", ours),
        [
            *(
                Runner(f"CasADi, rootfinder {name}", partial(way, motion.value), aim=1 / 3, every=5)
                for name, way in by_casadi.items()
                if way
            ),
            Runner("Exudyn static", lambda: static.run(FEWER), FEWER, aim=1 / 100, every=5),
        ],
    )
