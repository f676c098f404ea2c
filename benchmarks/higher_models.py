"""Mechanisms with higher pairs that are no built-in models: a camshaft of any length, points in a corner."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import mbssa
from mbssa import Mechanism
from mbssa.joints.cams.follower_laws import FollowerLaw, Segment

#: Radii (m) of the base circle and of the rollers.
_BASE, _ROLLER = 0.04, 0.01

_LAW = FollowerLaw(
    (
        Segment(2 * np.pi / 3, 0.02, "cycloidal"),
        Segment(np.pi / 3, 0.0, None),
        Segment(2 * np.pi / 3, -0.02, "345"),
        Segment(np.pi / 3, 0.0, None),
    )
)

_TURNING = (
    "[motion]\nduration = 1.0\nsteps = 361\n[motion.inputs]\n"
    '"1-2.angle" = { law = "speed", rate = 6.283185307179586 }\n'
)


def _loaded(text: str) -> Mechanism:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.toml"
        path.write_text(text)
        return mbssa.load(path)


def many_cams(number: int) -> Mechanism:
    """One driven shaft, cams of one law at evenly spread angles, each with a roller that slides upwards."""
    text = [
        f'format = 1\nspace = "planar"\nbodies = {number + 2}\n',
        '[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = ["angle"]\npoint = [0.0, 0.0]\n',
    ]
    for k in range(number):
        turned = 2 * np.pi * k / number
        height = _BASE + _ROLLER + float(_LAW.at(turned)[0])
        rise = [-float(np.sin(turned)), float(np.cos(turned))]
        text.append(
            f'[[joint]]\nbodies = [1, {k + 3}]\ntype = "P"\npoint = [0.0, {height!r}]\naxis = [0.0, 1.0]\n'
            f'[[joint]]\nbodies = [2, {k + 3}]\ntype = "L"\npoints = [[0.0, 0.0], [0.0, {height!r}]]\n'
            f"axes = [{rise}, [1.0, 0.0]]\n[joint.profile]\nbase = {_BASE}\nradius = {_ROLLER}\n"
            'follower = "roller"\nlaw = [\n'
            '  { rise = 0.02, over = 2.0943951023931953, kind = "cycloidal" },\n'
            "  { dwell = 1.0471975511965976 },\n"
            '  { return = 0.02, over = 2.0943951023931953, kind = "345" },\n'
            "  { dwell = 1.0471975511965976 },\n]\n"
        )
    return _loaded("\n".join([*text, _TURNING]))


def corner() -> Mechanism:
    """A body on three points, each on a face of a corner; its turns are driven."""
    return _loaded(
        'format = 1\nspace = "spatial"\nbodies = 2\n'
        '[[joint]]\nid = "free"\nbodies = [1, 2]\ntype = "F"\npoint = [0, 0, 0]\n'
        'driven = ["angle_x", "angle_y", "angle_z"]\n'
        '[[joint]]\nid = "corner"\nbodies = [1, 2]\ntype = "CTRP"\n'
        "points = [[0.5, 0.1, 0.2], [0.2, 0.4, 0.1], [0.3, 0.2, 0.6]]\n"
        "axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\n"
        "[motion]\nduration = 1.0\nsteps = 361\n[motion.inputs]\n"
        '"free.angle_x" = { law = "harmonic", amplitude = 0.3, frequency = 1.0 }\n'
        '"free.angle_y" = { law = "harmonic", amplitude = 0.2, frequency = 2.0 }\n'
        '"free.angle_z" = { law = "speed", rate = 6.283185307179586 }\n'
    )
