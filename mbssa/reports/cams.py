"""Cams of a mechanism: follower laws, curvature, pressure angles, faults of the profiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.faults import Fault, Faults, ModelError
from mbssa.joints.cams.profiles import SHAPES, Profile, ProfileError, profile_from
from mbssa.joints.cams.properties import CamReport, Extreme, examine, place_text
from mbssa.reports.table import Heading, Part, Report, Table, plain
from mbssa.reports.wording import counted, headline

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
        title = "".join(character for character in self.report.profile.title if character.isprintable())
        return f"{self.joint.id}: {title}" if title else self.joint.id


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
                found.append(CamJoint(joint, examine(profile_from(table))))
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
    # All numbers of the record are in SI; places ``at`` are angles of the law, else parameters of the curve.
    parts: list[Part] = [Heading(headline(mechanism))]
    for cam in cams:
        parts += _parts_of(mechanism, cam)
    return Report(parts, lambda: {"name": mechanism.name, "cams": [_to_dict(cam) for cam in cams]})


def _parts_of(mechanism: Mechanism, cam: CamJoint) -> list[Part]:
    report = cam.report
    profile = report.profile
    first, second = (str(mechanism.bodies[number - 1]) for number in cam.joint.bodies[:2])
    parts: list[Part] = [
        "",
        f"joint {cam.name}",
        f"cam {first}: {_profile_text(profile)}",
        f"follower {second}: {_follower_text(profile)}",
    ]
    if profile.cam is not None:
        columns = ("From", "To", "Moves by", "Law")
        parts.append(Table(columns, _law_rows(profile.cam), right=columns[:3]))
    parts.append(Table(("", "Value", "Unit", "At"), _rows(report), right=("Value",)))
    if report.face is not None:
        parts.append(_face_text(profile, *report.face))
    parts += [f"fault: {sentence}" for sentence in report.faults]
    parts += [f"note: {sentence}" for sentence in report.advice]
    return parts if report.faults else [*parts, "no undercutting: the follower touches all of the profile"]


def _profile_text(profile: Profile) -> str:
    curve = profile.curve
    pieces = counted(curve.pieces, "polynomial piece")
    if profile.cam is not None:
        return f"by a law, base circle {_size(profile.cam.base)}, turns {profile.cam.turns}; {pieces}"
    shape = next(key for key in SHAPES if key in profile.table)
    what = {"points": "spline through points"}.get(shape, shape)
    return f"by a {what}, {'closed' if curve.closed else 'open'}; {pieces}".replace("a ellipse", "an ellipse")


def _follower_text(profile: Profile) -> str:
    cam = profile.cam
    name = {"flat": "flat face", "curve": "curve of its own"}.get(profile.follower, profile.follower)
    radius = f" of radius {_size(profile.radius)}" if profile.follower == "roller" else ""
    if cam is None:
        return name + radius
    if cam.swing is None:
        offset = f", {_size(abs(cam.offset))} {'left' if cam.offset > 0 else 'right'} of the cam's axis"
        return f"translating {name}{radius}{offset if cam.offset else ''}"
    arm = "face beyond the pivot by" if cam.follower == "flat" else "arm"
    return (
        f"swinging {name}{radius}, pivot {_size(cam.swing.pivot)} from the cam's axis, "
        f"{arm} {_size(cam.swing.arm)}, {cam.swing.side}"
    )


def _size(value: float) -> str:
    return f"{value:.6g} m"


def _law_rows(cam: LawCam) -> list[tuple[str, ...]]:
    unit = " m" if cam.swing is None else "°"
    rows: list[tuple[str, ...]] = []
    for k, segment in enumerate(cam.law.segments):
        start, end = (f"{np.rad2deg(angle):.6g}°" for angle in cam.law.starts[k : k + 2])
        by = segment.by if cam.swing is None else np.rad2deg(segment.by)
        moves = f"{by:+.6g}{unit}" if segment.by else "–"
        rows.append((start, end, moves, segment.kind or "dwell"))
    return rows


def _rows(report: CamReport) -> list[tuple[str, ...]]:
    cam = report.profile.cam
    units = ("m/rad", "m/rad²", "m/rad³") if cam is None or cam.swing is None else ("1", "1/rad", "1/rad²")
    peaks = zip(("velocity", "acceleration", "jerk"), report.peaks, units, strict=False)
    pressure = report.pressure and Extreme(np.rad2deg(report.pressure.value), report.pressure.at)
    found = [
        *((f"maximum {name} of the law", peak, unit) for name, peak, unit in peaks),
        ("minimum radius of curvature, convex", report.convex, "m"),
        ("minimum radius of curvature, concave", report.concave, "m"),
        ("minimum radius of curvature of the pitch curve, convex", report.pitch_convex, "m"),
        ("minimum radius of curvature of the pitch curve, concave", report.pitch_concave, "m"),
        ("maximum pressure angle", pressure, "°"),
    ]
    return [
        (name, f"{extreme.value:.6g}", unit, place_text(report.profile, extreme.at))
        for name, extreme, unit in found
        if extreme is not None
    ]


def _face_text(profile: Profile, low: float, high: float) -> str:
    if profile.cam is not None and profile.cam.swing is not None:
        where = f"{_size(low)} to {_size(high)} from the foot of the perpendicular from its pivot"
    else:
        # The face is at right angles to its motion, which a profile alone does not say.
        where = f"{_size(-low)} right to {_size(high)} left of the cam's axis"
        where += "" if profile.cam is not None else ", if it moves at right angles to itself"
    return f"required face width {_size(high - low)}: {where}"


def _to_dict(cam: CamJoint) -> dict[str, Any]:
    report = cam.report
    profile = report.profile
    parameter = "law angle, rad" if profile.cam else f"s, {profile.parameter_unit}".removesuffix(", ")
    peaks = [_extreme(peak) for peak in report.peaks]
    return {
        "joint": cam.joint.id,
        **plain(profile, "title follower radius"),
        "profile": profile.table,
        **plain(profile.curve, "pieces closed"),
        "at": parameter,
        "rise": None if profile.law is None else profile.law.rise,
        "velocity": peaks[0] if peaks else None,
        "acceleration": peaks[1] if peaks else None,
        "jerk": peaks[2] if peaks else None,
        "convex_radius": _extreme(report.convex),
        "concave_radius": _extreme(report.concave),
        "pitch_convex_radius": _extreme(report.pitch_convex),
        "pitch_concave_radius": _extreme(report.pitch_concave),
        "pressure_angle": _extreme(report.pressure),
        **plain(report, "face corners sound faults advice"),
    }


def _extreme(found: Extreme | None) -> dict[str, float] | None:
    return None if found is None else {"value": found.value, "at": found.at}
