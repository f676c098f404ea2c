"""From 26 bodies to a million, in any numbering: seconds, memory, and the same answer by SciPy and Pyomo.

Print the figures with

    python -m pytest benchmarks/test_scale.py --benchmark-only -s

Seconds are of the processor. Those of a size are for ``from_pairs`` and ``decompose`` together, starting
from four arrays; a million bodies run in a fresh process that does nothing else, and Python is in its
memory. SciPy's matching with its strong components, and Pyomo's block triangularisation, see what an
equation-based modeller would give them: a sparse matrix with a row for each equation and a column for each
unknown of each body, whose making is not timed. Pyomo is installed with the extra ``rivals``.
Models of 1,000 and 10,000 planar dyads are built up to the engine's plan; aim: ``decompose`` and
``groups.build`` of 10,000 in 3 s.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

import groups
import mbssa
from benchmarks.mechanisms import FAMILIES, dyads
from groups.engine.plan import Plan
from mbssa.decomposition.incidence import initialise
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import joint_frames
from mbssa.mechanism import Mechanism

pytestmark = pytest.mark.benchmark(timer=time.process_time)

SIZES = (10**3, 10**4, 10**5)
LARGEST = 10**6

#: GiB that the largest may take.
MEMORY = 6.0

#: What a fresh process runs; it prints the seconds of its first decomposition and its peak in KiB.
CHILD = """
import resource, sys, time
import mbssa
from benchmarks.mechanisms import FAMILIES
case = FAMILIES[sys.argv[1]](int(sys.argv[2]), 0, True)
begin = time.process_time()
structure = mbssa.decompose(case.mechanism())
assert structure.n_groups == len(case.sizes)
print(time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

_rival_seconds: dict[str, float] = {}


def in_a_fresh_process(*arguments: str) -> str:
    root = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, *arguments], check=True, capture_output=True, text=True, cwd=root, env=environment
    )
    return done.stdout


@pytest.mark.parametrize("n_bodies", SIZES)
@pytest.mark.parametrize("shuffled", [False, True], ids=["as built", "shuffled"])
@pytest.mark.parametrize("family", FAMILIES)
def test_from_arrays_to_groups(benchmark, family, shuffled, n_bodies):
    case = FAMILIES[family](n_bodies, 0, shuffled)
    structure = benchmark.pedantic(lambda: mbssa.decompose(case.mechanism()), rounds=3, warmup_rounds=1)
    assert structure.determined
    sizes = np.bincount(structure.group_of_body[1:])[1:]
    assert (np.sort(sizes) == np.sort(case.sizes)).all()
    seconds = benchmark.stats.stats.min
    print(f"\n{family}, {'shuffled' if shuffled else 'as built'}, {case.n_bodies:,} bodies: {seconds:.4f} s")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_million_bodies(benchmark, family):
    told = benchmark.pedantic(in_a_fresh_process, ("-c", CHILD, family, str(LARGEST)), rounds=1)
    seconds, kibibytes = map(float, told.split())
    print(f"\n{family}, shuffled, {LARGEST:,} bodies: {seconds:.1f} s, {kibibytes / 2**20:.2f} GiB")
    assert kibibytes / 2**20 <= MEMORY


def test_ten_numberings(benchmark):
    case = dyads(10**5)
    first, second, types, driven = case.columns

    def numbered(seed: int) -> Mechanism:
        number = np.concatenate([[0, 1], 2 + np.random.default_rng(seed).permutation(case.n_bodies - 1)])
        return mbssa.from_pairs(case.n_bodies, (number[first], number[second], types, driven), case.space)

    mechanisms = [numbered(seed) for seed in range(10)]
    spent = []
    for mechanism in mechanisms:
        begin = time.process_time()
        mbssa.decompose(mechanism)
        spent.append(time.process_time() - begin)
    benchmark.pedantic(mbssa.decompose, (mechanisms[0],), rounds=1)
    print(f"\nten numberings of {case.n_bodies:,} bodies: {min(spent):.2f} to {max(spent):.2f} s")


