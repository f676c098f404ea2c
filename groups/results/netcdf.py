"""Trajectory as a labelled dataset, and as netCDF."""

# xarray is imported at the first use. SciPy, which is there anyway, writes netCDF-3, so that the extra brings
# xarray alone.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.results.faults import STATUS
from groups.results.joints import CoordinateMotion, chosen_coordinates
from groups.results.schema import QUALITY, ResultArray
from mbssa.files import whole

if TYPE_CHECKING:
    import xarray

    from groups.trajectory import Trajectory


#: Bytes that an array of the format takes: its offsets have 64 bits, its sizes 32.
_MOST = 2**32 - 4

#: Meanings of the numbers of a status.
_FLAGS = {
    "flag_values": np.arange(len(STATUS), dtype=np.int8),
    "flag_meanings": " ".join(text.replace(" ", "_") for text in STATUS),
}


def to_xarray(trajectory: Trajectory) -> xarray.Dataset:
    """A dataset of views of the bodies' arrays; see :meth:`groups.Trajectory.to_xarray`."""
    try:
        import xarray
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            'labelled datasets and netCDF need xarray: pip install -e ".[xarray]" in the clone', name="xarray"
        ) from None
    mechanism = trajectory.mechanism
    chosen = chosen_coordinates(trajectory, "all")
    turn: tuple[str, ...] = ("time", "body")
    about = _about("angle of the body, unwrapped", "rad")
    if not trajectory.planar:
        turn, about = (*turn, "component"), _about("unit quaternion, continuous in sign", "1")
    variables: dict[str, Any] = {
        "position": (("time", "body", "axis"), trajectory.position, _about("origin of the body", "m")),
        "orientation": (turn, trajectory.orientation, about),
        **_levels(trajectory),
        **_joints(chosen),
        **{
            name: (("time", "group"), getattr(trajectory, name), _attributes(name, array))
            for name, array in QUALITY.items()
        },
    }
    groups = np.arange(1, trajectory.status.shape[1] + 1)
    coordinates: dict[str, Any] = {
        "time": ("time", trajectory.time, _about("time", "s")),
        "body": ("body", [mechanism.body_name(b) for b in trajectory.kept.tolist()]),
        "body_number": ("body", trajectory.kept + 1, {"long_name": "number of the body, 1 is the frame"}),
        "axis": ("axis", ["x", "y"] if trajectory.planar else ["x", "y", "z"]),
        "group": ("group", groups, {"long_name": "number of the structural group"}),
        "group_name": ("group", list(trajectory.named_groups)),
    }
    if chosen:
        coordinates["coordinate"] = ("coordinate", [motion.name for motion in chosen])
        coordinates["coordinate_unit"] = ("coordinate", [motion.unit for motion in chosen])
    if not trajectory.planar:
        coordinates["component"] = ("component", ["w", "x", "y", "z"])
    attributes = {"mechanism": mechanism.name, "title": mechanism.title, "space": mechanism.space}
    return xarray.Dataset(variables, coordinates, attributes)


def _joints(chosen: Sequence[CoordinateMotion]) -> dict[str, Any]:
    """Values, rates and accelerations of the joints' coordinates, as far as they were kept."""
    found = {}
    names = ("joint_coordinate", "joint_rate", "joint_acceleration")
    for level, (name, per) in enumerate(zip(names, ("", "/s", "/s^2"), strict=True)):
        arrays = [motion.levels[level] for motion in chosen if level < len(motion.levels)]
        if arrays:
            attributes = {"long_name": name.replace("_", " "), "units_are": f"coordinate_unit{per}"}
            found[name] = (("time", "coordinate"), np.stack(arrays, axis=1), attributes)
    return found


def _levels(trajectory: Trajectory) -> dict[str, Any]:
    """Linear and angular parts of the levels that were kept."""
    variables: dict[str, Any] = {}
    linear = 2 if trajectory.planar else 3
    for name, per in (("velocity", "s"), ("acceleration", "s^2")):
        array = getattr(trajectory, name)
        if array is None:
            continue
        dims = ("time", "body", "axis")
        variables[name] = (dims, array[:, :, :linear], _about(f"{name} of the origin", f"m/{per}"))
        turning = (dims[:2], array[:, :, 2]) if trajectory.planar else (dims, array[:, :, 3:])
        variables[f"angular_{name}"] = (*turning, _about(f"angular {name}, world axes", f"rad/{per}"))
    return variables


def _attributes(name: str, array: ResultArray) -> dict[str, Any]:
    unit = {"units": array.unit} if array.unit else {}
    return {"long_name": array.title, **unit, **(_FLAGS if name == "status" else {})}


def _about(name: str, units: str) -> dict[str, str]:
    return {"long_name": name, "units": units}


def write_netcdf(trajectory: Trajectory, path: str | Path) -> None:
    """Write the dataset; see :meth:`groups.Trajectory.write_netcdf`."""
    dataset = to_xarray(trajectory)
    large = [str(name) for name, array in dataset.data_vars.items() if array.nbytes > _MOST]
    if large:
        raise ValueError(
            f"{path}: {', '.join(large)} larger than the 4 GB that netCDF-3 takes; keep fewer bodies, "
            "or write .npz"
        )
    with whole(path) as place:
        dataset.to_netcdf(place, format="NETCDF3_64BIT", engine="scipy")
