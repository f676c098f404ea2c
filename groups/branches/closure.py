"""Closure equations of a group at solved poses, in the relative coordinates of a spanning tree."""

# Derivatives of every order come from turning segments and from slides along turning lines alone, as every
# factor of a chain of rotations is orthogonal. Lengths are over the mechanism's size (García de Jalón & Bayo
# 1994, chapters 2 and 3; the cuts are Robotran's).

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from groups.branches.states import States
from groups.rotations import about_axis
from groups.solvers.gear_train import GearTrain
from groups.tree import ball_of, spanning
from mbssa.arrays import Floats
from mbssa.joints.axes import cross
from mbssa.joints.catalogue import coordinate_unit, is_length
from mbssa.joints.equations import _SWAP, Equations, Step, coordinates

if TYPE_CHECKING:
    from groups.model import Model
    from mbssa.mechanism import Joint


_STILL = -(1 << 30)
#: Sine between segments of a rod from which on they are not along one line.
_ALONG = 1e-9


class NoBound(Exception):
    """Equations have no bound of their second derivatives."""


@dataclass(eq=False)
class _Place:
    """A frame on the way: it stands turned in a member, at a sum of segments and slides from a known body."""

    base: int
    member: int
    turned: Floats
    segments: dict[int, Floats]
    #: Index of each slide in :attr:`Closure.slides`.
    slides: tuple[int, ...] = ()

    def moved(self, by: Floats, turned: Floats | None = None) -> _Place:
        segments = dict(self.segments)
        segments[self.member] = segments.get(self.member, np.zeros(3)) + self.turned @ by
        now = self.turned if turned is None else self.turned @ turned
        return _Place(self.base, self.member, now, segments, self.slides)


@dataclass(frozen=True)
class Member:
    """Frame that turns against its parent: about an axis by an unknown or an input, or as a ball."""

    root: int  # index of the body of another group that it hangs on
    parent: int = -1
    turned: Floats = field(default_factory=lambda: np.eye(3))
    axis: int = -2  # -1 about all three (ball, rotation vector c: exp(c) R0), -2 the body ``root`` itself
    source: int = _STILL  # unknown; input -1 - source where negative
    factor: float = 1.0  # of the unknown or input


@dataclass(frozen=True, eq=False)
class Linearised:
    """Closure equations at T instants: residuals, Jacobian, unknowns and segments."""

    off: Floats  # (T,) largest difference between the poses and those of the unknowns
    residual: Floats  # (T, rows) of points, cosines and gauges
    residual_rate: Floats
    jacobian: Floats  # (T, rows, n)
    segments: Floats  # (T, L, M, 3) of each member in each closure of points, slides as they are now
    x: Floats  # (T, n) angles only up to whole turns, of balls zero
    rate: Floats  # (T, n) of balls the angular velocity
    ball: Floats  # (T, B, 3, 3) in axes of their parents
    line: Floats  # (T, B, 3) that must not spin, in axes of their parents; else zero


