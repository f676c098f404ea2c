"""Whole motions: closure, rates against differences, the global approach, textbook formulae."""

import dataclasses

import numpy as np
import pytest
from random_mechanisms import distance, slopes, swing

import groups
import mbssa
from groups.rotations import rotation_of

#: One model of each kind of joint and of solver.
MODELS = [
    "planar_four_bar", "theo_jansen", "cam_roller", "planetary", "rotor", "stewart", "bennett",
    "universal_shafts", "stewart_inverse",
]  # fmt: skip

#: The global approach takes longer for these.
SHORT = ("rotor", "stewart", "stewart_inverse", "universal_shafts", "planetary")

#: Their solvers, by group.
REACH, MEET = "point at constant distance", "spherical-loop closure"
SOLVERS = {
    "planar_four_bar": ["driven R", "RRR dyad"],
    "theo_jansen": ["driven R", *["RRR dyad"] * 3],
    "andrews": ["driven R", *["RRR dyad"] * 3],
    "rotor": [REACH, "driven", REACH, MEET, REACH, REACH, REACH],
    "stewart_inverse": ["driven", *["a leg between two points"] * 6],
    "stewart": ["Newton, 6 unknowns"],
    "rssr": ["driven", REACH],
    "slider_crank_isostatic": ["driven", REACH],
    "spatial_four_bar": ["driven", MEET],
}


def build(name):
    return groups.build(mbssa.decompose(mbssa.load(name)))


def crank_turns(name, steps, turns=1.0, rate=2 * np.pi):
    """A model of one crank, and so many turns of it from the reference."""
    model = build(name)
    ((crank, start),) = model.reference_inputs.items()
    time = np.linspace(0.0, turns * 2 * np.pi / rate, steps)
    return model, groups.sample(model.mechanism, {crank: groups.speed(rate, start)}, time)


# --- every built-in model over its own motion ------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_closes_and_agrees_with_the_global_approach(name):
    model = build(name)
    motion = groups.default_motion(model.mechanism, steps=9 if name in SHORT else 25)
    trajectory = model.solve(motion, compiled=False)
    assert trajectory.ok, trajectory.faults()
    assert trajectory.residual.max() <= 1e-10 * model.frames.size
    assert trajectory.condition.min() > 0
    oracle = groups.solve_globally(model.structure, motion, compiled=False)
    assert oracle.ok, oracle.faults()
    assert max(distance(oracle, trajectory)) < 1e-9


@pytest.mark.parametrize("name", MODELS)
def test_rates_converge_to_the_derivatives_with_the_square_of_the_step(name):
    """A difference of half the step errs a quarter: the rates are exact, not themselves differences."""
    model = build(name)
    part = model.mechanism.motion.duration * 0.1

    def motion(steps):
        return groups.default_motion(model.mechanism, steps=steps, duration=part)

    coarse, fine = slopes(model, motion, 51), slopes(model, motion, 101)
    for one, half in zip(coarse, fine, strict=True):
        assert one < 1e-7 or 3.5 < one / half < 4.5


def test_groups_get_the_solvers_that_they_should():
    for name, wanted in SOLVERS.items():
        solvers = build(name).solvers
        assert [solver.name for solver in solvers] == wanted
        for solver in solvers:
            assert (solver.form == "Newton") == solver.name.startswith("Newton")
            assert (solver.form == "driven") == solver.name.startswith("driven")


@pytest.mark.parametrize("name", [name for name in MODELS if name != "universal_shafts"])
def test_few_instants_stay_on_the_branch_of_many(name):
    """Steps of up to a third of a turn: the right branch, or a status that says no. Never another branch."""
    model = build(name)
    for steps in (4, 6, 9):
        few = model.solve(groups.default_motion(model.mechanism, steps=steps), compiled=False)
        fine = groups.default_motion(model.mechanism, steps=20 * (steps - 1) + 1)
        many = model.solve(fine, compiled=False)
        assert many.ok
        sound = (few.status == 0).all(axis=1)
        assert np.abs(few.position - many.position[::20])[sound].max() < 1e-9
        # Jansen's leg in fifths of a turn goes by a dead point that it nearly touches, and says so.
        if name != "theo_jansen" or steps > 6:
            assert few.ok, few.faults()
        few, many = few.orientation, many.orientation[::20]
        if model.mechanism.space == "spatial":  # with less than two instants a turn their signs say nothing
            few, many = rotation_of(few), rotation_of(many)
        assert np.abs(few - many)[sound].max() < 1e-9


