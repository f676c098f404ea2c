"""Cams from laws: a follower that is where the law says touches the profile and enters it nowhere."""

import numpy as np
import pytest

from mbssa.joints.cams.contact import FLAT, POINT, gap
from mbssa.joints.cams.curves import circle
from mbssa.joints.cams.follower_laws import FollowerLaw, Segment
from mbssa.joints.cams.law_cam import LawCam, Swing

WAYS = ("counter-clockwise", "clockwise")


def law(rise, there="cycloidal", back="345"):
    a = np.deg2rad
    return FollowerLaw(
        (Segment(a(110), rise, there), Segment(a(50)), Segment(a(130), -rise, back), Segment(a(70)))
    )


CAMS = {
    "roller": {"follower": "roller", "base": 0.04, "radius": 0.012},
    "roller to the left": {"follower": "roller", "base": 0.04, "radius": 0.012, "offset": 0.015},
    "roller to the right": {"follower": "roller", "base": 0.04, "radius": 0.012, "offset": -0.015},
    "knife": {"follower": "knife", "base": 0.04, "offset": 0.01},
    "flat": {"follower": "flat", "base": 0.06},
    "swinging roller": {
        "follower": "roller",
        "base": 0.04,
        "radius": 0.012,
        "swing": Swing(0.1, 0.085, "left"),
    },
    "swinging roller on the right": {
        "follower": "roller",
        "base": 0.04,
        "radius": 0.012,
        "swing": Swing(0.1, 0.085, "right"),
    },
    "swinging knife": {"follower": "knife", "base": 0.04, "swing": Swing(0.1, 0.085, "left")},
    "swinging flat": {"follower": "flat", "base": 0.05, "swing": Swing(0.11, 0.01, "left")},
    "swinging flat on the right": {"follower": "flat", "base": 0.05, "swing": Swing(0.11, -0.01, "right")},
}


def cams(*names):
    """Each of them, turning both ways."""
    return [(name, turns, made(name, turns)) for name in names for turns in WAYS]


def made(name, turns):
    given = CAMS[name]
    return LawCam(law(0.2 if given.get("swing") else 0.02), turns=turns, **given)


def sampled(cam):
    """Points of the profile, closely sampled: (n, 2)."""
    return cam.profile.at(np.linspace(cam.profile.breaks[0], cam.profile.breaks[-1], 40_001))[0]


def turned_profile(cam, profile, angle):
    """Points of the profile after the cam has turned by the law's angle: (n, 2)."""
    turn = cam.sense * angle
    c, d = np.cos(turn), np.sin(turn)
    return profile @ np.array([[c, d], [-d, c]])


def follower(cam, angle):
    """Trace point, or point and outward normal of a face, from the sketch of each follower."""
    s = cam.law.at(angle)[0]
    if cam.swing is None:
        if cam.follower == "flat":
            return np.array([cam.base + s, 0.0]), np.array([1.0, 0.0])
        d = np.sqrt((cam.base + cam.radius) ** 2 - cam.offset**2)
        return np.array([d + s, cam.offset]), None
    up = 1.0 if cam.swing.side == "left" else -1.0
    pivot, arm = np.array([cam.swing.pivot, 0.0]), cam.swing.arm
    if cam.follower == "flat":
        psi = np.arcsin((cam.base - arm) / cam.swing.pivot) + s
        normal = np.array([np.sin(psi), up * np.cos(psi)])
        return pivot + arm * normal, normal
    prime = cam.base + cam.radius
    psi = np.arccos((cam.swing.pivot**2 + arm**2 - prime**2) / (2 * cam.swing.pivot * arm)) + s
    return pivot + arm * np.array([-np.cos(psi), up * np.sin(psi)]), None


ANGLES = np.deg2rad([0, 20, 55, 95, 110, 130, 170, 230, 289, 340])


def test_the_follower_touches_the_profile_and_does_not_enter_it():
    for name, turns, cam in cams(*CAMS):
        profile = sampled(cam)
        for angle in ANGLES:
            points = turned_profile(cam, profile, angle)
            place, normal = follower(cam, angle)
            if normal is not None:
                gap = -((points - place) @ normal).max()
            else:
                gap = np.hypot(*(points - place).T).min() - cam.radius
            # The nearest of the samples is at most 4 micrometres beside the place of contact.
            assert -1e-12 < gap < (5e-6 if cam.follower == "knife" else 2e-9), (name, turns)


