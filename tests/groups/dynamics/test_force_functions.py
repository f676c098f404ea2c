"""Force elements by users' functions."""

import numpy as np
import pytest
from refusals import refused

import groups
import mbssa

LAW = """
import math

def rubber(t, value, rate):
    if value > 0.02:
        return -300.0 * (value - 0.02) - 2.0 * rate + 0.5 * math.sin(7.0 * t)
    return 0.0

def words(t, value, rate):
    return "hard"

def fails(t, value, rate):
    return 1.0 / (t - t)

def two(t, value, rate):
    return [1.0, 2.0]
"""


def slide(function, **more):
    m = mbssa.Builder("planar", **more).body("block", inertia={"mass": 0.5, "centre": (0, 0)})
    m.prismatic("frame", "block", point=(0, 0), axis=(1, 0), driven=True)
    m.motion({"1-2.slide": {"law": "harmonic", "amplitude": 0.05, "frequency": 2.0}}, duration=1.0, steps=51)
    return m.force("coordinate", id="rubber", coordinate="1-2.slide", function=function)


def rubber(t, value, rate):
    return -300.0 * (value - 0.02) - 2.0 * rate + 0.5 * np.sin(7.0 * t) if value > 0.02 else 0.0


def solved(mechanism):
    return groups.build(mbssa.decompose(mechanism)).solve(compiled=False)


def test_a_function_exerts_what_it_gives():
    trajectory = solved(slide(rubber).build())
    motion = trajectory.joint("1-2")["slide"]
    expected = [rubber(*given) for given in zip(trajectory.time, motion.value, motion.rate, strict=True)]
    power = groups.forces(trajectory).element_power["rubber"]
    np.testing.assert_allclose(power, expected * motion.rate, atol=1e-12)
    assert np.ptp(power) > 1.0


def test_a_linear_function_is_a_spring_and_damper():
    def linear(t, value, rate):
        return 4.0 - 80.0 * value - 3.0 * rate

    given = {"rates": {"1-2.slide": 0.7}, "duration": 0.3, "steps": 7, "compiled": False, "tolerance": 1e-10}
    by_function = groups.simulate(slide(linear).build(), **given)
    m = slide(None)
    m.force("coordinate", coordinate="1-2.slide", force=4.0, stiffness=80.0, damping=3.0, rest=0.0)
    del m._record["force"][0]
    by_numbers = groups.simulate(m.build(), **given)
    expected = by_numbers.coordinates["1-2.slide"]
    np.testing.assert_allclose(by_function.coordinates["1-2.slide"], expected, atol=1e-8)


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_a_function_of_a_point_gives_a_vector(space):
    """A drag of 3 N s/m, in two ways: at a point, and on the coordinate that moves it."""
    size = 2 if space == "planar" else 3
    axis = {} if space == "planar" else {"axis": (0, 0, 1)}

    def drag(t, position, velocity):
        assert position.shape == velocity.shape == (size,)
        return -3.0 * velocity

    m = mbssa.Builder(space).body("arm").revolute("frame", "arm", point=(0,) * size, driven=True, **axis)
    m.motion({"1-2.angle": {"law": "harmonic", "amplitude": 0.6, "frequency": 1.0}}, steps=21)
    tip = (0.4, *[0.0] * (size - 1))
    m.force("point", bodies=["arm"], point=tip, function=drag)
    m.force("coordinate", coordinate="1-2.angle", damping=3.0 * 0.4**2)
    forces = groups.forces(solved(m.build()))
    by_point, by_coordinate = forces.element_power.values()
    np.testing.assert_allclose(by_point, by_coordinate, atol=1e-12)
    assert by_point.min() < -0.5


