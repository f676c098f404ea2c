"""Trajectories as NumPy archives, ``.npz``, without loss; as labelled datasets, and as netCDF."""

# The arrays are those of Trajectory under their names, with the time first; an array that does not apply is
# missing. The mechanism is an archive of its own, as mbssa.save writes it, in uint8. Nothing is pickled,
# and nothing pickled is read; other members are left out.

from __future__ import annotations

import json
import tempfile
import zlib
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile, is_zipfile

import numpy as np
import numpy.typing as npt

from groups.results.faults import SingularPosition
from groups.results.joints import chosen_coordinates
from groups.results.table import check_target, required
from groups.status import OUTPUTS, PROVEN, QUALITY, STATUS
from mbssa import Mechanism, ModelError
from mbssa.bounds import ABOUT_BYTES, ARCHIVE_BYTES, ARRAY_BYTES
from mbssa.files import refuse_device, whole

if TYPE_CHECKING:
    import xarray

    from groups.trajectory import Trajectory

Arrays = dict[str, npt.NDArray[Any]]

_KINDS = {"iu": "whole numbers", "f": "floating-point numbers", "U": "text", "u": "bytes"}

#: Arrays of a trajectory, and texts by group that may be missing.
_ARRAYS = OUTPUTS | QUALITY | PROVEN
_TEXTS = ("causes", "contacts")

#: Members that may be missing.
_OPTIONAL = {*_TEXTS, *PROVEN, "velocity", "acceleration", "singular", "bodies"}

#: Bytes that an array of netCDF-3 takes: its offsets have 64 bits, its sizes 32.
_MOST = 2**32 - 4

#: Exceptions of NumPy and zipfile for a file that is no archive, or one cut off or damaged.
_DAMAGED = (ValueError, EOFError, KeyError, MemoryError, RuntimeError, TypeError, BadZipFile, zlib.error)


def _members(planar: bool) -> dict[str, tuple[tuple[str | int, ...], str]]:
    """Axes of each member, by what is counted along them or by their length, and kinds of its entries."""
    arrays = {
        name: (("time", of.by, *of.entry[planar]), "f" if of.dtype is np.float64 else "iu")
        for name, of in _ARRAYS.items()
    }
    by_group, text = (("group",), "U"), ((), "U")
    return {
        "format": ((), "iu"),
        "time": (("time",), "f"),
        "kept": (("body",), "iu"),
        **arrays,
        **dict.fromkeys(("group_names", *_TEXTS), by_group),
        **dict.fromkeys(("name", "singular"), text),
        "mechanism": (("byte",), "u"),
        "bodies": (("body",), "U"),
    }


