"""Findings of a check on the drawing of a mechanism."""

import numpy as np
import pytest
from mpl_toolkits.mplot3d.art3d import Line3DCollection

import mbssa
from groups.pictures import findings_at_reference
from groups.pictures.findings import _motions
from mbssa.joints.frames import joint_frames
from mbssa.joints.system import rows_at


def key(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def title(figure):
    (text,) = [text.get_text() for text in figure.texts if text.get_gid() == "title"]
    return text


def undriven():
    """A planar four-bar without an input."""
    return mbssa.load({
        "format": 1, "space": "planar", "body": [{"name": "crank"}, {"name": "rod"}, {"name": "rocker"}],
        "joint": [
            {"bodies": [a, b], "type": "R", "point": point}
            for a, b, point in ((1, 2, [0, 0]), (2, 3, [0.1, 0.1]), (3, 4, [0.4, 0.3]), (1, 4, [0.5, 0]))
        ],
    })  # fmt: skip


def test_redundant_joints_are_ringed():
    figure = findings_at_reference(mbssa.load("double_parallelogram"))
    assert key(figure) == ["redundant constraints"]
    rings = [line for line in figure.axes[0].lines if line.get_markeredgecolor() == "#CC79A7"]
    frames = joint_frames(mbssa.load("double_parallelogram"))
    wanted = {tuple(np.round(frames.position[0] + frames.origin[j, 0], 9)[:2]) for j in range(2)}
    assert wanted <= {tuple(np.round(np.ravel(line.get_data()), 9)) for line in rings}
    assert "solvable" in title(figure)


def test_a_passive_rotation_is_an_arrow_along_the_rod():
    rssr = mbssa.load("rssr")
    figure = findings_at_reference(rssr)
    assert key(figure) == ["passive rotation, about the arrow"]
    (arrow,) = (part for part in figure.axes[0].collections if isinstance(part, Line3DCollection))
    start, end = (np.array(corner) for corner in arrow._segments3d[0])
    direction = (end - start) / np.linalg.norm(end - start)
    frames = joint_frames(rssr)
    ends = [frames.position[2] + frames.rotation[2] @ frames.origin[j, s] for j, s in ((1, 1), (2, 0))]
    rod = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    assert abs(rod @ direction) == pytest.approx(1.0, abs=1e-9)


def test_a_motion_that_no_input_prescribes_is_shown_as_it_is():
    mechanism = undriven()
    report = mbssa.check(mechanism)
    figure = findings_at_reference(mechanism, report)
    assert key(figure) == ["cannot be solved because of it", "motion that the inputs leave"]
    assert "not solvable" in title(figure)
    (arrows,) = _motions(report)
    frames = joint_frames(mechanism)
    configuration = frames.reference
    # The crank's middle moves across the crank, and all equations keep their values.
    at, velocity = arrows[0]
    assert abs(velocity[:2] @ (at[:2] - [0.0, 0.0])) < 1e-9 * np.linalg.norm(velocity)
    matrix = rows_at(mechanism, frames, configuration).matrix(np.arange(1, 4))
    _, values, right = np.linalg.svd(matrix)
    motion = right[-1].reshape(3, 3)[:, :2]
    found = np.array([velocity[:2] for _, velocity in arrows])
    assert np.abs(np.abs(found) - np.abs(motion)).max() < 1e-9
    assert values[-1] > 1e-6


def test_a_command_draws_them(run_mbssa, tmp_path):
    result = run_mbssa("draw", "rssr", "--findings", "--output", str(tmp_path / "a.svg"))
    assert result.exit_code == 0
    assert "passive rotation" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    result = run_mbssa("draw", "rssr", "--findings", "--time", "1", "--output", str(tmp_path / "b.svg"))
    assert result.exit_code == 2
    assert "--findings: are those of the reference" in result.stderr
