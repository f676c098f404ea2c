"""Inverse dynamics beside the kinematics of the same motion, and beside one dense system of all bodies.

    python -m pytest benchmarks/test_dynamics.py --benchmark-only -s

Aim: at most 3 times the kinematics, whose closed forms take 2 microseconds an instant; evaluating the
equations alone takes twice that. The rotor's masses are its own and those of the other bodies made up, so
that no load is zero. The dense rival takes the same Jacobians, all bodies in one matrix per instant, solved
by NumPy in one batched call: what the groups spare is the cubic part.
"""

import dataclasses
import statistics
import time

import numpy as np
import pytest

import groups
import mbssa
from groups.dynamics.inverse import acting_on, balance
from groups.dynamics.state import State
from groups.joint_jacobian import joint_rows
from mbssa import Inertia

INSTANTS = 10_000


def with_masses(mechanism):
    """Every body has a mass and an inertia."""
    geometry = dict(mechanism.body_geometry)
    for body in range(1, mechanism.n_bodies):
        kept = geometry.get(body, mbssa.BodyGeometry())
        inertia = kept.inertia or Inertia(0.3 + 0.1 * body, (0.1, 0.2, 0.9), None, (0.02, 0.03, 0.04))
        geometry[body] = dataclasses.replace(kept, inertia=inertia)
    return dataclasses.replace(mechanism, body_geometry=geometry)


def dense(trajectory):
    """All multipliers at once: (T, n, n) solved in one call."""
    state = State.of(trajectory)
    acting, mechanism = acting_on(state, None), trajectory.mechanism
    n = mechanism.n_bodies - 1
    loads = np.zeros((state.instants, n + 1, 6))
    for wrench in acting.all:
        loads[:, wrench.body] += wrench.about(state.point).T * ([state.frames.size] * 3 + [1.0] * 3)
    rows = [joint_rows(state, joint, mechanism.joints[joint].driven) for joint in range(mechanism.n_joints)]
    jacobian = np.zeros((state.instants, sum(of.shape[2] for _, of in rows), n + 1, 6))
    first = 0
    for bodies, loads_of_joint in rows:
        stop = first + loads_of_joint.shape[2]
        for body, load in zip(bodies, loads_of_joint, strict=True):
            jacobian[:, first:stop, body] += load.T
        first = stop
    matrix = jacobian[:, :, 1:].reshape(state.instants, first, -1).swapaxes(1, 2)
    return balance(matrix, loads[:, 1:].reshape(state.instants, -1, 1)).multipliers, rows


@pytest.mark.parametrize("name", ["rotor", "stewart"])
def test_inverse_dynamics(benchmark, name):
    mechanism = with_masses(mbssa.load(name))
    structure = mbssa.decompose(mechanism)
    model = groups.build(structure)
    motion = groups.default_motion(mechanism, steps=INSTANTS)
    trajectory = model.solve(motion)
    solving = []
    for _ in range(3):
        start = time.perf_counter()
        model.solve(motion)
        solving.append(time.perf_counter() - start)
    kinematics = statistics.median(solving)
    found = benchmark.pedantic(groups.forces, (trajectory, structure), rounds=3, warmup_rounds=1)
    dynamics = statistics.median(benchmark.stats.stats.data)
    start = time.perf_counter()
    multipliers, rows = dense(trajectory)
    globally = time.perf_counter() - start
    _agree(found, multipliers, rows, mechanism)
    beside, saved = dynamics / kinematics, globally / dynamics
    print(f"\n\n{name}, {INSTANTS:,} instants: kinematics {1e3 * kinematics:.0f} ms")
    print(f"inverse dynamics by groups {1e3 * dynamics:.0f} ms, {beside:.1f} times as long")
    print(f"one dense system {1e3 * globally:.0f} ms, {saved:.1f} times as long as by groups")
    assert found.ok


def _agree(found, multipliers, rows, mechanism):
    first, drives = 0, []
    for each in rows:
        stop = first + len(each.names)
        drives += [multipliers[:, k, 0] for k in range(first + each.constraints, stop)]
        first = stop
    size = found.trajectory.reference.size
    expected = np.stack(drives, axis=1) / [size if name.endswith("slide") else 1.0 for name in found.drives]
    np.testing.assert_allclose(found.driving, expected, rtol=1e-6, atol=1e-9)
