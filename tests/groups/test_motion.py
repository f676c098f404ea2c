"""Laws, arrays and functions as motions, and the motions that the models carry."""

import dataclasses
import math

import numpy as np
import pytest

import groups
import mbssa
from groups.motion.sampled import reference_values
from mbssa.motion import DefaultMotion, InputLaw

CARRYING = [name for name in mbssa.builtin_names() if mbssa.load(name).motion is not None]


@pytest.fixture
def four_bar():
    return mbssa.load("planar_four_bar")


def carrying(mechanism, duration=2.0, steps=5, **laws):
    """The mechanism with a motion: ``carrying(m, angle=InputLaw(…))`` for the input 1-2.angle."""
    inputs = {f"1-2.{name}": law for name, law in laws.items()}
    return dataclasses.replace(mechanism, motion=DefaultMotion(duration, steps, inputs))


# --- default motions -------------------------------------------------------------------------------


def test_a_model_starts_at_its_reference_and_stays_within_its_limits():
    for name in CARRYING:
        mechanism = mbssa.load(name)
        motion = groups.default_motion(mechanism)
        start = reference_values(mechanism)
        assert motion.time[0] == 0.0, name
        wanted = [start[key] for key in motion.names]
        assert motion.value[:, 0] == pytest.approx(wanted, abs=1e-12), name
        for joint in mechanism.joints:
            for coordinate, (low, high) in joint.geometry.limits.items():
                if coordinate in joint.driven:
                    values = motion.value[motion.names.index(f"{joint.id}.{coordinate}")]
                    assert low < values.min(), name
                    assert values.max() < high, name


#: Laws as data, and the same law from Python; the reference value of the crank is ``r``.
STORED = {
    "constant at the reference": (InputLaw("constant"), lambda r: groups.constant(r)),
    "constant": (InputLaw("constant", {"value": 2.0}), lambda r: groups.constant(2.0)),
    "speed": (InputLaw("speed", {"rate": 3.0}), lambda r: groups.speed(3.0, r)),
    "speed from 1": (InputLaw("speed", {"rate": 3.0, "start": 1.0}), lambda r: groups.speed(3.0, 1.0)),
    "polynomial": (
        InputLaw("polynomial", {"coefficients": (1.0, 0.5)}),
        lambda r: groups.polynomial(r, 1.0, 0.5),
    ),
    "harmonic": (
        InputLaw("harmonic", {"amplitude": 0.3, "frequency": 2.0, "phase": 0.4}),
        lambda r: groups.harmonic(0.3, 2.0, 0.4, r - 0.3 * math.sin(0.4)),
    ),
    "harmonic about 1": (
        InputLaw("harmonic", {"amplitude": 0.3, "frequency": 2.0, "mean": 1.0}),
        lambda r: groups.harmonic(0.3, 2.0, 0.0, 1.0),
    ),
    "ramp to the end": (
        InputLaw("ramp", {"end": 2.0, "begin": 0.5}),
        lambda r: groups.ramp(r, 2.0, 0.5, 1.5),
    ),
    "spline": (
        InputLaw("spline", {"times": (0.0, 1.0, 2.0), "values": (1.0, 2.0, 0.0)}),
        lambda r: groups.spline([0.0, 1.0, 2.0], [1.0, 2.0, 0.0]),
    ),
    "formula": (
        InputLaw("formula", {"formula": "1 + 0.3*sin(4*pi*t)", "unit": 1.0}),
        lambda r: groups.harmonic(0.3, 2.0, 0.0, 1.0),
    ),
    "formula with units": (
        InputLaw("formula", {"formula": "180 deg * (1 + t^2 / 2)", "unit": 0.001}),
        lambda r: groups.polynomial(math.pi, 0.0, math.pi / 2),
    ),
    "formula in degrees": (
        InputLaw("formula", {"formula": "180 + 90*t", "unit": math.pi / 180}),
        lambda r: groups.polynomial(math.pi, math.pi / 2),
    ),
}


def test_a_function_of_time_is_traced_or_sampled(four_bar):
    t = np.linspace(0.0, 2.0, 401)

    def of(law, at=t):
        motion = groups.sample(four_bar, {"1-2.angle": law}, at)
        return motion.value[0], motion.rate[0], motion.acceleration[0]

    wanted = np.exp(np.sin(3 * t)), 3 * np.cos(3 * t) * np.exp(np.sin(3 * t))
    for law, tolerance in (
        (lambda t: np.exp(np.sin(3 * t)), 1e-14),  # traced
        (lambda t: np.where(np.asarray(t) < 9, np.exp(np.sin(3 * np.asarray(t))), 0.0), 1e-8),  # sampled
        (lambda t: math.exp(math.sin(3 * t)), 1e-8),
    ):
        value, rate, _ = of(law)
        np.testing.assert_allclose(value, wanted[0], rtol=1e-15)
        np.testing.assert_allclose(rate, wanted[1], rtol=0, atol=tolerance * 10)
    # Not traced is one that gives another number for what it does not know.
    for at in (t, np.array([0.0])):
        _, rate, _ = of(lambda t: 2.0 * t if isinstance(t, np.ndarray) else 0.0, at)
        np.testing.assert_allclose(rate, 2.0, atol=1e-9)


