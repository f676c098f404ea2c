"""Planar closed forms on random geometry: each mode closes each joint, rates are derivatives, faults said."""

from dataclasses import replace

import numpy as np
import pytest

import groups
import mbssa
from groups.global_approach import solve_globally
from groups.motion import Motion, driven_coordinates
from groups.status import OK, OUT_OF_REACH, PREDECESSOR_FAILED, SINGULAR
from mbssa.io.records import from_record
from mbssa.joints.equations import elementary_slopes, pose
from mbssa.mechanism import BodyGeometry, JointFrame, JointGeometry

#: Joints of each kind of group between the bodies "a" and "b", which move: bodies, type, driven.
#: The name of the closed form and its number of modes follow.
CASES = {
    "RRR": (["a x R", "x y R", "b y R"], "RRR dyad", 2),
    "RRP": (["a x R", "x y R", "b y P"], "RRP dyad", 2),
    "RPR": (["a x R", "x y P", "b y R"], "RPR dyad", 2),
    "RPP": (["a x R", "x y P", "b y P"], "RPP dyad", 1),
    "PRP": (["a x P", "x y R", "b y P"], "PRP dyad", 1),
    "R ROD": (["a x R", "b x ROD"], "R and ROD", 2),
    "P ROD": (["a x P", "x b ROD"], "P and ROD", 2),
    "R SLOT": (["a x R", "b x SLOT"], "R and SLOT", 2),
    "P SLOT": (["a x P", "b x SLOT"], "P and SLOT", 1),
    "SLOT R": (["a x R", "x b SLOT"], "R and SLOT", 2),
    "SLOT P": (["a x P", "x b SLOT"], "P and SLOT", 1),
    "FP x": (["a x R", "b x FP x"], "R and FP with driven FP", 2),
    "FP y": (["a x P", "x b FP y"], "P and FP with driven FP", 1),
    "long RRR": (["a x R", "x y P slide", "y z R", "b z R"], "RRR dyad with driven P", 2),
    "bent RRR": (["a x R", "x y R angle", "y z R", "z w P slide", "b w R"], "RRR dyad with driven R, P", 2),
    "long RRP": (["a x R", "x y P slide", "y z R", "b z P"], "RRP dyad with driven P", 2),
    "long RPR": (["a x R", "x y R angle", "y z P", "z w FP x y angle", "b w R"],
                 "RPR dyad with driven R, FP", 2),
    "long PRP": (["a x P", "x y R angle", "y z R", "b z P"], "PRP dyad with driven R", 1),
    "long RPP": (["a x R", "x y P", "y z R angle", "b z P"], "RPP dyad with driven R", 1),
    "pushed SLOT": (["a x SLOT slide", "x y R", "b y R"], "RRR dyad with driven SLOT", 2),
    "turned SLOT": (["a x SLOT angle", "x y R", "b y R"], "RRP dyad with driven SLOT", 2),
    "led ROD": (["a x ROD azimuth", "x y R", "y b R"], "RRR dyad with driven ROD", 2),
    "R and long ROD": (["a x R", "x y P slide", "y b ROD"], "R and ROD with driven P", 2),
}  # fmt: skip

#: A body that inputs lead in every coordinate.
DRIVEN = {
    "R": ["a x R angle"],
    "P": ["a x P slide"],
    "FP": ["a x FP x y angle"],
    "SLOT": ["a x SLOT slide angle"],
    "ROD": ["a x ROD azimuth angle"],
}

#: The bodies that carry the group move too.
CARRIERS = ["frame a FP x y angle", "frame b R angle"]


