"""Rows of whole mechanisms: world Jacobians against differences, canonical frames against shorthand."""

from dataclasses import replace

import numpy as np
import pytest

import mbssa
from mbssa.io.records import from_record
from mbssa.joints.assembly import assemble
from mbssa.joints.catalogue import CATALOGUE
from mbssa.joints.frames import joint_frames
from mbssa.joints.poses import Poses
from mbssa.joints.relations import values_and_rates
from mbssa.joints.system import rows_at
from mbssa.mechanism import JointFrame

#: All kinds of joint and solver.
MODELS = (
    "planar_four_bar", "theo_jansen", "cam_roller", "planetary", "rotor", "stewart", "bricard",
    "universal_shafts", "fixture", "rope_hoist",
)  # fmt: skip

GEARS = """
format = 1
space = "planar"
[[body]]
name = "sun"
[[body]]
name = "planet"
origin = [0.3, 0.1]
[[body]]
name = "carrier"
orientation = 0.4
[[joint]]
bodies = [1, 2]
type = "R"
point = [0, 0]
[[joint]]
bodies = [4, 3]
type = "R"
point = [0.3, 0.1]
[[joint]]
bodies = [1, 4]
type = "R"
point = [0, 0]
[[joint]]
bodies = [2, 3]
type = "EPI"
points = [[0, 0], [0.3, 0.1]]
ratio = 0.5
[[joint]]
bodies = [2, 3, 4]
type = "EPI"
points = [[0, 0], [0.3, 0.1]]
ratio = -0.4
"""


@pytest.fixture
def gears(tmp_path):
    (tmp_path / "gears.toml").write_text(GEARS)
    return mbssa.load(tmp_path / "gears.toml")


def turn_about_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def random_step(mechanism, frames, size, seed=0):
    step = np.random.default_rng(seed).uniform(-size, size, (mechanism.n_bodies, 6))
    step[0] = 0
    if mechanism.space == "planar":
        step[:, 2:5] = 0
    step[:, :3] *= frames.size
    return step


def disturbed(mechanism, frames):
    """Far from the reference, but where every profile has a place that its follower can touch."""
    for size in (0.2, 0.05, 0.01):
        at = frames.reference.moved(random_step(mechanism, frames, size), frames.centre)
        if np.isfinite(rows_at(mechanism, frames, at).residual).all():
            return at
    raise AssertionError(f"{mechanism.name}: a gap has no value near the reference")


def check_jacobian(mechanism):
    frames = joint_frames(mechanism)
    start = disturbed(mechanism, frames)
    jacobian = rows_at(mechanism, frames, start).matrix(np.arange(1, mechanism.n_bodies))
    columns = (0, 1, 5) if mechanism.space == "planar" else range(6)
    h = 1e-6
    for k, (body, axis) in enumerate((b, a) for b in range(1, mechanism.n_bodies) for a in columns):
        step = np.zeros((mechanism.n_bodies, 6))
        step[body, axis] = h * (frames.size if axis < 3 else 1.0)
        plus, minus = (
            rows_at(mechanism, frames, start.moved(s, frames.centre)).residual for s in (step, -step)
        )
        constraints = ~rows_at(mechanism, frames, start).drive
        difference = (plus - minus)[constraints] / (2 * h)
        assert np.abs(difference - jacobian[constraints, k]).max() < 1e-8


def test_world_jacobian_against_differences():
    for name in MODELS:
        check_jacobian(mbssa.load(name))


def test_gear_jacobian_against_differences(gears):
    check_jacobian(gears)


def test_gears_keep_their_relation_over_many_turns(gears):
    """Sun turned by α, carrier by β: an external mesh turns the planet by ((1 + ρ) β - α) / ρ."""
    frames = joint_frames(gears)
    at = frames.reference
    centre = np.array([0.3, 0.1, 0.0])
    for alpha, beta in ((1.0, 0.0), (0.0, 1.0), (9.0, -7.0), (40.0, 25.0)):
        planet = (1.5 * beta - alpha) / 0.5
        turned = turn_about_z(beta)
        position = at.position.copy()
        position[2] = turned @ centre
        angle = at.angle + np.array([0.0, alpha, planet, beta])
        rotation = np.array(
            [[[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]] for a in angle]
        )
        rows = rows_at(gears, frames, Poses(position, rotation, angle))
        external = rows.residual[rows.joint == 3]
        assert np.abs(external).max() < 1e-12
        hinges = rows.residual[rows.joint < 3]
        assert np.abs(hinges).max() < 1e-12


def bent(q):
    return np.sum(np.sin(q[:, 0] + 2.0 * q[:, 1]) * q[:, 1]) + np.sum(np.cos(0.1 * q[:, 2]) * q[:, 0])


def twisted(p, R):
    total = p[0, 0] * p[0, 1] - R[0, 1, 2]
    for k in range(len(p)):
        total = total + np.sin(p[k, 0] + 2.0 * p[k, 1] - p[k, 2]) * R[k, 0, 1] + R[k, 2, 1] * R[0, 0, 0]
    return total


