"""Joint coordinates of a solved motion, with their rates and accelerations, from the poses of its bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.rotations import twist_in_space
from mbssa import Joint
from mbssa.arrays import Bools, Floats, Ints
from mbssa.joints.axes import in_space
from mbssa.joints.catalogue import coordinate_unit
from mbssa.joints.equations import Body, Elementary, Equations, elementary_motion
from mbssa.joints.frames import Frames
from mbssa.joints.relations import JointRelations, Term

if TYPE_CHECKING:
    from groups.trajectory import Trajectory

#: Instants that are evaluated together: enough to amortise a call, few enough to stay in the cache.
BLOCK = 8_192


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Free coordinates of one joint over time.

    Angles are continuous over turns; the first instant's is the one nearest to the reference
    configuration's (``at_reference`` where the model gives it). Between two instants an angle goes the
    shorter way, unless its rate says that it made whole turns. Cardan angles, and azimuth and elevation of
    a rod, go on smoothly through their gimbal; at the gimbal itself (``angle_y`` or ``elevation`` ±90°)
    their rates are not finite.

    Attributes
    ----------
    joint : the joint's id
    names : the k free coordinates, in the order of the catalogue
    units : m or rad of each
    value : (T, k); NaN at instants where a body of the joint has no pose
    rates, accelerations : (T, k) per s and per s²; None where the trajectory did not keep that level

    Examples
    --------
    >>> import groups, mbssa
    >>> crank = mbssa.load("slider_crank_isostatic")
    >>> trajectory = groups.build(mbssa.decompose(crank)).solve(groups.constant_speed(crank, steps=5))
    >>> turn = trajectory.joint("1-2")
    >>> turn.names, turn.units, turn.value.shape
    (('angle',), ('rad',), (5, 1))
    >>> (turn["angle"].rate / np.pi).round(9).tolist()
    [2.0, 2.0, 2.0, 2.0, 2.0]
    """

    joint: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    value: Floats
    rates: Floats | None
    accelerations: Floats | None

    @property
    def rate(self) -> Floats:
        """(T, k), m/s or rad/s; a ValueError where velocities were not kept."""
        return kept_level(self.rates, "velocity")

    @property
    def acceleration(self) -> Floats:
        """(T, k), m/s² or rad/s²; a ValueError where accelerations were not kept."""
        return kept_level(self.accelerations, "acceleration")

    def __getitem__(self, name: str) -> CoordinateMotion:
        """One coordinate by its name.

        Raises
        ------
        KeyError
            No such coordinate: those that there are.
        """
        if name not in self.names:
            known = ", ".join(self.names)
            raise KeyError(f"joint {self.joint} has no coordinate {name!r}; it has {known}")
        k = self.names.index(name)
        return CoordinateMotion(
            f"{self.joint}.{name}",
            self.units[k],
            self.value[:, k],
            None if self.rates is None else self.rates[:, k],
            None if self.accelerations is None else self.accelerations[:, k],
        )


@dataclass(frozen=True, eq=False)
class CoordinateMotion:
    """One free coordinate over time: ``value``, ``rate`` and ``acceleration`` (T,), as in JointMotion."""

    name: str
    unit: str
    value: Floats
    rates: Floats | None = None
    accelerations: Floats | None = None

    @property
    def levels(self) -> tuple[Floats, ...]:
        """Value, rate and acceleration, as many as were kept."""
        return tuple(a for a in (self.value, self.rates, self.accelerations) if a is not None)

    @property
    def rate(self) -> Floats:
        """Rate (T,), m/s or rad/s; a ValueError where velocities were not kept."""
        return kept_level(self.rates, "velocity")

    @property
    def acceleration(self) -> Floats:
        """Acceleration (T,), m/s² or rad/s²; a ValueError where accelerations were not kept."""
        return kept_level(self.accelerations, "acceleration")


def kept_level(array: Floats | None, level: str) -> Floats:
    """The array of a level; a ValueError where it was not kept."""
    if array is None:
        raise ValueError(f"the {level} was not kept; solve with level={level!r}")
    return array


def coordinate_motion(trajectory: Trajectory, name: str) -> CoordinateMotion:
    """One coordinate by its name in the mechanism, at all instants; see :meth:`mbssa.Mechanism.place_of`."""
    joint, coordinate = trajectory.mechanism.place_of(name)
    return joint_motion(trajectory, joint)[coordinate]