def save(trajectory: Trajectory, path: str | Path, *, force: bool = False) -> None:
    """Write everything, the mechanism too, to ``.npz``, which :func:`groups.load_trajectory` reads."""
    from mbssa.io.npz_file import write_npz

    path, mechanism = check_target(path, (".npz",), force), trajectory.mechanism
    values = {name: getattr(trajectory, name) for name in ("time", "kept", *_ARRAYS, *_TEXTS)}
    arrays: Arrays = {name: np.asarray(value) for name, value in values.items() if value is not None} | {
        "format": np.array(1),
        "bodies": np.array([mechanism.body_name(b) for b in trajectory.kept.tolist()], np.str_),
        "group_names": np.array(trajectory.named_groups, dtype=np.str_),
        "name": np.array(mechanism.name),
        "mechanism": np.frombuffer(write_npz(mechanism)[0], dtype=np.uint8),
    }
    if trajectory.proven is not None:
        arrays["singular"] = np.array(json.dumps([asdict(one) for one in trajectory.singular]))
    with whole(path) as place, place.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def read(path: str | Path, mechanism: Mechanism | None = None) -> dict[str, Any]:
    """Fields of the trajectory that :func:`save` wrote; see :func:`groups.load_trajectory`."""
    from mbssa.io.npz_file import members_within, read_array, read_npz

    path = Path(path)
    refuse_device(path)
    # A trajectory may be of any length, and is not compressed: its arrays take no more than the file.
    size = path.stat().st_size
    bounds = dict.fromkeys(_members(planar=False), max(size, ARRAY_BYTES))
    bounds["singular"] = ABOUT_BYTES  # it is JSON
    with path.open("rb") as stream:
        if not is_zipfile(stream):
            raise ValueError(f"{path}: is no .npz archive; trajectory.save writes one")
        try:
            with ZipFile(stream) as archive:
                members = members_within(archive, str(path), bounds, max(size, ARCHIVE_BYTES))
                arrays = {name: read_array(archive, member) for name, member in members.items()}
        except ModelError:
            raise
        except _DAMAGED as error:
            raise ValueError(f"{path}: is damaged: {str(error) or type(error).__name__}") from None
    if mechanism is None:
        data, title = arrays.get("mechanism"), arrays.get("name")
        if data is None or title is None or data.dtype != np.uint8:
            raise ValueError(f"{path}: is no trajectory: it holds no mechanism; trajectory.save writes one")
        with tempfile.TemporaryDirectory() as folder:
            inner = Path(folder) / "mechanism.npz"
            inner.write_bytes(data.tobytes())
            try:
                mechanism = replace(read_npz(inner), name=str(title))
            except ModelError as error:
                raise ModelError(f"{path}, its mechanism", error.faults) from None
    faults, fields = _faults(arrays, mechanism), dict[str, Any](mechanism=mechanism)
    try:
        positions = json.loads(str(arrays.get("singular", "[]")))
        fields["singular"] = tuple(SingularPosition(**one) for one in positions)
    except (ValueError, TypeError) as error:
        faults.append(f"singular is no record: {error}")
    if faults:
        raise ValueError(f"{path}: {'; '.join(faults)}")
    for name in ("time", "kept", *_ARRAYS):
        array = arrays.get(name)
        if array is not None and name in _ARRAYS:
            array = array.astype(_ARRAYS[name].dtype, copy=False)
            if _ARRAYS[name].by == "body":  # contiguous per body in memory
                array = np.ascontiguousarray(array.swapaxes(0, 1)).swapaxes(0, 1)
        fields[name] = array
    texts = {name: arrays[name].tolist() for name in ("group_names", *_TEXTS) if name in arrays}
    return fields | {name: tuple(text) for name, text in texts.items()}


def _faults(arrays: Arrays, mechanism: Mechanism) -> list[str]:
    """Faults of members that are missing or do not fit together, all at once."""
    faults = []
    members = _members(arrays.get("position", np.empty(0)).shape[2:] == (2,))
    for name, (axes, kinds) in members.items():
        array = arrays.get(name)
        if array is None:
            faults += [f"{name} is missing"] * (name not in _OPTIONAL)
        elif array.ndim != len(axes) or array.dtype.kind not in kinds:
            wanted = f"it has {len(axes)}, of {_KINDS[kinds]}"
            faults.append(f"{name} is {array.dtype} with {array.ndim} axes; {wanted}")
    if faults:
        return faults
    if arrays["format"] != 1:
        return [f"format is {int(arrays['format'])}; this version reads 1"]
    kept = arrays["kept"]
    if mechanism.space == "spatial" and arrays["position"].shape[2] == 2:
        faults.append("the trajectory is planar, the mechanism spatial")
    if (np.diff(kept) <= 0).any() or (len(kept) and not 0 <= kept[0] <= kept[-1] < mechanism.n_bodies):
        faults.append(f"kept has other bodies than 1 to {mechanism.n_bodies} of the mechanism")
    elif "bodies" in arrays and arrays["bodies"].tolist() != [mechanism.body_name(b) for b in kept.tolist()]:
        faults.append("the bodies have other names than those of the mechanism")
    sizes: dict[str | int, int] = {
        "time": len(arrays["time"]),
        "body": len(kept),
        "group": arrays["status"].shape[1],
        "byte": len(arrays["mechanism"]),
    }
    for name, array in arrays.items():
        shape = tuple(sizes.get(axis, axis) for axis in members[name][0])
        if array.shape != shape:
            faults.append(f"{name} has the shape {array.shape}; it needs {shape}")
    return faults


# --- labelled datasets -----------------------------------------------------------------------------

# xarray is imported at the first use. SciPy, which is there anyway, writes netCDF-3, so that the extra brings
# xarray alone.


