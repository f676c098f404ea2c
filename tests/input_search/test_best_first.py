"""The search by exchange: what it may look at, what it finds, and how it ends."""

import time
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import mbssa
from mbssa.input_search.best_first import Clock, best_first, drawn
from mbssa.input_search.criteria import criterion
from mbssa.input_search.enumerate import Schemes
from mbssa.input_search.evaluate import Evaluated
from mbssa.input_search.search import transform
from mbssa.input_search.validity import Coordinates

N_JOINTS, N_INPUTS = 12, 3


def room(n_variants=1, most=2):
    return [Schemes(N_INPUTS, np.ones((N_JOINTS, 1 + most), dtype=object))] * n_variants


def hilly(variant, places):
    """More groups the nearer the inputs are to joints 7, 8, 9; not determined where 3 divides their sum."""
    rows = Evaluated.empty(places.shape[1], len(places))
    rows.places[:] = places
    rows.variant[:] = variant
    rows.determined[:] = places.sum(axis=1) % 3 != 0
    rows.n_groups[:] = 50 - np.abs(places - [7, 8, 9]).sum(axis=1) + 10 * variant
    rows.sets[:] = 1
    rows.valid[:] = rows.determined & (places[:, 0] != places[:, 1])
    return rows


def anything(dice):
    return 0, tuple(sorted(dice.choice(N_JOINTS, N_INPUTS).tolist()))


def nothing(dice):
    return None


def run(evaluate=hilly, where=None, starts=((0, (0, 1, 3)),), draw=anything, most=10_000, **options):
    where = room() if where is None else where
    return best_first(evaluate, where, criterion("groups"), starts, draw, most=most, **options)


def test_every_scheme_is_evaluated_once():
    found = run()
    rows = [tuple(p) for p in found.evaluated.places.tolist()]
    assert len(set(rows)) == len(rows) == found.n_evaluated
    assert found.stop == ""
    # 12 joints, 3 inputs, at most 2 on a joint; a third cannot be determined and leads nowhere, but is drawn.
    assert found.n_evaluated == 364 - 12


def test_the_best_is_found_early():
    best = max(hilly(0, np.array([p])).n_groups[0] for p in [(7, 8, 10), (6, 8, 9), (7, 7, 9)])
    found = run(most=100, block=8)
    assert found.stop == "number"
    assert found.n_evaluated == 100
    sound = found.evaluated.valid > 0
    assert found.evaluated.n_groups[sound].max() == best


def test_the_same_again_for_a_number_of_evaluations():
    one, again, other = run(most=150), run(most=150), run(most=150, seed=2)
    assert (one.evaluated.places == again.evaluated.places).all()
    assert (one.evaluated.places != other.evaluated.places).any()
    longer = run(most=300)
    assert (longer.evaluated.places[:150] == one.evaluated.places).all()


def test_what_the_query_forbids_is_not_evaluated():
    ways = np.ones((N_JOINTS, 2), dtype=object)
    ways[4, 0] = 0
    ways[[7, 8], 1] = 0
    found = run(where=[Schemes(N_INPUTS, ways)], starts=[(0, (0, 1, 3)), (0, (0, 1, 4))])
    counts = np.array([np.bincount(p, minlength=N_JOINTS) for p in found.evaluated.places])
    assert (counts <= 1).all()
    assert counts[:, 4].all()
    assert not counts[:, [7, 8]].any()
    assert found.n_evaluated == 36


def test_other_pairs_for_a_multiple_joint_are_neighbours():
    found = run(where=room(n_variants=3), draw=nothing, most=300)
    best = np.argmax(np.where(found.evaluated.valid > 0, found.evaluated.n_groups, 0))
    assert found.evaluated.variant[best] == 2
    many = run(where=room(n_variants=40), draw=nothing, most=300)
    assert len(np.unique(many.evaluated.variant)) > 5


def test_without_a_start_draws_find_one():
    assert run(starts=[]).n_evaluated > 300
    assert run(starts=[], draw=nothing).n_evaluated == 0
    assert run(starts=[(0, (0, 0, 0)), (0, (0, 1))], draw=nothing).n_evaluated == 0


def test_time_is_kept():
    def slow(variant, places):
        time.sleep(0.001 * len(places))
        return hilly(variant, places)

    begin = time.monotonic()
    found = run(slow, clock=Clock(0.1), block=16)
    assert time.monotonic() - begin < 1.0
    assert found.stop == "time"
    assert 0 < found.n_evaluated < 352


def test_ctrl_c_gives_what_was_found():
    def interrupted(variant, places):
        if len(calls) == 5:
            raise KeyboardInterrupt
        calls.append(len(places))
        return hilly(variant, places)

    calls = []
    found = run(interrupted)
    assert found.stop == "interrupted"
    assert found.n_evaluated == sum(calls)


def test_progress_is_reported():
    calls = []
    found = run(progress=lambda *numbers: calls.append(numbers))
    assert calls == sorted(calls)
    assert calls[-1] == (found.n_evaluated, 10_000)


