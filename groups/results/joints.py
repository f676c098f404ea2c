"""Motions of bodies, points and joint coordinates of a trajectory, with rates and accelerations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.rotations import plane_rotation, rotation_of, twist_in_space
from mbssa import Joint, Mechanism
from mbssa.arrays import Floats, Ints
from mbssa.joints.axes import in_space
from mbssa.joints.catalogue import coordinate_unit
from mbssa.joints.equations import Body, Elementary, Functions, elementary_motion
from mbssa.joints.relations import PairFrames, Term

if TYPE_CHECKING:
    from groups.trajectory import Trajectory

#: Instants that are evaluated together: enough to amortise a call, few enough to stay in the cache.
BLOCK = 8_192


class Levels:
    """Values over time, with those derivatives that were kept."""

    value: Floats
    rates: Floats | None
    accelerations: Floats | None

    @property
    def levels(self) -> tuple[Floats, ...]:
        """Value, rate and acceleration, as many as were kept."""
        return tuple(a for a in (self.value, self.rates, self.accelerations) if a is not None)

    @property
    def rate(self) -> Floats:
        """Like ``value``, m/s or rad/s; a ValueError where velocities were not kept."""
        return kept_level(self.rates, "velocity")

    @property
    def acceleration(self) -> Floats:
        """Like ``value``, m/s² or rad/s²; a ValueError where accelerations were not kept."""
        return kept_level(self.accelerations, "acceleration")


@dataclass(frozen=True, eq=False)
class CoordinateMotion(Levels):
    """One free coordinate over time: ``value``, ``rate`` and ``acceleration`` (T,), as in JointMotion."""

    name: str
    unit: str
    value: Floats
    rates: Floats | None = None
    accelerations: Floats | None = None


@dataclass(frozen=True, eq=False)
class JointMotion(Levels):
    """Free coordinates of one joint over time.

    Angles are continuous over turns; the first instant's is the one nearest to the reference
    configuration's (``at_reference`` where the model gives it). Between two instants an angle goes the
    shorter way, unless its rate says that it made whole turns. Cardan angles, and azimuth and elevation of
    a rod, go on smoothly through their gimbal; at the gimbal itself (``angle_y`` or ``elevation`` ±90°)
    their rates are not finite.

    Attributes
    ----------
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
    rates: Floats | None = None
    accelerations: Floats | None = None

    def __getitem__(self, name: str) -> CoordinateMotion:
        """One coordinate by its name; a KeyError that names those that there are."""
        if name not in self.names:
            known = ", ".join(self.names)
            raise KeyError(f"joint {self.joint} has no coordinate {name!r}; it has {known}")
        k = self.names.index(name)
        return CoordinateMotion(f"{self.joint}.{name}", self.units[k], *(part[:, k] for part in self.levels))


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """View of one body of a trajectory; arrays as there, without the axis of the bodies.

    Points of the body are names of the model, or world coordinates at the reference configuration.

    >>> import groups, mbssa
    >>> crank = mbssa.load("planar_four_bar")
    >>> trajectory = groups.build(mbssa.decompose(crank)).solve(groups.constant_speed(crank, steps=5))
    >>> coupler = trajectory.body("coupler")
    >>> coupler.point("tracer").shape, coupler.point_velocity("tracer").shape, coupler.rotation.shape
    ((5, 2), (5, 2), (5, 3, 3))
    """

    trajectory: Trajectory
    index: int
    place: int

    @property
    def position(self) -> Floats:
        """(T, 3) or (T, 2) m, of the body's own origin."""
        return self.trajectory.position[:, self.place]

    @property
    def orientation(self) -> Floats:
        """(T, 4) unit quaternion w, x, y, z; planar: (T,) rad."""
        return self.trajectory.orientation[:, self.place]

    @property
    def velocity(self) -> Floats:
        """(T, 6) or (T, 3), m/s and rad/s; a ValueError where velocities were not kept."""
        return kept_level(self.trajectory.velocity, "velocity")[:, self.place]

    @property
    def acceleration(self) -> Floats:
        """(T, 6) or (T, 3), m/s² and rad/s²; a ValueError where accelerations were not kept."""
        return kept_level(self.trajectory.acceleration, "acceleration")[:, self.place]

    @property
    def rotation(self) -> Floats:
        """(T, 3, 3) rotation matrices: columns are the body's axes in the world's."""
        return (plane_rotation if self.trajectory.planar else rotation_of)(self.orientation)

    def point(self, at: str | Sequence[float]) -> Floats:
        """(T, 3) or (T, 2) path of a point of the body, m; a KeyError where it has none of that name."""
        return self.point_levels(at)[0]

    def point_velocity(self, at: str | Sequence[float]) -> Floats:
        """(T, 3) or (T, 2) m/s: v + ω × r; raises as :meth:`point` and :attr:`velocity`."""
        kept_level(self.trajectory.velocity, "velocity")
        return self.point_levels(at)[1]

    def point_acceleration(self, at: str | Sequence[float]) -> Floats:
        """(T, 3) or (T, 2) m/s²: a + α × r + ω × (ω × r); raises as :meth:`point`, :attr:`acceleration`."""
        kept_level(self.trajectory.acceleration, "acceleration")
        return self.point_levels(at)[2]

    def point_levels(self, at: str | Sequence[float]) -> list[Floats]:
        """Path of a point, its velocity and acceleration, as many as were kept."""
        trajectory = self.trajectory
        if isinstance(at, str):
            points = trajectory.mechanism.geometry_of(self.index).points
            if at not in points:
                raise KeyError(f"no point {at!r}; the body has {', '.join(points) or 'none'}")
            at = points[at]
        local = trajectory.reference.on_body(self.index, tuple(at))
        levels = carried(body_motion(trajectory, self.index), local, is_place=True)
        return [level[:, : 2 if trajectory.planar else 3] for level in levels]


