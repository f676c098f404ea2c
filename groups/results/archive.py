"""Trajectories as NumPy archives, ``.npz``: everything, without loss.

The arrays are those of :class:`groups.Trajectory` under their names (a level that was not kept is
missing), with the time first, and

=============== ============ ===============================================================
``format``      int64        1
``bodies``      (K,) text    names of the kept bodies
``group_names`` (G,) text    bodies and type of each group
``causes``      (G,) text    missing where nobody asked
``name``        text         the mechanism's name
``mechanism``   (…,) uint8   the mechanism as an archive of its own, as ``mbssa.save`` writes it
``proven``      (T, G) int8  missing where branches were checked alone
``singular``    text         with it: the singular positions, as JSON
``borrowed``    text         missing where no inputs were borrowed: the record of those, as JSON
``outer_…``     (T,)         with it: the arrays of :class:`groups.tearing.Outer`
=============== ============ ===============================================================

Nothing is pickled, and nothing pickled is read.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
import zlib
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from groups.results.borrowed import OUTER_ARRAYS, Borrowed, Outer
from groups.results.faults import STATUS
from groups.results.singular import SingularPosition
from mbssa import Mechanism, ModelError
from mbssa.files import whole
from mbssa.io.npz_file import read_npz, write_npz

if TYPE_CHECKING:
    from groups.trajectory import Trajectory

Arrays = dict[str, npt.NDArray[Any]]

#: Arrays that a trajectory has body by body.
_BY_BODY = ("position", "orientation", "velocity", "acceleration")
#: Axes and kind of the entries of each array; bodies and groups are counted by ``kept`` and ``status``.
_NEEDED = {
    "format": (0, "iu"),
    "time": (1, "f"),
    "kept": (1, "iu"),
    "position": (3, "f"),
    "orientation": (3, "f"),
    "status": (2, "iu"),
    "residual": (2, "f"),
    "iterations": (2, "iu"),
    "condition": (2, "f"),
    "group_names": (1, "U"),
    "name": (0, "U"),
    "mechanism": (1, "u"),
}
_OPTIONAL = {
    "velocity": (3, "f"),
    "acceleration": (3, "f"),
    "causes": (1, "U"),
    "contacts": (1, "U"),
    "proven": (2, "i"),
    "singular": (0, "U"),
    "bodies": (1, "U"),
}
_OPTIONAL |= {"borrowed": (0, "U"), **{f"outer_{name}": (1, kind) for name, kind in OUTER_ARRAYS.items()}}
_KINDS = {
    "b": "true or false",
    "iu": "whole numbers",
    "f": "floating-point numbers",
    "U": "text",
    "u": "bytes",
}

#: Components of the arrays of each space; a planar orientation has no axis of its own.
_COMPONENTS = {2: {"velocity": 3, "acceleration": 3}, 3: {"orientation": 4, "velocity": 6, "acceleration": 6}}

#: Exceptions of NumPy and zipfile for a file that is no archive, or one cut off or damaged.
_DAMAGED = (ValueError, EOFError, KeyError, MemoryError, NotImplementedError, RuntimeError, TypeError)
_DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error)


def save(trajectory: Trajectory, path: str | Path) -> None:
    """Write a trajectory; see :meth:`groups.Trajectory.save`."""
    arrays: Arrays = {
        "format": np.array(1),
        "time": trajectory.time,
        "kept": trajectory.kept,
        "position": trajectory.position,
        "orientation": trajectory.orientation,
        "status": trajectory.status,
        "residual": trajectory.residual,
        "iterations": trajectory.iterations,
        "condition": trajectory.condition,
        "bodies": np.array([trajectory.mechanism.body_name(b) for b in trajectory.kept.tolist()], np.str_),
        "group_names": np.array(trajectory.named_groups, dtype=np.str_),
        "name": np.array(trajectory.mechanism.name),
        "mechanism": np.frombuffer(write_npz(trajectory.mechanism)[0], dtype=np.uint8),
    }
    for name in ("velocity", "acceleration", "proven"):
        if getattr(trajectory, name) is not None:
            arrays[name] = getattr(trajectory, name)
    for name in ("causes", "contacts"):
        if getattr(trajectory, name) is not None:
            arrays[name] = np.array(getattr(trajectory, name), dtype=np.str_)
    if trajectory.outer is not None:
        arrays["borrowed"] = np.array(json.dumps(trajectory.outer.borrowed.to_dict()))
        arrays |= {f"outer_{name}": getattr(trajectory.outer, name) for name in OUTER_ARRAYS}
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
        **{name: arrays[name] for name in ("time", "status", "residual", "iterations", "condition", "kept")},
        **{name: _by_body(arrays[name]) if name in arrays else None for name in _BY_BODY},
        **{name: tuple(arrays[name].tolist()) if name in arrays else None for name in ("causes", "contacts")},
        "group_names": tuple(arrays["group_names"].tolist()),
        "outer": _outer(arrays),
        "proven": arrays.get("proven"),
        "singular": _singular(arrays),
    }


def _singular(arrays: Arrays) -> tuple[SingularPosition, ...]:
    """The singular positions; a ValueError or a TypeError where they are no record of those."""
    return tuple(SingularPosition(**one) for one in json.loads(str(arrays.get("singular", "[]"))))


def _outer(arrays: Arrays) -> Outer | None:
    """Outcome of the tearing iteration; None where no inputs were borrowed."""
    if "borrowed" not in arrays:
        return None
    borrowed = Borrowed.from_dict(json.loads(str(arrays["borrowed"])))
    names = tuple(arrays["group_names"].tolist())
    return Outer(borrowed, **{name: arrays[f"outer_{name}"] for name in OUTER_ARRAYS}, names=names)


def _by_body(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Contiguous per body in memory, seen with the time first."""
    return np.ascontiguousarray(array.swapaxes(0, 1)).swapaxes(0, 1)


