"""Profiles of L joints: the cam's curve and its follower, from the plain table that a mechanism keeps."""

# The table is that of a model file (keys in mbssa.io.profile) with metres and radians. Text of a formula
# stays text; its numbers count in ``unit`` metres.

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, cast

import numpy as np

from mbssa.bounds import LARGEST, SMALLEST, range_fault
from mbssa.expressions import function_of
from mbssa.joints.cams.contact import CURVE, FLAT, POINT
from mbssa.joints.cams.curves import Array, Curve, circle, curve_from, ellipse, line, through
from mbssa.joints.cams.follower_laws import KINDS, FollowerLaw, Segment, law_faults
from mbssa.joints.cams.law_cam import CamError, LawCam, Swing
from mbssa.texts import joined

FOLLOWERS = ("roller", "knife", "flat")

#: Sources of a curve; a table has one of them. The cam's can also be a law.
SHAPES = ("formula", "points", "circle", "ellipse", "line")

#: Keys that belong to a law.
LAW_KEYS = ("base", "offset", "swing", "turns")

#: Equal stretches of a formula's range that are refined each on its own.
_STRETCHES = 8

_KINDS = {"roller": POINT, "knife": POINT, "flat": FLAT, "curve": CURVE}

#: Sentences with their places in the table, such as ``law[2].over``.
Faults = list[tuple[str, str]]


class ProfileError(ValueError):
    """A table that makes no profile; ``faults`` are pairs of a place in it and a sentence."""

    def __init__(self, faults: Faults) -> None:
        self.faults = tuple(faults)
        super().__init__("\n  ".join(f"profile.{place}: {what}".replace(".:", ":") for place, what in faults))


@dataclass(frozen=True, eq=False)
class Profile:
    """Curve of a cam in frame A, counter-clockwise if closed, and its follower."""

    curve: Curve
    follower: Literal["roller", "knife", "flat", "curve"]
    radius: float  # of a roller, m; 0 of a knife
    follower_curve: Curve | None  # in frame B
    cam: LawCam | None  # synthesis from a law
    title: str
    table: Mapping[str, Any]  # source, in SI

    @property
    def kind(self) -> int:
        """POINT, FLAT or CURVE, the code for kernels."""
        return _KINDS[self.follower]

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The cam's curve, then the follower's if it has one."""
        return (self.curve,) if self.follower_curve is None else (self.curve, self.follower_curve)

    @property
    def parameter_unit(self) -> Literal["rad", "m", ""]:
        """Unit of the parameter of ``curve``; none where a formula's own parameter has none."""
        if "points" in self.table or "line" in self.table:
            return "m"
        return "" if "x" in self.table.get("formula", ()) else "rad"

    @property
    def law(self) -> FollowerLaw | None:
        """The follower's law, if the cam was made from one."""
        return None if self.cam is None else self.cam.law


def profile_from(table: Mapping[str, Any]) -> Profile:
    """Profile of a table in SI units; the same table gives the same object again."""
    # Its shape (keys, types) is taken as checked by mbssa.io.profile.profile_of. ProfileError has all faults.
    return _profile(json.dumps(table, default=_plain))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"a profile holds numbers, texts, lists and tables, not {type(value).__name__}")


@lru_cache(maxsize=512)
def _profile(text: str) -> Profile:
    table: dict[str, Any] = json.loads(text)
    if faults := list(_out_of_range(table, "", "")):
        raise ProfileError(faults)
    law = "law" in table
    follower, radius = table.get("follower"), float(table.get("radius", 0.0))
    other = None
    if isinstance(follower, dict):
        other = _one_curve(follower.get("curve", {}), "follower.curve", SHAPES, faults)
        follower = "curve"
        if law:
            faults.append(("follower", f"a law makes cams for a follower that is {joined(FOLLOWERS, 'or')}"))
    elif follower is None:
        faults.append(("follower", f"is missing; write {joined(FOLLOWERS, 'or')}, or {{ curve = {{ … }} }}"))
    cam, curve = None, None
    if law and not any(key in table for key in SHAPES):
        if follower in FOLLOWERS:
            cam = _law_cam(table, str(follower), radius, faults)
        try:
            curve = None if cam is None else cam.profile
        except ValueError as error:
            faults.append(("law", f"the profile that it makes {error}"))
    else:
        curve = _one_curve(table, "", (*SHAPES, "law"), faults)
        what = f"is for a law; a profile with {joined(SHAPES, 'or')} has none"
        faults += [(key, what) for key in LAW_KEYS if key in table]
        if follower == "roller" and not radius > 0:
            given = f"is {radius:g} m" if "radius" in table else "is missing"
            faults.append(("radius", f"{given}; write that of the roller, above 0; without it is a knife"))
        if follower != "roller" and "radius" in table:
            faults.append(("radius", f"is the roller's; a {follower} follower has none"))
    if faults or curve is None or follower is None:
        raise ProfileError(faults)
    return Profile(curve, cast(Any, follower), radius, other, cam, table.get("title", ""), table)


