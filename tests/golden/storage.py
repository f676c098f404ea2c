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
#: Largest value of a quantity that is kept: beside a larger one others would count as zero.
HUGE = 1e9
#: Name of the first axis of a quantity whose rows are in no order, and may become more.
SOME = "some"
#: Differences of the tables of an entry that are shown, and characters of a value.
SHOWN, LONG = 8, 60


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


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write packed entries to one file, which is the old one or the new one at any time."""
    text = json.dumps(document, separators=(",", ":"), sort_keys=True, allow_nan=False)
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    new.replace(path)


def read_packed(path: Path) -> dict[str, Any]:
    """Packed entries of a file, by name; a SystemExit that says how to get a whole one."""
    try:
        document: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    except (OSError, lzma.LZMAError, ValueError) as error:
        raise SystemExit(f"{path.name}: cannot be read ({error}); write git checkout {path}") from None
    return document


def read(path: Path) -> dict[str, Entry]:
    """All entries of a file, by name."""
    return {name: unpacked(entry) for name, entry in read_packed(path).items()}


def packed(entry: Entry) -> dict[str, Any]:
    """An entry as plain data; a ValueError where an array cannot be kept."""
    arrays = {quantity: _packed(quantity, array) for quantity, array in entry.arrays.items()}
    plain = {"seconds": round(entry.seconds, 2), "labels": entry.labels, "tables": entry.tables}
    document: dict[str, Any] = json.loads(json.dumps(plain | {"arrays": arrays}, allow_nan=False))
    return document


def unpacked(entry: Mapping[str, Any]) -> Entry:
    """An entry of plain data."""
    arrays = {quantity: _unpacked(array) for quantity, array in entry["arrays"].items()}
    return Entry(entry["tables"], arrays, entry["labels"], entry["seconds"])


def _packed(quantity: str, array: Array) -> dict[str, Any]:
    values = np.asarray(array.values)
    packed: dict[str, Any] = {"axes": array.axes, "shape": values.shape}
    if values.dtype.kind not in "iub":
        finite = np.isfinite(values)
        if np.isinf(values).any() or _largest(values) > HUGE:
            raise ValueError(
                f"{quantity}: a value of {np.abs(values[~np.isnan(values)]).max():.1e} hides others"
            )
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
    plain = json.loads(json.dumps([answer.tables, answer.labels]))
    lines = list(_of_tables("", recorded.tables, plain[0]))[:SHOWN]
    lines += list(_of_tables("labels", recorded.labels, plain[1]))[:SHOWN]
    for quantity in sorted(recorded.arrays.keys() | answer.arrays.keys()):
        if quantity not in answer.arrays or quantity not in recorded.arrays:
            lines.append(f"{quantity}: only in the {'answer' if quantity in answer.arrays else 'record'}")
        else:
            lines += _of_arrays(quantity, recorded.arrays[quantity], answer.arrays[quantity], recorded.labels)
    return lines


def _of_tables(place: str, recorded: Any, answer: Any) -> Iterator[str]:
    if isinstance(recorded, dict) and isinstance(answer, dict):
        for key in sorted(recorded.keys() | answer.keys()):
            pair = (recorded.get(key, "nothing"), answer.get(key, "nothing"))
            yield from _of_tables(f"{place}.{key}".lstrip("."), *pair)
    elif isinstance(recorded, list) and isinstance(answer, list) and len(recorded) == len(answer):
        for k, pair in enumerate(zip(recorded, answer, strict=True)):
            yield from _of_tables(f"{place}[{k}]", *pair)
    elif recorded != answer or isinstance(recorded, bool) != isinstance(answer, bool):
        yield f"{place}: {_short(answer)} instead of {_short(recorded)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONG else f"{text[:LONG]}…"


def _of_arrays(
    quantity: str, recorded: Array, answer: Array, labels: Mapping[str, Sequence[Any]]
) -> Iterator[str]:
    old, new = recorded.values, np.asarray(answer.values)
    whole = old.dtype.kind in "iub"
    rows = 0 if recorded.axes[0] != SOME else 1
    if (
        old.shape[rows:] != new.shape[rows:]
        or recorded.axes != answer.axes
        or whole != (new.dtype.kind in "iub")
    ):
        found = [f"{one.axes} {one.values.shape} {one.values.dtype.kind}" for one in (answer, recorded)]
        yield f"{quantity}: {found[0]} instead of {found[1]}"
        return
    if rows:
        size = int(np.prod(old.shape[1:]))
        near = np.abs(new[None] - old[:, None]).reshape(len(old), len(new), size).max(axis=2, initial=0.0)
        for k in np.flatnonzero(~(near <= recorded.tolerance * _largest(old)).any(axis=1)).tolist():
            yield f"{quantity}: row {k} of the record, {_short(old[k].tolist())}, is missing"
        return
    share = None
    if whole:
        wrong = old != new
    else:
        with np.errstate(invalid="ignore"):
            share = np.nan_to_num(np.abs(new - old) / _largest(old), nan=np.inf, posinf=np.inf)
        wrong = np.where(np.isfinite(old), ~(share <= recorded.tolerance), ~np.isnan(new))
    if not wrong.any():
        return
    first = tuple(int(k) for k in np.argwhere(wrong)[0])
    worst = (
        first if share is None else tuple(np.unravel_index(np.argmax(np.where(wrong, share, -1)), old.shape))
    )
    for what, at in {"first": first, "largest": tuple(map(int, worst))}.items():
        if what == "largest" and at == first:
            continue
        where = ", ".join(
            f"{axis} {_label(axis, k, labels)}" for axis, k in zip(recorded.axes, at, strict=True)
        )
        size = "" if share is None or not np.isfinite(share[at]) else f" ({share[at]:.1e} of the largest)"
        values = f"{new[at].item()!r} instead of {old[at].item()!r}{size}"
        yield f"{quantity} at {where}: {values}; {what} of {int(wrong.sum())}"


def _label(axis: str, k: int, labels: Mapping[str, Sequence[Any]]) -> str:
    return f"{k} ({labels[axis][k]})" if axis in labels else str(k)
