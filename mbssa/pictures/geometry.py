"""Plane geometry of the pictures, on arrays: the last axis is x, y unless stated otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbssa.arrays import Floats

#: Outer normals on which convex outlines are compared; an even number, opposite ones half way round.
N_DIRECTIONS = 20


def directions(count: int = N_DIRECTIONS) -> Floats:
    """Unit vectors (count, 2) all around."""
    angle = np.arange(count) * (2 * np.pi / count)
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def distance_to_segment(point: Floats, start: Floats, end: Floats) -> Any:
    """Distance of points to segments; the first axis is x, y, the others broadcast."""
    way_x, way_y = end - start
    x, y = point - start
    length = np.maximum(way_x * way_x + way_y * way_y, 1e-12)
    at = np.clip((x * way_x + y * way_y) / length, 0.0, 1.0)
    return np.sqrt((x - at * way_x) ** 2 + (y - at * way_y) ** 2)


def cross(a: Floats, b: Floats) -> Any:
    """Component z of the cross product; the first axis is x, y."""
    return a[0] * b[1] - a[1] * b[0]


def segments_cross(a: Floats, b: Floats, c: Floats, d: Floats) -> Any:
    """Return whether the open segments a-b and c-d cross; the first axis is x, y."""
    one = cross(b - a, c - a) * cross(b - a, d - a) < 0
    return one & (cross(d - c, a - c) * cross(d - c, b - c) < 0)


def outline(points: Floats, gap: float, count: int = 120) -> Floats:
    """Corners (count, 2) of the convex hull of the points, widened by ``gap``, with round corners."""
    normal = directions(count)
    furthest = np.argmax((points @ normal.T).round(9), axis=0)
    return np.asarray(points[furthest] + gap * normal)
