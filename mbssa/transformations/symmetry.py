"""Interchangeable joints: automorphisms of the labelled mechanism, and the orbits of distributions.

Bodies and joints are vertices, a slot is an edge; the frame is a vertex of its own kind, and joints differ by
type and by whatever else the question tells apart. Colours are refined until neighbours tell no more apart;
then one vertex is singled out after the other until all are, and for each other vertex of its colour a second
copy is refined in step: where the two agree to the end there is an automorphism. The counts do not change
under it. Geometry may: two legs that look alike to the count need not be alike, so validity stays each
member's own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mbssa.joints.catalogue import CATALOGUE
from mbssa.mechanism import IntArray, Mechanism
from mbssa.transformations.judged import Judged

if TYPE_CHECKING:
    from mbssa.transformations.base import Base

Mask = npt.NDArray[np.bool_]
Keys = npt.NDArray[np.uint64]

#: Steps after which the search for automorphisms stops: a few seconds.
MOST_STEPS = 10_000_000


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Automorphisms of a mechanism by generators.

    Attributes
    ----------
    bodies : (G, N) int64, body b goes to ``bodies[g, b]``; the frame stays
    joints : (G, J) int64, joint j goes to ``joints[g, j]``; a multiple joint that is kept as one is known by
        the first of its pairs, and its other pairs are -1
    order : how many automorphisms the generators make, the identity among them
    complete : False where the search stopped at its bound: there may be more
    """

    bodies: IntArray
    joints: IntArray
    order: int = 1
    complete: bool = True


def symmetry(
    mechanism: Mechanism,
    joint_label: Sequence[int] | IntArray | None = None,
    body_label: Sequence[int] | IntArray | None = None,
    *,
    as_one: bool = True,
    most: int = MOST_STEPS,
) -> Symmetry:
    """Automorphisms of a mechanism: what may be exchanged without a difference to the count.

    Driven coordinates are not looked at: others are going to be driven.

    Parameters
    ----------
    mechanism : with or without geometry, which is not looked at
    joint_label, body_label : (J,) and (N,), what tells joints and bodies apart besides their types; joints
        of a multiple joint that is kept as one count with all their labels together
    as_one : whether a multiple joint is one vertex, whatever pairs stand for it; else its pairs are joints
    most : steps after which the search stops; what it found by then is sound

    Examples
    --------
    >>> import mbssa
    >>> found = symmetry(mbssa.load("stewart"))
    >>> found.order, found.complete
    (720, True)
    """
    graph = _graph(mechanism, joint_label, body_label, as_one)
    images, order, complete = _automorphisms(graph, most)
    n = mechanism.n_bodies
    bodies = np.array([image[:n] for image in images], dtype=np.int64).reshape(-1, n)
    joints = np.full((len(images), mechanism.n_joints), -1, dtype=np.int64)
    vertex_joint = np.array(graph.joint, dtype=np.int64)
    for g, image in enumerate(images):
        joints[g, vertex_joint] = vertex_joint[np.array(image[n:], dtype=np.int64) - n]
    return Symmetry(bodies, joints, order, complete)


def across_variants(found: Symmetry, variants: Sequence[Mechanism]) -> IntArray:
    """What automorphisms do to the pairs of the variants of a mechanism with multiple joints.

    A variant is a choice of pairs; an automorphism of the mechanism with its multiple joints kept as one
    takes variant v to variant v', and pair j of the one to pair j' of the other.

    Returns
    -------
    (G, V J) int64: pair ``v J + j`` goes to ``v' J + j'``. Automorphisms that lead out of the variants given
    are left out.

    Examples
    --------
    >>> import mbssa
    >>> stewart = mbssa.load("stewart")
    >>> found = symmetry(stewart)
    >>> (across_variants(found, [stewart]) == found.joints).all()
    np.True_
    """
    n_joints = variants[0].n_joints
    several = variants[0].multiple_joints
    place: dict[int, int] = {first.joints[0]: m for m, first in enumerate(several)}
    number = {_trees(variant): v for v, variant in enumerate(variants)}
    answer = []
    for body, joint in zip(found.bodies.tolist(), found.joints, strict=True):
        image = np.empty((len(variants), n_joints), dtype=np.int64)
        for v, variant in enumerate(variants):
            turned = [
                frozenset(frozenset(body[b] for b in pair) for pair in tree) for tree in _trees(variant)
            ]
            goal = [place[int(joint[one.joints[0]])] for one in several]
            onto = list(turned)
            for m, to in enumerate(goal):
                onto[to] = turned[m]
            other = number.get(tuple(onto))
            if other is None:
                break
            image[v] = joint
            for one, to in zip(several, goal, strict=True):
                pairs = {_ends(variants[other], j): j for j in several[to].joints}
                for j in one.joints:
                    image[v, j] = pairs[frozenset(body[b] for b in variant.joint_bodies(j))]
            image[v] += other * n_joints
        else:
            answer.append(image.ravel())
    return np.array(answer, dtype=np.int64).reshape(-1, len(variants) * n_joints)


