"""Positions of three turns or slides that a spherical joint closes: a curve meets a surface."""

# In the loop x, y, z the motion y is in the middle. Two functions of the ball's centre do not change with y:
# its place along the axis of a turn and the square of its distance from it, or its two places across a slide.
# They are affine in the cosine and sine of x for one end and of z for the other, or quadratic in slides. Two
# equations give the cosine and sine of z (or z and its square), and what binds these is a quartic in x.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.arrays import Floats

if TYPE_CHECKING:
    from groups.assembly_modes.placing import Stage
    from groups.solvers.spherical_loop import Loop

#: Share below which two equations are one, and distance from the real numbers up to which Newton decides.
SINGULAR, REAL = 1e-9, 1e-3


def positions(stage: Stage, loop: Loop) -> Floats:
    """Unknowns (n, M) of the positions, up to roundings; none where the loop is singular everywhere."""
    with np.errstate(all="ignore"):
        found = _Meeting(stage, loop).positions()
    names = stage.kinematics.names
    return np.array([[row[loop.names.index(name)] for row in found] for name in names]).reshape(
        len(names), -1
    )


class _Meeting:
    """Coefficients of a loop's equations, lengths over the size."""

    def __init__(self, stage: Stage, loop: Loop) -> None:
        self.stage, self.loop = stage, loop
        (self.cut,) = stage.kinematics.cuts
        self.bodies = stage.kinematics.mechanism.joint_bodies(self.cut)[:2]

    def ends(self, x: Floats | float, y: Floats | float, z: Floats | float) -> tuple[Floats, Floats]:
        """(M, 3) the ball's centre on the side that y moves, and on the other."""
        stage, loop, group = self.stage, self.loop, self.stage.kinematics
        values = np.broadcast_arrays(np.atleast_1d(x), y, z)
        scaled = [v * stage.size if slide else v for v, slide in zip(values, loop.slides, strict=True)]
        bodies = stage.tree(group.start, dict(zip(loop.names, scaled, strict=True)))
        points = []
        for side in (loop.inner, 1 - loop.inner):
            place, axes = bodies[self.bodies[side]].place, bodies[self.bodies[side]].axes
            origin = stage.frames.origin[self.cut, side].tolist()
            at = [p + sum(o * e[k] for o, e in zip(origin, axes, strict=True)) for k, p in enumerate(place)]
            points.append(np.array([np.broadcast_to(p, len(values[0])) for p in at]).T / stage.size)
        return points[0], points[1]

    def axis(self, x: Floats | float, z: float) -> tuple[Floats, Floats, Floats]:
        """A point on the axis of y, the axis, and for a slide a direction across, else one of length r."""
        if self.loop.slides[1]:
            at, ahead, other = (self.ends(x, *yz)[0] for yz in ((0.0, z), (1.0, z), (0.0, z + 1.0)))
            along = ahead - at
            along /= np.linalg.norm(along, axis=1)[:, None]
            across = other - at
            return at, along, across - _dot(across, along)[:, None] * along
        at, ahead, behind = (self.ends(x, y, z)[0] for y in (0.0, np.pi / 2, np.pi))
        foot = 0.5 * (at + behind)
        along = np.cross(at - foot, ahead - foot)
        return foot, along / np.linalg.norm(along, axis=1)[:, None], at - foot

    def invariants(self, points: Floats, axis: tuple[Floats, Floats, Floats]) -> Floats:
        """(2, M) functions of points that do not change with y."""
        foot, along, across = axis
        arm = points - foot
        if not self.loop.slides[1]:
            return np.array([_dot(arm, along), _dot(arm, arm)])
        e = across / np.linalg.norm(across, axis=1)[:, None]
        return np.array([_dot(arm, e), _dot(arm, np.cross(along, e))])

    def positions(self) -> list[tuple[float, float, float]]:
        slide_x, _, slide_z = self.loop.slides
        z0 = max((0.3, 1.3, 2.7), key=lambda z: float(np.linalg.norm(self.axis(0.0, z)[2])))
        x, z = (np.array([-1.0, 0.0, 1.0]) if s else np.array([0.0, 2.0, 4.0]) for s in (slide_x, slide_z))
        outer = _fitted(x, self.invariants(self.ends(x, 0.0, z0)[1], self.axis(x, z0)), slide_x)
        axis = self.axis(0.0, z0)
        inner = _fitted(z, self.invariants(self.ends(0.0, 0.0, z)[0], axis), slide_z)
        if not (np.isfinite(outer).all() and np.isfinite(inner).all()):
            return []
        found = [
            (x, z)
            for x in _real_roots(lambda x: _bound(_right(outer, inner, x, slide_x), inner, slide_z), slide_x)
            for z in _last(_right(outer, inner, np.array([x]), slide_x)[:, 0], inner, slide_z)
        ]
        return [(x, self._middle(x, z, z0), z) for x, z in found]

    def _middle(self, x: float, z: float, z0: float) -> float:
        """The motion y that brings one end nearest to the other."""
        (moved,), (wanted,) = self.ends(x, 0.0, z)
        foot, along, _ = (a[0] for a in self.axis(x, z0))
        if self.loop.slides[1]:
            return float((wanted - moved) @ along)
        a, b = moved - foot, wanted - foot
        return float(np.arctan2(np.cross(a, b) @ along, a @ b - (a @ along) * (b @ along)))


