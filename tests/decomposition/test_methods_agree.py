"""Three independent answers: the matching, the paper's search, and a look at every set of bodies.

Notation, for a set X of movable bodies: ``units(X)`` are the units of the joints whose bodies are all in
X or the frame, ``inner(X)`` those of the joints whose bodies are all in X, and
``excess(X) = units(X) - B |X|``. The laws, which hold for every mechanism:

- ``excess`` is supermodular, so the sets where it is largest are closed under union and intersection.
  The smallest of them is the over-constrained part, and its excess is the surplus. What is outside the
  largest of them is the under-constrained part; it lacks ``max excess - excess(all)`` units.
- Between the two, bodies that the same of these sets hold form a group, and a group goes before another
  when every such set that holds the other holds it.
- A group has a rigid sub-chain when some X in it has ``inner(X) > B (|X| - 1)``; every such X meets a
  reported sub-chain, and the surplus reported is that of the sub-chain itself.
- A mechanism is determined exactly when ``excess(X) <= 0`` and ``inner(X) <= B (|X| - 1)`` for every X,
  and ``excess(all) = 0``.
"""

import random
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mbssa
from mbssa.decomposition import flow
from mbssa.decomposition.incidence import initialise
from mbssa.joints.catalogue import FREEDOM, joint_type, types_of
from mbssa.mechanism import Mechanism

repeatable = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


# --------------------------------------------------------------------------- mechanisms

Row = tuple[tuple[int, ...], str, int]

#: The joint that binds nothing.
FREE = {"planar": "FP", "spatial": "F"}


def mechanism_of(space: str, n_bodies: int, rows: list[Row]) -> Mechanism:
    """From rows ``(body indices, type, driven)``; no check, so that anything can be tried."""
    sizes = [len(bodies) for bodies, _, _ in rows]
    return Mechanism(
        space=space,
        n_bodies=n_bodies,
        joint_start=np.cumsum([0, *sizes]),
        joint_body=np.array([body for bodies, _, _ in rows for body in bodies], dtype=np.int64),
        joint_type=np.array([joint_type(code, space).index for _, code, _ in rows]),
        driven=np.array([(1 << driven) - 1 for _, _, driven in rows], dtype=np.uint8),
    )


def renumbered(dice: random.Random, mechanism: Mechanism) -> Mechanism:
    """Movable bodies in another order, joints in another order, ends of joints swapped."""
    number = list(range(1, mechanism.n_bodies))
    dice.shuffle(number)
    number = [0, *number]
    rows = []
    for j in range(mechanism.n_joints):
        bodies = [number[body] for body in mechanism.joint_bodies(j)]
        dice.shuffle(bodies)
        joint = mechanism.joints[j]
        rows.append((tuple(bodies), joint.type.code, len(joint.driven)))
    dice.shuffle(rows)
    return mechanism_of(mechanism.space, mechanism.n_bodies, rows)


def kinds(space: str) -> list[tuple[str, int, int]]:
    """Every type of a space with every number of driven coordinates: (code, driven, units)."""
    return [
        (row.code, driven, row.equations + driven)
        for row in types_of(space)
        for driven in range(row.grade + 1)
        if row.equations + driven <= FREEDOM[space]
    ]