def same_pairs(mechanism: Mechanism, variant: Mechanism) -> IntArray | None:
    """(J,) the joint of a variant that is each joint of the mechanism; None if it has other pairs.

    The pairs of a multiple joint may come in another order.

    >>> import mbssa
    >>> rotor = mbssa.load("rotor")
    >>> same_pairs(rotor, rotor).tolist() == list(range(21))
    True
    """
    if _trees(mechanism) != _trees(variant):
        return None
    image = np.arange(mechanism.n_joints)
    for several in mechanism.multiple_joints:
        pairs = {_ends(variant, j): j for j in several.joints}
        image[list(several.joints)] = [pairs[_ends(mechanism, j)] for j in several.joints]
    return image


def keeping(images: IntArray, label: Sequence[int] | IntArray) -> IntArray:
    """The generators that take every joint to one with the same label.

    >>> keeping(np.array([[1, 0, 2], [0, 2, 1]]), [5, 5, 7]).tolist()
    [[1, 0, 2]]
    """
    values = np.asarray(label)
    kept: IntArray = images[(values[images] == values).all(axis=1)]
    return kept


def orbits(places: npt.NDArray[np.integer], images: IntArray) -> IntArray:
    """Which distributions automorphisms take to each other.

    Parameters
    ----------
    places : (D, n) joint index of each input, ascending in a row; no row twice
    images : (G, J) where each generator takes the joints

    Returns
    -------
    (D,) int64: the first row of each row's orbit. Images that are not among the rows are passed over.

    Examples
    --------
    Joints 0 and 1 may be exchanged; one input of three:

    >>> orbits(np.array([[0], [1], [2]]), np.array([[1, 0, 2]])).tolist()
    [0, 0, 2]
    """
    import scipy.sparse
    from scipy.sparse.csgraph import connected_components

    n_rows = len(places)
    if not n_rows or not len(images) or not places.shape[1]:
        return np.arange(n_rows)
    weight, key, order = _keys(places, images.shape[1])
    ordered = key[order]
    rows = np.arange(n_rows)
    tails, heads = [], []
    for image in images:
        # A sum does not ask for the order of its terms: images need not be sorted.
        goal = weight[image][places].sum(axis=1, dtype=np.uint64)
        at = np.searchsorted(ordered, goal)
        there = order[np.minimum(at, n_rows - 1)]
        known = (key[there] == goal) & (there != rows)
        tails.append(rows[known])
        heads.append(there[known])
    tail, head = np.concatenate(tails), np.concatenate(heads)
    arcs = scipy.sparse.coo_array((np.ones(len(tail), dtype=bool), (tail, head)), shape=(n_rows, n_rows))
    count, label = connected_components(arcs, directed=False)
    first = np.full(count, n_rows)
    np.minimum.at(first, label, rows)
    answer: IntArray = first[label]
    return answer


def shown(orbit_of: IntArray, preferred: IntArray | Mask) -> tuple[IntArray, IntArray]:
    """One row of each orbit, the most preferred (the first of those), and how many members it stands for.

    Returns
    -------
    rows (O,) ascending, members (O,) int64

    Examples
    --------
    >>> rows, members = shown(np.array([0, 0, 2]), np.array([False, True, True]))
    >>> rows.tolist(), members.tolist()
    ([1, 2], [2, 1])
    """
    order = np.lexsort((np.arange(len(orbit_of)), -preferred.astype(np.int64), orbit_of))
    _, begin, members = np.unique(orbit_of[order], return_index=True, return_counts=True)
    rows = order[begin]
    ascending = np.argsort(rows)
    return rows[ascending], members[ascending].astype(np.int64)