def test_the_largest_search_of_the_paper(benchmark):
    # MBSSA3D takes 70,940 s for it (Table 16).
    mechanism = mbssa.load("assur:III-4B")
    structure = benchmark.pedantic(mbssa.decompose, (mechanism,), rounds=50, warmup_rounds=5)
    milliseconds = 1e3 * benchmark.stats.stats.median
    print(f"\n{mechanism.n_bodies} bodies, {structure.n_groups} groups: {milliseconds:.2f} ms")


def test_the_first_command(benchmark):
    command = ("-m", "mbssa", "decompose", "assur:III-4B")
    before = os.times()
    benchmark.pedantic(in_a_fresh_process, command, rounds=3)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"\nmbssa decompose in a fresh process: {spent / 3:.2f} s")


@pytest.mark.parametrize("n_dyads", [1_000, 10_000])
def test_from_a_mechanism_to_a_plan(benchmark, n_dyads):
    """Groups, geometry, a closed reference, solvers and routines of a linkage of dyads."""
    names, spent = ("decompose", "frames", "assemble", "build", "plan"), []

    def built():
        mechanism = mbssa.load(f"assur:I-{n_dyads}")
        times = [time.process_time()]
        structure = mbssa.decompose(mechanism)
        times.append(time.process_time())
        frames = joint_frames(mechanism)
        times.append(time.process_time())
        assemble(mechanism, frames, hold=True)
        times.append(time.process_time())
        model = groups.build(structure)  # with these frames; it closes the reference itself
        times.append(time.process_time())
        Plan(model)
        times.append(time.process_time())
        spent.append(np.diff(times))

    benchmark.pedantic(built, rounds=3)
    least = zip(names, np.min(spent, axis=0), strict=True)
    print(f"\n{n_dyads:,} dyads:", ", ".join(f"{name} {seconds:.2f} s" for name, seconds in least))


@pytest.fixture(scope="module")
def mechanism() -> Mechanism:
    return dyads(2 + 2 * 10_000, seed=0, shuffled=True).mechanism()


@pytest.fixture(scope="module", autouse=True)
def _rivals_beside_us():
    yield
    for name, seconds in _rival_seconds.items():
        print(f"\n10,000 dyads, {name}: {seconds:.3f} s", end="")


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


def by_scipy(matrix: scipy.sparse.csr_matrix) -> list[int]:
    """Sizes of the diagonal blocks: equations matched to unknowns, and the strong components."""
    matched = maximum_bipartite_matching(matrix, perm_type="column")
    blocks = connected_components(matrix[:, matched], connection="strong")[1]
    return np.bincount(blocks).tolist()


def test_mbssa(benchmark, mechanism):
    structure = benchmark.pedantic(mbssa.decompose, (mechanism,), rounds=5, warmup_rounds=1)
    _rival_seconds["mbssa"] = benchmark.stats.stats.median
    assert structure.n_groups == 10_001


def test_scipy(benchmark, mechanism):
    blocks = benchmark.pedantic(by_scipy, (jacobian_pattern(mechanism).tocsr(),), rounds=5)
    _rival_seconds["SciPy"] = benchmark.stats.stats.median
    assert sorted(size // mechanism.freedom for size in blocks) == sizes_by_mbssa(mechanism)


def test_pyomo(benchmark, mechanism):
    incidence_analysis = pytest.importorskip("pyomo.contrib.incidence_analysis")
    matrix = jacobian_pattern(mechanism)
    rows, columns = benchmark.pedantic(incidence_analysis.block_triangularize, (matrix,), rounds=1)
    _rival_seconds["Pyomo"] = benchmark.stats.stats.median
    assert [len(block) for block in rows] == [len(block) for block in columns]
    assert sorted(len(block) // mechanism.freedom for block in columns) == sizes_by_mbssa(mechanism)
