"""Trajectories as NumPy archives, ``.npz``: everything, without loss."""

# The arrays are those of Trajectory under their names, with the time first; an array that does not apply is
# missing. The mechanism is an archive of its own, as mbssa.save writes it, in uint8. Nothing is pickled,
# and nothing pickled is read; other members are left out.

from __future__ import annotations

import json
import tempfile
import zipfile
import zlib
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from groups.results.schema import OUTPUTS, PROVEN, QUALITY, ResultArray
from groups.results.singular import SingularPosition
from mbssa import Mechanism, ModelError
from mbssa.bounds import ABOUT_BYTES, ARCHIVE_BYTES, ARRAY_BYTES
from mbssa.files import refuse_device, whole
from mbssa.io.npz_file import members_within, read_array, read_npz, write_npz

if TYPE_CHECKING:
    from groups.trajectory import Trajectory

Arrays = dict[str, npt.NDArray[Any]]

_KINDS = {
    "b": "true or false",
    "iu": "whole numbers",
    "f": "floating-point numbers",
    "U": "text",
    "u": "bytes",
}

#: Arrays of a trajectory, and texts by group that may be missing.
_ARRAYS = OUTPUTS | QUALITY | PROVEN
_TEXTS = ("causes", "contacts")


class _Member(NamedTuple):
    """Axes of a member of the archive, by what is counted along them or by their length, and its entries."""

    axes: tuple[str | int, ...]
    kind: str
    needed: bool = True


def _members(planar: bool) -> dict[str, _Member]:
    """Members of an archive, by name."""

    def of(array: ResultArray, needed: bool) -> _Member:
        kind = np.dtype(array.dtype).kind
        axes = ("time", array.by, *array.components[0 if planar else 1])
        return _Member(axes, "iu" if kind == "i" else kind, needed)

    return {
        "format": _Member((), "iu"),
        "time": _Member(("time",), "f"),
        "kept": _Member(("body",), "iu"),
        **{name: of(array, name not in PROVEN and array.level == 0) for name, array in _ARRAYS.items()},
        "group_names": _Member(("group",), "U"),
        "name": _Member((), "U"),
        "mechanism": _Member(("byte",), "u"),
        **dict.fromkeys(_TEXTS, _Member(("group",), "U", False)),
        "singular": _Member((), "U", False),
        "bodies": _Member(("body",), "U", False),
    }


#: Exceptions of NumPy and zipfile for a file that is no archive, or one cut off or damaged.
_DAMAGED = (ValueError, EOFError, KeyError, MemoryError, NotImplementedError, RuntimeError, TypeError)
_DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error)


def save(trajectory: Trajectory, path: str | Path) -> None:
    """Write a trajectory; see :meth:`groups.Trajectory.save`."""
    mechanism = trajectory.mechanism
    arrays: Arrays = {
        "format": np.array(1),
        "time": trajectory.time,
        "kept": trajectory.kept,
        "bodies": np.array([mechanism.body_name(b) for b in trajectory.kept.tolist()], np.str_),
        "group_names": np.array(trajectory.named_groups, dtype=np.str_),
        "name": np.array(mechanism.name),
        "mechanism": np.frombuffer(write_npz(mechanism)[0], dtype=np.uint8),
    }
    for name in (*_ARRAYS, *_TEXTS):
        if (value := getattr(trajectory, name)) is not None:
            arrays[name] = np.array(value, dtype=np.str_) if name in _TEXTS else value
    if trajectory.proven is not None:
        arrays["singular"] = np.array(json.dumps([asdict(one) for one in trajectory.singular]))
    with whole(path) as place, place.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def read(path: str | Path, mechanism: Mechanism | None = None) -> dict[str, Any]:
    """Fields of the trajectory that :func:`save` wrote; see :func:`groups.load_trajectory`."""
    path = Path(path)
    arrays = _arrays(path)
    if mechanism is None:
        mechanism = _mechanism(path, arrays)
    _check(path, arrays, mechanism)
    return {
        "mechanism": mechanism,
        "time": arrays["time"],
        "kept": arrays["kept"],
        **{n: _entries(array, arrays[n]) if n in arrays else None for n, array in _ARRAYS.items()},
        **{name: tuple(arrays[name].tolist()) if name in arrays else None for name in _TEXTS},
        "group_names": tuple(arrays["group_names"].tolist()),
        "singular": _singular(arrays),
    }