#: Keys of numbers that are sizes: far from zero, unless they are zero.
_SIZES = ("radius", "base", "semi_axes", "pivot", "arm", "unit", "rise", "return", "over", "dwell")


def _out_of_range(value: Any, place: str, key: str) -> Iterator[tuple[str, str]]:
    """Numbers of a table in SI that are too large or too small, with their places."""
    if isinstance(value, dict):
        for name, entry in value.items():
            yield from _out_of_range(entry, f"{place}.{name}".lstrip("."), name)
    elif isinstance(value, list):
        for k, entry in enumerate(value, start=1):
            yield from _out_of_range(entry, f"{place}[{k}]", key)
    elif isinstance(value, int | float) and (fault := range_fault(value, size=key in _SIZES and value != 0)):
        yield place, fault.replace(";", " (m or rad);", 1)


# --- cams from laws --------------------------------------------------------------------------------


def _law_cam(table: Mapping[str, Any], follower: str, radius: float, faults: Faults) -> LawCam | None:
    before = len(faults)
    segments = [_segment(entry, f"law[{k}]", faults) for k, entry in enumerate(table["law"], start=1)]
    sound = tuple(one for one in segments if one)
    if len(faults) == before:
        faults += [("law", sentence) for sentence in law_faults(sound)]
    if "base" not in table:
        faults.append(("base", "is missing; write the radius of the base circle"))
    if len(faults) > before:
        return None
    given = {key: table[key] for key in ("offset", "turns") if key in table}
    if "swing" in table:
        given["swing"] = Swing(**table["swing"])
    try:
        return LawCam(FollowerLaw(sound), cast(Any, follower), table["base"], radius, **given)
    except CamError as error:
        faults += error.faults
        return None


def _segment(entry: Mapping[str, Any], place: str, faults: Faults) -> Segment | None:
    """One of ``rise``, ``return`` with ``over`` and ``kind``, or ``dwell``."""
    what = [key for key in ("rise", "dwell", "return") if key in entry]
    if len(what) != 1:
        given = f"has {joined(what)}" if what else "is nothing"
        faults.append((place, f"{given}; write one of rise, dwell and return"))
        return None
    before, (move,) = len(faults), what
    is_dwell = move == "dwell"
    for key, example in (("over", "the angle of the cam"), ("kind", f"one of {', '.join(KINDS)}")):
        if is_dwell and key in entry:
            faults.append((f"{place}.{key}", "a dwell has none; write dwell = its angle"))
        elif not is_dwell and key not in entry:
            faults.append((f"{place}.{key}", f"is missing; write {example}"))
    angle = "dwell" if is_dwell else "over"
    over, by = float(entry.get(angle, 1.0)), 0.0 if is_dwell else float(entry[move])
    if not (is_dwell or by > 0):
        faults.append((f"{place}.{move}", f"is {by:g} (m or rad); write how far, above 0"))
    if not over > 0:
        faults.append((f"{place}.{angle}", f"is {np.rad2deg(over):g}°; write an angle above 0"))
    by = -by if move == "return" else by
    return Segment(over, by, entry.get("kind")) if len(faults) == before else None


# --- curves ----------------------------------------------------------------------------------------


