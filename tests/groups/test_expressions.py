"""Quantities by expression: their values, their rates against finite differences, and what is refused."""

import numpy as np
import pytest

import groups
import mbssa

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
    "{a}.{p}.x * {b}.origin.y / ({a}.{p}.y + 3)",
    "angle({a}.x, {b}.y)",
    "angle({a}.x, {b}.x, world.z)",
    "norm(cross({a}.{p}, {b}.y)) - dot({a}.{p} - {b}.origin, {a}.x)",
    "sqrt(({a}.{p}.x - mm(4)) ** 2 + {b}.origin.y ^ 2)",
    "sin({j}) * cos(2 * {j}) + tan(0.1 * {j}) / exp({j})",
    "atan2({a}.{p}.y, {a}.{p}.x) + asin(0.5 * sin({j})) - acos(0.5 * sin({j})) + atan({j})",
    "log(9 + {j}) * abs(-{j} - 7) / (9 + {j})",
    "-{a}.{p}.x + 0.25 - pi",
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
    "sin(coupler.tracer.x)": "sin: m",
    "distance(coupler.x, frame.origin)": "distance: .*points",
    "angle(coupler.x)": "angle .*2 or 3 .*1",
    "coupler.x * rocker.x": "dot",
    "1 if 2 else 3": "not allowed",
    "2 +": "cannot be read",
    "9-2.angle": "'9-2.angle'",
    "9 ** 9 ** 9": "exponent",
    "sqrt(coupler.tracer.x)": "m has no root",
    "-" * 3000 + "1": "3,001",
    "-" * 1900 + "1": "cannot be read|nested",
}


def test_what_is_no_quantity_is_refused(four_bar):
    for text, said in REFUSED.items():
        with pytest.raises(ValueError, match=said):
            four_bar.quantity(text)


def test_a_quantity_does_not_take_the_name_of_a_column(four_bar):
    for name in ("time", "1-2.angle", "coupler.x", "SG-1.status"):
        with pytest.raises(ValueError, match="column"):
            four_bar.columns(derived={name: "pi"})
    assert len(four_bar.columns(quantities=["driven"], derived={"coupler.x": "pi"})[0]) > 1


def test_levels_that_were_not_kept_have_no_rates(four_bar):
    from dataclasses import replace

    still = replace(four_bar, velocity=None, acceleration=None).quantity("angle(coupler.x, world.x)")
    assert still.rates is None
    assert still.accelerations is None
    with pytest.raises(ValueError, match=r"(?s)a=1 \+: .*b=x: .*'x'"):
        four_bar.columns(derived={"a": "1 +", "b": "x"})