def kept_level(array: Floats | None, level: str) -> Floats:
    """The array of a level; a ValueError where it was not kept."""
    if array is None:
        raise ValueError(f"the {level} was not kept; solve with level={level!r}")
    return array


# --- the coordinates of a joint ----------------------------------------------------------------------


def coordinate_motion(trajectory: Trajectory, name: str) -> CoordinateMotion:
    """One coordinate by its name in the mechanism, at all instants; see :meth:`mbssa.Mechanism.place_of`."""
    joint, coordinate = trajectory.mechanism.place_of(name)
    return joint_motion(trajectory, joint)[coordinate]


def joint_of(mechanism: Mechanism, joint: str | int | Joint) -> Joint:
    """The joint of a user's text, of an index, or itself; a KeyError where there is none."""
    if isinstance(joint, str):
        return mechanism.joint(joint)
    if isinstance(joint, int) and -1 < joint < mechanism.n_joints:
        return mechanism.joints[joint]
    if not isinstance(joint, Joint):
        raise KeyError(f"no joint {joint!r}; joints have ids, and indices from 0 to {mechanism.n_joints - 1}")
    return joint


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
    mechanism, frames = trajectory.mechanism, trajectory.reference
    joint = joint_of(mechanism, joint)
    names, j = measured(trajectory, joint), joint.index
    if not names:
        why = f"type {joint.type.code} has no coordinates here" if frames.known[j] else "it has no geometry"
        raise ValueError(f"joint {joint.id} cannot be measured: {why}")
    if joint.type.pair is None:
        # Angles of bodies in the plane count their turns themselves; those of pairs of frames go on from
        # instant to instant as all angles do.
        relations = frames.relations[j]
        sums = [relation.terms for relation in relations.coordinates.values()]
        columns = [sum(_term_motion(trajectory, relations.pairs[x.pair], x) for x in terms) for terms in sums]
        levels = np.stack(columns, axis=2)
        levels[0] -= [relation.constant for relation in relations.coordinates.values()]
    else:
        a, b = mechanism.joint_bodies(j)
        levels = pair_motion(
            trajectory,
            joint.type.pair.coordinates,
            PairFrames((a, b), frames.origin[j], frames.axes[j]),
            {key: column[j] for key, column in frames.parameters.items()},
            [frames.at_reference(mechanism, j).get(name) for name in names],
            starts,
            near,
        )
    return JointMotion(joint.id, names, tuple(map(coordinate_unit, names)), *levels)


def measured(trajectory: Trajectory, joint: Joint) -> tuple[str, ...]:
    """Names of the coordinates of a joint that poses tell: of gears, rolling and cams not all."""
    frames = trajectory.reference
    if not frames.known[joint.index]:
        return ()
    related = frames.relations.get(joint.index)
    return joint.type.coordinates if related is None else tuple(related.coordinates)


