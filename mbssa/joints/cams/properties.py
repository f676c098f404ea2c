"""Properties of a cam: curvature of its curves, undercut, pressure angle, face width, peaks of its law."""

# A roller larger than the least convex radius of curvature of its pitch curve undercuts the profile, one
# larger than a hollow's does not reach its bottom; a flat face has a profile only where base + s + s'' > 0,
# and bridges hollows. Source: R. L. Norton, Cam Design and Manufacturing Handbook, on cam size determination.

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mbssa.joints.cams.curves import Array, Curve
from mbssa.joints.cams.profiles import Profile
from mbssa.units import SI, given_in, quantity_text

#: Largest pressure angles that textbooks advise, of translating and of swinging followers (rad).
ADVISED = {False: np.deg2rad(30.0), True: np.deg2rad(35.0)}

#: Angle (rad) from which the directions of two pieces have a corner between them.
CORNER = 1e-6

#: Samples between two breaks, and rounds in which the place of an extreme is narrowed down.
_SAMPLES, _ROUNDS = 128, 4


@dataclass(frozen=True, slots=True)
class Extreme:
    """A largest or smallest value, and where: the law's angle (rad), or else the curve's parameter."""

    value: float
    at: float


@dataclass(frozen=True)
class CamReport:
    """Properties of a profile; lengths in m, angles in rad, derivatives by the law's angle."""

    profile: Profile
    # convex: smallest radius of curvature where convex, None if nowhere; <= 0 where a law's is undercut
    convex: Extreme | None
    concave: Extreme | None  # likewise where concave
    pitch_convex: Extreme | None  # of a roller's pitch curve
    pitch_concave: Extreme | None  # likewise
    pressure: Extreme | None  # pressure angle of the largest size
    face: tuple[float, float] | None  # where a flat face is touched, from … to (see LawCam.face)
    peaks: tuple[Extreme, ...]  # largest sizes of s', s'', s''' of the law
    corners: tuple[float, ...]  # parameters at which the direction of the profile jumps
    faults: tuple[str, ...]  # reasons why profile and follower do not work together
    advice: tuple[str, ...]  # what textbooks advise against

    @property
    def sound(self) -> bool:
        """Return whether the follower can touch all of the profile."""
        return not self.faults


def examine(profile: Profile, units: tuple[str, str] = SI) -> CamReport:
    """Curvature, undercut, pressure angle, face width; sentences have these units of length and angle."""
    cam, curve = profile.cam, profile.curve
    sharp = np.flatnonzero(np.abs(curve.corners) > CORNER)
    corners = tuple(curve.breaks[sharp].tolist())
    pitch: tuple[Extreme | None, Extreme | None] = (None, None)
    pressure, face = None, None
    peaks: tuple[Extreme, ...] = ()
    if cam is None:
        convex, concave = _radii(curve.curvature, curve.breaks)
        if profile.follower == "roller":
            pitch = _shifted(convex, profile.radius), _shifted(concave, -profile.radius)
        if profile.follower == "flat":
            face = _range(partial(_along_face, curve), curve.breaks)
    else:
        breaks = cam.law.breaks
        if cam.follower == "flat":
            convex, concave = _extreme(cam.profile_radius, breaks, -1.0), None
            face = _range(cam.face, breaks)
        else:
            pitch = _radii(cam.pitch_curvature, breaks)
            convex, concave = _shifted(pitch[0], -cam.radius), _shifted(pitch[1], cam.radius)
            if cam.follower == "knife":
                pitch = (None, None)
        if cam.follower != "flat" or cam.swing is not None:
            pressure = _largest(cam.pressure, breaks)
        peaks = tuple(_largest(partial(cam.law.derivative, k), breaks) for k in (1, 2, 3))
    width = face and (face[0].value, face[1].value)
    found = CamReport(profile, convex, concave, *pitch, pressure, width, peaks, corners, (), ())
    return replace(found, faults=tuple(_faults(found, units)), advice=tuple(_advice(found, units)))


# --- sentences -------------------------------------------------------------------------------------


def place_text(profile: Profile, at: float, units: tuple[str, str]) -> str:
    """Place on a profile: the law's angle or the curve's parameter, with its unit."""
    if profile.cam is not None:
        return angle_text(at, units)
    unit = profile.parameter_unit
    return f"s = {angle_text(at, units) if unit == 'rad' else quantity_text(at, unit, units, '.4g')}"


def angle_text(angle: float, units: tuple[str, str], digits: str = ".4g") -> str:
    """An angle with its unit, degrees by their sign."""
    # An extreme at a break is found a hair beside it; 0.0 takes the sign off a zero.
    number = f"{round(angle / given_in('rad', units)[1], 4) + 0.0:{digits}}"
    return f"{number}°" if units[1] == "deg" else f"{number} {units[1]}"


