"""The search by exchange: what it may look at, what it finds, and how it ends."""

import time

import numpy as np
import pytest

from mbssa.transformations.best_first import Room, best_first, drawn_inputs
from mbssa.transformations.criteria import criterion
from mbssa.transformations.judged import Judged

N_JOINTS, N_INPUTS = 12, 3


def room(n_variants=1, most=2):
    shape = (n_variants, N_JOINTS)
    return Room(np.zeros(shape, dtype=np.int64), np.full(shape, most), N_INPUTS)


def hilly(variant, places):
    """More groups the nearer the inputs are to joints 7, 8, 9; not determined where 3 divides their sum."""
    rows = Judged.empty(places.shape[1], len(places))
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


def run(judge=hilly, where=None, starts=((0, (0, 1, 3)),), draw=anything, most=10_000, **options):
    where = room() if where is None else where
    return best_first(judge, where, criterion("groups"), starts, draw, most=most, **options)


def test_every_distribution_is_judged_once():
    found = run()
    rows = [tuple(p) for p in found.judged.places.tolist()]
    assert len(set(rows)) == len(rows) == found.looked_at
    assert found.stop == ""
    # 12 joints, 3 inputs, at most 2 on a joint; a third cannot be determined and leads nowhere, but is drawn.
    assert found.looked_at == 364 - 12


def test_the_best_is_found_early():
    best = max(hilly(0, np.array([p])).n_groups[0] for p in [(7, 8, 10), (6, 8, 9), (7, 7, 9)])
    found = run(most=100, block=8)
    assert found.stop == "number"
    assert found.looked_at == 100
    sound = found.judged.valid > 0
    assert found.judged.n_groups[sound].max() == best


def test_the_same_again_for_a_number_of_evaluations():
    one, again, other = run(most=150), run(most=150), run(most=150, seed=2)
    assert (one.judged.places == again.judged.places).all()
    assert (one.judged.places != other.judged.places).any()
    longer = run(most=300)
    assert (longer.judged.places[:150] == one.judged.places).all()


def test_what_the_question_forbids_is_not_judged():
    least, most = np.zeros((1, N_JOINTS), dtype=np.int64), np.full((1, N_JOINTS), 1)
    least[0, 4] = 1
    most[0, [7, 8]] = 0
    found = run(where=Room(least, most, N_INPUTS), starts=[(0, (0, 1, 3)), (0, (0, 1, 4))])
    counts = np.array([np.bincount(p, minlength=N_JOINTS) for p in found.judged.places])
    assert (counts >= least).all()
    assert (counts <= most).all()
    assert found.looked_at == 36


def test_other_pairs_for_a_multiple_joint_are_neighbours():
    found = run(where=room(n_variants=3), draw=nothing, most=300)
    best = np.argmax(np.where(found.judged.valid > 0, found.judged.n_groups, 0))
    assert found.judged.variant[best] == 2
    many = run(where=room(n_variants=40), draw=nothing, most=300)
    assert len(np.unique(many.judged.variant)) > 5


def test_without_a_start_draws_find_one():
    assert run(starts=[]).looked_at > 300
    assert run(starts=[], draw=nothing).looked_at == 0
    assert run(starts=[(0, (0, 0, 0)), (0, (0, 1))], draw=nothing).looked_at == 0


def test_time_is_kept():
    def slow(variant, places):
        time.sleep(0.001 * len(places))
        return hilly(variant, places)

    begin = time.monotonic()
    found = run(slow, time_limit=0.1, block=16)
    assert time.monotonic() - begin < 1.0
    assert found.stop == "time"
    assert 0 < found.looked_at < 352


def test_ctrl_c_gives_what_was_found():
    def interrupted(variant, places):
        if len(calls) == 5:
            raise KeyboardInterrupt
        calls.append(len(places))
        return hilly(variant, places)

    calls = []
    found = run(interrupted)
    assert found.stop == "interrupted"
    assert found.looked_at == sum(calls)


def test_progress_is_told():
    told = []
    found = run(progress=told.append)
    assert told == sorted(told)
    assert told[-1] == found.looked_at


def test_a_draw_is_independent_and_allowed():
    dice = np.random.default_rng(3)
    rows = dice.normal(size=(10, 3))
    rows[4] = rows[5] = 0
    joint = np.repeat(np.arange(5), 2)
    rank = np.where(np.arange(10) == 9, 0, 1)
    most = np.array([1, 2, 2, 1, 1])
    drawn = {drawn_inputs(rows, joint, rank, most, 3, 1e-9, dice) for _ in range(200)}
    assert len(drawn) == 4
    for places in drawn:
        counts = np.bincount(places, minlength=5)
        assert counts[4] == 1
        assert counts[2] <= 1
        assert (counts <= most).all()
    assert drawn_inputs(rows[:, :1] * [1, 1, 0], joint, rank, most, 3, 1e-9, dice) is None


@pytest.mark.parametrize("block", [1, 5, 1000])
def test_any_block_covers_everything(block):
    assert run(block=block).looked_at == 364 - 12