def random_group(dice: random.Random, space: str, first: int, size: int, sparse: bool = True) -> list[Row]:
    """Joints of ``size`` new bodies, from ``first`` on, that are determined by the count and sparse.

    Joints with exactly B x size units, each joint's units shared out between new bodies that still
    need some, so that no set of bodies has too many. Unless ``sparse`` is waived, sets with too many
    among themselves are then looked for one by one, and the draw repeated if there are any.
    """
    freedom = FREEDOM[space]
    choices = [kind for kind in kinds(space) if kind[2] > 0]
    while True:
        need = dict.fromkeys(range(first, first + size), freedom)
        rows: list[Row] = []
        inner: list[tuple[int, int]] = []
        while any(need.values()):
            body = dice.choice([b for b in need if need[b]])
            others = [b for b in range(first, first + size) if b != body]
            if not others or dice.random() < 0.3:
                others = list(range(first))
            other = dice.choice(others)
            bodies = [body, other]
            if space == "planar" and first + size > 3 and dice.random() < 0.15:
                bodies.append(dice.choice([b for b in range(first + size) if b not in bodies]))
            room = sum(need.get(b, 0) for b in bodies)
            fitting = [kind for kind in choices if kind[2] <= room]
            if len(bodies) == 3:
                fitting = [kind for kind in fitting if joint_type(kind[0], space).max_bodies > 2]
            # Undriven joints are the rule.
            weights = [1.0 if driven == 0 else 0.15 for _, driven, _ in fitting]
            code, driven, units = dice.choices(fitting, weights)[0]
            rows.append((tuple(bodies), code, driven))
            if all(b >= first for b in bodies):
                inner.append((sum(1 << (b - first) for b in bodies), units))
            for b in bodies:
                taken = min(units, need.get(b, 0))
                units -= taken
                if taken:
                    need[b] -= taken
        if not sparse or all(
            sum(units for mask, units in inner if mask & ~chain == 0) <= freedom * (chain.bit_count() - 1)
            for chain in range(1, 1 << size)
        ):
            return rows


def random_determined(seed: int, space: str, most_bodies: int = 9) -> Mechanism:
    """Random groups on top of each other; now and then a joint that binds nothing."""
    dice = random.Random(seed)
    rows: list[Row] = []
    n_bodies = 1
    target = dice.randint(2, most_bodies)
    while n_bodies <= target:
        size = min(dice.choice([1, 1, 2, 2, 3, 3, 4, 5, 6]), most_bodies + 1 - n_bodies)
        rows += random_group(dice, space, n_bodies, size)
        n_bodies += size
        if dice.random() < 0.1 and n_bodies > 2:
            rows.append((tuple(dice.sample(range(n_bodies), 2)), FREE[space], 0))
    return renumbered(dice, mechanism_of(space, n_bodies, rows))


def loose(n_bodies: int, rows: list[Row]) -> list[int]:
    """One body of each piece that no joint ties to the frame: a mechanism has no such piece."""
    graph = nx.Graph()
    graph.add_nodes_from(range(n_bodies))
    for bodies, _, _ in rows:
        nx.add_path(graph, bodies)
    return sorted(min(piece) for piece in nx.connected_components(graph) if 0 not in piece)


@st.composite
def near_balance(draw: st.DrawFn, most_bodies: int = 7) -> Mechanism:
    """As many units as freedoms, sparse or not, and then up to two joints added or removed."""
    space = draw(st.sampled_from(["planar", "spatial"]))
    dice = random.Random(draw(st.integers(0, 10**6)))
    rows: list[Row] = []
    n_bodies = 1
    for size in draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)):
        if n_bodies + size > most_bodies:
            break
        rows += random_group(dice, space, n_bodies, size, sparse=False)
        n_bodies += size
    for _ in range(draw(st.integers(0, 2))):
        if draw(st.booleans()) and len(rows) > 1:
            rows.pop(draw(st.integers(0, len(rows) - 1)))
        elif n_bodies > 1:
            code, driven, _ = draw(st.sampled_from(kinds(space)))
            rows.append((tuple(dice.sample(range(n_bodies), 2)), code, driven))
    rows += [((0, body), FREE[space], 0) for body in loose(n_bodies, rows)]
    return renumbered(dice, mechanism_of(space, n_bodies, rows))


@st.composite
def at_random(draw: st.DrawFn, most_bodies: int = 7) -> Mechanism:
    """A tree of joints and any further ones; most of these have too many units somewhere."""
    space = draw(st.sampled_from(["planar", "spatial"]))
    n_bodies = draw(st.integers(2, most_bodies))
    all_kinds = kinds(space)
    three = [kind for kind in all_kinds if joint_type(kind[0], space).max_bodies > 2]
    rows: list[Row] = []

    def joint(bodies: list[int]) -> None:
        code, driven, _ = draw(st.sampled_from(three if len(bodies) == 3 else all_kinds))
        rows.append((tuple(bodies), code, driven))

    for body in range(1, n_bodies):
        joint([draw(st.integers(0, body - 1)), body])
    for _ in range(draw(st.integers(0, 2 * (n_bodies - 1)))):
        size = 3 if three and n_bodies > 2 and draw(st.integers(0, 5)) == 0 else 2
        joint(draw(st.lists(st.integers(0, n_bodies - 1), min_size=size, max_size=size, unique=True)))
    return mechanism_of(space, n_bodies, rows)