def _faults(found: CamReport, units: tuple[str, str]) -> Iterator[str]:
    """Undercut of a law's profile; hollows of any other that its follower bridges."""
    profile, cam = found.profile, found.profile.cam

    def size(value: float) -> str:
        return quantity_text(value, "m", units, ".4g")

    if cam is not None:
        least = found.convex
        if least is None or least.value > 0.0 or cam.follower == "knife":
            return
        where = place_text(profile, least.at, units)
        if cam.follower == "flat":
            base = f"base above {size(cam.base - least.value)}" if cam.swing is None else "larger base"
            radius = f"the radius of curvature for the flat face is {size(least.value)}"
            yield f"undercut at {where}: {radius}; write a {base}"
        else:
            radius = f"the pitch curve's radius of curvature is {size(least.value + cam.radius)}"
            remedy = "write a larger base or a smaller roller"
            yield f"undercut at {where}: {radius}, not above the roller's {size(cam.radius)}; {remedy}"
        return
    hollow, other = found.concave, profile.follower_curve
    if hollow is None:
        return
    where = place_text(profile, hollow.at, units)
    if profile.follower == "flat":
        yield f"the face bridges the hollow at {where}; write a convex profile, or a roller"
    elif profile.follower == "roller" and profile.radius >= hollow.value:
        radius = f"whose radius of curvature is {size(hollow.value)}; write a radius below that"
        yield f"the roller does not reach the bottom of the hollow at {where}, {radius}"
    elif other is not None:
        flattest = _extreme(other.curvature, other.breaks, -1.0).value
        if flattest * hollow.value <= 1.0:
            flat = size(1.0 / flattest) if flattest > 0 else "not convex"
            yield (
                f"the follower may bridge the hollow at {where}: its radius of curvature is "
                f"{size(hollow.value)}, the follower's up to {flat}"
            )


def _advice(found: CamReport, units: tuple[str, str]) -> Iterator[str]:
    profile, cam, pressure = found.profile, found.profile.cam, found.pressure
    if pressure is not None and cam is not None:
        most = ADVISED[cam.swing is not None]
        if abs(pressure.value) > most:
            yield (
                f"the pressure angle reaches {angle_text(abs(pressure.value), units, '.3g')} at "
                f"{place_text(profile, pressure.at, units)}, above the {angle_text(most, units, '.3g')} "
                "that textbooks advise"
            )
    if cam is not None:
        for derivative, name in ((1, "velocity"), (2, "acceleration"), (3, "jerk")):
            if jumps := [angle for angle, _ in cam.law.jumps(derivative)]:
                kink = ", where a finite difference of velocities misses the acceleration" * (derivative == 3)
                yield f"the law's {name} jumps at {_some(profile, jumps, units)}{kink}"
                break
    elif found.corners:
        where = _some(profile, found.corners, units)
        yield f"the profile has a corner at {where}: the follower's velocity jumps there"


def _some(profile: Profile, places: Sequence[float], units: tuple[str, str], most: int = 6) -> str:
    more = len(places) - most
    listed = ", ".join(place_text(profile, at, units) for at in places[:most])
    return listed + (f" and {more} more" if more > 0 else "")


# --- numbers ---------------------------------------------------------------------------------------


def _extreme(function: Callable[[Array], Array], breaks: Array, sign: float) -> Extreme:
    """The largest value between the breaks, or with a sign of -1 the smallest, never where it may jump."""

    def best(at: Array) -> int:
        values = sign * function(at)
        return int(np.argmax(np.where(np.isfinite(values), values, -np.inf)))

    spans = np.arange(len(breaks))
    near = np.interp((np.arange(_SAMPLES * spans[-1]) + 0.5) / _SAMPLES, spans, breaks)
    k = best(near)
    low, high = breaks[k // _SAMPLES : k // _SAMPLES + 2]
    half, margin = (high - low) / _SAMPLES, 1e-9 * (high - low)
    for _ in range(_ROUNDS):
        near = np.linspace(max(near[k] - half, low + margin), min(near[k] + half, high - margin), 65)
        k, half = best(near), half / 32
    return Extreme(float(function(near[k : k + 1])[0]), float(near[k]))


def _range(function: Callable[[Array], Array], breaks: Array) -> tuple[Extreme, Extreme]:
    return _extreme(function, breaks, -1.0), _extreme(function, breaks, 1.0)


def _largest(function: Callable[[Array], Array], breaks: Array) -> Extreme:
    """The value of the largest size, with its sign."""
    low, high = _range(function, breaks)
    return high if high.value >= -low.value else low


def _radii(curvature: Callable[[Array], Array], breaks: Array) -> tuple[Extreme | None, Extreme | None]:
    """The smallest convex and the smallest concave radius (m)."""
    low, high = _range(curvature, breaks)
    flat = 1e-9 * max(high.value, -low.value)
    return (
        Extreme(1.0 / high.value, high.at) if high.value > flat else None,
        Extreme(-1.0 / low.value, low.at) if low.value < -flat else None,
    )


def _shifted(radius: Extreme | None, by: float) -> Extreme | None:
    return None if radius is None else Extreme(radius.value + by, radius.at)


def _along_face(curve: Curve, s: Array) -> Array:
    """Contact of a face at right angles to its motion: distance to the left of the cam's axis (m)."""
    point, rate, _ = curve.at(s)
    return np.asarray((point * rate).sum(axis=-1) / np.hypot(rate[..., 0], rate[..., 1]))
