"""Closed forms of planar dyads: two bodies on hinges or slides that a hinge closes."""

# Complex numbers are pairs. A form gives the unknowns: a turn as its (cosine, sine), a slide as a number.
# ``sign`` selects the root.

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from groups.tree import Link
from mbssa.graph.frames import Frame, Matrix, Vector, minus
from mbssa.graph.nodes import Number, div, sqrt
from mbssa.joints.catalogue import type_of_joint

if TYPE_CHECKING:
    from groups.engine.kinematics import Group
    from groups.engine.numbers import Numbers

#: Real and imaginary part; cosine and sine.
Pair: TypeAlias = tuple[Number, Number]
#: Origin and axes by rows of a joint's frame on a body.
Side: TypeAlias = tuple[Vector, Matrix]
#: Frames by body.
Bodies: TypeAlias = Mapping[int, Frame]


def product(a: Pair, b: Pair) -> Pair:
    """a b."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def conjugate(a: Pair) -> Pair:
    """Conjugate of a."""
    return a[0], -a[1]


def summed(a: Pair, b: Pair) -> Pair:
    """a + b."""
    return a[0] + b[0], a[1] + b[1]


def difference(a: Pair, b: Pair) -> Pair:
    """a - b."""
    return a[0] - b[0], a[1] - b[1]


def square(a: Pair) -> Number:
    """|a|²."""
    return a[0] * a[0] + a[1] * a[1]


def scaled(k: Number, a: Pair) -> Pair:
    """k a for a real k."""
    return k * a[0], k * a[1]


class _Roots:
    """Square roots with a sign; notes their squares, over that of a length."""

    def __init__(self, group: Group, sign: Number) -> None:
        self.group, self.sign = group, sign

    def __call__(self, x: Number, length: Number) -> Number:
        self.group.reach.append(div(x, length) if length is not None else x)
        return self.sign * sqrt(x)


def two_turns_in_a_chain(a: Pair, b: Pair, d: Pair, root: _Roots) -> tuple[Pair, Pair]:
    """e1 (a + e2 b) = d."""
    m = product(conjugate(a), b)
    q, k = square(m), 0.5 * (square(d) - square(a) - square(b))
    turn = scaled(div(1.0, q), product((k, root(q - k * k, square(a))), conjugate(m)))
    first = product(d, conjugate(summed(a, product(turn, b))))
    return scaled(div(1.0, square(d)), first), turn


def two_turns_that_meet(a: Pair, b: Pair, d: Pair, root: _Roots) -> tuple[Pair, Pair]:
    """e1 a = d + e2 b."""
    inverse = div(1.0, square(d))
    x = 0.5 + (0.5 * (square(a) - square(b))) * inverse
    height = root(square(a) - square(d) * x * x, None)
    along = scaled(x, d)
    across = scaled(height * sqrt(inverse), (-d[1], d[0]))
    u = summed(along, across)
    first = scaled(div(1.0, square(a)), product(u, conjugate(a)))
    return first, scaled(div(1.0, square(b)), product(difference(u, d), conjugate(b)))


def turn_that_meets_slide(a: Pair, u: Pair, d: Pair, root: _Roots) -> tuple[Pair, Number]:
    """e1 a = d + x u, u of length one."""
    along, off = d[0] * u[0] + d[1] * u[1], d[0] * u[1] - d[1] * u[0]
    x = root(square(a) - off * off, None) - along
    return scaled(div(1.0, square(a)), product(summed(d, scaled(x, u)), conjugate(a))), x


def turn_then_slide(a: Pair, u: Pair, d: Pair, root: _Roots) -> tuple[Pair, Number]:
    """e1 (a + x u) = d, u of length one."""
    along, off = a[0] * u[0] + a[1] * u[1], a[0] * u[1] - a[1] * u[0]
    x = root(square(d) - off * off, None) - along
    end = summed(a, scaled(x, u))
    return scaled(div(1.0, square(d)), product(d, conjugate(end))), x


class Dyad:
    """The closed form of a group of this shape."""

    @staticmethod
    def of(group: Group) -> Dyad | None:
        """The form of a group; None where it has another shape, or where angles have to be counted."""
        if not group.planar or len(group.links) != 2 or len(group.cuts) != 1 or group.frames.relations:
            return None
        joints = [link.joint for link in group.links] + list(group.cuts)
        if min(joints) < 0 or any((j, n) in group.setting.drives for j in joints for n in ("angle", "slide")):
            return None
        kinds = [type_of_joint(group.mechanism, j) for j in joints]
        if not all(kind.is_bearing or kind.is_slider for kind in kinds):
            return None
        turns = [kind.is_bearing for kind in kinds]
        chain = group.links[1].parent == group.links[0].body
        return Dyad(group, turns[:2], chain) if turns[2] and any(turns[:2]) else None

    def __init__(self, group: Group, turns: list[bool], chain: bool) -> None:
        self.group, self.turns, self.chain = group, turns, chain

    def values(self, numbers: Numbers, bodies: Bodies, sign: Number) -> dict[tuple[int, str], Number]:
        """Unknowns by (joint, coordinate)."""
        first, second = self.group.links
        root = _Roots(self.group, sign)
        solve = self._in_a_chain if self.chain else self._that_meet
        found = solve(numbers, bodies, first, second, root)
        return {
            self._name(link): self._coordinate(link, x)
            for link, x in zip((first, second), found, strict=True)
        }

    def _name(self, link: Link) -> tuple[int, str]:
        return link.joint, "angle" if self._is_turn(link) else "slide"

    def _is_turn(self, link: Link) -> bool:
        return type_of_joint(self.group.mechanism, link.joint).is_bearing

    def _coordinate(self, link: Link, x: Number) -> Number:
        """The joint's coordinate, from the motion of the link."""
        sign = self._step(link)[1]
        return (x[0], sign * x[1]) if isinstance(x, tuple) else sign * x

    def _step(self, link: Link) -> tuple[int, float]:
        """Axis of the joint's one step, and the sign with which its coordinate moves the link."""
        pair = type_of_joint(self.group.mechanism, link.joint).pair
        assert pair is not None
        (step,) = pair.steps
        return step.axis, float(step.factor) * (1.0 if link.forward else -1.0)

    def _sides(self, numbers: Numbers, link: Link) -> tuple[Side, Side]:
        """Origin and axes of the joint of a link: on its parent, and on its body."""
        near, far = (0, 1) if link.forward else (1, 0)
        return self.group.side(numbers, link.joint, near), self.group.side(numbers, link.joint, far)

    def _seen(self, numbers: Numbers, link: Link) -> tuple[Callable[[Vector], Pair], Vector]:
        """Function that gives a vector of the link's body in the joint's frame on it; that frame's origin."""
        place, axes = self._sides(numbers, link)[1]
        (a, b), (c, d) = (row[:2] for row in axes[:2])
        return lambda v: (a * v[0] + c * v[1], b * v[0] + d * v[1]), place

    def _end(self, numbers: Numbers, link: Link) -> Pair:
        """The closing hinge on the link's body."""
        (cut,) = self.group.cuts
        side = self.group.mechanism.joint_bodies(cut)[:2].index(link.body)
        seen, place = self._seen(numbers, link)
        return seen(minus(self.group.side(numbers, cut, side)[0], place))

    def _slide(self, link: Link) -> Pair:
        """Direction of a slide, in the frame of its joint."""
        return (1.0, 0.0) if self._step(link)[0] == 0 else (0.0, 1.0)

    def _near(self, numbers: Numbers, bodies: Bodies, link: Link) -> Frame:
        """Frame of a link's joint on its parent."""
        return bodies[link.parent].end(*self._sides(numbers, link)[0])

    def _that_meet(
        self, numbers: Numbers, bodies: Bodies, first: Link, second: Link, root: _Roots
    ) -> tuple[Number, Number]:
        if not self.turns[0]:
            return self._that_meet_turn_first(numbers, bodies, second, first, root)[::-1]
        return self._that_meet_turn_first(numbers, bodies, first, second, root)

    def _that_meet_turn_first(
        self, numbers: Numbers, bodies: Bodies, first: Link, second: Link, root: _Roots
    ) -> tuple[Number, Number]:
        A, B = self._near(numbers, bodies, first), self._near(numbers, bodies, second)
        d, turned = _flat(A.seen(minus(B.place, A.place))), _flat(A.seen(B.axes[0]))
        a, b = self._end(numbers, first), product(turned, self._end(numbers, second))
        if self._is_turn(second):
            return two_turns_that_meet(a, b, d, root)
        u = product(turned, self._slide(second))
        return turn_that_meets_slide(a, u, summed(d, b), root)

    def _in_a_chain(
        self, numbers: Numbers, bodies: Bodies, first: Link, second: Link, root: _Roots
    ) -> tuple[Number, Number]:
        (cut,) = self.group.cuts
        ends = self.group.mechanism.joint_bodies(cut)[:2]
        other = ends[0] if ends[1] == second.body else ends[1]
        A = self._near(numbers, bodies, first)
        goal = bodies[other].end(*self.group.side(numbers, cut, ends.index(other))).place
        d = _flat(A.seen(minus(goal, A.place)))
        seen, place = self._seen(numbers, first)
        origin, axes = self._sides(numbers, second)[0]
        a, turned = seen(minus(origin, place)), seen([row[0] for row in axes])
        b = product(turned, self._end(numbers, second))
        if all(self.turns):
            return two_turns_in_a_chain(a, b, d, root)
        if self.turns[0]:
            u = product(turned, self._slide(second))
            return turn_then_slide(summed(a, b), u, d, root)
        u = scaled(-1.0, self._slide(first))  # x u + a + e b = d
        turn, x = turn_that_meets_slide(b, u, difference(d, a), root)
        return x, turn


def _flat(vector: Vector) -> Pair:
    return vector[0], vector[1]


def mode_of(group: Group, numbers: Numbers, bodies: Bodies) -> float | None:
    """The sign with which a dyad stands as at the reference, by trial."""
    misses, reference = {}, group.setting.coordinates
    assert group.form is not None
    for sign in (1.0, -1.0):
        group.reach = []
        try:
            found = group.form.values(numbers, bodies, sign)
        except (ZeroDivisionError, ValueError):
            continue
        misses[sign] = sum(_miss(x, reference[j][name], group.frames.size) for (j, name), x in found.items())
    return min(misses, key=lambda sign: misses[sign]) if misses else None


def _miss(x: Number, at_reference: float, size: float) -> float:
    if isinstance(x, tuple):
        return float(abs(complex(*x) - np.exp(1j * at_reference)))
    return float(abs(x - at_reference)) / size