def joint_motion(
    trajectory: Trajectory,
    joint: str | int | Joint,
    starts: Sequence[int] | Ints = (0,),
    near: Floats | None = None,
) -> JointMotion:
    """Coordinates of one joint at all instants: of a user's text, an index or a view."""
    # Where several motions stand one after another, angles are counted from the reference in each, from the
    # instants `starts` on. Of poses that are no motion each angle is next to that in `near` (T, k), or to the
    # reference's where that has none.
    mechanism = trajectory.mechanism
    if isinstance(joint, str):
        joint = mechanism.joint(joint)
    elif isinstance(joint, int) and -1 < joint < mechanism.n_joints:
        joint = mechanism.joints[joint]
    elif not isinstance(joint, Joint):
        raise KeyError(f"no joint {joint!r}; joints have ids, and indices from 0 to {mechanism.n_joints - 1}")
    rows, frames = joint.type.pair, trajectory.reference
    names = measured(trajectory, joint)
    if not names:
        bare = not frames.known[joint.index]
        why = "it has no geometry" if bare else f"type {joint.type.code} has no coordinates here"
        raise ValueError(f"joint {joint.id} cannot be measured: {why}")
    if rows is None:
        found = related_motion(trajectory, frames.relations[joint.index])
    else:
        parameters = {key: column[joint.index] for key, column in frames.parameters.items()}
        given = frames.at_reference(mechanism, joint.index)
        ends = frames.origin[joint.index], frames.axes[joint.index]
        found = pair_motion(trajectory, rows, names, joint.bodies, ends, parameters, given, starts, near)
    value, *rates = found
    units = tuple(coordinate_unit(one) for one in names)
    return JointMotion(joint.id, names, units, value, *rates, *[None] * (2 - len(rates)))


def measured(trajectory: Trajectory, joint: Joint) -> tuple[str, ...]:
    """Names of the coordinates of a joint that poses tell: of gears, rolling and cams not all."""
    frames = trajectory.reference
    if not frames.known[joint.index]:
        return ()
    if joint.index in frames.relations:
        return tuple(frames.relations[joint.index].coordinates)
    return joint.type.coordinates


def n_levels(trajectory: Trajectory) -> int:
    """Number of levels that were kept: 1 for positions alone, 2 with velocities, 3 with accelerations."""
    return 1 + (trajectory.velocity is not None) + (trajectory.acceleration is not None)


def related_motion(trajectory: Trajectory, relations: JointRelations) -> list[Floats]:
    """Coordinates of a joint that are sums of terms, with those rates that were kept, (T, k) each."""
    # Angles of bodies in the plane count their turns themselves; those of pairs of frames go on from instant
    # to instant as all angles do.
    columns = []
    for relation in relations.coordinates.values():
        parts = [_term_motion(trajectory, relations, term) for term in relation.terms]
        levels = [
            sum(
                (term.factor * part[level] for term, part in zip(relation.terms, parts, strict=True)),
                start=0.0,
            )
            for level in range(len(parts[0]))
        ]
        levels[0] = levels[0] - relation.constant
        columns.append(levels)
    return [np.stack(level, axis=1) for level in zip(*columns, strict=True)]


def _term_motion(trajectory: Trajectory, relations: JointRelations, term: Term) -> list[Floats]:
    """One term at all instants, (T,) each: value and those rates that were kept."""
    pair = relations.pairs[term.pair]
    a, b = pair.bodies
    if term.kind == "turned":
        return _turned(trajectory, b)
    elementary = Elementary("azimuth") if term.kind == "line" else term.elementary
    found = pair_motion(
        trajectory,
        Equations((), (elementary,), ()),
        ("angle" if term.is_angle else "slide",),
        (a + 1, b + 1),
        (pair.origin, pair.axes),
        {"value": np.float64(term.parameter)},
        {},
    )
    columns = [level[:, 0] for level in found]
    if term.kind == "line":
        # The azimuth is seen from A, the line's angle from the world.
        columns = [column + turned for column, turned in zip(columns, _turned(trajectory, a), strict=True)]
        columns[0] = columns[0] + np.arctan2(pair.axes[0][1, 0], pair.axes[0][0, 0])
    return columns


def _turned(trajectory: Trajectory, body: int) -> list[Floats]:
    """Angle of a body in the plane at all instants, which counts turns, and those rates that were kept."""
    if body == 0:
        return [np.zeros(len(trajectory.time))] * n_levels(trajectory)
    of = trajectory.body(body + 1)
    if of.orientation.ndim > 1:  # lifted into space: a quaternion counts no turns
        return turn_motion(trajectory, body)
    found = [of.orientation]
    if trajectory.velocity is not None:
        found.append(of.velocity[:, 2])
    if trajectory.acceleration is not None:
        found.append(of.acceleration[:, 2])
    return found


def turn_motion(trajectory: Trajectory, body: int, starts: Sequence[int] | Ints = (0,)) -> list[Floats]:
    """Angle of a body about the world's z at all instants, turns counted, and those rates that were kept."""
    about = Equations((), (Elementary("turn", (1, 0, 0, 0)),), ())
    ends = np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1))
    found = pair_motion(trajectory, about, ("angle",), (1, body + 1), ends, {}, {}, starts)
    return [level[:, 0] for level in found]