class Bench:
    """A random mechanism around one group, and its model."""

    def __init__(self, mechanism, seed=None):
        self.mechanism, self.seed = mechanism, seed
        self.structure = mbssa.decompose(mechanism)
        self.model = groups.build(self.structure)
        self.frames, self.groups = self.model.frames, self.model.solvers
        self.own = [group.body_indices for group in self.structure.groups]

    @property
    def start(self):
        return np.array(list(self.model.reference_inputs.values()))

    def swing(self, amplitude=0.05, steps=41, duration=1.0, seed=0):
        """A motion from the reference: all inputs swing, with their rates."""
        t = np.linspace(0, duration, steps)
        phase = np.random.default_rng(seed).uniform(0, 2 * np.pi, (len(self.start), 1))
        w = 2 * np.pi
        value = self.start[:, None] + amplitude * (np.sin(w * t + phase) - np.sin(phase))
        rate, second = amplitude * w * np.cos(w * t + phase), -amplitude * w * w * np.sin(w * t + phase)
        return Motion(t, driven_coordinates(self.mechanism), value, rate, second)

    def solve(self, motion, mode=None):
        """States (N, T, 11), status, residual and condition (G, T), the last group in a mode."""
        modes = None if mode is None else {len(self.groups): mode}
        found = self.model.solve(motion, modes=modes, branch="checked", compiled=False)
        turn = found.orientation
        columns = found.position, np.stack([np.cos(turn), np.sin(turn), turn], 2)
        states = np.concatenate([*columns, found.velocity, found.acceleration], axis=2)
        return states.swapaxes(0, 1), found.status.T, found.residual.T, found.condition.T

    def misses(self, states, motion):
        """Largest miss (T,) of any equation of any joint, constraint or input, m and rad."""
        worst = np.zeros(states.shape[1])
        row = 0
        for joint in self.mechanism.joints:
            rows, n = joint.type.pair, states.shape[1]
            world = []
            for side, number in enumerate(joint.bodies):
                x, y, c, s = states[number - 1, :, :4].T
                turn = np.zeros((n, 3, 3))
                turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1], turn[:, 2, 2] = c, -s, s, c, 1
                origin = np.stack([x, y, 0 * x], 1) + turn @ self.frames.origin[joint.index, side]
                world.append((origin, turn @ self.frames.axes[joint.index, side]))
            (a, A), (b, B) = world
            d, C = np.einsum("nba,nb->na", A, b - a), A.transpose(0, 2, 1) @ B
            given = {name: np.full(n, column[joint.index]) for name, column in self.frames.parameters.items()}
            worst = np.maximum(
                worst, np.abs(elementary_slopes(rows.functions, d, C, given)[0]).max(axis=1, initial=0.0)
            )
            found = elementary_slopes(rows.coordinates, d, C, given)[0]
            for k, name in enumerate(joint.type.coordinates):
                if name in joint.driven:
                    miss = found[:, k] - motion.value[row]
                    if name in ("angle", "azimuth"):
                        miss = np.angle(np.exp(1j * miss))
                    worst = np.maximum(worst, np.abs(miss))
                    row += 1
            for i, j in rows.sense:
                assert (C[:, i, j] > 0).all()
        return worst


