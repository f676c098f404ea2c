"""Mechanisms from Python: rows of pairs, arrays, or the paper's extended adjacency matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Ints
from mbssa.faults import Fault, Faults, ModelError
from mbssa.io.build import checked, driven_bits
from mbssa.joints.catalogue import CATALOGUE, FREEDOM, Space, joint_type, types_of
from mbssa.mechanism import Mechanism

#: Entries of an extended adjacency matrix for two bodies without a joint.
_EMPTY = {"-", "–", "−", ""}


def from_pairs(
    bodies: int | Sequence[str],
    pairs: Iterable[Sequence[Any]] | tuple[npt.NDArray[Any], ...],
    space: Space,
    *,
    name: str = "pairs",
) -> Mechanism:
    """A mechanism without geometry from its kinematic pairs.

    Parameters
    ----------
    bodies : N with the frame, or the names of all bodies, the frame first
    pairs : rows ``(i, j, type, driven)`` with body numbers from 1 (the frame), a code of Table 3, and
        the driven coordinates: how many (in the catalogue's order), or their names. Or a tuple of the
        four columns ``(i, j, type, driven)``, i and j NumPy arrays, type and driven arrays or scalars.
    space : "planar" or "spatial"

    Raises
    ------
    ModelError
        With every fault found.

    Examples
    --------
    >>> import mbssa
    >>> four_bar = mbssa.from_pairs(
    ...     4, [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0)], "planar")
    >>> four_bar
    <Mechanism pairs: planar, 4 bodies with the frame, 4 joints, 1 driven coordinate>

    A million dyads are four arrays:

    >>> import numpy as np
    >>> same = mbssa.from_pairs(
    ...     4, (np.array([1, 2, 3, 1]), np.array([2, 3, 4, 4]), "R", np.array([1, 0, 0, 0])), "planar")
    >>> (same.joint_body == four_bar.joint_body).all()
    np.True_
    """
    faults = Faults()
    if space not in FREEDOM:
        faults.add("space", f"{space!r}; write 'planar' or 'spatial'")
    if isinstance(bodies, str) or not isinstance(bodies, int | np.integer | Iterable):
        faults.add("bodies", f"is {bodies!r}; write how many there are with the frame, or all their names")
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        faults.add("pairs", f"is {pairs!r}; write rows (i, j, type, driven)")
    faults.raise_if_any(name)
    names = None if isinstance(bodies, int | np.integer) else tuple(bodies)
    n_bodies = int(bodies) if names is None else len(names)  # type: ignore[arg-type]
    if names is not None and len(set(names)) < len(names):
        faults.add("bodies", "names are repeated; each body has a name of its own", "duplicate")
    rows: list[Any] = list(pairs)
    if isinstance(pairs, tuple) and len(rows) == 4 and isinstance(rows[0], np.ndarray):
        i, j, row, mask = _from_columns(rows, space, faults)
    else:
        i, j, row, mask = _from_rows(rows, space, faults)

    def where(k: int) -> str:
        return f"pair {k + 1} ({i[k] + 1}, {j[k] + 1})"

    start, ends = np.arange(0, 2 * len(i) + 1, 2), np.stack([i, j], axis=1).ravel()
    mechanism = Mechanism(space, n_bodies, start, ends, row, mask, body_names=names, name=name)
    return checked(mechanism, name, where, faults)


Columns = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]


def _from_rows(pairs: Sequence[Sequence[Any]], space: Space, faults: Faults) -> Columns:
    read = [_from_row(f"pair {k}", pair, space, faults) for k, pair in enumerate(pairs, 1)]
    i, j, row, mask = np.array(read, dtype=np.int64).reshape(-1, 4).T
    return i, j, row, mask


def _from_row(where: str, pair: Sequence[Any], space: Space, faults: Faults) -> tuple[int, int, int, int]:
    """Body indices, catalogue row and mask of driven coordinates of a pair; -1 for what has a fault."""
    if isinstance(pair, str) or not isinstance(pair, Sized) or len(pair) != 4:
        faults.add(where, f"{pair!r} is not (i, j, type, driven)")
        return -1, -1, -1, 0
    *ends, code, driven = pair
    where = f"{where} ({ends[0]}, {ends[1]})"
    index = [-1, -1]
    for side, body in enumerate(ends):
        if not isinstance(body, int | np.integer) or isinstance(body, bool):
            faults.add(where, f"body {body!r} is not a number; bodies count from 1, the frame")
        elif body < 1:
            faults.add(where, f"body {body} does not exist; bodies count from 1, the frame", "unknown")
        else:
            index[side] = int(body) - 1
    try:
        row = joint_type(code, space).index
    except KeyError as error:
        faults.add(where, error.args[0], "unknown")
        return index[0], index[1], -1, 0
    return index[0], index[1], row, driven_bits(row, driven, where, faults)


def _from_columns(pairs: Sequence[Any], space: Space, faults: Faults) -> Columns:
    try:
        if np.shape(pairs[0]) != np.shape(pairs[1]):
            raise ValueError
        i, j, code, driven = np.broadcast_arrays(*pairs)
    except ValueError:
        shapes = ", ".join(str(np.shape(column)) for column in pairs)
        raise ModelError(
            "pairs", [Fault("", f"columns of different lengths: {shapes}", "conflict")]
        ) from None
    if i.ndim != 1 or not all(np.issubdtype(column.dtype, np.integer) for column in (i, j, driven)):
        raise ModelError("pairs", [Fault("", "columns i, j and driven are one-dimensional integer arrays")])
    row = np.full(len(i), -1, dtype=np.int64)
    for kind in types_of(space):
        row[code == kind.code] = kind.index
    grade = np.array([kind.grade for kind in CATALOGUE])[row]
    bad = (row < 0) | (driven < 0) | (driven > grade) | (i < 1) | (j < 1)
    for k in np.flatnonzero(bad)[:50].tolist():
        pair = int(i[k]), int(j[k]), str(code[k]), int(driven[k])
        _from_row(f"pair {k + 1}", pair, space, faults)
    mask = (1 << np.clip(driven, 0, 6).astype(np.int64)) - 1
    return np.maximum(i - 1, -1), np.maximum(j - 1, -1), row, mask.astype(np.uint8)


def from_adjacency(
    matrix: Sequence[Sequence[Any]] | npt.NDArray[Any],
    known_inputs: Sequence[Sequence[int]] | npt.NDArray[Any],
    problem_type: int,
    *,
    name: str = "adjacency matrix",
) -> Mechanism:
    """A mechanism from the paper's extended adjacency matrix M and matrix KnownInputs (section 3.1).

    Parameters
    ----------
    matrix : (N, N) symmetric; a code of Table 3 where two bodies form a pair, else ``-``. Any number
        is empty too: the script User_Data.m has numbers on the diagonal and in empty places.
        Two pairs between the same bodies are written ``R+P``.
    known_inputs : (N, N) symmetric; driven coordinates of each pair. With ``R+P`` they fill the pairs
        from the left.
    problem_type : the paper's ProblemType: 3 planar, 6 spatial

    Raises
    ------
    ModelError
        Not square, not symmetric, unknown type, too many driven coordinates …: every fault.

    Examples
    --------
    >>> import mbssa
    >>> M = [["-", "R", "-", "P"], ["R", "-", "S", "-"], ["-", "S", "-", "C"], ["P", "-", "C", "-"]]
    >>> K = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    >>> print(*mbssa.decompose(mbssa.from_adjacency(M, K, 6)).groups)
    SG-1{2} SG-2{3, 4}
    """
    faults = Faults()
    spaces: dict[int, Space] = {b: s for s, b in FREEDOM.items()}
    if problem_type not in spaces:
        faults.add("ProblemType", f"{problem_type!r}; write 3 (planar) or 6 (spatial)")
    cells = [["".join(str(cell).split()) for cell in line] for line in matrix]
    n = len(cells)
    if n < 2:
        faults.add("M", "no movable body; write a row for the frame and one for each body", "structure")
    for r, line in enumerate(cells):
        if len(line) != n:
            faults.add(f"M row {r + 1}", f"{len(line)} entries; the matrix is square, so write {n}")
    readable = not faults
    inputs = _input_matrix(known_inputs, n, faults)
    if not readable:
        raise ModelError(name, faults)
    space = spaces[problem_type]
    pairs: list[tuple[int, int, str, int]] = []
    for i in range(n):
        if not _is_empty(cells[i][i]):
            what = f"{cells[i][i]!r} joins a body to itself; write '-'"
            faults.add(f"M({i + 1},{i + 1})", what, "structure")
        for j in range(i + 1, n):
            here, there = ("" if _is_empty(cells[a][b]) else cells[a][b] for a, b in ((i, j), (j, i)))
            place = f"M({i + 1},{j + 1})"
            if here != there:
                what = f"{cells[i][j]!r}, but M({j + 1},{i + 1}) is {cells[j][i]!r}; M is symmetric"
                faults.add(place, what, "conflict")
            known = int(inputs[i, j])
            if known != inputs[j, i]:
                what = f"{known}, but ({j + 1},{i + 1}) is {inputs[j, i]}; the matrix is symmetric"
                faults.add(f"KnownInputs({i + 1},{j + 1})", what, "conflict")
            elif here == there:
                pairs += _cell_pairs(i, j, here, known, space, faults)
        if inputs[i, i] != 0:
            faults.add(f"KnownInputs({i + 1},{i + 1})", "must be 0: no body drives itself")
    faults.raise_if_any(name)
    return from_pairs(n, pairs, space, name=name)


def _is_empty(cell: str) -> bool:
    return cell in _EMPTY or cell.isdigit()


def _input_matrix(known_inputs: Sequence[Sequence[int]] | npt.NDArray[Any], n: int, faults: Faults) -> Ints:
    """Driven coordinates (n, n); zeros where they have a fault."""
    rows = list(known_inputs) if np.iterable(known_inputs) else []
    widths = [len(row) if isinstance(row, Sized) else 1 for row in rows]
    if len(rows) != n:
        faults.add("KnownInputs", f"has {len(rows)} rows; M has {n}")
    for r, width in enumerate(widths, 1):
        if len(rows) == n and width != n:
            faults.add(f"KnownInputs row {r}", f"{width} entries; write {n}")
    if widths == [n] * n:
        with suppress(ValueError):  # a list among the numbers
            inputs = np.asarray(rows)
            if inputs.ndim == 2 and np.issubdtype(inputs.dtype, np.integer):
                return inputs.astype(np.int64)
        faults.add("KnownInputs", "holds something else than whole numbers")
    return np.zeros((n, n), dtype=np.int64)


def _cell_pairs(
    i: int, j: int, cell: str, known: int, space: Space, faults: Faults
) -> list[tuple[int, int, str, int]]:
    """Pairs of one cell, the driven coordinates given to them from the left."""
    where = f"M({i + 1},{j + 1})"
    if not cell:
        if known:
            what = f"drives {known}, but the bodies form no pair"
            faults.add(f"KnownInputs({i + 1},{j + 1})", what, "conflict")
        return []
    pairs = []
    total = 0
    for code in cell.split("+"):
        try:
            grade = joint_type(code, space).grade
        except KeyError as error:
            faults.add(where, error.args[0], "unknown")
            continue
        given = min(max(known - total, 0), grade)
        total += grade
        pairs.append((i + 1, j + 1, code, given))
    if known < 0 or (pairs and known > total):
        what = f"{known} driven coordinates; {cell} has {total} free, so write 0 to {total}"
        faults.add(f"KnownInputs({i + 1},{j + 1})", what)
    return pairs
