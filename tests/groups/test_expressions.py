"""Quantities by expression: their values, their rates against finite differences, and what is refused."""

import re
from dataclasses import replace

import numpy as np
import pytest

import groups
import mbssa
from groups.cli.draw import _at_inputs
from groups.results.expressions import derived, expression

STEP = 1e-4


def moving(name, rate=0.5):
    mechanism = mbssa.load(name)
    motion = groups.constant_speed(mechanism, rate=rate, duration=STEP * 40, steps=41)
    return groups.build(mbssa.decompose(mechanism)).solve(motion, compiled=False)


@pytest.fixture(scope="module")
def four_bar():
    return moving("planar_four_bar")


@pytest.fixture(scope="module")
def rssr():
    return moving("rssr")


EVERY = [
    "distance({a}.{p}, frame.origin)",
    "{a}.{p}.x * {b}.origin.y / ({a}.{p}.y + 3 m)",
    "angle({a}.x, {b}.y)",
    "angle({a}.x, {b}.x, world.z)",
    "norm(cross({a}.{p}, {b}.y)) - dot({a}.{p} - {b}.origin, {a}.x)",
    "sqrt(({a}.{p}.x - 4mm) ** 2 + {b}.origin.y ^ 2)",
    "sin({j}) * cos(2 * {j}) + tan(0.1 * {j}) / exp({j})",
    "atan2({a}.{p}.y, {a}.{p}.x) + asin(0.5 * sin({j})) - acos(0.5 * sin({j})) + atan({j})",
    "log(9 rad + {j}) * abs(-{j} - rad(3 + 4)) / (9rad + {j})",
    "-{a}.{p}.x + 0.25 m - 0 + 2 in * (1 + {a}.{p}.x / ({b}.origin.y + 3 m))",
]


@pytest.mark.parametrize("which", ["planar", "spatial"])
def test_rates_are_finite_differences(four_bar, rssr, which):
    for text in EVERY:
        differ_as_they_say(four_bar, rssr, text, which)


def differ_as_they_say(four_bar, rssr, text, which):
    names = {"a": "coupler", "p": "tracer", "b": "rocker", "j": "3-4.angle"}
    other = {"a": "rocker", "p": "origin", "b": "rod", "j": "1-4.angle"}
    trajectory = four_bar if which == "planar" else rssr
    found = trajectory.quantity(text.format(**(names if which == "planar" else other)))
    rate = (found.value[2:] - found.value[:-2]) / (2 * STEP)
    second = (found.value[2:] - 2 * found.value[1:-1] + found.value[:-2]) / STEP**2
    scale = max(1.0, np.abs(found.value).max())
    np.testing.assert_allclose(found.rate[1:-1], rate, atol=1e-6 * scale, err_msg=text)
    np.testing.assert_allclose(found.acceleration[1:-1], second, atol=1e-5 * scale, err_msg=text)


def test_values_are_those_of_the_trajectory(four_bar):
    tracer = four_bar.body("coupler").point("tracer")
    reach = four_bar.quantity("distance(coupler.tracer, frame.origin)")
    np.testing.assert_allclose(reach.value, np.linalg.norm(tracer, axis=1), rtol=1e-14)
    assert reach.unit == "m"
    assert (four_bar.quantity("2-3.angle").value == four_bar.joint("2-3")["angle"].value).all()
    turned = four_bar.quantity("angle(world.x, rocker.x, world.z)")
    np.testing.assert_allclose(turned.value, four_bar.body("rocker").orientation, atol=1e-12)
    np.testing.assert_allclose(turned.rate, four_bar.body("rocker").velocity[:, 2], atol=1e-12)
    assert turned.unit == "rad"
    assert four_bar.quantity("2-3.angle - deg(90)").value[0] == four_bar.joint("2-3").value[0, 0] - np.pi / 2
    assert four_bar.quantity("distance(coupler.tracer, frame.origin) ** 2").unit == "m^2"


