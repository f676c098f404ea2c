"""Two joints without names between the same bodies: inside the program a joint is known by its index."""

import dataclasses

import numpy as np
import pytest

import groups
import mbssa
from groups.partitioning import sweep_partition
from groups.pictures.page import page_text

FORCES = """
force = [
  { type = "coordinate", coordinate = "1-2#1.angle", stiffness = 30.0, damping = 1.0, rest = 0.1 },
  { type = "friction", coordinate = "1-2#1.angle", friction = 0.2, threshold = 0.1 },
  { type = "stop", coordinate = "1-2#1.angle", stiffness = 500.0, damping = 2.0 },
]
"""

HINGE = """  { bodies = ["frame", "door"], type = "R", point = [0, 0, 0.3], axis = [0, 0, 1], \
driven = true, limits = { angle = [-0.4, 0.3] } },
"""
SECOND = """  { bodies = ["frame", "door"], type = "R", point = [0, 0, 1.7], axis = [0, 0, 1] },
"""

#: A door on two hinges in one line, which its weight (along y) opens.
DOOR = """
format = 1
space = "spatial"
gravity = [0.0, 9.81, 0.0]
body = [ { name = "door", inertia = { mass = 20.0, centre = [0.4, 0.0, 1.0], moments = [6.7, 7.8, 1.1] } } ]
joint = [
%s
]
%s
"""


@pytest.fixture
def door(tmp_path):
    """The door on its two hinges, and on the first alone; as files too."""
    made = []
    for name, joints in (("two", HINGE + SECOND), ("one", HINGE)):
        path = tmp_path / f"{name}.toml"
        text = DOOR % (joints, FORCES if name == "two" else FORCES.replace("#1", ""))
        path.write_text(text)
        made.append(mbssa.load(path))
    return made


def test_forces_are_those_of_one_hinge(door):
    whole, drive = [], []
    for m in door:
        trajectory = groups.build(mbssa.decompose(m)).solve(groups.constant_speed(m, steps=5), compiled=False)
        push = {f"{m.joints[0].text}.angle": 3.0}
        found = groups.forces(trajectory, mbssa.decompose(m), applied=push, minimum_norm=True)
        whole.append(sum(found.joint(j).force for j in range(m.n_joints)))
        drive.append(found.driving[:, 0])
        assert set(found.element_power) == {"coordinate 1", "friction 2", "stop 3", "1-2.angle"}
    np.testing.assert_allclose(whole[0], whole[1], atol=1e-9)
    np.testing.assert_allclose(drive[0], drive[1], atol=1e-9)


def test_a_simulation_is_that_of_one_hinge(door):
    for method in ("groups", "partitioning"):
        ends = []
        for m in door:
            linear = dataclasses.replace(m, forces=m.forces[:1])
            found = groups.simulate(
                linear, 0.1, method=method, steps=2, rates={"1-2.angle": 2.0}, compiled=False,
                applied={f"{m.joints[0].text}.angle": 3.0}, tolerance=1e-6,
            )  # fmt: skip
            assert found.ok
            ends.append(found.coordinates["1-2.angle"][-1])
        assert ends[0] == pytest.approx(ends[1], abs=1e-8)


def test_a_limit_stops_the_run(door):
    free = dataclasses.replace(door[0], forces=())
    run = {"duration": 0.2, "steps": 2, "rates": {"1-2.angle": 5.0}, "compiled": False}
    found = groups.simulate(free, stop_at_limits=True, **run)
    assert found.status == "event 1-2.angle at its upper limit"
    assert found.coordinates["1-2.angle"][-1] == pytest.approx(0.3, abs=1e-9)
    assert any("1-2.angle is above its limit" in note for note in groups.simulate(free, **run).notes)


def test_small_motions_sweeps_and_pages(door):
    two = door[0]
    found = [groups.equilibrium(m).coordinates["1-2.angle"] for m in door]
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    trajectory = groups.build(mbssa.decompose(two)).solve(groups.constant_speed(two, steps=4))
    assert trajectory.joint(0)["angle"].value == pytest.approx(trajectory.joint(1)["angle"].value)
    forces = groups.forces(trajectory, mbssa.decompose(two))
    assert '"1-2#2"' in page_text(trajectory, forces=forces)
    sweep_partition(groups.build(mbssa.decompose(two)), trajectory)
    assert trajectory.mechanism.place_of("1-2#2.angle") == (1, "angle")


def test_the_model_comes_back_from_its_file(door, tmp_path):
    path = tmp_path / "again.toml"
    mbssa.save(door[0], path)
    again = mbssa.load(path)
    assert [force.coordinate for force in again.forces] == ["1-2.angle"] * 3
    assert [joint.text for joint in again.joints] == ["1-2#1", "1-2#2"]


def test_the_text_of_a_user_is_ambiguous(door):
    with pytest.raises(KeyError, match="1-2#1"):
        door[0].joint("1-2")
