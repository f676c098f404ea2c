"""The tree of routes, as in Fig. 7 of the paper."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mbssa.structure import Structure
from routes.dag import Dag
from routes.enumeration.counting import count
from routes.enumeration.listing import Route, enumerate_routes

if TYPE_CHECKING:
    import networkx as nx

    from groups.model import Model


def tree(source: Dag | Structure | Model, symmetry: bool = True, most: int = 10_000) -> nx.DiGraph[Route]:
    """The prefix tree of all kinematic routes.

    Parameters
    ----------
    source : a DAG, or a structure or model, whose DAG is labelled as :meth:`Dag.of` says
    symmetry : leave out images of earlier routes under automorphisms of the labelled DAG
    most : number of routes, at most

    Returns
    -------
    A directed tree. Its nodes are beginnings of routes: stages in sequence of group numbers, from the empty
    one to whole routes. Attributes of a node:

    - ``number``: 0 at the root, on along the first branch to its end, then along the next,
    - ``stage``, its last one, empty at the root,
    - ``sequential``, whether it is the route of one group after another in the order of solution,
    - ``parallel``, whether it is the route by levels.

    Raises
    ------
    ValueError
        More routes than ``most``; the message has their number.

    Examples
    --------
    >>> import mbssa
    >>> stewart = tree(mbssa.decompose(mbssa.load("stewart_inverse")))
    >>> len(stewart), sum(not following for _, following in stewart.out_degree())
    (65, 32)
    >>> [route for route, data in stewart.nodes.items() if data["parallel"]]
    [((1,), (2, 3, 4, 5, 6, 7))]
    """
    dag = source if isinstance(source, Dag) else Dag.of(source)
    there = count(dag, symmetry)
    if there > most:
        number = f"{there:,}" if there < 10**15 else f"some 10^{len(str(there)) - 1}"
        raise ValueError(
            f"there are {number} routes, and a tree has at most {most:,}; make one of the best routes alone, "
            "with tree_of"
        )
    return tree_of(dag, enumerate_routes(dag, symmetry))


def tree_of(source: Dag | Structure | Model, routes: Iterable[Route]) -> nx.DiGraph[Route]:
    """Directed tree of these kinematic routes; its nodes are beginnings of routes."""
    import networkx as nx

    dag = source if isinstance(source, Dag) else Dag.of(source)
    routes = list(routes)
    faults = [fault for route in routes for fault in _faults(dag, route)]
    if faults:
        raise ValueError("; ".join(faults))
    following: dict[Route, dict[Route, None]] = {(): {}}
    for route in routes:
        for k in range(len(route)):
            following.setdefault(route[:k], {})[route[: k + 1]] = None
    sequential = tuple((group + 1,) for group in dag.order)
    parallel = tuple(tuple(group + 1 for group in level) for level in dag.levels)
    found: nx.DiGraph[Route] = nx.DiGraph()
    waiting: list[Route] = [()]
    while waiting:
        prefix = waiting.pop()
        found.add_node(
            prefix,
            number=len(found),
            stage=prefix[-1] if prefix else (),
            sequential=prefix == sequential,
            parallel=prefix == parallel,
        )
        if prefix:
            found.add_edge(prefix[:-1], prefix)
        waiting += reversed(following.get(prefix, {}))
    return found


def _faults(dag: Dag, route: Route) -> list[str]:
    done: set[int] = set()
    faults = []
    for number, stage in enumerate(route, start=1):
        for group in stage:
            if not 1 <= group <= len(dag):
                faults.append(f"{route}: there is no group {group}")
            elif missing := [other + 1 for other in dag.needs[group - 1] if other + 1 not in done]:
                faults.append(f"{route}: group {group} in stage {number} needs {missing} before")
        done.update(stage)
    placed = sorted(group for stage in route for group in stage)
    if not faults and placed != list(range(1, len(dag) + 1)):
        faults.append(f"{route}: write each of the {len(dag)} groups once")
    return faults
