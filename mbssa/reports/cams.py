"""Cams of a mechanism: follower laws, curvature, pressure angles, faults of the profiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mbssa.faults import Fault, Faults, ModelError
from mbssa.io.profile import profile_in
from mbssa.joints.cams.profiles import SHAPES, Profile, ProfileError, profile_from
from mbssa.joints.cams.properties import CamReport, Extreme, angle_text, examine, place_text
from mbssa.reports.table import Heading, Part, Report, Table, plain
from mbssa.reports.wording import headline, titled
from mbssa.texts import counted
from mbssa.units import SI, given_in, quantity_text, units_record

if TYPE_CHECKING:
    from mbssa.joints.cams.law_cam import LawCam
    from mbssa.mechanism import Joint, Mechanism


@dataclass(frozen=True)
class CamJoint:
    """A joint of type L and the properties of its profile."""

    joint: Joint
    report: CamReport

    @property
    def name(self) -> str:
        """Name such as ``2-3``, and the title of its profile if it has one."""
        return titled(self.joint.id, self.report.profile.title)


def cams_of(mechanism: Mechanism) -> list[CamJoint]:
    """Properties of the joints of type L of a mechanism that have a profile."""
    source = mechanism.name or "mechanism"
    joints = [joint for joint in mechanism.joints if "profile" in joint.type.required]
    if not joints:
        raise ModelError(source, [Fault("", "has no cam: no joint of type L", "missing")])
    given = [(joint, joint.geometry.profile if joint.geometry else None) for joint in joints]
    found, faults = list[CamJoint](), Faults()
    for joint, table in given:
        try:
            if table is not None:
                found.append(CamJoint(joint, examine(profile_from(table), mechanism.units)))
        except ProfileError as error:
            for place, what in error.faults:
                faults.add(f"{joint.id} profile {place}".rstrip(), what)
    faults.raise_if_any(source)
    if not found:
        names = ", ".join(joint.id for joint in joints)
        raise ModelError(
            source, [Fault("", f"its joints of type L, {names}, have no profile; write one", "missing")]
        )
    return found


def cams_report(mechanism: Mechanism, cams: Sequence[CamJoint]) -> Report:
    """Report of each cam with its follower, its law, its extremes and its faults."""
    # Places ``at`` are angles of the law, else parameters of the curve.
    units = mechanism.units
    parts: list[Part] = [Heading(headline(mechanism))]
    for cam in cams:
        report, profile = cam.report, cam.report.profile
        first, second = (str(mechanism.bodies[number - 1]) for number in cam.joint.bodies[:2])
        parts += [
            "",
            f"joint {cam.name}",
            f"cam {first}: {_profile_text(profile, units)}",
            f"follower {second}: {_follower_text(profile, units)}",
        ]
        if profile.cam is not None:
            columns = ("From", "To", "Moves by", "Law")
            parts.append(Table(columns, _law_rows(profile.cam, units), right=columns[:3]))
        rows = [
            (name, f"{extreme.value / scale:.6g}", unit, place_text(profile, extreme.at, units))
            for _, name, extreme, si in _extremes(report)
            if extreme is not None
            for unit, scale in (given_in(si, units),)
        ]
        parts.append(Table(("", "Value", "Unit", "At"), rows, right=("Value",)))
        if report.face is not None:
            parts.append(_face_text(profile, units, *report.face))
        parts += [f"fault: {sentence}" for sentence in report.faults]
        parts += [f"note: {sentence}" for sentence in report.advice]
        if not report.faults:
            parts.append("no undercutting: the follower touches all of the profile")
    return Report(
        parts,
        lambda: {
            "name": mechanism.name,
            "units": units_record(units),
            "cams": [_to_dict(cam, units) for cam in cams],
        },
    )


def _profile_text(profile: Profile, units: tuple[str, str]) -> str:
    curve = profile.curve
    pieces = counted(curve.pieces, "polynomial piece")
    if profile.cam is not None:
        return f"by a law, base circle {_size(profile.cam.base, units)}, turns {profile.cam.turns}; {pieces}"
    shape = next(key for key in SHAPES if key in profile.table)
    what = {"points": "spline through points"}.get(shape, shape)
    return f"by a {what}, {'closed' if curve.closed else 'open'}; {pieces}".replace("a ellipse", "an ellipse")


def _follower_text(profile: Profile, units: tuple[str, str]) -> str:
    cam = profile.cam
    name = {"flat": "flat face", "curve": "curve of its own"}.get(profile.follower, profile.follower)
    radius = f" of radius {_size(profile.radius, units)}" if profile.follower == "roller" else ""
    if cam is None:
        return name + radius
    if cam.swing is None:
        offset = (
            f", {_size(abs(cam.offset), units)} {'left' if cam.offset > 0 else 'right'} of the cam's axis"
        )
        return f"translating {name}{radius}{offset if cam.offset else ''}"
    arm = "face beyond the pivot by" if cam.follower == "flat" else "arm"
    return (
        f"swinging {name}{radius}, pivot {_size(cam.swing.pivot, units)} from the cam's axis, "
        f"{arm} {_size(cam.swing.arm, units)}, {cam.swing.side}"
    )


def _size(value: float, units: tuple[str, str]) -> str:
    return quantity_text(value, "m", units)


def _law_rows(cam: LawCam, units: tuple[str, str]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for k, segment in enumerate(cam.law.segments):
        start, end = (angle_text(angle, units, ".6g") for angle in cam.law.starts[k : k + 2].tolist())
        moves = "–"
        if segment.by and cam.swing is None:
            moves = quantity_text(segment.by, "m", units, "+.6g")
        elif segment.by:
            moves = angle_text(segment.by, units, "+.6g")
        rows.append((start, end, moves, segment.kind or "dwell"))
    return rows


def _extremes(report: CamReport) -> Iterator[tuple[str, str, Extreme | None, str]]:
    """Extremes by their keys: what they are in words, and their SI units."""
    cam, peaks = report.profile.cam, (*report.peaks, None, None, None)
    swings = cam is not None and cam.swing is not None
    rates = ("1", "1/rad", "1/rad²") if swings else ("m/rad", "m/rad²", "m/rad³")
    for name, peak, unit in zip(("velocity", "acceleration", "jerk"), peaks, rates, strict=False):
        yield name, f"maximum {name} of the law", peak, unit
    radius = "minimum radius of curvature"
    yield "convex_radius", f"{radius}, convex", report.convex, "m"
    yield "concave_radius", f"{radius}, concave", report.concave, "m"
    yield "pitch_convex_radius", f"{radius} of the pitch curve, convex", report.pitch_convex, "m"
    yield "pitch_concave_radius", f"{radius} of the pitch curve, concave", report.pitch_concave, "m"
    yield "pressure_angle", "maximum pressure angle", report.pressure, "rad"


def _face_text(profile: Profile, units: tuple[str, str], low: float, high: float) -> str:
    if profile.cam is not None and profile.cam.swing is not None:
        where = (
            f"{_size(low, units)} to {_size(high, units)} from the foot of the perpendicular from its pivot"
        )
    else:
        # The face is at right angles to its motion, which a profile alone does not say.
        where = f"{_size(-low, units)} right to {_size(high, units)} left of the cam's axis"
        where += "" if profile.cam is not None else ", if it moves at right angles to itself"
    return f"required face width {_size(high - low, units)}: {where}"


def _to_dict(cam: CamJoint, units: tuple[str, str]) -> dict[str, Any]:
    report = cam.report
    profile = report.profile
    length, angle = (given_in(unit, units)[1] for unit in SI)
    unit, at = given_in("rad" if profile.cam else profile.parameter_unit, units)
    parameter = f"law angle, {unit}" if profile.cam else f"s, {unit}".removesuffix(", ")

    extremes: dict[str, Any] = {}
    for key, _, found, si in _extremes(report):
        name, scale = given_in(si, units)
        extremes[key] = found and {"value": found.value / scale, "at": found.at / at}
        if found is not None and key in ("velocity", "acceleration", "jerk"):
            extremes[key]["unit"] = name
    rise = None if profile.law is None else profile.law.rise
    swings = profile.cam is not None and profile.cam.swing is not None
    return {
        "joint": cam.joint.id,
        **plain(profile, "title follower"),
        "radius": profile.radius / length,
        "profile": profile_in(profile.table, length, angle),
        **plain(profile.curve, "pieces closed"),
        "at": parameter,
        "rise": None if rise is None else rise / (angle if swings else length),
        **extremes,
        "face": None if report.face is None else [end / length for end in report.face],
        "corners": [corner / at for corner in report.corners],
        **plain(report, "sound faults advice"),
    }
