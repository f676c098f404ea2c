"""Where mechanisms are cut open: Robotran's cuts, the user's own, gears, and what cannot be cut."""

import pytest

import mbssa
from groups.partitioning.cutting import cut_open
from mbssa.io.records import from_record, to_record
from mbssa.joints.frames import joint_frames


def opened(name, cuts=None, driven=()):
    mechanism = mbssa.load(name) if isinstance(name, str) else name
    return cut_open(mechanism, joint_frames(mechanism), cuts, driven)


def kinds(found):
    return [(cut.kind, cut.name, len(cut.equations)) for cut in found.cuts]


class TestWhereCutsAre:
    def test_suspension_of_the_seed_has_five_coordinates_and_a_ball_cut_of_two(self):
        found = opened("suspension")
        assert found.coordinates == ("1-2.slide", "2-3.angle", "3-4.angle", "4-5.angle", "2-6.angle")
        assert kinds(found) == [("ball", "4-6", 2)]

    def test_a_hinge_that_is_cut_is_a_ball_and_a_rod_between_balls_is_taken_out(self):
        """In space a ball has three equations; another joint leaves those that it has."""
        for name, wanted in {
            "pendulum_four_bar": [("ball", "2-4", 2)],
            "stewart": [("ball", f"{leg}-14", 3) for leg in (5, 7, 9, 11, 13)],
            "rssr": [("rod", "2-3 3-4", 1)],
            "spatial_4r": [("R", "3-4", 5)],
        }.items():
            assert kinds(opened(name)) == wanted, name
        assert opened("rssr").coordinates == ("1-2.angle", "1-4.angle")

    def test_what_is_driven_is_in_the_tree(self):
        found = opened("stewart_inverse")
        pose = {f"1-14.{name}" for name in ("x", "y", "z", "angle_x", "angle_y", "angle_z")}
        assert pose <= set(found.coordinates)
        assert len(found.coordinates) == len(found.equations) + 6

    def test_every_body_hangs_once_with_parents_first(self):
        for name in ("suspension", "rotor", "stewart_inverse", "micromanipulator", "rssr"):
            found = opened(name)
            rods = {cut.rod for cut in found.cuts if cut.rod >= 0}
            hung = {0}
            for link in found.links:
                assert link.parent in hung, name
                assert link.body not in hung, name
                hung.add(link.body)
            assert hung == set(range(found.mechanism.n_bodies)) - rods, name

    def test_a_driven_distance_is_a_rod_cut_and_without_its_drive_no_cut(self):
        record = to_record(mbssa.load("planar_four_bar"))
        record.pop("motion")
        del record["joint"][0]["driven"]
        points = [[-0.5, 0.2], [0.4, 0.65]]
        record["joint"].append(
            {"id": "measure", "bodies": [1, 3], "type": "DIST", "driven": ["distance"], "points": points}
        )
        measured = from_record(record, "measured", "measured")
        found = opened(measured, driven=["measure.distance"])
        assert kinds(found) == [("ball", "3-4", 2), ("rod", "measure", 1)]
        assert found.prescribed == (False, False, True)
        assert kinds(opened(measured)) == [("ball", "3-4", 2)]


class TestTheUsersCuts:
    def test_a_driven_joint_that_is_cut_is_a_solid_cut(self):
        found = opened("suspension", ["2-3"], ["2-3.angle"])
        assert kinds(found) == [("solid", "2-3", 3)]
        assert found.equations == ("2-3: position x", "2-3: position y", "2-3: angle")
        assert found.prescribed == (False, False, True)

    def test_both_hinges_of_a_bar_take_it_out_as_a_rod(self):
        assert kinds(opened("planar_four_bar", ["2-3", "3-4"])) == [("rod", "2-3 3-4", 1)]

    def test_all_faults_of_cuts_are_said_at_once(self):
        with pytest.raises(ValueError, match=r"(?s)wheel .* 4-5.*cut 4-6"):
            opened("suspension", ["4-5"])
        with pytest.raises(ValueError, match=r"'9-9'.*\n.*'8-8'"):
            opened("suspension", ["9-9", "8-8"])


def test_what_cannot_be_cut_is_named():
    """Joints without geometry, and a body that only a gear holds."""
    bare = mbssa.from_pairs(3, [(1, 2, "R", 1), (2, 3, "R", 0), (1, 3, "P", 0)], "planar")
    with pytest.raises(ValueError, match=r"1-2 R .* 2-3 R .* 1-3 P"):
        opened(bare)
    joints = [
        {"bodies": [1, 2], "type": "R", "point": [0, 0]},
        {"bodies": [2, 3], "type": "EO", "points": [[0, 0], [0.3, 0]], "ratio": 0.5},
    ]
    with pytest.raises(ValueError, match="body 3"):
        opened(from_record({"format": 1, "space": "planar", "bodies": 3, "joint": joints}, "loose", "loose"))
