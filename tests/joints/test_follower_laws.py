"""Follower laws: textbook peaks, ends at rest, each derivative that of the one before."""

import numpy as np
import pytest

from mbssa.joints.cams.follower_laws import KINDS, FollowerLaw, Segment, segment_at

# Largest velocity, acceleration and jerk: Norton's tables of double-dwell functions.
PEAKS = {
    "cycloidal": (2.0, 2 * np.pi, 4 * np.pi**2),
    "345": (1.875, 5.7735, 60.0),
    "4567": (2.1875, 7.5132, 52.5),
    "modified_trapezoid": (2.0, 4.8881, 61.425),
    "harmonic": (np.pi / 2, np.pi**2 / 2, np.pi**3 / 2),
    "parabolic": (2.0, 4.0, 0.0),
    "uniform": (1.0, 0.0, 0.0),
}


def test_peaks_are_the_textbooks():
    for kind in KINDS:
        x = np.linspace(0.0, 1.0, 20_001)
        for peak, values in zip(PEAKS[kind], segment_at(Segment(1.0, 1.0, kind), x)[1:], strict=True):
            assert np.abs(values).max() == pytest.approx(peak, rel=1e-4), kind


def test_a_rise_goes_from_nothing_to_all_and_is_symmetric():
    for kind in KINDS:
        x = np.linspace(0.0, 1.0, 41)
        y, v, a, _ = segment_at(Segment(1.0, 1.0, kind), x)
        assert y[0] == 0.0, kind
        assert y[-1] == 1.0, kind
        assert np.allclose(y + y[::-1], 1.0, atol=1e-15), kind
        assert np.allclose(v, v[::-1], atol=1e-14), kind
        if kind in ("cycloidal", "345", "4567", "modified_trapezoid"):
            assert np.abs([v[0], v[-1], a[0], a[-1]]).max() < 1e-14, kind


def test_each_derivative_is_that_of_the_one_before():
    for kind in KINDS:
        over, by, h = 1.3, -0.02, 1e-5
        segment = Segment(over, by, kind)
        # Away from the eighths, where some laws' derivatives jump.
        angle = over * (np.arange(80) + 0.5) / 80
        before, here, after = (segment_at(segment, angle + step) for step in (-h, 0.0, h))
        for k in range(3):
            slope = (after[k] - before[k]) / (2 * h)
            assert np.allclose(slope, here[k + 1], atol=1e-8 * max(np.abs(here[k + 1]).max(), 0.02)), kind


def law():
    return FollowerLaw(
        (
            Segment(np.deg2rad(100), 0.02, "cycloidal"),
            Segment(np.deg2rad(40)),
            Segment(np.deg2rad(60), -0.005, "4567"),
            Segment(np.deg2rad(100), -0.015, "modified_trapezoid"),
            Segment(np.deg2rad(60)),
        )
    )


def test_a_law_joins_its_segments():
    s, v, a, j = law().at(np.deg2rad([0, 50, 100, 120, 200, 250, 300, 350, 360, -10, 730]))
    assert np.allclose(s[[0, 1, 2, 3, 4, 6, 7, 8, 9]], [0, 0.01, 0.02, 0.02, 0.015, 0, 0, 0, 0], atol=1e-17)
    assert s[10] == pytest.approx(law().at(np.deg2rad(10))[0])
    assert v[1] == pytest.approx(2 * 0.02 / np.deg2rad(100))
    assert (a[3], j[3]) == (0.0, 0.0)
    assert law().rise == pytest.approx(0.02)
    assert law().jumps() == law().jumps(2) == ()


def test_breaks_are_where_a_derivative_may_jump():
    wanted = [0, 100, 140, 200, 212.5, 237.5, 262.5, 287.5, 300, 360]
    assert np.allclose(np.rad2deg(law().breaks), wanted)


def test_jumps_of_the_velocity_are_found():
    half = np.pi
    uniform = FollowerLaw((Segment(half, 0.02, "uniform"), Segment(half, -0.02, "uniform")))
    angles, jumps = zip(*uniform.jumps(), strict=True)
    assert angles == pytest.approx((0.0, half))
    assert jumps == pytest.approx((0.04 / half, -0.04 / half))


def test_jumps_of_the_acceleration_are_found_within_a_segment_too():
    parabolic = FollowerLaw((Segment(np.pi, 0.02, "parabolic"), Segment(np.pi, -0.02, "345")))
    assert [round(np.rad2deg(angle)) for angle, _ in parabolic.jumps(2)] == [0, 90, 180]
    assert [jump for _, jump in parabolic.jumps(2)] == pytest.approx(0.08 / np.pi**2 * np.array([1, -2, 1]))


def test_faults_of_a_law():
    for segments, said in [
        ((), "no segments"),
        ((Segment(1.0, 0.1, "345"), Segment(1.0, -0.1, "345")), "114.591559°.*245.4084°"),
        ((Segment(4.0, 0.1, "345"), Segment(4.0, -0.1, "345")), "° less"),
        ((Segment(np.pi, 0.1, "345"), Segment(np.pi, -0.05, "345")), r"returns by 0.05 \(m or rad\)"),
        ((Segment(np.pi, -0.1, "345"), Segment(np.pi, 0.1, "345")), "segment 1 returns below"),
        ((Segment(2 * np.pi),), "never moves"),
    ]:
        with pytest.raises(ValueError, match=said):
            FollowerLaw(segments)


def test_all_faults_of_a_law_are_said_at_once():
    with pytest.raises(ValueError, match="covers") as caught:
        FollowerLaw((Segment(1.0, -0.1, "345"), Segment(1.0, 0.3, "345")))
    assert len(str(caught.value).splitlines()) == 3