def _arrays(path: Path) -> Arrays:
    wanted = {**_NEEDED, **_OPTIONAL}
    with path.open("rb") as stream:
        if not zipfile.is_zipfile(stream):
            raise ValueError(f"{path}: is no .npz archive; trajectory.save writes one")
        stream.seek(0)
        try:
            with np.load(stream, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files if name in wanted}
        except (*_DAMAGED, *_DAMAGED_ZIP) as error:
            raise ValueError(f"{path}: is damaged: {error or type(error).__name__}") from None
    # A member that is no array comes out as bytes.
    return {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}


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
    for name, (axes, kind) in {**_NEEDED, **_OPTIONAL}.items():
        array = arrays.get(name)
        if array is None:
            if name in _NEEDED:
                faults.append(f"{name} is missing")
            continue
        if name == "orientation" and arrays.get("position", np.empty((0, 0, 0))).shape[-1:] == (2,):
            axes = 2
        if array.ndim != axes or array.dtype.kind not in kind:
            faults.append(f"{name} is {array.dtype} with {array.ndim} axes; it has {axes}, of {_KINDS[kind]}")
    if not faults:
        faults = _misfits(arrays, mechanism) + _misfits_of_borrowed(arrays)
    if faults:
        raise ValueError(f"{path}: {'; '.join(faults)}")


def _misfits(arrays: Arrays, mechanism: Mechanism) -> list[str]:
    if int(arrays["format"]) != 1:
        return [f"format is {int(arrays['format'])}; this version reads 1"]
    kept, n_groups = arrays["kept"], arrays["status"].shape[1]
    instants, components = len(arrays["time"]), arrays["position"].shape[2]
    faults = []
    if components not in _COMPONENTS:
        return [f"position has {components} components; it has 2 or 3"]
    if mechanism.space == "spatial" and components == 2:
        faults.append("the trajectory is planar, the mechanism spatial")
    if (np.diff(kept) <= 0).any() or (len(kept) and not 0 <= kept[0] <= kept[-1] < mechanism.n_bodies):
        faults.append(f"kept has other bodies than 1 to {mechanism.n_bodies} of the mechanism")
    elif "bodies" in arrays:
        names = [mechanism.body_name(b) for b in kept.tolist()]
        if arrays["bodies"].tolist() != names:
            faults.append("the bodies have other names than those of the mechanism")
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(
        ("status", "residual", "iterations", "condition"), (instants, n_groups)
    )
    shapes["proven"] = instants, n_groups
    shapes |= dict.fromkeys(("group_names", "causes", "contacts"), (n_groups,))
    shapes |= {"position": (instants, len(kept), components), "orientation": (instants, len(kept))}
    shapes |= {name: (instants, len(kept), size) for name, size in _COMPONENTS[components].items()}
    faults += [
        f"{name} has the shape {arrays[name].shape}; it needs {shape}"
        for name, shape in shapes.items()
        if name in arrays and arrays[name].shape != shape
    ]
    try:
        _singular(arrays)
    except (ValueError, TypeError) as error:
        faults.append(f"singular is no record: {error}")
    return faults


def _misfits_of_borrowed(arrays: Arrays) -> list[str]:
    """Faults of the tearing iteration's arrays and record, which must occur together."""
    names = ["borrowed", *(f"outer_{name}" for name in OUTER_ARRAYS)]
    missing = [name for name in names if name not in arrays]
    if missing:
        return [] if len(missing) == len(names) else [f"{name} is missing" for name in missing]
    instants, n_groups = arrays["status"].shape
    faults = [
        f"{name} has the shape {arrays[name].shape}; it needs {(instants,)}"
        for name in names[1:]
        if arrays[name].shape != (instants,)
    ]
    for name, least, most in (("outer_group", 0, n_groups), ("outer_status", 0, len(STATUS) - 1)):
        if ((arrays[name] < least) | (arrays[name] > most)).any():
            faults.append(f"{name} has other numbers than {least} to {most}")
    try:
        record = Borrowed.from_dict(json.loads(str(arrays["borrowed"])))
    except ValueError as error:
        return [*faults, f"borrowed is no record: {error}"]
    if record.groups != n_groups:
        faults.append(f"borrowed is of {record.groups} groups; the trajectory has {n_groups}")
    return faults