# --- textbooks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["slider_crank", "slider_crank_isostatic"])
def test_slider_crank_formulae(name):
    """Bond-graph seed: r = 0.2 m, l = 1 m; x = r cos θ + sqrt(l² - r² sin² θ) and its derivatives."""
    model, motion = crank_turns(name, 91, rate=1.0)
    trajectory = model.solve(motion, compiled=False)
    assert trajectory.ok
    r, length, angle = 0.2, 1.0, motion.value[0]
    s, c = np.sin(angle), np.cos(angle)
    root = np.sqrt(length**2 - (r * s) ** 2)
    x = r * c + root
    v = -r * s - r * r * s * c / root
    a = -r * c - r * r * (c * c - s * s) / root - (r * r * s * c) ** 2 / root**3
    piston = trajectory.body("piston")
    pin = model.mechanism.joint("3-4").geometry.point
    # Newton on the over-constrained one closes to 1e-12 of the size.
    exact = 1e-14 if name == "slider_crank_isostatic" else 2e-12
    assert np.abs(piston.point(pin)[:, 0] - x).max() < exact
    assert np.abs(piston.point(pin)[:, 1:]).max() < exact
    assert np.abs(piston.velocity[:, 0] - v).max() < exact
    assert np.abs(piston.acceleration[:, 0] - a).max() < 4 * exact


def test_slider_crank_figures():
    """The seed's own table at 0, 45, 90, 135 and 180 degrees."""
    model = build("slider_crank_isostatic")
    time = np.linspace(0.0, np.pi, 5)
    motion = groups.sample(model.mechanism, {"1-2.angle": groups.speed(1.0)}, time)
    piston = model.solve(motion).body("piston")
    pin = model.mechanism.joint("3-4").geometry.point
    x = [1.2, 1.131370849898, 0.979795897113, 0.848528137424, 0.8]
    a = [-0.24, -0.141833663398, 0.040824829046, 0.141009049076, 0.16]
    assert np.abs(piston.point(pin)[:, 0] - x).max() < 1e-12
    assert np.abs(piston.acceleration[:, 0] - a).max() < 1e-12


def test_spatial_4r_is_the_planar_four_bar():
    flat, drawn = (
        model.solve(motion, compiled=False)
        for model, motion in (crank_turns(n, 61) for n in ("planar_four_bar", "spatial_4r"))
    )
    assert flat.ok
    assert drawn.ok
    assert np.abs(flat.position - drawn.position[:, :, :2]).max() < 1e-10
    assert np.abs(drawn.position[:, :, 2]).max() < 1e-12
    assert np.abs(flat.velocity - drawn.velocity[:, :, [0, 1, 5]]).max() < 1e-9
    assert np.abs(flat.acceleration - drawn.acceleration[:, :, [0, 1, 5]]).max() < 1e-8
    assert np.abs(rotation_of(flat.spatial().orientation) - rotation_of(drawn.orientation)).max() < 1e-10


def test_freudensteins_equation():
    """k1 cos ψ - k2 cos φ + k3 = cos(φ - ψ): crank a at φ, coupler b, rocker c at ψ, frame d."""
    model, motion = crank_turns("planar_four_bar", 121)
    points = [np.array(model.mechanism.joint(name).geometry.point) for name in ("1-2", "2-3", "3-4", "1-4")]
    a, b, c, d = (np.linalg.norm(points[k] - points[j]) for k, j in ((1, 0), (2, 1), (2, 3), (3, 0)))
    trajectory = model.solve(motion, compiled=False)
    base = np.arctan2(*(points[3] - points[0])[::-1])
    crank = trajectory.body("crank").point(points[1]) - points[0]
    rocker = trajectory.body("rocker").point(points[2]) - points[3]
    phi, psi = (np.arctan2(v[:, 1], v[:, 0]) - base for v in (crank, rocker))
    k1, k2, k3 = d / a, d / c, (a * a - b * b + c * c + d * d) / (2 * a * c)
    assert np.abs(k1 * np.cos(psi) - k2 * np.cos(phi) + k3 - np.cos(phi - psi)).max() < 1e-14


