"""The diagnosis: what is said of each kind of trouble, and that every proposal does what it says."""

import json

import numpy as np
import pytest

import groups
import mbssa
from mbssa.input_search.query import with_inputs
from mbssa.singularities.redundancy import examine_generic


def texts(report, kind):
    return [finding.text for finding in report.findings if finding.kind == kind]


def linkage(*joints, space="planar", origins=None):
    """A mechanism of joints (type, body, body, fields), bodies numbered from 1 = frame."""
    model = mbssa.Builder(space)
    for number in range(2, 1 + max(body for _, *ends, _ in joints for body in ends)):
        model.body(f"b{number}", origin=(origins or {}).get(number))
    for code, *ends, fields in joints:
        model.joint(code, *ends, **fields)
    return model.build()


def hinges(*points, driven):
    """A planar loop of revolute joints at these points, ``driven`` by number of the joint."""
    ends = [(k, k + 1) for k in range(1, len(points))] + [(1, len(points))]
    rows = zip(ends, points, strict=True)
    return linkage(
        *(("R", *pair, {"point": at, "driven": int(k == driven)}) for k, (pair, at) in enumerate(rows))
    )


def frames(first, second, **fields):
    return {"frames": [{"origin": first}, {"origin": second}], **fields}


def assert_proposals_help(report):
    assert report.proposals
    for proposal in report.proposals:
        assert mbssa.check(proposal.apply(report.structure.mechanism)).solvable


@pytest.fixture(scope="module")
def report():
    return mbssa.check(mbssa.load("micromanipulator"))


class TestMicromanipulator:
    """Audit of the paper, item 5: 119 of 120 for every geometry, 116 with real actuators."""

    def test_generic_rank(self, report):
        assert (report.generic.all.rank, report.generic.all.columns) == (119, 120)
        assert (report.generic.mobility, report.generic.constraints.redundant) == (6, 0)
        assert report.generic.dependent_drives == 1

    def test_numeric_rank(self, report):
        assert report.numeric.all.rank == 116
        assert report.numeric.all.free == report.numeric.dependent_drives == 4
        assert not report.numeric.dead_point
        assert report.numeric.elsewhere.all.rank == 116

    def test_group_21_has_rank_5_of_6_for_every_geometry(self, report):
        ranks = {
            group.bodies: pair
            for group, pair in zip(report.structure.groups, report.group_ranks, strict=True)
        }
        generic, numeric = ranks[(21,)]
        assert (generic.rank, generic.columns, numeric.rank) == (5, 6, 5)
        for bodies, (generic, numeric) in ranks.items():
            assert generic.full == (bodies != (21,))
            assert numeric.full == (bodies not in {(21,), (2, 3), (8, 9), (13, 14), (16, 17)})

    def test_passive_rotations_of_rods_and_the_remaining_mobility(self, report):
        spins = [finding.bodies for finding in report.findings if finding.kind == "spin"]
        assert spins == [(3,), (9,), (14,), (17,)]
        (mobility,) = texts(report, "mobility")
        assert mobility.endswith("4 of them passive rotations, 2 without these")

    def test_the_inputs_are_to_blame_and_other_inputs_work(self, report):
        (text,) = texts(report, "inputs")
        assert "4 of the 6 inputs depend on the rest" in text
        assert "nothing redundant, so only the choice of inputs is bad" in text
        assert not report.solvable
        assert report.proposals
        for proposal in report.proposals:
            assert proposal.kind == "inputs"
            assert mbssa.check(proposal.apply(report.structure.mechanism)).solvable

    def test_the_command_says_so(self, run_mbssa):
        result = run_mbssa("check", "micromanipulator")
        assert result.exit_code == 1
        assert "SG-4{21} 2S3D has rank 5 of 6 for every geometry" in result.stdout
        assert "119" in result.stdout
        assert "cannot be solved as given" in result.stdout
        warned = run_mbssa("decompose", "micromanipulator")
        assert warned.exit_code == 0
        assert "warning: SG-4{21} 2S3D has rank 5 of 6 for every geometry" in warned.stderr

    def test_without_geometry_the_generic_rank_decides(self):
        given = mbssa.load("micromanipulator")
        pairs = [(*joint.bodies, joint.type.code, list(joint.driven)) for joint in given.joints]
        report = mbssa.check(mbssa.from_pairs(21, pairs, "spatial"))
        assert not report.solvable
        assert report.numeric is None
        assert "generic ranks decide" in texts(report, "geometry")[0]
        one_for_one = [p for p in report.proposals if p.size == 2]
        assert one_for_one
        for proposal in one_for_one[:1]:
            changed = examine_generic(proposal.apply(report.structure.mechanism))
            assert changed.all.full


