"""Judging against what it replaces: decompose, check and singular values, one set of inputs at a time."""

from dataclasses import replace

import numpy as np
import pytest
from every_set import sets_of_row

import mbssa
from mbssa.decomposition.incidence import initialise
from mbssa.input_search.enumerate import schemes
from mbssa.input_search.evaluate import OTHERWISE, evaluate, group_library
from mbssa.input_search.query import make_query
from mbssa.input_search.undriven import undriven_mechanisms
from mbssa.singularities.ranks import rank_of

SLIDES = [j.id for j in mbssa.load("six_sps").joints if j.type.code == "P"]
BALLS = ["1-2.angle_x", "1-4", "1-6.angle_y", "7-14", "1-12.angle_y", "5-14.angle_x", "11-14.angle_x"]

SLOW = ("micromanipulator, its spins idle", "some of stewart", "six_sps, its spins driven")
#: Mechanisms with and without redundant constraints and passive rotations, in the plane and in space.
ASKED = {
    "rotor": ("rotor", {}),
    "rotor with a terminal": ("rotor", {"terminals": [9], "per_joint": 1}),
    "micromanipulator": ("micromanipulator", {}),
    "micromanipulator, its spins idle": ("micromanipulator", {"inputs": 2}),
    "some of stewart": ("stewart", {"require": ["1-14"], "forbid": ["2-3"], "per_joint": 2}),
    "rssr": ("rssr", {}),
    "rssr, its spin driven": ("rssr", {"inputs": 2}),
    "rssr with a terminal that stops the spin": ("rssr", {"terminals": ["rod"]}),
    "six_sps by slides or by the platform": ("six_sps", {"allow": [*SLIDES, "1-14"], "terminals": [14]}),
    "six_sps, its spins driven": ("six_sps", {"inputs": 12, "allow": [*SLIDES, *BALLS]}),
    "bennett": ("bennett", {}),
    "double_banana": ("double_banana", {}),
    "double_parallelogram": ("double_parallelogram", {}),
    "planar_3rrr": ("planar_3rrr", {}),
    "suspension": ("suspension", {}),
}  # fmt: skip


def undriven(mechanism, **query):
    return undriven_mechanisms(mechanism, make_query(mechanism, **query))[0][0]


def all_schemes(mechanism):
    base = undriven(mechanism)
    return base, evaluate(base, schemes(base).places(), group_library())


def evaluated_sample(name, options, size, seed=5):
    """All distributions, or some by chance: half of them valid, the others as they come."""
    mechanism = mbssa.load(name)
    base = undriven(mechanism, **options)
    room = schemes(base)
    if room.count <= size:
        return base, evaluate(base, room.places(), group_library())
    dice = np.random.default_rng(seed)
    numbers = np.sort(dice.choice(room.count, min(room.count, 4_000), replace=False))
    evaluated = evaluate(base, room.numbered(numbers), group_library())
    rows = dice.permutation(len(evaluated))
    good = rows[evaluated.valid[rows] > 0][: (size + 1) // 2]
    rest = np.setdiff1d(rows, good, assume_unique=True)
    # Most are not determined, which is dear to confirm: at most as many of them as of the others.
    count_fails = rest[~evaluated.determined[rest]][: size // 4]
    others = rest[evaluated.determined[rest]][: size - len(good) - len(count_fails)]
    return base, evaluated.take(np.concatenate([good, others, count_fails]))


def driven(base, evaluated, row):
    return base.driven_by(base.names(evaluated.places[row], evaluated.bits[row]))


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.slow] * (case in SLOW)) for case in ASKED]
)
def test_rows_are_what_decompose_singular_values_and_check_say(case, monkeypatch):
    """The figures of its structure, its number of valid sets, the set that is shown, and the verdict."""
    # Groups that a redundant constraint joins are counted one by one.
    monkeypatch.setattr("mbssa.singularities.redundancy.guards", lambda *_: [])
    known = group_library()
    base, evaluated = evaluated_sample(
        *ASKED[case], {"rotor": 12, "micromanipulator": 2}.get(ASKED[case][0], 12)
    )
    checked = set()
    for row in range(len(evaluated)):
        mechanism = driven(base, evaluated, row)
        structure = mbssa.decompose(mechanism)
        assert structure.determined == evaluated.determined[row]
        sets = list(sets_of_row(base, evaluated.places[row]))
        assert evaluated.sets[row] == len(sets)
        kind = (structure.determined, evaluated.valid[row] > 0)
        if kind not in checked:
            checked.add(kind)
            assert mbssa.check(mechanism).solvable == (evaluated.valid[row] > 0)
        if not structure.determined:
            continue
        sizes = [len(group.bodies) for group in structure.groups]
        types = [group.type_name for group in structure.groups]
        other = OTHERWISE[structure.mechanism.space]
        cost = sum(known.costs.get(t, other * n) for t, n in zip(types, sizes, strict=True))
        assert evaluated.n_groups[row] == structure.n_groups
        assert evaluated.largest[row] == max(sizes)
        assert evaluated.levels[row] == len(structure.levels)
        assert evaluated.width[row] == max(map(len, structure.levels))
        assert evaluated.closed[row] == sum(t in known.types for t in types)
        assert evaluated.cost[row] == pytest.approx(cost)
        if len(sets) <= 40:
            rows = [base.start[evaluated.places[row]] + np.array(each) for each in sets]
            valid = [
                s
                for s, r in zip(sets, rows, strict=True)
                if np.abs(base.moves[r]).any(axis=1).all() and base.full_rank(r[None])[0]
            ]
            assert evaluated.valid[row] == len(valid)
            assert (tuple(evaluated.bits[row].tolist()) in valid) == bool(valid)


