"""The session: every edit can be undone byte for byte, and table, matrix, text and drawing agree."""

import base64
import dataclasses
import json
import math
import os
import re
import tomllib
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

import groups
import mbssa
from groups.motion.laws import usual_motion
from groups.pictures.drawing import resting
from groups.pictures.page import page_text
from mbssa.bounds import MAX_BYTES
from mbssa.io.adjacency import matrices
from mbssa_studio import Session
from mbssa_studio.document import EMPTY
from mbssa_studio.link import MARK, link_of, text_of
from mbssa_studio.pictures import PICTURES
from mbssa_studio.posing import Posing
from mbssa_studio.session import EDITS, builtin_text
from mbssa_studio.view import view
from mbssa_studio.work import work


def four_bar():
    session = Session()
    for points in ([[0, 0], [0, 40]], [[0, 40], [100, 80]], [[100, 80], [120, 0]]):
        session.edit("add_link", points=points)
    for point in ([0, 0], [120, 0]):
        session.edit("add_ground", point=point)
    index = next(joint["index"] for joint in view(session)["joints"] if joint["bodies"] == [1, 2])
    session.edit("set_field", index=index, field="driven", value=True)
    return session


PLACES = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda at: [10.0 * at[0], 10.0 * at[1]])
NUMBERS = st.integers(1, 5)
EDIT = st.one_of(
    st.tuples(
        st.just("add_link"), st.fixed_dictionaries({"points": st.lists(PLACES, min_size=2, max_size=3)})
    ),
    st.tuples(st.just("add_ground"), st.fixed_dictionaries({"point": PLACES})),
    st.tuples(st.just("add_slider"), st.fixed_dictionaries({"point": PLACES, "axis": st.just([1.0, 0.0])})),
    st.tuples(st.just("move_point"), st.fixed_dictionaries({"before": PLACES, "after": PLACES})),
    st.tuples(st.just("delete_body"), st.fixed_dictionaries({"number": NUMBERS})),
    st.tuples(st.just("delete_joint"), st.fixed_dictionaries({"index": st.integers(0, 4)})),
    st.tuples(
        st.just("set_field"),
        st.fixed_dictionaries(
            {
                "index": st.integers(0, 4),
                "field": st.just("driven"),
                "value": st.sampled_from([True, None, 7]),
            }
        ),
    ),
    st.tuples(
        st.just("set_cell"),
        st.fixed_dictionaries(
            {"i": NUMBERS, "j": NUMBERS, "codes": st.sampled_from(["R", "-", "P", "R+P", "Q"])}
        ),
    ),
    st.tuples(
        st.just("add_point"),
        st.fixed_dictionaries({"body": NUMBERS, "name": st.sampled_from(["P", "A"]), "point": PLACES}),
    ),
)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["", "planar_four_bar", "theo_jansen", "rotor"]), st.lists(EDIT, max_size=8))
def test_every_edit_undone_gives_the_text_back_and_all_views_agree(model, edits):
    session = Session()
    if model:
        session.open_builtin(model)
        session.done.clear()
    texts = [session.state.text]
    for name, arguments in edits:
        try:
            session.edit(name, **arguments)
        except mbssa.ModelError:
            assert session.state.text == texts[-1]
            continue
        if session.state.text != texts[-1]:
            texts.append(session.state.text)
        agree(session)
    for text in reversed(texts):
        assert session.state.text == text
        session.undo()
    for text in texts[1:]:
        session.redo()
        assert session.state.text == text


def agree(session):
    """Table, matrix and drawing say what the text says, and what the mechanism says where there is one."""
    data = view(session)
    tables = tomllib.loads(session.state.text)
    assert [joint["type"] for joint in data["joints"]] == [joint["type"] for joint in tables.get("joint", [])]
    mechanism = session.state.mechanism
    if mechanism is None:
        assert data["faults"]
        return
    assert len(data["bodies"]) == mechanism.n_bodies == len(data["matrix"])
    assert [body["name"] for body in data["bodies"]] == [body.name for body in mechanism.bodies]
    if not mechanism.multiple_joints:
        assert [joint["bodies"] for joint in data["joints"]] == [
            [body + 1 for body in mechanism.joint_bodies(j)] for j in range(mechanism.n_joints)
        ]
        cells = [[sorted(cell.split("+")) for cell in row] for row in data["matrix"]]
        assert cells == [[sorted(cell.split("+")) for cell in row] for row in matrices(mechanism).cells]


