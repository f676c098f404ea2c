"""Driving forces of a motion at other coordinates than its inputs."""

import dataclasses

import numpy as np
import pytest
from dense_forces import with_masses

import groups
import mbssa


def rates_by_inputs(model, motion, names):
    """(T, D, n) derivatives of joint coordinates by the inputs: rates where one input has a unit rate."""
    found = []
    for unit in np.eye(len(motion.names)):
        rate = np.repeat(unit[:, None], len(motion.time), axis=1)
        at = dataclasses.replace(motion, rate=rate, acceleration=0.0 * rate)
        trajectory = model.solve(at, branch="checked", compiled=False)
        joints = (name.split(".") for name in names)
        found.append(
            np.stack([trajectory.joint(joint)[coordinate].rate for joint, coordinate in joints], axis=1)
        )
    return np.stack(found, axis=1)


@pytest.mark.parametrize(
    ("name", "drives"),
    [
        ("rotor", ["1-2.slide", "1-13.slide", "13-15.angle"]),
        ("planar_3rrr", ["2-3.angle", "1-4.angle", "1-6.angle"]),
        ("planar_four_bar", ["1-4.angle"]),
        ("planetary", ["1-3.angle"]),
    ],
)
def test_virtual_work(name, drives):
    """Forces at the inputs are those at the drives through the derivatives of these coordinates by those."""
    mechanism = with_masses(mbssa.load(name))
    model = groups.build(mbssa.decompose(mechanism))
    motion = groups.default_motion(mechanism, steps=7)
    trajectory = model.solve(motion, compiled=False)
    there, here = groups.forces(trajectory, drives=drives), groups.forces(trajectory)
    assert there.ok
    assert set(there.drives) == set(drives)
    J = rates_by_inputs(model, motion, there.drives)
    expected = np.einsum("tdn,tn->td", J, there.driving)
    np.testing.assert_allclose(expected, here.driving, rtol=1e-8, atol=1e-9 * np.abs(here.driving).max())
    for what in ("shaking_force", "shaking_moment", "kinetic_power"):
        largest = np.abs(getattr(here, what)).max()
        np.testing.assert_allclose(getattr(there, what), getattr(here, what), atol=1e-9 * largest)
    assert np.abs(there.balance).max() < 1e-9 * np.abs(there.drive_power).max()


def test_no_force_of_the_piston_turns_the_crank_at_its_dead_centres():
    mechanism = with_masses(mbssa.load("slider_crank_isostatic"))
    trajectory = groups.build(mbssa.decompose(mechanism)).solve(compiled=False)
    found = groups.forces(trajectory, drives="1-4")
    dead = np.abs(trajectory.joint("1-4")["slide"].rate) < 1e-9
    assert dead.sum() == 2
    assert (found.status.any(axis=1) == dead).all()
    assert (np.isnan(found.driving[:, 0]) == dead).all()
    assert "singular" in found.faults()[-1]
    power = groups.forces(trajectory).drive_power
    np.testing.assert_allclose(found.drive_power[~dead], power[~dead], atol=1e-9 * np.abs(power).max())


def test_drives_that_determine_nothing_are_refused():
    structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    trajectory = groups.build(structure).solve(groups.default_motion(structure.mechanism, steps=3))
    with pytest.raises(ValueError, match=r"drives 1-2.angle, 1-4.angle do not determine"):
        groups.forces(trajectory, drives=["1-2.angle", "1-4.angle"])
    with pytest.raises(ValueError, match=r"drives of no coordinate"):
        groups.forces(trajectory, drives=[])
    with pytest.raises(ValueError, match=r"drives: no joint '1-9'"):
        groups.forces(trajectory, drives="1-9.angle")
    structure = mbssa.decompose(mbssa.load("cam_flat"))
    cam = groups.build(structure).solve(groups.default_motion(structure.mechanism, steps=3))
    with pytest.raises(ValueError, match=r"drives 2-3.contact: no joint is driven in that"):
        groups.forces(cam, drives="2-3.contact")
    with pytest.raises(ValueError, match=r"no joint is driven in 2-3.contact"):
        groups.build(mbssa.decompose(mbssa.with_inputs(structure.mechanism, "2-3.contact")))
    with pytest.raises(ValueError, match="leave the structure out"):
        groups.forces(trajectory, structure, drives="1-4.angle")
