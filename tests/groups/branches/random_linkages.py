"""Random mechanisms whose branches are hard to hold: planar trusses, spatial chains with passive legs.

Every family makes a mechanism from a seed. All close at their reference by construction.
"""

import numpy as np
from linkages import linkage
from random_mechanisms import random_mechanism

import mbssa

#: Loops of joints between two moved or fixed bodies: six freedoms, seven with a passive rotation.
GRADES = {"R": 1, "P": 1, "U": 2, "C": 2, "S": 3}


def planar(joints, points, driven, angles=None, name="linkage"):
    """A planar mechanism of joints (first, second, type), bodies from 1, at points (J, 2); one driven joint.

    ``angles`` (J,) are directions of slides, rad.
    """
    rows = [(*joint, int(k == driven)) for k, joint in enumerate(joints)]
    geometry = []
    for k, (_, _, code) in enumerate(joints):
        axis = None if code == "R" else (float(np.cos(angles[k])), float(np.sin(angles[k])))
        geometry.append({"point": tuple(float(x) for x in points[k]), "axis": axis})
    return linkage(rows, geometry, name=name)


def four_bar(ground, crank, coupler, rocker, angle):
    """A four-bar in its open mode: the coupler's end is to the left of the way from crank pin to ground."""
    pin, far = crank * np.array([np.cos(angle), np.sin(angle)]), np.array([ground, 0.0])
    way = far - pin
    apart = np.hypot(*way)
    foot = 0.5 * (apart + (coupler - rocker) * (coupler + rocker) / apart)
    left = np.sqrt(coupler**2 - foot**2)
    tip = pin + (foot * way + left * np.array([-way[1], way[0]])) / apart
    joints = [(1, 2, "R"), (2, 3, "R"), (3, 4, "R"), (1, 4, "R")]
    return planar(joints, [(0.0, 0.0), pin, tip, far], 0, name="four-bar")


def parallelogram_like(seed):
    """A four-bar with opposite links that are equal, for odd seeds, or nearly equal.

    Folded flat at crank angles 0 and π: there the exact one bifurcates; the others come near to it, or end.
    """
    rng = np.random.default_rng(seed)
    ground, crank = rng.uniform(0.5, 1.5), rng.uniform(0.2, 0.45)
    exact = bool(seed % 2)
    off = np.zeros(2) if exact else 10 ** rng.uniform(-4, -1) * rng.uniform(-1, 1, 2) * crank
    coupler, rocker = ground + off[0], crank + off[1]
    while True:  # to where it closes
        angle = rng.uniform(0.2, np.pi - 0.2)
        apart = np.hypot(crank * np.cos(angle) - ground, crank * np.sin(angle))
        if abs(coupler - rocker) < apart < coupler + rocker:
            return four_bar(ground, crank, coupler, rocker, angle)


def dyads(seed):
    """A crank and one to three dyads, each on bodies before it: groups that have closed forms."""
    rng = np.random.default_rng(seed)
    while True:
        joints, n = [(1, 2, "R")], 2
        for _ in range(int(rng.integers(1, 4))):
            a, b = rng.choice(n, 2, replace=False) + 1
            kinds = ["R", "R", "R"]
            if rng.random() < 0.4:
                kinds[int(rng.integers(3))] = "P"
            joints += [(int(a), n + 1, kinds[0]), (n + 1, n + 2, kinds[1]), (n + 2, int(b), kinds[2])]
            n += 2
        points, angles = rng.uniform(-1, 1, (len(joints), 2)), rng.uniform(0, np.pi, len(joints))
        made = planar(joints, points, 0, angles, name=f"dyads {seed}")
        structure = mbssa.decompose(made)
        if structure.determined and len(structure.groups) == n // 2 and mbssa.check(made).solvable:
            return made


def truss(seed, bodies=None, slides=0.1):
    """A planar mechanism of 6 to 12 bodies, one loop of which at least has no closed form."""
    rng = np.random.default_rng(seed)
    n = int(bodies or rng.choice([6, 8, 10, 12]))
    while True:
        made = _truss(rng, n, slides, f"truss {seed}")
        if made is not None:
            return made


