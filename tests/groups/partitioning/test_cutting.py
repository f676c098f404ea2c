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
    return [(cut.kind, found.cut_name(cut), len(cut.equations)) for cut in found.cuts]


class TestWhereCutsAre:
    def test_suspension_of_the_seed_has_five_coordinates_and_a_ball_cut_of_two(self):
        found = opened("suspension")
        assert found.coordinates == ("1-2.slide", "2-3.angle", "3-4.angle", "4-5.angle", "2-6.angle")
        assert found.units == ("m", "rad", "rad", "rad", "rad")
        assert kinds(found) == [("ball", "4-6", 2)]

    def test_pendulum_of_the_seed_is_cut_between_rod_and_pendulum(self):
        assert kinds(opened("pendulum_four_bar")) == [("ball", "2-4", 2)]

    def test_a_ball_cut_in_space_has_three_equations(self):
        found = opened("stewart")
        assert kinds(found) == [("ball", f"{leg}-14", 3) for leg in (5, 7, 9, 11, 13)]

    def test_a_rod_between_two_balls_is_taken_out_and_leaves_one_equation(self):
        found = opened("rssr")
        assert kinds(found) == [("rod", "2-3 3-4", 1)]
        assert found.coordinates == ("1-2.angle", "1-4.angle")

    def test_another_joint_leaves_the_equations_that_it_has(self):
        assert kinds(opened("spatial_4r")) == [("R", "3-4", 5)]

    def test_what_is_driven_is_in_the_tree(self):
        found = opened("stewart_inverse")
        pose = {f"1-14.{name}" for name in ("x", "y", "z", "angle_x", "angle_y", "angle_z")}
        assert pose <= set(found.coordinates)
        assert len(found.coordinates) == len(found.equations) + 6

    @pytest.mark.parametrize("name", ["suspension", "rotor", "stewart_inverse", "micromanipulator", "rssr"])
    def test_every_body_hangs_once_with_parents_first(self, name):
        found = opened(name)
        rods = {cut.rod for cut in found.cuts if cut.rod >= 0}
        hung = {0}
        for link in found.links:
            assert link.parent in hung
            assert link.body not in hung
            hung.add(link.body)
        assert hung == set(range(found.mechanism.n_bodies)) - rods

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
        with pytest.raises(ValueError, match="wheel would be unconnected once 4-5 are cut") as error:
            opened("suspension", ["4-5"])
        assert "still have loops; cut 4-6 too" in str(error.value)

    def test_joints_that_there_are_not(self):
        with pytest.raises(ValueError, match=r"no joint '9-9'.*\n.*no joint '8-8'"):
            opened("suspension", ["9-9", "8-8"])


class TestWhatCannotBeCut:
    def test_joints_without_geometry_are_named(self):
        bare = mbssa.from_pairs(3, [(1, 2, "R", 1), (2, 3, "R", 0), (1, 3, "P", 0)], "planar")
        with pytest.raises(ValueError, match="1-2 R has no geometry, 2-3 R has no geometry, 1-3 P"):
            opened(bare)

    def test_a_body_that_only_a_gear_holds(self, tmp_path):
        path = tmp_path / "loose.toml"
        path.write_text(
            'format = 1\nspace = "planar"\nbodies = 3\n'
            '[[joint]]\nbodies = [1, 2]\ntype = "R"\npoint = [0, 0]\n'
            '[[joint]]\nbodies = [2, 3]\ntype = "EO"\npoints = [[0, 0], [0.3, 0]]\nratio = 0.5\n'
        )
        with pytest.raises(ValueError, match="body 3 would be unconnected but gears"):
            opened(mbssa.load(str(path)))