class Closure:
    """Closure equations of one group: of points (3, planar 2), of cosines, and gauges of idle rods."""

    # Balls between two moved bodies stay open. Bodies that hang on nothing else are free: their own turns are
    # then unknowns, and not sums of those along a leg.

    def __init__(self, model: Model, group: int) -> None:
        mechanism, frames = model.mechanism, model.frames
        self.mechanism, self.frames, self.planar = mechanism, frames, mechanism.space == "planar"
        found = model.structure.groups[group]
        self.own: list[int] = found.body_indices.tolist()
        self.inputs = {name: row for row, name in enumerate(mechanism.driven_coordinates)}
        # Parents come first.
        self.members: list[Member] = []
        # Member, local axis, source, factor.
        self.slides: list[tuple[int, Floats, int, float]] = []
        # Member, first unknown, local line that must not spin or zeros.
        self.balls: list[tuple[int, int, Floats]] = []
        self.readings: list[tuple[int, list[tuple[int, int]]]] = []
        self.ball_readings: list[tuple[int, int, bool]] = []
        self.n, self.is_angle = 0, np.zeros(0, dtype=np.bool_)
        self.places: dict[int, _Place] = {}
        joints = [j for j in found.joint_indices.tolist() if _binds(mechanism.joints[j])]
        solver = model.solvers[group]
        self.geared = solver.ratios if isinstance(solver, GearTrain) else {}
        if self.geared:  # nothing has to close
            joints = [j for j in joints if mechanism.joints[j].type.pair is not None]
        for j in joints:
            if mechanism.joints[j].type.pair is None or len(mechanism.joint_bodies(j)) > 2:
                raise NoBound(mechanism.joints[j].type.code)
        own = set(self.own)
        self.known = sorted({b for j in joints for b in mechanism.joint_bodies(j)} - own - {0})
        for body in (0, *self.known):
            self.members.append(Member(body))
            start = _Place(body, len(self.members) - 1, np.eye(3), {})
            self.places[body] = start.moved(-frames.centre[body] / frames.size)
        opened = [
            j for j in joints
            if mechanism.joints[j].type.is_ball and not self.planar and not mechanism.joints[j].driven
            and own.issuperset(mechanism.joint_bodies(j))
        ]  # fmt: skip
        links, cuts = spanning(mechanism, own, [j for j in joints if j not in opened])
        for link in links:
            if link.joint < 0:
                self._free(link.body)
            else:
                self._hang(link.parent, link.body, link.joint, link.forward)
        self.points: list[tuple[_Place, _Place]] = []
        self.cosines: list[tuple[int, Floats, int, Floats]] = []
        for j in (*cuts, *opened):
            if not self.geared:
                self._close(j)
        self._gauge(model)
        self._tabulate(len(self.inputs))
        self.blocks = Blocks(self)

    @staticmethod
    def bounded(model: Model, group: int) -> Closure | None:
        """The equations of a group whose second derivatives have a bound; None if it has none."""
        try:
            closure = Closure(model, group)
        except NoBound:
            return None
        return closure if closure.rows >= closure.n else None

    # --- construction ----------------------------------------------------------------------------------

    def _unknown(self, angle: bool) -> int:
        self.is_angle = np.append(self.is_angle, angle)
        self.n += 1
        return self.n - 1

    def _turn(self, place: _Place, axis: int, source: int, factor: float) -> _Place:
        root = self.members[place.member].root
        self.members.append(Member(root, place.member, place.turned, axis, source, factor))
        return _Place(place.base, len(self.members) - 1, np.eye(3), place.segments, place.slides)

    def _slide(self, place: _Place, axis: Floats, source: int, factor: float) -> _Place:
        self.slides.append((place.member, place.turned @ axis, source, factor))
        slides = (*place.slides, len(self.slides) - 1)
        return _Place(place.base, place.member, place.turned, place.segments, slides)

    def _ball(self, place: _Place, reading: tuple[int, int, bool]) -> _Place:
        first = self._unknown(False)
        self._unknown(False), self._unknown(False)
        place = self._turn(place, -1, first, 1.0)
        self.balls.append((place.member, first, np.zeros(3)))
        self.ball_readings.append(reading)
        return place

    def _free(self, body: int) -> None:
        place, first = self.places[0].moved(self.frames.centre[0] / self.frames.size), self.n
        for axis in np.eye(3)[: 2 if self.planar else 3]:
            place = self._slide(place, axis, self._unknown(False), 1.0)
        self.readings.append((-1 - body, [(k, first + k) for k in range(self.n - first)]))
        if self.planar:
            raise NoBound("free body in the plane")
        place = self._ball(place, (-1, body, True))
        self.places[body] = place.moved(-self.frames.centre[body] / self.frames.size)

    def _on(self, joint: int, side: int, body: int) -> _Place:
        """The frame of a joint on one of its bodies."""
        local, axes = self.frames.origin[joint, side] / self.frames.size, self.frames.axes[joint, side]
        return self.places[body].moved(local, axes)

    def _sources(self, joint: int, coordinates_used: set[int]) -> dict[int, int]:
        """Input or new unknown that each coordinate of a joint follows, by number of the coordinate."""
        one = self.mechanism.joints[joint]
        found, fresh = {}, []
        for c, name in enumerate(one.type.coordinates):
            if name in one.driven:
                found[c] = -1 - self.inputs[f"{one.id}.{name}"]
            elif c in coordinates_used and (joint, name) not in self.geared:
                found[c] = self._unknown(coordinate_unit(name) != "m")
                fresh.append((c, found[c]))
        self.readings.append((joint, fresh))
        return found

    def _walk(self, place: _Place, joint: int, steps: tuple[Step, ...], sense: float) -> _Place:
        used = {step.coordinate for step in steps if step.coordinate is not None}
        sources = self._sources(joint, used)
        values = {
            name: float(column[joint]) / self.frames.size for name, column in self.frames.parameters.items()
        }
        for step in steps:
            if step.kind == "swap":
                place = place.moved(np.zeros(3), _SWAP if sense > 0 else _SWAP.T)
                continue
            axis, factor = np.eye(3)[step.axis], sense * _factor_of(step, values)
            if step.coordinate is None:
                place = place.moved(factor * axis)
                continue
            follows = [(sources.get(step.coordinate, _STILL), 1.0)]
            if follows[0][0] == _STILL:
                ratio = self.geared[joint, self.mechanism.joints[joint].type.coordinates[step.coordinate]]
                straight = step.kind == "shift"
                still = ratio.constant / self.frames.size if straight else ratio.constant
                place = place.moved(factor * still * axis) if straight else place.moved(
                    np.zeros(3), about_axis(step.axis, np.array([factor * still]))[0])  # fmt: skip
                # Ratios are of m and rad, inputs are over the size.
                names = self.mechanism.driven_coordinates
                follows = [
                    (-1 - row, share * (self.frames.size if is_length(names[row]) else 1.0)
                     / (self.frames.size if straight else 1.0)) for row, share in ratio.shares
                ]  # fmt: skip
            for source, share in follows:
                if step.kind == "shift":
                    place = self._slide(place, axis, source, factor * share)
                else:
                    place = self._turn(place, step.axis, source, factor * share)
        return place

    def _hang(self, parent: int, body: int, joint: int, forward: bool) -> None:
        kind = _equations(self.mechanism.joints[joint])
        one, place = self.mechanism.joints[joint], self._on(joint, 0 if forward else 1, parent)
        ball = ball_of(kind.steps, [name in one.driven for name in one.type.coordinates])
        steps = kind.steps[:-3] if ball else kind.steps
        reading = (joint, body, forward)
        if forward:
            place = self._walk(place, joint, steps, 1.0)
            place = self._ball(place, reading) if ball else place
        else:
            place = self._ball(place, reading) if ball else place
            place = self._walk(place, joint, steps[::-1], -1.0)
        side = 1 if forward else 0
        axes, origin = self.frames.axes[joint, side], self.frames.origin[joint, side] / self.frames.size
        self.places[body] = place.moved(-axes.T @ origin, axes.T)

    def _close(self, joint: int) -> None:
        one, kind = self.mechanism.joints[joint], _equations(self.mechanism.joints[joint])
        a, b = self.mechanism.joint_bodies(joint)
        A, B = self._on(joint, 0, a), self._on(joint, 1, b)
        steps, offset = kind.steps, abs(float(self.frames.parameters["offset"][joint]))
        ways = [
            k
            for k, s in enumerate(steps)
            if s.kind == "shift" and not (s.factor == "normal" and offset < 1e-12)
        ]
        walked = steps[: ways[-1] + 1] if ways else ()
        to = self._walk(A, joint, walked, 1.0)
        self.points.append((to, B))
        turned = {step.coordinate for step in walked if step.kind == "turn"}
        for _, e in kind.constraints:
            if e.kind == "cosine":
                self.cosines.append(
                    (A.member, A.turned[:, e.numbers[0]], B.member, B.turned[:, e.numbers[1]])
                )
            elif e.kind == "screw":
                self.cosines.append((to.member, to.turned[:, 0], B.member, B.turned[:, 1]))
            elif e.kind not in ("along", "offset", "distance"):
                raise NoBound(e.kind)
        for c, name in enumerate(one.type.coordinates):
            if name not in one.driven or c in turned or coordinate_unit(name) == "m":
                continue
            e, source = kind.coordinates[c], -1 - self.inputs[f"{one.id}.{name}"]
            if e.kind == "turn" and (e.numbers[0], e.numbers[2], e.sign) == (1, 0, 1.0):
                near, far, axis, factor = A, B, e.numbers[1], 1.0  # in A, about its z
            elif e.kind == "turn" and e.numbers == (2, 1, 2, 0):
                near, far, axis, factor = B, A, 2, -1.0  # in B, about its z, the other way round
            else:
                raise NoBound(f"driven {name}")
            near = self._turn(near, 2, source, factor)
            self.cosines.append((near.member, near.turned[:, 1], far.member, far.turned[:, axis]))

    def _gauge(self, model: Model) -> None:
        """Set the lines of passive rotations: all segments behind their balls are along them."""
        treatment = model.structure.treatment
        for spin in treatment.passive_rotations if treatment is not None else ():
            body = spin.bodies[0]
            if body not in self.own:
                continue
            at = self.places[body].member
            while at >= 0 and self.members[at].axis != -1:
                at = self.members[at].parent
            which = next((k for k, ball in enumerate(self.balls) if ball[0] == at), -1)
            segments = [place.segments[at] for pair in self.points for place in pair if at in place.segments]
            lines = segments + [axis for member, axis, _, _ in self.slides if member == at]
            lines = [line for line in lines if np.linalg.norm(line) > _ALONG]
            turning = any(m.parent == at for m in self.members) or any(
                at in (c[0], c[2]) for c in self.cosines
            )
            if which < 0 or not lines or turning:
                raise NoBound("passive rotation")
            line = lines[0] / np.linalg.norm(lines[0])
            if max(np.linalg.norm(np.cross(line, other)) for other in lines) > _ALONG:
                raise NoBound("passive rotation about no line of the body")
            self.balls[which] = (*self.balls[which][:2], line)

    def _tabulate(self, n_inputs: int) -> None:
        M, L = len(self.members), len(self.points)
        self.influence, self.influence_of_inputs = np.zeros((M, self.n)), np.zeros((M, n_inputs))
        self.descends = np.zeros((M, M))  # of the first, the second
        for m, one in enumerate(self.members):
            self.descends[m, m] = 1.0
            if one.axis == -2:
                continue
            self.descends[:, m] += self.descends[:, one.parent]
            self.influence[m] = self.influence[one.parent]
            self.influence_of_inputs[m] = self.influence_of_inputs[one.parent]
            if one.axis == -1:
                self.influence[m, one.source : one.source + 3] += 1.0
            else:
                sized = one.factor if self.planar else abs(one.factor)
                into = self.influence if one.source >= 0 else self.influence_of_inputs
                into[m, one.source if one.source >= 0 else -1 - one.source] += sized
        #: Of members, then of cosines: turns by unknowns, by inputs, and by known bodies (rows, N).
        roots = np.eye(self.mechanism.n_bodies)[[one.root for one in self.members]]
        first, second = (np.array([c[k] for c in self.cosines], dtype=np.int64) for k in (0, 2))
        self.turned, self.turned_by_inputs, self.of_roots_signed = (
            np.concatenate([of, of[second] - of[first]])
            for of in (self.influence, self.influence_of_inputs, roots)
        )
        self.of_roots = np.abs(self.of_roots_signed)
        #: Turns by unknowns: member, unknown, factor; of balls three.
        entries = []
        for m, one in enumerate(self.members):
            if one.axis >= 0 and one.source >= 0:
                entries.append((m, one.source, one.factor))
            elif one.axis == -1:
                entries += [(m, one.source + k, 1.0) for k in range(3)]
        self.entry_member = np.array([e[0] for e in entries], dtype=np.int64)
        self.of_entry = np.zeros((len(entries), self.n))
        for k, (_, unknown, factor) in enumerate(entries):
            self.of_entry[k, unknown] = factor
        #: Closures of points: (L, M, 3) local segments, (L, slides) signs, (L, 2) bases.
        self.local, self.sliding = np.zeros((L, M, 3)), np.zeros((L, len(self.slides)))
        self.bases = np.array([(A.base, B.base) for A, B in self.points], dtype=np.int64).reshape(-1, 2)
        for row, pair in enumerate(self.points):
            for sign, place in zip((-1.0, 1.0), pair, strict=True):
                self._add(place, sign, self.local[row], self.sliding[row])
        #: Signs (L, N) of the bodies at which closures of points begin.
        ground = np.eye(self.mechanism.n_bodies)
        self.based = ground[self.bases[:, 1]] - ground[self.bases[:, 0]]
        #: The same of the centres of its own bodies.
        self.of_body, self.slides_of_body = (
            np.zeros((len(self.own), M, 3)),
            np.zeros((len(self.own), len(self.slides))),
        )
        for row, body in enumerate(self.own):
            centre = self.places[body].moved(self.frames.centre[body] / self.frames.size)
            self._add(centre, 1.0, self.of_body[row], self.slides_of_body[row])
        self.gauges = [k for k, ball in enumerate(self.balls) if ball[2].any()]
        self.width = 2 if self.planar else 3
        self.rows = self.width * L + len(self.cosines) + len(self.gauges)
        self.given = {
            j: {name: column[j : j + 1] / self.frames.size for name, column in self.frames.parameters.items()}
            for j, _ in self.readings if j >= 0
        }  # fmt: skip

    @staticmethod
    def _add(place: _Place, sign: float, segments: Floats, slides: Floats) -> None:
        for member, by in place.segments.items():
            segments[member] += sign * by
        for slide in place.slides:
            slides[slide] += sign

    # --- at poses --------------------------------------------------------------------------------------

    def linearised(self, at: States) -> Linearised:
        """Residuals, Jacobian and segments at instants."""
        T, M = len(at.time), len(self.members)
        x, rate, ball, line = self._unknowns(at)
        R, spin = np.zeros((T, M, 3, 3)), np.zeros((T, M, 3))
        axes: list[Floats] = []
        for m, one in enumerate(self.members):
            if one.axis == -2:
                R[:, m], spin[:, m] = at.rotation[:, one.root], at.spin[:, one.root]
                continue
            parent = R[:, one.parent] @ one.turned
            if one.axis == -1:
                which = next(k for k, b in enumerate(self.balls) if b[0] == m)
                R[:, m] = parent @ ball[:, which]
                axes += [parent[:, :, k] for k in range(3)]
                relative = (parent @ rate[:, one.source : one.source + 3, None])[..., 0]
            else:
                q, speed = (x[:, one.source], rate[:, one.source]) if one.source >= 0 else (
                    at.value[:, -1 - one.source], at.rate[:, -1 - one.source])  # fmt: skip
                R[:, m] = parent @ about_axis(one.axis, one.factor * q)
                relative = parent[:, :, one.axis] * (one.factor * speed)[:, None]
                if one.source >= 0:
                    axes.append(parent[:, :, one.axis])
            spin[:, m] = spin[:, one.parent] + relative
        axis = np.stack(axes, axis=1) if axes else np.zeros((T, 0, 3))
        segments = (R[:, None] @ self.local[..., None])[..., 0]
        centres = (R[:, None] @ self.of_body[..., None])[..., 0]
        straight = np.zeros((T, len(self.points), 3))  # rates of slides
        J = np.zeros((T, len(self.points), 3, self.n))
        for k, (member, local, source, factor) in enumerate(self.slides):
            along = R[:, member] @ local
            s, speed = (x[:, source], rate[:, source]) if source >= 0 else (
                at.value[:, -1 - source], at.rate[:, -1 - source])  # fmt: skip
            moved = (factor * s)[:, None, None] * along[:, None]
            segments[:, :, member] += self.sliding[:, k, None] * moved
            centres[:, :, member] += self.slides_of_body[:, k, None] * moved
            straight += self.sliding[:, k, None] * (factor * speed)[:, None, None] * along[:, None]
            if source >= 0:
                J[..., source] += (factor * self.sliding[:, k])[:, None] * along[:, None]
        behind = segments.transpose(0, 1, 3, 2) @ self.descends[self.entry_member].T  # (T, L, 3, E)
        turned = cross(axis[:, None], behind.transpose(0, 1, 3, 2))
        J += turned.transpose(0, 1, 3, 2) @ self.of_entry
        a, b = self.bases.T
        gap = segments.sum(axis=2) + at.centre[:, b] - at.centre[:, a]
        gap_rate = (
            cross(spin[:, None], segments).sum(axis=2) + straight + at.velocity[:, b] - at.velocity[:, a]
        )
        count = self.width * len(self.points)
        parts = (
            [gap[..., : self.width].reshape(T, count)],
            [gap_rate[..., : self.width].reshape(T, count)],
            [J[:, :, : self.width].reshape(T, count, self.n)],
        )
        if self.cosines:
            mA, mB = (np.array([c[k] for c in self.cosines]) for k in (0, 2))
            one, two = ((R[:, m] @ np.array([c[k] for c in self.cosines])[..., None])[..., 0]
                        for m, k in ((mA, 1), (mB, 3)))  # fmt: skip
            normal = cross(two, one)
            parts[0].append((one * two).sum(axis=2))
            parts[1].append((normal * (spin[:, mB] - spin[:, mA])).sum(axis=2))
            on = (self.descends[self.entry_member][:, mB] - self.descends[self.entry_member][:, mA]).T
            parts[2].append((normal @ axis.transpose(0, 2, 1) * on) @ self.of_entry)
        if self.gauges:
            parts[0].append(np.zeros((T, len(self.gauges))))
            parts[1].append(np.zeros((T, len(self.gauges))))
            gauge = np.zeros((T, len(self.gauges), self.n))
            for row, k in enumerate(self.gauges):
                first = self.balls[k][1]
                gauge[:, row, first : first + 3] = line[:, k]
            parts[2].append(gauge)
        place = centres.sum(axis=2) + at.centre[:, [self.places[body].base for body in self.own]]
        off = np.abs(place - at.centre[:, self.own]).max(axis=(1, 2))
        for body in self.own:
            away = R[:, self.places[body].member] @ self.places[body].turned - at.rotation[:, body]
            off = np.maximum(off, np.abs(away).max(axis=(1, 2)))
        residual, residual_rate, jacobian = (np.concatenate(part, axis=1) for part in parts)
        return Linearised(off, residual, residual_rate, jacobian, segments, x, rate, ball, line)

    def _unknowns(self, at: States) -> tuple[Floats, Floats, Floats, Floats]:
        T = len(at.time)
        x, rate = np.zeros((T, self.n)), np.zeros((T, self.n))
        for joint, fresh in self.readings:
            if joint < 0:
                columns = [k for _, k in fresh]
                back = at.rotation[:, 0].transpose(0, 2, 1)  # the frame is still
                x[:, columns] = (back @ (at.centre[:, -1 - joint] - at.centre[:, 0])[..., None])[..., 0]
                rate[:, columns] = (back @ at.velocity[:, -1 - joint, :, None])[..., 0]
            elif fresh:
                d, C, twist = self._relative(at, joint)
                value, slope = coordinates(_equations(self.mechanism.joints[joint]), d, C, self.given[joint])
                speed = (slope @ twist[..., None])[..., 0]
                for c, k in fresh:
                    x[:, k], rate[:, k] = value[:, c], speed[:, c]
        ball, line = np.zeros((T, len(self.balls), 3, 3)), np.zeros((T, len(self.balls), 3))
        for k, ((joint, body, forward), (_, first, along)) in enumerate(
            zip(self.ball_readings, self.balls, strict=True)
        ):
            if joint < 0:
                turned, speed = at.rotation[:, body], at.spin[:, body]
            else:
                _, turned, twist = self._relative(at, joint)
                speed = twist[:, 3:]
                if not forward:
                    turned = turned.transpose(0, 2, 1)
                    speed = -(turned @ speed[..., None])[..., 0]
            if along.any():
                line[:, k] = turned @ along
                speed = speed - (speed * line[:, k]).sum(axis=1)[:, None] * line[:, k]
            ball[:, k], rate[:, first : first + 3] = turned, speed
        return x, rate, ball, line

    def _relative(self, at: States, joint: int) -> tuple[Floats, Floats, Floats]:
        """The second frame of a joint seen from its first: place, axes, and its twist (T, 6)."""
        points, axes, speeds = [], [], []
        bodies = self.mechanism.joint_bodies(joint)
        for side, body in enumerate(bodies):
            local = (self.frames.origin[joint, side] - self.frames.centre[body]) / self.frames.size
            arm = at.rotation[:, body] @ local
            points.append(at.centre[:, body] + arm)
            speeds.append(at.velocity[:, body] + cross(at.spin[:, body], arm))
            axes.append(at.rotation[:, body] @ self.frames.axes[joint, side])
        a, b = bodies
        gap, back = points[1] - points[0], axes[0].transpose(0, 2, 1)
        speed = speeds[1] - speeds[0] - cross(at.spin[:, a], gap)
        both = np.stack([gap, speed, at.spin[:, b] - at.spin[:, a]], axis=2)
        seen = back @ both
        return seen[..., 0], back @ axes[1], np.concatenate([seen[..., 1], seen[..., 2]], axis=1)