@pytest.mark.slow
def test_count_of_the_rotor_by_brute_force():
    """Valid sets over all 9,139: singular values of each whole matrix, and its count."""
    base, evaluated = evaluated_sample("rotor", {}, 10_000)
    whole = base.systems[0]
    equations, every = whole.equations, whole.coordinates
    rows = np.array(
        [
            base.start[places] + np.array(each)
            for places, fits in zip(evaluated.places, evaluated.determined, strict=True)
            if fits
            for each in sets_of_row(base, places)
        ]
    )
    valid = 0
    for some in np.array_split(rows, 40):
        stacked = np.concatenate(
            [np.broadcast_to(equations, (len(some), *equations.shape)), every[some]], axis=1
        )
        values = np.linalg.svd(stacked, compute_uv=False)
        valid += int((values[:, -1] > whole.tolerance * values[:, 0]).sum())
    assert (len(rows), valid) == (6209, 1062)
    assert evaluated.valid.sum() == valid


@pytest.fixture(scope="module")
def rotor():
    return evaluated_sample("rotor", {}, 10_000)


class TestRows:
    @pytest.mark.slow
    def test_rows_do_not_hang_on_those_before_them(self, rotor):
        """The stack of assignments goes on from the row before: any order must give the same."""
        base, evaluated = rotor
        mixed = np.random.default_rng(3).permutation(len(evaluated))
        again = evaluate(base, evaluated.places[mixed], group_library())
        for name, column in evaluated.take(mixed).columns().items():
            assert np.array_equal(getattr(again, name), column), name

    def test_structures_are_equal_exactly_where_their_numbers_are(self, rotor):
        base, evaluated = rotor
        seen, back = {}, {}
        for row in np.random.default_rng(4).choice(np.flatnonzero(evaluated.determined), 60, replace=False):
            structure = mbssa.decompose(driven(base, evaluated, row))
            key = tuple((group.level, group.bodies) for group in structure.groups)
            number = int(evaluated.structure[row])
            assert seen.setdefault(key, number) == number
            assert back.setdefault(number, sorted(key)) == sorted(key)
        assert len(seen) > 10

    def test_an_undriven_strut_is_listed_with_the_later_group(self):
        """A pair that binds nothing goes with the group that is numbered last, as in decompose."""
        pairs = [
            (1, 2, "R", 0),
            (1, 3, "R", 0),
            (2, 4, "R", 0),
            (4, 5, "R", 0),
            (1, 5, "R", 0),
            (3, 2, "DIST", 0),
        ]
        mechanism = mbssa.from_pairs(5, pairs, "planar")
        base = undriven_mechanisms(mechanism, make_query(mechanism, inputs=2))[0][0]
        room = schemes(base)
        wanted = {f"{n}R{m}DIST2D" for n in range(1, 9) for m in range(1, 3)}
        evaluated = evaluate(base, room.places(), group_library(wanted, {}))
        assert evaluated.determined.any()
        for row in np.flatnonzero(evaluated.determined):
            groups = mbssa.decompose(driven(base, evaluated, row)).groups
            assert evaluated.closed[row] == sum(group.type_name in wanted for group in groups)

    def test_of_the_valid_sets_the_one_of_greatest_volume_is_shown(self, rotor):
        base, evaluated = rotor
        for row in np.flatnonzero((evaluated.valid > 0) & (evaluated.sets > 3))[:10]:
            matrices = [
                base.moves[base.start[evaluated.places[row]] + np.array(each)]
                for each in sets_of_row(base, evaluated.places[row])
            ]
            shown = base.moves[base.start[evaluated.places[row]] + evaluated.bits[row]]
            assert abs(np.linalg.det(shown)) == pytest.approx(max(abs(np.linalg.det(m)) for m in matrices))
            values = np.linalg.svd(shown, compute_uv=False)
            assert evaluated.margin[row] == pytest.approx(values[-1] / values[0])