def _truss(rng, n, slides, name):
    count = (3 * (n - 1) - 1) // 2
    order = rng.permutation(np.arange(2, n + 1))
    pairs = [(1, 2)]  # the driven one
    for body in order[order != 2]:
        there = sorted({b for pair in pairs for b in pair})
        pairs.append((int(rng.choice(there)), int(body)))
    while len(pairs) < count:
        a, b = sorted(rng.choice(n, 2, replace=False) + 1)
        if (a, b) not in pairs and (b, a) not in pairs:
            pairs.append((int(a), int(b)))
    kinds = ["R"] + ["P" if rng.random() < slides else "R" for _ in pairs[1:]]
    joints = [(a, b, code) for (a, b), code in zip(pairs, kinds, strict=True)]
    points, angles = rng.uniform(-1, 1, (count, 2)), rng.uniform(0, np.pi, count)
    made = planar(joints, points, 0, angles, name=name)
    structure = mbssa.decompose(made)
    if not structure.determined or all(len(group.bodies) <= 2 for group in structure.groups):
        return None
    # Slides alone between some bodies do not hold their angles.
    return made if mbssa.check(made).solvable else None


def spatial_chain(seed):
    """A crank and a closed chain of 4 to 8 joints in space, or two of them; None if its types do not close.

    Every other one has a rod between two balls, whose rotation is passive.
    """
    rng = np.random.default_rng(seed)
    rows, bodies = ["frame b1 R angle"], 1
    for _ in range(int(rng.choice([1, 1, 2]))):
        passive = rng.random() < 0.5
        kinds = _kinds(rng, 7 if passive else 6, passive)
        ends = [f"b{int(rng.integers(1, bodies + 1))}", "frame"]
        chain = [ends[0], *(f"b{bodies + k + 1}" for k in range(len(kinds) - 1)), ends[1]]
        bodies += len(kinds) - 1
        rows += [f"{a} {b} {kind}" for a, b, kind in zip(chain, chain[1:], kinds, strict=False)]
    if not 3 <= bodies <= 11:
        return None
    return _determined(rows, seed)


def platform(seed):
    """A driven body that carries a platform on six legs: rods between balls, or a hinge and five of them."""
    rng = np.random.default_rng(seed)
    rows, count = ["frame b1 R angle"], 6
    if rng.random() < 0.5:
        rows.append("frame b2 R")
        count = 1
        if rng.random() < 0.5:
            rows[-1] = "frame b2 U"
            count = 2
    for k in range(count):
        base = "b1" if k == 0 or rng.random() < 0.4 else "frame"
        leg = f"b{3 + k}"
        rows += [f"{base} {leg} {rng.choice(['S', 'U'])}", f"{leg} b2 S"]
    return _determined(rows, seed)


def _kinds(rng, total, passive):
    while True:
        kinds = []
        while sum(GRADES[k] for k in kinds) < total:
            kinds.append(str(rng.choice(list(GRADES), p=[0.45, 0.12, 0.15, 0.08, 0.2])))
        if sum(GRADES[k] for k in kinds) != total or not 3 <= len(kinds) <= 7 or kinds.count("P") > 2:
            continue
        rods = [k for k in range(len(kinds) - 1) if kinds[k] == kinds[k + 1] == "S"]
        if passive and len(rods) == 1 and kinds.count("S") == 2:
            return kinds
        if not passive and kinds.count("S") <= 1:
            return kinds


def _determined(rows, seed):
    made = random_mechanism([str(row) for row in rows], seed)
    structure = mbssa.decompose(made)
    return made if structure.determined else None


def six_r_group():
    """The mechanism with a 6R2D group of which single steps go to another mode without a word."""
    joints = [(2, 6), (2, 8), (3, 7), (3, 8), (4, 8), (4, 1), (5, 8), (5, 1), (6, 1), (7, 1)]
    points = [
        (-0.8000180802887669, -0.6069144549676915), (-0.07716959598248185, 0.6504950837063674),
        (0.6869032725678581, 0.1914650783037306), (-0.3625321364458651, -0.742303619921524),
        (-0.944969067883537, 0.5611645773822584), (0.1758121916751434, -0.2284785078465459),
        (-0.27273645895299037, 0.07986684999991378), (-0.16098215741380462, -0.9953624611475513),
        (0.10848731585124205, 0.0026621638493973254), (-0.6445254331349355, -0.23626602329267232),
    ]  # fmt: skip
    rows = [(a, b, "R") for a, b in joints]
    return planar(rows, points, 9, name="6R2D")