def test_profiles_run_counter_clockwise_and_begin_on_the_base_circle():
    for name, turns, cam in cams(*CAMS):
        assert cam.profile.area > 0, (name, turns)
        points = cam.profile.at(cam.profile.sampled(20))[0]
        assert np.hypot(*points.T).min() == pytest.approx(cam.base, rel=1e-9), (name, turns)


def test_curvature_of_the_law_is_that_of_the_curve():
    for name, turns, cam in cams(*CAMS):
        s = cam.profile.sampled(7) + 1e-6
        angle = np.mod(-cam.sense * s, 2.0 * np.pi)
        assert np.allclose(1.0 / cam.profile.curvature(s), cam.profile_radius(angle), rtol=1e-7), (
            name,
            turns,
        )
        if cam.pitch is not None:
            s = cam.pitch.sampled(7) + 1e-6
            assert np.allclose(
                cam.pitch.curvature(s),
                cam.pitch_curvature(np.mod(-cam.sense * s, 2.0 * np.pi)),
                rtol=0,
                atol=1e-6,
            ), (name, turns)


def test_the_pitch_curve_is_one_radius_outside_of_the_profile():
    for name, turns, cam in cams(*[name for name in CAMS if "roller" in name]):
        s = np.linspace(cam.profile.breaks[0], cam.profile.breaks[-1], 500)
        point, rate, _ = cam.profile.at(s)
        outward = np.stack([rate[:, 1], -rate[:, 0]], axis=1) / np.hypot(*rate.T)[:, None]
        assert np.allclose(cam.pitch.at(s)[0], point + cam.radius * outward, rtol=0, atol=1e-11), (
            name,
            turns,
        )


def test_the_pressure_angle_is_between_the_normal_and_the_motion():
    for name, turns, cam in cams(*[name for name in CAMS if "flat" not in name]):
        h = 1e-6
        for angle in ANGLES + 0.01:
            place = follower(cam, angle)[0]
            motion = (follower(cam, angle + h)[0] - follower(cam, angle - h)[0]) / (2 * h)
            if np.hypot(*motion) < 1e-5:
                continue
            # The normal, from the trace point's velocity against the cam, which runs along the pitch curve.
            against = motion - cam.sense * np.array([-place[1], place[0]])
            normal = np.array([against[1], -against[0]])
            normal *= np.sign(normal @ place)
            rising = motion * np.sign(cam.law.at(angle)[1])
            wanted = np.arctan2(rising[0] * normal[1] - rising[1] * normal[0], rising @ normal)
            assert cam.pressure(np.array([angle]))[0] == pytest.approx(wanted, abs=1e-7), (name, turns)


def test_the_pressure_angle_is_nortons():
    # tan = (v - e) / (s + sqrt(prime^2 - e^2)), the eccentricity e positive where it helps.
    angle = np.linspace(0.1, 1.8, 7)
    for turns, offset in (("counter-clockwise", -0.015), ("clockwise", 0.015)):
        cam = LawCam(law(0.02), "roller", 0.04, 0.012, offset, None, turns)
        s, v, _, _ = cam.law.at(angle)
        wanted = (v - 0.015) / (s + np.sqrt(0.052**2 - 0.015**2))
        assert np.allclose(cam.sense * np.tan(cam.pressure(angle)), wanted, rtol=1e-12)


def test_the_flat_cam_of_a_harmonic_law_is_an_eccentric_circle():
    e, base = 0.008, 0.03
    cam = LawCam(
        FollowerLaw((Segment(np.pi, 2 * e, "harmonic"), Segment(np.pi, -2 * e, "harmonic"))), "flat", base
    )
    s = np.linspace(-2 * np.pi, 0.0, 100)
    assert np.allclose(cam.profile.at(s)[0], circle(base + e, (-e, 0.0)).at(s)[0], rtol=0, atol=1e-12)
    assert np.allclose(cam.profile_radius(np.linspace(0, 6, 50)), base + e)
    assert np.allclose(np.abs(cam.face(np.array([np.pi / 2, -np.pi / 2]))), e)