class TestPlanarLoopsInSpace:
    """Bond-graph seed, Tables 2 to 4: three over-constraints, and the isostatic R, U, S, P."""

    def test_three_redundant_units_and_the_joints_that_hold_them(self):
        for name in ("spatial_4r", "slider_crank"):
            report = mbssa.check(mbssa.load(name))
            assert report.solvable, name
            assert report.numeric.constraints.redundant == 3, name
            assert report.numeric.mobility == 1, name
            (finding,) = (f for f in report.findings if f.kind == "redundant")
            assert finding.joints == ("1-2", "2-3", "3-4", "1-4"), name
            assert finding.text.startswith("3 constraints are redundant at the given geometry"), name

    def test_groups_of_the_planar_linkage(self):
        for name in ("spatial_4r", "slider_crank"):
            structure = mbssa.decompose(mbssa.load(name))
            assert structure.determined, name
            assert [group.bodies for group in structure.groups] == [(2,), (3, 4)], name
            dropped = structure.treatment.dropped
            assert len(dropped) == 3, name
            assert {structure.mechanism.joint_ids[d.joint] for d in dropped} == {"3-4"}, name
            assert [part.kind for part in structure.treatment.parts] == ["planar"], name
            by_count = mbssa.decompose(mbssa.load(name), by_count=True)
            assert not by_count.determined, name
            assert by_count.treatment is None, name

    def test_every_proposal_is_isostatic_and_keeps_the_mobility(self):
        for name in ("spatial_4r", "slider_crank"):
            mechanism = mbssa.load(name)
            report = mbssa.check(mechanism)
            assert report.proposals, name
            assert ((1, "U"), (2, "S")) in {proposal.types for proposal in report.proposals}, name
            for proposal in report.proposals:
                changed = proposal.apply(mechanism)
                assert changed.mobility == 1, name
                generic = examine_generic(changed)
                assert generic.all.full, name
                assert mbssa.decompose(changed).determined, name


class TestIdleSpins:
    def test_rssr_counts_17_of_18_and_is_solved_with_the_rod_held(self):
        report = mbssa.check(mbssa.load("rssr"))
        assert report.solvable
        assert (report.numeric.all.rank, report.numeric.all.columns) == (17, 18)
        structure = report.structure
        assert [group.bodies for group in structure.groups] == [(2,), (3, 4)]
        assert structure.groups[1].type_name == "1R2S3D"
        (spin,) = structure.treatment.passive_rotations
        assert spin.bodies == (2,)
        ball_1, ball_2 = (structure.mechanism.joint(name).geometry.point for name in ("2-3", "3-4"))
        line = np.subtract(ball_2, ball_1)
        assert np.linalg.norm(np.cross(spin.direction, line)) < 1e-12
        assert np.linalg.norm(np.cross(np.subtract(spin.point, ball_1), line)) < 1e-12

    def test_six_sps_counts_72_of_78(self):
        report = mbssa.check(mbssa.load("six_sps"))
        assert report.solvable
        assert (report.numeric.all.rank, report.numeric.all.columns) == (72, 78)
        assert [spin.bodies for spin in report.structure.treatment.passive_rotations] == [
            (k, k + 1) for k in range(1, 12, 2)
        ]
        assert [len(group.bodies) for group in report.structure.groups] == [13]

    def test_a_leg_has_a_passive_rotation_whether_or_not_its_slide_is_driven(self):
        """The same platform placed by its pose: each leg is a group that turns about its own line."""
        pose = [f"1-14.{c}" for c in ("x", "y", "z", "angle_x", "angle_y", "angle_z")]
        report = mbssa.check(with_inputs(mbssa.load("six_sps"), pose, terminals=[14]))
        assert report.solvable
        assert [spin.bodies for spin in report.structure.treatment.passive_rotations] == [
            (k, k + 1) for k in range(1, 12, 2)
        ]
        assert report.structure.types == {"1F3D": 1, "1P2S3D": 6}

    def test_a_passive_rotation_does_not_replace_a_missing_input(self):
        """RSSR without its input: the rotation of the rod is passive, that of the crank is not."""
        mechanism = mbssa.load("rssr")
        pairs = [(*joint.bodies, joint.type.code, 0) for joint in mechanism.joints]
        report = mbssa.check(mbssa.from_pairs(4, pairs, "spatial"))
        assert not report.solvable
        assert {proposal.text for proposal in report.proposals} >= {"drive 1-2.angle", "drive 1-4.angle"}
        assert_proposals_help(report)

    def test_a_planar_mechanism_has_none(self):
        assert not texts(mbssa.check(mbssa.load("theo_jansen")), "spin")