def test_andrews_mechanism_from_its_published_configuration():
    """Its six closing equations, by the angles of the benchmark, hold over the whole turn."""
    start = {
        "beta": -0.06171389001427645,
        "theta": 0.0,
        "gamma": 0.4552798191630704,
        "phi": 0.22266839016588588,
        "delta": 0.48736497954384255,
        "omega": -0.22266839016588588,
        "epsilon": 1.2305474445498212,
    }
    model, motion = crank_turns("andrews", 121)
    assert motion.value[0, 0] == pytest.approx(start["beta"], abs=1e-15)
    trajectory = model.solve(motion, compiled=False)
    assert trajectory.ok
    assert np.abs(trajectory.position[0]).max() < 1e-14
    assert np.abs(trajectory.orientation[0]).max() < 1e-12

    def angle(body, *names):
        return sum(start[name] for name in names) + trajectory.body(body).orientation

    one, two = angle("K1", "beta"), angle("K2", "beta", "theta")
    three, four, five = angle("K3", "gamma"), angle("K4", "phi", "delta"), angle("K5", "delta")
    six, seven = angle("K6", "omega", "epsilon"), angle("K7", "epsilon")
    rr, d, ss, e, zt, zf, u = 0.007, 0.028, 0.035, 0.02, 0.04, 0.02, 0.04
    (xa, ya), (xb, yb) = (-0.06934, -0.00227), (-0.03635, 0.03273)
    x, y = rr * np.cos(one) - d * np.cos(two), rr * np.sin(one) - d * np.sin(two)
    misses = [
        x - ss * np.sin(three) - xb,
        y + ss * np.cos(three) - yb,
        x - e * np.sin(four) - zt * np.cos(five) - xa,
        y + e * np.cos(four) - zt * np.sin(five) - ya,
        x - zf * np.cos(six) - u * np.sin(seven) - xa,
        y - zf * np.sin(six) + u * np.cos(seven) - ya,
    ]
    assert np.abs(misses).max() < 1e-15


# --- Stewart's platform there and back -------------------------------------------------------------

SLIDES = [f"{k}-{k + 1}" for k in range(2, 14, 2)]


def lengths(legs):
    """The motion of a solved inverse platform's legs, for the forward one."""
    slides = [legs.joint(name)["slide"] for name in SLIDES]
    columns = [np.array([getattr(s, level) for s in slides]) for level in ("value", "rate", "acceleration")]
    return groups.Motion(legs.time, tuple(f"{name}.slide" for name in SLIDES), *columns)


def test_stewart_forward_of_inverse_is_the_pose_along_a_path():
    inverse, forward = build("stewart_inverse"), build("stewart")
    poses = swing(inverse, amplitude=0.12, steps=201)
    legs = inverse.solve(poses)
    assert legs.ok, legs.faults()
    answer = forward.solve(lengths(legs))
    assert answer.ok, answer.faults()
    for level, miss in (
        ("position", 1e-10),
        ("orientation", 1e-10),
        ("velocity", 1e-9),
        ("acceleration", 1e-8),
    ):
        apart = getattr(answer.body(14), level) - getattr(legs.body(14), level)
        assert np.abs(apart).max() < miss, level
    # The legs of the two models have their universal joints at other ends, so only their lines are alike.
    for foot in range(2, 14, 2):
        point = forward.mechanism.joint(f"1-{foot}").geometry.point
        assert np.abs(answer.body(foot).point(point) - point).max() < 1e-12


def test_stewart_forward_of_inverse_is_the_pose_wherever_it_starts():
    """Poses in no order, each a motion of one instant, led from the reference."""
    inverse, forward = build("stewart_inverse"), build("stewart")
    start = np.array(list(inverse.reference_inputs.values()))
    away = np.random.default_rng(3).uniform(-1, 1, (6, 6)) * (0.2, 0.2, 0.15, 0.25, 0.25, 0.4)
    still = np.zeros((6, 1))
    for pose in start + away:
        legs = inverse.solve(
            groups.Motion(np.zeros(1), tuple(inverse.reference_inputs), pose[:, None], still, still)
        )
        assert legs.ok, legs.faults()
        answer = forward.solve(lengths(legs))
        assert answer.ok, answer.faults()
        assert np.abs(answer.body(14).position - legs.body(14).position).max() < 1e-10
        assert np.abs(answer.body(14).rotation - legs.body(14).rotation).max() < 1e-10


