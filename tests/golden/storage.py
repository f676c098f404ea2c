"""The file of the record: tables as they are, arrays as whole multiples of a unit, compressed as a whole.

An array is kept to a tenth of the tolerance: in units of 2e-10 of its largest value, as differences along
its first axis, which compress to a third of the eight bytes of a number. Values that are not finite are gaps.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

#: Largest difference from the record, of the largest value of a quantity.
TOLERANCE = 1e-9
#: Unit of a quantity of which all values are smaller, over the tolerance: what is zero is rounding alone.
LEAST = 1e-2
#: Name of the first axis of a quantity whose rows are in no order, and may become more.
SOME = "some"
#: Differences of an entry that are shown before the rest is counted.
SHOWN = 8


@dataclass(frozen=True)
class Array:
    """A quantity whose axes have names: ``time``, ``body``, ``group`` …; ``tolerance`` is of the largest."""

    values: np.ndarray
    axes: tuple[str, ...]
    tolerance: float = TOLERANCE


@dataclass
class Entry:
    """Recorded answers of one kind about one subject.

    ``tables`` are compared to the digit, ``arrays`` to their tolerance; ``labels`` name the places of an
    axis, and ``seconds`` is the processor time that the answers took when the record was made.
    """

    tables: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    labels: dict[str, list[Any]] = field(default_factory=dict)
    seconds: float = 0.0


def write(path: Path, entries: Mapping[str, Entry]) -> None:
    """Write all entries to one file."""
    document = {
        name: {
            "seconds": round(entry.seconds, 2),
            "labels": entry.labels,
            "tables": entry.tables,
            "arrays": {quantity: _packed(array) for quantity, array in entry.arrays.items()},
        }
        for name, entry in entries.items()
    }
    text = json.dumps(document, separators=(",", ":"), sort_keys=True, allow_nan=False)
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def read(path: Path) -> dict[str, Entry]:
    """All entries of a file, by name."""
    document = json.loads(lzma.decompress(path.read_bytes()))
    return {
        name: Entry(
            entry["tables"],
            {quantity: _unpacked(array) for quantity, array in entry["arrays"].items()},
            entry["labels"],
            entry["seconds"],
        )
        for name, entry in document.items()
    }


def _packed(array: Array) -> dict[str, Any]:
    values = np.asarray(array.values)
    packed: dict[str, Any] = {"axes": array.axes, "shape": values.shape}
    if values.dtype.kind not in "iub":
        finite = np.isfinite(values)
        unit = 0.2 * array.tolerance * _largest(values)
        values = np.rint(np.where(finite, values, 0.0) / unit)
        packed |= {"unit": unit, "tolerance": array.tolerance, "gaps": _runs(~finite)}
    whole = values.astype(np.int64)
    differences = np.diff(whole, axis=0, prepend=np.zeros_like(whole[:1])) if whole.size else whole
    return packed | {"differences": differences.ravel().tolist()}


def _unpacked(packed: Mapping[str, Any]) -> Array:
    shape = packed["shape"]
    whole = np.array(packed["differences"], dtype=np.int64).reshape(shape).cumsum(axis=0)
    if "unit" not in packed:
        return Array(whole, tuple(packed["axes"]))
    values = whole * packed["unit"]
    for start, stop in packed["gaps"]:
        values.reshape(-1)[start:stop] = np.nan
    return Array(values, tuple(packed["axes"]), packed["tolerance"])


def _runs(mask: np.ndarray) -> list[list[int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.ravel().astype(np.int8), [0]])))
    return edges.reshape(-1, 2).tolist()


def _largest(values: np.ndarray) -> float:
    return max(LEAST, float(np.abs(values[np.isfinite(values)]).max(initial=0.0)))


def differences(recorded: Entry, answer: Entry) -> list[str]:
    """Differences of an answer from its record, a line each: quantity, place, both values."""
    lines = list(_of_tables("", recorded.tables, json.loads(json.dumps(answer.tables))))
    for quantity in sorted(recorded.arrays.keys() | answer.arrays.keys()):
        if quantity not in answer.arrays or quantity not in recorded.arrays:
            lines.append(f"{quantity}: only in the {'answer' if quantity in answer.arrays else 'record'}")
        else:
            lines += _of_arrays(quantity, recorded.arrays[quantity], answer.arrays[quantity], recorded.labels)
    return [*lines[:SHOWN], *([f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else [])]


def _of_tables(place: str, recorded: Any, answer: Any) -> Iterator[str]:
    if isinstance(recorded, dict) and isinstance(answer, dict):
        for key in sorted(recorded.keys() | answer.keys()):
            yield from _of_tables(f"{place}.{key}".lstrip("."), recorded.get(key), answer.get(key))
    elif isinstance(recorded, list) and isinstance(answer, list) and len(recorded) == len(answer):
        for k, pair in enumerate(zip(recorded, answer, strict=True)):
            yield from _of_tables(f"{place}[{k}]", *pair)
    elif recorded != answer or isinstance(recorded, bool) != isinstance(answer, bool):
        yield f"{place}: {answer!r} instead of {recorded!r}"


def _of_arrays(
    quantity: str, recorded: Array, answer: Array, labels: Mapping[str, Sequence[Any]]
) -> Iterator[str]:
    old, new = recorded.values, np.asarray(answer.values)
    if recorded.axes[0] == SOME:
        near = np.abs(new[None] - old[:, None]).reshape(len(old), len(new), -1).max(axis=2, initial=0.0)
        for k in np.flatnonzero(~(near <= recorded.tolerance * _largest(old)).any(axis=1)).tolist():
            yield f"{quantity}: row {k} of the record, {old[k].tolist()}, is missing"
        return
    if old.shape != new.shape:
        yield f"{quantity}: shape {new.shape} instead of {old.shape}"
        return
    if old.dtype.kind in "iub":
        wrong = old != new
        share = None
    else:
        gaps = ~np.isfinite(old)
        with np.errstate(invalid="ignore"):
            share = np.nan_to_num(np.abs(new - old) / _largest(old), nan=np.inf)
            wrong = np.where(gaps, np.isfinite(new), ~(share <= recorded.tolerance))
    if not wrong.any():
        return
    first = tuple(int(k) for k in np.argwhere(wrong)[0])
    worst = (
        first
        if share is None
        else tuple(np.unravel_index(np.argmax(np.where(wrong, share, -1)), old.shape))
    )
    for what, at in {"first": first, "largest": tuple(map(int, worst))}.items():
        if what == "largest" and at == first:
            continue
        where = ", ".join(
            f"{axis} {_label(axis, k, labels)}" for axis, k in zip(recorded.axes, at, strict=True)
        )
        size = "" if share is None or not np.isfinite(share[at]) else f" ({share[at]:.1e} of the largest)"
        yield f"{quantity} at {where}: {new[at]!r} instead of {old[at]!r}{size}; {what} of {int(wrong.sum())}"


def _label(axis: str, k: int, labels: Mapping[str, Sequence[Any]]) -> str:
    return f"{k} ({labels[axis][k]})" if axis in labels else str(k)