SOUND = ("nine_bar", "rotor", "rotor_transformed", "stewart_inverse", "suspension", "theo_jansen")


def test_sound_models_have_full_rank_in_every_sense():
    for name in SOUND:
        report = mbssa.check(mbssa.load(name))
        assert report.solvable, name
        assert report.generic.all.full, name
        assert report.numeric.all.full, name
        assert all(generic.full and numeric.full for generic, numeric in report.group_ranks), name
        assert not [finding for finding in report.findings if finding.fatal], name
        # Block-triangular: a determined mechanism is regular exactly when its groups are.
        assert sum(numeric.rank for _, numeric in report.group_ranks) == report.numeric.all.rank, name


def test_an_undetermined_model_gets_every_single_input_that_would_do():
    four_bar = [(1, 2, "R", 0), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 0)]
    report = mbssa.check(mbssa.from_pairs(4, four_bar, "planar"))
    assert not report.solvable
    assert [proposal.text for proposal in report.proposals] == [
        f"drive {joint}.angle" for joint in ("1-2", "2-3", "3-4", "1-4")
    ]


def test_two_missing_inputs_are_proposed_together():
    five_bar = [(1, 2, "R", 0), (2, 3, "R", 0), (3, 4, "R", 0), (4, 5, "R", 0), (1, 5, "R", 0)]
    report = mbssa.check(mbssa.from_pairs(5, five_bar, "planar"))
    assert report.proposals[0].text == "drive 1-2.angle and 2-3.angle"
    assert len(report.proposals) == 10  # any two of the five angles
    assert_proposals_help(report)


def test_one_input_too_many_is_taken_back():
    pairs = [(1, 2, "R", 1), (2, 3, "R", 0), (3, 4, "R", 0), (1, 4, "R", 1)]
    report = mbssa.check(mbssa.from_pairs(4, pairs, "planar"))
    assert not report.solvable
    assert report.proposals[0].text == "no longer drive 1-4.angle"


def test_a_dead_point_is_no_redundancy():
    """A crank-rocker driven at the rocker, crank and coupler in line: only this pose is bad."""
    report = mbssa.check(hinges((0, 0), (1, 0), (4, 0), (4, -3), driven=3))
    assert not report.solvable
    assert report.numeric.dead_point
    assert report.numeric.constraints.redundant == 0
    assert "dead point" in texts(report, "inputs")[0]
    assert report.generic.all.full


def test_a_flat_parallelogram_is_a_singular_pose():
    report = mbssa.check(hinges((0, 0), (1, 0), (4, 0), (3, 0), driven=0))
    assert report.numeric.singular_pose
    assert not report.solvable
    assert "singular pose" in texts(report, "pose")[0]
    assert not texts(report, "redundant")


def test_a_reference_that_cannot_close_names_the_joint_and_the_gap():
    """A triangle of rods, 1 m and 1 m, over a base of 3 m."""
    report = mbssa.check(
        linkage(
            ("R", 1, 2, frames((0, 0), (0, 0))),
            ("R", 2, 3, frames((1, 0), (0, 0))),
            ("R", 1, 3, frames((3, 0), (1, 0))),
        )
    )
    assert not report.solvable
    (text,) = texts(report, "assembly")
    assert text.startswith("cannot be assembled: joint ")
    assert " m" in text


def test_an_inexact_reference_is_assembled():
    """Local frames whose bodies start 1 cm off: closed, and ranks taken there."""
    report = mbssa.check(
        linkage(
            ("R", 1, 2, frames((0, 0), (0, 0), driven=1)),
            ("R", 2, 3, frames((0.5, 0.8), (-0.5, 0.8))),
            ("R", 3, 4, frames((0.5, 0.9), (-0.5, 0.9))),
            ("R", 1, 4, frames((2, 0), (0, 0))),
            origins={2: (0.01, 0.0), 3: (1.0, 0.02), 4: (2.0, 0.0)},
        )
    )
    assert report.solvable
    (text,) = texts(report, "assembly")
    assert "corrected" in text
    assert "bodies 2 (b2), 3 (b3) by up to 0.02" in text  # what is driven keeps its value