def test_a_four_bar_is_drawn():
    structure = four_bar().state.structure
    assert [str(group) for group in structure.groups] == ["SG-1{2}", "SG-2{3, 4}"]


def test_a_link_on_a_pin_shares_it_and_a_ground_too():
    session = four_bar()
    session.edit("add_link", points=[[100, 80], [200, 100]])
    session.edit("add_ground", point=[200, 100])
    (shared,) = session.mechanism().multiple_joints
    assert shared.bodies == (2, 3, 4)
    session.edit("add_ground", point=[100, 80])
    assert session.mechanism().multiple_joints[0].bodies == (0, 2, 3, 4)


@pytest.mark.parametrize(
    ("edit", "arguments", "bodies"),
    [
        ("add_link", {"points": [[50, 20], [50, 60]]}, [2, 4]),
        ("add_ground", {"point": [50, 20]}, [1, 2]),
        ("add_slider", {"point": [50, 20], "axis": [1, 0]}, [1, 2]),
    ],
)
def test_what_is_laid_on_a_link_is_joined_to_it(edit, arguments, bodies):
    session = Session()
    session.edit("add_link", points=[[0, 0], [100, 40]])
    session.edit("add_link", points=[[0, 50], [100, 60]])
    session.edit(edit, **arguments)
    (joint,) = view(session)["joints"]
    assert joint["bodies"] == bodies


@pytest.mark.parametrize(("point", "axis"), [([50, 20], [0, 0]), ([50, 21], [1, 0])])
def test_a_slider_without_a_link_or_a_guide_is_refused(point, axis):
    session = Session()
    session.edit("add_link", points=[[0, 0], [100, 40]])
    with refused("value at slider"):
        session.edit("add_slider", point=point, axis=axis)


def test_a_link_laid_on_a_ternary_is_pinned_and_one_beside_it_is_not():
    session = Session()
    session.edit("add_link", points=[[0, 0], [100, 0], [50, 60]])
    session.edit("add_link", points=[[50, 20], [50, 100]])
    session.edit("add_link", points=[[100, 60], [100, 0.001]])
    session.edit("add_link", points=[[-20, 0], [-20, 40]])
    assert [joint["bodies"] for joint in view(session)["joints"]] == [[2, 3]]


def test_a_slider_at_the_end_of_a_rod_is_a_pin_in_a_guide():
    session = Session()
    for points in ([[0, 0], [0, 40]], [[0, 40], [100, 0]]):
        session.edit("add_link", points=points)
    session.edit("add_ground", point=[0, 0])
    session.edit("set_field", index=1, field="driven", value=True)
    session.edit("add_slider", point=[100, 0], axis=[40, 0])
    assert view(session)["joints"][-1]["type"] == "SLOT"
    # Closed form of the slider-crank: crank 40 at 90° + 0.1, rod as long as it was drawn.
    turn, rod = math.pi / 2 + 0.1, math.hypot(100, 40)
    reached = 40 * math.cos(turn) + math.sqrt(rod**2 - (40 * math.sin(turn)) ** 2)
    assert place(posed(session)[2], 100, 0) == pytest.approx([reached, 0.0], abs=1e-6)


@pytest.mark.parametrize("joined", [False, True])
def test_a_link_along_its_guide_slides_without_turning(joined):
    session = Session()
    session.edit("add_link", points=[[100, 0], [120, 0]])
    if joined:
        session.edit("add_link", points=[[0, 40], [100, 0]])
    for axis in ([40, 0], *([] if joined else [[0, 40]])):  # a free link slides in any direction
        session.edit("add_slider", point=[100 if joined else 120, 0], axis=axis)
        joint = view(session)["joints"][-1]
        assert (joint["type"], joint["bodies"]) == ("P", [1, 2])
        session.undo()


def test_a_rod_that_cannot_turn_on_its_slider_has_a_proposal():
    session = Session()
    for points in ([[0, 0], [0, 40]], [[0, 40], [100, 0]]):
        session.edit("add_link", points=points)
    session.edit("add_ground", point=[0, 0])
    session.edit("add_joint", bodies=[1, 3], code="P", point=[100, 0], axis=[40, 0])
    session.edit("set_field", index=1, field="driven", value=True)
    proposals = mbssa.check(session.mechanism()).proposals
    (freed,) = (each for each in proposals if each.types == ((2, "SLOT"),))
    session.changed_to(freed.apply(session.mechanism()))
    assert view(session)["joints"][2]["axis"] == [40.0, 0.0]
    assert posed(session)[1][2] == pytest.approx(0.1)


