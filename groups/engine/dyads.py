"""Closed forms of planar dyads: two bodies on hinges or slides that a hinge closes; complex numbers as pairs.

A form gives the unknowns: a turn as its (cosine, sine), a slide as a number. ``sign`` selects the root.
"""

from __future__ import annotations

import numpy as np

from mbssa.graph.frames import minus
from mbssa.graph.nodes import div, sqrt
from mbssa.joints.catalogue import type_of_joint


def product(a, b):
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def conjugate(a):
    return a[0], -a[1]


def summed(a, b):
    return a[0] + b[0], a[1] + b[1]


def difference(a, b):
    return a[0] - b[0], a[1] - b[1]


def square(a):
    return a[0] * a[0] + a[1] * a[1]


def scaled(k, a):
    return k * a[0], k * a[1]


class _Roots:
    """Square roots with a sign; notes their squares, over that of a length."""

    def __init__(self, group, sign):
        self.group, self.sign = group, sign

    def __call__(self, x, length):
        self.group.reach.append(div(x, length) if length is not None else x)
        return self.sign * sqrt(x)


def two_turns_in_a_chain(a, b, d, root):
    """e1 (a + e2 b) = d."""
    m = product(conjugate(a), b)
    q, k = square(m), 0.5 * (square(d) - square(a) - square(b))
    turn = scaled(div(1.0, q), product((k, root(q - k * k, square(a))), conjugate(m)))
    first = product(d, conjugate(summed(a, product(turn, b))))
    return scaled(div(1.0, square(d)), first), turn


def two_turns_that_meet(a, b, d, root):
    """e1 a = d + e2 b."""
    inverse = div(1.0, square(d))
    x = 0.5 + (0.5 * (square(a) - square(b))) * inverse
    height = root(square(a) - square(d) * x * x, None)
    along = scaled(x, d)
    across = scaled(height * sqrt(inverse), (-d[1], d[0]))
    u = summed(along, across)
    first = scaled(div(1.0, square(a)), product(u, conjugate(a)))
    return first, scaled(div(1.0, square(b)), product(difference(u, d), conjugate(b)))


def turn_that_meets_slide(a, u, d, root):
    """e1 a = d + x u, u of length one."""
    along, off = d[0] * u[0] + d[1] * u[1], d[0] * u[1] - d[1] * u[0]
    x = root(square(a) - off * off, None) - along
    return scaled(div(1.0, square(a)), product(summed(d, scaled(x, u)), conjugate(a))), x


def turn_then_slide(a, u, d, root):
    """e1 (a + x u) = d, u of length one."""
    along, off = a[0] * u[0] + a[1] * u[1], a[0] * u[1] - a[1] * u[0]
    x = root(square(d) - off * off, None) - along
    end = summed(a, scaled(x, u))
    return scaled(div(1.0, square(d)), product(d, conjugate(end))), x