def pair_motion(
    trajectory: Trajectory,
    rows: Equations,
    names: tuple[str, ...],
    numbers: tuple[int, ...],
    ends: tuple[Floats, Floats],
    parameters: Mapping[str, np.float64],
    at_reference: Mapping[str, float],
    starts: Sequence[int] | Ints = (0,),
    near: Floats | None = None,
) -> list[Floats]:
    """Coordinates of a pair of frames, with those rates that were kept, (T, k) each."""
    # `ends` are the origins (2, 3) and axes (2, 3, 3) of the frames in the bodies' own.
    frames, n, k = trajectory.reference, len(trajectory.time), len(rows.coordinates)
    found = [np.empty((n, k)) for _ in range(n_levels(trajectory))]
    for start in range(0, n, BLOCK):
        block = slice(start, start + BLOCK)
        part = trajectory.instants(block)
        bodies = [body_motion(part, frames, number) for number in numbers]
        for whole, piece in zip(found, _levels(rows, bodies, ends, parameters), strict=True):
            whole[block] = piece
    there: list[Body] = []
    for number in numbers:
        one = slice(number - 1, number)
        there.append((frames.position[one], frames.rotation[one], None, None))
    principal = _levels(rows, there, ends, parameters)[0][0]
    said = np.array([at_reference.get(name, principal[c]) for c, name in enumerate(names)])
    if near is not None:
        starts = np.arange(n)
        said = np.tile(said, (n, 1))
        if near.size:
            said = np.where(np.isfinite(near), near, said)
        principal = said
    turned = None
    if trajectory.orientation.ndim == 2:
        first, second = (_turned(trajectory, number - 1)[0] for number in numbers)
        turned = second - first
    _make_continuous(found, trajectory.time, rows, names, principal, said, turned, starts)
    return found


def _levels(
    rows: Equations, bodies: Sequence[Body], ends: tuple[Floats, Floats], parameters: Mapping[str, np.float64]
) -> list[Floats]:
    with np.errstate(invalid="ignore", divide="ignore"):
        return elementary_motion(rows.coordinates, bodies, ends, parameters)


def chosen_coordinates(trajectory: Trajectory, joints: str | Sequence[str]) -> list[CoordinateMotion]:
    """Coordinates of the joints and coordinates named, or of ``"driven"`` ones, or of ``"all"`` joints."""
    mechanism = trajectory.mechanism
    if joints == "driven":
        wanted = [(joint, joint.driven) for joint in mechanism.joints if joint.driven]
    elif joints == "all":
        wanted = [(joint, measured(trajectory, joint)) for joint in measurable(trajectory)]
    else:
        wanted = [_named(trajectory, name) for name in ([joints] if isinstance(joints, str) else joints)]
    chosen = []
    for joint, names in wanted:
        motion = joint_motion(trajectory, joint)
        chosen += [motion[name] for name in names]
    return chosen


def measurable(trajectory: Trajectory) -> list[Joint]:
    """Joints whose coordinates the poses of the bodies that were kept tell."""
    kept = {0, *trajectory.kept.tolist()}
    mechanism = trajectory.mechanism
    return [
        joint
        for joint in mechanism.joints
        if measured(trajectory, joint) and kept.issuperset(mechanism.joint_bodies(joint.index))
    ]


def _named(trajectory: Trajectory, name: str) -> tuple[Joint, tuple[str, ...]]:
    mechanism = trajectory.mechanism
    joint, _, coordinate = name.rpartition(".")
    if joint and name not in mechanism.joint_ids:
        return mechanism.joint(joint), (coordinate,)
    found = mechanism.joint(name)
    return found, measured(trajectory, found)


# --- one block of instants ---------------------------------------------------------------------------


def body_motion(part: Trajectory, frames: Frames, number: int) -> Body:
    """A body's motion in space; the frame stands still whether it was kept or not."""
    n = len(part.time)
    if number == 1:
        still = np.zeros((n, 6))
        return (
            np.broadcast_to(frames.position[0], (n, 3)),
            np.broadcast_to(frames.rotation[0], (n, 3, 3)),
            None if part.velocity is None else still,
            None if part.acceleration is None else still,
        )
    body = part.body(number)
    return (
        in_space(body.position),
        body.rotation,
        None if part.velocity is None else twist_in_space(body.velocity),
        None if part.acceleration is None else twist_in_space(body.acceleration),
    )