def test_a_stored_law_is_the_law_of_that_name(four_bar):
    start = reference_values(four_bar)["1-2.angle"]
    for case, (stored, made) in STORED.items():
        motion = groups.default_motion(carrying(four_bar, angle=stored))
        expected = groups.sample(four_bar, {"1-2.angle": made(start)}, np.linspace(0, 2, 5))
        assert motion.time == pytest.approx(expected.time), case
        for part in ("value", "rate", "acceleration"):
            assert getattr(motion, part) == pytest.approx(getattr(expected, part), abs=1e-12), case


def test_steps_and_duration_of_the_default_motion(four_bar):
    one = groups.default_motion(four_bar, steps=1)
    assert one.time.tolist() == [0.0]
    longer = groups.default_motion(four_bar, steps=3, duration=2.0)
    assert longer.time.tolist() == [0.0, 1.0, 2.0]
    # The speed is the model's: twice the time, two turns.
    assert np.ptp(longer.value) == pytest.approx(4 * np.pi)
    with pytest.raises(ValueError, match=r"steps is 0.*10,000,000.*duration is -1.0"):
        groups.default_motion(four_bar, steps=0, duration=-1.0)
    spline = InputLaw("spline", {"times": (0.0, 2.0), "values": (1.0, 2.0)})
    with pytest.raises(ValueError, match=r"1-2.angle: t = 2.25 s"):
        groups.default_motion(carrying(four_bar, angle=spline), duration=3.0)


def test_no_motion_or_one_of_other_inputs_is_said(four_bar):
    two = dataclasses.replace(mbssa.load("rotor"), motion=None)
    with pytest.raises(ValueError, match=r"rotor .*9-13\.angle"):
        groups.default_motion(two)
    other = dataclasses.replace(four_bar, driven=four_bar.driven[::-1].copy())
    with pytest.raises(ValueError, match=r"1-4\.angle.*1-2\.angle is not driven"):
        groups.default_motion(other)


def test_one_input_without_a_motion_turns_once_or_through_its_limits(four_bar):
    still = dataclasses.replace(four_bar, motion=None)
    turn = groups.default_motion(still)
    assert len(turn.time) == 361
    assert turn.value[0, -1] - turn.value[0, 0] == pytest.approx(2 * np.pi)
    start = turn.value[0, 0]
    crank = dataclasses.replace(four_bar.joint("1-2").geometry, limits={"angle": (0.5, 1.5)})
    held = dataclasses.replace(still, joint_geometry={**still.joint_geometry, 0: crank})
    swing = groups.default_motion(held, steps=100_001).value[0]
    assert (swing[0], swing[-1]) == pytest.approx((start, start))
    assert (swing.min(), swing.max()) == pytest.approx((0.5, 1.5))
    outside = dataclasses.replace(crank, limits={"angle": (2.0, 3.0)})
    beyond = dataclasses.replace(still, joint_geometry={**still.joint_geometry, 0: outside})
    with pytest.raises(ValueError, match="carries no motion"):
        groups.default_motion(beyond)


def test_laws_may_name_a_joint_by_its_bodies(four_bar):
    named = dataclasses.replace(four_bar, joint_names={0: "motor"})
    assert groups.sample(named, {"2-1.angle": groups.speed(1.0)}, [0.0, 1.0]).names == ("motor.angle",)


def test_a_law_without_a_start_needs_geometry():
    bare = mbssa.from_pairs(2, [(1, 2, "R", 1)], "planar")
    with pytest.raises(ValueError, match="no geometry at 1-2"):
        groups.default_motion(carrying(bare, angle=InputLaw("speed", {"rate": 1.0})))
    motion = groups.default_motion(carrying(bare, angle=InputLaw("speed", {"rate": 1.0, "start": 0.5})))
    assert motion.value[0].tolist() == [0.5, 1.0, 1.5, 2.0, 2.5]


def test_a_mechanism_that_nothing_drives_has_a_motion_of_no_inputs():
    free = mbssa.from_pairs(2, [(1, 2, "R", 0)], "planar")
    motion = groups.default_motion(carrying(free))
    assert motion.value.shape == (0, 5)


# --- functions -------------------------------------------------------------------------------------

#: One and the same motion, 0.3 sin(5 t) + t², in every spelling of a function.
FUNCTIONS = {
    "array": lambda t: 0.3 * np.sin(5 * t) + t**2,
    "one instant": lambda t: 0.3 * math.sin(5 * t) + t**2,
    "comparing": lambda t: 0.3 * math.sin(5 * t) + t**2 if t < 10 else 0.0,
    "with derivatives": lambda t: (
        0.3 * np.sin(5 * t) + t**2,
        1.5 * np.cos(5 * t) + 2 * t,
        2 - 7.5 * np.sin(5 * t),
    ),
    "derivatives of one instant": lambda t: (
        0.3 * math.sin(5 * t) + t**2,
        1.5 * math.cos(5 * t) + 2 * t,
        2 - 7.5 * math.sin(5 * t),
    ),
}


