"""Disjoint sets of integers (union-find) and the spanning trees that they give, which load without SciPy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

#: Two vertices of an edge.
Ends = tuple[int, int]


class DisjointSet:
    """Integers 0 to n - 1, each in a set of its own until sets are merged."""

    # SciPy and networkx have the same structure, but importing either takes longer than loading a mechanism.

    def __init__(self, n: int) -> None:
        self.n, self._parent, self._size = n, list(range(n)), [1] * n

    def __getitem__(self, member: int) -> int:
        """Representative of the set of a member."""
        parent = self._parent
        while parent[member] != member:
            parent[member] = parent[parent[member]]
            member = parent[member]
        return member

    def merge(self, a: int, b: int) -> bool:
        """Merge the sets of two members; False where they are one set already."""
        a, b = self[a], self[b]
        if a == b:
            return False
        self._parent[b] = a
        self._size[a] += self._size[b]
        return True

    def connected(self, a: int, b: int) -> bool:
        """Return whether two members are in one set."""
        return self[a] == self[b]

    def size(self, member: int) -> int:
        """Return the number of members of a set."""
        return self._size[self[member]]

    def subsets(self) -> list[list[int]]:
        """List the sets in the order of their lowest members, each ascending."""
        found: dict[int, list[int]] = {}
        for member in range(self.n):
            found.setdefault(self[member], []).append(member)
        return list(found.values())


def spanning_forest(
    n_vertices: int, ends: Sequence[Ends] | Mapping[int, Ends], order: Iterable[int]
) -> list[int]:
    """Edges that join two parts when they are taken in this order."""
    parts = DisjointSet(n_vertices)
    return [edge for edge in order if parts.merge(*ends[edge])]


def outwards(ends: Sequence[Ends], tree: Iterable[int], roots: Iterable[int]) -> list[tuple[int, bool]]:
    """Edges of a tree from its roots on, always the first that is possible; whether it leads forwards."""
    left, reached, found = list(tree), set(roots), list[tuple[int, bool]]()
    while (edge := next((e for e in left if not reached.isdisjoint(ends[e])), None)) is not None:
        left.remove(edge)
        found.append((edge, ends[edge][0] in reached))
        reached.update(ends[edge])
    return found


def breadth_first(ends: Mapping[int, tuple[int, ...]], roots: Iterable[int]) -> dict[int, int | None]:
    """Edge by which each vertex is first reached, the nearest vertices first; None for a root."""
    edges_at: dict[int, list[int]] = {}
    for edge, pair in ends.items():
        for vertex in pair:
            edges_at.setdefault(vertex, []).append(edge)
    came: dict[int, int | None] = {}
    for root in roots:
        queue = [root] * (root not in came)
        came.setdefault(root, None)
        for vertex in queue:
            for edge in edges_at.get(vertex, ()):
                other = sum(ends[edge]) - vertex
                if other not in came:
                    came[other] = edge
                    queue.append(other)
    return came
