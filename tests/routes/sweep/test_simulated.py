"""Cases that are simulated."""

import numpy as np
import pytest

import groups
import mbssa
from routes.sweep import grid, sweep, table


def pendulum():
    arm = {"mass": 1.0, "centre": (0.0, -1.0), "moment": 0.1}
    m = mbssa.Builder("planar").body("arm", inertia=arm).gravity(0.0, -9.81)
    return m.revolute("frame", "arm", point=(0, 0), driven=True).build()


def test_cases_end_where_simulations_of_their_own_do(tmp_path):
    found = sweep(
        pendulum(), table({"1-2.angle": [0.1, 1.0], "1-2.point.y+": [0.0, 0.2]}), simulate="groups",
        duration=0.7, steps=15, store=tmp_path, executor="sequential",
    )  # fmt: skip
    one = groups.simulate(pendulum(), 0.7, steps=15, initial={"1-2.angle": 0.1})
    angle = one.trajectory.joint("1-2")["angle"]
    assert found["1-2.angle.final"][0] == angle.value[-1]
    assert found["1-2.angle.rate.final"][0] == angle.rate[-1]
    assert found["1-2.angle.min"][0] == angle.value.min()
    # The pin of the second is 0.2 m higher: a longer pendulum, whose energy is conserved.
    length, value, rate = 1.2, found["1-2.angle.final"][1], found["1-2.angle.rate.final"][1]
    kinetic = 0.5 * (0.1 + length**2) * rate**2
    assert kinetic == pytest.approx(9.81 * length * (np.cos(value) - np.cos(1.0)), abs=1e-6)
    assert found.counts == {"ok": 2}


def test_offset_of_an_input_is_from_the_reference(tmp_path):
    bar = mbssa.load("andrews")
    found = sweep(
        bar, grid({"1-2.angle+": [0.0, 0.05]}), simulate="groups", duration=0.002, steps=5,
        record=["1-2.angle"], store=tmp_path, executor="sequential",
    )  # fmt: skip
    reference = groups.build(mbssa.decompose(bar)).reference_inputs["1-2.angle"]
    one = groups.simulate(bar, 0.002, steps=5, initial={"1-2.angle": reference + 0.05}, compiled=False)
    assert found["1-2.angle.final"][1] == one.trajectory.joint("1-2")["angle"].value[-1]
    assert found["1-2.angle.final"][0] != found["1-2.angle.final"][1]


def test_forces_whose_functions_do_not_run_are_refused_before_anything_is_written(tmp_path):
    arm = {"mass": 1.0, "centre": (0.0, -1.0)}
    m = mbssa.Builder("planar").body("arm", inertia=arm).revolute("frame", "arm", point=(0, 0), driven=True)
    for name in ("one", "two"):
        m.force("coordinate", id=name, coordinate="1-2.angle", function="strange.py:push")
    with pytest.raises(ValueError, match=r"(?s)force one function: .*--trust.*force two function: .*--trust"):
        sweep(m.build(), grid({"1-2.angle": [0.0, 1.0]}), simulate="groups", store=tmp_path / "no")
    assert not (tmp_path / "no").exists()


def damped(mass=1.0, stiffness=20.0):
    body = {"mass": mass, "centre": (0.0, 0.0)}
    m = mbssa.Builder("planar").body("block", inertia=body)
    m.prismatic("frame", "block", point=(0, 0), axis=(1, 0), driven=True)
    return m.force("coordinate", id="strut", coordinate="1-2.slide", stiffness=stiffness, damping=0.5).build()


def test_masses_forces_and_initial_rates_are_parameters(tmp_path):
    cases = table(
        {"1-2.slide.rate": [1.0, 2.0], "block.inertia.mass": [1.0, 3.0], "force strut.stiffness+": [0, 30]}
    )
    found = sweep(
        damped(), cases, simulate="groups", duration=0.8, steps=5, store=tmp_path, executor="sequential"
    )
    for k, (rate, mass, stiffness) in enumerate([(1.0, 1.0, 20.0), (2.0, 3.0, 50.0)]):
        # m x'' + c x' + k x = 0 from x = 0 on.
        decay, swing = 0.25 / mass, np.sqrt(stiffness / mass - (0.25 / mass) ** 2)
        expected = rate / swing * np.exp(-decay * 0.8) * np.sin(swing * 0.8)
        assert found["1-2.slide.final"][k] == pytest.approx(expected, abs=1e-8)


def test_masses_of_no_body_are_no_case(tmp_path):
    found = sweep(
        damped(), grid({"block.inertia.mass": [1.0, -1.0]}), simulate="groups", duration=0.1, steps=3,
        store=tmp_path, executor="sequential",
    )  # fmt: skip
    assert list(found.counts) == ["ok", "cannot be assembled"]


