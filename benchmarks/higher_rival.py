"""Planar cams as textbook programs solve them: the place of the contact is two unknowns more for every cam.

Coordinates are x, y and angle of each movable body, then for each cam the parameters of the contact on its
two profiles. A cam gives three equations: the two points coincide, and the tangents are parallel. Newton
works on all of it at once and starts from where velocity and acceleration lead from the instant before;
then one linear system each for velocity and acceleration. NumPy assembles one instant, all joints of a kind
at once. The frame is no unknown here, as it is in some of these programs: it would be three more.

Hinges, sliders, cams and hinges that are driven against the frame are known, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
import scipy.sparse.linalg

from mbssa import Mechanism
from mbssa.joints.cams.contact import touching
from mbssa.joints.cams.curves import Curve, circle, line
from mbssa.joints.cams.profiles import Profile, profile_from
from mbssa.joints.catalogue import CATALOGUE
from mbssa.joints.frames import joint_frames

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Equations are met when none is further off (m, rad, m² for the tangents); most steps of Newton.
CLOSED, STEPS = 1e-12, 30

#: Half the length (m) of a flat face, which as a curve has ends.
_FACE = 10.0


def perpendicular(v: Floats) -> Floats:
    """Vectors (..., 2) turned by a quarter, counter-clockwise."""
    return np.stack([-v[..., 1], v[..., 0]], axis=-1)


def cross(a: Floats, b: Floats) -> Floats:
    """The third component of the product of plane vectors (..., 2)."""
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


@dataclass(frozen=True, eq=False)
class Side:
    """One end of all joints of a kind, fixed to bodies.

    Attributes
    ----------
    body : (k,) body indices, 0 is the frame
    origin : (k, 2) the joint's origin in the body's frame
    axes : (k, 2, 2) the joint's axes there, as columns
    """

    body: Ints
    origin: Floats
    axes: Floats


@dataclass(frozen=True, eq=False)
class Profiles:
    """The curves of one side of all cams.

    Attributes
    ----------
    breaks : values of s between the pieces, of each different curve
    period : of each different curve; 0 where it is open
    table : of each different curve (pieces, 4, 2, 8) polynomials of the point and of its three derivatives
    users : of each different curve, the cams that have it
    """

    breaks: tuple[Floats, ...]
    period: tuple[float, ...]
    table: tuple[Floats, ...]
    users: tuple[Ints, ...]

    @staticmethod
    def of(curves: list[Curve]) -> Profiles:
        """Those of the cams, in their order."""
        different = list({id(curve): curve for curve in curves}.values())
        users = tuple(
            np.flatnonzero([curve is one for curve in curves]).astype(np.int64) for one in different
        )
        return Profiles(
            tuple(curve.breaks for curve in different),
            tuple(curve.period if curve.closed else 0.0 for curve in different),
            tuple(_with_derivatives(curve) for curve in different),
            users,
        )

    def at(self, s: Floats) -> Floats:
        """(k, 4, 2) points and derivatives by s, for one s of each cam."""
        found = np.empty((len(s), 4, 2))
        for breaks, period, table, users in zip(
            self.breaks, self.period, self.table, self.users, strict=True
        ):
            place = s[users]
            if period:
                place = place - period * np.floor((place - breaks[0]) / period)
            piece = np.clip(breaks.searchsorted(place, side="right") - 1, 0, len(table) - 1)
            u = (place - breaks[piece]) / (breaks[piece + 1] - breaks[piece])
            powers = u[:, None] ** _POWERS
            found[users] = (table[piece] @ powers[:, None, :, None])[..., 0]
        return found


_POWERS = np.arange(8.0)


def _with_derivatives(curve: Curve) -> Floats:
    length = np.diff(curve.breaks)[:, None, None]
    levels = [curve.coefficients]
    for _ in range(3):
        derived = np.zeros_like(levels[-1])
        derived[..., :-1] = levels[-1][..., 1:] * np.arange(1, 8) / length
        levels.append(derived)
    return np.stack(levels, axis=1)


@dataclass(frozen=True, eq=False)
class Rival:
    """A mechanism as the rival keeps it.

    Attributes
    ----------
    start : (n,) coordinates that the first instant starts from
    bodies : movable bodies
    hinges, sliders, cams : the two sides of each joint of these kinds
    apart : (k,) reference angle (rad) of the second body against the first, of sliders
    profiles : of the two sides of the cams
    driven : (k,) bodies whose hinge with the frame is driven; ``zero`` (k,) their angle where the input is 0
    """

    start: Floats
    bodies: int
    hinges: tuple[Side, Side]
    sliders: tuple[Side, Side]
    apart: Floats
    cams: tuple[Side, Side]
    profiles: tuple[Profiles, Profiles]
    driven: Ints
    zero: Floats

    @property
    def unknowns(self) -> int:
        """Of each of its linear systems."""
        return len(self.start)


def rival(mechanism: Mechanism) -> Rival:
    """What the rival makes of a mechanism. Contacts start where they are at the reference."""
    frames = joint_frames(mechanism)
    kinds = np.array([CATALOGUE[int(kind)].code for kind in mechanism.joint_type])
    assert set(kinds) <= {"R", "P", "L"}
    pairs = np.array([mechanism.joint_bodies(j)[:2] for j in range(mechanism.n_joints)])

    def sides(code: str) -> tuple[Side, Side]:
        which = np.flatnonzero(kinds == code)
        first, second = (
            Side(pairs[which, end], frames.origin[which, end, :2], frames.axes[which, end, :2, :2])
            for end in (0, 1)
        )
        return first, second

    angle = np.arctan2(frames.rotation[:, 1, 0], frames.rotation[:, 0, 0])
    sliders, cams = sides("P"), sides("L")
    driven_joints = np.flatnonzero(mechanism.driven)
    driven = pairs[driven_joints]
    assert (kinds[driven_joints] == "R").all()
    assert (driven[:, 0] == 0).all()
    profiles = [_profile(mechanism, int(j)) for j in np.flatnonzero(kinds == "L")]
    followers = [_face_of(profile) for profile in profiles]
    places = []
    for k, profile in enumerate(profiles):
        (p, turn), (p_b, turn_b) = (_world(side, k, frames.position, frames.rotation) for side in cams)
        d, C = np.zeros((1, 3)), np.eye(3)[None].copy()
        d[0, :2], C[0, :2, :2] = turn.T @ (p_b - p), turn.T @ turn_b
        s, s_b = (float(found[0]) for found in touching(profile.curve, *_other(profile), d, C)[:2])
        if profile.kind == 0:  # the roller's angle towards the cam, in its own axes
            towards = turn_b.T @ (p + turn @ profile.curve.at(s)[0] - p_b)
            s_b = float(np.arctan2(towards[1], towards[0]))
        elif profile.kind == 1:
            s_b += _FACE
        places.append((s, s_b))
    poses = np.column_stack([frames.position[1:, :2], angle[1:]])
    return Rival(
        np.concatenate([poses.ravel(), np.array(places).ravel()]),
        mechanism.n_bodies - 1,
        sides("R"),
        sliders,
        angle[sliders[1].body] - angle[sliders[0].body],
        cams,
        (Profiles.of([profile.curve for profile in profiles]), Profiles.of(followers)),
        driven[:, 1],
        angle[driven[:, 1]],
    )


def _profile(mechanism: Mechanism, joint: int) -> Profile:
    table = mechanism.joint_geometry[joint].profile
    assert table is not None
    return profile_from(table)


def _other(profile: Profile) -> tuple[Curve | None, int]:
    return profile.follower_curve, profile.kind


def _face_of(profile: Profile) -> Curve:
    """What follows, as a curve in the follower's frame."""
    if profile.follower_curve is not None:
        return profile.follower_curve
    return _FACE_CURVE if profile.kind == 1 else _roller(profile.radius)