def test_comments_stay():
    session = Session()
    session.open_builtin("theo_jansen")
    session.edit("move_point", before=[15.0, 0.0], after=[16.0, 0.0])
    assert session.state.text.count("# crank pin P") == 2
    assert session.state.text.count("point = [16.0, 0.0]") == 2


def test_a_wrong_cell_is_marked_and_nothing_else_is_lost():
    session = four_bar()
    session.edit("set_cell", i=2, j=3, codes="Q")
    (fault,) = view(session)["faults"]
    assert fault["field"] == "type"
    assert view(session)["joints"][fault["joint"]]["type"] == "Q"
    session.edit("set_cell", i=2, j=3, codes="R")
    assert session.state.structure.determined


def test_a_text_that_is_no_toml_is_kept_and_edits_wait_for_it():
    session = four_bar()
    broken = session.state.text + "\nspace = "
    session.set_text(broken)
    assert "Invalid value" in view(session)["faults"][0]["what"]
    with pytest.raises(mbssa.ModelError):
        session.edit("add_link", points=[[0, 0], [1, 1]])
    assert session.state.text == broken


def test_a_proposal_is_applied_to_the_text():
    session = four_bar()
    driven = next(joint["index"] for joint in view(session)["joints"] if joint["driven"])
    session.edit("set_field", index=driven, field="driven", value=None)
    proposal = mbssa.check(session.mechanism()).proposals[0]
    session.changed_to(proposal.apply(session.mechanism()))
    assert mbssa.check(session.mechanism()).solvable
    assert 'name = "link2"' in session.state.text


def test_a_proposal_of_other_joints_is_applied():
    session = Session()
    session.open_builtin("spatial_4r")
    proposal = next(p for p in mbssa.check(session.mechanism()).proposals if p.kind == "joints")
    wanted = proposal.apply(session.mechanism())
    session.changed_to(wanted)
    assert (session.mechanism().joint_type == wanted.joint_type).all()


def braced():
    """A four-bar with a link from the crank's pin, which two links share, to the far pivot."""
    session = four_bar()
    session.edit("add_link", points=[[0, 40], [120, 0]])
    return session


def posed(session, step=0.1):
    """Poses a step of the first input on; the answer of a mechanism that can be posed."""
    posing = Posing(session.state)
    name, value = next(iter(posing.inputs.items()))
    return posing.pose({name: value + step})["poses"]


def test_a_proposal_of_a_slot_keeps_the_text_and_can_be_posed():
    proposals = mbssa.check(braced().mechanism()).proposals
    assert [each.text.split()[1] for each in proposals] == ["2-5", "1-5"]
    for proposal in proposals:
        session = braced()
        session.changed_to(proposal.apply(session.mechanism()))
        assert not session.note
        assert session.state.text.startswith(EMPTY)
        assert session.state.tables["body"] == braced().state.tables["body"]
        (slot,) = (joint for joint in session.state.tables["joint"] if joint["type"] == "SLOT")
        link = np.array([120.0, -40.0])  # a link with two pins takes a force along itself
        assert slot["axis"] == pytest.approx(link / np.linalg.norm(link))
        first, crank = posed(session, 0.0), posed(session)[1]
        assert np.abs(first).max() < 1e-9
        assert crank[2] == pytest.approx(0.1)


def test_a_coordinate_of_a_shared_pin_is_driven_in_the_text():
    session = four_bar()
    session.edit("add_link", points=[[100, 80], [200, 100]])
    session.edit("add_slider", point=[200, 100], axis=[1.0, 0.0])
    text = session.state.text
    for inputs in (["1-2.angle", "3-5.angle"], ["1-2.angle", "3-4.angle"]):
        session.set_text(text)
        session.changed_to(mbssa.with_inputs(session.mechanism(), inputs))
        (shared,) = (joint for joint in session.state.tables["joint"] if len(joint["bodies"]) == 3)
        pair = [f"link{number}" for number in inputs[1].partition(".")[0].split("-")]
        assert shared["driven_pairs"] == [pair]
        assert not session.note


def test_a_motion_that_no_longer_fits_is_deleted_and_said():
    session = Session()
    session.open_builtin("planar_four_bar")
    session.changed_to(mbssa.with_inputs(session.mechanism(), "1-4.angle"))
    assert session.mechanism().motion is None
    assert "motion" in session.note