def test_contacts_that_lift_off():
    cam = mbssa.from_pairs(3, [(1, 2, "R", 1), (1, 3, "P", 0), (2, 3, "L", 0)], "planar")
    report = mbssa.check(cam)
    (lost,) = report.contacts
    assert (lost.missing, [b + 1 for b in lost.parts[0].bodies]) == (1, [3])
    assert "2-3 L: 1 freedom too many, of 3" in str(report)


def test_rolling_needs_its_contact():
    wheel = [(1, 2, "RP", 0), (1, 2, "RD", 0)]
    alone = mbssa.check(mbssa.from_pairs(2, wheel[:1], "planar"))
    assert "add an RD" in texts(alone, "rolling")[0]
    assert not texts(mbssa.check(mbssa.from_pairs(2, wheel, "planar")), "rolling")


@pytest.mark.parametrize(("base", "sound"), [(0.03, True), (0.01, False)])
def test_undercut_cams_are_said(base, sound):
    """Of a flat face base + s + s'' must be positive; a rise of 10 mm in a quarter turn bends by 25 mm."""
    quarter = np.pi / 2
    law = [
        {"rise": 0.01, "over": quarter, "kind": "cycloidal"},
        {"dwell": quarter},
        {"return": 0.01, "over": quarter, "kind": "345"},
        {"dwell": quarter},
    ]
    cam = {"points": [(0, 0), (base, 0)], "axes": [(1, 0), (0, -1)]}
    cam["profile"] = {"law": law, "base": base, "follower": "flat"}
    report = mbssa.check(
        linkage(("R", 1, 2, {"driven": 1, "point": (0, 0)}), ("P", 1, 3, {"axis": (1, 0)}), ("L", 2, 3, cam))
    )
    assert report.solvable
    assert ("undercut" in " ".join(texts(report, "cam"))) != sound


def test_wheels_beside_their_bearings_are_said():
    def gears(centre):
        return linkage(
            ("R", 1, 2, {"driven": 1, "point": (0, 0)}),
            ("R", 1, 3, {"point": (3, 0)}),
            ("EO", 2, 3, {"points": [(centre, 0), (3, 0)], "ratio": 2}),
        )

    assert not texts(mbssa.check(gears(0.0)), "gear")
    (message,) = texts(mbssa.check(gears(0.5)), "gear")
    assert message == "2-3 EO: the centre of wheel 2 (b2) is not that of its bearing 1-2 R"


@pytest.mark.parametrize(("first", "message"), [((1, 0, 0), 0), ((0, 1, 0), 1)])
def test_bevel_wheels_turn_about_their_bearings(first, message):
    mechanism = linkage(
        ("R", 1, 2, {"driven": 1, "point": (0, 0, 0), "axis": (1, 0, 0)}),
        ("R", 1, 3, {"point": (0, 0, 0), "axis": (0, 0, 1)}),
        ("BEVEL", 2, 3, {"axes": [first, (0, 0, 1)], "ratio": 2}),
        space="spatial",
    )
    assert len(texts(mbssa.check(mechanism), "gear")) == message


@pytest.mark.parametrize(
    "joints",
    [
        (
            ("R", 1, 2, {"driven": 1, "point": (0, 0)}),
            ("R", 2, 3, {"point": (0.3, 0)}),
            ("R", 1, 4, {"driven": 1, "point": (0, 0)}),
            ("EPI", 4, 3, {"points": [(0, 0), (0.3, 0)], "ratio": 0.5}),
        ),
        (
            ("R", 1, 2, {"point": (0, 0)}),
            ("R", 1, 3, {"point": (0.3, 0)}),
            ("EO", 2, 3, {"points": [(0, 0), (0.3, 0)], "ratio": 0.5, "driven": ["angle_1"]}),
        ),
    ],
    ids=["two wheels on a driven carrier", "a driven gear"],
)
def test_gears_have_ranks_of_their_own(joints):
    report = mbssa.check(linkage(*joints))
    assert report.solvable
    assert report.numeric.all.full
    assert report.generic.all.full