@pytest.mark.parametrize("spelling", FUNCTIONS)
def test_any_function_of_time_is_a_law(spelling, four_bar):
    for instants in (1, 2, 7, 501):
        agrees(FUNCTIONS[spelling], instants, four_bar)


def agrees(function, instants, four_bar):
    t = np.linspace(0.3, 1.7, instants) if instants > 1 else np.array([0.8])
    motion = groups.sample(four_bar, {"1-2.angle": function}, t)
    exact = FUNCTIONS["with derivatives"](t)
    assert (motion.value[0] == pytest.approx(exact[0], abs=1e-15)) is True
    assert np.abs(motion.rate[0] - exact[1]).max() < 1e-8
    assert np.abs(motion.acceleration[0] - exact[2]).max() < 1e-6


def test_a_function_may_return_one_number_for_all(four_bar):
    motion = groups.sample(four_bar, {"1-2.angle": lambda t: 0.5}, [0.0, 1.0])
    assert motion.value.tolist() == [[0.5, 0.5]]
    assert np.abs(motion.rate).max() == 0.0


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda t: np.where(t < 0.5, 0.0, np.nan), "1-2.angle: .* t = 0.5 s"),
        (lambda t: "fast", "law of 1-2.angle: gives no numbers"),
        (lambda t: (t, t), "law of 1-2.angle: gives no numbers"),
        (lambda t: [1.0, 2.0], "law of 1-2.angle: gives no numbers"),
        (lambda t: math.sqrt(t - 2), "law of 1-2.angle"),
        (3.0, "law of 1-2.angle: is 3.0; write a law such as"),
    ],
    ids=["nan", "text", "two", "another length", "undefined", "number"],
)
def test_a_function_that_is_no_law(function, says, four_bar):
    with pytest.raises(ValueError, match=says):
        groups.sample(four_bar, {"1-2.angle": function}, [0.0, 0.5, 1.0])


# --- arrays ----------------------------------------------------------------------------------------


def test_missing_rates_are_derivatives_of_the_spline(four_bar):
    t = np.sort(np.random.default_rng(0).uniform(0, 2, 400))
    value, rate, second = np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)
    for rates, seconds in ((None, None), (rate, None), (None, second), (rate, second)):
        motion = groups.from_arrays(
            four_bar,
            t,
            {"1-2.angle": value},
            None if rates is None else {"1-2.angle": rates},
            None if seconds is None else {"1-2.angle": seconds},
        )
        assert (motion.value[0] == value).all()
        assert np.abs(motion.rate[0] - rate).max() < 1e-6
        assert np.abs(motion.acceleration[0] - second).max() < 1e-3


def test_given_rates_are_taken_as_they_are(four_bar):
    motion = groups.from_arrays(
        four_bar, [0.0], {"1-2.angle": [1.0]}, {"1-2.angle": [2.0]}, {"1-2.angle": [3.0]}
    )
    assert (motion.value, motion.rate, motion.acceleration) == (1.0, 2.0, 3.0)


def test_every_fault_of_arrays_comes_at_once():
    rotor = mbssa.load("rotor")
    with pytest.raises(ValueError, match="no values for") as caught:
        groups.from_arrays(
            rotor,
            [0.0, 0.2, 0.1, 0.3, 0.4],
            {"9-13.angle": [0.0] * 4, "13-15.angle": [0, 1, np.nan, 2, 3], "11-14.angle": [0] * 5},
            {"13-15.angle": ["fast"] * 5, "1-13.slide": [0] * 5},
        )
    for expected in (
        "time does not increase at instant 2 (0.1 s after 0.2 s)",
        "no values for 11-14.angle_1",
        "11-14.angle is not driven; did you mean '11-14.angle_1'?",
        "values of 9-13.angle have the shape (4,); time has (5,)",
        "values of 13-15.angle are not finite at t = 0.1 s",
        "rates of 13-15.angle are no numbers",
        "1-13.slide is not driven",
    ):
        assert expected in str(caught.value)


def test_another_joint_is_no_misspelt_one(four_bar):
    with pytest.raises(ValueError, match=r"1-4\.angle is not driven; driven are 1-2\.angle$"):
        groups.sample(four_bar, {"1-2.angle": groups.speed(1.0), "1-4.angle": groups.speed(1.0)}, [0.0])


def test_too_few_instants_for_a_spline(four_bar):
    with pytest.raises(ValueError, match=r"3 instants.*4"):
        groups.from_arrays(four_bar, [0.0, 1.0, 2.0], {"1-2.angle": [0.0, 1.0, 2.0]})


def test_a_spline_is_not_continued_beyond_its_points(four_bar):
    law = groups.spline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    with pytest.raises(ValueError, match=r"t = 2.5 s .* 0 to 2 s"):
        groups.sample(four_bar, {"1-2.angle": law}, [0.0, 2.5])


def test_a_law_of_no_number_says_what_to_write():
    with pytest.raises(ValueError, match="'x'"):
        groups.speed("x")