def test_poses_are_those_of_the_solution():
    session = four_bar()
    posing = Posing(session.state)
    found = posing.pose({"1-2.angle": posing.inputs["1-2.angle"] + 0.3})
    for joint in view(session)["joints"]:  # both bodies have the pin at one place
        x, y = joint["point"]
        at = [place(found["poses"][body - 1], x, y) for body in joint["bodies"]]
        assert at[0] == pytest.approx(at[1], abs=1e-6)
    assert found["poses"][1][2] == pytest.approx(0.3)


def place(pose, x, y):
    import math

    dx, dy, angle = pose
    return [math.cos(angle) * x - math.sin(angle) * y + dx, math.sin(angle) * x + math.cos(angle) * y + dy]


def slider_crank_with_a_gear():
    session = Session()
    for points in ([[0, 0], [0, 40]], [[0, 40], [100, 10]], [[-60, 0], [-60, 20]]):
        session.edit("add_link", points=points)
    for point in ([0, 0], [-60, 0]):
        session.edit("add_ground", point=point)
    session.edit("set_field", index=1, field="driven", value=True)
    session.edit("add_slider", point=[100, 10], axis=[4, 1])
    session.edit("add_gear", bodies=[2, 4], centres=[[0, 0], [-60, 0]], ratio=2.0)
    return session


def three_cranks():
    """A parallelogram with a redundant crank, which moves only as long as its points are exact."""
    session = Session()
    session.edit("add_link", points=[[0, 40], [50, 40], [100, 40]])
    for x in (0, 50, 100):
        session.edit("add_link", points=[[x, 0], [x, 40]])
        session.edit("add_ground", point=[x, 0])
    session.edit("set_field", index=1, field="driven", value=True)
    return session


@pytest.mark.parametrize("make", [four_bar, slider_crank_with_a_gear, three_cranks])
def test_a_pose_becomes_the_reference(make):
    session = make()
    before = view(session)["bodies"]
    first, both = posed(session, 0.4), posed(session, 0.7)
    pivots = [joint["point"] for joint in view(session)["joints"] if joint["bodies"][0] == 1]
    session.edit("take_pose", poses=first)
    assert session.state.structure.determined
    assert [joint["point"] for joint in view(session)["joints"] if joint["bodies"][0] == 1][:2] == pivots[:2]
    further = posed(session, 0.3)
    for body, earlier in zip(view(session)["bodies"], before, strict=True):
        k = body["number"] - 1
        for name, at in body["points"].items():
            assert at == pytest.approx(place(first[k], *earlier["points"][name]), abs=1e-9)
            assert place(further[k], *at) == pytest.approx(place(both[k], *earlier["points"][name]), abs=1e-6)


def test_a_reference_that_more_is_measured_from_stays():
    session = Session()
    session.open_builtin("planar_four_bar")
    assert "motion" in session.state.tables
    with refused("value at reference"):
        session.edit("take_pose", poses=[[0, 0, 0]] * 4)


def test_out_of_reach_is_said():
    session = Session()
    session.set_text(four_bar().state.text.replace("40.0]", "90.0]"))  # a crank too long to turn round
    posing = Posing(session.state)
    turned = [posing.pose({"1-2.angle": posing.inputs["1-2.angle"] + 0.5 * k}) for k in range(13)]
    assert "poses" in turned[0]
    assert any("failed" in answer for answer in turned)
    with refused("unknown at 7-8.angle"):
        posing.pose({"7-8.angle": 0.0})
    with pytest.raises(mbssa.ModelError, match="not finite"):
        posing.pose({"1-2.angle": float("nan")})


def test_the_player_is_one_page():
    assert "</html>" in Posing(four_bar().state).page()


def test_a_crank_that_cannot_turn_round_is_played_as_far_as_it_goes():
    session = Session()
    session.set_text(four_bar().state.text.replace("40.0]", "90.0]"))
    posing = Posing(session.state)
    reach, value = posing.reach("1-2.angle"), posing.inputs["1-2.angle"]
    low, high = posing._range()
    assert value + reach["low"] < low < value < high < value + reach["high"]
    swing = dataclasses.replace(posing.mechanism, motion=usual_motion(posing.mechanism, (low, high)))
    motion = groups.default_motion(swing)
    assert np.ptp(motion.value) == pytest.approx(high - low, rel=1e-3)  # of samples
    assert posing.model.solve(motion).ok
    assert Posing(four_bar().state)._range() is None


