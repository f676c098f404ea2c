"""Predicted scaling: its limits hold, and it says where more workers stop paying."""

import json
from itertools import product

import numpy as np
import pytest
from synthetic import costs, deep, in_chunks, layered, random_dag, wide

import routes.scaling
from routes.reports.scaling import scaling_report, to_dict
from routes.scaling import alone, scaling
from routes.simulate import critical_path, simulate, simulator

SHAPES = {
    "wide": wide(60),
    "deep": deep(60),
    "layered": layered(6, 10),
    "random": random_dag(60, 0.08, 2),
    "dense": random_dag(60, 0.5, 2),
}


def chunked(name, chunks=1):
    return np.tile(costs(60, 1), chunks), *in_chunks(SHAPES[name], chunks)


CASES = tuple(product(SHAPES, (1, 4)))


def test_each_number_of_workers_is_simulated():
    for name, chunks in CASES:
        case = chunked(name, chunks)
        found = scaling(*case, (1, 3, 2, 1000), handing=1e-5, around=1e-3)
        assert found.workers == (1, 2, 3, 1000), (name, chunks)
        expected = [1e-3 + simulate(*case, workers, handing=1e-5).makespan for workers in found.workers]
        assert found.makespan.tolist() == pytest.approx(expected, rel=1e-12), (name, chunks)


def test_no_speed_up_exceeds_workers_critical_path_or_amdahl():
    for name, chunks in CASES:
        found = scaling(*chunked(name, chunks), handing=1e-6, around=1e-4)
        room = 1 + 1e-12
        assert found.speed_up[0] == pytest.approx(1.0), (name, chunks)
        assert (found.efficiency <= room).all(), (name, chunks)
        assert (found.speed_up <= found.limit * room).all(), (name, chunks)
        assert (found.speed_up <= found.amdahl(found.workers) * room).all(), (name, chunks)
        # There are more workers than tasks in the end.
        assert found.speed_up[-1] == pytest.approx(found.limit), (name, chunks)


def test_enough_is_the_first_number_that_is_near_the_best():
    for name, chunks in CASES:
        case = chunked(name, chunks)
        found = scaling(*case)
        best = found.makespan.min()
        assert found.enough_makespan == simulate(*case, found.enough).makespan <= best / 0.95, (name, chunks)
        if found.enough > 1:
            assert simulate(*case, found.enough - 1).makespan > best / 0.95, (name, chunks)


def test_alone_are_the_tasks_that_are_comparable_with_all_others():
    for name, chunks in CASES:
        _, start, before = chunked(name, chunks)
        reached = np.eye(len(start) - 1, dtype=bool)
        for task in range(len(reached)):
            for need in before[start[task] : start[task + 1]]:
                reached[task] |= reached[need]
        expected = (reached | reached.T).all(axis=1)
        assert alone(start, before).tolist() == expected.tolist(), (name, chunks)


def test_a_chain_gains_nothing_and_its_chunks_gain_by_their_number():
    chain = scaling(np.ones(8), *in_chunks(deep(8), 1))
    assert chain.speed_up.tolist() == [1.0] * 11
    assert (chain.serial_share, chain.limit, chain.enough) == (1.0, 1.0, 1)
    chunks = scaling(np.ones(80), *in_chunks(deep(8), 10))
    assert (chunks.serial_share, chunks.limit) == (0.0, 10.0)


def test_amdahls_law_of_one_serial_part_before_equal_parallel_ones():
    found = scaling(np.ones(65), *in_chunks(wide(65), 1), (1, 2, 4, 8, 64))
    assert found.serial_share == pytest.approx(1 / 65)
    assert found.speed_up.tolist() == pytest.approx(found.amdahl(found.workers).tolist())


def test_handing_can_make_one_worker_the_best():
    """Two tasks of 1 µs that are handed over for 100 µs each, beside 1.9 µs without any executor."""
    found = scaling(np.full(2, 1e-6), *in_chunks(((), (0,)), 1), handing=1e-4, sequential=1.9e-6)
    assert found.enough == 1
    assert found.speed_up.max() < 0.01


def test_more_workers_than_are_ever_busy_are_not_simulated(monkeypatch):
    arguments = []

    def counted(*tasks, **options):
        on = simulator(*tasks, **options)
        return lambda workers: arguments.append(workers) or on(workers)

    monkeypatch.setattr(routes.scaling, "simulator", counted)
    found = scaling(np.ones(60), *in_chunks(layered(6, 10), 1))
    assert max(arguments) == 16
    assert found.makespan[-1] == critical_path(np.ones(60), *in_chunks(layered(6, 10), 1))[0]


def test_bad_input_is_named():
    case = np.ones(2), *in_chunks(deep(2), 1)
    with pytest.raises(ValueError, match=r"workers = \(\)"):
        scaling(*case, ())
    with pytest.raises(ValueError, match=r"workers = \(2, 0\)"):
        scaling(*case, (2, 0))
    with pytest.raises(ValueError, match=r"around = -1"):
        scaling(*case, around=-1.0)
    with pytest.raises(ValueError, match="nothing to speed up"):
        scaling(np.zeros(2), *case[1:])


class TestResults:
    def test_the_record_is_plain(self):
        found = scaling(*chunked("layered"), around=1e-4)
        record = json.loads(json.dumps(to_dict(found)))
        assert record == to_dict(found)
        assert record["workers"] == list(routes.scaling.WORKERS)
        assert record["seconds"][0] == pytest.approx(record["sequential"])
        assert record["enough"]["workers"] == found.enough

    def test_the_page_names_limits_and_where_it_stops_paying(self):
        found = scaling(np.full(65, 1e-3), *in_chunks(wide(65), 1), (1, 2, 1024))
        text = scaling_report({"stages": found}).text()
        title, header, *rows = [line.split() for line in text.splitlines() if line.strip()]
        assert title[0] == "stages:"
        assert header == ["Workers", "Predicted", "ms", "Speed-up", "Efficiency", "Amdahl's", "bound"]
        assert ["1", "65", "1.00", "100%", "1.00"] in rows
        assert ["2", "33", "1.97", "98%", "1.97"] in rows
        assert "at most 32.5" in text
        assert "64 workers: speed-up 32.5" in text

    def test_one_worker_is_told_in_the_singular(self):
        text = scaling_report({"stages": scaling(np.ones(2), *in_chunks(deep(2), 1))}).text()
        assert "1 worker: speed-up 1" in text
