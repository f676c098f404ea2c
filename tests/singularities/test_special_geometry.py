"""Mechanisms that move because of their dimensions, and poses that only look so."""

import dataclasses
import math
import tomllib
from importlib import resources
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mbssa
from mbssa.io.toml_file import parse_toml
from mbssa.joints.assembly import CLOSED, assemble
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import rows_at
from mbssa.singularities.ranks import generic_rows, precision_of, rank_of
from mbssa.singularities.redundancy import examine, examine_generic, treat

#: name: (equations, unknowns, generic rank, rank at the given geometry); the mobility by rank is 1 for all.
FIGURES = {
    "bennett": (20, 18, 18, 17),
    "bricard": (30, 30, 30, 29),
    "sarrus": (30, 30, 30, 29),
    "double_parallelogram": (12, 12, 12, 11),
    "double_banana": (6, 6, 5, 5),
}
LOOPS = ["bennett", "bricard", "sarrus", "double_parallelogram"]

FEW = settings(max_examples=15, deadline=None)


def mapped(mechanism, of_point, of_direction=lambda v: v):
    """The same mechanism with every point and every axis taken elsewhere."""

    def moved(geometry):
        def all_of(function, vectors):
            return vectors and tuple(tuple(function(np.array(v)).tolist()) for v in vectors)

        (point,) = all_of(of_point, (geometry.point,))
        axis = geometry.axis and all_of(of_direction, (geometry.axis,))[0]
        axes = all_of(of_direction, geometry.axes)
        points = all_of(of_point, geometry.points)
        return dataclasses.replace(geometry, point=point, axis=axis, axes=axes, points=points)

    return with_geometry(mechanism, {j: moved(g) for j, g in mechanism.joint_geometry.items()})


def with_geometry(mechanism, geometry):
    return dataclasses.replace(mechanism, joint_geometry=geometry)


def with_points(mechanism, points):
    """The same mechanism with its joints elsewhere; coordinates count from there."""
    old = mechanism.joint_geometry
    new = {j: dataclasses.replace(old[j], point=p, at_reference={}) for j, p in enumerate(points)}
    return with_geometry(mechanism, new)


def driven_at(mechanism, *masks):
    return dataclasses.replace(mechanism, driven=np.array(masks, dtype=np.uint8))


def hinges(points, axes):
    """A closed loop of R pairs, body 1 to 2, 2 to 3, …, back to 1; the first is driven."""
    n = len(points)
    pairs = [(k + 1, k + 2) for k in range(n - 1)] + [(1, n)]
    joints = [
        f'[[joint]]\nbodies = [{i}, {j}]\ntype = "R"\npoint = {list(map(float, p))}\n'
        f"axis = {list(map(float, a))}\ndriven = {int(k == 0)}\n"
        for k, ((i, j), p, a) in enumerate(zip(pairs, points, axes, strict=True))
    ]
    return model("spatial", n, *joints)


def model(space, bodies, *joints):
    text = f'format = 1\nspace = "{space}"\nbodies = {bodies}\n' + "\n".join(joints)
    return parse_toml(text, "here", "here")


# --- three ranks -----------------------------------------------------------------------------------


def test_geometry_closes():
    for name in FIGURES:
        mechanism = mbssa.load(name)
        frames = joint_frames(mechanism)
        at_reference = rows_at(mechanism, frames, frames.reference)
        assert np.abs(at_reference.residual).max() < 1e-15, name
        assert assemble(mechanism, frames).moved.max() < 1e-15, name


def test_count_generic_rank_and_rank_of_the_geometry():
    for name in FIGURES:
        mechanism = mbssa.load(name)
        equations, unknowns, generic, given_rank = FIGURES[name]
        assert mechanism.mobility == unknowns - equations, name
        found, at_random = examine(mechanism), examine_generic(mechanism)
        assert (found.constraints.rows, found.constraints.columns) == (equations, unknowns), name
        assert (at_random.constraints.rank, found.constraints.rank) == (generic, given_rank), name
        assert found.mobility == found.n_drives == 1, name
        assert found.dependent_drives == 0, name
        assert found.all.rank == unknowns, name
        # Nothing lies between what counts and what does not.
        kept, dropped = found.constraints.margin
        assert kept > 0.04, name
        assert dropped < 1e-15, name