def any_mechanism() -> st.SearchStrategy[Mechanism]:
    return st.one_of(near_balance(), near_balance(), at_random())


# --------------------------------------------------------------------------- every set of bodies


@dataclass(frozen=True)
class EverySet:
    """``excess`` and ``inner`` by set; bit b - 1 of a set stands for body index b."""

    freedom: int
    n: int
    excess: list[int]
    inner: list[int]

    @property
    def everything(self) -> int:
        return (1 << self.n) - 1

    @property
    def largest(self) -> list[int]:
        """The sets where the excess is largest."""
        best = max(self.excess)
        return [chain for chain, value in enumerate(self.excess) if value == best]

    @property
    def over(self) -> int:
        common = self.everything
        for chain in self.largest:
            common &= chain
        return common

    @property
    def under(self) -> int:
        reached = 0
        for chain in self.largest:
            reached |= chain
        return self.everything & ~reached

    def rigid_surplus(self, chain: int) -> int:
        return self.inner[chain] - self.freedom * (chain.bit_count() - 1)

    @property
    def determined(self) -> bool:
        return (
            max(self.excess) == 0
            and self.excess[self.everything] == 0
            and all(self.rigid_surplus(chain) <= 0 for chain in range(1, self.everything + 1))
        )


def every_set(mechanism: Mechanism) -> EverySet:
    incidence = initialise(mechanism)
    n = mechanism.n_bodies - 1
    joints = []
    for j, units in enumerate(incidence.units.tolist()):
        bodies = mechanism.joint_bodies(j)
        joints.append((as_set(bodies), 0 not in bodies, units))
    excess, inner = [], []
    for chain in range(1 << n):
        held = [(free, units) for bodies, free, units in joints if bodies & ~chain == 0]
        excess.append(sum(units for _, units in held) - incidence.freedom * chain.bit_count())
        inner.append(sum(units for free, units in held if free))
    return EverySet(incidence.freedom, n, excess, inner)


def as_set(bodies) -> int:
    return sum(1 << (body - 1) for body in bodies if body)


def union(chains) -> int:
    result = 0
    for chain in chains:
        result |= chain
    return result


# --------------------------------------------------------------------------- determined mechanisms


def assert_same(one, two) -> None:
    assert [group.bodies for group in one.groups] == [group.bodies for group in two.groups]
    assert [group.depends_on for group in one.groups] == [group.depends_on for group in two.groups]
    assert [group.type_name for group in one.groups] == [group.type_name for group in two.groups]
    assert one.joint_group.tolist() == two.joint_group.tolist()
    assert one.levels == two.levels
    assert (one.results == two.results).all()


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_matching_and_exhaustive_agree_on_determined_mechanisms(space):
    sizes = set()
    for seed in range(100):
        mechanism = random_determined(seed, space)
        matched = mbssa.decompose(mechanism)
        searched = mbssa.decompose(mechanism, "exhaustive")
        assert matched.determined, seed
        assert every_set(mechanism).determined, seed
        assert searched.determined, seed
        assert searched.note == ""
        assert_same(matched, searched)
        sizes |= {len(group.bodies) for group in matched.groups}
    assert {1, 2, 3} <= sizes  # the generator makes more than cranks


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_larger_determined_mechanisms(space):
    for seed in range(10):
        mechanism = random_determined(seed, space, most_bodies=14)
        assert_same(mbssa.decompose(mechanism), mbssa.decompose(mechanism, "exhaustive"))


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_groups_do_not_depend_on_how_the_mechanism_is_written(space):
    for seed in range(30):
        dice = random.Random(seed)
        mechanism = random_determined(seed, space)
        swapped = mechanism_of(
            space,
            mechanism.n_bodies,
            dice.sample(
                [
                    (
                        mechanism.joint_bodies(j)[::-1],
                        mechanism.joints[j].type.code,
                        len(mechanism.joints[j].driven),
                    )
                    for j in range(mechanism.n_joints)
                ],
                mechanism.n_joints,
            ),
        )
        one, two = mbssa.decompose(mechanism), mbssa.decompose(swapped)
        assert [group.bodies for group in one.groups] == [group.bodies for group in two.groups]
        assert [group.depends_on for group in one.groups] == [group.depends_on for group in two.groups]


