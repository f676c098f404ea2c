"""Random mechanisms in space, and the same mechanism in another world: moved, turned, mirrored, scaled.

A mechanism is seen in another world through the canonical frames of its joints. A mirror makes left-handed
frames of right-handed ones, so the y axis of every frame changes its sense: turns about z and x change their
sign, and so do slides along y; turns about y and all other lengths keep theirs. A wheel stands on the other
side of its track, whose radius is then negative; profiles run the other way, and a flat face looks back.
"""

import re
from dataclasses import dataclass, replace

import numpy as np

import groups
import mbssa
from groups.rotations import rotation_of
from groups.trajectory import STATUS
from mbssa.faults import Faults
from mbssa.io.profile import profile_of
from mbssa.joints import joint_type
from mbssa.joints.catalogue import coordinate_unit
from mbssa.joints.equations import pose
from mbssa.joints.frames import joint_frames
from mbssa.joints.user import UserFunction
from mbssa.mechanism import BodyGeometry, JointFrame, JointGeometry

#: Coordinates that change their sign in a mirror.
TURNED_ROUND = {"angle", "angle_1", "angle_2", "angle_x", "angle_z", "azimuth", "roll", "y", "slide_y"}

#: The bodies "a" and "b" that carry a random group: both move, one of them freely.
CARRIERS = ("frame a F x y z angle_x angle_y angle_z", "frame b R angle")

#: Joints of groups without a closed form between the bodies "a" and "b".
OTHERS = {
    "H-U-S": ["a x H", "x y U", "y b S"],
    "RCCC": ["a x C", "x y C", "b y C"],
    "driven R, CCC": ["a x R angle", "x y C", "y z C", "z b C"],
    "3R1C1ER": ["a x R", "x y R", "y z R", "z w C slide", "w b ER"],
    "6R, one driven between": ["a x R", "x y R", "y z R", "z u R", "u v R", "v w R angle", "w b R"],
    "platform on three R-S": ["a u R", "u p S", "a v R", "v p S", "b w R", "w p S"],
    "six rods": [*["a x SPSP"] * 3, *["b x SPSP"] * 3],
    "six lengths": [*["a x DIST distance"] * 3, *["b x DIST distance"] * 3],
    "spheres in cylinders": ["a x SC", "b x SC", "a x SP", "b x SPSP"],
    "cylinders on planes": ["a x PC", "b x PC", "a x SP", "b x SPSP"],
    "slotted cylinder": ["a x CR", "b x PC", "b x SP"],
    "plane": ["a x PL", "b x SP", "b x SPSP", "a x SPSP"],
}  # fmt: skip


def rotation(rng):
    """A random rotation (3, 3)."""
    turn, triangle = np.linalg.qr(rng.normal(size=(3, 3)))
    turn = turn * np.sign(np.diag(triangle))
    return turn * np.linalg.det(turn)


def quaternion(turn):
    """The unit quaternion of a rotation (3, 3), as a model file has it."""
    return tuple(groups.rotations.quaternion_of(turn[None, None])[0, 0].tolist())


