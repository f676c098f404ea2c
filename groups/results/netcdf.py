"""Trajectory as a labelled dataset, and as netCDF."""

# xarray is imported at the first use. SciPy, which is there anyway, writes netCDF-3, so that the extra brings
# xarray alone.

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.results.joints import CoordinateMotion, chosen_coordinates
from groups.results.schema import QUALITY
from groups.results.table import required
from groups.status import STATUS
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

#: Names of joint coordinates and of their rates, and what their units are divided by.
_JOINTS = (("joint_coordinate", ""), ("joint_rate", "/s"), ("joint_acceleration", "/s^2"))


def to_xarray(trajectory: Trajectory) -> xarray.Dataset:
    """A dataset of views of the bodies' arrays; see :meth:`groups.Trajectory.to_xarray`."""
    required("xarray", "labelled datasets and netCDF need xarray", "xarray")
    import xarray

    mechanism, planar = trajectory.mechanism, trajectory.planar
    chosen = chosen_coordinates(trajectory, "all")
    numbers = np.arange(1, trajectory.status.shape[1] + 1)
    coordinates: dict[str, Any] = {
        "time": ("time", trajectory.time, _about("time", "s")),
        "body": ("body", [mechanism.body_name(b) for b in trajectory.kept.tolist()]),
        "body_number": ("body", trajectory.kept + 1, {"long_name": "number of the body, 1 is the frame"}),
        "axis": ("axis", [*("xy" if planar else "xyz")]),
        "group": ("group", numbers, {"long_name": "number of the structural group"}),
        "group_name": ("group", list(trajectory.named_groups)),
    }
    if chosen:
        coordinates["coordinate"] = ("coordinate", [motion.name for motion in chosen])
        coordinates["coordinate_unit"] = ("coordinate", [motion.unit for motion in chosen])
    if not planar:
        coordinates["component"] = ("component", [*"wxyz"])
    attributes = {"mechanism": mechanism.name, "title": mechanism.title, "space": mechanism.space}
    return xarray.Dataset(dict(_variables(trajectory, chosen)), coordinates, attributes)


def _variables(trajectory: Trajectory, chosen: list[CoordinateMotion]) -> Iterator[tuple[str, Any]]:
    """Poses, linear and angular rates as far as they were kept, coordinates of joints, and the quality."""
    planar, body = trajectory.planar, ("time", "body")
    yield "position", ((*body, "axis"), trajectory.position, _about("origin of the body", "m"))
    if planar:
        yield "orientation", (body, trajectory.orientation, _about("angle of the body, unwrapped", "rad"))
    else:
        about = _about("unit quaternion, continuous in sign", "1")
        yield "orientation", ((*body, "component"), trajectory.orientation, about)
    for name, per in (("velocity", "s"), ("acceleration", "s^2")):
        if (array := getattr(trajectory, name)) is not None:
            linear, turning = (array[:, :, :2], array[:, :, 2]) if planar else np.split(array, 2, axis=2)
            yield name, ((*body, "axis"), linear, _about(f"{name} of the origin", f"m/{per}"))
            about = _about(f"angular {name}, world axes", f"rad/{per}")
            yield f"angular_{name}", (body if planar else (*body, "axis"), turning, about)
    levels = zip(*(motion.levels for motion in chosen), strict=True)
    for (name, per), arrays in zip(_JOINTS, levels, strict=False):
        about = {"long_name": name.replace("_", " "), "units_are": f"coordinate_unit{per}"}
        yield name, (("time", "coordinate"), np.stack(arrays, axis=1), about)
    for name, of in QUALITY.items():
        about = _about(of.title, of.unit) if of.unit else {"long_name": of.title, **_FLAGS}
        yield name, (("time", "group"), getattr(trajectory, name), about)


def _about(name: str, units: str) -> dict[str, Any]:
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
