"""Planar closed forms on random geometry: every mode closes every joint, rates are derivatives, faults are said."""

from dataclasses import replace

import numpy as np
import pytest

import mbssa
from groups.closed_form.planar import encode_planar, planar_state
from groups.global_approach import solve_globally
from groups.kernels.planar import solve_planar
from groups.kernels.status import OK
from groups.motion import Motion, driven_coordinates, reference_inputs
from groups.tree import open_group
from mbssa.compiled import compiled
from mbssa.joints.equations import PLANAR, coordinates, pose, residuals
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import Configuration
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
LED = {
    "R": ["a x R angle"],
    "P": ["a x P slide"],
    "FP": ["a x FP x y angle"],
    "SLOT": ["a x SLOT slide angle"],
    "ROD": ["a x ROD azimuth angle"],
}

#: The bodies that carry the group move too.
CARRIERS = ["frame a FP x y angle", "frame b R angle"]


class Bench:
    """A random mechanism around one group, and the encoded groups of it."""

    def __init__(self, mechanism):
        self.mechanism = mechanism
        self.structure = mbssa.decompose(mechanism)
        self.frames = joint_frames(mechanism)
        self.reference = Configuration.reference(self.frames)
        drives = {}
        for joint in mechanism.joints:
            for name in joint.driven:
                drives[joint.index, name] = len(drives)
        trees = [open_group(group, self.frames) for group in self.structure.groups]
        self.groups = [
            encode_planar(tree, mechanism, self.frames, self.reference, drives) for tree in trees
        ]

    @property
    def start(self):
        return reference_inputs(self.mechanism, self.frames, self.reference)

    def swing(self, amplitude=0.05, steps=41, duration=1.0, seed=0):
        """A motion from the reference: all inputs swing, with their rates."""
        t = np.linspace(0, duration, steps)
        phase = np.random.default_rng(seed).uniform(0, 2 * np.pi, (len(self.start), 1))
        w = 2 * np.pi
        value = self.start[:, None] + amplitude * (np.sin(w * t + phase) - np.sin(phase))
        rate, second = amplitude * w * np.cos(w * t + phase), -amplitude * w * w * np.sin(w * t + phase)
        return Motion(t, driven_coordinates(self.mechanism), value, rate, second)

    def solve(self, motion, memories=None, level=2, block=16):
        """States (N, T, 11), status, residual and condition (G, T), in blocks as the driver solves them."""
        steps, n = len(motion.time), len(self.groups)
        inputs = tuple(np.ascontiguousarray(part) for part in (motion.value, motion.rate, motion.acceleration))
        quality = (
            np.full((n, steps), 99, np.int8), np.full((n, steps), np.nan),
            np.zeros((n, steps), np.int32), np.full((n, steps), np.nan),
        )  # fmt: skip
        states = np.zeros((self.mechanism.n_bodies, steps, 11))
        S = np.zeros((self.mechanism.n_bodies, block, 11))
        S[0] = planar_state(self.reference)[0]
        memories = [group.memory.copy() for group in self.groups] if memories is None else memories
        kernel = compiled(solve_planar)
        for first in range(0, steps, block):
            count = min(block, steps - first)
            for g, group in enumerate(self.groups):
                kernel(g, group.ints, group.floats, S, first, count, inputs, memories[g], quality, level)
            states[:, first : first + count] = S[:, :count]
        return states, quality[0], quality[1], quality[3]

    def misses(self, states, motion):
        """Largest miss (T,) of any equation of any joint, constraint or input, m and rad."""
        worst = np.zeros(states.shape[1])
        row = 0
        for joint in self.mechanism.joints:
            rows, n = PLANAR[joint.type.code], states.shape[1]
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
            worst = np.maximum(worst, np.abs(residuals(rows, d, C, given)[0]).max(axis=1, initial=0.0))
            found = coordinates(rows, d, C, given)[0]
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
        q = rng.uniform(-1, 1, (1, len(mbssa.joints.joint_type(code, "planar").coordinates)))
        given = {"length": np.array([length])}
        d, C, _ = pose(PLANAR[code], q, given)
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


def benches(joints, wanted=3, least=0.15, **world):
    """Random mechanisms whose closing is well conditioned over the swing, the first few that come."""
    found = 0
    for seed in range(60):
        bench = Bench(mechanism_of([*CARRIERS, *joints], seed, **world))
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
        assert (group.name, group.n_modes) == (name, modes)
        motion = bench.swing()
        states, status, residual, condition = bench.solve(motion)
        assert (status == OK).all()
        assert residual.max() < 1e-13
        assert ((condition > 0) & (condition <= 1 + 1e-15)).all()
        assert bench.misses(states, motion).max() < 1e-12
        oracle = solve_globally(bench.structure, motion)
        assert oracle.ok
        scale = 1 / condition.min()
        assert np.abs(oracle.position - states[:, :, :2].transpose(1, 0, 2)).max() < 1e-11 * scale
        assert np.abs(oracle.orientation - states[:, :, 4].T).max() < 1e-11 * scale
        for level, part in ((oracle.velocity, states[:, :, 5:8]), (oracle.acceleration, states[:, :, 8:11])):
            assert np.abs(level - part.transpose(1, 0, 2)).max() < 1e-10 * scale**2 * max(
                1, np.abs(level).max()
            )
        assert np.abs(np.exp(1j * states[:, :, 4]) - states[:, :, 2] - 1j * states[:, :, 3]).max() < 1e-14