def measurable(trajectory: Trajectory) -> list[Joint]:
    """Joints whose coordinates the poses of the bodies that were kept tell."""
    kept, mechanism = {0, *trajectory.kept.tolist()}, trajectory.mechanism
    known = [joint for joint in mechanism.joints if measured(trajectory, joint)]
    return [joint for joint in known if kept.issuperset(mechanism.joint_bodies(joint.index))]


def chosen_coordinates(trajectory: Trajectory, joints: str | Sequence[str]) -> list[CoordinateMotion]:
    """Coordinates of the joints and coordinates named, or of ``"driven"`` ones, or of ``"all"`` joints."""
    mechanism = trajectory.mechanism
    if joints == "driven":
        wanted = [(joint, joint.driven) for joint in mechanism.joints if joint.driven]
    elif joints == "all":
        wanted = [(joint, measured(trajectory, joint)) for joint in measurable(trajectory)]
    else:
        wanted = []
        for name in [joints] if isinstance(joints, str) else joints:
            owner, _, coordinate = ("", "", "") if name in mechanism.joint_ids else name.rpartition(".")
            joint = mechanism.joint(owner or name)
            wanted.append((joint, (coordinate,) if owner else measured(trajectory, joint)))
    motions = [(joint_motion(trajectory, joint), names) for joint, names in wanted]
    return [motion[name] for motion, names in motions for name in names]


# --- from the motions of bodies ----------------------------------------------------------------------


def n_levels(trajectory: Trajectory) -> int:
    """Number of levels that were kept: 1 for positions alone, 2 with velocities, 3 with accelerations."""
    return 1 + (trajectory.velocity is not None) + (trajectory.acceleration is not None)


def body_motion(trajectory: Trajectory, body: int) -> Body:
    """A body's motion in space; the frame stands still whether it was kept or not."""
    kept = trajectory.velocity, trajectory.acceleration
    if body == 0:
        n, at = len(trajectory.time), trajectory.reference
        place, rotation = np.broadcast_to(at.position[0], (n, 3)), np.broadcast_to(at.rotation[0], (n, 3, 3))
        first, second = (None if array is None else np.zeros((n, 6)) for array in kept)
    else:
        of = trajectory.body(body + 1)
        place, rotation = in_space(of.position), of.rotation
        first, second = (None if a is None else twist_in_space(a[:, of.place]) for a in kept)
    return place, rotation, first, second


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


def turn_motion(trajectory: Trajectory, body: int, starts: Sequence[int] | Ints = (0,)) -> Floats:
    """Angle (L, T) of a body about the world's z, turns counted, and those rates that were kept."""
    pair = PairFrames((0, body), np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)))
    return pair_motion(trajectory, (Elementary("turn", (1, 0, 0, 0)),), pair, starts=starts)[:, :, 0]


def pair_motion(
    trajectory: Trajectory,
    functions: Functions,
    pair: PairFrames,
    parameters: Mapping[str, Any] | None = None,
    at_reference: Sequence[float | None] = (None,),
    starts: Sequence[int] | Ints = (0,),
    near: Floats | None = None,
) -> Floats:
    """Functions of a pair of frames, and those rates that were kept, (L, T, k)."""
    frames = trajectory.reference

    def levels_of(bodies: Sequence[Body]) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            found = elementary_motion(functions, bodies, (pair.origin, pair.axes), parameters or {})
        return np.stack(found)

    blocks = [trajectory.instants(slice(k, k + BLOCK)) for k in range(0, len(trajectory.time) or 1, BLOCK)]
    parts = [levels_of([body_motion(part, body) for body in pair.bodies]) for part in blocks]
    levels = np.concatenate(parts, axis=1)
    principal = levels_of([(frames.position[[b]], frames.rotation[[b]], None, None) for b in pair.bodies])
    given = [p if x is None else x for p, x in zip(principal[0, 0].tolist(), at_reference, strict=True)]
    start = np.array(given, dtype=float)
    if near is not None:
        starts = np.arange(len(trajectory.time))
        start = np.where(np.isfinite(near), near, start) if near.size else start
    turned = None
    if trajectory.planar:
        first, second = (_turned(trajectory, body)[0] for body in pair.bodies)
        turned = second - first
    _make_continuous(levels, trajectory.time, functions, start, turned, np.asarray(starts))
    return levels


