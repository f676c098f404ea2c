"""Places of bodies' names: beside their lines, clear of joints, lines and each other."""

from __future__ import annotations

import numpy as np

from mbssa.arrays import Floats
from mbssa.pictures.geometry import directions
from mbssa.pictures.labels import Label

#: Gap between a name and its line, mm.
_GAP = 0.9


def name_label(
    name: str, size: tuple[float, float], lines: Floats, points: Floats, page: tuple[Floats, Floats]
) -> Label:
    """Name of a body with its possible places, the preferred ones first; all in mm on paper."""
    # Places beyond the page (lower left, upper right corner) are disliked.
    half = np.array(size) / 2
    places = [points.mean(axis=0)] if len(lines) > 2 else []
    length = np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)
    for i in np.argsort(-length, kind="stable")[:3].tolist():
        if not length[i]:
            continue
        along = lines[i, 1] - lines[i, 0]
        normal = np.array([-along[1], along[0]]) / length[i]
        normal = -normal if normal[1] < 0 else normal
        away = (np.abs(normal) @ half + _GAP) * normal
        for part in (0.5, 0.35, 0.65, 0.2, 0.8):
            places += [lines[i, 0] + part * along + side * away for side in (1, -1)]
    for distance in (2.2, 5.0):
        places += [point + way * (half + distance) for way in directions(8) for point in points]
    at = np.array(places)
    beyond = np.maximum(page[0] - (at - half), at + half - page[1]).max(axis=1).clip(0.0)
    return Label(name, *size, at, name, 0.12 * np.arange(len(at)) + 20.0 * beyond)