def mechanism_of(joints, seed, turned=0.0, moved=(0.0, 0.0), mirrored=False):
    """A mechanism of joints "first second TYPE driven…" at random geometry that fits at the reference.

    Bodies stand anywhere with any axes, joints have other frames on either body, either body comes first.
    The same seed gives the same mechanism in a world that is turned, moved or mirrored.
    """
    rng = np.random.default_rng(seed)
    rows = [joint.split() for joint in joints]
    bodies = ["frame", *dict.fromkeys(b for row in rows for b in row[:2] if b != "frame")]
    place = {name: (rng.uniform(-1, 1, 2), rng.uniform(-3, 3)) for name in bodies}
    place["frame"] = (np.zeros(2), 0.0)

    def rotation(angle):
        return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def put(point, angle):
        if mirrored:
            point, angle = point * (1, -1), -angle
        return rotation(turned) @ point + moved, angle + turned

    pairs, geometry = [], {}
    for k, (first, second, code, *driven) in enumerate(rows):
        pairs.append((bodies.index(first) + 1, bodies.index(second) + 1, code, driven))
        length = rng.uniform(0.5, 2)
        origin, angle = rng.uniform(-1, 1, 2), rng.uniform(-3, 3)
        row = mbssa.joints.joint_type(code, "planar")
        q = rng.uniform(-1, 1, (1, row.grade))
        given = {"length": np.array([length])}
        d, C, _ = pose(row.pair, q, given)
        other = origin + rotation(angle) @ d[0, :2], angle + np.arctan2(C[0, 1, 0], C[0, 0, 0])
        frames = []
        for body, joint_frame in ((first, (origin, angle)), (second, other)):
            base, turn = place[body] if body == "frame" else put(*place[body])
            point, direction = put(*joint_frame)
            local = rotation(-turn) @ (point - base)
            x = (np.cos(direction - turn), np.sin(direction - turn))
            frames.append(JointFrame(origin=tuple(local.tolist()), x=tuple(map(float, x))))
        geometry[k] = JointGeometry(frames=tuple(frames), length=length if code == "ROD" else None)
    made = mbssa.from_pairs(bodies, pairs, "planar")
    standing = {}
    for index, name in enumerate(bodies[1:], 1):
        point, angle = put(*place[name])
        standing[index] = BodyGeometry(origin=tuple(point.tolist()), orientation=(float(angle),))
    return replace(made, joint_geometry=geometry, body_geometry=standing)


def benches(joints, wanted=1, least=0.15):
    """Random mechanisms whose closing is well conditioned over the swing, the first few that come."""
    found = 0
    for seed in range(60):
        bench = Bench(mechanism_of([*CARRIERS, *joints], seed), seed)
        _, status, _, condition = bench.solve(bench.swing())
        if (status == OK).all() and condition.min() > least:
            yield bench
            found += 1
            if found == wanted:
                return
    raise AssertionError(f"only {found} of 60 random mechanisms move well")


@pytest.mark.parametrize("case", CASES)
def test_the_reference_mode_is_that_of_the_global_approach(case):
    joints, name, modes = CASES[case]
    for bench in benches(joints):
        group = bench.groups[-1]
        assert (group.name, group.roots) == (name, modes)
        motion = bench.swing(steps=11)
        states, status, residual, condition = bench.solve(motion)
        assert (status == OK).all()
        assert residual.max() < 1e-13
        assert ((condition > 0) & (condition <= 1 + 1e-15)).all()
        assert bench.misses(states, motion).max() < 1e-12
        oracle = solve_globally(bench.structure, motion, compiled=False)
        assert oracle.ok
        scale = 1 / condition.min()
        assert np.abs(oracle.position - states[:, :, :2].transpose(1, 0, 2)).max() < 1e-11 * scale
        assert np.abs(oracle.orientation - states[:, :, 4].T).max() < 1e-11 * scale
        for level, part in ((oracle.velocity, states[:, :, 5:8]), (oracle.acceleration, states[:, :, 8:11])):
            assert np.abs(level - part.transpose(1, 0, 2)).max() < 1e-10 * scale**2 * max(
                1, np.abs(level).max()
            )
        assert np.abs(np.exp(1j * states[:, :, 4]) - states[:, :, 2] - 1j * states[:, :, 3]).max() < 1e-14


@pytest.mark.parametrize("case", CASES)
def test_every_mode_closes_every_joint_and_its_rates_are_derivatives(case):
    for bench in benches(CASES[case][0]):
        modes = groups.modes(bench.model, len(bench.groups))
        assert modes.complete
        assert len(modes) == bench.groups[-1].roots
        for mode in modes:
            motion = bench.swing()
            states, status, residual, _ = bench.solve(motion, mode.number)
            assert (status == OK).all()
            assert residual.max() < 1e-12
            assert bench.misses(states, motion).max() < 1e-12
            first = states[bench.own[-1], 0]
            assert np.abs(first[:, :2] - mode.position[:, :2]).max() < 1e-12
            assert np.abs(first[:, 2:4] - mode.rotation[:, :2, 0]).max() < 1e-12
            h = 1e-5
            near = bench.solve(bench.swing(steps=3, duration=2 * h), mode.number)[0]
            pose, rate, second = near[:, :, [0, 1, 4]], near[:, :, 5:8], near[:, :, 8:11]
            for value, slope in ((pose, rate), (rate, second)):
                error = np.abs((value[:, 2] - value[:, 0]) / (2 * h) - slope[:, 1]).max()
                assert error < 1e-6 * max(1, np.abs(second).max())