# --------------------------------------------------------------------------- any mechanism


@settings(repeatable, max_examples=150)
@given(any_mechanism())
def test_plain_python_and_scipy_agree_in_any_numbering(mechanism):
    plain = mbssa.decompose(mechanism, by_count=True)
    numbers = renumbered(random.Random(0), mechanism)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flow, "LARGE", 0)
        compiled = mbssa.decompose(mechanism, by_count=True)
        turned = mbssa.decompose(numbers, by_count=True)
    assert_same(plain, compiled)
    assert plain.parts == compiled.parts

    def shape(structure):
        parts = [(part.kind, part.units, len(part.bodies), len(part.rigid)) for part in structure.parts]
        return sorted(parts), sorted((len(group.bodies), group.level) for group in structure.groups)

    assert shape(turned) == shape(plain)


def test_a_large_mechanism(monkeypatch):
    mechanism = renumbered(random.Random(0), random_determined(0, "spatial", most_bodies=flow.LARGE))
    assert mechanism.n_bodies > 3_000
    plain = mbssa.decompose(mechanism)
    assert plain.determined
    monkeypatch.setattr(flow, "LARGE", 0)
    compiled = mbssa.decompose(mechanism)
    assert (plain.group_of_body == compiled.group_of_body).all()
    assert (plain.joint_group == compiled.joint_group).all()
    assert plain.levels == compiled.levels


@settings(repeatable, max_examples=150)
@given(any_mechanism())
def test_coarse_parts_are_the_extreme_sets(mechanism):
    sets = every_set(mechanism)
    structure = mbssa.decompose(mechanism, by_count=True)
    coarse = [part for part in structure.parts if not part.rigid]
    over = [part for part in coarse if part.kind == "over"]
    under = [part for part in coarse if part.kind == "under"]
    assert union(as_set(part.bodies) for part in over) == sets.over
    assert union(as_set(part.bodies) for part in under) == sets.under
    assert sum(part.units for part in over) == max(sets.excess)
    assert sum(part.units for part in under) == max(sets.excess) - sets.excess[sets.everything]
    # The pieces are separate, and each over-constrained one has its own excess.
    assert sum(len(part.bodies) for part in coarse) == (sets.over | sets.under).bit_count()
    for part in over:
        assert part.units == sets.excess[as_set(part.bodies)] > 0
        held = [
            j
            for j in range(mechanism.n_joints)
            if all(body == 0 or body in part.bodies for body in mechanism.joint_bodies(j))
        ]
        assert list(part.joints) == held
    for part in under:
        assert part.units > 0


@settings(repeatable, max_examples=150)
@given(any_mechanism())
def test_groups_and_their_order_are_those_of_the_extreme_sets(mechanism):
    sets = every_set(mechanism)
    structure = mbssa.decompose(mechanism, by_count=True)
    sound = sets.everything & ~sets.over & ~sets.under
    assert union(as_set(group.body_indices.tolist()) for group in structure.groups) == sound
    held_by = {b: [bool(chain >> (b - 1) & 1) for chain in sets.largest] for b in range(1, sets.n + 1)}
    for group in structure.groups:
        first = held_by[int(group.body_indices[0])]
        alike = [b for b in held_by if sound >> (b - 1) & 1 and held_by[b] == first]
        assert group.body_indices.tolist() == alike
    before = {group.number: nx.ancestors(structure.dag, group.number) for group in structure.groups}
    for late in structure.groups:
        for early in structure.groups:
            if early.number == late.number:
                continue
            first, then = (held_by[int(group.body_indices[0])] for group in (early, late))
            needed = all(a or not b for a, b in zip(first, then, strict=True))
            assert (early.number in before[late.number]) == needed
    assert all(max(group.depends_on, default=0) < group.number for group in structure.groups)