CORNERS = [[0.0, 0.0, 0.0], [0.4, 0.0, 0.1], [0.0, 0.5, 0.0], [0.3, 0.3, 0.2], [-0.2, 0.1, 0.4]]
NORMALS = [[0.0, 0.0, 1.0], [0.0, 0.1, 1.0], [1.0, 0.0, 0.2], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]


def cam(follower, **more):
    profile = {"ellipse": {"semi_axes": [0.3, 0.2]}, "follower": follower, **more}
    directions = [[0.8, 0.6], [-0.1, -1.0]] if follower == "flat" else [[0.8, 0.6], [1.0, 0.0]]
    joint = {"bodies": [2, 3], "type": "L", "points": [[0.0, 0.0], [0.6, 0.1]], "axes": directions}
    return "planar", joint | {"profile": profile}


def contacts(code, count):
    return "spatial", {"bodies": [2, 3], "type": code, "points": CORNERS[:count], "axes": NORMALS[:count]}


WHEELS = {"points": [[0.0, 0.1], [0.3, 0.1]], "ratio": 0.7}
BEVELS = {"axes": [[0.0, 0.0, 1.0], [1.0, 0.2, 0.0]], "points": [[0.0, 0.0, 0.1], [0.2, 0.0, 0.0]]}


def coupling(first, second, space):
    """Coordinates of two bodies that float on the frame."""
    bodies = [1, int(first[2]), int(second[2])]
    given = {"couples": [first, second], "multiplier": -1.7, "offset": 0.05}
    return space, {"bodies": bodies, "type": "COUPLING", **given}


RELATED_JOINTS = {
    "gears": ("planar", {"bodies": [2, 3], "type": "EO", **WHEELS}),
    "internal gears": ("planar", {"bodies": [2, 3], "type": "EO", **WHEELS, "ratio": -2.5}),
    "gears on a carrier": ("planar", {"bodies": [2, 3, 4], "type": "EPI", **WHEELS}),
    "gears on the frame": ("planar", {"bodies": [4, 3, 1], "type": "EPI", **WHEELS}),
    "bevels": ("spatial", {"bodies": [2, 3, 4], "type": "BEVEL", **BEVELS, "ratio": 1.7}),
    "bevels on the frame": ("spatial", {"bodies": [3, 2], "type": "BEVEL", **BEVELS, "ratio": -0.6}),
    "angles of two joints": coupling("1-2.angle", "1-4.angle", "planar"),
    "an angle and a slide": coupling("1-2.angle_z", "1-4.y", "spatial"),
    "a slide and an angle": coupling("1-3.x", "1-4.angle_x", "spatial"),
    "rolling": (
        "planar",
        {"bodies": [2, 3], "type": "RP", "point": [0.1, 0.3], "axis": [0.6, 0.8], "radius": 0.2},
    ),
    "roller": cam("roller", radius=0.05),
    "knife": cam("knife"),
    "flat": cam("flat"),
    "two profiles": cam({"curve": {"circle": {"radius": 0.1, "centre": [0.02, 0.0]}}}),
    "two contacts": contacts("CBIP", 2),
    "three contacts": contacts("CTRP", 3),
    "four contacts": contacts("CTEP", 4),
    "five contacts": contacts("CPEP", 5),
    "function of two": ("planar", {"bodies": [2, 4], "type": "USER", "function": bent}),
    "function of three": ("planar", {"bodies": [4, 2, 3], "type": "USER", "function": bent, "unit": "m"}),
    "function in space": ("spatial", {"bodies": [2, 4], "type": "USER", "function": twisted, "unit": "m"}),
    "function of four in space": ("spatial", {"bodies": [4, 1, 2, 3], "type": "USER", "function": twisted}),
}


def test_every_type_of_relations_is_tried():
    assert {joint["type"] for _, joint in RELATED_JOINTS.values()} == {
        row.code for row in CATALOGUE if row.relations is not None
    }


def related(case):
    """Three bodies with frames of their own and the joint between them; somewhere else, turns behind them."""
    space, joint = RELATED_JOINTS[case]
    planar = space == "planar"
    rng = np.random.default_rng(len(case))
    record = {"format": 1, "space": space, "body": [], "joint": [joint]}
    for body in (2, 3, 4):
        origin = rng.uniform(-0.3, 0.3, 2 if planar else 3).tolist()
        turned = rng.normal(size=4)
        turned /= np.linalg.norm(turned)
        record["body"].append({"origin": origin, "orientation": turned[0] if planar else turned.tolist()})
        record["joint"].append({"bodies": [1, body], "type": "FP" if planar else "F"})
    mechanism = from_record(record, case, case)
    frames = joint_frames(mechanism)
    at = disturbed(mechanism, frames)
    turns = 2 * np.pi * np.array([0, 3, -40, 7]) if planar else np.zeros(4)
    return mechanism, frames, replace(at, angle=at.angle + turns)


def test_jacobian_of_relations_against_differences():
    for case in RELATED_JOINTS:
        check_relations(case)


