"""The Stewart platform from its platform's pose: poses of all 13 moving bodies.

    python -m pytest benchmarks/test_kinematics_stewart_inverse.py --benchmark-only -s

NumPy writes the same arrays as ours. MuJoCo and Pinocchio only carry poses
along open chains: the angles and lengths of the legs, which are the problem, are derived for them
beforehand, and Pinocchio does not write its answers out. All answers are compared with ours first.
Aim: faster than NumPy.
"""

from __future__ import annotations

import numpy as np
import pytest

import groups
import mbssa
from benchmarks import platform_rivals
from benchmarks.race import INSTANTS, Runner, race, same


def test_stewart_inverse(benchmark):
    pytest.importorskip("mujoco")
    pytest.importorskip("pinocchio")
    mechanism = mbssa.load("stewart_inverse")
    model = groups.build(mbssa.decompose(mechanism))
    motion = groups.default_motion(mechanism, steps=INSTANTS)
    legs = platform_rivals.platform_legs(mechanism)

    def ours():
        trajectory = model.solve(motion, level="position", compiled=True)
        return trajectory.position, trajectory.orientation

    def with_numpy():
        return platform_rivals.numpy_inverse(motion.value, legs)

    values = platform_rivals.tree_values(with_numpy(), legs)
    with_mujoco = platform_rivals.mujoco_tree(values, legs)
    with_pinocchio = platform_rivals.pinocchio_tree(values, legs)
    mine = ours()
    for rival in (with_numpy, with_mujoco):
        assert same(mine, [np.moveaxis(array, 0, 1) for array in rival()], [1]) < 1e-9
    assert same([array[-1, 1:] for array in mine], with_pinocchio(), [1]) < 1e-9
    race(
        benchmark,
        "stewart_inverse: poses of all bodies",
        Runner("ours", ours),
        [
            Runner("NumPy", with_numpy, aim=1),
            Runner("MuJoCo, legs derived beforehand", with_mujoco),
            Runner("Pinocchio, the same, poses not written", with_pinocchio),
        ],
    )
