"""A rotating frame of reference against the same mechanism on a body that turns."""

import numpy as np
import pytest
from refusals import refused

import groups
import mbssa

#: Angular velocity at t = 0, rad/s, of which the frame has (1 + 0.5 t) times.
SPIN = {"planar": 3.0, "spatial": (1.0, -2.0, 2.0)}
AXIS = {"planar": None, "spatial": (1.0, -2.0, 2.0)}
FASTER = {"law": "polynomial", "start": 1.0, "coefficients": [0.5]}
#: Angle of the turning body with an angular velocity of 3 rad/s at t = 0.
TURN = {"law": "polynomial", "start": 0.0, "coefficients": [3.0, 0.75]}
SWING = {"law": "harmonic", "amplitude": 0.7, "frequency": 1.3, "phase": 0.4}


def arm(space, turning, **units):
    """Two links on hinges, against a frame that rotates or on a disc that turns in the world."""
    flat = space == "planar"
    m = mbssa.Builder(space, **units)
    if turning:
        m.body("disc")
        where = (0.1, -0.2) if flat else (0.1, -0.2, 0.3)
        m.revolute("frame", "disc", point=where, driven=True, **({} if flat else {"axis": AXIS[space]}))
    for name, x in (("upper", 0.4), ("lower", 0.9)):
        if flat:
            m.body(name, inertia={"mass": 2.0, "centre": (x, 0.05), "moment": 0.03})
        else:
            rest = {"moments": (0.02, 0.03, 0.04), "products": (0.004, -0.003, 0.005)}
            m.body(name, inertia={"mass": 2.0, "centre": (x, 0.05, 0.1), **rest})
    for ends, x, axis in (
        (("disc" if turning else "frame", "upper"), 0.0, (0, 0, 1)),
        (("upper", "lower"), 0.7, (1, 1, 0)),
    ):
        point = (x, 0.0) if flat else (x, 0.0, 0.0)
        m.revolute(*ends, id=ends[1], point=point, driven=True, **({} if flat else {"axis": axis}))
    if not turning:
        point = (0.1, -0.2) if flat else (0.1, -0.2, 0.3)
        m.force("rotating_frame", spin=SPIN[space], point=point, factor=FASTER)
    laws = {"upper.angle": SWING, "lower.angle": SWING | {"phase": -1.0}}
    laws |= {"1-2.angle": TURN} if turning else {}
    return m.motion(laws, duration=1.0, steps=21).build()


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_drives_and_reactions_are_those_on_a_turning_body(space):
    inside, outside = (
        groups.forces(groups.build(mbssa.decompose(arm(space, turning))).solve()) for turning in (False, True)
    )
    for k, name in enumerate(inside.drives):
        other = outside.driving[:, outside.drives.index(name)]
        np.testing.assert_allclose(inside.driving[:, k], other, rtol=1e-9, atol=1e-9)
    for joint in ("upper", "lower"):
        here, there = inside.joint(joint), outside.joint(joint)
        np.testing.assert_allclose(here.local_force, there.local_force, atol=1e-9)
        np.testing.assert_allclose(here.local_moment, there.local_moment, atol=1e-9)
    assert np.abs(inside.balance).max() < 1e-9 * np.abs(inside.element_power["rotating_frame 1"]).max()


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_a_simulated_motion_is_that_on_a_turning_body(space):
    start = {"initial": {"upper.angle": 0.3, "lower.angle": -0.5}, "rates": {"upper.angle": 2.0}}
    given = {"duration": 0.4, "tolerance": 1e-10, "steps": 5, "compiled": False, **start}
    inside = groups.simulate(arm(space, False), **given)
    outside = groups.simulate(arm(space, True), prescribed=["1-2.angle"], **given)
    assert inside.ok
    assert outside.ok
    for name in ("upper.angle", "lower.angle"):
        assert np.ptp(inside.coordinates[name]) > 0.4
        np.testing.assert_allclose(inside.coordinates[name], outside.coordinates[name], atol=1e-7)


def test_energy_with_the_centrifugal_potential_is_conserved_at_a_constant_spin():
    m = mbssa.Builder("planar").body("bob", inertia={"mass": 2.0, "centre": (0.7, 0.1), "moment": 0.05})
    m.revolute("frame", "bob", point=(0.5, 0.0), driven=True)
    m.force("rotating_frame", spin=3.0, point=(0.1, -0.2))
    found = groups.simulate(
        m.build(), 1.5, rates={"1-2.angle": -1.0}, tolerance=1e-10, steps=7, compiled=False
    )
    assert np.ptp(found.kinetic_energy) > 0.05
    np.testing.assert_allclose(found.total_energy, found.total_energy[0], atol=1e-8)


def test_degrees_per_second():
    m = mbssa.Builder("spatial", angle="deg").body("bob", inertia={"mass": 1.0, "centre": (1, 0, 0)})
    m.revolute("frame", "bob", point=(0, 0, 0), axis=(0, 0, 1), driven=True)
    force = m.force("rotating_frame", spin=(0, 0, 180)).build().forces[0]
    np.testing.assert_allclose(force.spin, (0, 0, np.pi), rtol=1e-15)
    with refused("value at force 2 (rotating_frame) spin"):
        m.force("rotating_frame", spin=180).build()
