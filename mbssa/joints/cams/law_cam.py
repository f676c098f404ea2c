"""Cams from follower laws: pitch curve, profile, curvature, pressure angle, face width."""

# Origin on the cam's axis; at the law's angle θ = 0, x points along the rise of a translating follower, or to
# the pivot of a swinging one. θ ≥ 0 is the cam's rotation in its sense σ (1 counter-clockwise). p = w
# exp(-iσθ) is the trace point w(θ) in the cam; s = -σθ the profile's parameter, counter-clockwise.

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from mbssa.joints.cams.curves import Array, Curve, curve_from
from mbssa.joints.cams.follower_laws import CLOSE, FollowerLaw

Follower = Literal["roller", "knife", "flat"]
Turns = Literal["counter-clockwise", "clockwise"]
Side = Literal["left", "right"]


class CamError(ValueError):
    """Numbers that make no cam; ``faults`` are pairs of a field and a sentence."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(f"{field}: {what}" for field, what in faults))


@dataclass(frozen=True, slots=True)
class Swing:
    """Swinging follower: its pivot's distance from the cam's axis, its arm, both in m, and its side."""

    pivot: float
    # arm: length to the roller's centre or the knife's tip; of a flat face, how far it lies beyond the pivot
    arm: float
    # side: of the line from the pivot to the cam's axis, left: y > 0; ψ + s is the angle from it to the arm
    side: Side = "left"


@dataclass(frozen=True)
class LawCam:
    """Cam that moves its follower by a law; lengths in m, the law's places in m, or rad with a ``swing``."""

    law: FollowerLaw
    follower: Follower
    base: float  # radius of the base circle, the smallest of the profile
    radius: float = 0.0
    # offset: of the trace point's line from x, to its left: (d + s, offset), d² + offset² = (base + radius)²
    offset: float = 0.0
    swing: Swing | None = None
    turns: Turns = "counter-clockwise"

    def __post_init__(self) -> None:
        if faults := _faults(self):
            raise CamError(faults)

    # --- the places of the follower ----------------------------------------------------------------

    @property
    def sense(self) -> int:
        """Sense σ: 1 if the cam turns counter-clockwise, else -1."""
        return 1 if self.turns == "counter-clockwise" else -1

    @property
    def prime(self) -> float:
        """Radius of the prime circle, the smallest distance of the trace point from the cam's axis (m)."""
        return self.base + self.radius

    @cached_property
    def start(self) -> float:
        """Position of the follower at s = 0: d (m) of a translating one, base if flat; ψ (rad) of a swing."""
        if self.swing is None:
            flat = self.follower == "flat"
            return self.base if flat else float(np.sqrt(self.prime**2 - self.offset**2))
        pivot, arm = self.swing.pivot, self.swing.arm
        with np.errstate(invalid="ignore", divide="ignore"):  # NaN where no triangle has these sides
            if self.follower == "flat":
                return float(np.arcsin(np.float64(self.base - arm) / pivot))
            return float(np.arccos((pivot**2 + arm**2 - self.prime**2) / np.float64(2.0 * pivot * arm)))

    def trace(self, angle: Array) -> tuple[Array, Array, Array]:
        """Trace point w(θ), complex (n,) in m, and two derivatives by θ."""
        s, s1, s2, _ = self.law.at(angle)
        if self.swing is None:
            return self.start + s + 1j * self.offset, s1 + 0j, s2 + 0j
        side = self.side
        arm = self.swing.arm * np.exp(-1j * side * (self.start + s))
        turned = 1j * side * arm
        return self.swing.pivot - arm, turned * s1, turned * s2 + arm * s1**2

    def support(self, angle: Array) -> tuple[Array, Array, Array, Array]:
        """A flat face seen from the cam: direction α of its normal (rad, (n,)), distance h (m), h_α, h_αα."""
        s, s1, s2, _ = self.law.at(angle)
        if self.swing is None:
            return -self.sense * angle, self.base + s, -self.sense * s1, s2
        side, arm, pivot = self.side, self.swing.arm, self.swing.pivot
        psi = self.start + s
        sine, cosine = pivot * np.sin(psi), pivot * np.cos(psi)
        turned, turned_2 = -side * s1 - self.sense, -side * s2
        h1, h2 = cosine * s1, cosine * s2 - sine * s1**2
        alpha = side * (0.5 * np.pi - psi) - self.sense * angle
        return alpha, sine + arm, h1 / turned, (h2 * turned - h1 * turned_2) / turned**3

    @property
    def side(self) -> int:
        """Side: 1 if the arm is on the left of the line from the cam to the pivot, or translates; else -1."""
        return -1 if self.swing is not None and self.swing.side == "right" else 1

    # --- the curves --------------------------------------------------------------------------------

    # R. L. Norton, Cam Design and Manufacturing Handbook, on pressure angle, curvature and profiles; Uicker,
    # Pennock and Shigley, Theory of Machines and Mechanisms, on cams (flat face: ρ = base + s + s'', width
    # from s').

    @cached_property
    def pitch(self) -> Curve | None:
        """The trace point's path on the cam; None of a flat face."""
        return None if self.follower == "flat" else self._curve(self._pitch)

    @cached_property
    def profile(self) -> Curve:
        """The cam's profile, in its own frame."""
        return self._curve(self._contact)

    def _curve(self, points: Callable[[Array], Array]) -> Curve:
        def pairs(s: Array) -> Array:
            place = points(-self.sense * s)
            return np.stack([place.real, place.imag], axis=-1)

        return curve_from(pairs, np.sort(-self.sense * self.law.breaks), closed=True)

    def _pitch(self, angle: Array) -> Array:
        return np.asarray(self.trace(angle)[0] * np.exp(-1j * self.sense * angle))

    def _contact(self, angle: Array) -> Array:
        if self.follower == "flat":
            alpha, h, h1, _ = self.support(angle)
            return np.asarray((h + 1j * h1) * np.exp(1j * alpha))
        if self.radius == 0.0:
            return self._pitch(angle)
        w, w1, _ = self.trace(angle)
        return np.asarray((w - self.radius * self._normal(w, w1)) * np.exp(-1j * self.sense * angle))

    def _normal(self, w: Array, w1: Array) -> Array:
        """Outward normal of the pitch curve, turned as w is: w' - iσw is its tangent."""
        normal = w + 1j * self.sense * w1
        return np.asarray(normal / np.abs(normal))

    # --- properties --------------------------------------------------------------------------------

    def pitch_curvature(self, angle: Array) -> Array:
        """Curvature of the pitch curve (1/m, (n,)), positive where it is convex; not for a flat face."""
        w, w1, w2 = self.trace(angle)
        tangent, second = w1 - 1j * self.sense * w, w2 - 2j * self.sense * w1 - w
        return np.asarray(-self.sense * (tangent.conj() * second).imag / np.abs(tangent) ** 3)

    def profile_radius(self, angle: Array) -> Array:
        """Signed radius of curvature of the profile (m, (n,)): negative where it is concave, or undercut."""
        if self.follower == "flat":
            _, h, _, h2 = self.support(angle)
            return np.asarray(h + h2)
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.pitch_curvature(angle) - self.radius)

    def pressure(self, angle: Array) -> Array:
        """Pressure angle (rad, (n,)), from the motion of the rising follower to the common normal."""
        # Of a translating one its tangent is (offset + σ s') / (d + s): a cam that turns counter-clockwise
        # lifts its follower more easily with a negative offset.
        if self.follower != "flat":
            w, w1, _ = self.trace(angle)
            along: Array = 1.0 + 0j * angle
            if self.swing is not None:
                along = 1j * self.side * (self.swing.pivot - w) / self.swing.arm
            return np.angle(self._normal(w, w1) / along)
        if self.swing is None:
            return np.zeros_like(angle)
        return np.arctan2(self.swing.arm, self.face(angle))

    def face(self, angle: Array) -> Array:
        """Contact (m, (n,)) on a flat face: left of the cam's axis, seen along the rise; or from the foot."""
        # Of a swinging face: from the foot of the perpendicular from the pivot, outwards.
        _, _, h1, _ = self.support(angle)
        if self.swing is None:
            return h1
        return self.side * h1 + self.swing.pivot * np.cos(self.start + self.law.at(angle)[0])