@pytest.mark.parametrize("case", DRIVEN)
def test_bodies_led_by_inputs_follow_them(case):
    bench = Bench(mechanism_of([*CARRIERS, *DRIVEN[case]], 3))
    motion = bench.swing(amplitude=1.0)
    states, status, residual, condition = bench.solve(motion)
    assert bench.groups[-1].name == f"driven {case}"
    assert bench.groups[-1].closing == ()
    assert (status == OK).all()
    assert residual[-1].max() == 0
    assert condition[-1].min() == 1
    assert bench.misses(states, motion).max() < 1e-14
    oracle = solve_globally(bench.structure, motion, compiled=False)
    assert np.abs(oracle.position - states[:, :, :2].transpose(1, 0, 2)).max() < 1e-12
    assert np.abs(oracle.orientation - states[:, :, 4].T).max() < 1e-12
    assert np.abs(oracle.velocity - states[:, :, 5:8].transpose(1, 0, 2)).max() < 1e-10
    assert np.abs(oracle.acceleration - states[:, :, 8:11].transpose(1, 0, 2)).max() < 1e-9


#: Joints of every case.
ALL = {**{name: joints for name, (joints, _, _) in CASES.items()}, **DRIVEN}


def test_the_way_of_time_does_not_change_the_answer():
    for case, joints in ALL.items():
        (bench,) = benches(joints, least=0.1)
        motion = bench.swing()
        states = bench.solve(motion)[0]
        back = replace(
            motion,
            value=motion.value[:, ::-1],
            rate=-motion.rate[:, ::-1],
            acceleration=motion.acceleration[:, ::-1],
        )
        again = bench.solve(back)[0][:, ::-1]
        assert np.abs(again[:, :, :5] - states[:, :, :5]).max() < 1e-12, case
        assert np.abs(again[:, :, 5:8] + states[:, :, 5:8]).max() < 1e-11, case
        assert np.abs(again[:, :, 8:] - states[:, :, 8:]).max() < 1e-9, case


def test_a_mirrored_world_gives_the_mirrored_motion():
    for case, joints in ALL.items():
        (one,) = benches(joints, least=0.1)
        other = Bench(mechanism_of([*CARRIERS, *joints], one.seed, mirrored=True))
        motion = one.swing(steps=11)
        flip = [-1.0 if name.endswith((".angle", ".azimuth", ".y")) else 1.0 for name in motion.names]
        parts = (np.array(flip)[:, None] * part for part in (motion.value, motion.rate, motion.acceleration))
        mirrored = Motion(motion.time, motion.names, *parts)
        here, there = one.solve(motion)[0], other.solve(mirrored)[0]
        signs = np.array([1, -1, 1, -1, -1, 1, -1, -1, 1, -1, -1])
        assert np.abs(here * signs - there).max() < 1e-9, case
        assert np.abs(here[:, :, :5] * signs[:5] - there[:, :, :5]).max() < 1e-12, case


