"""The kernel of the pass backwards against NumPy's pass, which takes whole matrices."""

import dataclasses

import numpy as np
from dense_forces import with_masses

import groups
import mbssa
from groups.dynamics.backwards import Plan, by_kernel
from groups.dynamics.inverse import acting_on, solve_backwards
from groups.dynamics.state import State


def both(trajectory, *, applied=None):
    """The solutions by the kernel and by NumPy."""
    structure = mbssa.decompose(trajectory.mechanism)
    state = State.of(trajectory)
    acting = acting_on(state, applied)
    with np.errstate(invalid="ignore"):
        found = by_kernel(Plan.of(structure, state.frames), acting, structure, compiled=False)
        return found, solve_backwards(state, acting, structure)


def assert_same(found, expected):
    for mine, theirs in ((found.joints, expected.joints), (found.locks, expected.locks)):
        assert mine.keys() == theirs.keys()
        scale = max((np.nanmax(np.abs(each.wrench), initial=1e-9) for each in theirs.values()), default=1.0)
        for key, loads in theirs.items():
            assert mine[key].bodies == loads.bodies
            for name in ("wrench", "driving", "rate"):
                one, other = getattr(mine[key], name), getattr(loads, name)
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11 * scale)
    np.testing.assert_array_equal(found.status, expected.status)
    np.testing.assert_allclose(found.loads[0], expected.loads[0], rtol=1e-9, atol=1e-9)
    for name in ("kinetic", "kinetic_power", "gravity_power"):
        one, other = getattr(found.energy, name), getattr(expected.energy, name)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


def solved(name, **motion):
    mechanism = with_masses(mbssa.load(name))
    return groups.build(mbssa.decompose(mechanism)).solve(groups.default_motion(mechanism, **motion))


def test_kernel_agrees_with_numpy():
    """Chains in space, platforms, cams, gears, held spins, several groups; in the plane too."""
    for name in (
        "cam_roller",
        "differential",
        "geneva",
        "planetary",
        "rotor",
        "rssr",
        "stewart",
        "suspension",
    ):
        assert_same(*both(solved(name, steps=3)))


def test_force_elements_and_applied_forces():
    found, expected = both(solved("rotor", steps=4), applied={"1-2.slide": [1.0, -2.0, 3.0, 0.5]})
    assert_same(found, expected)


def test_singular_and_unsolved_instants_are_numpys():
    """Dead centres of a parallelogram in one line, and a motion that leaves the workspace."""
    bar = with_masses(mbssa.load("planar_four_bar"))
    longer = dict(bar.joint_geometry)
    longer[0] = dataclasses.replace(longer[0], point=(-0.6, 0.0), at_reference={})
    leaving = dataclasses.replace(bar, joint_geometry=longer)
    trajectory = groups.build(mbssa.decompose(leaving)).solve(groups.default_motion(leaving, steps=40))
    assert not trajectory.ok
    found, expected = both(trajectory)
    assert found.status.any()
    assert_same(found, expected)


def test_redundant_constraints_have_no_plan():
    structure = mbssa.decompose(mbssa.load("slider_crank"))
    assert Plan.of(structure, groups.build(structure).frames) is None