def _entries(of: ResultArray, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array with entries of its kind; of bodies, contiguous per body in memory."""
    array = array.astype(of.dtype, copy=False)
    return np.ascontiguousarray(array.swapaxes(0, 1)).swapaxes(0, 1) if of.by == "body" else array


def _singular(arrays: Arrays) -> tuple[SingularPosition, ...]:
    """The singular positions; a ValueError or a TypeError where they are no record of those."""
    return tuple(SingularPosition(**one) for one in json.loads(str(arrays.get("singular", "[]"))))


def _arrays(path: Path) -> Arrays:
    # A trajectory may be of any length, and is not compressed: its arrays take no more than the file.
    refuse_device(path)
    size = path.stat().st_size
    bounds = dict.fromkeys(_members(planar=False), max(size, ARRAY_BYTES))
    bounds["singular"] = ABOUT_BYTES  # it is JSON
    with path.open("rb") as stream:
        if not zipfile.is_zipfile(stream):
            raise ValueError(f"{path}: is no .npz archive; trajectory.save writes one")
        try:
            with zipfile.ZipFile(stream) as archive:
                members = members_within(archive, str(path), bounds, max(size, ARCHIVE_BYTES))
                return {name: read_array(archive, member) for name, member in members.items()}
        except ModelError:
            raise
        except (*_DAMAGED, *_DAMAGED_ZIP) as error:
            raise ValueError(f"{path}: is damaged: {str(error) or type(error).__name__}") from None


def _mechanism(path: Path, arrays: Arrays) -> Mechanism:
    data, name = arrays.get("mechanism"), arrays.get("name")
    if data is None or name is None or data.dtype != np.uint8:
        raise ValueError(f"{path}: is no trajectory: it holds no mechanism; trajectory.save writes one")
    with tempfile.TemporaryDirectory() as folder:
        inner = Path(folder) / "mechanism.npz"
        inner.write_bytes(data.tobytes())
        try:
            return replace(read_npz(inner), name=str(name))
        except ModelError as error:
            raise ModelError(f"{path}, its mechanism", error.faults) from None


def _check(path: Path, arrays: Arrays, mechanism: Mechanism) -> None:
    """Refuse what does not fit together, all faults at once."""
    faults = []
    members = _members(arrays.get("position", np.empty(0)).shape[2:] == (2,))
    for name, member in members.items():
        array, axes = arrays.get(name), len(member.axes)
        if array is None:
            faults += [f"{name} is missing"] * member.needed
        elif array.ndim != axes or array.dtype.kind not in member.kind:
            kind = _KINDS[member.kind]
            faults.append(f"{name} is {array.dtype} with {array.ndim} axes; it has {axes}, of {kind}")
    if not faults and int(arrays["format"]) != 1:
        faults.append(f"format is {int(arrays['format'])}; this version reads 1")
    if not faults:
        faults = _misfits(arrays, members, mechanism)
    if faults:
        raise ValueError(f"{path}: {'; '.join(faults)}")


def _misfits(arrays: Arrays, members: dict[str, _Member], mechanism: Mechanism) -> list[str]:
    kept = arrays["kept"]
    faults = []
    if mechanism.space == "spatial" and arrays["position"].shape[2] == 2:
        faults.append("the trajectory is planar, the mechanism spatial")
    if (np.diff(kept) <= 0).any() or (len(kept) and not 0 <= kept[0] <= kept[-1] < mechanism.n_bodies):
        faults.append(f"kept has other bodies than 1 to {mechanism.n_bodies} of the mechanism")
    elif "bodies" in arrays:
        names = [mechanism.body_name(b) for b in kept.tolist()]
        if arrays["bodies"].tolist() != names:
            faults.append("the bodies have other names than those of the mechanism")
    sizes: dict[str | int, int] = {
        "time": len(arrays["time"]),
        "body": len(kept),
        "group": arrays["status"].shape[1],
        "byte": len(arrays["mechanism"]),
    }
    for name, array in arrays.items():
        shape = tuple(sizes.get(axis, axis) for axis in members[name].axes)
        if array.shape != shape:
            faults.append(f"{name} has the shape {array.shape}; it needs {shape}")
    try:
        _singular(arrays)
    except (ValueError, TypeError) as error:
        faults.append(f"singular is no record: {error}")
    return faults