@pytest.mark.parametrize("case", ["RRR", "RRP", "RPR", "R ROD", "R SLOT"])
def test_out_of_reach_is_said_and_the_mode_is_the_same_afterwards(case):
    """Inputs go out and come back on the same path, so every position is passed twice."""
    follower = [f"{CASES[case][0][0].split()[1]} u R", "u v R", "frame v R"]
    t = np.linspace(0, 1, 101)
    seen = 0
    for seed in range(80):
        if seen == 2:
            return
        bench = Bench(mechanism_of([*CARRIERS, *CASES[case][0], *follower], seed))
        reach = np.sin(np.pi * t) ** 2 * 1.5
        slope, curve = 1.5 * np.pi * np.sin(2 * np.pi * t), 3 * np.pi**2 * np.cos(2 * np.pi * t)
        way = np.random.default_rng(seed).uniform(-1, 1, (len(bench.start), 1))
        parts = (bench.start[:, None] + way * reach, way * slope, way * curve)
        motion = Motion(t, driven_coordinates(bench.mechanism), *parts)
        names = [group.name for group in bench.groups]
        g = names.index(CASES[case][1])
        states, status, residual, condition = bench.solve(motion)
        lost = status[g] == OUT_OF_REACH
        if not lost.any() or lost[0] or lost[-1] or condition[g][~lost].min() < 1e-3:
            continue
        seen += 1
        own = bench.own[g]
        assert np.isnan(states[own][:, lost]).all()
        assert not (residual[g][lost] < 1e-9).any()
        assert (condition[g][lost] == 0).all()
        after = bench.groups[-1]
        assert after.name == "RRR dyad"
        assert (status[-1][lost] == PREDECESSOR_FAILED).all()
        assert np.isnan(states[bench.own[-1]][:, lost]).all()
        assert np.isfinite(states[own][:, ~lost]).all()
        once = np.abs(states[:, ::-1, :5] - states[:, :, :5])[own]
        assert np.nanmax(once) < 1e-9 / condition[g][~lost].min()
    raise AssertionError(f"{seen} of 80 go out of reach and come back")


def still(steps):
    """A motion of no inputs."""
    none = np.zeros((0, steps))
    return Motion(np.arange(float(steps)), (), none, none, none)


def two_arms(x, length, joints=("frame x R", "x y R", "frame y R")):
    """A dyad on the frame whose joints are at (0, 0), (length, 0) and (x, 0)."""
    rows = [joint.split() for joint in joints]
    bodies = ["frame", "x", "y"]
    made = mbssa.from_pairs(
        bodies, [(bodies.index(a) + 1, bodies.index(b) + 1, code, 0) for a, b, code in rows], "planar"
    )
    points = [(0.0, 0.0), (length, 0.0), (x, 0.0)]
    geometry = {
        k: JointGeometry(point=point, axis=(1.0, 0.0) if rows[k][2] == "P" else None)
        for k, point in enumerate(points)
    }
    return Bench(replace(made, joint_geometry=geometry))


@pytest.mark.parametrize(
    ("x", "length", "joints"),
    [
        pytest.param(2.0, 1.0, ("frame x R", "x y R", "frame y R"), id="stretched"),
        pytest.param(0.5, 1.0, ("frame x R", "x y R", "frame y R"), id="folded"),
        pytest.param(2.0, 1.0, ("frame x P", "x y R", "frame y P"), id="parallel guides"),
        pytest.param(0.0, 1.0, ("frame x R", "x y R", "frame y R"), id="hinges in one place"),
        pytest.param(0.0, 0.0, ("frame x R", "x y R", "frame y R"), id="arms without length"),
    ],
)
def test_a_dead_point_is_singular(x, length, joints):
    bench = two_arms(x, length, joints)
    assert bench.groups[0].closing == ("2-3",)
    states, status, _, _ = bench.solve(still(2))
    assert (status == SINGULAR).all()
    assert np.isnan(states[1:]).all()
    assert len(groups.modes(bench.model, 1)) == 1


def test_slides_alone_are_refused():
    joints = ["a x P", "x y P", "b y P"]
    with pytest.raises(ValueError, match=r"2-4, 4-5, 3-5"):
        Bench(mechanism_of([*CARRIERS, *joints], 1))