def test_rounded_numbers_leave_sets_in_doubt_that_the_whole_matrix_settles():
    for precision in [1e-5, 1e-3]:
        mechanism = mbssa.load("rotor")
        base = undriven_mechanisms(mechanism, make_query(mechanism, precision=precision))[0][0]
        whole, places = base.systems[0], schemes(base).places()
        evaluated = evaluate(
            base, places[np.random.default_rng(6).choice(len(places), 60, replace=False)], group_library()
        )
        for row in np.flatnonzero(evaluated.determined):
            sets = base.start[evaluated.places[row]] + np.array([*sets_of_row(base, evaluated.places[row])])
            matrices = [np.vstack([whole.equations, whole.coordinates[each]]) for each in sets]
            full = sum(rank_of(matrix, whole.tolerance).rank == matrix.shape[1] for matrix in matrices)
            assert evaluated.valid[row] == full, (precision, row)


GEARS = """
format = 1
space = "planar"
bodies = 6
joint = [
    { bodies = [1, 2], type = "R", point = [0.0, 0.0], driven = true },
    { bodies = [1, 3], type = "R", point = [0.0, 0.0] },
    { bodies = [3, 4], type = "R", point = [0.3, 0.1] },
    { bodies = [2, 4, 3], type = "EPI", points = [[0.0, 0.0], [0.3, 0.1]], ratio = 0.5 },
    { bodies = [4, 5], type = "R", point = [0.4, 0.25] },
    { bodies = [5, 6], type = "R", point = [0.6, 0.1] },
    { bodies = [1, 6], type = "R", point = [0.7, -0.2] },
]
"""


#: Two pins hold each of two bodies to the frame; the other joints are a chain that moves.
SHUT = """
format = 1
space = "planar"
bodies = 6
joint = [
    { bodies = [1, 2], type = "R", point = [0.1, -0.3] },
    { bodies = [1, 2], type = "R", point = [0.7, 0.2] },
    { bodies = [1, 3], type = "R", point = [-0.4, 0.9] },
    { bodies = [1, 3], type = "R", point = [0.5, 0.6] },
    { bodies = [3, 4], type = "R", point = [0.3, 0.8] },
    { bodies = [4, 5], type = "R", point = [1.1, 0.7] },
    { bodies = [5, 6], type = "R", point = [1.3, -0.2] },
    { bodies = [6, 2], type = "R", point = [0.6, -0.5] },
]
"""


@pytest.mark.parametrize(
    ("text", "inputs"),
    [(GEARS, None), (SHUT, ["3-4.angle", "4-5.angle", "5-6.angle", "2-6.angle"])],
    ids=["a planetary gear", "coordinates at rest, whose rows are rounding errors"],
)
def test_every_scheme_is_evaluated_as_its_mechanism_is_checked(read, text, inputs):
    base, evaluated = all_schemes(read(text))
    valid = evaluated.take(evaluated.valid > 0)
    assert 0 < len(valid) < len(evaluated)
    names = [base.names(*row)[0] for row in zip(valid.places, valid.bits, strict=True)]
    assert inputs in (None, names)
    for row in range(len(evaluated)):
        report = mbssa.check(driven(base, evaluated, row))
        assert report.structure.determined == evaluated.determined[row]
        assert report.structure.n_groups == evaluated.n_groups[row] or not evaluated.determined[row]
        assert report.solvable == (evaluated.valid[row] > 0)


#: A slider-crank in its dead-centre position: the slide has no velocity, and the count does not show it.
DEAD = """
format = 1
space = "planar"
bodies = 4
joint = [
    { bodies = [1, 2], type = "R", point = [0.0, 0.0] },
    { bodies = [2, 3], type = "R", point = [1.0, 0.0] },
    { bodies = [3, 4], type = "R", point = [3.0, 0.0] },
    { bodies = [1, 4], type = "P", axis = [1.0, 0.0] },
]
"""


def test_at_a_dead_point_the_count_determines_an_invalid_scheme(read):
    base, evaluated = all_schemes(read(DEAD))
    assert evaluated.determined.tolist() == [True] * 4
    assert evaluated.valid.tolist() == [1, 1, 1, 0]
    assert mbssa.decompose(driven(base, evaluated, 3)).n_groups == evaluated.n_groups[3]


