"""The templates of ``mbssa new`` are models that can be solved, and nothing is overwritten unasked."""

from typing import get_args

import pytest

import groups
import mbssa
from mbssa.cli.new import Template

#: Structural groups, by their bodies, that each template must have.
GROUPS = {
    "four-bar": {(2,), (3, 4)},
    "slider-crank": {(2,), (3, 4)},
    "six-bar": {(2,), (3, 4), (5, 6)},
    "stewart": {tuple(range(2, 15))},
    "delta": {(3,), (5,), (7,), (2, 4, 6, 8)},
    "suspension": {(2,), (6,), (3, 4, 5)},
}


@pytest.mark.parametrize("template", get_args(Template))
def test_a_template_is_checked_and_solved(template, run_mbssa, tmp_path):
    done = run_mbssa("new", str(tmp_path / "mine"), "--template", template)
    assert done.exit_code == 0
    path = tmp_path / "mine.toml"
    assert f"mbssa check {path}" in done.stdout
    mechanism = mbssa.load(path)
    assert mbssa.check(mechanism).solvable
    structure = mbssa.decompose(mechanism)
    assert {group.bodies for group in structure.groups} == GROUPS[template]
    motion = groups.default_motion(mechanism, steps=9)
    trajectory = groups.build(structure).solve(motion, compiled=False)
    assert trajectory.ok
    for joint in mechanism.joints:
        for coordinate, (low, high) in (joint.geometry.limits if joint.geometry else {}).items():
            value = trajectory.joint(joint.id)[coordinate].value
            assert low <= value.min()
            assert value.max() <= high


def test_a_file_is_kept_unless_forced(run_mbssa, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("mine")
    kept = run_mbssa("new", str(path))
    assert (kept.exit_code, path.read_text()) == (2, "mine")
    assert "exists; write --force to replace it" in kept.stderr
    assert run_mbssa("new", str(path), "--force").exit_code == 0
    assert mbssa.load(path).title == "Four-bar linkage"


def test_a_model_file_ends_in_toml(run_mbssa, tmp_path):
    done = run_mbssa("new", str(tmp_path / "mine.csv"))
    assert done.exit_code == 2
    assert "ends in none of .toml" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_platform_of_the_delta_only_translates(np, run_mbssa, tmp_path):
    run_mbssa("new", str(tmp_path / "delta"), "--template", "delta")
    mechanism = mbssa.load(tmp_path / "delta.toml")
    motion = groups.default_motion(mechanism, steps=5)
    platform = (
        groups.build(mbssa.decompose(mechanism)).solve(motion, compiled=False).body("platform").orientation
    )
    assert np.allclose(platform, platform[0], atol=1e-7)


def test_the_pins_that_a_leg_leaves_out_do_not_move_the_platform(np, run_mbssa, tmp_path):
    path = tmp_path / "hexapod.toml"
    run_mbssa("new", str(path), "--template", "stewart")

    def tool(mechanism):
        motion = groups.default_motion(mechanism, steps=5)
        found = groups.build(mbssa.decompose(mechanism)).solve(motion, compiled=False).body("platform")
        return found.position, found.orientation

    left_out = tool(mbssa.load(path))
    other = 'type = "U"\naxes = [[1, 0, 0], [0, 1, 0]] #'
    position, orientation = tool(mbssa.load(path.read_text().replace('type = "U"', other)))
    assert np.ptp(position, axis=0).max() > 1e-3
    assert np.allclose(position, left_out[0], atol=1e-9)
    assert np.allclose(orientation, left_out[1], atol=1e-9)