# --- faults ----------------------------------------------------------------------------------------


def _faults(cam: LawCam) -> list[tuple[str, str]]:
    faults = []
    if not cam.base > 0:
        faults.append(("base", f"is {cam.base:g} m; write the radius of the base circle, above 0"))
    if cam.follower == "roller" and not cam.radius > 0:
        faults.append(("radius", "a roller has a radius above 0; a follower without one is a knife"))
    if cam.follower != "roller" and cam.radius:
        faults.append(("radius", f"is the roller's; a {cam.follower} follower has none"))
    if cam.offset and (cam.follower == "flat" or cam.swing):
        why = "a swinging follower has a pivot instead" if cam.swing else "a flat face's cam is the same"
        faults.append(("offset", f"is for translating rollers and knives; {why}"))
    elif not faults and abs(cam.offset) >= cam.prime:
        prime = f"base{' + radius' * bool(cam.radius)}, {cam.prime:g} m"
        faults.append(("offset", f"is {cam.offset:g} m; write less than {prime}"))
    if cam.follower != "knife":
        why = f"which a {cam.follower} follower cannot do; write another kind than uniform, or a knife"
        for angle, jump in cam.law.jumps():
            what = f"the velocity jumps by {jump:.4g} a rad at {np.rad2deg(angle):g}°"
            faults.append(("law", f"{what}, {why}"))
    if cam.swing is not None and not faults:
        faults += _swing_faults(cam, cam.swing)
    return faults


