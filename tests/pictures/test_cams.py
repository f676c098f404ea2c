"""The picture of cams: every curve where it is, every kind of follower."""

import numpy as np
import pytest

from mbssa.joints.cams.profiles import profile_from
from mbssa.pictures.cams import cam_picture

LAW = [{"rise": 0.3, "over": np.pi, "kind": "345"}, {"return": 0.3, "over": np.pi, "kind": "parabolic"}]
SWING = {"pivot": 0.1, "arm": 0.08}


def test_a_cam_from_a_law_is_drawn_with_its_follower_and_three_diagrams():
    for table in [
        {"law": LAW, "base": 0.04, "follower": "roller", "radius": 0.01, "swing": SWING},
        {"law": LAW, "base": 0.04, "follower": "flat", "swing": {"pivot": 0.1, "arm": 0.01}},
        {"law": LAW, "base": 0.4, "follower": "flat"},
        {"law": LAW, "base": 0.4, "follower": "knife", "offset": 0.1},
    ]:
        profile = profile_from(table)
        drawing, *diagrams = cam_picture([("2-3", profile)]).axes
        points = np.concatenate(
            [line.get_xydata() for line in drawing.get_lines() if line.get_label() == "profile"]
        )
        assert np.allclose(points[0], profile.curve.at(profile.curve.breaks[0])[0]), table["follower"]
        assert len(diagrams) == 3, table["follower"]
        peaks = (0.3, 2.0 * 0.3 / np.pi, 5.7735 * 0.3 / np.pi**2)
        for axes, peak in zip(diagrams, peaks, strict=True):
            drawn = [line.get_ydata() for line in axes.get_lines() if len(line.get_ydata()) > 2]
            assert np.abs(np.concatenate(drawn)).max() == pytest.approx(peak, rel=1e-3), table["follower"]


def test_the_pitch_curve_of_a_given_profile_is_one_radius_outside():
    profile = profile_from({"circle": {"radius": 0.02}, "follower": "roller", "radius": 0.01})
    drawing, curvature = cam_picture([("2-3", profile)]).axes
    (pitch,) = (line for line in drawing.get_lines() if line.get_label() == "pitch curve")
    assert np.allclose(np.hypot(*pitch.get_xydata().T), 0.03)
    assert np.allclose(np.concatenate([line.get_ydata() for line in curvature.get_lines()]), 50.0)


def test_several_cams_stand_below_each_other_and_too_many_are_refused():
    cam = ("2-3", profile_from({"line": [[0.0, 0.0], [0.1, 0.0]], "follower": "knife"}))
    assert len(cam_picture([cam] * 3).axes) == 6
    with pytest.raises(ValueError, match="7 cams"):
        cam_picture([cam] * 7)
    with pytest.raises(ValueError, match="no cam"):
        cam_picture([])
