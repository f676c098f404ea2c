"""Forces at the solved instants of a motion that is not solved everywhere."""

import numpy as np
import pytest

import groups
import mbssa
from groups.dynamics.inverse import balance

#: By body: mass, centre, moment of inertia.
BODIES = (0.67, (-0.89, -0.79), 0.063), (1.73, (0.97, -0.55), 0.18), (2.54, (0.38, -0.32), 0.38)
PINS = (0.8632083483503723, -0.05086557658847535), (-0.7130485978789474, -0.653194519542103)
PIN, GUIDE = (-0.22870201556523662, 0.6470159485552882), (0.154879419530501, -0.827759223636453)


def chain(space):
    """A slider, two links and a driven pin in one group of three bodies; it reaches 4 of 41 instants."""
    flat = space == "planar"
    end, axis = ((), {}) if flat else ((0.0,), {"axis": (0.0, 0.0, 1.0)})
    m = mbssa.Builder(space)
    for name, (mass, centre, moment) in zip("abc", BODIES, strict=True):
        inertia = {"moment": moment} if flat else {"moments": (0.2, 0.2, moment)}
        m.body(name, inertia={"mass": mass, "centre": (*centre, *end), **inertia})
    m.prismatic("frame", "a", point=(*GUIDE, *end), axis=(-0.9607995371969468, 0.2772440248628143, *end))
    m.revolute("a", "b", point=(*PINS[0], *end), driven=True, **axis)
    m.revolute("b", "c", point=(*PINS[1], *end), **axis).revolute("frame", "c", point=(*PIN, *end), **axis)
    m.gravity(0.0, -9.81, *end)
    return m.motion({"2-3.angle": {"law": "speed", "rate": 1.0}}, duration=2.0, steps=41).build()


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_numbers_at_the_solved_instants_are_those_of_these_alone(space):
    """In space the axes are parallel, so that reactions across the plane are open."""
    structure = mbssa.decompose(chain(space))
    trajectory = groups.build(structure).solve(branch="checked", compiled=False)
    sound = np.flatnonzero((trajectory.status == 0).all(axis=1))
    assert 0 < len(sound) < len(trajectory.time)
    whole = groups.forces(trajectory, structure)
    alone = groups.forces(trajectory.instants(sound), structure)
    assert alone.ok
    assert np.isfinite(whole.driving[sound]).all()
    for name in ("driving", "shaking_force", "shaking_moment", "balance"):
        np.testing.assert_array_equal(getattr(whole, name)[sound], getattr(alone, name))
    for joint in range(4):
        np.testing.assert_array_equal(whole.joint(joint).force[sound], alone.joint(joint).force)
    assert np.isnan(np.delete(whole.driving, sound, axis=0)).all()
    assert (np.delete(whole.status, sound, axis=0) != 0).all()
    scale = np.abs(alone.drive_power).max()
    assert np.abs(alone.balance).max() < 1e-9 * scale


def test_one_instant_that_is_not_finite_or_singular_spoils_no_other():
    generator = np.random.default_rng(3)
    matrices, loads = generator.normal(size=(5, 4, 4)), generator.normal(size=(5, 4, 1))
    expected = -np.linalg.solve(matrices, loads)
    matrices[1, 0, 0], matrices[3] = np.nan, 0.0
    for bad in ([1], [3], [1, 3]):
        part = np.array([0, 2, 4, *bad])
        found = balance(matrices[part], loads[part])
        np.testing.assert_allclose(found.multipliers[:3], expected[[0, 2, 4]], rtol=1e-10)
        assert np.isnan(found.multipliers[3:]).all()
        assert found.singular.tolist() == [False] * 3 + [k == 3 for k in bad]