def interchangeable(bases: Sequence[Base], most: int = MOST_STEPS) -> tuple[IntArray, bool]:
    """What may be exchanged in a search over inputs, where every variant of a mechanism has a base.

    Joints are alike where they have the same type, keep the same units after a treatment, and may and must
    have as many inputs by the question.

    Returns
    -------
    (G, V J) int64, where each generator takes joint j of variant v, both as ``v J + j``; and False where the
    search for them stopped at its bound, so that there may be more.

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.transformations.base import bases
    >>> from mbssa.transformations.question import Question
    >>> images, complete = interchangeable(bases(mbssa.load("planar_3rrr"), Question())[0])
    >>> len(images), complete
    (2, True)
    """
    first = bases[0]
    said = [label for base in bases for label in _labels(base)]
    number = {label: k for k, label in enumerate(sorted(set(said)))}
    label = np.array([number[each] for each in said], dtype=np.int64)
    freedom = first.incidence.freedom_of_body
    as_one = len(bases) > 1
    found = symmetry(first.mechanism, label[: first.mechanism.n_joints], freedom, as_one=as_one, most=most)
    images = found.joints
    if as_one:
        images = across_variants(found, [base.mechanism for base in bases])
        if any((base.incidence.freedom_of_body != freedom).any() for base in bases):
            images = images[:0]
    return keeping(images, label), found.complete


def _labels(base: Base) -> list[tuple[int, ...]]:
    """What tells the joints of a base apart besides their types."""
    n_joints = base.mechanism.n_joints
    fictitious = np.zeros(n_joints, dtype=np.int64)
    fictitious[base.fictitious] = 1
    allowed, required = np.bitwise_count(base.allowed), np.bitwise_count(base.required)
    columns = (
        base.incidence.units,
        allowed,
        required,
        base.least,
        base.most,
        base.locked,
        fictitious,
    )
    return [tuple(row) for row in np.stack([each.astype(np.int64) for each in columns], axis=1).tolist()]


def counted_once(judged: Judged, images: IntArray, n_joints: int) -> Judged:
    """The rows with ``alike``: members of the orbit on the row that stands for it, 0 on all others of it.

    So is ``alike_valid``. The member with the most valid sets stands for its orbit, the first of those.

    >>> rows = Judged.empty(1, 3)
    >>> rows.places[:, 0] = [0, 1, 2]
    >>> counted_once(rows, np.array([[1, 0, 2]]), 3).alike.tolist()
    [2, 0, 1]
    """
    places = judged.places.astype(np.int64) + n_joints * judged.variant[:, None].astype(np.int64)
    orbit_of = orbits(places, images)
    rows, members = shown(orbit_of, judged.valid)
    alike, valid = np.zeros((2, len(judged)), dtype=judged.alike.dtype)
    alike[rows] = members
    valid[rows] = np.bincount(orbit_of, weights=judged.valid > 0)[orbit_of[rows]]
    return replace(judged, alike=alike, alike_valid=valid)


def _keys(places: npt.NDArray[np.integer], n_joints: int) -> tuple[Keys, Keys, IntArray]:
    """A number for each joint such that their sums tell the rows apart; the sums; and what sorts them."""
    for seed in range(8):
        weight = np.random.default_rng(seed).integers(0, 2**64, n_joints, dtype=np.uint64)
        key = weight[places].sum(axis=1, dtype=np.uint64)
        order = np.argsort(key)
        if (np.diff(key[order]) > 0).all():
            return weight, key, order
    raise ValueError("distributions are repeated; each is a row of its own")


def _trees(mechanism: Mechanism) -> tuple[frozenset[frozenset[int]], ...]:
    return tuple(
        frozenset(_ends(mechanism, j) for j in several.joints) for several in mechanism.multiple_joints
    )


def _ends(mechanism: Mechanism, joint: int) -> frozenset[int]:
    return frozenset(mechanism.joint_bodies(joint))


@dataclass(frozen=True, eq=False)
class _Graph:
    """Vertices are the bodies, then the joints; ``weight`` of an edge says in which role a body is there.

    Weights are powers of a number above every degree, so that their sums count the edges of each role.
    """

    neighbours: list[list[tuple[int, int]]]
    label: list[int]
    joint: list[int]


