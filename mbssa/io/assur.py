"""Family ``assur:CLASS-COUNT[B]`` of planar linkages (Table 16)."""

# A driven crank (body 2) carries COUNT Assur groups of CLASS I, II or III: 2, 4 or 6 links; B drives the
# joint of the last two bodies instead. The paper prints neither groups nor random choices: here B variants
# fall into as many groups as in Table 16, whose joint counts fit no one-DOF linkage.

from __future__ import annotations

import random
import re

import numpy as np

from mbssa.faults import Fault, Faults, ModelError
from mbssa.io.build import checked
from mbssa.joints.types import revolute
from mbssa.mechanism import JointGeometry, Mechanism

FAMILY = "assur:"

#: Internal joints of each group, links counted from 0, and the links with a joint to the outside.
GROUPS: dict[str, tuple[int, tuple[tuple[int, int], ...], tuple[int, ...], str]] = {
    "I": (2, ((0, 1),), (0, 1), "RRR dyad"),
    "II": (4, ((0, 3), (1, 3), (2, 3)), (0, 1, 2), "triad: three binary links on a ternary one"),
    "III": (
        6,
        ((0, 4), (1, 4), (2, 5), (3, 5), (4, 5)),
        (0, 1, 2, 3),
        "two ternary links joined to each other, each with two binary links",
    ),
}

#: Seeds other than 1 that give the B variants the numbers of groups of Table 16: 2, 3, 3 for I-2B,
#: I-4B, I-8B; 1, 2 for II-2B, II-4B; 1, 1 for III-2B, III-4B. II-8B, unsolved there, is one group.
SEEDS: dict[tuple[str, int], int] = {("I", 8): 9, ("II", 2): 3, ("II", 4): 4, ("II", 8): 7}


def assur_linkage(name: str) -> Mechanism:
    """Member of the family with this name."""
    match = re.fullmatch(r"assur:(I{1,3})-([1-9]\d{0,4})(B?)", name)
    if match is None:
        form = "assur:CLASS-COUNT or assur:CLASS-COUNTB with CLASS I, II or III, as in assur:III-4B"
        raise ModelError(name, [Fault("", f"write {form}")])
    kind, count, moved = match[1], int(match[2]), bool(match[3])
    seed = SEEDS.get((kind, count), 1)
    links, internal, outer, title = GROUPS[kind]
    # Only random() is promised to give the same numbers in every version of Python.
    dice = random.Random(seed)
    pairs: list[tuple[int, int]] = [(0, 1)]
    for group in range(count):
        first = 2 + group * links
        pairs += [(first + a, first + b) for a, b in internal]
        on_crank_and_frame = [1] + [0] * (len(outer) - 1)
        supports = [int(dice.random() * first) for _ in outer] if group else on_crank_and_frame
        if len(set(supports)) == 1:
            # All on one body, the group would only be a part of that body: move one joint on.
            supports[-1] = (supports[-1] + 1) % first
        pairs += [(support, first + link) for support, link in zip(supports, outer, strict=True)]
    n_bodies = 2 + links * count
    driven = np.zeros(len(pairs), dtype=np.uint8)
    driven[pairs.index((n_bodies - 2, n_bodies - 1)) if moved else 0] = 1
    geometry = {
        j: JointGeometry(point=(round(4 * dice.random() - 2, 3), round(4 * dice.random() - 2, 3)))
        for j in range(len(pairs))
    }
    mechanism = Mechanism(
        space="planar",
        n_bodies=n_bodies,
        joint_start=np.arange(0, 2 * len(pairs) + 1, 2),
        joint_body=np.array(pairs).ravel(),
        joint_type=np.full(len(pairs), revolute.PLANAR.index),
        driven=driven,
        joint_geometry=geometry,
        name=name,
        title=f"Planar linkage: a crank and {count} Assur groups of {links} links",
        source="Celdran, Saura, Dopico 2022, Table 16; groups, random choices and geometry are ours",
        notes=(
            f"each group: {title}",
            "the paper's class k means 2k links, which is not Artobolevsky's class",
            "Table 16 prints joint counts that no one-DOF linkage of simple joints has; not followed",
            "geometry: random joint points of our own",
        ),
    )
    return checked(mechanism, name, lambda j: f"joint {j + 1}", Faults())