def test_a_number_has_the_unit_behind_it(four_bar):
    for text, expected in {
        "180 deg": np.pi, "5mm": 5e-3, "1.5e1 cm": 0.15, "2 in": 2 * 0.0254, "3 ft * 2": 6 * 0.3048,
        "(2 mm)^2": 4e-6, "rad(2 * pi)": 2 * np.pi,
    }.items():  # fmt: skip
        assert four_bar.quantity(text).value == pytest.approx(expected, rel=1e-15), text
    angle = four_bar.joint("2-3")["angle"].value
    assert (four_bar.quantity("180 deg - 2-3.angle").value == np.pi - angle).all()
    assert (four_bar.quantity("0 - 2-3.angle").value == -angle).all()
    assert four_bar.quantity("1 + 2-3.angle / 1-4.angle").unit == ""


@pytest.fixture(scope="module")
def named():
    bar = mbssa.load("planar_four_bar")
    return replace(bar, joint_names={0: "A", 1: "B", 2: "C", 3: "D"}, motion=None, units=("mm", "deg"))


def test_a_joint_is_found_by_its_id_and_by_its_bodies(named, tmp_path):
    trajectory = at_its_reference(named)
    expected = trajectory.joint("C")["angle"].value
    for text in ("C.angle", "3-4.angle", "4-3.angle", "2 * 3-4.angle - C.angle"):
        assert trajectory.quantity(text).value == pytest.approx(expected, rel=1e-14), text
    with pytest.raises(ValueError, match=r"write 180 deg - 3-4\.angle or"):
        trajectory.quantity("180-3-4.angle")
    t = np.linspace(0, 0.1, 5)
    assert groups.from_arrays(named, t, {"2-1.angle": t}, {"1-2.angle": 1 + 0 * t}).names == ("A.angle",)
    path = tmp_path / "motion.csv"
    path.write_text("time,1-2.angle,2-1.angle.rate,1-2.angle.acceleration [rad/s^2]\n0,90,180,2\n")
    read = groups.read_motion(named, path)
    assert (read.value[0, 0], read.rate[0, 0], read.acceleration[0, 0]) == pytest.approx(
        (np.pi / 2, np.pi, 2)
    )
    assert _at_inputs(named, ["2-1.angle=30"]).joint("A").value[-1] == pytest.approx(np.pi / 6)
    found = groups.partition(named, independent=["2-1.angle"], driven=[])
    assert found.independent == ("A.angle",)


def test_a_joints_name_is_its_centre(named):
    trajectory = at_its_reference(named)
    place = {1: (0.0, 0.0), 4: trajectory.body("rocker").point(named.joint_geometry[2].point)}
    pin = trajectory.body("crank").point(named.joint_geometry[1].point)
    for text in (
        "distance(A, B)",
        "distance(1-2.centre, B.centre)",
        "norm(B - A)",
        "distance(B, frame.origin)",
    ):
        np.testing.assert_allclose(trajectory.quantity(text).value, np.linalg.norm(pin, axis=1), rtol=1e-14)
    np.testing.assert_allclose(trajectory.quantity("B.x + 2 * C.y").value, pin[:, 0] + 2 * place[4][:, 1])
    across = trajectory.quantity("angle(A, B, C)")
    a, c = -pin, place[4] - pin
    cosine = (a * c).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(c, axis=1)
    np.testing.assert_allclose(across.value, np.arccos(cosine), rtol=1e-12)
    assert across.unit == "rad"
    with_sign = trajectory.quantity("angle(A - B, C - B, world.z)")
    np.testing.assert_allclose(np.abs(with_sign.value), across.value, rtol=1e-12)


def test_a_joint_without_geometry_has_no_centre(named):
    trajectory = at_its_reference(named)
    geometry = {j: one for j, one in named.joint_geometry.items() if j != 2}
    bare = replace(trajectory, mechanism=replace(named, joint_geometry=geometry))
    with pytest.raises(ValueError, match=r"C\.x: joint C has no centre: it has no geometry"):
        bare.quantity("C.x")
    with pytest.raises(ValueError, match="joint C cannot be measured: it has no geometry"):
        bare.quantity("C.angle")


