"""Closed forms of groups of one or two unknown turns or slides; vectors of the plane as pairs."""

# What moves with an unknown is affine in it: in its value for a slide, in its cosine and sine for a turn. So
# the coefficients are found by placing the bodies with the unknowns at a few values, among them a cosine and
# sine of (0, 0), which draws all that the turn carries into its axis. Driven joints in between need no care.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groups.engine.struts import squares_of
from mbssa.graph.frames import Vector, dot, minus, plus, times
from mbssa.graph.nodes import Number, div, sqrt
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Elementary

if TYPE_CHECKING:
    from groups.engine.kinematics import Group, Name, Numbers


def square(a: Vector) -> Number:
    return a[0] * a[0] + a[1] * a[1]


def turned(a: Vector, b: Vector) -> Vector:
    """Product of one vector and the other's mirror image, as complex numbers: turned back by its angle."""
    return a[0] * b[0] + a[1] * b[1], a[1] * b[0] - a[0] * b[1]


class Roots:
    """Square roots of a sign; the reach is the share of the largest square that there is: a sine, squared."""

    def __init__(self, group: Group, sign: Number) -> None:
        self.group, self.sign = group, sign

    def __call__(self, x: Number, largest: Number) -> Number:
        self.group.reach.append(div(x, largest))
        return self.sign * sqrt(x)

    def meeting(self, a: Vector, u: Vector, length: Number) -> Number:
        """x where a + x u, u of length one, has a length, which is given squared."""
        along, off = a[0] * u[0] + a[1] * u[1], a[0] * u[1] - a[1] * u[0]
        return self(length - off * off, length) - along


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
        pairs = [type_of_joint(group.mechanism, j).pair for j, _ in free]
        steps = [() if pair is None else pair.steps for pair in pairs]
        if any(len(of) != 1 for of in steps):
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
            return len(self.free) == 1 and group.struts[0].is_rod
        (cut,) = group.cuts
        if cut in group.frames.relations:
            return False
        if len(self.free) == 2:
            is_hinge = type_of_joint(group.mechanism, cut).is_bearing and not group.drives_of(cut)
            return group.planar and is_hinge and any(self.turns)
        length = self._length_of(cut)
        return length is not None and (length.kind == "distance" or self.turns[0])

    def _length_of(self, cut: int) -> Elementary | None:
        """The elementary equation of a cut joint or of its drive, if it is one length."""
        kind = type_of_joint(self.group.mechanism, cut)
        if kind.pair is None or kind.is_contact:
            return None
        rows = [*kind.pair.functions]
        rows += [kind.pair.coordinates[kind.coordinates.index(n)] for n in self.group.drives_of(cut)]
        return rows[0] if len(rows) == 1 and rows[0].kind in ("along", "distance") else None

    def values(self, numbers: Numbers, sign: Number) -> dict[Name, Any]:
        """Unknowns by joint and coordinate: a turn as (cosine, sine), a slide as a number."""
        root = Roots(self.group, sign)
        if len(self.free) == 1:
            return {self.free[0]: self._one(numbers, root)}
        found: dict[Name, Any] = dict(zip(self.free, self._two(numbers, root), strict=True))
        for name in (name for name, turn in zip(self.free, self.turns, strict=True) if turn):
            (link,) = (link for link in self.group.links if link.joint == name[0])
            pair = type_of_joint(self.group.mechanism, link.joint).pair
            assert pair is not None
            c, s = found[name]  # an angle may turn against its link
            found[name] = c, float(pair.steps[0].factor) * (1.0 if link.forward else -1.0) * s
        return found

    def _one(self, numbers: Numbers, root: Roots) -> Any:
        turns = self.turns[0]
        places: Any = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)) if turns else (0.0, 1.0, -1.0)
        rows = [self._row(numbers, x) for x in places]
        at, ahead, behind = (measured - wanted for measured, wanted in rows)
        if not turns:  # x² + 2 b x + c = 0
            b = 0.25 * (ahead - behind)
            return root(b * b - at, rows[0][1]) - b
        k, a = 0.5 * (at + behind), 0.5 * (at - behind)  # k + a cosine + b sine = 0
        b = ahead - k
        far = a * a + b * b
        over, height = div(1.0, far), root(far - k * k, far)
        return (-k * a - height * b) * over, (height * a - k * b) * over

    def _row(self, numbers: Numbers, x: Any) -> tuple[Number, Number]:
        """At a value of the unknown, a distance squared or a place along an axis, and what it is to be."""
        group = self.group
        bodies = group.placed(numbers, {self.free[0]: x})
        if group.struts:
            return squares_of(group, numbers, bodies, group.struts[0])
        (cut,) = group.cuts
        A, B = group.ends_of(numbers, bodies, cut)
        length, drives = self._length_of(cut), group.drives_of(cut).values()
        assert length is not None
        of = length.parameter
        given = group.parameter(numbers, cut, of) if of else 0.0
        for row in drives:
            given = numbers.drive(row)
        d = minus(B.place, A.place)
        if length.kind == "distance":
            return dot(d, d), given * given
        return A.seen(d)[length.numbers[0]], given

    def _two(self, numbers: Numbers, root: Roots) -> tuple[Any, Any]:
        first, second = self.turns
        zeros = [(0.0, 0.0) if turn else 0.0 for turn in self.turns]
        ones = [(1.0, 0.0) if turn else 1.0 for turn in self.turns]
        start = self._gap(numbers, zeros)
        both = [self._gap(numbers, [ones[0], zeros[1]]), self._gap(numbers, [zeros[0], ones[1]])]
        a, b = (minus(x, start) for x in both)
        d = times(-1.0, start)
        if first and self._in_a_chain():  # e1 (a + e2 b) = d, or e1 (a + x b) = d
            b, far = minus(self._gap(numbers, ones), both[0]), square(d)
            if second:
                m = turned(b, a)
                q, k = square(m), 0.5 * (far - square(a) - square(b))
                x: Any = times(div(1.0, q), turned((k, root(q - k * k, q)), m))
                end = plus(a, (x[0] * b[0] - x[1] * b[1], x[0] * b[1] + x[1] * b[0]))
            else:
                x = root.meeting(a, b, far)
                end = plus(a, times(x, b))
            return times(div(1.0, far), turned(d, end)), x
        if first and second:  # e1 a = d - e2 b
            far, aa, bb = square(d), square(a), square(b)
            k = 0.5 * (far + aa - bb)
            height = root(aa * far - k * k, aa * bb)
            u = times(div(1.0, far), plus(times(k, d), times(height, (-d[1], d[0]))))
            return times(div(1.0, aa), turned(u, a)), times(div(1.0, bb), turned(minus(d, u), b))
        if not first:
            a, b = b, a
        x = root.meeting(d, b, square(a))  # e a = d + x b
        turn = times(div(1.0, square(a)), turned(plus(d, times(x, b)), a))
        return (turn, -x) if first else (-x, turn)

    def _in_a_chain(self) -> bool:
        """Whether the second unknown moves with the first."""
        parent = {link.body: link.parent for link in self.group.links}
        carriers = {link.joint: link.body for link in self.group.links}
        body: int | None = parent[carriers[self.free[1][0]]]
        while body is not None and body != carriers[self.free[0][0]]:
            body = parent.get(body)
        return body is not None

    def _gap(self, numbers: Numbers, x: list[Any]) -> Vector:
        """From one side of the closing hinge to the other."""
        bodies = self.group.placed(numbers, dict(zip(self.free, x, strict=True)))
        A, B = self.group.ends_of(numbers, bodies, self.group.cuts[0])
        return minus(B.place, A.place)[:2]


#: Closed forms in the order in which they are tried.
FORMS: list[type[Form]] = [Form]


def form_of(group: Group) -> Form | None:
    """The closed form of a group, if one is known."""
    return next((form for kind in FORMS if (form := kind.match(group)) is not None), None)