def carried(body: Body, local: Floats, is_place: bool = False) -> list[Floats]:
    """A vector (3,) of a body's own axes in the world (n, 3), or its place; with the rates that were kept."""
    position, rotation, velocity, acceleration = body
    arm = rotation @ local
    levels = [arm + position if is_place else arm]
    if velocity is not None:
        spin = velocity[:, 3:]
        turned = np.cross(spin, arm)
        levels.append(velocity[:, :3] + turned if is_place else turned)
        if acceleration is not None:
            bent = np.cross(acceleration[:, 3:], arm) + np.cross(spin, turned)
            levels.append(acceleration[:, :3] + bent if is_place else bent)
    return levels


# --- continuity --------------------------------------------------------------------------------------


def _make_continuous(
    found: list[Floats],
    time: Floats,
    rows: Equations,
    names: tuple[str, ...],
    principal: Floats,
    said: Floats,
    turned: Floats | None,
    starts: Sequence[int] | Ints,
) -> None:
    """Turn principal angles into continuous ones that start at the reference, in place."""
    # The angle `turned` (T,) of the second body against the first, known in the plane, counts turns. Before
    # the motion that begins at each of `starts` comes a row for the reference, one for all or one for each.
    value = found[0]
    sound = np.flatnonzero(np.isfinite(value).all(axis=1))
    if not len(sound):
        return
    begins = np.searchsorted(sound, starts)
    first = begins + np.arange(len(begins))
    path = np.insert(value[sound], begins, principal, axis=0)
    solved = np.ones(len(path), dtype=np.bool_)
    solved[first] = False
    for k, e in enumerate(rows.coordinates):
        if e.kind not in ("cardan", "elevation"):
            continue
        beside = [k - 1, k + 1] if e.kind == "cardan" else [k - 1]
        other = _over_the_gimbal(path, k, beside, said, first)
        path[other, k] = np.pi - path[other, k]
        path[:, beside] += np.where(other, np.pi, 0.0)[:, None]
        for derivative in found[1:]:
            derivative[sound[other[solved]], k] *= -1.0
    speeds = found[1][sound] if len(found) > 1 else None
    accelerations = found[2][sound] if len(found) > 2 else None
    for k, name in enumerate(names):
        if coordinate_unit(name) == "rad" and rows.coordinates[k].parameter is None:
            advance = np.zeros(len(sound))
            if turned is not None and rows.coordinates[k].kind == "turn":
                advance[1:] = rows.coordinates[k].sign * np.diff(turned[sound])
            elif speeds is not None:
                bent = None if accelerations is None else accelerations[:, k]
                # Across a gap the shorter rotation counts: rates do not predict the motion inside.
                advance[1:] = np.where(np.diff(sound) > 1, 0.0, _expected(time[sound], speeds[:, k], bent))
            expected = np.zeros(len(path))
            expected[solved] = advance
            expected[(first + 1)[first + 1 < len(path)]] = 0.0  # the shorter way from the reference
            before = np.roll(path[:, k], 1)
            before[first], expected[first] = 0.0, said[..., k]
            steps = path[:, k] - before - expected
            path[:, k] -= 2 * np.pi * _summed(np.round(steps / (2 * np.pi)), first)
    value[sound] = path[solved]


def _summed(steps: Floats, first: Ints) -> Floats:
    """Sums of the steps up to each one, which begin at those that are ``first``."""
    total = np.cumsum(steps)
    found: Floats = total - np.repeat((total - steps)[first], np.diff(first, append=len(steps)))
    return found


def _over_the_gimbal(path: Floats, middle: int, beside: list[int], said: Floats, first: Ints) -> Bools:
    """Instants (n,) at which continuity needs the other set of angles of the same rotation."""
    # With y for the middle angle, (x, y, z) and (x + π, π - y, z + π) are one rotation; principal values have
    # cos y ≥ 0 and so jump from one path to the other where a motion goes over the gimbal.
    before = np.roll(path, 1, axis=0)
    before[first] = said
    columns = [middle, *beside]
    step = path[:, columns] - before[:, columns]
    other = step + np.pi
    other[:, 0] = np.pi - path[:, middle] - before[:, middle]
    switch = np.cos(other).sum(axis=1) > np.cos(step).sum(axis=1)
    over: Bools = _summed(switch.astype(float), first) % 2 == 1
    return over


def _expected(time: Floats, rate: Floats, acceleration: Floats | None) -> Floats:
    """Advance from each instant to the next by the rates, where they are reliable, else zero."""
    # They are where the rate changes by less than half a turn per step, unlike near a dead point, or by as
    # much as the accelerations give.
    step = np.diff(time)
    advance, change = step * (rate[1:] + rate[:-1]) / 2, step * np.diff(rate)
    steady = np.abs(change) < np.pi
    if acceleration is not None:
        bend = step**2 * (acceleration[1:] + acceleration[:-1]) / 2
        steady |= np.abs(change - bend) < np.pi
        advance -= step**2 * np.diff(acceleration) / 12
    return np.where(steady, advance, 0.0)