def test_generic_rank_is_the_same_for_every_draw():
    for name, seed in product(FIGURES, range(3)):
        rows = generic_rows(mbssa.load(name), seed)
        bodies = np.arange(1, mbssa.load(name).n_bodies)
        assert rank_of(rows.matrix(bodies)[~rows.drive]).rank == FIGURES[name][2], (name, seed)


def test_redundancy_persists_at_a_second_configuration():
    for name in FIGURES:
        mechanism = mbssa.load(name)
        found = examine(mechanism)
        assert found.elsewhere is not None, name
        assert found.elsewhere.constraints.rank == found.constraints.rank, name
        assert found.elsewhere.all.rank == found.all.rank, name
        assert not found.singular_pose, name
        assert not found.dead_point, name


def test_the_second_configuration_is_another_one_and_closed():
    for name in FIGURES:
        mechanism = mbssa.load(name)
        found = examine(mechanism)
        other = found.elsewhere.configuration
        assert np.abs(other.rotation - found.configuration.rotation).max() > 0.02, name
        rows = rows_at(mechanism, found.frames, other)
        assert np.abs(rows.residual).max() < CLOSED, name


@given(st.integers(0, 10**6))
@FEW
def test_every_skew_quadrangle_with_equal_opposite_sides_is_a_bennett_linkage(seed):
    """Half-turn symmetry makes opposite sides equal; axes stand on the two sides that meet."""
    dice = np.random.default_rng(seed)
    a, b = dice.uniform(0.3, 1.0, (2, 3)) * ((1, 1, 1), (-1, 1, -1))
    half_turn = np.array([-1.0, -1.0, 1.0])
    corners = [a, b, a * half_turn, b * half_turn]
    axes = [np.cross(corners[k] - corners[k - 1], corners[(k + 1) % 4] - corners[k]) for k in range(4)]
    found = examine(hinges(corners, axes))
    assert (found.constraints.rank, found.elsewhere.constraints.rank) == (17, 17)


@given(st.integers(0, 10**6))
@FEW
def test_three_lines_and_their_half_turn_are_a_bricard_loop(seed):
    dice = np.random.default_rng(seed)
    half_turn = np.array([-1.0, -1.0, 1.0])
    points, axes = dice.normal(size=(2, 3, 3))
    loop = hinges([*points, *points * half_turn], [*axes, *axes * half_turn])
    assert examine(loop).constraints.rank == 29
    # The same lines without the symmetry hold each other.
    tilts = 0.01 * dice.normal(size=(3, 3))
    other = hinges([*points, *points * half_turn], [*axes, *axes * half_turn + tilts])
    assert examine(other).constraints.rank == 30


# --- treatment -------------------------------------------------------------------------------------


def test_number_of_dropped_equations():
    for name, expected in [
        ("bennett", 3),
        ("bricard", 1),
        ("sarrus", 1),
        ("double_parallelogram", 1),
        ("double_banana", 1),
    ]:
        mechanism = mbssa.load(name)
        treatment = treat(mechanism)
        assert treatment.basis == "numeric", name
        assert len(treatment.dropped) == expected, name
        assert treatment.passive_rotations == (), name
        # What is left is as much as the bodies' freedoms.
        assert treatment.units.sum() == mechanism.freedom * (mechanism.n_bodies - 1), name
        left_out = np.bincount([d.joint for d in treatment.dropped], minlength=mechanism.n_joints)
        given_units = mechanism.freedom - mechanism.grade + mechanism.n_driven_of_joint
        assert (treatment.units == given_units - left_out).all(), name


def test_what_is_dropped_is_no_drive_whichever_joint_is_driven():
    for name in LOOPS:
        mechanism = mbssa.load(name)
        for driver in range(mechanism.n_joints):
            other = driven_at(mechanism, *(int(j == driver) for j in range(mechanism.n_joints)))
            treatment = treat(other)
            assert len(treatment.dropped) == len(treat(mechanism).dropped), name
            assert all(d.equation not in other.joints[d.joint].type.coordinates for d in treatment.dropped), (
                name
            )
            assert treatment.units[driver] >= 1, name