def random_mechanism(joints, seed, offset=0.0):
    """A mechanism of joints "first second TYPE driven…" that closes at its reference by construction.

    Bodies stand anywhere, joints have frames of their own on either body. Odd seeds turn every joint round:
    its second body comes first. ``offset`` is that of universal joints.
    """
    rng = np.random.default_rng(seed)
    rows = [joint.split() for joint in joints]
    if seed % 2:
        rows = [(b, a, *rest) for a, b, *rest in rows]
    bodies = ["frame", *sorted({b for row in rows for b in row[:2]} - {"frame"})]
    place = {name: (rng.uniform(-1, 1, 3), rotation(rng)) for name in bodies}
    place["frame"] = (np.zeros(3), np.eye(3))
    pairs, geometry = [], {}
    for k, (first, second, code, *driven) in enumerate(rows):
        pairs.append((bodies.index(first) + 1, bodies.index(second) + 1, code, driven))
        sizes = {"length": rng.uniform(0.5, 2), "pitch": rng.uniform(0.1, 0.5), "offset": offset,
                 "radius": rng.uniform(0.1, 0.5)}  # fmt: skip
        given = {name: np.array([size]) for name, size in sizes.items()}
        row = joint_type(code, "spatial")
        at = rng.uniform(-1, 1, (1, row.grade))
        d, C, _ = pose(row.pair, at, given)
        origin, axes = rng.uniform(-1, 1, 3), rotation(rng)
        frames = []
        for body, (point, turn) in ((first, (origin, axes)), (second, (origin + axes @ d[0], axes @ C[0]))):
            base, stands = place[body]
            frames.append(_frame(stands.T @ (point - base), stands.T @ turn))
        geometry[k] = JointGeometry(
            frames=tuple(frames),
            length=sizes["length"] if code == "SPSP" else None,
            pitch=sizes["pitch"] if code == "H" else None,
            radius=sizes["radius"] if code in ("PC", "SP") else None,
            offsets=(offset,) if code in ("U", "ER") and offset else None,
        )
    standing = {
        k: BodyGeometry(origin=tuple(place[name][0].tolist()), orientation=quaternion(place[name][1]))
        for k, name in enumerate(bodies)
        if name != "frame"
    }
    made = mbssa.from_pairs(bodies, pairs, "spatial")
    return replace(made, joint_geometry=geometry, body_geometry=standing)


def _frame(origin, axes):
    return JointFrame(tuple(origin.tolist()), z=tuple(axes[:, 2].tolist()), x=tuple(axes[:, 0].tolist()))


