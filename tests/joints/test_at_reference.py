"""What ``at_reference`` means for every row: the coordinates have these values where the model is drawn."""

import numpy as np
import pytest

from mbssa.io.records import from_record
from mbssa.joints import CATALOGUE
from mbssa.joints.equations import elementary_slopes
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import pose_of_joints

ROWS = [row for row in CATALOGUE if row.pair is not None]


def joint(row, rng):
    """Geometry of a joint of two bodies, and a value for every coordinate that may be said."""
    n = 2 if row.space == "planar" else 3
    first, second = rng.normal(size=(2, n))
    axes = np.array([first, second - (second @ first) / (first @ first) * first])
    if row.space == "planar":
        axes = np.array([[0.6, 0.8], [-0.8, 0.6]])
    known = {
        "point": rng.normal(size=n),
        "points": rng.normal(size=(2, n)),
        "axis": axes[0],
        "axes": axes,
        "pitch": 0.3,
        "radius": 0.25,
    }
    geometry = {
        name: np.asarray(known[name]).tolist()
        for name in (*row.required, *row.optional)
        if name in known and not (row.code == "S" and name == "axes")
    }
    values = {name: float(rng.uniform(-1.2, 1.2)) for name in row.coordinates if name != "distance"}
    return geometry, values


def test_coordinates_have_their_values_at_the_reference():
    for row in ROWS:
        geometry, values = joint(row, np.random.default_rng(row.index))
        record = {"format": 1, "space": row.space, "bodies": 2}
        record["joint"] = [{"bodies": [1, 2], "type": row.code, **geometry, "at_reference": values}]
        frames = joint_frames(from_record(record, "pair", "pair"))
        which, pair = np.array([0]), np.array([[0, 1]])
        d, C, _, _ = pose_of_joints(frames, frames.reference, which, pair)
        given = {name: column / frames.size for name, column in frames.parameters.items()}
        residual, _ = elementary_slopes(row.pair.functions, d, C, given)
        assert np.abs(residual).max(initial=0.0) < 1e-12, row.code
        found, _ = elementary_slopes(row.pair.coordinates, d, C, given)
        for name, value in zip(row.coordinates, found[0], strict=True):
            wanted = np.linalg.norm(np.subtract(*geometry["points"])) if name == "distance" else values[name]
            assert value == pytest.approx(wanted / (frames.size if _is_length(name) else 1.0), abs=1e-12), (
                row.code,
                name,
            )
        if "points" in geometry:
            assert np.abs(frames.origin[0] - _in_space(geometry["points"])).max() < 1e-12, row.code


def _is_length(name):
    from mbssa.joints.catalogue import coordinate_unit

    return coordinate_unit(name) == "m"


def _in_space(points):
    return np.array([[*point, 0.0][:3] for point in points])