def test_the_report_as_json_and_as_a_file(run_mbssa, tmp_path):
    result = run_mbssa("check", "spatial_4r", "--format", "json")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert data == json.loads(json.dumps(mbssa.check(mbssa.load("spatial_4r")).to_dict()))
    assert data["solvable"] is True
    assert data["numeric"]["undriven"]["redundant"] == 3
    assert len(data["numeric"]["undriven"]["singular_values"]) == 18
    path = tmp_path / "report.txt"
    assert run_mbssa("check", "spatial_4r", "--output", str(path)).stdout == ""
    assert path.read_text().rstrip() == str(mbssa.check(mbssa.load("spatial_4r")))
    assert run_mbssa("check", "rotor", "--format", "xml").exit_code == 2
    assert run_mbssa("check", "nowhere").exit_code == 2


def test_ranks_of_many_dyads_are_taken_group_by_group():
    rng = np.random.default_rng(3)
    n = 1_500
    i, j = [1], [2]
    for k in range(n):
        a, b = 3 + 2 * k, 4 + 2 * k
        p, q = rng.choice(a - 1, 2, replace=False) + 1
        i += [a, p, q]
        j += [b, a, b]
    driven = np.zeros(len(i), dtype=int)
    driven[0] = 1
    mechanism = mbssa.from_pairs(2 + 2 * n, (np.array(i), np.array(j), "R", driven), "planar")
    report = mbssa.check(mechanism)
    assert report.generic is None
    assert report.solvable
    assert len(report.group_ranks) == n + 1
    assert all(generic.full for generic, _ in report.group_ranks)


class TestWhatOnlyLooksLikeASpin:
    """An undriven body is no rod with a passive rotation."""

    def test_a_last_body_on_a_hinge(self):
        for n_bodies, pairs in [
            (2, [(1, 2, "R", 0)]),
            (4, [(1, 2, "R", 1), (2, 3, "R", 1), (3, 4, "R", 0)]),
            (2, [(1, 2, "C", ["slide"])]),
            (2, [(1, 2, "H", 0)]),
            (3, [(1, 2, "R", 1), (2, 3, "C", ["slide"])]),
        ]:
            report = mbssa.check(mbssa.from_pairs(n_bodies, pairs, "spatial"))
            assert not report.solvable, pairs
            assert not report.structure.determined, pairs
            assert not texts(report, "spin"), pairs
            assert_proposals_help(report)


class TestStructuresThatCannotMove:
    def test_a_triangle_of_bars_with_an_input(self):
        report = mbssa.check(mbssa.from_pairs(3, [(1, 2, "R", 1), (2, 3, "R", 0), (1, 3, "R", 0)], "planar"))
        assert not report.solvable
        (text,) = texts(report, "inputs")
        assert text.startswith("1 input for a mechanism that has no motion at all")
        assert all(proposal.kind == "joints" for proposal in report.proposals)
        assert_proposals_help(report)

    def test_two_hinges_between_two_bodies(self):
        """Rigid and over-constrained: no mechanism, whatever is left out."""
        structure = mbssa.decompose(mbssa.from_pairs(2, [(1, 2, "R", 0), (1, 2, "R", 0)], "planar"))
        assert not structure.determined
        assert structure.treatment is None


def test_a_chain_without_its_inputs_is_answered_at_once():
    """The commonest slip: no rank is taken where the plane has no surplus."""
    n = 5_000
    chain = (np.arange(1, n), np.arange(2, n + 1), "R", 0)
    report = mbssa.decompose(mbssa.from_pairs(n, chain, "planar"))
    assert [(part.kind, part.units) for part in report.parts] == [("under", n - 1)]


def test_a_large_group_is_not_called_singular_for_bad_luck():
    """One draw of random geometry leaves this group of 277 bodies a margin below the tolerance."""
    report = mbssa.check(mbssa.load("assur:III-115B"))
    assert report.solvable


def test_driven_types_without_equations_keep_their_drives():
    cam = mbssa.from_pairs(3, [(1, 2, "R", 0), (1, 3, "P", 0), (2, 3, "L", 1)], "planar")
    report = mbssa.check(cam)
    assert report.generic.mobility == 1
    assert report.solvable
    undriven = mbssa.check(mbssa.from_pairs(3, [(1, 2, "R", 0), (1, 3, "P", 0), (2, 3, "L", 0)], "planar"))
    assert {p.text for p in undriven.proposals} >= {"drive 1-2.angle", "drive 2-3.contact"}