def check_relations(case):
    """Constraints by their rows, and every coordinate; lengths over a size."""
    mechanism, frames, at = related(case)
    check_jacobian(mechanism)
    relations = frames.relations[0]
    columns = (0, 1, 5) if mechanism.space == "planar" else range(6)
    size, h = 0.5, 1e-4
    assert tuple(relations.coordinates) == mechanism.joints[0].type.drivable, case
    # Differences are of the pose at the body's own origin.
    origin = np.zeros_like(frames.centre)
    for relation in (*relations.constraints, *relations.coordinates.values()):
        rates = values_and_rates(relations, [relation], at[None], size)[1][0, 0]
        assert rates.shape == (len(relations.bodies), 6), case
        for k, body in enumerate(relations.bodies):
            for axis in columns:

                def value(step, body=body, axis=axis, relation=relation):
                    moved = np.zeros((mechanism.n_bodies, 6))
                    moved[body, axis] = step * (size if axis < 3 else 1.0)
                    return values_and_rates(relations, [relation], at.moved(moved, origin)[None], size)[0][
                        0, 0
                    ]

                by = (value(-2 * h) - 8 * value(-h) + 8 * value(h) - value(2 * h)) / (12 * h)
                assert rates[k, axis] == pytest.approx(by, abs=1e-8 * (1 + abs(by))), case


def test_relations_hold_at_the_reference_or_say_by_how_much_they_do_not():
    """Angles are told since the reference; contacts and functions hold at zero wherever that is."""
    for case in RELATED_JOINTS:
        mechanism, frames, _ = related(case)
        rows = rows_at(mechanism, frames, frames.reference)
        kind = mechanism.joints[0].type
        if kind.is_gear or kind.rolls or kind.contacts:
            assert np.abs(rows.residual).max() < 1e-12, case
        else:
            assert np.abs(rows.residual).max() > 1e-3, case
        assert len(rows) == mechanism.joints[0].type.equations, case


def test_canonical_frames_say_the_same_as_the_shorthand():
    for name in MODELS:
        mechanism = mbssa.load(name)
        frames = joint_frames(mechanism)
        planar = mechanism.space == "planar"
        geometry = {}
        for j, given in mechanism.joint_geometry.items():
            if mechanism.joints[j].type.contacts or given.function is not None:
                geometry[j] = given
                continue
            sides = tuple(
                JointFrame(
                    tuple(frames.origin[j, side][: 2 if planar else 3]),
                    None if planar else tuple(frames.axes[j, side][:, 2]),
                    tuple(frames.axes[j, side][: 2 if planar else 3, 0]),
                )
                for side in (0, 1)
            )
            length = given.length or frames.parameters["length"][j] or None
            shorthand = dict.fromkeys(("point", "points", "axis", "axes"))
            geometry[j] = replace(given, frames=sides, length=length, at_reference={}, **shorthand)
        same = joint_frames(replace(mechanism, joint_geometry=geometry))
        known = list(geometry)
        assert np.abs(same.origin[known] - frames.origin[known]).max() < 1e-14, name
        assert np.abs(same.axes[known] - frames.axes[known]).max() < 1e-14, name
        assert set(same.relations) == set(frames.relations), name
        for j, relations in frames.relations.items():
            again = same.relations[j]
            assert [relation.terms for relation in again.constraints] == [
                r.terms for r in relations.constraints
            ], name
            for pair, other in zip(relations.pairs, again.pairs, strict=True):
                assert pair.bodies == other.bodies, name
                assert np.abs(pair.origin - other.origin).max() < 1e-14, name
                assert np.abs(pair.axes - other.axes).max() < 1e-14, name
            for relation, other in zip(relations.constraints, again.constraints, strict=True):
                assert relation.constant == pytest.approx(other.constant, abs=1e-13), name


def test_coordinates_of_relations_count_from_the_reference():
    for name in MODELS:
        mechanism = mbssa.load(name)
        frames = joint_frames(mechanism)
        at = frames.reference
        for relations in frames.relations.values():
            for relation in relations.coordinates.values():
                assert abs(values_and_rates(relations, [relation], at[None], 1.0)[0]) < 1e-12, name


def test_assembling_from_a_disturbed_start():
    for name in ["rotor", "spatial_4r", "slider_crank", "stewart", "theo_jansen", "rssr"]:
        mechanism = mbssa.load(name)
        frames = joint_frames(mechanism)
        start = frames.reference.moved(random_step(mechanism, frames, 0.05), frames.centre)
        found = assemble(mechanism, frames, start)
        assert found.closed, (name, found.fault)
        assert found.residual < 1e-12, name
        assert found.moved.max() > 0, name


def test_moving_the_world_changes_no_residual():
    mechanism = mbssa.load("rotor")
    frames = joint_frames(mechanism)
    at = frames.reference.moved(random_step(mechanism, frames, 0.1), frames.centre)
    turn, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))
    turn *= np.linalg.det(turn)
    shift = np.array([1.0, -2.0, 3.0])
    moved = Poses(at.position @ turn.T + shift, turn @ at.rotation, at.angle)
    # The frame moves with the rest: only relative poses count.
    one, two = (rows_at(mechanism, frames, c).residual for c in (at, moved))
    assert np.abs(one - two).max() < 1e-12