def test_a_still_page_has_one_instant():
    session = Session()
    session.open_builtin("stewart")
    posing = Posing(session.state)
    motion = json.loads(
        re.search(r'id="motion"[^>]*>(.*?)</script>', page_text(resting(posing.mechanism), points=()))[1]
    )
    assert len(motion["time"]) == 1
    # What the sliders send has a pose for each of its bodies, in their order: one slide, one strut longer.
    name = next(iter(posing.inputs))
    placed = np.array(posing.pose({name: posing.inputs[name] + 0.05})["placed"])
    assert placed.shape == (len(motion["bodies"]), 7)
    rest = posing.rest
    strut = next(joint for joint in rest.mechanism.joints if joint.id == name.rpartition(".")[0])
    a, b = (body - 1 for body in strut.bodies)
    longer = [np.linalg.norm(p[b, :3] - p[a, :3]) for p in (placed, np.c_[rest.position[0]])]
    assert longer[0] - longer[1] == pytest.approx(0.05, abs=1e-9)


def test_a_mode_is_another_assembly():
    posing, poses = Posing(four_bar().state), []
    for number in (1, 2):
        posing.modes = {2: number}
        poses.append(np.array(posing.pose({})["poses"]))
    moved = [not np.allclose(each, 0.0) for each in poses]
    assert sorted(moved) == [False, True]  # one of the two is the reference
    # Frame and crank stay; the pin between coupler and rocker is mirrored about the line of their other pins.
    other = poses[moved.index(True)]
    assert np.allclose(other[:2], 0.0)
    x, y, turn = other[2]
    joint = [100 * np.cos(turn) - 80 * np.sin(turn) + x, 100 * np.sin(turn) + 80 * np.cos(turn) + y]
    along = np.array([120.0, -40.0]) / np.hypot(120.0, 40.0)
    before = np.array([100.0, 40.0])
    assert joint == pytest.approx(
        np.array([0.0, 40.0]) + 2 * (before @ along) * along - before, abs=1e-6
    )  # poses have nine digits


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "gantt" else name for name in PICTURES]
)
def test_every_picture_is_drawn(name):
    text = builtin_text("nine_bar") if name == "workspace" else four_bar().state.text
    found = work("picture", text, name=name, ending=".svg")
    assert found["data"].startswith(b"<?xml")


def test_what_cannot_be_drawn_says_why():
    undriven = four_bar()
    undriven.edit("set_field", index=2, field="driven", value=None)
    assert "not determined" in work("picture", undriven.state.text, name="paths", ending=".svg")["error"]
    assert "the pictures are" in work("picture", four_bar().state.text, name="x", ending=".svg")["error"]


def test_the_motion_is_a_table():
    found = work("motion", four_bar().state.text, ending=".csv")
    assert found["data"].startswith(b"time [s],")


def test_an_input_goes_as_far_as_its_groups_are_solved():
    posing = Posing(four_bar().state)
    (name,) = posing.inputs
    found = posing.reach(name)
    for side, end in ((-1, found["low"]), (1, found["high"])):
        step = side * np.pi / 180
        assert "poses" in posing.pose({name: posing.inputs[name] + end})
        if abs(end) < np.pi:
            assert "failed" in posing.pose({name: posing.inputs[name] + end + step})
    # The links are 40, 107.7, 82.5 and 120 long: the shortest and the longest add up to less than the others.
    assert list(found.values()) == pytest.approx([-np.pi, np.pi, -np.pi, np.pi])
    shorter = four_bar()
    shorter.edit("move_point", before=[100, 80], after=[60, 30])
    posing = Posing(shorter.state)
    assert posing.reach(name)["high"] - posing.reach(name)["low"] < 2 * np.pi


def test_an_input_goes_as_far_as_joints_keep_their_limits():
    free, limited = four_bar(), four_bar()
    limited.set_text(
        free.state.text.replace("driven = true", "driven = true\nlimits = {angle = [-20.0, 50.0]}")
    )
    found = Posing(limited.state).reach("1-2.angle")
    assert (found["low"], found["high"]) == pytest.approx((-np.pi, np.pi))
    step = np.pi / 180
    assert -20 * step <= found["least"] < -18.9 * step
    assert 48.9 * step < found["most"] <= 50 * step


