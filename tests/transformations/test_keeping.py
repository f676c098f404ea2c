"""What a store keeps of a search: all of it, once, whoever finds it out and however often he is killed."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import fields, replace

import numpy as np
import pytest

import mbssa
from mbssa.io.multiple import spanning_choices
from mbssa.io.records import from_record
from mbssa.store import StoreError, transaction
from mbssa.transformations import keeping
from mbssa.transformations.canonical import as_text, canonical, from_text
from mbssa.transformations.judged import Judged
from mbssa.transformations.keys import key_of
from mbssa.transformations.question import Question, ask
from mbssa.transformations.remembering import remembering

TOTALS = (700, 350)


def judged_by_rank(variant, first, stop):
    """Made-up verdicts of distributions of 3 inputs, a different one for each; a third is not determined."""
    rank = np.arange(first, stop)
    determined = rank % 3 > 0
    made = Judged.empty(3, len(rank))
    columns = {
        "places": np.stack([rank // 100, rank // 100 + rank // 10 % 10, 300 + rank], axis=1),
        "variant": np.full(len(rank), variant),
        "determined": determined,
        **{name: (rank % k + 1) * determined for k, name in enumerate(("n_groups", "largest", "levels"), 4)},
        "width": rank % 3 * determined,
        "closed": rank % 4 * determined,
        "cost": rank / 7 * determined,
        "structure": (np.uint64(2**64 - 1) - rank.astype(np.uint64)) * determined,
        "sets": 1 + rank % 5,
        "valid": rank % 2 * determined,
        "bits": np.stack([rank % 2, rank % 3, rank % 5], axis=1),
        "margin": 1 / (1 + rank) * determined,
    }
    return replace(
        made, **{name: column.astype(getattr(made, name).dtype) for name, column in columns.items()}
    )


def begin(place, key="a key", block=100, way="all"):
    bar = mbssa.load("planar_four_bar")
    return keeping.begin(
        place, key, bar, Question(), variants=[bar, bar], totals=TOTALS, n_inputs=3, block=block, way=way
    )


def judge(search, most=None, delay=0.0):
    """Judge and keep blocks; how many."""
    number = 0
    for block in keeping.blocks(search):
        time.sleep(delay)
        keeping.keep(search, block, judged_by_rank(block.variant, block.first, block.stop))
        number += 1
        if number == most:
            break
    return number


def check_that_all_is_there(search):
    whole = Judged.joined(judged_by_rank(variant, 0, total) for variant, total in enumerate(TOTALS))
    expected = whole.take(whole.determined)
    found = keeping.kept(search)
    for each in fields(Judged):
        mine, theirs = getattr(found, each.name), getattr(expected, each.name)
        assert mine.dtype == theirs.dtype, each.name
        np.testing.assert_array_equal(mine, theirs, each.name)
    assert keeping.progress(search) == keeping.Progress(
        looked_at=sum(TOTALS),
        n_distributions=sum(TOTALS),
        n_determined=int(expected.sets.sum()),
        n_valid=int(expected.valid.sum()),
        complete=True,
    )


class TestBlocks:
    def test_the_blocks_are_all_distributions_once(self, tmp_path):
        search = begin(tmp_path / "store")
        assert judge(search) == 11
        check_that_all_is_there(search)

    def test_what_is_done_is_not_done_again(self, tmp_path):
        assert judge(begin(tmp_path / "store"), most=4) == 4
        again = begin(tmp_path / "store")
        assert not keeping.progress(again).complete
        assert keeping.progress(again).looked_at == 400
        assert judge(again) == 7
        check_that_all_is_there(again)
        assert judge(begin(tmp_path / "store")) == 0

    def test_blocks_of_another_size_are_not_asked_for_in_the_middle(self, tmp_path):
        judge(begin(tmp_path / "store"), most=4)
        again = begin(tmp_path / "store", block=33)
        assert again.block == 100
        judge(again)
        check_that_all_is_there(again)

    def test_a_block_that_was_left_is_the_next_ones(self, tmp_path):
        search = begin(tmp_path / "store")
        left = next(iter(keeping.blocks(search)))  # the iteration ends here
        (again,) = [block for _, block in zip(range(1), keeping.blocks(search), strict=False)]
        assert again == left
        judge(search)
        check_that_all_is_there(search)

    def test_a_block_of_a_process_that_does_not_answer_is_free_after_its_lease(self, tmp_path, monkeypatch):
        monkeypatch.setattr(keeping, "LEASE", 0.2)
        search = begin(tmp_path / "store")
        others = keeping.blocks(search)
        theirs = next(others)
        judge(search)  # waits for theirs, then takes it
        check_that_all_is_there(search)
        keeping.keep(search, theirs, judged_by_rank(theirs.variant, theirs.first, theirs.stop))
        check_that_all_is_there(search)

    def test_what_fails_in_the_middle_of_a_block_leaves_nothing_of_it(self, tmp_path, monkeypatch):
        search = begin(tmp_path / "store")
        broken = judged_by_rank(0, 0, 100)
        broken = replace(broken, cost=broken.cost.astype(object))
        broken.cost[70] = "no number"
        with pytest.raises(Exception, match="cannot store TEXT"):
            keeping.keep(search, search.bounds(0), broken)
        assert len(keeping.kept(search)) == 0
        assert keeping.progress(search).looked_at == 0
        judge(search)
        check_that_all_is_there(search)

    def test_searches_do_not_see_each_other(self, tmp_path):
        one, other = begin(tmp_path / "store"), begin(tmp_path / "store", key="another")
        judge(one)
        assert len(keeping.kept(other)) == 0
        judge(other)
        check_that_all_is_there(one)
        check_that_all_is_there(other)

    def test_memory_is_a_store_too(self):
        search = begin(":memory:", key="in memory")
        judge(search)
        check_that_all_is_there(search)


WORKS = """
import sys
sys.path.insert(0, sys.argv[1])
from test_keeping import begin, judge
print(judge(begin(sys.argv[2]), delay=0.02))
"""


def worker(place):
    command = [sys.executable, "-c", WORKS, os.path.dirname(__file__), str(place)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


class TestProcesses:
    def test_two_share_the_blocks(self, tmp_path):
        both = [worker(tmp_path / "store") for _ in range(2)]
        numbers = [int(one.communicate(timeout=60)[0]) for one in both]
        assert sum(numbers) == 11
        check_that_all_is_there(begin(tmp_path / "store"))

    def test_the_blocks_of_one_that_was_killed_are_done_by_the_other(self, tmp_path):
        search = begin(tmp_path / "store")
        first = worker(tmp_path / "store")
        while keeping.progress(search).looked_at < 300:
            time.sleep(0.01)
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=60)
        with transaction(keeping.TABLES, search.place) as store:
            (done,) = store.execute("SELECT count(*) FROM transformation_blocks_1 WHERE done = 1").fetchone()
        began = time.monotonic()
        assert judge(search) == 11 - done
        assert time.monotonic() - began < keeping.LEASE / 2  # it does not wait for who is gone
        check_that_all_is_there(search)


class TestBestFirst:
    def test_what_was_judged_is_remembered_once(self, tmp_path):
        search = begin(tmp_path / "store", way="best-first")
        keeping.remember(search, judged_by_rank(0, 50, 80))
        keeping.remember(search, judged_by_rank(0, 70, 90))
        found, expected = keeping.kept(search), judged_by_rank(0, 50, 90)
        assert found.places.tolist() == expected.places.tolist()
        assert found.determined.tolist() == expected.determined.tolist()
        assert found.sets.tolist() == expected.sets.tolist()
        progress = keeping.progress(search)
        assert (progress.looked_at, progress.complete) == (40, False)
        assert progress.n_determined == expected.sets[expected.determined].sum()

    def test_nothing_is_judged_twice(self, tmp_path):
        asked = []

        def judge_some(variant, places):
            ranks = places[:, 2] - 300
            asked.extend((variant, rank) for rank in ranks.tolist())
            return Judged.joined([judged_by_rank(variant, rank, rank + 1) for rank in ranks.tolist()])

        rng = np.random.default_rng(5)
        for _ in range(3):  # a search, and the same again from the store
            judge_once = remembering(begin(tmp_path / "store", way="best-first"), judge_some)
            for _ in range(20):
                variant, ranks = int(rng.integers(2)), rng.permutation(60)[:9]
                wanted = Judged.joined([judged_by_rank(variant, rank, rank + 1) for rank in ranks])
                found = judge_once(variant, wanted.places)
                for each in fields(Judged):
                    assert getattr(found, each.name).tolist() == getattr(wanted, each.name).tolist()
        assert len(set(asked)) == len(asked) > 60
        assert keeping.progress(begin(tmp_path / "store", way="best-first")).looked_at == len(asked)


class TestKeys:
    LIBRARY, COSTS = ("1R3D", "1P3D"), {"1R3D": 0.5}

    def key(self, mechanism, question=None, n=3, library=LIBRARY, costs=COSTS, way="all"):
        return key_of(mechanism, question or Question(), n, library, costs, way)

    def test_names_and_motion_make_no_other_question(self):
        rotor = mbssa.load("rotor")
        named = replace(
            rotor,
            joint_names={0: "lift"},
            body_names=tuple(f"b{k}" for k in range(16)),
            title="another",
            motion=None,
            driven=np.zeros_like(rotor.driven),
        )
        assert self.key(rotor, ask(rotor, allow=["1-2"])) == self.key(named, ask(named, allow=["lift"]))
        assert self.key(rotor, ask(rotor, allow=["1-2", "1-3"])) == self.key(
            rotor, ask(rotor, allow=["1-3.slide", "1-2"])
        )

    def test_everything_that_a_verdict_depends_on_makes_another(self):
        rotor = mbssa.load("rotor")
        geometry = dict(rotor.joint_geometry)
        geometry[0] = replace(geometry[0], point=(0.0, 0.0, 0.123))
        keys = [
            self.key(rotor),
            self.key(replace(rotor, joint_geometry=geometry)),
            self.key(mbssa.load("stewart")),
            self.key(rotor, n=4),
            self.key(rotor, library=["1R3D"]),
            self.key(rotor, costs={"1R3D": 0.6}),
            self.key(rotor, way="best-first"),
            *(
                self.key(rotor, ask(rotor, **{key: value}))
                for key, value in (
                    ("allow", ["1-2"]), ("forbid", ["1-2"]), ("require", ["1-2"]), ("per_joint", 1),
                    ("terminals", [16]), ("precision", 1e-6),
                )
            ),
        ]  # fmt: skip
        assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("name", ["rotor", "stewart", "andrews", "theo_jansen", "six_sps", "bricard"])
def test_a_mechanism_is_had_back_from_its_text(name):
    mechanism = mbssa.load(name)
    back = from_text(as_text(mechanism))
    assert as_text(back) == as_text(mechanism)
    assert back.joint_ids == mechanism.joint_ids
    assert back.joint_geometry == mechanism.joint_geometry
    assert back.driven.tolist() == mechanism.driven.tolist()
    assert canonical(from_text(canonical(mechanism))) == canonical(mechanism) == canonical(back)


def test_joints_of_several_bodies_keep_their_pairs():
    toml = """