_FACE_CURVE = line((-_FACE, 0.0), (_FACE, 0.0))
_rollers: dict[float, Curve] = {}


def _roller(radius: float) -> Curve:
    return _rollers.setdefault(radius, circle(radius))


def _world(side: Side, k: int, position: Floats, rotation: Floats) -> tuple[Floats, Floats]:
    body = side.body[k]
    turn = rotation[body, :2, :2]
    return position[body, :2] + turn @ side.origin[k], turn @ side.axes[k]


# --- one instant -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Columns:
    """Where the entries of the Jacobian go: flat places, and one more behind it for those of the frame."""

    of_hinges: Ints
    of_sliders: Ints
    of_cams: Ints
    of_drives: Ints
    n: int


def _columns(it: Rival) -> _Columns:
    n, contacts = it.unknowns, 3 * it.bodies

    def places(rows: Ints, columns: Ints) -> Ints:
        """Flat places of (k, r) rows by (k, c) columns, of which -1 and less are the frame's."""
        flat = rows[:, :, None] * n + columns[:, None, :]
        return np.where(columns[:, None, :] < 0, n * n, flat)

    def of_bodies(sides: tuple[Side, Side]) -> Ints:
        return np.concatenate([3 * (side.body[:, None] - 1) + np.arange(3) for side in sides], axis=1)

    hinges, sliders, cams = (len(sides[0].body) for sides in (it.hinges, it.sliders, it.cams))
    row = 0
    rows = []
    for count, height in ((hinges, 2), (sliders, 2), (cams, 3), (len(it.driven), 1)):
        rows.append(row + np.arange(count * height).reshape(count, height))
        row += count * height
    assert row == n, f"{row} equations for {n} unknowns"
    own = contacts + np.arange(2 * cams).reshape(cams, 2)
    return _Columns(
        places(rows[0], of_bodies(it.hinges)),
        places(rows[1], of_bodies(it.sliders)),
        places(rows[2], np.concatenate([of_bodies(it.cams), own], axis=1)),
        places(rows[3], 3 * (it.driven[:, None] - 1) + 2),
        n,
    )


