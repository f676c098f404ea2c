"""Oracles: all routes, all automorphisms and all orbits of small DAGs, found by trying everything."""

from itertools import combinations, permutations

from hypothesis import strategies as st

from routes.dag import Dag


def all_routes(dag):
    """Every route, as stages of group numbers."""

    def on(done, stages):
        if len(done) == len(dag):
            yield stages
        ready = [g for g in range(len(dag)) if g not in done and done.issuperset(dag.needs[g])]
        for size in range(1, len(ready) + 1):
            for stage in combinations(ready, size):
                yield from on(done | set(stage), (*stages, tuple(g + 1 for g in stage)))

    return set(on(frozenset(), ()))


def automorphisms(dag):
    arcs = {(a, b) for b, needs in enumerate(dag.needs) for a in needs}
    return [
        image
        for image in permutations(range(len(dag)))
        if all(dag.labels[g] == dag.labels[image[g]] for g in range(len(dag)))
        and {(image[a], image[b]) for a, b in arcs} == arcs
    ]


def orbit(route, images):
    """All routes that automorphisms make of one."""
    return {tuple(tuple(sorted(image[g - 1] + 1 for g in stage)) for stage in route) for image in images}


def orbits(dag):
    """Every orbit of routes, as a set of sets."""
    left, found, images = all_routes(dag), [], automorphisms(dag)
    while left:
        found.append(frozenset(orbit(min(left), images)))
        left -= found[-1]
    return set(found)


@st.composite
def dags(draw, most=5, labels="aab"):
    """DAGs whose groups are numbered at random, so that lower ones may need higher ones."""
    count = draw(st.integers(1, most))
    rank = draw(st.permutations(range(count)))
    needs = tuple(
        tuple(other for other in range(count) if rank[other] < rank[group] and draw(st.booleans()))
        for group in range(count)
    )
    return Dag(needs, tuple(draw(st.sampled_from(labels)) for _ in range(count)))
