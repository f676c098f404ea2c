"""One hue for each structural group, the same in every picture of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbssa.structure import Structure

#: Hues that colour-blind readers distinguish (Okabe and Ito's and two more), without the vermilion that marks
#: driven joints and over-constrained parts and the yellow that white paper swallows.
HUES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#8C6D4F", "#7A6BB0")
#: Of outlines and lines, for groups beyond the hues: lengths on and off in points, and hatches of areas.
DASHES: tuple[tuple[float, float] | None, ...] = (None, (6.0, 2.5), (2.0, 2.0), (1.0, 3.0))
HATCHES = ("", "////", "....", "xxxx")
#: Of bodies in no group.
NO_GROUP = "#8A8A8A"
FRAME = "#7A7A7A"
#: Share of white in the lightest body of a group.
_LIGHTEST = 0.5


@dataclass(frozen=True, slots=True)
class Hue:
    """Colour of a structural group, and the pattern (0: none) among groups of that colour."""

    colour: str
    pattern: int


def group_hues(structure: Structure) -> dict[int, Hue]:
    """Hue of each group by number, in the order of the levels."""
    ordered = [number for level in structure.levels for number in level]
    return {
        number: Hue(HUES[k % len(HUES)], min(k // len(HUES), len(HATCHES) - 1))
        for k, number in enumerate(ordered)
    }


def body_colours(structure: Structure) -> tuple[str, ...]:
    """Colour of each body by index: a shade of its group's hue, lighter from body to body."""
    colours = [FRAME, *[NO_GROUP] * (structure.mechanism.n_bodies - 1)]
    hues = group_hues(structure)
    for group in structure.groups:
        bodies = group.body_indices.tolist()
        for k, body in enumerate(bodies):
            colours[body] = tinted(hues[group.number].colour, _LIGHTEST * k / max(len(bodies) - 1, 1))
    return tuple(colours)


def darker(colour: str) -> str:
    """Colour for text on white."""
    return "#" + "".join(f"{int(0.72 * int(colour[i : i + 2], 16)):02X}" for i in (1, 3, 5))


def tinted(colour: str, share: float) -> str:
    """Colour mixed with a share of white."""
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{int(part + share * (255 - part)):02X}" for part in parts)
