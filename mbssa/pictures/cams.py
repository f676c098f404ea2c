"""Pictures of cams: profile, pitch curve and follower, and beside them the follower's law."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.io.profile import profile_in
from mbssa.joints.cams.curves import Curve
from mbssa.joints.cams.law_cam import LawCam
from mbssa.joints.cams.profiles import Profile, profile_from
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.style import (
    FONT,
    GROUP_EDGE,
    GROUP_FILL,
    INK,
    OVER_EDGE,
    SMALL_TEXT,
    TEXT,
    axes_at,
    figure_of,
)
from mbssa.units import SI, given_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Cams that one picture shows.
MOST_CAMS = 6

#: Points drawn in each piece of a curve, and in each stretch of a law.
_IN_PIECE, _IN_STRETCH = 12, 64

# Millimetres: one cam's row, its drawing, the diagrams beside it, and the margins for texts.
_ROW, _SIDE, _DIAGRAM, _LEFT, _BETWEEN, _RIGHT, _TOP, _BOTTOM = 88.0, 66.0, 76.0, 17.0, 22.0, 4.0, 14.0, 11.0

#: Circle of radius 1.
_RING = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 181))


def cam_picture(cams: Sequence[tuple[str, Profile]], units: tuple[str, str] = SI) -> Figure:
    """Cams below each other, by name: the profile at the law's angle 0, and its law or its curvature."""
    require_matplotlib()
    # What is drawn is a similar cam, with the number of the unit of length for that of metres.
    length = given_in("m", units)[1]
    cams = [(name, profile_from(profile_in(profile.table, length, 1.0))) for name, profile in cams]
    if not cams:
        raise ValueError("there is no cam to be drawn")
    refuse_beyond(MOST_CAMS, len(cams), "cams", "one picture", "draw models with fewer")
    width, height = _LEFT + _SIDE + _BETWEEN + _DIAGRAM + _RIGHT, _ROW * len(cams)
    figure = figure_of(width, height)
    inside = _ROW - _TOP - _BOTTOM
    for row, (name, profile) in enumerate(cams):
        bottom = height - _ROW * (row + 1) + _BOTTOM
        _draw_cam(axes_at(figure, _LEFT, bottom, _SIDE, inside, gid=f"cam-{name}"), profile, units[0])
        text = name.replace("$", r"\$")
        figure.text(0.5, (bottom + inside + 8.0) / height, text, ha="center", fontsize=TEXT, family=FONT)
        left = _LEFT + _SIDE + _BETWEEN
        if profile.cam is None:
            side = axes_at(figure, left, bottom, _DIAGRAM, inside, gid=f"curvature-{name}")
            _draw_curvature(side, profile, units)
            continue
        part = inside / 3
        for k in range(3):
            low = bottom + (2 - k) * part
            side = axes_at(figure, left, low, _DIAGRAM, part - 3.0, gid=f"law-{k}-{name}")
            _draw_law(side, profile.cam, k, units)
    return figure


def _draw_cam(axes: Axes, profile: Profile, unit: str) -> None:
    """Profile, pitch curve and follower in the cam's frame, at the law's angle 0."""
    cam = profile.cam
    points = _points(profile.curve)
    if profile.curve.closed:
        axes.fill(points.real, points.imag, facecolor=GROUP_FILL, edgecolor="none", zorder=1)
    _stroke(axes, points, color=GROUP_EDGE, lw=1.3, zorder=3, label="profile", solid_joinstyle="round")
    if profile.follower == "roller":
        made = cam.pitch if cam is not None else None  # an undercut profile has no parallel of its own
        pitch = _points(profile.curve, profile.radius) if made is None else _points(made)
        _stroke(axes, pitch, color=OVER_EDGE, lw=0.7, ls="dashed", zorder=3, label="pitch curve")
    if cam is not None:
        _stroke(axes, cam.base * _RING, color="#7A7A7A", ls="dotted", label="base circle")
        _draw_follower(axes, cam)
    axes.plot([0.0], [0.0], marker="+", ms=6.0, mew=0.9, color=INK, zorder=5)
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(
        prop={"family": FONT, "size": SMALL_TEXT - 1.0}, loc="lower left", bbox_to_anchor=(-0.02, 0.99),
        ncols=3, frameon=False, handlelength=1.6, columnspacing=1.2, borderaxespad=0.2,
    )  # fmt: skip
    _finish(axes, f"x ({unit})", f"y ({unit})")


