"""A body that one contact holds, in straight code: what the general way finds, statuses included."""

import itertools

import numpy as np
import pytest

import groups
import mbssa
from groups.kernels import cam, relative
from groups.kernels.status import CONTACT_LOST, OK

E, R, ROLLER = 0.01, 0.03, 0.008
CIRCLE = f"circle = {{ radius = {R}, centre = [{E}, 0.0] }}"
ROUND = f"{{ curve = {{ circle = {{ radius = {ROLLER} }} }} }}"
FOLLOWERS = {
    "roller": (f'{{ {CIRCLE}, follower = "roller", radius = {ROLLER} }}', ROLLER),
    "flat": (f'{{ {CIRCLE}, follower = "flat" }}', None),
    "curve": (f"{{ {CIRCLE}, follower = {ROUND} }}", ROLLER),
}
JOINTS = {"slide": 'type = "P"\naxis = [0.1, 1.0]', "hinge": 'type = "R"\npoint = [0.1, 0.0]'}

#: A cam that turns, and on an arm that turns too what the contact holds: the follower or, ``reversed``, the
#: profile itself on a body of its own while the follower turns with the first.
MODEL = """
format = 1
space = "planar"
bodies = 4
[[joint]]
bodies = [1, 2]
type = "R"
point = [0.0, 0.0]
driven = ["angle"]
[[joint]]
bodies = [1, 4]
type = "R"
point = [0.2, 0.1]
driven = ["angle"]
[[joint]]
bodies = [4, 3]
JOINT
[[joint]]
bodies = BODIES
type = "L"
points = POINTS
axes = [[1.0, 0.0], [1.0, 0.0]]
profile = PROFILE
"""


@pytest.fixture
def both(monkeypatch):
    """A model solved by straight code, and by the general way."""

    def solve(mechanism, motion, **options):
        structure = mbssa.decompose(mechanism)
        model = groups.build(structure)
        assert model.packed.kernels.count(cam.solve_cam) == 1
        straight = model.solve(motion, compiled=False, **options)
        with monkeypatch.context() as patch:
            patch.setattr(cam, "is_simple", lambda *_: False)
            model = groups.build(structure)
            assert model.packed.kernels.count(relative.solve_rows) == 1
            return straight, model.solve(motion, compiled=False, **options)

    return solve


def assert_same(one, two, within=1e-11):
    np.testing.assert_array_equal(one.status, two.status)
    for name in ("position", "orientation", "velocity", "acceleration", "condition"):
        a, b = getattr(one, name), getattr(two, name)
        if a is not None and a.size:
            size = max(1.0, np.nan_to_num(np.abs(b)).max())
            np.testing.assert_allclose(a, b, rtol=0.0, atol=within * size, err_msg=name)


@pytest.mark.parametrize(
    ("follower", "joint", "reverse"), list(itertools.product(FOLLOWERS, JOINTS, [False, True]))
)
def test_on_an_arm_that_turns(tmp_path, both, follower, joint, reverse):
    profile, radius = FOLLOWERS[follower]
    height = R if radius is None else float(np.sqrt((R + radius) ** 2 - E**2))
    # The profile stands where it is; or it hangs below a point, or a face, that turns about the origin.
    points = [[0.0, -height], [0.0, 0.0]] if reverse else [[0.0, 0.0], [0.0, height]]
    text = MODEL.replace("BODIES", "[3, 2]" if reverse else "[2, 3]").replace("POINTS", str(points))
    path = tmp_path / "model.toml"
    path.write_text(text.replace("JOINT", JOINTS[joint]).replace("PROFILE", profile))
    mechanism = mbssa.load(path)
    laws = {"1-2.angle": groups.harmonic(0.5, 0.7), "1-4.angle": groups.harmonic(0.05, 1.3)}
    time = np.concatenate([np.arange(30) / 60, 0.5 + np.arange(8) / 25])  # steps of two lengths
    motion = groups.sample(mechanism, laws, time)
    straight, general = both(mechanism, motion)
    assert straight.ok, straight.faults()
    assert_same(straight, general)


@pytest.mark.parametrize("steps", [7, 19, 181])
@pytest.mark.parametrize("name", ["cam_roller", "cam_flat", "cam_swing"])
def test_built_in_cams_at_steps_of_any_size(both, name, steps):
    mechanism = mbssa.load(name)
    straight, general = both(mechanism, groups.default_motion(mechanism, steps=steps))
    assert straight.ok, straight.faults()
    assert_same(straight, general, within=1e-8)  # curvature is accurate to so much where pieces meet


@pytest.mark.parametrize("level", ["position", "velocity"])
def test_lower_levels(both, level):
    mechanism = mbssa.load("cam_swing")
    straight, general = both(mechanism, groups.default_motion(mechanism, steps=40), level=level)
    assert_same(straight, general, within=1e-10)


def test_teeth_that_part_and_meet_again(both):
    """Beyond the ends of the flanks there is no contact; the same time steps have an answer either way."""
    mechanism = mbssa.load("involute_teeth")
    laws = {"1-2.angle": groups.harmonic(0.4, 4.0, mean=0.2618)}
    straight, general = both(mechanism, groups.sample(mechanism, laws, np.arange(18) / 100))
    assert_same(straight, general)
    sound = (straight.status == OK).all(axis=1)
    assert sound[0]
    assert sound[-7]
    assert not sound.all()


def test_a_roller_that_the_cam_does_not_reach_is_said_to_be_lifted(tmp_path, both):
    """The arm lifts the roller's hinge out of reach and comes back."""
    profile, _ = FOLLOWERS["roller"]
    height = float(np.sqrt((R + ROLLER) ** 2 - E**2))
    text = MODEL.replace("BODIES", "[2, 3]").replace("POINTS", str([[0.0, 0.0], [0.0, height]]))
    short = f'type = "R"\npoint = [0.015, {height}]'
    path = tmp_path / "model.toml"
    path.write_text(text.replace("JOINT", short).replace("PROFILE", profile))
    mechanism = mbssa.load(path)
    laws = {"1-2.angle": groups.constant(0.0), "1-4.angle": groups.harmonic(0.4, 1.0)}
    motion = groups.sample(mechanism, laws, np.arange(15) / 15)
    straight, general = both(mechanism, motion)
    assert_same(straight, general)
    assert (straight.status == CONTACT_LOST).any()