def test_an_ambiguous_name_is_an_error_of_the_text(four_bar):
    pairs = [(1, 2, "R", 1), (2, 3, "R", 0), (2, 3, "P", 0)]
    twice = mbssa.from_pairs(3, pairs, "planar")
    for text in ("2-3.angle", "distance(2-3.centre, world.origin)"):
        with pytest.raises(ValueError, match="ambiguous: write 2-3#1, 2-3#2"):
            expression(twice, text)
    assert expression(twice, "2-3#1.angle").unit == "rad"
    assert expression(twice, "3-2#2.slide").unit == "m"
    free = replace(mbssa.from_pairs(2, [(1, 2, "FP", 0)], "planar"), body_names=("frame", "A"))
    assert expression(replace(free, joint_names={0: "B"}), "B.x").unit == "m"
    with pytest.raises(ValueError, match=r"'A\.x' is of a joint and of a body A"):
        expression(replace(free, joint_names={0: "A"}), "A.x")


def test_all_faults_of_several_expressions_come_at_once(four_bar):
    texts = {"a": "coupler.tip.x", "b": "2-3.angle + 1", "c": "3-4.angle", "d": "sin("}
    with pytest.raises(
        ValueError, match=r"(?s)^a=coupler.*\n  b=2-3.angle \+ 1: .*no unit.*\n  d=sin\(: cannot be read"
    ):
        derived(four_bar, texts)
    part = groups.build(mbssa.decompose(four_bar.mechanism)).solve(
        groups.constant_speed(four_bar.mechanism, steps=2), bodies=["crank"], compiled=False
    )
    with pytest.raises(
        ValueError, match=r"(?s)a=3-4.angle: .*was not kept.*b=coupler.origin.x: .*was not kept"
    ):
        derived(part, {"a": "3-4.angle", "b": "coupler.origin.x"})


def test_a_released_joint_is_found_by_its_bodies():
    arm = mbssa.Builder("planar").body("arm", inertia={"mass": 1.0, "centre": (0.0, -1.0)})
    arm = arm.gravity(0.0, -9.81).revolute("frame", "arm", id="pin", point=(0, 0), driven=True).build()
    given = {"initial": {"1-2.angle": 0.1}, "rates": {"2-1.angle": 0.2}}
    found = groups.simulate(arm, duration=1e-3, steps=2, compiled=False, **given).trajectory
    pin = found.joint("pin")["angle"]
    assert (pin.value[0], pin.rate[0]) == pytest.approx((0.1, 0.2))


def test_an_angle_with_a_sign_counts_turns():
    bar = mbssa.load("planar_four_bar")
    trajectory = groups.build(mbssa.decompose(bar)).solve(
        groups.constant_speed(bar, duration=2.0, steps=81), compiled=False
    )
    turned = trajectory.quantity("angle(world.x, crank.x, world.z)").value
    np.testing.assert_allclose(turned - turned[0], trajectory.time * 2 * np.pi, atol=1e-12)


#: What is no quantity, and what is named in the refusal.
REFUSED = {
    "coupler.tracr.x": "'coupler.tracr.x'.*'coupler.tracer'",
    "coupler.tracer": "vector.*norm",
    "2-3.angle + coupler.tracer.x": r"2-3.angle \+ coupler.tracer.x: rad and m",
    "__import__('os').system('true')": "not allowed",
    "(1).__class__": "not allowed",
    "open(1)": "function 'open'.*distance, angle",
    "sin(coupler.tracer.x)": r"sin\(coupler.tracer.x\): in m,",
    "sin(2-3.angle ** 2)": r"sin\(2-3.angle \*\* 2\): in rad\^2,",
    "distance(coupler.x, frame.origin)": "is between two points",
    "angle(coupler.x)": "angle .*2 or 3 .*1",
    "coupler.x * rocker.x": "dot",
    "1 if 2 else 3": "not allowed",
    "2 +": "cannot be read",
    "180 - 2-3.angle": r"180 has no unit.*write 180 rad - 2-3.angle or 180 deg - 2-3.angle",
    "2-3.angle + 2 * 45": r"write 2-3.angle \+ rad\(2 \* 45\) or",
    "2-3.angle + 2 * pi": r"write 2-3.angle \+ rad\(2 \* pi\)$",
    "coupler.tracer.x - 5": r"write coupler.tracer.x - 5 m or coupler.tracer.x - 5 mm",
    "5 - (coupler.tracer.x + 3 mm)": r"write 5 m - \(coupler.tracer.x \+ 3 mm\)",
    "atan2(2-3.angle, 1)": "one unit",
    "5 mm + 3 deg": r"5 mm \+ 3 deg: m and rad",
    "9-2.angle": "'9-2.angle'",
    "9 ** 9 ** 9": "no finite number",
    "2 ** 2-3.angle": "exponent",
    "sqrt(coupler.tracer.x)": "in m, where a unit with even exponents",
    "-" * 3000 + "1": "3,001",
    "-" * 1900 + "1": "cannot be read|nested",
}


