"""The same decomposition by Pyomo's block triangularisation, on 10,000 dyads in random numbering.

Print the figures with

    python -m pytest benchmarks/test_against_pyomo.py --benchmark-only -s

Pyomo sees what an equation-based modeller would give it: a sparse matrix with a row for each equation
and a column for each unknown of each body. Building that matrix is not timed, nor is building our
mechanism; compilation is not timed either. Pyomo's blocks come in the order of solution, as ours do.
It is installed with the extra ``rivals``.
"""

from __future__ import annotations

import statistics

import numpy as np
import pytest
import scipy.sparse

import mbssa
from benchmarks.mechanisms import dyads
from mbssa.decomposition.incidence import initialise
from mbssa.mechanism import Mechanism

incidence_analysis = pytest.importorskip("pyomo.contrib.incidence_analysis")

_seconds: dict[str, float] = {}


@pytest.fixture(scope="module")
def mechanism() -> Mechanism:
    return dyads(2 + 2 * 10_000, seed=0, shuffled=True).mechanism()


@pytest.fixture(scope="module", autouse=True)
def _table():
    yield
    if len(_seconds) == 2:
        ours, theirs = _seconds["mbssa"], _seconds["pyomo"]
        print(f"\n\n10,000 dyads   mbssa {ours:.4f} s   Pyomo {theirs:.3f} s   ratio {theirs / ours:.0f}")


def jacobian_pattern(mechanism: Mechanism) -> scipy.sparse.coo_matrix:
    """(equations, unknowns): an equation of a joint may hold every unknown of its movable bodies."""
    incidence = initialise(mechanism)
    moves = incidence.slot_body > 0
    body, joint = incidence.slot_body[moves], incidence.slot_joint[moves]
    first_row = np.concatenate([[0], np.cumsum(incidence.units)])
    times = incidence.units[joint]
    # Each slot repeated for each equation of its joint, then for each unknown of its body.
    slot = np.repeat(np.arange(len(body)), times)
    equation = np.arange(len(slot)) - np.repeat(np.cumsum(times) - times, times)
    rows = np.repeat(first_row[joint[slot]] + equation, incidence.freedom)
    unknowns = incidence.freedom * (body[slot] - 1)
    columns = (unknowns[:, None] + np.arange(incidence.freedom)).ravel()
    shape = (int(first_row[-1]), incidence.freedom * (mechanism.n_bodies - 1))
    return scipy.sparse.coo_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)


def sizes_by_mbssa(mechanism: Mechanism) -> list[int]:
    return sorted(np.bincount(mbssa.decompose(mechanism).group_of_body[1:])[1:].tolist())


def test_mbssa(benchmark, mechanism):
    mbssa.decompose(mechanism)  # compiles
    structure = benchmark.pedantic(mbssa.decompose, args=(mechanism,), rounds=15)
    _seconds["mbssa"] = statistics.median(benchmark.stats.stats.data)
    assert structure.n_groups == 10_001


def test_pyomo(benchmark, mechanism):
    matrix = jacobian_pattern(mechanism)
    rows, columns = benchmark.pedantic(incidence_analysis.block_triangularize, args=(matrix,), rounds=3)
    _seconds["pyomo"] = statistics.median(benchmark.stats.stats.data)
    assert [len(block) for block in rows] == [len(block) for block in columns]
    sizes = sorted(len(block) // mechanism.freedom for block in columns)
    assert sizes == sizes_by_mbssa(mechanism)