def _one_curve(table: Mapping[str, Any], place: str, allowed: Sequence[str], faults: Faults) -> Curve | None:
    """The curve of the one shape that a table has, counter-clockwise."""
    given = [key for key in allowed if key in table]
    if len(given) != 1:
        head = f"has {joined(given)}" if given else "has no curve"
        faults.append((place, f"{head}; write one of {', '.join(allowed)}"))
        return None
    (shape,) = given
    within = f"{place}.{shape}" if place else shape
    closed = table.get("closed")
    if closed is not None and shape not in ("formula", "points"):
        faults.append((f"{place}.closed" if place else "closed", "is for a formula or points"))
    before, entry = len(faults), table[shape]
    try:
        if shape == "formula":
            curve = _of_formula(entry, within, closed, faults)
        elif shape == "points":
            curve = through(entry, closed is not False)
        elif shape == "circle":
            curve = circle(_positive(entry["radius"]), entry.get("centre", (0.0, 0.0)))
        elif shape == "ellipse":
            axes = [_positive(axis) for axis in entry["semi_axes"]]
            curve = ellipse(axes, entry.get("centre", (0.0, 0.0)), entry.get("angle", 0.0))
        else:
            start, end = entry
            if start == end:
                raise ValueError("begins and ends at the same point; write two")
            curve = line(start, end)
    except ValueError as error:
        faults.append((within, str(error)))
        return None
    if curve is None or len(faults) > before:
        return None
    far = float(np.abs(curve.coefficients[:, :, 0]).max())
    if fault := range_fault(far) or range_fault(curve.size, size=True):
        faults.append((within, f"has points whose magnitude or extent (m) {fault}"))
        return None
    curve = curve.counter_clockwise
    if curve.closed and abs(curve.turning - 1.0) > 0.5:
        faults.append((within, "crosses itself; write a curve that has an inside and an outside"))
        return None
    return curve


def _positive(value: float) -> float:
    if not value > 0:
        raise ValueError(f"has the size {value:g} m; write one above 0")
    return float(value)


def _of_formula(entry: Mapping[str, Any], place: str, closed: bool | None, faults: Faults) -> Curve | None:
    """Curve of ``{ r = "…" }`` or ``{ x = "…", y = "…" }`` over ``range``, in ``unit`` metres."""
    names = [name for name in ("r", "x", "y") if name in entry]
    if names not in (["r"], ["x", "y"]):
        faults.append((place, 'write r = "…" of the angle s, or x = "…" and y = "…"'))
        return None

    def read(key: str, *arguments: Any) -> Any:
        try:
            return function_of(*arguments)
        except ValueError as error:
            faults.append((f"{place}.{key}", str(error)))

    before, unit = len(faults), float(entry.get("unit", 1.0))
    functions = [read(name, entry[name], ("s",), "m", unit) for name in names]
    texts = enumerate(map(str, entry.get("range", (0.0, "2*pi"))), 1)
    ends = [float(end()) for k, text in texts if (end := read(f"range[{k}]", text, ()))]
    if len(ends) == 2:
        given = f"runs from {ends[0]:g} to {ends[1]:g}"
        if not (np.isfinite(ends).all() and ends[0] < ends[1]):
            faults.append((f"{place}.range", f"{given}; write two ascending numbers"))
        elif max(map(abs, ends)) > LARGEST or ends[1] - ends[0] < SMALLEST * max(1.0, *map(abs, ends)):
            what = f"write a range of {SMALLEST:g} or more between -{LARGEST:g} and {LARGEST:g}"
            faults.append((f"{place}.range", f"{given}; {what}"))
    if len(faults) > before:
        return None

    def points(s: Array) -> Array:
        values = [function(s) for function in functions]
        if len(values) == 1:
            return np.stack([values[0] * np.cos(s), values[0] * np.sin(s)], axis=1)
        return np.stack(values, axis=1)

    curve = curve_from(points, np.linspace(ends[0], ends[1], _STRETCHES + 1))
    if closed and not curve.closed:
        what = f"ends {curve.opening:.4g} m from where it begins; write closed = false, or another range"
        faults.append((place, what))
        return None
    return curve if closed is None else replace(curve, closed=closed)