def test_what_is_no_quantity_is_refused(four_bar):
    for text, said in REFUSED.items():
        with pytest.raises(ValueError, match=said):
            four_bar.quantity(text)


#: Arguments of functions of an angle that have no unit, and the remedies in a file of mm and degrees.
NO_ANGLES = {
    "sin(30)": "sin(30 deg) or sin(30 rad)",
    "1 + 2 * cos(-pi / 2)": "cos(rad(-pi / 2))",
    "tan(3 * 15)": "tan(deg(3 * 15)) or tan(rad(3 * 15))",
}


def test_a_number_without_a_unit_is_no_angle(named):
    trajectory = at_its_reference(named)
    for text, remedy in NO_ANGLES.items():
        with pytest.raises(ValueError, match=re.escape(f"has no unit; write {remedy}") + "$"):
            trajectory.quantity(text)
    assert trajectory.quantity("sin(30 deg) + cos(0) + tan(B.angle / B.angle)").value == pytest.approx(
        1.5 + np.tan(1.0)
    )


#: Sums of unlike units in a file of mm and degrees, what their faults name, and a remedy that is a quantity.
UNLIKE = {
    "180 - B.angle": ("in deg;", "180 deg - B.angle"),
    "pi - B.angle": ("in deg;", "rad(pi) - B.angle"),
    "sqrt(coupler.tracer.x ** 2 + 1)": ("in mm^2;", "coupler.tracer.x ** 2 + 1 * (1 mm) ** 2"),
    "(1 + 2) - B.angle ** 2": ("in deg^2;", "(1 + 2) * (1 deg) ** 2 - B.angle ** 2"),
    "B.angle / coupler.tracer.x + 1": ("deg", "B.angle / coupler.tracer.x + 1 * (1 mm) ** -1 * (1 deg)"),
    "B.angle + 5 mm": ("deg and mm have no sum", ""),
    "sin(coupler.tracer.x)": ("sin(coupler.tracer.x): in mm,", ""),
}


def test_faults_of_units_name_those_of_the_file(named):
    trajectory = at_its_reference(named)
    for text, (unit, remedy) in UNLIKE.items():
        with pytest.raises(ValueError, match=re.escape(unit)) as fault:
            trajectory.quantity(text)
        if remedy:
            assert str(fault.value).partition("write ")[2].partition(" or ")[0] == remedy
            assert trajectory.quantity(remedy)


def at_its_reference(mechanism):
    motion = groups.constant_speed(mechanism, duration=0.1, steps=2)
    return groups.build(mbssa.decompose(mechanism)).solve(motion, compiled=False)


def test_a_quantity_does_not_take_the_name_of_a_column(four_bar):
    for name in ("time", "1-2.angle", "coupler.x", "SG-1.status"):
        with pytest.raises(ValueError, match="column"):
            four_bar.columns(derived={name: "pi"})
    assert len(four_bar.columns(quantities=["driven"], derived={"coupler.x": "pi"})[0]) > 1


def test_levels_that_were_not_kept_have_no_rates(four_bar):
    still = replace(four_bar, velocity=None, acceleration=None).quantity("angle(coupler.x, world.x)")
    assert still.rates is None
    assert still.accelerations is None
    with pytest.raises(ValueError, match=r"(?s)a=1 \+: .*b=x: .*'x'"):
        four_bar.columns(derived={"a": "1 +", "b": "x"})


@pytest.mark.parametrize("text", ["log({})", "sqrt({})", "asin(1 + {})"])
def test_there_are_no_rates_where_there_is_no_value(four_bar, text):
    found = four_bar.quantity(text.format("(1-2.angle - 0.9283 rad) / (1 rad)"))
    gone = np.isnan(found.value)
    assert 0 < gone.sum() < len(gone)
    for level in (found.rate, found.acceleration):
        assert np.array_equal(np.isnan(level), gone)