def _dot(a: Floats, b: Floats) -> Floats:
    found: Floats = (a * b).sum(axis=1)
    return found


def _basis(x: Floats, slide: bool) -> Floats:
    rows = [np.ones_like(x), x, x * x] if slide else [np.ones_like(x), np.cos(x), np.sin(x)]
    return np.array(rows, dtype=np.float64)


def _fitted(x: Floats, values: Floats, slide: bool) -> Floats:
    """(2, 3) coefficients through values (2, 3) at three places."""
    found: Floats = np.asarray(np.linalg.solve(_basis(x, slide).T, values.T).T, dtype=np.float64)
    return found


def _right(outer: Floats, inner: Floats, x: Floats, slide: bool) -> Floats:
    """(2, M) what the terms of z are to be."""
    found: Floats = outer @ _basis(x, slide) - inner[:, :1]
    return found


def _is_one(inner: Floats) -> bool:
    """Whether the two equations of z are one."""
    sizes = np.linalg.svd(inner[:, 1:], compute_uv=False)
    return bool(sizes[1] <= SINGULAR * sizes[0])


def _bound(right: Floats, inner: Floats, slide: bool) -> Floats:
    """(M,) function of right sides (2, M) that is zero where some z fulfils both equations."""
    found: Floats
    if _is_one(inner):
        found = np.linalg.svd(inner[:, 1:])[0][:, 1] @ right
    else:
        v, w = np.linalg.solve(inner[:, 1:], right)
        found = v * v - w if slide else v * v + w * w - 1.0
    return found


def _last(right: Floats, inner: Floats, slide: bool) -> list[float]:
    """Values of z."""
    if not _is_one(inner):
        v, w = np.linalg.solve(inner[:, 1:], right).tolist()
        return [v] if slide else [float(np.arctan2(w, v))]
    left, sizes, turned = np.linalg.svd(inner[:, 1:])
    a, b = (sizes[0] * turned[0]).tolist()
    c = float(left[:, 0] @ right)
    if slide:
        roots = np.roots([b, a, -c] if abs(b) > SINGULAR * abs(a) else [a, -c])
        return [float(r.real) for r in roots if abs(r.imag) <= REAL * (1.0 + abs(r))]
    middle, share = np.arctan2(b, a), c / sizes[0]
    if abs(share) > 1.0 + REAL:
        return []
    half = np.arccos(np.clip(share, -1.0, 1.0))
    return [float(middle + half), float(middle - half)]


def _real_roots(function: Any, slide: bool) -> list[float]:
    """Real zeros, or almost, of a polynomial of degree four, or of one of degree two in cosine and sine."""
    if slide:
        x = np.linspace(-2.0, 2.0, 5)
        coefficients = np.linalg.solve(np.vander(x), function(x))
    else:
        x = 2 * np.pi * np.arange(5) / 5
        coefficients = np.roll(np.fft.fft(function(x)), 2)[
            ::-1
        ]  # of the powers of exp(ix), the highest first
    largest = np.abs(coefficients).max()
    if not np.isfinite(largest) or largest == 0.0:
        return []
    coefficients = np.where(np.abs(coefficients) > 1e-14 * largest, coefficients, 0.0)
    roots = np.roots(coefficients)
    if slide:
        return [float(r.real) for r in roots if abs(r.imag) <= REAL * (1.0 + abs(r))]
    return [float(np.angle(r)) for r in roots if abs(abs(r) - 1.0) <= REAL]