@pytest.mark.parametrize(("digits", "off"), [(16, 0.0), (7, 0.0), (16, 1e-9)])
def test_dropped_equations_hold_to_the_precision_at_which_they_count_as_dependent(digits, off):
    """Three equal cranks hold a plate, which is carried along a circle and does not turn."""
    tip, centres = (
        np.array([np.cos(0.7), np.sin(0.7)]),
        [(0.0, 0.0), (1.2345678901, 0.0), (0.4, 0.8765432109)],
    )
    m = mbssa.Builder("planar").bodies("plate", "c0", "c1", "c2")
    for k, centre in enumerate(np.array(centres)):
        pin = centre + tip + (off * (k == 2), 0.0)
        m.revolute("frame", f"c{k}", point=tuple(centre.round(digits)), driven=k == 0)
        m.revolute(f"c{k}", "plate", point=tuple(pin.round(digits)))
    mechanism = m.motion({"1-3.angle": {"law": "speed", "rate": 2 * np.pi}}, steps=121).build()
    trajectory = groups.build(mbssa.decompose(mechanism)).solve()
    assert trajectory.ok, trajectory.faults()
    assert np.abs(trajectory.body("plate").orientation).max() < (1e-6 if digits == 7 else 1e-8)


def test_precision_reaches_every_rank():
    """Axes written to four decimals are parallel at that precision."""
    rows = [((1, 2), (0, 0, 0)), ((2, 3), (0.18, 0.24, 0)), ((3, 4), (0.9, 0.54, 0)), ((1, 4), (0.9, 0, 0))]
    mechanism = linkage(
        *(
            ("R", *ends, {"point": at, "axis": (0.00012345 * (k == 1), 0, 1), "driven": int(k == 0)})
            for k, (ends, at) in enumerate(rows)
        ),
        space="spatial",
    )
    assert not mbssa.check(mechanism, precision=1e-9).solvable
    report = mbssa.check(mechanism, precision=1e-4)
    assert report.solvable
    assert report.numeric.mobility == 1


def test_a_rod_between_frames_has_the_length_it_is_drawn_with():
    report = mbssa.check(
        linkage(
            ("R", 1, 2, {"driven": 1, "point": (0, 0)}),
            ("R", 1, 3, {"point": (1.5, 0)}),
            ("ROD", 2, 3, frames((0, 0.8), (0, 0.8))),
            origins={3: (1.5, 0)},
        )
    )
    assert report.solvable
    assert not texts(report, "assembly")
    assert report.numeric.frames.parameters["length"][2] == pytest.approx(1.5)


def test_a_changed_joint_keeps_the_geometry_that_its_new_type_reads():
    """R to C and S needs nothing new, so the isostatic mechanism can be solved at once."""
    mechanism = mbssa.load("spatial_4r")
    (proposal,) = (p for p in mbssa.check(mechanism).proposals if p.types == ((1, "C"), (2, "S")))
    changed = proposal.apply(mechanism)
    assert changed.has_geometry
    trajectory = groups.build(mbssa.decompose(changed)).solve(groups.constant_speed(changed, steps=51))
    before = groups.build(mbssa.decompose(mechanism)).solve(groups.constant_speed(mechanism, steps=51))
    assert trajectory.ok
    assert np.abs(trajectory.position - before.position).max() < 1e-10


def test_a_changed_joint_has_its_released_direction_as_the_axis_that_it_lacked():
    """The second pin of a U stands at right angles to the first, and every proposal can be posed."""
    mechanism = mbssa.load("spatial_4r")
    proposals = mbssa.check(mechanism).proposals
    for proposal in proposals:
        changed = proposal.apply(mechanism)
        assert changed.has_geometry
        for joint, _ in proposal.directions:
            first, second = changed.joint_geometry[joint].axes
            assert np.dot(first, second) == pytest.approx(0.0, abs=1e-12)
    changed = next(each for each in proposals if each.directions).apply(mechanism)
    motion = groups.constant_speed(changed, steps=3)
    assert groups.build(mbssa.decompose(changed)).solve(motion, compiled=False).ok


def test_a_shaky_reference_has_proposals_that_hold_there():
    """A slider-crank whose rod cannot turn on the slider, with the crank upright."""
    report = mbssa.check(
        linkage(
            ("R", 1, 2, {"point": (0, 0), "driven": 1}),
            ("R", 2, 3, {"point": (0, 0.4)}),
            ("P", 1, 3, {"axis": (1, 0), "point": (1, 0)}),
        )
    )
    assert report.numeric.stuck
    assert ((2, "SLOT"),) in {proposal.types for proposal in report.proposals}
    assert_proposals_help(report)
