"""Drives of what is no joint coordinate: a coupler's angle, a point's coordinate, a distance."""

import numpy as np
import pytest

import groups
import mbssa
from mbssa.io.records import from_record, to_record


def driven_by(name, *, joint):
    """A built-in model that is driven by another joint, added at its end."""
    record = to_record(mbssa.load(name))
    record.pop("motion")
    for entry in record["joint"]:
        entry.pop("driven", None)
    record["joint"].append({"id": "measure", **joint})
    return from_record(record, name, name)


#: Measures of the crank-rocker; each is monotonic over the stretch of the crank that is tested.
PLANAR = {
    "angle of the coupler": {"bodies": [1, 3], "type": "FP", "driven": ["angle"]},
    "height of the tracer": {"bodies": [1, 3], "type": "FP", "driven": ["y"], "point": [0.4, 0.65]},
    "distance of the tracer": {
        "bodies": [1, 3],
        "type": "DIST",
        "driven": ["distance"],
        "points": [[-0.5, 0.2], [0.4, 0.65]],
    },
    "distance seen from the coupler": {
        "bodies": [3, 1],
        "type": "DIST",
        "driven": ["distance"],
        "points": [[0.4, 0.65], [-0.5, 0.2]],
    },
    "azimuth of the tracer": {
        "bodies": [1, 3],
        "type": "DIST",
        "driven": ["azimuth"],
        "points": [[-0.5, 0.2], [0.4, 0.65]],
        "at_reference": {"azimuth": 0.4636476090008061},
    },
    "angle between crank and rocker": {"bodies": [2, 4], "type": "FP", "driven": ["angle"]},
}

SPATIAL = {
    "distance of rod and frame": {
        "bodies": [1, 3],
        "type": "DIST",
        "driven": ["distance"],
        "points": [[0.5, -0.4, 0.3], [0.3, 0.5, 0.4]],
    },
    "coordinate of a point of the rod": {
        "bodies": [1, 3],
        "type": "F",
        "driven": ["x"],
        "point": [0.3, 0.5, 0.4],
    },
}

CASES = [("planar_four_bar", name, joint) for name, joint in PLANAR.items()]
CASES += [("spatial_four_bar", name, joint) for name, joint in SPATIAL.items()]


@pytest.mark.parametrize(("name", "joint"), [(n, j) for n, _, j in CASES], ids=[what for _, what, _ in CASES])
def test_a_measure_drives_as_the_crank_does(name, joint):
    """What the crank makes of the measure, given back as the input, turns the crank as before."""
    cranked = mbssa.load(name)
    (reference,) = groups.build(mbssa.decompose(cranked)).reference_inputs.values()
    time = np.linspace(0.0, 1.0, 201)
    laws = {"1-2.angle": groups.harmonic(0.15, 1.0, mean=reference)}
    wanted = groups.build(mbssa.decompose(cranked)).solve(groups.sample(cranked, laws, time), compiled=False)
    assert wanted.ok

    mechanism = driven_by(name, joint=joint)
    structure = mbssa.decompose(mechanism)
    assert structure.determined
    assert mbssa.check(mechanism).solvable
    assert len(structure.groups[-1].bodies) > 1
    (coordinate,) = mechanism.joints[-1].driven
    values = _measure(mechanism, wanted, coordinate)
    assert np.ptp(values) > 0.01
    model = groups.build(structure)
    assert model.reference_inputs[f"measure.{coordinate}"] == pytest.approx(values[0], abs=1e-12)
    motion = groups.from_arrays(mechanism, time, {f"measure.{coordinate}": values})
    found = model.solve(motion, compiled=False)
    assert found.ok, found.faults()
    assert np.abs(found.position - wanted.position).max() < 1e-9
    assert np.abs(found.velocity - wanted.velocity).max() < 1e-5
    middle = slice(3, -3)
    assert np.abs(found.acceleration - wanted.acceleration)[middle].max() < 1e-2


def _measure(mechanism, trajectory, coordinate):
    """The measure over the motion, from points and angles of the bodies."""
    joint = mechanism.joints[-1]
    if coordinate == "angle":
        first, second = (trajectory.body(number).orientation for number in joint.bodies)
        return second - first
    geometry = joint.geometry
    points = geometry.points or (geometry.point, geometry.point)
    ends = [trajectory.body(b).point(p) for b, p in zip(joint.bodies, points, strict=True)]
    if coordinate == "distance":
        return np.linalg.norm(ends[1] - ends[0], axis=1)
    if coordinate == "azimuth":
        return np.arctan2(*(ends[1] - ends[0]).T[::-1])
    axis = "xyz".index(coordinate)
    return ends[1][:, axis] - np.broadcast_to(geometry.point, ends[0].shape)[:, axis]


def test_a_driven_distance_is_one_equation():
    record = {
        "format": 1,
        "space": "spatial",
        "bodies": 2,
        "joint": [
            {
                "bodies": [1, 2],
                "type": "DIST",
                "driven": ["distance"],
                "points": [[0.0, 0.0, 0.0], [0.0, 3.0, 4.0]],
            }
        ],
    }
    mechanism = from_record(record, "strut", "strut")
    assert mechanism.mobility == 6
    assert mechanism.n_driven == 1
    from groups.motion.sampled import reference_values

    assert reference_values(mechanism) == {"1-2.distance": pytest.approx(5.0)}