class Blocks:
    """Blocks of unknowns of one weight: those of a ball, or one; in the plane turns of members, or slides."""

    def __init__(self, closure: Closure) -> None:
        # influence (members and cosines, blocks), of_slides (slides, blocks), signed (blocks, n).
        n, both = closure.n, closure.turned
        slides = np.zeros((len(closure.slides), n))
        for k, (_, _, source, factor) in enumerate(closure.slides):
            if source >= 0:
                slides[k, source] = abs(factor)
        if closure.planar:
            kinds, straight = both[both.any(axis=1)], np.flatnonzero(~closure.is_angle)
            rows, which = np.unique(np.round(kinds, 12), axis=0, return_inverse=True) if n else (kinds, kinds)
            self.signed = np.concatenate([rows, np.eye(n)[straight]])
            self.influence = np.zeros((len(both), len(self.signed)))
            self.influence[np.flatnonzero(both.any(axis=1)), np.ravel(which).astype(int)] = 1.0
            self.of_slides = np.zeros((len(slides), len(self.signed)))
            self.of_slides[:, len(self.signed) - len(straight) :] = slides[:, straight]
        else:
            starts = np.ones(n, dtype=np.bool_)
            for _, k, _ in closure.balls:
                starts[k + 1 : k + 3] = False
            self.starts = np.flatnonzero(starts)
            self.influence, self.of_slides = np.abs(both[:, self.starts]), slides[:, self.starts]
        self.planar = closure.planar

    def sizes(self, rows: Floats) -> Floats:
        """Bounds by rows (K, rows, ...) as bounds by blocks."""
        if self.planar or rows.shape[1] == len(self.starts):
            return rows
        found: Floats = np.sqrt(np.add.reduceat(rows**2, self.starts, axis=1))
        return found


def _binds(joint: Joint) -> bool:
    """Whether a joint has equations: free pairs that are not driven have none."""
    equations = joint.type.pair
    return equations is None or bool(equations.constraints) or bool(joint.driven)


def _equations(joint: Joint) -> Equations:
    found = joint.type.pair
    assert found is not None
    return found


def _factor_of(step: Step, values: Mapping[str, float]) -> float:
    """Factor of a step by the parameters of its joint."""
    if step.factor == "normal":
        # After the swap y is -(z_A × z_B), the direction of a universal joint's offset reversed.
        return -values["offset"]
    return values[step.factor] if isinstance(step.factor, str) else step.factor