def _draw_follower(axes: Axes, cam: LawCam) -> None:
    """The follower at the law's angle 0."""
    zero, pivot = np.zeros(1), None if cam.swing is None else complex(cam.swing.pivot)
    if pivot is not None:
        _stroke(axes, pivot + 0.06 * cam.base * _RING)
    if cam.follower == "flat":
        alpha, h, h1, _ = (float(value[0]) for value in cam.support(zero))
        along, touch = 1j * np.exp(1j * alpha), (h + 1j * h1) * np.exp(1j * alpha)
        half = 0.6 * cam.base * along
        _stroke(axes, [touch - half, touch + half], lw=1.4)
        if pivot is not None:
            _stroke(axes, [touch, touch + ((pivot - touch) * along.conjugate()).real * along, pivot])
        return
    place = complex(cam.trace(zero)[0][0])
    if cam.radius:
        _stroke(axes, place + cam.radius * _RING)
    _stroke(axes, [place, place + 0.8 * cam.base if pivot is None else pivot])


def _draw_law(axes: Axes, cam: LawCam, derivative: int, units: tuple[str, str]) -> None:
    """One derivative of the follower's place over the angle; broken where it jumps."""
    colour = (GROUP_EDGE, "#009E73", OVER_EDGE)[derivative]
    angle_unit, turn = given_in("rad", units)
    si = (("m", "m/rad", "m/rad²"), ("rad", "", "1/rad"))[cam.swing is not None][derivative]
    unit, scale = given_in(si, ("m", units[1]))
    unit = given_in(si, units)[0]
    for low, high in pairwise(cam.law.breaks):
        angle = np.linspace(low, high, _IN_STRETCH)
        inside = np.clip(angle, low + 1e-9, high - 1e-9)
        axes.plot(angle / turn, cam.law.at(inside)[derivative] / scale, color=colour, lw=1.2)
    for start in cam.law.starts[1:-1]:
        axes.axvline(float(start / turn), color="#9A9A9A", lw=0.5, zorder=0.6)
    axes.set_xlim(0.0, 2.0 * np.pi / turn)
    if angle_unit == "deg":
        axes.set_xticks(range(0, 361, 60))
    name = ("s", "s′", "s″")[derivative]
    along = f"angle of the cam ({angle_unit})" if derivative == 2 else ""
    _finish(axes, along, f"{name} ({unit})" if unit else name)
    if derivative < 2:
        axes.tick_params(labelbottom=False)


def _draw_curvature(axes: Axes, profile: Profile, units: tuple[str, str]) -> None:
    """Signed curvature over the curve's parameter."""
    curve = profile.curve
    unit = given_in(profile.parameter_unit, units)[0]
    turn = given_in(profile.parameter_unit, ("m", units[1]))[1]
    for low, high in pairwise(curve.breaks):
        s = np.linspace(low, high, _IN_PIECE)
        values = curve.curvature(np.clip(s, low + 1e-9 * (high - low), high - 1e-9 * (high - low)))
        axes.plot(s / turn, values, color=GROUP_EDGE, lw=1.2)
    low, high = axes.get_ylim()
    if high - low < 1e-3 * max(abs(low), abs(high)):  # a circle: not its rounding errors
        axes.set_ylim(min(0.0, 1.2 * low), max(0.0, 1.2 * high))
    _finish(axes, f"s ({unit})" if unit else "s", f"curvature (1/{units[0]}), convex upwards")


def _points(curve: Curve, outside: float = 0.0) -> Any:
    """Points x + iy along a curve, or along its parallel at a distance on the outer side (m)."""
    s = curve.sampled(_IN_PIECE if curve.pieces > 8 else 40 * _IN_PIECE)
    point, rate, _ = curve.at(np.append(s, curve.breaks[-1]) if curve.closed else s)
    place, tangent = point @ (1.0, 1j), rate @ (1.0, 1j)
    with np.errstate(invalid="ignore", divide="ignore"):
        return place - 1j * outside * tangent / np.abs(tangent) if outside else place


def _stroke(axes: Axes, points: Any, **look: Any) -> None:
    """A line through points x + iy."""
    usual: dict[str, Any] = {"color": INK, "lw": 0.8, "zorder": 4}
    axes.plot(np.real(points), np.imag(points), **usual | look)


def _finish(axes: Axes, x: str, y: str) -> None:
    axes.grid(color="#E4E4E4", lw=0.5)
    axes.set(xlabel=x, ylabel=y)