def test_where_the_count_fails_rows_still_name_a_set(read):
    """Units that no body can take, whatever is driven; here because nothing treats them."""
    mechanism = read(SHUT.replace('    { bodies = [6, 2], type = "R"', "    # { bodies = [6, 2]"))
    base = undriven(mechanism, terminals=[4])
    base = replace(base, incidence=initialise(base.mechanism), treatment=None)
    places = schemes(base).places()
    evaluated = evaluate(base, places, group_library())
    assert not evaluated.determined.any()
    first = [next(sets_of_row(base, row)) for row in places]
    assert evaluated.bits.tolist() == [list(bits) for bits in first]
    assert (0, 1, 2) in first


def test_equal_costs_are_equal(rotor):
    """Sums over groups that come in any order; else the first of equals would be an accident."""
    _, evaluated = rotor
    costs = np.unique(evaluated.cost)
    assert (np.diff(costs) > 1e-10).all()


class TestLibrary:
    def test_a_function_of_a_group_decides_as_names_do(self):
        types = {"1P1U1S3D", "1P3D", "1R3D"}
        mechanism = mbssa.load("rotor")
        base = undriven(mechanism, per_joint=1, allow=["1-2", "1-3", "1-13", "13-15", "8-9"])
        places = schemes(base).places()
        by_name = evaluate(base, places, group_library(types, {}))
        by_asking = evaluate(base, places, group_library(lambda group: group.type_name in types, {}))
        assert by_name.closed.any()
        assert np.array_equal(by_name.closed, by_asking.closed)


def test_without_geometry_generic_rank_decides():
    """Two balls on one body share a bar: its own slides cannot drive it, whatever the geometry."""
    pairs = [(1, 2, "R", 0), (2, 3, "S", 0), (3, 4, "S", 0), (1, 4, "R", 0)]
    mechanism = mbssa.from_pairs(4, pairs, "spatial")
    base = undriven(mechanism)
    assert (base.basis, base.n_inputs, base.n_passive) == ("generic", 1, 1)
    evaluated = evaluate(base, schemes(base).places(), group_library())
    assert evaluated.determined.tolist() == evaluated.valid.astype(bool).tolist()
    names = [base.names(evaluated.places[r], evaluated.bits[r]) for r in np.flatnonzero(evaluated.valid)]
    assert names == [("1-2.angle",), ("1-4.angle",)]


def test_rows_of_another_length_are_refused():
    mechanism = mbssa.load("rotor")
    base = undriven(mechanism)
    with pytest.raises(ValueError, match="3 joints"):
        evaluate(base, np.zeros((1, 2), dtype=np.int16), group_library())


def test_random_mechanisms_are_what_decompose_and_whole_matrices_say():
    """All schemes of small mechanisms without geometry, closed loops and rigid parts among them."""
    n_schemes = n_rigid = 0
    for seed in range(50):
        dice = np.random.default_rng(seed)
        n = int(dice.integers(4, 8))
        pairs = [(int(dice.integers(1, b)), b, str(dice.choice(["R", "P", "R"])), 0) for b in range(2, n + 1)]
        for _ in range(int(dice.integers(1, 4))):
            a, b = (dice.choice(n, 2, replace=False) + 1).tolist()
            pairs.append((a, b, str(dice.choice(["R", "P", "SLOT"])), 0))
        mechanism = mbssa.from_pairs(n, pairs, "planar")
        try:
            base = undriven(mechanism)
        except mbssa.ModelError:  # nothing moves
            continue
        evaluated = evaluate(base, schemes(base).places(), group_library())
        chosen = np.sort(dice.permutation(len(evaluated))[:12])
        for row in chosen.tolist():
            structure = mbssa.decompose(driven(base, evaluated, row))
            assert structure.determined == evaluated.determined[row], (seed, row)
            n_schemes += 1
            n_rigid += any(part.rigid for part in structure.parts)
            if not structure.determined:
                assert evaluated.valid[row] == 0, (seed, row)
                continue
            figures = (structure.n_groups, len(structure.levels), max(map(len, structure.levels)))
            here = (evaluated.n_groups[row], evaluated.levels[row], evaluated.width[row])
            assert here == figures, (seed, row)
            sets = base.start[evaluated.places[row]] + np.array([*sets_of_row(base, evaluated.places[row])])
            valid = np.abs(base.moves[sets]).any(axis=2).all(axis=1) & base.full_rank(sets)
            assert evaluated.valid[row] == valid.sum() * (not base.fault), (seed, row)
    assert n_schemes > 200
    assert n_rigid > 10