def test_the_envelope_condition_of_flat_faces():
    # n·(c - a) = 0 and n·c' = 0: the profile's tangent is the face at every angle.
    for name in ("flat", "swinging flat", "swinging flat on the right"):
        cam = made(name, "clockwise")
        angle = np.linspace(0.01, 6.2, 60)
        alpha, h, _, _ = cam.support(angle)
        point, rate, _ = cam.profile.at(-cam.sense * angle)
        normal = np.stack([np.cos(alpha), np.sin(alpha)], axis=1)
        assert np.allclose((normal * point).sum(1), h, rtol=0, atol=1e-12)
        assert np.abs((normal * rate).sum(1)).max() < 1e-9


def test_where_a_face_is_touched():
    for name in ("flat", "swinging flat", "swinging flat on the right"):
        cam = made(name, "counter-clockwise")
        profile = sampled(cam)
        for angle in ANGLES:
            points = turned_profile(cam, profile, angle)
            place, normal = follower(cam, angle)
            touched = points[np.argmax((points - place) @ normal)]
            if cam.swing is None:
                wanted = touched[1]
            else:
                foot = np.array([cam.swing.pivot, 0.0]) + cam.swing.arm * normal
                wanted = np.hypot(*(touched - foot))
            assert cam.face(np.array([angle]))[0] == pytest.approx(wanted, abs=1e-5)


def test_faults_of_a_cam():
    for given, said in [
        ({"follower": "roller", "base": -1.0}, r"base: is -1.*\n?radius: a roller has"),
        ({"follower": "roller", "base": 0.04, "radius": 0.01, "offset": -0.06}, "offset: is -0.06 m"),
        (
            {"follower": "flat", "base": 0.04, "offset": 0.01, "radius": 0.1},
            "(?s)radius: is the.*offset: is for",
        ),
        ({"follower": "flat", "base": 0.04, "swing": Swing(0.01, 0.0)}, "does not reach the base circle"),
        ({"follower": "knife", "base": 0.04, "swing": Swing(0.01, 0.01)}, "between 0 and 0.02 m"),
        ({"follower": "knife", "base": 0.04, "swing": Swing(-0.01, 0.0)}, "(?s)swing.pivot.*swing.arm"),
        (
            {"follower": "knife", "base": 0.04, "offset": 0.01, "swing": Swing(0.1, 0.09)},
            "has a pivot instead",
        ),
    ]:
        with pytest.raises(ValueError, match=said):
            LawCam(law(0.02), **given)


def test_a_law_whose_velocity_jumps_is_for_knives():
    jumpy = law(0.02, "uniform")
    for follower_kind, radius in (("flat", 0.0), ("roller", 0.01)):
        with pytest.raises(ValueError, match=r"0\.01042 .*0°"):
            LawCam(jumpy, follower_kind, 0.04, radius)
    assert LawCam(jumpy, "knife", 0.04).profile.closed


def test_a_face_that_turns_as_fast_as_the_cam_has_no_profile():
    fast = FollowerLaw((Segment(0.8, 0.5, "cycloidal"), Segment(1.2, -0.5, "345"), Segment(2 * np.pi - 2.0)))
    with pytest.raises(ValueError, match="as fast as"):
        LawCam(fast, "flat", 0.05, swing=Swing(0.11, 0.0, "left"), turns="clockwise")


def test_an_arm_that_swings_too_far():
    with pytest.raises(ValueError, match="swings the arm"):
        LawCam(law(3.0), "knife", 0.04, swing=Swing(0.1, 0.085))


def test_the_gap_of_the_joint_is_closed_all_the_way_round():
    for name, turns, cam in cams(*CAMS):
        kind = FLAT if cam.follower == "flat" else POINT
        for angle in np.linspace(0.0, 2 * np.pi, 13):
            place, normal = follower(cam, angle)
            turn = -cam.sense * angle
            back = np.array(
                [[np.cos(turn), -np.sin(turn), 0.0], [np.sin(turn), np.cos(turn), 0.0], [0.0, 0.0, 1.0]]
            )
            axes = np.eye(3)
            if normal is not None:
                axes[:2, 1], axes[:2, 0] = normal, (normal[1], -normal[0])
            value, _ = gap(cam.profile, None, kind, (back @ [*place, 0.0])[None], (back @ axes)[None])
            assert value[0] == pytest.approx(cam.radius, abs=1e-12), (name, turns)