class Dyad:
    """The closed form of a group of this shape."""

    @staticmethod
    def of(group):
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

    def __init__(self, group, turns, chain):
        self.group, self.turns, self.chain = group, turns, chain

    def values(self, numbers, bodies, sign):
        """Unknowns by (joint, coordinate)."""
        first, second = self.group.links
        root = _Roots(self.group, sign)
        solve = self._in_a_chain if self.chain else self._that_meet
        found = solve(numbers, bodies, first, second, root)
        return {self._name(link): self._own(link, x) for link, x in zip((first, second), found, strict=True)}

    def _name(self, link):
        return link.joint, "angle" if self._is_turn(link) else "slide"

    def _is_turn(self, link):
        return type_of_joint(self.group.mechanism, link.joint).is_bearing

    def _own(self, link, x):
        """The joint's coordinate, from the motion of the link."""
        sign = self._step(link)[1]
        return (x[0], sign * x[1]) if isinstance(x, tuple) else sign * x

    def _step(self, link):
        """Axis of the joint's one step, and the sign with which its coordinate moves the link."""
        (step,) = type_of_joint(self.group.mechanism, link.joint).pair.steps
        return step.axis, float(step.factor) * (1.0 if link.forward else -1.0)

    def _sides(self, numbers, link):
        near, far = (0, 1) if link.forward else (1, 0)
        return self.group.side(numbers, link.joint, near), self.group.side(numbers, link.joint, far)

    def _from_joint(self, numbers, link, origin, axes=None):
        """A place on the link's body, and the x axis of axes on it, seen from the far frame of its joint."""
        place, own = self._sides(numbers, link)[1]
        columns = list(zip(*own, strict=True))
        d = minus(origin, place)

        def seen(v):
            return tuple(c[0] * v[0] + c[1] * v[1] for c in columns[:2])

        return seen(d) if axes is None else (seen(d), seen([row[0] for row in axes]))

    def _end(self, numbers, link):
        """The closing hinge on the link's body."""
        (cut,) = self.group.cuts
        side = self.group.mechanism.joint_bodies(cut)[:2].index(link.body)
        return self._from_joint(numbers, link, self.group.side(numbers, cut, side)[0])

    def _slide(self, link):
        axis = self._step(link)[0]
        return (1.0, 0.0) if axis == 0 else (0.0, 1.0)

    def _near(self, numbers, bodies, link):
        return bodies[link.parent].end(*self._sides(numbers, link)[0])

    def _that_meet(self, numbers, bodies, first, second, root):
        if not self.turns[0]:
            return self._that_meet_turn_first(numbers, bodies, second, first, root)[::-1]
        return self._that_meet_turn_first(numbers, bodies, first, second, root)

    def _that_meet_turn_first(self, numbers, bodies, first, second, root):
        A, B = self._near(numbers, bodies, first), self._near(numbers, bodies, second)
        d = tuple(A.seen(minus(B.place, A.place))[:2])
        turned = tuple(A.seen(B.axes[0])[:2])
        a, b = self._end(numbers, first), product(turned, self._end(numbers, second))
        if self._is_turn(second):
            return two_turns_that_meet(a, b, d, root)
        u = product(turned, self._slide(second))
        return turn_that_meets_slide(a, u, summed(d, b), root)

    def _in_a_chain(self, numbers, bodies, first, second, root):
        (cut,) = self.group.cuts
        ends = self.group.mechanism.joint_bodies(cut)[:2]
        other = ends[0] if ends[1] == second.body else ends[1]
        A = self._near(numbers, bodies, first)
        goal = bodies[other].end(*self.group.side(numbers, cut, ends.index(other))).place
        d = tuple(A.seen(minus(goal, A.place))[:2])
        a, turned = self._from_joint(numbers, first, *self._sides(numbers, second)[0])
        b = product(turned, self._end(numbers, second))
        if all(self.turns):
            return two_turns_in_a_chain(a, b, d, root)
        if self.turns[0]:
            u = product(turned, self._slide(second))
            return turn_then_slide(summed(a, b), u, d, root)
        u = scaled(-1.0, self._slide(first))  # x u + a + e b = d
        turn, x = turn_that_meets_slide(b, u, difference(d, a), root)
        return x, turn


def mode_of(group, numbers, bodies):
    """The sign with which a dyad stands as at the reference, by trial."""
    misses, reference = {}, group.setting.coordinates
    for sign in (1.0, -1.0):
        group.reach = []
        try:
            found = group.form.values(numbers, bodies, sign)
        except (ZeroDivisionError, ValueError):
            continue
        misses[sign] = sum(_miss(x, reference[j][name], group.frames.size) for (j, name), x in found.items())
    return min(misses, key=misses.get) if misses else None


def _miss(x, at_reference, size):
    if isinstance(x, tuple):
        return abs(complex(*x) - np.exp(1j * at_reference))
    return abs(x - at_reference) / size
