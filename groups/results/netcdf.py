"""Trajectory as a labelled dataset, and as netCDF."""

# xarray is imported at the first use. SciPy, which is there anyway, writes netCDF-3, so that the extra brings
# xarray alone.

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.results.joints import chosen_coordinates
from groups.results.schema import QUALITY
from groups.results.table import required
from groups.status import STATUS
from mbssa.files import whole

if TYPE_CHECKING:
    import xarray

    from groups.trajectory import Trajectory


#: Bytes that an array of the format takes: its offsets have 64 bits, its sizes 32.
_MOST = 2**32 - 4


def to_xarray(trajectory: Trajectory) -> xarray.Dataset:
    """A dataset of views of the bodies' arrays; see :meth:`groups.Trajectory.to_xarray`."""
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
    if not planar:
        labels["component"] = ("component", [*"wxyz"])
    arrays: dict[str, Any] = {}

    def add(name: str, axes: tuple[str, ...], array: Any, long_name: str, **about: Any) -> None:
        arrays[name] = ("time", *axes), array, {"long_name": long_name, **about}

    turning, of_axes = ("body",) if planar else ("body", "axis"), ("body", "axis")
    add("position", of_axes, trajectory.position, "origin of the body", units="m")
    if planar:
        add("orientation", ("body",), trajectory.orientation, "angle of the body, unwrapped", units="rad")
    else:
        long_name = "unit quaternion, continuous in sign"
        add("orientation", ("body", "component"), trajectory.orientation, long_name, units="1")
    for name, time in (("velocity", "s"), ("acceleration", "s^2")):
        if (array := getattr(trajectory, name)) is not None:
            linear, angular = (array[:, :, :2], array[:, :, 2]) if planar else np.split(array, 2, axis=2)
            add(name, of_axes, linear, f"{name} of the origin", units=f"m/{time}")
            add(f"angular_{name}", turning, angular, f"angular {name}, world axes", units=f"rad/{time}")
    levels = zip(*(motion.levels for motion in chosen), strict=True)
    per = {"coordinate": "", "rate": "/s", "acceleration": "/s^2"}
    for name, values in zip(per, levels, strict=False):
        units_are = f"coordinate_unit{per[name]}"
        add(f"joint_{name}", ("coordinate",), np.stack(values, axis=1), f"joint {name}", units_are=units_are)
    meanings = " ".join(text.replace(" ", "_") for text in STATUS)
    flags = {"flag_values": np.arange(len(STATUS), dtype=np.int8), "flag_meanings": meanings}
    for name, of in QUALITY.items():
        units = {"units": of.unit} if of.unit else flags
        add(name, ("group",), getattr(trajectory, name), of.title, **units)
    attributes = {"mechanism": mechanism.name, "title": mechanism.title, "space": mechanism.space}
    return xarray.Dataset(arrays, labels, attributes)


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