def test_a_second_drive_is_refused():
    for name in LOOPS:
        mechanism = mbssa.load(name)
        assert examine(driven_at(mechanism, 1, 1, *[0] * (mechanism.n_joints - 2))).dependent_drives == 1, (
            name
        )
        assert treat(driven_at(mechanism, 1, 1, *[0] * (mechanism.n_joints - 2))) is None, name


def test_without_a_drive_there_is_no_treatment():
    for name in LOOPS:
        mechanism = mbssa.load(name)
        assert treat(driven_at(mechanism, *[0] * mechanism.n_joints)) is None, name


# --- the double banana -----------------------------------------------------------------------------


def test_undriven_double_banana_spins_about_the_line_of_its_tips():
    """One equation too many and one motion too many: the distance of the tips, and the turn."""
    treatment = treat(driven_at(mbssa.load("double_banana"), 0, 0))
    assert len(treatment.dropped) == 1
    (spin,) = treatment.passive_rotations
    assert spin.bodies == (1,)
    assert np.abs(spin.direction) == pytest.approx((0, 0, 1), abs=1e-14)
    assert spin.point[:2] == pytest.approx((0, 0), abs=1e-14)


def test_double_banana_takes_one_drive_and_no_more():
    x, y, z = 1, 2, 4
    banana = mbssa.load("double_banana")
    assert treat(driven_at(banana, z, 0)) is not None
    assert treat(driven_at(banana, 0, z)) is not None
    for masks in ((x | z, 0), (x | y | z, 0), (z, z)):
        assert treat(driven_at(banana, *masks)) is None
    # angle_x turns about a line that the tips hold still.
    assert examine(driven_at(banana, x, 0)).dependent_drives == 1


CORNERS = [[0.3, 0.0, 0.1], [0.7, 0.2, 0.0], [0.6, -0.2, -0.1]]


def test_double_banana_of_rods_has_the_defect_by_geometry_only():
    """Six rods from three corners to two tips of the frame; at random geometry rods share no tip."""
    rods = [
        f'[[joint]]\nbodies = [1, 2]\ntype = "SPSP"\npoints = [[0.0, 0.0, {tip}], {corner}]\n'
        for tip in (0.8, -0.8)
        for corner in CORNERS
    ]
    banana = model("spatial", 2, *rods)
    assert banana.mobility == 0
    assert examine_generic(banana).constraints.rank == 6
    found = examine(banana)
    assert (found.constraints.rank, found.elsewhere.constraints.rank) == (5, 5)
    treatment = treat(banana)
    assert len(treatment.dropped) == 1
    (spin,) = treatment.passive_rotations  # about the line of the tips, which its centre is beside
    assert spin.point[:2] == pytest.approx((0, 0), abs=1e-12)


# --- singular poses --------------------------------------------------------------------------------


def sarrus(height):
    """The model with its table at another height; links of 0.5 m and 0.34 m."""
    out_1, out_2 = (math.sqrt(length**2 - height**2 / 4) for length in (0.5, 0.34))
    middle = height / 2
    leg_1 = [(0.3, 0.0, 0.0), (0.3 + out_1, 0.0, middle), (0.3, 0.0, height)]
    leg_2 = [(0.0, 0.25, height), (0.0, 0.25 + out_2, middle), (0.0, 0.25, 0.0)]
    return with_points(mbssa.load("sarrus"), leg_1 + leg_2)


def parallelogram(angle):
    """The model with its cranks at another angle."""
    feet = [0.0, 0.4, 0.7]
    x, y = 0.25 * math.cos(angle), 0.25 * math.sin(angle)
    points = [(foot, 0.0) for foot in feet] + [(foot + x, y) for foot in feet]
    return with_points(mbssa.load("double_parallelogram"), points)


def test_sarrus_has_one_redundancy_at_every_height():
    for height in [0.6, 0.3, 0.1, 0.02]:
        found = examine(sarrus(height))
        assert (found.constraints.rank, found.elsewhere.constraints.rank) == (29, 29), height


def test_flat_sarrus_has_a_lower_rank():
    """Six lines of one plane have rank 3 instead of 5."""
    assert examine(sarrus(0.0)).constraints.rank == 27
    assert treat(sarrus(0.0)) is None


