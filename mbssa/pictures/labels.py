"""Placement of texts, so that none lies on another, on a body, or on a line that is not its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Floats


@dataclass(frozen=True, slots=True)
class Label:
    """Text of this size (mm) and candidates (C, 2) for its middle, preferred ones first."""

    text: str
    width: float
    height: float
    places: Floats
    owner: str = ""  # of obstacles that it may cover: its own line, its own outline
    dislike: Floats | None = None  # (C,) added to the cost; an overlap of a millimetre counts some 5 to 20


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Points (S, 2) that a text should avoid, ``radius`` mm around each, with a ``weight``."""

    points: Floats
    radius: float
    owner: str = ""
    weight: float = 1.0


def place_labels(labels: Sequence[Label], obstacles: Sequence[Obstacle], gap: float = 0.35) -> Floats:
    """Middles (L, 2) of the texts: each at the place of the least cost."""
    if not labels:
        return np.zeros((0, 2))
    alone = [_alone(label, obstacles, gap) for label in labels]
    sizes = np.array([(label.width, label.height) for label in labels])
    middles = np.full((len(labels), 2), np.inf)
    # Those with the fewest places first: the others can give way.
    order = sorted(range(len(labels)), key=lambda number: len(labels[number].places))
    for _ in range(12):
        before = middles.copy()
        for number in order:
            places, reach = labels[number].places, (sizes + sizes[number]) / 2 + gap
            middles[number] = np.inf
            overlap = np.clip(reach - np.abs(places[:, None] - middles), 0, None).min(axis=-1)
            among = np.where(overlap > 0, 12.0 + 8.0 * overlap, 0.0).sum(axis=-1)
            middles[number] = places[np.argmin((alone[number] + among).round(9))]
        if np.array_equal(middles, before):
            break
    return middles


def _alone(label: Label, obstacles: Sequence[Obstacle], gap: float) -> Floats:
    """Cost (C,) of each place by overlap with drawn objects, and by preference."""
    cost = np.linspace(0.0, 0.8, len(label.places))
    if label.dislike is not None:
        cost += label.dislike
    half = np.array([label.width / 2, label.height / 2])
    low, high = label.places.min(axis=0) - half - gap, label.places.max(axis=0) + half + gap
    for thing in obstacles:
        if thing.owner and thing.owner == label.owner:
            continue
        near = thing.points[
            ((thing.points > low - thing.radius) & (thing.points < high + thing.radius)).all(axis=1)
        ]
        if not len(near):
            continue
        x, y = np.abs(label.places.T[:, None] - near.T[:, :, None]) - half[:, None, None]
        apart = np.clip(x, 0, None) ** 2 + np.clip(y, 0, None) ** 2
        depth = np.clip(thing.radius + gap - np.sqrt(apart.min(axis=0)), 0, None)
        cost += thing.weight * np.where(depth > 0, 2.0 + 3.0 * depth, 0.0)
    return cost