def test_the_joint_that_runs_out_is_named():
    closing = {"RRR": "4-5", "RRP": "4-5", "RPR": "4-5", "PRP": "4-5", "R ROD": "3-4", "SLOT R": "3-4",
               "long RRR": "5-6"}  # fmt: skip
    for case, joint in closing.items():
        bench = Bench(mechanism_of([*CARRIERS, *CASES[case][0]], 1))
        assert bench.groups[-1].closing == (joint,), case


def test_other_groups_are_left_to_others():
    """Three single equations on a free body; a platform on three legs; a rod that keeps its angle."""
    for joints in (
        ["a x ROD", "b x ROD", "frame x SLOT"],
        ["a x R", "x p R", "b y R", "y p R", "frame z R", "z p R"],
        ["a x ROD angle", "x y R", "b y R"],
    ):
        assert Bench(mechanism_of([*CARRIERS, *joints], 1)).groups[-1].form == "Newton"


def full_turns(points, joints, turns=3, steps=301, slide=None):
    """A crank on the frame turns a few times; states of all bodies."""
    bodies = ["frame", "crank", *dict.fromkeys(b for row in joints for b in row.split()[:2] if b not in
              ("frame", "crank"))]  # fmt: skip
    rows = [("frame", "crank", "R", 1), *((*joint.split(), 0) for joint in joints)]
    made = mbssa.from_pairs(
        bodies, [(bodies.index(a) + 1, bodies.index(b) + 1, code, n) for a, b, code, n in rows], "planar"
    )
    geometry = {
        k: JointGeometry(point=point, axis=slide if rows[k][2] == "P" else None)
        for k, point in enumerate(points)
    }
    bench = Bench(replace(made, joint_geometry=geometry))
    t = np.linspace(0, 1, steps)
    way = 2 * np.pi * turns * t[None]
    rate = np.full_like(way, 2 * np.pi * turns)
    motion = Motion(t, driven_coordinates(bench.mechanism), way, rate, 0 * way)
    return bench, motion, *bench.solve(motion)


def test_a_drag_link_counts_its_turns():
    points = [(0.0, 0.0), (0.0, 2.0), (1.9, 1.5), (0.5, 0.0)]
    joints = ["crank x R", "x y R", "frame y R"]
    bench, motion, states, status, residual, _ = full_turns(points, joints)
    assert (status == OK).all()
    assert residual.max() < 1e-13
    assert bench.misses(states, motion).max() < 1e-12
    angle = states[:, :, 4]
    assert np.array_equal(angle[1], motion.value[0])
    assert np.abs(np.diff(angle)).max() < 0.4
    assert np.abs(angle[:, -1] - 2 * np.pi * 3 * np.array([0, 1, 1, 1])).max() < 1e-12
    assert np.abs(angle[:, 0]).max() < 1e-15


def test_a_quick_return_counts_its_turns():
    """Whitworth: the pivot of the arm lies inside the crank's circle, a block slides on the arm."""
    points = [(0.0, 0.0), (0.0, 2.0), (0.5, 1.0), (1.0, 0.0)]
    joints = ["crank x R", "x y P", "frame y R"]
    bench, motion, states, status, _, _ = full_turns(points, joints, slide=(1.0, -1.5))
    assert bench.groups[-1].name == "RPR dyad"
    assert (status == OK).all()
    assert bench.misses(states, motion).max() < 1e-12
    angle = states[:, :, 4]
    assert np.abs(np.diff(angle)).max() < 0.4
    assert np.abs(angle[:, -1] - 2 * np.pi * 3 * np.array([0, 1, 1, 1])).max() < 1e-12