def to_xarray(trajectory: Trajectory) -> xarray.Dataset:
    """A labelled dataset: dimensions time, body, axis, component (of quaternions), coordinate and group.

    Velocities are split into linear and angular; every variable has its units. ``joint_coordinate``,
    ``joint_rate`` and ``joint_acceleration`` are those of every joint that can be measured, with their
    units in ``coordinate_unit``. A ModuleNotFoundError without the extra ``xarray``.
    """
    required("xarray", "labelled datasets and netCDF need xarray", "xarray")
    import xarray

    mechanism, planar = trajectory.mechanism, trajectory.planar
    chosen = chosen_coordinates(trajectory, "all")
    numbers = np.arange(1, trajectory.status.shape[1] + 1)
    labels: dict[str, Any] = {
        "time": ("time", trajectory.time, {"long_name": "time", "units": "s"}),
        "body": ("body", [mechanism.body_name(b) for b in trajectory.kept.tolist()]),
        "body_number": ("body", trajectory.kept + 1, {"long_name": "number of the body, 1 is the frame"}),
        "axis": ("axis", [*("xy" if planar else "xyz")]),
        "group": ("group", numbers, {"long_name": "number of the structural group"}),
        "group_name": ("group", list(trajectory.named_groups)),
    }
    if chosen:
        labels["coordinate"] = ("coordinate", [motion.name for motion in chosen])
        labels["coordinate_unit"] = ("coordinate", [motion.unit for motion in chosen])
    arrays: dict[str, Any] = {}

    def add(name: str, axes: tuple[str, ...], array: Any, long_name: str, **about: Any) -> None:
        arrays[name] = ("time", *axes), array, {"long_name": long_name, **about}

    turning, of_axes = ("body",) if planar else ("body", "axis"), ("body", "axis")
    add("position", of_axes, trajectory.position, "origin of the body", units="m")
    if planar:
        add("orientation", turning, trajectory.orientation, "angle of the body, unwrapped", units="rad")
    else:
        labels["component"] = ("component", [*"wxyz"])
        long_name = "unit quaternion, continuous in sign"
        add("orientation", ("body", "component"), trajectory.orientation, long_name, units="1")
    for name, time in (("velocity", "s"), ("acceleration", "s^2")):
        if (array := getattr(trajectory, name)) is not None:
            linear, angular = (array[:, :, :2], array[:, :, 2]) if planar else np.split(array, 2, axis=2)
            add(name, of_axes, linear, f"{name} of the origin", units=f"m/{time}")
            add(f"angular_{name}", turning, angular, f"angular {name}, world axes", units=f"rad/{time}")
    levels = zip(*(motion.levels for motion in chosen), strict=True)
    per = ("coordinate", ""), ("rate", "/s"), ("acceleration", "/s^2")
    for (name, time), values in zip(per, levels, strict=False):
        units_are, together = f"coordinate_unit{time}", np.stack(values, axis=1)
        add(f"joint_{name}", ("coordinate",), together, f"joint {name}", units_are=units_are)
    meanings = " ".join(text.replace(" ", "_") for text in STATUS)
    flags = {"flag_values": np.arange(len(STATUS), dtype=np.int8), "flag_meanings": meanings}
    for name, of in QUALITY.items():
        units = {"units": of.unit} if of.unit else flags
        add(name, ("group",), getattr(trajectory, name), of.title, **units)
    attributes = {"mechanism": mechanism.name, "title": mechanism.title, "space": mechanism.space}
    return xarray.Dataset(arrays, labels, attributes)


def write_netcdf(trajectory: Trajectory, path: str | Path, *, force: bool = False) -> None:
    """Write :meth:`to_xarray` as netCDF-3 with 64-bit offsets.

    Raises as :meth:`write`; a ValueError too for an array larger than the 4 GB that the format takes.
    """
    path, dataset = check_target(path, (".nc",), force), to_xarray(trajectory)
    large = [str(name) for name, array in dataset.data_vars.items() if array.nbytes > _MOST]
    if large:
        remedy = "keep fewer bodies, or write .npz"
        raise ValueError(f"{path}: {', '.join(large)} larger than the 4 GB that netCDF-3 takes; {remedy}")
    with whole(path) as place:
        dataset.to_netcdf(place, format="NETCDF3_64BIT", engine="scipy")