def _graph(
    mechanism: Mechanism,
    joint_label: Sequence[int] | IntArray | None,
    body_label: Sequence[int] | IntArray | None,
    as_one: bool,
) -> _Graph:
    n = mechanism.n_bodies
    extra = [0] * mechanism.n_joints if joint_label is None else [int(x) for x in joint_label]
    own = [0] * n if body_label is None else [int(x) for x in body_label]
    several = mechanism.multiple_joints if as_one else ()
    first = {one.joints[0]: one for one in several}
    passed_over = {j for one in several for j in one.joints[1:]}
    labels: list[object] = [("body", b == 0, own[b]) for b in range(n)]
    joints, ends = [], []
    for j in range(mechanism.n_joints):
        if j in passed_over:
            continue
        joints.append(j)
        row = CATALOGUE[int(mechanism.joint_type[j])]
        if j in first:
            said = tuple(sorted(extra[k] for k in first[j].joints))
            labels.append(("several", row.index, said))
            ends.append([(body, 0) for body in first[j].bodies])
        else:
            labels.append(("joint", row.index, extra[j]))
            bodies = mechanism.joint_bodies(j)
            ends.append([(body, side if row.sided or side == 2 else 0) for side, body in enumerate(bodies)])
    degree = np.bincount([body for joint in ends for body, _ in joint], minlength=n)
    base = 1 + max(int(degree.max(initial=1)), n)
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n + len(joints))]
    for k, joint in enumerate(ends):
        for body, role in joint:
            neighbours[n + k].append((body, base**role))
            neighbours[body].append((n + k, base**role))
    # Labels of one kind are compared with each other only, so sorting by text is an order like any other.
    number = {label: i for i, label in enumerate(sorted(set(labels), key=repr))}
    return _Graph(neighbours, [number[label] for label in labels], joints)


Trace = list[tuple[int, object]]


@dataclass
class _Colouring:
    """Cells of vertices that nothing has told apart yet; ``colour[v]`` is the number of v's cell.

    Lists in ``cells`` are replaced, never changed: copies share them.
    """

    colour: list[int]
    cells: list[list[int]]

    def copy(self) -> _Colouring:
        return _Colouring(self.colour.copy(), self.cells.copy())


@dataclass
class _Budget:
    left: int

    @property
    def spent(self) -> bool:
        return self.left <= 0


def _automorphisms(graph: _Graph, most: int) -> tuple[list[list[int]], int, bool]:
    """Generators, the order of what they make, and whether that is all."""
    budget = _Budget(most)
    n_colours = max(graph.label) + 1
    start = _Colouring(graph.label.copy(), [[] for _ in range(n_colours)])
    for v, label in enumerate(graph.label):
        start.cells[label].append(v)
    _refine(graph, start, list(range(n_colours)), budget)
    path = [start]
    base: list[int] = []
    traces: list[Trace] = []
    while (cell := _open_cell(path[-1])) is not None:
        if budget.spent:
            return [], 1, False
        base.append(min(path[-1].cells[cell]))
        colouring, trace = _singled_out(graph, path[-1], base[-1], budget)
        path.append(colouring)
        traces.append(trace)
    part = list(range(len(graph.label)))
    size = [1] * len(part)
    images: list[list[int]] = []
    order = 1
    # From the end: what fixes a longer beginning of the base fixes every shorter one too.
    for i in range(len(base) - 1, -1, -1):
        b = base[i]
        failed: list[int] = []
        for v in sorted(path[i].cells[path[i].colour[b]]):
            if _lead(part, v) == _lead(part, b) or any(_lead(part, v) == _lead(part, f) for f in failed):
                continue
            other, trace = _singled_out(graph, path[i], v, budget)
            image = _isomorphism(graph, path[i + 1], other, budget) if trace == traces[i] else None
            if image is None:
                if budget.spent:
                    return images, order * size[_lead(part, b)], False
                failed.append(v)
                continue
            images.append(image)
            for x, y in enumerate(image):
                _join(part, size, x, y)
        order *= size[_lead(part, b)]
    return images, order, True


def _open_cell(colouring: _Colouring) -> int | None:
    """The first of the smallest cells that have more than one member."""
    sizes = [(len(cell), c) for c, cell in enumerate(colouring.cells) if len(cell) > 1]
    return min(sizes)[1] if sizes else None


def _singled_out(graph: _Graph, colouring: _Colouring, v: int, budget: _Budget) -> tuple[_Colouring, Trace]:
    """A copy with vertex v in a cell of its own, refined, and what the refinement saw on its way."""
    answer = colouring.copy()
    own = answer.colour[v]
    answer.cells[own] = [u for u in answer.cells[own] if u != v]
    answer.colour[v] = len(answer.cells)
    answer.cells.append([v])
    budget.left -= len(answer.colour)
    return answer, _refine(graph, answer, [answer.colour[v]], budget)


