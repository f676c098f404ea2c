"""Planar and spherical parts of spatial mechanisms are found, counted with B = 3, and nothing else is."""

import numpy as np
import pytest

import mbssa
from mbssa.joints.frames import joint_frames
from mbssa.singularities.special_loops import special_parts


def parts_of(mechanism):
    frames = joint_frames(mechanism)
    return special_parts(mechanism, frames, frames.reference, 1e-8)


def model(tmp_path, joints, n_bodies):
    text = f'format = 1\nspace = "spatial"\nbodies = {n_bodies}\n'
    for bodies, kind, point, axis, driven in joints:
        text += f'[[joint]]\nbodies = {bodies}\ntype = "{kind}"\ndriven = {driven}\n'
        text += f"point = {[float(v) for v in point]}\n" if point is not None else ""
        text += f"axis = {[float(v) for v in axis]}\n" if axis is not None else ""
    (tmp_path / "model.toml").write_text(text)
    return mbssa.load(tmp_path / "model.toml")


CENTRE = np.array([0.3, -0.2, 0.5])
SPOKES = [(1.0, 0.2, 0.1), (0.4, 1.0, 0.3), (-0.2, 0.7, 1.0), (0.3, -0.1, 1.0)]


def spherical_four_bar(tmp_path):
    """Four R axes through one point, each joint 0.2 to 0.5 m out on its spoke."""
    ends = ([1, 2], [2, 3], [3, 4], [1, 4])
    return model(
        tmp_path,
        [
            (bodies, "R", CENTRE + reach * np.array(spoke), spoke, int(bodies == [1, 2]))
            for bodies, spoke, reach in zip(ends, SPOKES, (0.2, 0.3, 0.4, 0.5), strict=True)
        ],
        4,
    )


def test_a_spherical_four_bar_is_a_spherical_part(tmp_path):
    mechanism = spherical_four_bar(tmp_path)
    (part,) = parts_of(mechanism)
    assert (part.kind, part.bodies) == ("spherical", (1, 2, 3))
    assert part.about == pytest.approx(tuple(CENTRE))
    structure = mbssa.decompose(mechanism)
    assert structure.determined
    assert [group.bodies for group in structure.groups] == [(2,), (3, 4)]
    assert len(structure.treatment.dropped) == 3
    assert mbssa.check(mechanism).numeric.mobility == 1


def test_a_planar_loop_is_a_planar_part():
    (part,) = parts_of(mbssa.load("spatial_4r"))
    assert (part.kind, part.bodies, part.joints) == ("planar", (1, 2, 3), (0, 1, 2, 3))
    assert np.abs(part.about) == pytest.approx((0, 0, 1))
    assert len(part.tree) == 3


def test_a_slider_belongs_to_the_plane_it_slides_in():
    (part,) = parts_of(mbssa.load("slider_crank"))
    assert (part.kind, part.bodies) == ("planar", (1, 2, 3))


def test_spatial_mechanisms_have_none():
    for name in ["rotor", "stewart", "spatial_four_bar", "bennett", "bricard", "rssr"]:
        assert parts_of(mbssa.load(name)) == [], name


def test_sarrus_has_two_planes_and_no_part_that_closes_in_one():
    assert parts_of(mbssa.load("sarrus")) == []


def test_a_planar_mechanism_needs_none():
    assert parts_of(mbssa.load("theo_jansen")) == []


def jansen_in_space(tmp_path):
    """Theo Jansen's leg with every pin an R along the normal of a tilted plane."""
    flat = mbssa.load("theo_jansen")
    turn, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))
    joints = []
    for joint in flat.joints:
        point = turn @ [*joint.geometry.point, 0.0]
        joints.append((list(joint.bodies), "R", point, turn[:, 2], int(bool(joint.driven))))
    return flat, model(tmp_path, joints, flat.n_bodies)


def test_a_planar_mechanism_drawn_in_space_has_the_groups_of_the_plane(tmp_path):
    flat, drawn = jansen_in_space(tmp_path)
    one, two = mbssa.decompose(flat), mbssa.decompose(drawn)
    assert two.determined
    assert [group.bodies for group in two.groups] == [group.bodies for group in one.groups]
    assert [group.depends_on for group in two.groups] == [group.depends_on for group in one.groups]
    loops = flat.n_joints - (flat.n_bodies - 1)
    assert len(two.treatment.dropped) == 3 * loops


def test_a_spatial_leg_on_a_planar_loop_keeps_six_freedoms(tmp_path):
    """A rod with two balls from the coupler of a spatial 4R to a slider on the frame."""
    base = mbssa.load("spatial_4r")
    joints = [
        (list(j.bodies), "R", j.geometry.point, j.geometry.axis, int(bool(j.driven))) for j in base.joints
    ]
    joints += [
        ([3, 5], "S", (0.5, 0.7, 0.1), None, 0),
        ([5, 6], "S", (0.4, 0.9, 0.8), None, 0),
        ([1, 6], "P", (0.4, 0.9, 0.8), (0.2, 0.1, 1.0), 0),
    ]
    structure = mbssa.decompose(model(tmp_path, joints, 6))
    assert structure.determined
    assert [group.bodies for group in structure.groups] == [(2,), (3, 4), (5, 6)]
    assert [spin.bodies for spin in structure.treatment.passive_rotations] == [(4,)]
    assert structure.treatment.freedom_of_body.tolist() == [0, 3, 3, 3, 5, 6]