def test_legs_of_the_flat_sarrus_fold_on_their_own():
    """The table lies on the frame, where the outer hinges of a leg coincide: two motions, another branch."""
    flat = sarrus(0.0)
    folded = []
    for points, out, up, turn in ((range(3), 0, 2, 0.3), (range(3, 6), 1, 2, -0.7)):
        foot, knee, top = (list(flat.joint_geometry[j].point) for j in points)
        length = knee[out] - foot[out]
        knee[out], knee[up] = foot[out] + length * math.cos(turn), length * math.sin(turn)
        folded += [foot, knee, top]
    assert examine(with_points(flat, map(tuple, folded))).constraints.rank == 28


def test_flat_sarrus_is_a_singular_pose():
    assert examine(sarrus(0.0)).singular_pose
    assert treat(driven_at(sarrus(0.0), 1, 1, 0, 1, 0, 0)) is None


def test_double_parallelogram_has_one_redundancy_at_every_angle():
    for angle in [1.5, 0.5, 0.02, -0.02]:
        found = examine(parallelogram(angle))
        assert (found.constraints.rank, found.elsewhere.constraints.rank) == (11, 11), angle


def test_flat_double_parallelogram_has_a_lower_rank():
    assert examine(parallelogram(0.0)).constraints.rank == 10
    assert treat(parallelogram(0.0)) is None


def test_flat_double_parallelogram_is_no_redundancy():
    """Every mix of its free motions leads back to the flat pose, so it counts as shaky, not as redundant."""
    found = examine(parallelogram(0.0))
    assert found.singular_pose or found.stuck


def test_flat_double_parallelogram_with_two_drives_is_not_treated():
    """Both drives are independent for an instant only: a tenth of a degree on, they contradict each other."""
    assert treat(driven_at(parallelogram(0.002), 1, 1, 0, 0, 0, 0)) is None
    assert treat(driven_at(parallelogram(0.0), 1, 1, 0, 0, 0, 0)) is None


def test_a_straight_dyad_is_not_treated():
    """Two bars in line between fixed pivots: free for an instant, rigid all the same."""
    bars = [
        f'[[joint]]\nbodies = {bodies}\ntype = "R"\npoint = [{x}, 0.0]\ndriven = {drive}\n'
        for bodies, x, drive in (([1, 2], 0.0, 1), ([2, 3], 0.4, 0), ([1, 3], 1.0, 0))
    ]
    assert treat(model("planar", 3, *bars)) is None


# --- units, digits, and where the world is ---------------------------------------------------------


def written(table, scale, unit):
    """A built-in model as a file in another unit of length: points only carry lengths here."""

    def value(v):
        if isinstance(v, dict):
            return "{ " + ", ".join(f"{key} = {value(entry)}" for key, entry in v.items()) + " }"
        if isinstance(v, list):
            return "[" + ", ".join(map(value, v)) + "]"
        return f'"{v}"' if isinstance(v, str) else repr(v)

    lines = ["format = 1", f'space = "{table["space"]}"', f'units = {{ length = "{unit}" }}']
    for body in table["body"]:
        lines += ["[[body]]", f"name = {value(body['name'])}"]
    for joint in table["joint"]:
        point = [scale * x for x in joint["point"]]
        lines.append("[[joint]]")
        lines += [f"{key} = {value(entry)}" for key, entry in {**joint, "point": point}.items()]
    return "\n".join(lines)


def ranks(mechanism):
    found = examine(mechanism)
    assert found.fault == ""
    return [(e.constraints.rank, e.all.rank) for e in (found, found.elsewhere)]


def test_ranks_do_not_depend_on_the_unit():
    for name in FIGURES:
        for unit, scale in [("mm", 1000.0), ("ft", 1 / 0.3048)]:
            text = resources.files("mbssa.io.models").joinpath(f"{name}.toml").read_text("utf-8")
            mechanism = mbssa.load(name)
            other = parse_toml(written(tomllib.loads(text), scale, unit), name, name)
            assert joint_frames(other).size == pytest.approx(joint_frames(mechanism).size, rel=1e-14), (
                name,
                unit,
            )
            assert ranks(other) == ranks(mechanism), (name, unit)
            values = examine(mechanism).constraints.values
            assert examine(other).constraints.values == pytest.approx(values, abs=1e-14), (name, unit)
            assert treat(other).units.tolist() == treat(mechanism).units.tolist(), (name, unit)


