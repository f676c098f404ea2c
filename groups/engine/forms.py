"""Closed forms of groups of one or two unknown turns or slides; vectors of the plane as pairs."""

# What moves with an unknown is affine in it: in its value for a slide, in its cosine and sine for a turn. So
# the coefficients are found by placing the bodies with the unknowns at a few values, among them a cosine and
# sine of (0, 0), which draws all that the turn carries into its axis. Driven joints in between need no care.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groups.engine.struts import squares_of
from mbssa.graph.frames import dot, minus
from mbssa.graph.nodes import Number, div, sqrt
from mbssa.joints.catalogue import type_of_joint

if TYPE_CHECKING:
    from groups.engine.kinematics import Group
    from groups.engine.numbers import Name, Numbers

Pair = tuple[Number, Number]


def product(a: Pair, b: Pair) -> Pair:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def conjugate(a: Pair) -> Pair:
    return a[0], -a[1]


def summed(a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


def difference(a: Pair, b: Pair) -> Pair:
    return a[0] - b[0], a[1] - b[1]


def square(a: Pair) -> Number:
    return a[0] * a[0] + a[1] * a[1]


def scaled(k: Number, a: Pair) -> Pair:
    return k * a[0], k * a[1]


class Roots:
    """Square roots of a sign; the reach is the share of the largest square that there is: a sine, squared."""

    def __init__(self, group: Group, sign: Number) -> None:
        self.group, self.sign = group, sign

    def __call__(self, x: Number, largest: Number) -> Number:
        self.group.reach.append(div(x, largest))
        return self.sign * sqrt(x)


def two_turns_in_a_chain(a: Pair, b: Pair, d: Pair, root: Roots) -> tuple[Pair, Pair]:
    """e1 (a + e2 b) = d."""
    m = product(conjugate(a), b)
    q, k = square(m), 0.5 * (square(d) - square(a) - square(b))
    turn = scaled(div(1.0, q), product((k, root(q - k * k, q)), conjugate(m)))
    first = product(d, conjugate(summed(a, product(turn, b))))
    return scaled(div(1.0, square(d)), first), turn


def two_turns_that_meet(a: Pair, b: Pair, d: Pair, root: Roots) -> tuple[Pair, Pair]:
    """e1 a = d + e2 b."""
    far, k = square(d), 0.5 * (square(d) + square(a) - square(b))
    height = root(square(a) * far - k * k, square(a) * square(b))
    u = scaled(div(1.0, far), summed(scaled(k, d), scaled(height, (-d[1], d[0]))))
    first = scaled(div(1.0, square(a)), product(u, conjugate(a)))
    return first, scaled(div(1.0, square(b)), product(difference(u, d), conjugate(b)))


def turn_that_meets_slide(a: Pair, u: Pair, d: Pair, root: Roots) -> tuple[Pair, Number]:
    """e1 a = d + x u, u of length one."""
    along, off = d[0] * u[0] + d[1] * u[1], d[0] * u[1] - d[1] * u[0]
    x = root(square(a) - off * off, square(a)) - along
    return scaled(div(1.0, square(a)), product(summed(d, scaled(x, u)), conjugate(a))), x


def turn_then_slide(a: Pair, u: Pair, d: Pair, root: Roots) -> tuple[Pair, Number]:
    """e1 (a + x u) = d, u of length one."""
    along, off = a[0] * u[0] + a[1] * u[1], a[0] * u[1] - a[1] * u[0]
    x = root(square(d) - off * off, square(d)) - along
    end = summed(a, scaled(x, u))
    return scaled(div(1.0, square(d)), product(d, conjugate(end))), x


def one_turn(at: Number, across: Number, opposite: Number, root: Roots) -> Pair:
    """(cosine, sine) where k + a cosine + b sine = 0, by its values at 0, a quarter and half a turn."""
    k, a = 0.5 * (at + opposite), 0.5 * (at - opposite)
    b = across - k
    far = a * a + b * b
    over = div(1.0, far)
    height = root(far - k * k, far)
    return (-k * a - height * b) * over, (height * a - k * b) * over


def one_slide(at: Number, ahead: Number, behind: Number, length: Number, root: Roots) -> Number:
    """x where x² + 2 b x + c = 0, by its values at 0, 1 and -1, where a length squared is taken off."""
    b = 0.25 * (ahead - behind)
    return root(b * b - at, length) - b


class Form:
    """The closed form of a group: its unknowns by poses of known bodies, a sign of the root and inputs."""

    @classmethod
    def match(cls, group: Group) -> Form | None:
        """The form of a group; None where it has another shape."""
        if group.spins or any(link.joint < 0 for link in group.links):
            return None
        free = [
            (link.joint, name)
            for link in group.links
            for name in type_of_joint(group.mechanism, link.joint).coordinates
            if (link.joint, name) not in group.setting.drives
        ]
        kinds = [type_of_joint(group.mechanism, j) for j, _ in free]
        steps = [() if kind.pair is None else kind.pair.steps for kind in kinds]
        if any(len(mine) != 1 for mine in steps):
            return None
        form = cls(group, free, [step.kind == "turn" for (step,) in steps])
        return form if form.is_solvable() else None

    def __init__(self, group: Group, free: list[Name], turns: list[bool]) -> None:
        self.group, self.free, self.turns = group, free, turns

    def is_solvable(self) -> bool:
        """Whether one or two unknowns are closed by a length, or by a hinge in the plane."""
        group = self.group
        if len(group.cuts) + len(group.struts) != 1 or len(self.free) not in (1, 2):
            return False
        if group.struts:
            (strut,) = group.struts
            return len(self.free) == 1 and (strut.slide < 0 or strut.slide_driven)
        (cut,) = group.cuts
        if cut in group.frames.relations:
            return False
        kind = type_of_joint(group.mechanism, cut)
        if len(self.free) == 2:
            return group.planar and kind.is_bearing and not group._driven(cut) and any(self.turns)
        rows = group.lengths_of(cut)
        return rows is not None and len(rows) == 1 and (rows[0].kind == "distance" or self.turns[0])

    def values(self, numbers: Numbers, sign: Number) -> dict[Name, Any]:
        """Unknowns by joint and coordinate: a turn as (cosine, sine), a slide as a number."""
        root = Roots(self.group, sign)
        if len(self.free) == 1:
            return dict(zip(self.free, self._one(numbers, root), strict=True))
        found = zip(self.free, self._two(numbers, root), strict=True)
        return {name: self._of_coordinate(name, x) for name, x in found}

    def _of_coordinate(self, name: Name, x: Any) -> Any:
        """The (cosine, sine) of a joint's angle, which may turn against its link."""
        (link,) = (link for link in self.group.links if link.joint == name[0])
        pair = type_of_joint(self.group.mechanism, link.joint).pair
        assert pair is not None
        (step,) = pair.steps
        sign = float(step.factor) * (1.0 if link.forward else -1.0)
        return (x[0], sign * x[1]) if isinstance(x, tuple) else x

    def _one(self, numbers: Numbers, root: Roots) -> list[Any]:
        places = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)) if self.turns[0] else (0.0, 1.0, -1.0)
        rows = [self._row(numbers, x) for x in places]
        at, ahead, behind = (measured - wanted for measured, wanted in rows)
        if self.turns[0]:
            return [one_turn(at, ahead, behind, root)]
        return [one_slide(at, ahead, behind, rows[0][1], root)]

    def _row(self, numbers: Numbers, x: Any) -> Pair:
        """At a value of the unknown, a distance squared or a place along an axis, and what it is to be."""
        group = self.group
        bodies = group.placed(numbers, {self.free[0]: x})
        if group.struts:
            return squares_of(group, numbers, bodies, group.struts[0])
        (cut,) = group.cuts
        A, B = group.ends_of(numbers, bodies, cut)
        lengths = group.lengths_of(cut)
        assert lengths is not None
        (elementary,) = lengths
        given = group.length_given(numbers, cut, elementary)
        if elementary.kind == "distance":
            d = minus(B.place, A.place)
            return dot(d, d), given * given
        return A.seen(minus(B.place, A.place))[elementary.numbers[0]], given

    def _two(self, numbers: Numbers, root: Roots) -> list[Any]:
        first, second = self.turns
        zeros = [(0.0, 0.0) if turn else 0.0 for turn in self.turns]
        ones = [(1.0, 0.0) if turn else 1.0 for turn in self.turns]
        start = self._gap(numbers, zeros)
        both = [self._gap(numbers, [ones[0], zeros[1]]), self._gap(numbers, [zeros[0], ones[1]])]
        a, b = (difference(x, start) for x in both)
        d = scaled(-1.0, start)  # e1 a + e2 b = d, or e1 (a + e2 b) = d
        if first and self._in_a_chain():
            b = difference(self._gap(numbers, ones), both[0])
            solve = two_turns_in_a_chain if second else turn_then_slide
            return list(solve(a, b, d, root))
        if first and second:
            return list(two_turns_that_meet(a, scaled(-1.0, b), d, root))
        turn, x = turn_that_meets_slide(*((a, b) if first else (b, a)), d, root)
        return [turn, -x] if first else [-x, turn]

    def _in_a_chain(self) -> bool:
        """Whether the second unknown moves with the first."""
        parent = {link.body: link.parent for link in self.group.links}
        carriers = {link.joint: link.body for link in self.group.links}
        body: int | None = parent[carriers[self.free[1][0]]]
        while body is not None and body != carriers[self.free[0][0]]:
            body = parent.get(body)
        return body is not None

    def _gap(self, numbers: Numbers, x: list[Any]) -> Pair:
        """From one side of the closing hinge to the other."""
        group, (cut,) = self.group, self.group.cuts
        bodies = group.placed(numbers, dict(zip(self.free, x, strict=True)))
        A, B = group.ends_of(numbers, bodies, cut)
        x_, y = minus(B.place, A.place)[:2]
        return x_, y


#: Closed forms in the order in which they are tried.
FORMS: list[type[Form]] = [Form]


def form_of(group: Group) -> Form | None:
    """The closed form of a group, if one is known."""
    return next((form for kind in FORMS if (form := kind.match(group)) is not None), None)