@settings(repeatable, max_examples=150)
@given(any_mechanism())
def test_rigid_sub_chains_are_the_sets_that_are_not_sparse(mechanism):
    sets = every_set(mechanism)
    structure = mbssa.decompose(mechanism, by_count=True)
    rigid = [part for part in structure.parts if part.rigid]
    for part in rigid:
        if part.kind == "over":
            chain = as_set(part.bodies)
            assert part.rigid == part.bodies
            assert part.units == sets.rigid_surplus(chain) > 0
            held = [
                j
                for j in range(mechanism.n_joints)
                if all(body in part.bodies for body in mechanism.joint_bodies(j))
            ]
            assert list(part.joints) == held
    named = union(as_set(part.bodies) for part in rigid if part.kind == "over")
    for group in structure.groups:
        own = as_set(group.body_indices.tolist())
        for chain in range(1, sets.everything + 1):
            if chain & ~own == 0 and sets.rigid_surplus(chain) > 0:
                assert chain & named
        inside = [part for part in rigid if as_set(part.bodies) & own]
        shortage = [part for part in inside if part.kind == "under"]
        surplus = [part for part in inside if part.kind == "over"]
        assert len(shortage) == bool(surplus)
        for part in shortage:
            assert as_set(part.bodies) == own
            assert part.units == sum(other.units for other in surplus)


@settings(repeatable, max_examples=150)
@given(any_mechanism())
def test_determined_is_every_condition_on_every_set(mechanism):
    structure = mbssa.decompose(mechanism, by_count=True)
    assert structure.determined == every_set(mechanism).determined
    assert structure.unresolved == ()
    assert structure.note == ""


@settings(repeatable, max_examples=100)
@given(any_mechanism())
def test_every_group_that_the_exhaustive_search_finds_satisfies_eq_5(mechanism):
    """Holds also where Eq. (5) is fooled: given the bodies known before, the units are B each."""
    sets = every_set(mechanism)
    structure = mbssa.decompose(mechanism, "exhaustive")
    known = 0
    for group in structure.groups:
        # Groups in canonical order: all that a group needs comes before it.
        need = union(
            as_set(structure.groups[number - 1].body_indices.tolist())
            for number in nx.ancestors(structure.dag, group.number)
        )
        own = as_set(group.body_indices.tolist())
        assert sets.excess[need | own] - sets.excess[need] == 0
        known |= own
    assert sets.excess[known] == 0
    in_parts = union(as_set(part.bodies) for part in structure.parts)
    unresolved = as_set(structure.unresolved)
    assert known | in_parts | unresolved == sets.everything
    assert not known & in_parts
    assert not (known | in_parts) & unresolved
    assert structure.determined == (known == sets.everything)
    if sets.determined:
        assert structure.determined


@settings(repeatable, max_examples=100)
@given(any_mechanism())
def test_methods_agree_wherever_nothing_is_in_excess(mechanism):
    """Shortage alone fools nobody: both methods find the same groups and the same part."""
    sets = every_set(mechanism)
    sparse = all(sets.rigid_surplus(chain) <= 0 for chain in range(1, sets.everything + 1))
    if max(sets.excess) > 0 or not sparse:
        return
    matched, searched = mbssa.decompose(mechanism, by_count=True), mbssa.decompose(mechanism, "exhaustive")
    assert_same(matched, searched)
    assert matched.parts == searched.parts
    assert searched.unresolved == ()


def test_excess_is_supermodular():
    """The law that everything above rests on, seen on one mechanism."""
    sets = every_set(random_determined(3, "spatial", most_bodies=6))
    for a in range(sets.everything + 1):
        for b in range(sets.everything + 1):
            assert sets.excess[a | b] + sets.excess[a & b] >= sets.excess[a] + sets.excess[b]