def _turned(trajectory: Trajectory, body: int) -> Floats:
    """Angle (L, T) of a body in the plane, which counts turns, and those rates that were kept."""
    if body == 0:
        return np.zeros((n_levels(trajectory), len(trajectory.time)))
    if not trajectory.planar:  # lifted into space: a quaternion counts no turns
        return turn_motion(trajectory, body)
    place, rates = trajectory.body(body + 1).place, (trajectory.velocity, trajectory.acceleration)
    return np.stack([trajectory.orientation[:, place], *(a[:, place, 2] for a in rates if a is not None)])


def _term_motion(trajectory: Trajectory, pair: PairFrames, term: Term) -> Floats:
    """One term of a sum (L, T): value and those rates that were kept."""
    if term.kind == "turned":
        return term.factor * _turned(trajectory, pair.bodies[1])
    levels = pair_motion(trajectory, (term.elementary,), pair, {"value": term.parameter})[:, :, 0]
    if term.kind == "line":
        # The azimuth is seen from A, the line's angle from the world.
        levels += _turned(trajectory, pair.bodies[0])
        levels[0] += np.arctan2(pair.axes[0][1, 0], pair.axes[0][0, 0])
    return term.factor * levels


# --- continuity --------------------------------------------------------------------------------------


def _make_continuous(
    found: Floats, time: Floats, functions: Functions, start: Floats, turned: Floats | None, starts: Ints
) -> None:
    """Turn principal angles (L, T, k) into continuous ones, in place."""
    # Motions begin at the instants `starts`, next to `start`, one (k,) for all or one for each. The angle
    # `turned` (T,) of the second body against the first, known in the plane, counts turns.
    sound = np.flatnonzero(np.isfinite(found[0]).all(axis=1))
    begins = np.searchsorted(sound, starts)
    some = begins < np.append(begins[1:], len(sound))  # motions with an instant
    first, start = begins[some], np.broadcast_to(start, (len(starts), found.shape[2]))[some]
    path, rates = found[0, sound], found[1:, sound]
    for k, e in enumerate(functions):
        if e.kind in ("cardan", "elevation"):
            # With y for the middle angle, (x, y, z) and (x + π, π - y, z + π) are one rotation; principal
            # values have cos y ≥ 0 and so jump to the other set where a motion goes over the gimbal.
            columns = [k, k - 1, k + 1] if e.kind == "cardan" else [k, k - 1]
            step = path[:, columns] - _before(path[:, columns], start[:, columns], first)
            other = step + np.pi
            other[:, 0] = np.pi - 2 * path[:, k] + step[:, 0]
            switch = np.cos(other).sum(axis=1) > np.cos(step).sum(axis=1)
            over = _summed(switch.astype(float), first) % 2 == 1
            path[over, k] = np.pi - path[over, k]
            path[:, columns[1:]] += np.where(over, np.pi, 0.0)[:, None]
            rates[:, over, k] *= -1.0
    found[1:, sound] = rates
    for k, e in enumerate(functions):
        if not e.is_length and e.parameter is None:
            advance = np.zeros(len(sound))
            if turned is not None and e.kind == "turn":
                advance[1:] = e.sign * np.diff(turned[sound])
            elif len(rates):
                # Across a gap the shorter rotation counts: rates do not predict the motion inside.
                by_rates = _expected(time[sound], *rates[:, :, k])
                advance[1:] = np.where(np.diff(sound) > 1, 0.0, by_rates)
            advance[first] = 0.0
            steps = path[:, k] - _before(path[:, k], start[:, k], first) - advance
            path[:, k] -= 2 * np.pi * _summed(np.round(steps / (2 * np.pi)), first)
    found[0, sound] = path


def _before(path: Floats, start: Floats, first: Ints) -> Floats:
    """Row before each one (n, …) of a path, which is that of ``start`` before each of the ``first`` ones."""
    before = np.roll(path, 1, axis=0)
    before[first] = start
    return before


def _summed(steps: Floats, first: Ints) -> Floats:
    """Sums of the steps up to each one, which begin at those that are ``first``."""
    total = np.cumsum(steps)
    return total - np.repeat((total - steps)[first], np.diff(first, append=len(steps)))


def _expected(time: Floats, rate: Floats, acceleration: Floats | None = None) -> Floats:
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