@pytest.mark.parametrize("swinging", [False, True])
def test_a_cam_lifts_its_roller_by_its_law(swinging):
    session = Session()
    session.edit("add_link", points=[[0, 0], [0, 20]])
    session.edit("add_ground", point=[0, 0])
    session.edit("set_field", index=0, field="driven", value=True)
    end = [-100, 0] if swinging else [14, 120]
    session.edit("add_link", points=[[14, 48], end])
    with refused("value at cam"):
        session.edit("add_cam", bodies=[2, 3], centres=[[0, 0], [14, 48]], rise=5, radius=10)
    if swinging:
        session.edit("add_ground", point=end)
    else:
        session.edit("add_slider", point=end, axis=[0, -2])
    session.edit("add_cam", bodies=[2, 3], centres=[[0, 0], [14, 48]], rise=5, radius=10)
    posing = Posing(session.state)
    (name,) = posing.inputs
    start = posing.inputs[name]
    top, back = (posing.pose({name: start + turn})["poses"][2] for turn in np.radians([150, 330]))
    lifted = abs(np.degrees(top[2])) if swinging else top[1]
    assert lifted == pytest.approx(5.0)
    assert back == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)
    profile, roller = view(session)["outlines"]
    assert min(math.hypot(*at) for at in profile["points"]) == pytest.approx(40.0)
    assert np.mean(roller["points"][:-1], axis=0) == pytest.approx([14.0, 48.0])
    for wrong in ({"rise": 0.0, "radius": 10.0}, {"rise": 5.0, "radius": 60.0}):
        with refused("value at cam"):
            session.edit("add_cam", bodies=[2, 3], centres=[[0, 0], [14, 48]], **wrong)


def test_two_gears_mesh():
    session = Session()
    for x in (0, 60):
        session.edit("add_link", points=[[x, 0], [x, 20]])
        session.edit("add_ground", point=[x, 0])
    session.edit("add_gear", bodies=[2, 3], centres=[[0, 0], [60, 0]], ratio=2.0)
    session.edit("set_field", index=0, field="driven", value=True)
    posing = Posing(session.state)
    (name,) = posing.inputs
    turned = posing.pose({name: posing.inputs[name] + 0.4})["poses"]
    assert (turned[1][2], turned[2][2]) == pytest.approx((0.4, -0.2))
    session.edit("move_point", before=[60, 0], after=[90, 0])
    assert view(session)["joints"][2]["points"] == [[0.0, 0.0], [90.0, 0.0]]
    with refused("value at gear"):
        session.edit("add_gear", bodies=[1, 2], centres=[[0, 0], [60, 0]], ratio=1.0)


def test_a_link_carries_the_model():
    text = four_bar().state.text
    assert text_of(f"http://127.0.0.1:1/{link_of(text)}") == text
    bomb = MARK + base64.urlsafe_b64encode(zlib.compress(b"#" * (MAX_BYTES + 1))).decode()
    for broken in (link_of(text)[:-8], MARK, MARK + "%%%", bomb):
        with refused("syntax"):
            text_of(broken)
    with refused("size"):
        link_of("".join(map(str, range(10_000))))


def test_functions_are_refused_without_trust():
    text = EMPTY + '[[body]]\n[[joint]]\nbodies = [1, 2]\ntype = "USER"\nfunction = "evil.py:run"\n'
    assert Session(text).state.faults[0].code == "function"
    assert not any(fault.code == "function" for fault in Session(text, trust=True).state.faults)


def test_unknown_edits_and_arguments_are_refused():
    for name, arguments in [("explode", {}), ("add_link", {"x": 1}), ("delete_body", {"number": 1})]:
        with pytest.raises(mbssa.ModelError):
            Session().edit(name, **arguments)
    assert all(EDITS[name].__doc__ for name in EDITS)


def test_autosave_has_the_last_text(tmp_path):
    session = Session(autosave=tmp_path / "a")
    session.edit("add_link", points=[[0, 0], [0, 40]])
    drawn = session.state.text
    assert (tmp_path / "a" / "model.toml").read_text() == drawn
    # Another drawing has another file, and the last one stays among the recent ones.
    session.new()
    session.edit("add_link", points=[[0, 0], [0, 50]])
    assert session.recent() == ["model-2", "model"]
    session.open_recent("model")
    assert session.state.text == drawn
    with refused("unknown"):
        session.open_recent("../model")
    session.set_text(drawn, "../../x")
    assert {path.name for path in tmp_path.rglob("*.toml")} == {"model.toml", "model-2.toml", "______x.toml"}


def test_the_oldest_of_many_models_goes(tmp_path):
    session = Session(autosave=tmp_path)
    for k in range(30):
        session.set_text(EMPTY, f"m{k}")
        os.utime(tmp_path / f"m{k}.toml", (k, k))
    assert len(session.recent()) == 24
    assert session.recent()[0] == "m29"