@dataclass(frozen=True)
class World:
    """Another world: ``turn`` is orthogonal (3, 3), a mirror where its determinant is -1."""

    turn: np.ndarray
    shift: np.ndarray
    scale: float = 1.0

    @property
    def flip(self):
        """What a mirror does to the axes of every body (3, 3)."""
        return np.diag([1.0, np.linalg.det(self.turn), 1.0])

    def place(self, points):
        return self.scale * points @ self.turn.T + self.shift

    @property
    def side(self):
        """-1 in a mirror, else 1."""
        return float(np.sign(np.linalg.det(self.turn)))

    def mechanism(self, base):
        """A mechanism as it stands in this world."""
        old, flat = joint_frames(base), base.space == "planar"
        geometry, standing = {}, {}
        for j, given in base.joint_geometry.items():
            code = base.joints[j].type.code
            if base.joints[j].type.contacts:
                geometry[j] = JointGeometry(
                    points=tuple(tuple(self.place(np.array(p)).tolist()) for p in given.points),
                    axes=tuple(tuple((self.turn @ n).tolist()) for n in given.axes),
                )
                continue
            if code == "USER":
                geometry[j] = replace(given, function=self.function(base, j))
                continue
            frames = []
            for side, body in enumerate(base.joint_bodies(j)[:2]):
                origin, axes = old.origin[j, side], old.axes[j, side]
                if body:
                    origin, axes = self.scale * self.flip @ origin, self.flip @ axes @ self.flip
                else:  # the frame stays the world's own
                    origin, axes = self.place(origin), self.turn @ axes @ self.flip
                if side and code == "L" and given.profile["follower"] == "flat":
                    axes = axes @ np.diag([self.side, self.side, 1.0])
                frame = _frame(origin, axes)
                frames.append(JointFrame(frame.origin[:2], x=frame.x[:2]) if flat else frame)
            sizes = {
                name: self.scale * float(old.parameters[name][j])
                for name in ("length", "radius")
                if old.parameters[name][j]
            }
            if code in ("RP", "RD"):
                sizes["radius"] *= self.side
            offset, pitch = (self.sign("angle") * self.scale * float(old.parameters[n][j])
                             for n in ("offset", "pitch"))  # fmt: skip
            geometry[j] = JointGeometry(
                frames=tuple(frames),
                at_reference={name: self.sign(name) * v for name, v in given.at_reference.items()},
                offsets=(offset,) if offset else None,
                pitch=pitch if pitch else None,
                ratio=given.ratio,
                profile=None if given.profile is None else self.profile(given.profile),
                **sizes,
            )
        for body in range(1, base.n_bodies):
            turn = self.turn @ old.rotation[body] @ self.flip
            place = self.place(old.position[body])
            standing[body] = (
                BodyGeometry(tuple(place[:2].tolist()), (float(np.arctan2(turn[1, 0], turn[0, 0])),))
                if flat
                else BodyGeometry(tuple(place.tolist()), quaternion(turn))
            )
        return replace(base, joint_geometry=geometry, body_geometry=standing)

    def profile(self, given):
        """A profile as it is here; frames of a mirror's are turned round as those of the bodies."""
        faults = Faults()
        scaled = dict(profile_of(given, self.scale, 1.0, "profile", faults).table)
        assert not faults
        return scaled if self.side > 0 else _mirrored(scaled)

    def function(self, base, j):
        """A user's function, in the plane, of poses here: it is asked about those where it comes from."""
        given, bodies = base.joint_geometry[j], base.joint_bodies(j)
        assert base.space == "planar"
        assert 0 not in bodies
        call = UserFunction(given.function, len(bodies), True).resolve().function
        turn, away = np.ascontiguousarray(self.turn[:2, :2]), self.shift[:2].copy()
        angle, side = float(np.arctan2(turn[1, 0], turn[0, 0])), self.side
        scale, size = self.scale, self.scale if given.unit == "m" else 1.0

        def there(q):
            back = np.empty_like(q)
            x, y = (q[:, 0] - away[0]) / scale, (q[:, 1] - away[1]) / scale
            back[:, 0], back[:, 1] = turn[0, 0] * x + turn[1, 0] * y, turn[0, 1] * x + turn[1, 1] * y
            back[:, 2] = side * (q[:, 2] - angle)
            return size * call(back)

        return there

    def sign(self, coordinate):
        """Factor of a coordinate's value."""
        size = self.scale if coordinate_unit(coordinate) == "m" else 1.0
        return -size if coordinate in TURNED_ROUND and np.linalg.det(self.turn) < 0 else size

    def motion(self, motion):
        """The same inputs in this world."""
        factor = np.array([[self.sign(name.rpartition(".")[2])] for name in motion.names])
        return groups.Motion(
            motion.time, motion.names, motion.value * factor, motion.rate * factor,
            motion.acceleration * factor,
        )  # fmt: skip

    def misses(self, here, there):
        """Largest differences of what is ``there`` from what is ``here`` seen in this world.

        Of positions (over the scale), rotations, and both rates, each over its largest number or 1.
        """
        here, there = here.spatial(), there.spatial()
        own = slice(1, None)  # the frame stays the world's own
        axial = np.linalg.det(self.turn) * self.turn
        position = self.place(here.position[:, own]) - there.position[:, own]
        turn = self.turn @ rotation_of(here.orientation[:, own]) @ self.flip
        found = [np.abs(position).max() / self.scale]
        found.append(np.abs(turn - rotation_of(there.orientation[:, own])).max())
        for one, two in ((here.velocity, there.velocity), (here.acceleration, there.acceleration)):
            linear = one[:, own, :3] @ self.turn.T - two[:, own, :3] / self.scale
            angular = one[:, own, 3:] @ axial.T - two[:, own, 3:]
            size = max(1.0, np.abs(one).max())
            found.append(max(np.abs(linear).max(), np.abs(angular).max()) / size)
        return found