@dataclass(frozen=True, eq=False)
class _Ends:
    """Points fixed to bodies, and the bodies' turns: (k, 2) each, ``turn`` (k, 2, 2), ``angle`` (k,)."""

    arm: Floats
    point: Floats
    turn: Floats


def _ends(side: Side, local: Floats, pose: Floats, turns: Floats) -> _Ends:
    turn = turns[side.body]
    arm = (turn @ local[:, :, None])[:, :, 0]
    return _Ends(arm, pose[side.body, :2] + arm, turn)


def equations(it: Rival, where: _Columns, q: Floats, inputs: Floats, rate: Floats | None) -> Any:
    """Residual (n,) and Jacobian (n, n); given ``rate`` (n,), what the accelerations' side is instead of it.

    That is minus the second time derivative of the equations with no accelerations, without the inputs'.
    """
    poses, angles = _all_bodies(it, q)
    cosine, sine = np.cos(angles), np.sin(angles)
    turns = np.stack([np.stack([cosine, -sine], -1), np.stack([sine, cosine], -1)], -2)
    flat = np.zeros(where.n * where.n + 1)
    sides = []
    spin = None if rate is None else _all_bodies(it, rate)

    # hinges
    a, b = (_ends(side, side.origin, poses, turns) for side in it.hinges)
    flat[where.of_hinges] = _coincide(a, b)
    if spin is None:
        sides.append((b.point - a.point).ravel())
    else:
        sides.append((_inward(it.hinges[1], b, spin) - _inward(it.hinges[0], a, spin)).ravel())

    # sliders
    a, b = (_ends(side, side.origin, poses, turns) for side in it.sliders)
    normal = (a.turn @ it.sliders[0].axes[:, :, 1:])[:, :, 0]
    turned, apart = perpendicular(normal), b.point - a.point
    entries = np.zeros((len(apart), 2, 6))
    entries[:, 0] = (normal[:, None, :] @ _coincide(a, b))[:, 0]
    entries[:, 0, 2] += (turned * apart).sum(axis=1)
    entries[:, 1, 2], entries[:, 1, 5] = -1.0, 1.0
    flat[where.of_sliders] = entries
    one, two = (side.body for side in it.sliders)
    if spin is None:
        along = (normal * apart).sum(axis=1)
        sides.append(np.stack([along, angles[two] - angles[one] - it.apart], axis=1).ravel())
    else:
        w = spin[1][one]
        inward = _inward(it.sliders[1], b, spin) - _inward(it.sliders[0], a, spin)
        moving = _velocity(it.sliders[1], b, spin) - _velocity(it.sliders[0], a, spin)
        along = (normal * inward).sum(axis=1)
        along += w * w * (normal * apart).sum(axis=1) - 2.0 * w * (turned * moving).sum(axis=1)
        sides.append(np.stack([along, np.zeros(len(along))], axis=1).ravel())

    # cams
    parameters = q[3 * it.bodies :].reshape(-1, 2)
    found = []
    for end in (0, 1):
        side, curve = it.cams[end], it.profiles[end].at(parameters[:, end])
        local = curve @ side.axes.transpose(0, 2, 1)
        ends = _ends(side, side.origin + local[:, 0], poses, turns)
        found.append((ends, local[:, 1:] @ ends.turn.transpose(0, 2, 1)))
    (a, of_a), (b, of_b) = found
    (t_a, c_a, d_a), (t_b, c_b, d_b) = of_a.transpose(1, 0, 2), of_b.transpose(1, 0, 2)
    entries = np.zeros((len(t_a), 3, 8))
    entries[:, :2, :6] = _coincide(a, b)
    entries[:, :2, 6], entries[:, :2, 7] = -t_a, t_b
    with_turn = (t_a * t_b).sum(axis=1)  # of b against a
    entries[:, 2, 2], entries[:, 2, 5] = -with_turn, with_turn
    entries[:, 2, 6], entries[:, 2, 7] = cross(c_a, t_b), cross(t_a, c_b)
    flat[where.of_cams] = entries
    if spin is None:
        sides.append(np.column_stack([b.point - a.point, cross(t_a, t_b)]).ravel())
    else:
        assert rate is not None
        ways = rate[3 * it.bodies :].reshape(-1, 2)
        inward, bent, moved = [], [], []
        for end, (ends, t, c, d) in enumerate(((a, t_a, c_a, d_a), (b, t_b, c_b, d_b))):
            w, v = spin[1][it.cams[end].body][:, None], ways[:, end, None]
            inward.append(_inward(it.cams[end], ends, spin) - 2.0 * w * v * perpendicular(t) - c * v * v)
            moved.append(w * perpendicular(t) + c * v)
            bent.append(2.0 * w * v * perpendicular(c) - w * w * t + d * v * v)
        third = -cross(bent[0], t_b) - 2.0 * cross(moved[0], moved[1]) - cross(t_a, bent[1])
        sides.append(np.column_stack([inward[1] - inward[0], third]).ravel())

    flat[where.of_drives] = 1.0
    sides.append(angles[it.driven] - it.zero - inputs if spin is None else np.zeros(len(it.driven)))
    return np.concatenate(sides), flat[:-1].reshape(where.n, where.n)