def test_a_function_of_a_length():
    m = mbssa.Builder("planar").body("arm").revolute("frame", "arm", point=(0, 0), driven=True)
    m.motion({"1-2.angle": {"law": "speed", "rate": 1.0}}, steps=21)
    ends = {"bodies": ["frame", "arm"], "points": [(0.5, 0.1), (0.3, 0.0)]}
    m.force("spring", id="one", **ends, function=lambda t, value, rate: -40.0 * value - 2.0 * rate)
    m.force("spring", id="two", **ends, stiffness=40.0, damping=2.0, rest=0.0)
    power = groups.forces(solved(m.build())).element_power
    np.testing.assert_allclose(power["one"], power["two"], atol=1e-12)


def test_a_function_of_a_file_is_run_where_it_is_trusted(tmp_path, monkeypatch):
    monkeypatch.delenv("MBSSA_TRUST", raising=False)
    (tmp_path / "laws.py").write_text(LAW)
    path = tmp_path / "slide.toml"
    slide("laws.py:rubber").save(path)
    with pytest.raises(ValueError, match=r"rubber function: .*laws.py:rubber"):
        groups.forces(solved(mbssa.load(path)))
    power = groups.forces(solved(mbssa.load(path, trust=True))).element_power["rubber"]
    np.testing.assert_allclose(power, groups.forces(solved(slide(rubber).build())).element_power["rubber"])
    with pytest.raises(ValueError, match=r"laws.py:rubber"):  # trust is a model's own
        groups.simulate(mbssa.load(path), 0.1, compiled=False)


def test_an_expression_is_a_function_that_needs_no_trust(tmp_path, monkeypatch):
    monkeypatch.delenv("MBSSA_TRUST", raising=False)
    path = tmp_path / "slide.toml"

    def same(t, value, rate):
        return -300.0 * value**3 - 2.0 * rate + 0.5 * np.sin(7.0 * t)

    slide("-300*value^3 - 2*rate + 0.5*sin(7*t)").save(path)
    power = groups.forces(solved(mbssa.load(path))).element_power["rubber"]
    np.testing.assert_allclose(
        power, groups.forces(solved(slide(same).build())).element_power["rubber"], rtol=1e-13
    )
    given = {"rates": {"1-2.slide": 0.7}, "duration": 0.1, "steps": 3, "compiled": False}
    runs = [groups.simulate(one, **given) for one in (mbssa.load(path), slide(same).build())]
    first, second = (run.coordinates["1-2.slide"] for run in runs)
    np.testing.assert_allclose(first, second, rtol=1e-12)
    with pytest.raises(
        mbssa.ModelError, match=r"force 1 \(rubber\) function: there is no 'length'; there are t, value"
    ):
        slide("-300*length").build()
    with pytest.raises(ValueError, match=r"rubber function: at t = 0 s it gives nan; return a number"):
        groups.forces(solved(slide("sqrt(-1 - value^2)").build()))


def test_a_function_that_fails_is_named_with_the_instant(tmp_path):
    (tmp_path / "laws.py").write_text(LAW)
    path = tmp_path / "slide.toml"
    for name, text in {
        "words": "at t = 0 s ValueError: .*'hard'",
        "fails": "at t = 0 s ZeroDivisionError",
        "two": r"at t = 0 s .*\[1.0, 2.0\]",
        "none": "has rubber, words, fails, two",
    }.items():
        slide(f"laws.py:{name}").save(path)
        with pytest.raises(ValueError, match=f"rubber function: .*{text}"):
            groups.forces(solved(mbssa.load(path, trust=True)))
        path.unlink()


def test_a_function_of_python_goes_to_other_processes_and_into_no_file(tmp_path):
    import pickle

    factor = 2.0
    mechanism = slide(lambda t, value, rate: -factor * value).build()
    again = pickle.loads(pickle.dumps(mechanism))
    first, second = (groups.forces(solved(one)).element_power["rubber"] for one in (mechanism, again))
    np.testing.assert_array_equal(first, second)
    with refused("function at force rubber function"):
        slide(rubber).save(tmp_path / "slide.toml")


def test_no_name_of_a_function_is_a_fault():
    with refused("value at force 1 (rubber) function"):
        slide(3).build()
