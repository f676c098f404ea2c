"""Numbers and frames in attributes of a robot description."""

from __future__ import annotations

import math

import numpy as np

from mbssa.arrays import Floats
from mbssa.faults import Fault
from mbssa.io.robots.xml_tree import Element


def numbers(
    element: Element, key: str, count: int, default: tuple[float, ...], faults: list[Fault]
) -> Floats:
    """(count,) numbers of an attribute; the default where there is none, and where it is wrong."""
    text = element.attributes.get(key)
    return parsed(text, f"{element.where} {key}", count, default, faults)


def parsed(
    text: str | None, where: str, count: int, default: tuple[float, ...], faults: list[Fault]
) -> Floats:
    """(count,) numbers of a text; the default where there is none, and where it is wrong."""
    if text is None:
        return np.array(default)
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    if len(values) != count or not all(math.isfinite(value) for value in values):
        wanted = "a number" if count == 1 else f"{count} numbers"
        faults.append(Fault(where, f"is {text[:60]!r}; write {wanted}"))
        return np.array(default)
    return np.array(values)


def number(element: Element, key: str, default: float, faults: list[Fault]) -> float:
    """One number of an attribute."""
    return float(numbers(element, key, 1, (default,), faults)[0])


def frame_of(position: Floats, angles: Floats) -> Floats:
    """(4, 4) of a position and of rotations about the fixed x, y and z, in this order, rad.

    >>> frame_of(np.array([1.0, 0.0, 0.0]), np.zeros(3))[:3, 3].tolist()
    [1.0, 0.0, 0.0]
    """
    from scipy.spatial.transform import Rotation

    frame = np.eye(4)
    frame[:3, :3] = Rotation.from_euler("xyz", angles).as_matrix()
    frame[:3, 3] = position
    return frame


def pose_frame(position: Floats, quaternion: Floats) -> Floats:
    """(4, 4) of a position and of a quaternion w, x, y, z of any length but zero.

    >>> pose_frame(np.array([1.0, 0.0, 0.0]), np.array([2.0, 0.0, 0.0, 0.0]))[:3].tolist()
    [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    """
    from scipy.spatial.transform import Rotation

    frame = np.eye(4)
    frame[:3, :3] = Rotation.from_quat(quaternion, scalar_first=True).as_matrix()
    frame[:3, 3] = position
    return frame


def origin_of(element: Element, faults: list[Fault], tag: str = "origin") -> Floats:
    """(4, 4) of a child of an element, with ``xyz`` and ``rpy``; the identity without one."""
    origin = element.first(tag)
    if origin is None:
        return np.eye(4)
    zero = (0.0, 0.0, 0.0)
    return frame_of(numbers(origin, "xyz", 3, zero, faults), numbers(origin, "rpy", 3, zero, faults))


def axis_of(element: Element, faults: list[Fault], tag: str = "axis") -> Floats:
    """(3,) direction of length 1 of a child of an element, with ``xyz``; x without one, as URDF has it."""
    along_x = (1.0, 0.0, 0.0)
    axis = element.first(tag)
    given = np.array(along_x) if axis is None else numbers(axis, "xyz", 3, along_x, faults)
    length = float(np.linalg.norm(given))
    if length < 1e-9:
        faults.append(Fault(f"{element.where} {tag}", "has length 0; give a direction such as 0 0 1"))
        return np.array(along_x)
    return np.array(given / length)
