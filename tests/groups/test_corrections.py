"""One number for the correction of a reference, and inputs in the faults of a solution."""

import re

import numpy as np
import pytest

import groups
import mbssa
from mbssa.joints.frames import joint_frames

#: Links of 100, 40, 120 and 80 mm in body axes; coupler and rocker only roughly where they are.
LENGTHS = """
format = 1
space = "planar"
units = { length = "mm", angle = "deg" }
body = [
  { name = "crank", orientation = 60 },
  { name = "coupler", origin = [20, 35] },
  { name = "rocker", origin = [100, 0], orientation = 60 },
]
joint = [
  { id = "O2", bodies = ["frame", "crank"], type = "R", driven = true, \
frames = [{ origin = [0, 0] }, { origin = [0, 0] }] },
  { id = "A", bodies = ["crank", "coupler"], type = "R", \
frames = [{ origin = [40, 0] }, { origin = [0, 0] }] },
  { id = "B", bodies = ["coupler", "rocker"], type = "R", \
frames = [{ origin = [120, 0] }, { origin = [80, 0] }] },
  { id = "O4", bodies = ["frame", "rocker"], type = "R", \
frames = [{ origin = [100, 0] }, { origin = [0, 0] }] },
]
"""


@pytest.fixture
def lengths(tmp_path):
    path = tmp_path / "lengths.toml"
    path.write_text(LENGTHS)
    return path


def test_check_and_solve_correct_a_reference_by_one_number(lengths, run_mbssa):
    corrections = []
    for words in (("check", str(lengths)), ("solve", str(lengths), "--steps", "2", "--no-compiled")):
        done = run_mbssa(*words)
        assert done.exit_code == 0
        corrections.append(re.findall(r"up to\s+(\S+)\s+mm\s+and\s+(\S+)\s+deg", done.stdout))
    assert corrections[0] == corrections[1]
    mechanism = mbssa.load(lengths)
    model = groups.build(mbssa.decompose(mechanism))
    first = joint_frames(mechanism).reference
    way, angle = model.reference.correction(first, model.frames.centre)
    # The angles of coupler and rocker from the lengths, and the middles of their pins.
    turned = np.radians([0.0, 0.0, 18.376, 64.943 - 60.0])
    np.testing.assert_allclose(angle, turned, atol=1e-5)
    middle = [40 * np.exp(1j * np.pi / 3) + 60 * np.exp(1j * turned[2]), 20 + 35j + 60]
    assert way[2] == pytest.approx(abs(middle[0] - middle[1]) / 1000, abs=1e-6)
    assert corrections[0] == [(f"{way.max() * 1000:.3g}", f"{np.degrees(angle.max()):.3g}")]


def test_a_fault_names_the_inputs_where_it_begins(lengths, run_mbssa):
    path = lengths.with_name("short.toml")
    path.write_text(LENGTHS.replace("origin = [80, 0]", "origin = [30, 0]").replace("[120, 0]", "[90, 0]"))
    done = run_mbssa("solve", str(path), "--steps", "37", "--no-compiled", "--branch", "checked")
    assert done.exit_code == 1
    model = groups.build(mbssa.decompose(mbssa.load(path)))
    motion = groups.default_motion(model.mechanism, steps=37)
    trajectory = model.solve(motion, compiled=False, branch="checked")
    first = int(np.argmax(trajectory.status.any(axis=1)))
    said = f"O2.angle = {np.degrees(motion.value[0, first]):.6g} deg"
    assert said in trajectory.faults(motion)[0]
    assert said in " ".join(done.stdout.split())
    size = trajectory.residual[first].max() * 1000
    assert f"({said}; residual {size:.3g} mm)" in trajectory.faults(motion)[0]