def test_ranks_do_not_depend_on_the_size():
    for name in FIGURES:
        for factor in [1e-6, 1e6]:
            mechanism = mbssa.load(name)
            assert ranks(mapped(mechanism, lambda v, factor=factor: factor * v)) == ranks(mechanism), (
                name,
                factor,
            )


def test_built_in_geometry_is_meant_exactly():
    for name in FIGURES:
        assert precision_of(mbssa.load(name), 1.0) == 0.0, name


def test_a_rounded_bennett_linkage_still_moves():
    for decimals in range(6, 14):
        rounded = mapped(mbssa.load("bennett"), *2 * [lambda v, decimals=decimals: v.round(decimals)])
        assert 0 < precision_of(rounded, 1.0) <= 5.1 * 10.0**-decimals, decimals
        found = examine(rounded)
        assert (found.constraints.rank, found.elsewhere.constraints.rank) == (17, 17), decimals
        assert (found.elsewhere.precision, found.elsewhere.size) == (found.precision, found.size), decimals
        assert len(treat(rounded).dropped) == 3, decimals


def test_six_decimals_without_their_tolerance_are_immobile():
    rounded = mapped(mbssa.load("bennett"), *2 * [lambda v: v.round(6)])
    assert examine(rounded, precision=0.0).constraints.rank == 18


def tilted(angle):
    """The four-bar with its second axis tilted, the number as it is read from a file."""
    four_bar = mbssa.load("spatial_4r")
    geometry = dict(four_bar.joint_geometry)
    geometry[1] = dataclasses.replace(geometry[1], axis=(0.0, float(angle), 1.0))
    return with_geometry(four_bar, geometry)


def test_an_axis_off_by_its_last_digit_is_still_parallel():
    for angle in ["0.000001", "0.0000012", "-0.00000001"]:
        found = examine(tilted(angle))
        assert found.constraints.rank == 17, angle
        assert len(treat(tilted(angle)).dropped) == 3, angle


def test_an_axis_off_by_more_is_not():
    for angle in ["0.001", "0.0123", "0.1"]:
        found = examine(tilted(angle))
        assert found.precision == 0.0, angle
        assert found.constraints.rank == 18, angle
        assert found.mobility == 0, angle
        assert treat(tilted(angle)) is None, angle


def moved_world(mechanism, seed, far):
    dice = np.random.default_rng(seed)
    if mechanism.space == "planar":
        angle = dice.uniform(-math.pi, math.pi)
        turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    else:
        turn = np.linalg.qr(dice.normal(size=(3, 3)))[0]
        turn *= np.linalg.det(turn)
    along = dice.normal(size=len(turn))
    shift = far * along / np.linalg.norm(along)
    return mapped(mechanism, lambda v: turn @ v + shift, lambda v: turn @ v)


@given(name=st.sampled_from(sorted(FIGURES)), seed=st.integers(0, 10**6), far=st.floats(0.0, 100.0))
@FEW
def test_moving_the_whole_world_changes_no_rank(name, seed, far):
    mechanism = mbssa.load(name)
    moved = moved_world(mechanism, seed, far)
    assert ranks(moved) == ranks(mechanism)
    # How many equations each joint adds to those before it is free of axes too.
    assert treat(moved).units.tolist() == treat(mechanism).units.tolist()


def test_ten_kilometres_away_too():
    for name in FIGURES:
        mechanism = mbssa.load(name)
        near, far = examine(mechanism), examine(moved_world(mechanism, 1, 1e4))
        assert far.constraints.margin[0] > 0.01, name
        assert far.constraints.rank == near.constraints.rank, name


def test_a_rounded_bennett_linkage_a_hundred_metres_away():
    away = mapped(moved_world(mbssa.load("bennett"), 1, 100.0), *2 * [lambda v: v.round(6)])
    assert ranks(away) == [(17, 18), (17, 18)]