def test_a_draw_is_independent_and_allowed():
    dice = np.random.default_rng(3)
    rows = dice.normal(size=(10, 3))
    rows[4] = rows[5] = 0
    most = np.array([1, 2, 2, 1, 1])
    start = np.arange(0, 11, 2)
    several = Coordinates(start, np.arange(10), np.arange(10) == 9, rows)
    base = SimpleNamespace(
        variant=0, joint=np.arange(10) // 2, locked=np.zeros(5), most=most, n_inputs=3, coordinates=several
    )
    found = {drawn(base, dice) for _ in range(200)}
    assert len(found) == 4
    for _, places in found:
        counts = np.bincount(places, minlength=5)
        assert counts[4] == 1
        assert counts[2] <= 1
        assert (counts <= most).all()
    base.coordinates = replace(several, moves=rows[:, :1] * [1, 1, 0])
    assert drawn(base, dice) is None


def test_blocks_of_any_size_cover_everything():
    sizes = []

    def counted(variant, places):
        sizes.append(len(places))
        return hilly(variant, places)

    for block, largest in [(1, 4096), (5, 4096), (1000, 4096), (64, 7)]:
        sizes.clear()
        assert run(counted, block=block, largest=largest).n_evaluated == 364 - 12, (block, largest)
        assert max(sizes) <= largest, (block, largest)


@pytest.mark.parametrize(
    ("model", "tenth"), [("rotor", 157), pytest.param("stewart", 8515, marks=pytest.mark.slow)]
)
def test_a_tenth_of_the_schemes_has_the_best_of_all(model, tenth):
    mechanism = mbssa.load(model)
    whole, found = transform(mechanism), transform(mechanism, most=tenth)
    assert whole.complete
    assert whole.n_distributions // 10 == tenth
    assert found.n_evaluated <= tenth
    assert (found.complete, found.stopped) == (False, "number")
    for name in ("n_groups", "largest", "closed_forms"):
        assert getattr(found.best, name) == getattr(whole.best, name)
    assert found.best.cost == pytest.approx(whole.best.cost)
    left = whole.n_distributions - found.n_evaluated
    assert any(f"{left:,} of {whole.n_distributions:,}" in note for note in found.notes)


def test_bad_inputs_are_repaired_first():
    mechanism = mbssa.load("micromanipulator")
    found = transform(mechanism, most=9)
    assert not found.own.valid
    assert found.n_evaluated == 9
    assert found.n_valid > 0
    now = np.repeat(np.arange(mechanism.n_joints), mechanism.n_driven_of_joint).tolist()
    valid = found.evaluated.places[found.evaluated.valid > 0].tolist()
    (base,) = found.undriven
    rows = [
        base.start[each.index] + each.type.coordinates.index(c)
        for each in mechanism.joints
        for c in each.driven
    ]
    independent = np.linalg.matrix_rank(base.moves[rows], 1e-7)
    assert 0 < independent < 6
    # A repair keeps what is independent of the model's own inputs.
    assert max(sum((Counter(now) & Counter(places)).values()) for places in valid) >= independent


def chain_of_dyads(n_cranks, n_dyads, driven=()):
    """Cranks on the frame, and dyads between bodies that are there; random, all R joints."""
    dice = np.random.default_rng(1)
    pairs = [(1, 2 + k, "R", int(not driven)) for k in range(n_cranks)]
    n = 1 + n_cranks
    for _ in range(n_dyads):
        a, b = (dice.choice(n - 1, 2, replace=False) + 2).tolist()
        pairs += [(a, n + 1, "R", 0), (n + 1, n + 2, "R", 0), (n + 2, b, "R", 0)]
        n += 2
    pairs = [(a, b, code, int(k in driven) or w) for k, (a, b, code, w) in enumerate(pairs)]
    return mbssa.from_pairs(n, pairs, "planar")


def test_a_large_mechanism_gets_better_inputs_within_its_limit():
    n_cranks, n_dyads = 3, 12
    mechanism = chain_of_dyads(n_cranks, n_dyads, driven=(36, 37, 38))
    found = transform(mechanism, most=400)
    assert found.n_distributions > 5_000
    assert found.n_evaluated == 400
    if found.own.valid:
        assert found.best.n_groups >= found.own.n_groups
    # One group for each crank and each dyad is the most that there can be.
    assert found.best.n_groups == n_cranks + n_dyads
    assert found.best.largest == 2


def test_time_and_ctrl_c_give_the_best_so_far():
    mechanism = chain_of_dyads(3, 12)
    begin = time.monotonic()
    transform(mechanism, most=1)
    alone = time.monotonic() - begin
    begin = time.monotonic()
    found = transform(mechanism, most=10**6, time_limit=0.05)
    assert time.monotonic() - begin < 3 * alone + 5
    assert found.stopped == "time"
    assert found.n_evaluated > 0
    assert not found.complete

    def impatient(n_evaluated, total):
        if n_evaluated > 30:
            raise KeyboardInterrupt

    found = transform(mechanism, most=9_000, progress=impatient)
    assert found.stopped == "interrupted"
    assert 30 < found.n_evaluated < 9_000
    assert found.best.valid


def test_a_search_settles_when_nothing_better_comes():
    def level(variant, places):
        rows = hilly(variant, places)
        rows.n_groups[:] = 1
        return rows

    wide = Schemes(3, np.ones((60, 2), dtype=object))
    found = best_first(level, [wide], criterion("groups"), [(0, (1, 2, 4))], nothing, most=34_000)
    assert found.stop == "settled"
    assert 20_000 < found.n_evaluated < 30_000