def test_levels_ascend_along_dependence():
    for seed in range(40):
        structure = mbssa.decompose(random_determined(seed, "planar"))
        assert sum(map(len, structure.levels)) == structure.n_groups
        for early, late in pairwise(structure.levels):
            for number in late:
                assert set(structure.groups[number - 1].depends_on) & set(early)


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_numbers_are_canonical(space):
    """Among the groups that are ready, the one with fewest bodies comes next, then the lowest bodies."""
    for seed in range(40):
        structure = mbssa.decompose(random_determined(seed, space))
        done: list[int] = []
        while len(done) < structure.n_groups:
            ready = [
                (len(group.bodies), group.bodies, group.number)
                for group in structure.groups
                if group.number not in done and set(group.depends_on) <= set(done)
            ]
            done.append(min(ready)[2])
        assert done == list(range(1, structure.n_groups + 1))


@settings(repeatable, max_examples=150)
@given(any_mechanism(), st.integers(0, 10**6))
def test_groups_and_parts_do_not_depend_on_the_numbering(mechanism, seed):
    dice = random.Random(seed)
    old = [0, *dice.sample(range(1, mechanism.n_bodies), mechanism.n_bodies - 1)]
    order = dice.sample(range(mechanism.n_joints), mechanism.n_joints)
    rows = []
    for j in order:
        bodies = [old.index(body) for body in mechanism.joint_bodies(j)]
        rows.append(
            (
                tuple(dice.sample(bodies, len(bodies))),
                mechanism.joints[j].type.code,
                len(mechanism.joints[j].driven),
            )
        )
    other = mechanism_of(mechanism.space, mechanism.n_bodies, rows)

    def named(of, body, joint):
        """Groups and parts as sets, by the old numbers."""
        structure = mbssa.decompose(of, by_count=True)
        groups = {frozenset(body[b] for b in group.body_indices.tolist()) for group in structure.groups}
        parts = [
            (
                part.kind,
                part.units,
                {body[b] for b in part.bodies},
                {joint[j] for j in part.joints},
                {body[b] for b in part.rigid},
            )
            for part in structure.parts
        ]
        return groups, sorted(parts, key=str)

    same = range(max(mechanism.n_bodies, mechanism.n_joints))
    assert named(other, old, order) == named(mechanism, same, same)


def chain_of_dyads(n_bodies: int) -> mbssa.Mechanism:
    """A crank and a chain of RRR dyads on the frame, the joints listed class by class."""
    dyads = range((n_bodies - 2) // 2)
    pairs = [(1, 2, "R", 1)]
    pairs += [(2 + 2 * k, 3 + 2 * k, "R", 0) for k in dyads]
    pairs += [(3 + 2 * k, 4 + 2 * k, "R", 0) for k in dyads]
    pairs += [(1, 4 + 2 * k, "R", 0) for k in dyads]
    return mbssa.from_pairs(n_bodies, pairs, "planar")


def test_long_chains_of_repairs_come_to_an_end() -> None:
    """A unit that must come along a chain longer than a search's effort is found all the same."""
    for n_bodies in (*range(50, 200, 12), 600, 3000):
        structure = mbssa.decompose(chain_of_dyads(n_bodies), by_count=True)
        assert structure.determined, n_bodies
        assert structure.n_groups == 1 + (n_bodies - 2) // 2, n_bodies


def test_regular_linkages_in_any_order_of_joints_come_to_an_end() -> None:
    """Chains and ladders, joints shuffled: the groups are those of the tidy listing."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        mechanism = chain_of_dyads(2 * int(rng.integers(30, 150)))
        order = rng.permutation(mechanism.n_joints)
        ends = mechanism.joint_body.reshape(-1, 2)[order] + 1
        driven = mechanism.driven[order].astype(np.int64)
        shuffled = mbssa.from_pairs(mechanism.n_bodies, (ends[:, 0], ends[:, 1], "R", driven), "planar")
        one, two = (mbssa.decompose(m, by_count=True) for m in (mechanism, shuffled))
        assert (one.group_of_body == two.group_of_body).all(), seed