def _mirrored(profile):
    """The table of a profile whose y axis is turned round: the material stays on its left."""
    changed = dict(profile)
    if "law" in profile:
        clockwise = profile.get("turns") == "clockwise"
        changed["turns"] = "counter-clockwise" if clockwise else "clockwise"
        changed["offset"] = -profile.get("offset", 0.0)
        if "swing" in profile:
            left = profile["swing"].get("side", "left") == "left"
            del changed["offset"]
            changed["swing"] = profile["swing"] | {"side": "right" if left else "left"}
        if profile["follower"] == "flat":
            changed.pop("offset", None)
    else:
        curve = dict(profile["formula"])
        back = {key: re.sub(r"\bs\b", "(-s)", curve[key]) for key in "xy"}
        begin, end = curve["range"]
        changed["formula"] = curve | {"x": back["x"], "y": f"-({back['y']})", "range": [-end, -begin]}
    if isinstance(profile["follower"], dict):
        changed["follower"] = {"curve": _mirrored({"follower": None, **profile["follower"]["curve"]})}
        del changed["follower"]["curve"]["follower"]
    return changed


def swing(model, amplitude=0.05, steps=41, duration=1.0, seed=0):
    """A motion from the reference: all inputs swing, each with a phase of its own; exact rates."""
    start = np.array(list(model.reference_inputs.values()))[:, None]
    phase = np.random.default_rng(seed).uniform(0, 2 * np.pi, start.shape)
    t, w = np.linspace(0, duration, steps), 2 * np.pi
    value = start + amplitude * (np.sin(w * t + phase) - np.sin(phase))
    rate, second = amplitude * w * np.cos(w * t + phase), -amplitude * w * w * np.sin(w * t + phase)
    return groups.Motion(t, tuple(model.reference_inputs), value, rate, second)


def distance(one, two):
    """Largest differences of two trajectories: positions, orientations, and rates over their size."""
    found = [np.abs(one.position - two.position).max(), _turned(one, two)]
    for a, b in ((one.velocity, two.velocity), (one.acceleration, two.acceleration)):
        found.append(np.abs(a - b).max() / max(1.0, np.abs(a).max()))
    return found


def _turned(one, two):
    if one.planar:
        return np.abs(np.exp(1j * one.orientation) - np.exp(1j * two.orientation)).max()
    return np.abs(rotation_of(one.orientation) - rotation_of(two.orientation)).max()


def slopes(model, motion_of, steps):
    """How far rates are from central differences of steps of 1 / (steps - 1) at the same ten instants."""
    motion = motion_of(steps)
    trajectory = model.solve(motion).spatial()
    assert trajectory.ok, trajectory.faults()
    h = motion.time[1] - motion.time[0]
    at = np.arange(1, 10) * (steps - 1) // 10
    turn = rotation_of(trajectory.orientation)
    bent = (turn[at + 1] - turn[at - 1]) / (2 * h) @ turn[at].swapaxes(-1, -2)
    spin = np.stack([bent[..., 2, 1], bent[..., 0, 2], bent[..., 1, 0]], axis=-1)
    slope = (trajectory.position[at + 1] - trajectory.position[at - 1]) / (2 * h)
    second = (trajectory.velocity[at + 1] - trajectory.velocity[at - 1]) / (2 * h)
    return (
        np.abs(slope - trajectory.velocity[at][..., :3]).max(),
        np.abs(spin - trajectory.velocity[at][..., 3:]).max(),
        np.abs(second - trajectory.acceleration[at]).max(),
    )


def statuses(trajectory):
    """Names of the statuses that occur, in the order of their numbers."""
    return [STATUS[code] for code in np.unique(trajectory.status).tolist()]


def largest_step(trajectory, within=np.inf):
    """The longest way (m) of any body between neighbours that are sound and so near to the origin."""
    sound = (trajectory.status == 0).all(axis=1)
    sound &= np.nan_to_num(np.abs(trajectory.position)).max(axis=(1, 2)) < within
    ways = np.abs(np.diff(trajectory.position, axis=0)).max(axis=(1, 2))
    return np.where(sound[1:] & sound[:-1], ways, 0.0).max()