def _refine(graph: _Graph, colouring: _Colouring, splitters: Sequence[int], budget: _Budget) -> Trace:
    """Split cells until all members of a cell have the same number of edges of each role to every cell.

    In place. What it does depends on the numbers of cells alone, never on those of vertices, so two
    colourings that an automorphism takes to each other are split alike, and leave the same trace.
    """
    colour, cells = colouring.colour, colouring.cells
    waits = deque(splitters)
    waiting = set(splitters)
    trace: Trace = []
    while waits:
        splitter = waits.popleft()
        waiting.discard(splitter)
        sums: dict[int, int] = {}
        for v in cells[splitter]:
            for u, weight in graph.neighbours[v]:
                sums[u] = sums.get(u, 0) + weight
        budget.left -= len(sums)
        touched: dict[int, dict[int, list[int]]] = {}
        for u, total in sums.items():
            touched.setdefault(colour[u], {}).setdefault(total, []).append(u)
        for c in sorted(touched):
            pieces = touched[c]
            reached = sum(map(len, pieces.values()))
            if reached < len(cells[c]):
                budget.left -= len(cells[c])
                pieces[0] = [u for u in cells[c] if u not in sums]
            keys = sorted(pieces)
            trace.append((c, tuple((key, len(pieces[key])) for key in keys)))
            if len(keys) == 1:
                continue
            largest = max(keys, key=lambda key: (len(pieces[key]), -key))
            cells[c] = pieces[largest]
            for key in keys:
                if key != largest:
                    new = len(cells)
                    cells.append(pieces[key])
                    for u in pieces[key]:
                        colour[u] = new
                    waits.append(new)
                    waiting.add(new)
    return trace


def _isomorphism(graph: _Graph, a: _Colouring, b: _Colouring, budget: _Budget) -> list[int] | None:
    """An automorphism that takes every cell of ``a`` to that of ``b``; None: there is none, or no budget."""
    trail: list[Iterator[tuple[_Colouring, _Colouring]]] = [iter([(a, b)])]
    while trail:
        pair = next(trail[-1], None)
        if pair is None or budget.spent:
            trail.pop()
            continue
        image, cell = _guessed(*pair)
        budget.left -= len(image)
        if _is_automorphism(graph, image):
            return image
        if cell is not None:
            trail.append(_in_step(graph, *pair, cell, budget))
    return None


def _guessed(a: _Colouring, b: _Colouring) -> tuple[list[int], int | None]:
    """A map that keeps what both cells have, the others in order; and the cell to look into if it is wrong.

    Where legs are exchanged all others stay: most automorphisms are guessed after one step.
    """
    image = [0] * len(a.colour)
    open_cell = moved_cell = None
    for c, (mine, theirs) in enumerate(zip(a.cells, b.cells, strict=True)):
        if len(mine) == 1:
            image[mine[0]] = theirs[0]
            continue
        if not mine:
            continue
        both = set(mine) & set(theirs)
        for v in both:
            image[v] = v
        here = sorted(v for v in mine if v not in both)
        for v, w in zip(here, sorted(v for v in theirs if v not in both), strict=True):
            image[v] = w
        open_cell = c if open_cell is None else open_cell
        if here and moved_cell is None:
            moved_cell = c
    return image, open_cell if moved_cell is None else moved_cell


def _in_step(
    graph: _Graph, a: _Colouring, b: _Colouring, cell: int, budget: _Budget
) -> Iterator[tuple[_Colouring, _Colouring]]:
    """Both colourings one step further: one member of the cell of ``a``, every member of that of ``b``."""
    theirs = set(b.cells[cell])
    mine = set(a.cells[cell])
    v = min(a.cells[cell], key=lambda u: (u in theirs, u))
    left, trace = _singled_out(graph, a, v, budget)
    for w in sorted(b.cells[cell], key=lambda u: (u != v, u in mine, u)):
        right, other = _singled_out(graph, b, w, budget)
        if other == trace:
            yield left, right


def _is_automorphism(graph: _Graph, image: list[int]) -> bool:
    n = len(image) - len(graph.joint)
    return all(graph.label[v] == graph.label[image[v]] for v in range(len(image))) and all(
        sorted((image[u], weight) for u, weight in graph.neighbours[v]) == sorted(graph.neighbours[image[v]])
        for v in range(n, len(image))
    )


def _lead(part: list[int], v: int) -> int:
    while part[v] != v:
        part[v] = part[part[v]]
        v = part[v]
    return v


def _join(part: list[int], size: list[int], a: int, b: int) -> None:
    a, b = _lead(part, a), _lead(part, b)
    if a != b:
        part[b] = a
        size[a] += size[b]
