"""Method ``partitioning``: relative coordinates of a cut tree."""

import numpy as np
import pytest
from dense_forces import with_masses

import groups
import mbssa


def test_accelerations_are_those_by_groups():
    for name in ("andrews", "bricard", "cam_roller", "planetary", "universal_shafts"):
        mechanism = with_masses(mbssa.load(name))
        random = np.random.default_rng(3)
        run = {"duration": 1e-3, "steps": 2, "tolerance": 1e-9, "compiled": False}
        names = mechanism.driven_coordinates
        run["rates"] = dict(zip(names, random.uniform(-0.1, 0.1, len(names)), strict=True))
        by_groups, by_tree = (
            groups.simulate(mechanism, method=method, **run) for method in ("groups", "partitioning")
        )
        for part in ("velocity", "acceleration"):
            a, b = (getattr(found.trajectory, part) for found in (by_groups, by_tree))
            assert np.abs(a - b).max() < 1e-9 * np.abs(a).max(), (name, part)
        assert by_tree.position_error.max() < 1e-11, name


def test_a_whole_run_of_andrews_squeezer():
    run = {"duration": 0.004, "steps": 3, "tolerance": 1e-10, "compiled": False}
    by_groups, by_tree = (
        groups.simulate(mbssa.load("andrews"), method=method, **run) for method in ("groups", "partitioning")
    )
    assert by_tree.coordinates["1-2.angle"] == pytest.approx(by_groups.coordinates["1-2.angle"], abs=1e-8)
    assert np.abs(by_tree.balance).max() < 1e-8


def test_coordinates_change_at_a_dead_point():
    """A crank-rocker let go by its rocker, which cannot lead the crank over a dead point."""
    four_bar = with_masses(mbssa.load("planar_four_bar"))
    led = mbssa.with_inputs(four_bar, ["1-4.angle"])
    found = groups.simulate(
        led, 0.4, method="partitioning", rates={"1-4.angle": 3.0}, tolerance=1e-9, steps=6, compiled=False
    )
    assert found.ok
    assert found.changes
    by_crank = groups.simulate(
        four_bar, 0.4, initial={}, rates={"1-2.angle": float(found.trajectory.joint("1-2")["angle"].rate[0])},
        tolerance=1e-10, steps=6, compiled=False,
    )  # fmt: skip
    np.testing.assert_allclose(found.trajectory.position, by_crank.trajectory.position, atol=1e-6)
    assert np.abs(found.balance).max() < 1e-6


def test_a_prescribed_coordinate_keeps_its_law():
    mechanism = with_masses(mbssa.load("planar_3rrr"))
    name = mechanism.driven_coordinates[0]
    run = {"duration": 0.05, "prescribed": {name: groups.speed(2.0)}, "tolerance": 1e-10, "compiled": False}
    by_groups, by_tree = (
        groups.simulate(mechanism, method=method, steps=4, **run) for method in ("groups", "partitioning")
    )
    assert by_tree.coordinates[name] == pytest.approx(2.0 * by_tree.time)
    np.testing.assert_allclose(by_tree.trajectory.position, by_groups.trajectory.position, atol=1e-8)
    np.testing.assert_allclose(by_tree.work, by_groups.work, atol=1e-7)
