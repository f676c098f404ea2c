"""The kernel of the pass backwards against NumPy's pass, which takes whole matrices."""

import dataclasses

import numpy as np
import pytest
from dense_forces import with_masses

import groups
import mbssa
from groups.dynamics import backwards
from groups.dynamics.backwards import Plan, by_kernel
from groups.dynamics.elimination import elimination_of
from groups.dynamics.inverse import acting_on, solve_backwards
from groups.dynamics.state import State

#: Chains in space, platforms, cams, gears, held spins, several groups; in the plane too.
MODELS = (
    "cam_roller", "cam_swing", "differential", "geneva", "involute_teeth", "micromanipulator_driven",
    "nine_bar", "planetary", "rack_steering", "rotor", "rssr", "six_sps", "spatial_four_bar", "stewart",
    "suspension", "theo_jansen",
)  # fmt: skip


def both(trajectory, *, compiled=False, applied=None):
    """The solutions by the kernel and by NumPy."""
    structure = mbssa.decompose(trajectory.mechanism)
    state = State.of(trajectory)
    acting = acting_on(state, applied)
    with np.errstate(invalid="ignore"):
        found = by_kernel(Plan.of(structure, state.frames), acting, structure, compiled=compiled)
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


@pytest.mark.parametrize("name", MODELS)
def test_kernel_agrees_with_numpy(name):
    assert_same(*both(solved(name, steps=5)))


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


@pytest.mark.parametrize("name", ["slider_crank", "sarrus"])
def test_redundant_constraints_have_no_plan(name):
    mechanism = mbssa.load(name)
    structure = mbssa.decompose(mechanism)
    assert Plan.of(structure, groups.build(structure).frames) is None


@pytest.mark.slow
def test_compiled_and_plain_give_the_same_bits():
    trajectory = solved("rotor", steps=30)
    plain, compiled = both(trajectory)[0], both(trajectory, compiled=True)[0]
    for joint, loads in plain.joints.items():
        np.testing.assert_array_equal(loads.wrench, compiled.joints[joint].wrench)
        np.testing.assert_array_equal(loads.driving, compiled.joints[joint].driving)


@pytest.mark.slow
def test_much_work_is_for_the_kernel(monkeypatch):
    asked = []
    monkeypatch.setitem(
        backwards.__globals__, "by_kernel", lambda *a, **k: asked.append(k) or by_kernel(*a, **k)
    )
    monkeypatch.setitem(backwards.__globals__, "is_worth_compiling", lambda *_: True)
    trajectory = solved("planar_four_bar", steps=1_000)
    assert groups.forces(trajectory).ok
    assert asked == [{"compiled": True}]


def test_steps_of_elimination_solve_sparse_systems():
    """The recorded steps, carried out on other numbers with the same zeros."""
    dice = np.random.default_rng(3)
    patterns = [(dice.random((n, n)) < 0.4) | np.eye(n, dtype=bool) for n in (3, 8, 12)]
    example, other = ([p * dice.normal(size=p.shape) for p in patterns] for _ in range(2))
    places, steps = elimination_of(example, patterns)
    _, at, _, _, pivot, row, column, low, low_at, low_row, up, up_at, up_column, change, changed = steps
    numbers = np.zeros(1 + max(at.max(), changed.max(initial=0)))
    for place, matrix in zip(places, other, strict=True):
        numbers[place[place >= 0]] = matrix[place >= 0]
    first = 0
    for matrix in other:
        n = len(matrix)
        right = dice.normal(size=n)
        left, found = right.copy(), np.zeros(n)
        for k in range(first, first + n):
            to = change[k]
            for a in range(low[k], low[k + 1]):
                factor = numbers[low_at[a]] / numbers[pivot[k]]
                left[low_row[a]] -= factor * left[row[k]]
                for b in range(up[k], up[k + 1]):
                    numbers[changed[to]] -= factor * numbers[up_at[b]]
                    to += 1
        for k in range(first + n - 1, first - 1, -1):
            rest = left[row[k]] - sum(
                numbers[up_at[b]] * found[up_column[b]] for b in range(up[k], up[k + 1])
            )
            found[column[k]] = rest / numbers[pivot[k]]
        np.testing.assert_allclose(matrix @ found, right, rtol=1e-7, atol=1e-9)
        first += n


def test_a_singular_example_has_no_steps():
    assert elimination_of([np.zeros((2, 2))], [np.ones((2, 2), dtype=bool)]) is None
