"""Placement of bodies' names: beside their lines, clear of joints, lines and each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_GAP = 0.9
_TURNS = np.linspace(0.0, 2 * np.pi, 8, endpoint=False)


@dataclass(frozen=True, eq=False)
class Named:
    """A body that wants a name: its lines (m, 2, 2) on paper, or its only point (1, 2); mm.

    ``size`` is the width and height of the text.
    """

    lines: Floats
    points: Floats
    size: tuple[float, float]


def placed(named: Sequence[Named], joints: Floats, page: tuple[float, float, float, float]) -> list[Floats]:
    """Centre (2,) of each text, mm; ``joints`` (n, 2) and all lines are kept clear of where possible.

    ``page`` is left, bottom, right, top. The first in the list choose first.

    >>> line = np.array([[[0.0, 0.0], [20.0, 0.0]]])
    >>> centre = placed([Named(line, line[0], (8.0, 3.0))], line[0], (-9.0, -9.0, 29.0, 9.0))[0]
    >>> centre.round(1).tolist()
    [10.0, 2.4]
    """
    steps = np.linspace(0.0, 1.0, 15)[:, None]
    strokes = [(1 - steps) * line[0] + steps * line[1] for body in named for line in body.lines]
    ink = np.concatenate([*strokes, np.zeros((0, 2))])
    boxes: list[tuple[Floats, Floats]] = []
    centres = []
    for body in named:
        half = np.array(body.size) / 2
        best, cost = np.zeros(2), np.inf
        for order, centre in enumerate(_candidates(body, half)):
            low, high = centre - half, centre + half
            price = 0.12 * order
            price += 8.0 * sum(_overlap(low, high, *box) for box in boxes) / (4 * half[0] * half[1])
            price += 1.5 * _inside(joints, low - 1.0, high + 1.0) + 0.25 * _inside(ink, low, high)
            price += 20.0 * _outside(low, high, page)
            if price < cost:
                best, cost = centre, price
        boxes.append((best - half, best + half))
        centres.append(best)
    return centres


def _candidates(body: Named, half: Floats) -> list[Floats]:
    found = []
    length = np.linalg.norm(body.lines[:, 1] - body.lines[:, 0], axis=1)
    for line in body.lines[np.argsort(-length, kind="stable")][:3]:
        along = line[1] - line[0]
        if not (size := float(np.linalg.norm(along))):
            continue
        normal = np.array([-along[1], along[0]]) / size
        normal = -normal if normal[1] < 0 else normal
        away = abs(normal[0]) * half[0] + abs(normal[1]) * half[1] + _GAP
        for part in (0.5, 0.35, 0.65, 0.2, 0.8):
            found += [line[0] + part * along + side * away * normal for side in (1, -1)]
    if len(body.lines) > 2:
        found.insert(0, body.points.mean(axis=0))
    for distance in (2.2, 5.0):
        for turn in _TURNS:
            direction = np.array([np.cos(turn), np.sin(turn)])
            found += [point + direction * (half + distance) for point in body.points]
    return found


def _overlap(low: Floats, high: Floats, other_low: Floats, other_high: Floats) -> float:
    sides = np.minimum(high, other_high) - np.maximum(low, other_low)
    return float(sides.clip(0.0).prod())


def _inside(points: Floats, low: Floats, high: Floats) -> int:
    return int(((points > low) & (points < high)).all(axis=1).sum())


def _outside(low: Floats, high: Floats, page: tuple[float, float, float, float]) -> float:
    return float(max(page[0] - low[0], page[1] - low[1], high[0] - page[2], high[1] - page[3], 0.0))
