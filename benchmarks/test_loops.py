"""Linear graph algorithms beside structural groups: modules, levels, largest system, and time to find them.

    python -m pytest benchmarks/test_loops.py --benchmark-only -s

All three divisions are measured alike, in relative coordinates with each loop cut open where it has the most
unknowns (see ``mbssa/loops/comparison.py``). Times are of finding, not of solving: the structural
groups by ``mbssa.decompose``, the loops with the ranks that say how many equations each has. The basis of
fewest coordinates is also found by networkx, which is the rival of our own search for it.
"""

from __future__ import annotations

import statistics
import time

import networkx as nx
import pytest

import mbssa
from mbssa.loops import compare_loops, independent_loops, wehage_substructures
from mbssa.loops.assembly import LoopGraph
from mbssa.loops.cycle_basis import minimum_cycle_basis

MODELS = ("nine_bar", "rotor", "stewart", "andrews", "micromanipulator", "assur:III-4", "assur:I-50")

FINDERS = {
    "structural groups": mbssa.decompose,
    "minimum cycle basis": independent_loops,
    "Wehage": wehage_substructures,
}

_seconds: dict[tuple[str, str], float] = {}


@pytest.fixture(scope="module", autouse=True)
def _table():
    yield
    if not _seconds:
        return
    heading = ("modules", "levels", "largest", "sum of n³", "ms")
    print("\n\n" + f"{'':18}{'':22}" + "".join(f"{word:>12}" for word in heading))
    for model in MODELS:
        for way in compare_loops(mbssa.load(model)).ways:
            seconds = _seconds.get((model, way.name))
            spent = "–" if seconds is None else f"{1e3 * seconds:.1f}"
            figures = (way.modules, way.levels, way.largest, way.cubes, spent)
            print(f"{model:18}{way.name:22}" + "".join(f"{figure:>12}" for figure in figures))


@pytest.mark.parametrize("way", FINDERS)
@pytest.mark.parametrize("model", MODELS)
def test_finding(benchmark, model, way):
    mechanism = mbssa.load(model)
    FINDERS[way](mechanism)
    benchmark.pedantic(FINDERS[way], args=(mechanism,), rounds=5)
    _seconds[model, way] = statistics.median(benchmark.stats.stats.data)


def basis_by_networkx(graph: LoopGraph) -> list[list[object]]:
    """Each edge has a vertex in its middle, as the graph of networkx has no parallel ones."""
    halves: nx.Graph[object] = nx.Graph()
    for joint, (a, b) in graph.ends.items():
        halves.add_edge(a, ("middle", joint), weight=graph.mechanism.grade[joint])
        halves.add_edge(("middle", joint), b, weight=0)
    return nx.minimum_cycle_basis(halves, weight="weight")


@pytest.mark.parametrize("model", ["rotor", "assur:III-4", "assur:I-50"])
def test_the_basis_by_networkx(benchmark, model):
    graph = LoopGraph(mbssa.load(model))
    start = time.perf_counter()
    weights = [int(graph.mechanism.grade[joint]) for joint in graph.ends]
    ours = minimum_cycle_basis(graph.mechanism.n_bodies, list(graph.ends.values()), weights)
    spent = time.perf_counter() - start
    theirs = benchmark.pedantic(basis_by_networkx, args=(graph,), rounds=1)
    seconds = benchmark.stats.stats.data[0]
    assert len(theirs) == len(ours)
    print(f"\n{model}: {len(ours)} loops, ours {spent:.4f} s, networkx {seconds:.3f} s")