def test_a_slider_crank_comes_back_every_turn():
    points = [(0.0, 0.0), (0.0, 1.0), (3.0, 0.0), (3.0, 0.0)]
    joints = ["crank rod R", "rod block R", "frame block P"]
    _, motion, states, status, _, _ = full_turns(points, joints, slide=(-1.0, 0.0))
    assert (status == OK).all()
    pin = states[3, :, 0] + 3.0
    crank = motion.value[0] + np.pi / 2
    wanted = np.cos(crank) + np.sqrt(10 - np.sin(crank) ** 2)
    assert np.abs(pin - wanted).max() < 1e-14
    assert np.abs(states[3, :, 4]).max() == 0
    assert np.abs(np.diff(states[2, :, 4])).max() < 0.4
    assert abs(states[2, -1, 4]) < 1e-12


def test_a_slide_passes_through_zero():
    """The block of an inverted slider-crank without offset runs through its zero."""
    points = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (2.0, 0.0)]
    joints = ["crank x R", "x y P", "frame y R"]
    bench, motion, states, status, _, _ = full_turns(points, joints, turns=1, slide=(2.0, -1.0))
    assert (status == OK).all()
    assert bench.misses(states, motion).max() < 1e-12
    c, s = states[2, :, 2], states[2, :, 3]
    along = np.stack([2 * c + s, 2 * s - c], 1) / np.sqrt(5)
    slide = ((states[3, :, :2] - states[2, :, :2]) * along).sum(1)
    assert slide.min() < -0.5
    assert slide.max() > 0.5


def test_an_input_that_starts_turns_away_leaves_the_angle_at_the_reference():
    four_bar = mbssa.load("planar_four_bar")
    geometry = dict(four_bar.joint_geometry)
    geometry[0] = replace(geometry[0], at_reference={"angle": 10.0})
    bench = Bench(replace(four_bar, joint_geometry=geometry))
    states = bench.solve(bench.swing())[0]
    assert bench.start[0] == pytest.approx(10.0)
    assert np.abs(states[:, 0, 4]).max() < 1e-14


@pytest.mark.parametrize("bodies", [[1, 2], [2, 1]])
def test_a_driven_wheel_rolls_and_slides_on_its_track(bodies):
    """On an inclined track, turned twice at the reference: as the equations say it, its centre on a line."""
    record = {"format": 1, "space": "planar"}
    record["body"] = [{"name": "wheel", "origin": [0.2, 0.5], "orientation": 0.3}]
    wheel = {"bodies": bodies, "type": "RD", "point": [0.1, 0.6], "axis": [0.8, 0.6], "radius": 0.25}
    wheel |= {"driven": ["roll", "slide"], "at_reference": {"roll": 4 * np.pi, "slide": 0.1}}
    mechanism = from_record(record | {"joint": [wheel]}, "wheel", "wheel")
    structure = mbssa.decompose(mechanism)
    model = groups.build(structure)
    assert [solver.name for solver in model.solvers] == ["driven RD"]
    assert model.reference_inputs == pytest.approx({"1-2.roll": 4 * np.pi, "1-2.slide": 0.1})
    roll, slide = model.reference_inputs.values()
    laws = {"1-2.roll": groups.speed(20.0, roll), "1-2.slide": groups.harmonic(0.2, 1.0, mean=slide)}
    motion = groups.sample(mechanism, laws, np.linspace(0.0, 1.0, 25))
    answer = model.solve(motion, compiled=False)
    oracle = groups.solve_globally(structure, motion, compiled=False)
    assert answer.ok
    assert answer.residual.max() < 1e-12
    for level in ("position", "orientation", "velocity", "acceleration"):
        miss = np.abs(getattr(answer, level) - getattr(oracle, level)).max()
        assert miss < 1e-12 * max(1.0, np.abs(getattr(oracle, level)).max())
    sense = 1.0 if bodies == [1, 2] else -1.0
    assert np.allclose(
        np.diff(answer.body("wheel").orientation), sense * np.diff(motion.value[0]), atol=1e-12
    )
    if bodies == [1, 2]:
        centre = answer.body("wheel").point([0.1, 0.6])
        assert np.abs((centre - [0.1, 0.6]) @ [-0.6, 0.8]).max() < 1e-14