def test_masses_of_planar_bodies_with_moments_are_parameters(tmp_path):
    cases = grid({"arm.inertia.mass": [1.0, 2.0], "arm.inertia.moment": [0.1, 0.4, -0.1]})
    found = sweep(
        pendulum(), cases, simulate="groups", duration=1e-3, steps=3, store=tmp_path, executor="sequential",
        record=["1-2.angle.acceleration"],
    )  # fmt: skip
    assert found.counts == {"ok": 4, "cannot be assembled": 2}
    assert found.reasons["cannot be assembled"].startswith("case 2: arm.inertia.moment: ")
    # It hangs at rest 1 m below its pin: there is no moment, whatever its inertia.
    assert np.nanmax(np.abs(found["1-2.angle.acceleration.final"])) < 1e-9
    turned = sweep(
        pendulum(), table({"arm.inertia.mass": [1.0, 2.0], "1-2.angle": [np.pi / 2] * 2}), simulate="groups",
        duration=1e-6, steps=3, store=tmp_path / "turned", executor="sequential",
        record=["1-2.angle.acceleration"],
    )  # fmt: skip
    wanted = [-9.81 * mass / (mass + 0.1) for mass in (1.0, 2.0)]
    assert np.allclose(turned["1-2.angle.acceleration.max"], wanted, rtol=1e-9)


def test_what_matters_to_simulations_alone_is_refused_elsewhere(tmp_path):
    names = ("1-2.slide.rate", "block.inertia.mass", "force strut.damping")
    with pytest.raises(ValueError, match="matters to simulations alone") as raised:
        sweep(damped(), grid({name: [1.0] for name in names}), store=tmp_path / "none", executor="sequential")
    assert all(f"{name}: matters to simulations alone; write simulate" in str(raised.value) for name in names)


def test_names_of_forces_that_there_are_not(tmp_path):
    names = ("force strat.stiffness", "force strut.rest", "force strut.coordinate", "force strut.stifness")
    with pytest.raises(ValueError, match="did you mean") as raised:
        sweep(
            damped(), grid({name: [1.0] for name in names}), simulate="groups", store=tmp_path / "none",
            executor="sequential",
        )  # fmt: skip
    for text in (
        "no force 'strat'",
        "force strut has no 'rest' in the model",
        "'coordinate' cannot be changed",
        "did you mean 'stiffness'?",
    ):
        assert text in str(raised.value)


@pytest.mark.parametrize("executor", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_one_worker_and_many_give_the_same_bits(tmp_path, executor):
    cases = grid({"1-2.angle": [0.1, 1.0, 3.0]})
    settings = {"simulate": "groups", "duration": 0.1, "steps": 5, "block": 1}
    one = sweep(pendulum(), cases, store=tmp_path / "one", executor="sequential", **settings)
    many = sweep(pendulum(), cases, store=tmp_path / "many", executor=executor, workers=2, **settings)
    for name in ("1-2.angle.final", "1-2.angle.rate.final", "1-2.angle.max", "solved"):
        assert one[name].tobytes() == many[name].tobytes()


def test_sweep_goes_on_with_the_same_settings_alone(tmp_path):
    cases = grid({"1-2.angle": [0.1, 0.5]})
    settings = {
        "simulate": "groups",
        "duration": 0.1,
        "steps": 5,
        "store": tmp_path,
        "executor": "sequential",
    }
    sweep(pendulum(), cases, **settings)
    again = sweep(pendulum(), cases, resume=True, **settings)
    assert again.solved == 0
    with pytest.raises(ValueError, match="motion"):
        sweep(pendulum(), cases, resume=True, **(settings | {"duration": 0.2}))


def test_values_that_cannot_be_reached_are_named(tmp_path):
    long, short = {"mass": 1.0, "centre": (0.5, 0.0)}, {"mass": 0.5, "centre": (1.2, 0.0)}
    m = mbssa.Builder("planar").body("crank", inertia=long).body("rod", inertia=short).body("block")
    m = m.revolute("frame", "crank", point=(0, 0), driven=True).revolute("crank", "rod", point=(1.0, 0.0))
    m = m.revolute("rod", "block", point=(1.4, 0.0)).prismatic("frame", "block", point=(1.4, 0), axis=(1, 0))
    # A rod of 0.4 m is too short for a crank of 1 m that stands upright.
    found = sweep(
        m.gravity(0.0, -9.81).build(), grid({"1-2.angle": [0.2, 1.5]}), simulate="groups", duration=0.01,
        steps=3, store=tmp_path, executor="sequential",
    )  # fmt: skip
    assert found.counts == {"ok": 1, "cannot be simulated": 1}
    assert found.reasons["cannot be simulated"].startswith("case 1: ")
    assert np.isnan(found["1-2.angle.final"][1])


def test_all_faults_come_at_once(tmp_path):
    bar = mbssa.load("planar_four_bar")
    with pytest.raises(ValueError, match="no body has mass") as raised:
        sweep(
            bar, grid({"mode 2": [1, 2]}), simulate="guess", tolerance=2.0, steps=1, motion="own",
            store=tmp_path / "none", executor="sequential",
        )  # fmt: skip
    message = str(raised.value)
    assert all(
        part in message
        for part in ("simulate 'guess'", "tolerance is 2.0", "steps is 1", "motion: simul", "mode 2: simul")
    )
    assert not (tmp_path / "none").exists()