format = 1
space = "planar"
bodies = 5
joint = [
  { bodies = [2, 3, 4, 5], type = "R", point = [1, 1] },
  { bodies = [1, 2], type = "R", point = [0, 0] }, { bodies = [1, 3], type = "R", point = [2, 0] },
  { bodies = [1, 4], type = "R", point = [3, 0] }, { bodies = [1, 5], type = "R", point = [4, 1] },
]
"""
    pinned = from_record(tomllib.loads(toml), "pinned", "pinned")
    texts = set()
    for variant in spanning_choices(pinned):
        back = from_text(as_text(variant))
        assert back.multiple_joints == variant.multiple_joints
        assert back.joint_body.tolist() == variant.joint_body.tolist()
        texts.add(canonical(back))
    assert len(texts) == 16


class TestFilesThatCannotBeUsed:
    def test_a_file_that_is_no_store(self, tmp_path):
        (tmp_path / "store").write_text("a" * 5000)
        with pytest.raises(StoreError, match="no store"):
            begin(tmp_path / "store")

    def test_a_full_disk_is_said_and_loses_nothing(self, tmp_path, monkeypatch):
        search = begin(tmp_path / "store")
        judge(search, most=3)
        with transaction(keeping.TABLES, search.place) as store:
            (pages,) = store.execute("PRAGMA page_count").fetchone()
        assert pages > 4

        @contextlib.contextmanager
        def cramped(tables, place):
            with transaction(tables, place) as store:
                store.execute(f"PRAGMA max_page_count = {pages}")
                yield store

        monkeypatch.setattr(keeping, "transaction", cramped)
        with pytest.raises(StoreError, match="make room"):
            judge(search)
        monkeypatch.setattr(keeping, "transaction", transaction)
        judge(search)
        check_that_all_is_there(search)