def _all_bodies(it: Rival, q: Floats) -> tuple[Floats, Floats]:
    """(N, 2) places and (N,) angles of all bodies, the frame first; or their rates."""
    poses = np.zeros((it.bodies + 1, 3))
    poses[1:] = q[: 3 * it.bodies].reshape(-1, 3)
    return poses[:, :2], poses[:, 2]


def _coincide(a: _Ends, b: _Ends) -> Floats:
    """(k, 2, 6) derivative of the way from a to b by x, y, angle of a's body and of b's."""
    entries = np.zeros((len(a.arm), 2, 6))
    entries[:, 0, 0] = entries[:, 1, 1] = -1.0
    entries[:, 0, 3] = entries[:, 1, 4] = 1.0
    entries[:, :, 2], entries[:, :, 5] = -perpendicular(a.arm), perpendicular(b.arm)
    return entries


def _inward(side: Side, ends: _Ends, spin: tuple[Floats, Floats]) -> Floats:
    """Minus the acceleration (k, 2) of a point fixed to a body that has none itself."""
    w = spin[1][side.body][:, None]
    return w * w * ends.arm


def _velocity(side: Side, ends: _Ends, spin: tuple[Floats, Floats]) -> Floats:
    return spin[0][side.body] + spin[1][side.body][:, None] * perpendicular(ends.arm)


# --- a motion --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Answer:
    """Of all movable bodies: x, y, angle (T, n, 3), their rates and accelerations; Newton's steps (T,)."""

    position: Floats
    velocity: Floats
    acceleration: Floats
    iterations: Ints


def solve(
    it: Rival, time: Floats, value: Floats, rate: Floats, acceleration: Floats, sparse: bool = False
) -> Answer:
    """All instants, one after the other; ``value``, ``rate``, ``acceleration`` (k, T) of the driven angles.

    ``sparse``: SciPy's SuperLU instead of LAPACK.
    """
    where = _columns(it)
    instants, n, of_bodies = len(time), it.unknowns, 3 * it.bodies
    answers = np.empty((3, instants, of_bodies))
    iterations = np.zeros(instants, dtype=np.int64)
    drives = n - len(it.driven)
    q, v, a = it.start.copy(), np.zeros(n), np.zeros(n)
    for t in range(instants):
        step = time[t] - time[t - 1] if t else 0.0
        q = q + step * (v + 0.5 * step * a)
        for _ in range(STEPS):
            residual, jacobian = equations(it, where, q, value[:, t], None)
            if np.abs(residual).max() < CLOSED:
                break
            q -= _factors(jacobian, sparse)(residual)
            iterations[t] += 1
        else:
            raise ArithmeticError(f"no answer at instant {t}")
        solved = _factors(jacobian, sparse)
        given = np.zeros(n)
        given[drives:] = rate[:, t]
        v = solved(given)
        given, _ = equations(it, where, q, value[:, t], v)
        given[drives:] = acceleration[:, t]
        a = solved(given)
        for level, of_all in enumerate((q, v, a)):
            answers[level, t] = of_all[:of_bodies]
    position, velocity, bent = answers.reshape(3, instants, it.bodies, 3)
    return Answer(position, velocity, bent, iterations)


def _factors(jacobian: Floats, sparse: bool) -> Any:
    """What solves a system with this matrix."""
    if sparse:
        return scipy.sparse.linalg.splu(scipy.sparse.csc_array(jacobian)).solve
    return lambda right: np.linalg.solve(jacobian, right)