# --- starts and refusals ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planar_four_bar", "rssr", "bennett"])
def test_a_motion_may_start_anywhere(name):
    """The second half of a turn alone is the second half of the whole turn."""
    model, motion = crank_turns(name, 91)
    whole = model.solve(motion, compiled=False)
    for first in (15, 42, 60):
        late = groups.Motion(
            motion.time[first:], motion.names, motion.value[:, first:], motion.rate[:, first:],
            motion.acceleration[:, first:],
        )  # fmt: skip
        part = model.solve(late, compiled=False)
        assert part.ok, part.faults()
        assert np.abs(part.position - whole.position[first:]).max() < 1e-9
        assert np.abs(part.velocity - whole.velocity[first:]).max() < 1e-8


def test_one_instant_is_a_motion():
    model, motion = crank_turns("rssr", 91)
    whole = model.solve(motion)
    for k in (0, 1, 5):
        one = groups.Motion(motion.time[[k]], motion.names, *(
            part[:, [k]] for part in (motion.value, motion.rate, motion.acceleration)
        ))  # fmt: skip
        answer = model.solve(one)
        assert answer.ok
        assert np.abs(answer.position[0] - whole.position[k]).max() < 1e-12
        assert np.abs(answer.acceleration[0] - whole.acceleration[k]).max() < 1e-9


def test_what_cannot_be_solved_is_refused_before():
    with pytest.raises(ValueError, match="not determined"):
        groups.build(mbssa.decompose(mbssa.from_pairs(3, [(1, 2, "R", 1), (2, 3, "R", 0)], "planar")))
    four_bar = [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0)]
    with pytest.raises(ValueError, match="1-2, 2-3, 3-4, 1-4"):
        groups.build(mbssa.decompose(mbssa.from_pairs(4, four_bar, "planar")))


def test_a_motion_of_other_inputs_is_refused():
    model, motion = crank_turns("planar_four_bar", 5)
    with pytest.raises(ValueError, match=r"1-2\.angle.*9-13\.angle"):
        build("rotor").solve(motion)
    with pytest.raises(ValueError, match=r"jerk.*position, velocity, acceleration"):
        model.solve(motion, level="jerk")
    with pytest.raises(KeyError, match="leg"):
        model.solve(motion, bodies=["crank", "leg"])


def test_progress_is_told_and_can_stop_the_run():
    model, motion = crank_turns("planar_four_bar", 1001)
    told = []
    whole = model.solve(motion, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert np.array_equal(whole.position, model.solve(motion).position)
    proven = model.solve(motion, progress=lambda done: done < 0.7)  # in the proof: all is solved
    assert 0.2 < (proven.proof == 2).all(axis=1).mean() < 0.8
    assert (proven.proof >= 1).all()
    assert np.array_equal(proven.position, whole.position)
    stopped = model.solve(motion, progress=lambda done: done < 0.25)
    done = stopped.status[:, 0] == 0
    assert 0.4 < done.mean() < 0.6
    assert np.array_equal(stopped.position[done], whole.position[done])
    assert np.isnan(stopped.position[~done][:, 1:]).all()  # the frame stands where it stands
    assert "not computed" in stopped.faults()[-1]


def test_numbers_that_arrays_have_got_since_and_endless_steps_are_refused():
    mechanism = mbssa.load("planar_four_bar")
    model, motion = groups.build(mbssa.decompose(mechanism)), groups.default_motion(mechanism, steps=21)
    (name,) = motion.names
    for bad, said in ((np.nan, f"value of {name} is not finite at t = 0.15 s"), (1e7, "give more instants")):
        value = motion.value.copy()
        moved = dataclasses.replace(motion, value=value)
        value = moved.value if moved.value.flags.writeable else value
        value[0, 3] = bad
        object.__setattr__(moved, "value", value)
        with pytest.raises(ValueError, match=said):
            model.solve(moved)