def _swing_faults(cam: LawCam, swing: Swing) -> list[tuple[str, str]]:
    flat = cam.follower == "flat"
    faults = []
    if not swing.pivot > 0:
        faults.append(("swing.pivot", "write the distance of the pivot from the cam's axis, above 0"))
    if not flat and not swing.arm > 0:
        faults.append(("swing.arm", "write the length of the arm, above 0"))
    if faults:
        return faults
    if not np.isfinite(first := cam.start):
        least, most = abs(swing.pivot - swing.arm), swing.pivot + swing.arm
        reach = f"base + radius is {cam.prime:g} m, which must be between {least:g} and {most:g} m"
        if flat:
            bound = f"which must be less than pivot, {swing.pivot:g} m"
            reach = f"base - arm is {cam.base - swing.arm:g} m, {bound}"
        return [("swing", f"the arm does not reach the base circle: {reach}")]
    last, largest = first + cam.law.rise, 0.5 * np.pi if flat else np.pi
    if not (first > -largest and last < largest):
        where = f"from {np.rad2deg(first):.4g}° to {np.rad2deg(last):.4g}° from the line to the cam's axis"
        remedy = f"write a rise that ends below {np.rad2deg(largest):g}°"
        return [("law", f"swings the arm {where}; {remedy}")]
    if flat:
        angle = np.linspace(cam.law.starts[:-1], cam.law.starts[1:], 200, axis=1).ravel()
        rate = cam.law.at(angle)[1] * cam.sense * cam.side
        if rate.min() <= -1.0 + CLOSE:
            where = f"{np.rad2deg(angle[rate.argmin()] % (2 * np.pi)):.4g}°"
            what = f"at {where} the face turns as fast as the cam and no profile touches it"
            return [("law", f"{what}; write a slower swing there")]
    return []
