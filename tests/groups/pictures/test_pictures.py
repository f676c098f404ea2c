"""Pictures on paper and as a GIF: what must be in them, for every model that moves."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import groups
import groups.pictures
import mbssa
from groups.pictures import animate, coordinates, mechanism_at, mode_pictures, paths, write
from groups.pictures.paths import points_of
from groups.pictures.scene import failed_at, scene_of, sentence
from mbssa.joints.frames import joint_frames
from mbssa.pictures import save as write_figure

MODELS = ("rotor", "theo_jansen", "slider_crank", "suspension")


SLIDER = """\
format = 1
space = "planar"
[[body]]
name = "crank"
[[body]]
name = "rod"
[[body]]
name = "slider"
[[joint]]
bodies = [1, 2]
type = "R"
driven = true
point = [0.0, 1.0]
[[joint]]
bodies = [2, 3]
type = "R"
point = [0.2, 1.0]
[[joint]]
bodies = [3, 4]
type = "R"
point = [1.0, 1.0]
[[joint]]
bodies = [1, 4]
type = "P"
axis = [1.0, 0.0]
"""


def failed(trajectory, group, instants, body):
    """The motion with a group that failed at some instants, and a body that has no pose there."""
    status, position = trajectory.status.copy(), trajectory.position.copy()
    orientation = trajectory.orientation.copy()
    status[instants, group] = 1
    position[instants, body] = np.nan
    orientation[instants, body] = np.nan
    return replace(trajectory, status=status, position=position, orientation=orientation)


def lines_of(figure):
    return [line for axes in figure.axes for line in axes.get_lines()]


def test_public_names():
    public = groups.pictures.__all__
    assert list(public) == sorted(public)
    assert [name for name in public if ">>>" not in getattr(groups.pictures, name).__doc__] == []


class TestScene:
    def test_both_bodies_of_a_joint_meet_at_its_mark(self, solved):
        """Where nothing slides, the two bodies put the joint in one place at every instant."""
        for name in MODELS:
            scene = scene_of(solved(name), 10)
            for mark in scene.marks:
                if mark.type.guide is None and mark.type.code not in ("ROD", "SPSP", "PL"):
                    first, second = (
                        scene.world(body, origin[None])[:, 0]
                        for body, origin in zip(mark.bodies, mark.origin, strict=True)
                    )
                    np.testing.assert_allclose(first, second, atol=1e-7, err_msg=name)

    def test_a_block_stays_on_its_rail(self, solved):
        scene = scene_of(solved("slider_crank"), 41)
        (rail,) = (line for line in scene.lines if line.joint >= 0)
        (mark,) = (mark for mark in scene.marks if mark.type.guide is not None)
        ends = scene.world(0, rail.points)[0]
        block = scene.world(mark.bodies[mark.seat], mark.origin[mark.seat][None])[:, 0]
        along = (block - ends[0]) @ (ends[1] - ends[0]) / ((ends[1] - ends[0]) ** 2).sum()
        assert along.min() > 0 < along.max() < 1
        np.testing.assert_allclose(block, ends[0] + along[:, None] * (ends[1] - ends[0]), atol=1e-9)

    def test_a_rod_stays_in_its_tube(self, solved):
        scene = scene_of(solved("stewart"), 41)
        tubes = [guide for guide in scene.lines if guide.kind == "tube"]
        rods = {guide.joint: guide for guide in scene.lines if guide.kind == "rod"}
        assert len(tubes) == len(rods) == 6
        for tube in tubes:
            foot, mouth = np.moveaxis(scene.world(tube.body, tube.points), 1, 0)
            rod = rods[tube.joint]
            head, tail = np.moveaxis(scene.world(rod.body, rod.points), 1, 0)
            along = mouth - foot
            length = (along**2).sum(axis=1)
            inside = ((tail - foot) * along).sum(axis=1) / length
            assert (inside > 0).all()
            assert (inside < 1).all()
            assert (((head - foot) * along).sum(axis=1) / length > 1).all()

    def test_no_more_instants_than_asked_and_both_ends(self, solved):
        scene = scene_of(solved("theo_jansen", 41), 7)
        assert len(scene.instants) == 7
        assert scene.instants[[0, -1]].tolist() == [0, 40]

    def test_a_slide_without_a_place_passes_through_its_block(self, tmp_path):
        (tmp_path / "slider.toml").write_text(SLIDER)
        mechanism = mbssa.load(tmp_path / "slider.toml")
        trajectory = groups.build(mbssa.decompose(mechanism)).solve(groups.constant_speed(mechanism, steps=9))
        (rail,) = (line for line in scene_of(trajectory, 9).lines if line.joint >= 0)
        np.testing.assert_allclose(rail.points[:, 1], 1.0, atol=1e-12)


class TestPoints:
    def test_the_models_points_are_the_default(self, solved):
        scene = scene_of(solved("theo_jansen"), 5)
        assert [point.label for point in points_of(scene, None)] == ["foot_triangle.foot"]

    def test_joint_centres_where_a_model_names_none(self, solved):
        scene = scene_of(solved("rssr"), 5)
        assert [point.label for point in points_of(scene, None)] == ["2-3", "3-4"]

    def test_a_point_is_where_the_trajectory_says(self, solved):
        trajectory = solved("rotor")
        scene = scene_of(trajectory, 41)
        (point,) = points_of(scene, ["beam.left"])
        there = trajectory.body("beam").point("left")
        np.testing.assert_allclose(point.path(scene), there, atol=1e-12)

    def test_all_faults_at_once(self, solved):
        with pytest.raises(ValueError, match=r"no body 'bean'.*has no point 'middle'.*nonsense"):
            paths(solved("rotor"), ["bean.left", "beam.middle", "nonsense"])


class TestMechanism:
    @pytest.mark.parametrize("name", ["rotor", "suspension"])
    def test_every_body_has_its_name_on_the_page(self, solved, name):
        trajectory = solved(name)
        figure = mechanism_at(trajectory, 5)
        names = [text for text in figure.texts if (text.get_gid() or "").startswith("name-")]
        bodies = trajectory.mechanism.bodies[1:]
        assert sorted(text.get_text() for text in names) == sorted(body.name for body in bodies)
        figure.draw_without_rendering()
        for text in names:
            box = text.get_window_extent()
            assert box.x0 >= 0 <= box.y0
            assert box.x1 <= figure.bbox.x1
            assert box.y1 <= figure.bbox.y1

    def test_a_plane_has_equal_scales(self, solved):
        figure = mechanism_at(solved("theo_jansen"), 0)
        axes, figure_size = figure.axes[0], figure.get_size_inches()
        box = axes.get_position()
        per_inch = [
            np.ptp(axes.get_xlim()) / (box.width * figure_size[0]),
            np.ptp(axes.get_ylim()) / (box.height * figure_size[1]),
        ]
        assert per_inch[0] == pytest.approx(per_inch[1])

    def test_what_failed_is_said_and_not_drawn(self, solved):
        trajectory = failed(solved("slider_crank"), 1, [3], 3)
        texts = {text.get_gid(): text.get_text() for text in mechanism_at(trajectory, 3).texts}
        assert "SG-2 not converged; not drawn: piston" in texts["title"]
        assert "name-piston" not in texts
        assert "name-rod" in texts
        assert "SG-2" not in {t.get_gid(): t.get_text() for t in mechanism_at(trajectory, 4).texts}["title"]

    def test_instants_that_are_not_there(self, solved):
        with pytest.raises(ValueError, match=r"41.* 0 to 40"):
            mechanism_at(solved("slider_crank"), 41)


class TestPaths:
    def test_a_path_is_that_of_the_trajectory(self, solved):
        trajectory = solved("theo_jansen")
        figure = paths(trajectory)
        (line,) = (line for line in lines_of(figure) if line.get_label() == "foot_triangle.foot")
        foot = trajectory.body("foot_triangle").point("foot")
        drawn = np.stack(line.get_data(), axis=1)  # in cm, as the file
        np.testing.assert_allclose(drawn, 100.0 * foot, atol=1e-10)

    def test_space_has_three_axes(self, solved):
        figure = paths(solved("rotor"), ["beam.left"])
        assert figure.axes[0].name == "3d"

    def test_a_gap_where_the_motion_failed(self, solved):
        trajectory = failed(solved("theo_jansen"), 3, slice(10, 15), 7)
        (line,) = (line for line in lines_of(paths(trajectory)) if line.get_label() == "foot_triangle.foot")
        assert np.flatnonzero(np.isnan(line.get_data()[0])).tolist() == list(range(10, 15))


class TestCoordinates:
    def test_curves_are_the_joints_coordinates(self, solved):
        trajectory = solved("slider_crank")
        figure = coordinates(trajectory, ["1-4.slide", "piston.y"])
        motion = trajectory.joint("1-4")["slide"]
        for axes, wanted in zip(figure.axes, (motion.value, motion.rate, motion.acceleration), strict=True):
            np.testing.assert_array_equal(axes.get_lines()[0].get_ydata(), wanted)

    def test_a_joint_with_an_id_is_found_by_its_bodies_too(self, solved):
        trajectory = solved("slider_crank")
        trajectory = replace(trajectory, mechanism=replace(trajectory.mechanism, joint_names={3: "guide"}))
        assert trajectory.mechanism.joint("1-4").id == "guide"
        for name in ("1-4.slide", "guide.slide"):
            (line,) = coordinates(trajectory, [name]).axes[0].get_lines()
            np.testing.assert_array_equal(line.get_ydata(), trajectory.joint("guide")["slide"].value)

    def test_driven_and_frame_joints_by_default(self, solved):
        figure = coordinates(solved("slider_crank"))
        labels = [text.get_text() for text in figure.legends[0].get_texts()]
        assert labels == ["1-2.angle (driven)", "1-4.slide"]

    def test_units(self, solved):
        labels = [axes.get_ylabel() for axes in coordinates(solved("suspension")).axes]
        assert labels[:3] == ["position (m)", "velocity (m/s)", "acceleration (m/s²)"]
        assert labels[3:] == ["angle (rad)", "angular velocity (rad/s)", "angular acceleration (rad/s²)"]

    def test_failed_instants_are_shaded_with_the_reason(self, solved):
        trajectory = failed(solved("slider_crank"), 1, slice(10, 15), 3)
        figure = coordinates(trajectory)
        labels = [text.get_text() for text in figure.legends[0].get_texts()]
        assert labels[-1] == "not solved: SG-2 not converged at 5 of 41 instants"
        (shade,) = figure.axes[0].collections
        low, high = shade.get_paths()[0].vertices[:, 0].min(), shade.get_paths()[0].vertices[:, 0].max()
        assert trajectory.time[9] < low <= trajectory.time[10]
        assert trajectory.time[14] <= high < trajectory.time[15]

    def test_no_higher_than_was_kept(self, solved):
        trajectory = replace(solved("slider_crank"), acceleration=None)
        assert len(coordinates(trajectory, ["piston.x"]).axes) == 2
        assert len(coordinates(trajectory, ["piston.x"], level="position").axes) == 1

    def test_all_faults_at_once(self, solved):
        with pytest.raises(
            ValueError, match=r"no coordinate 'crank\.q'.*'9-9\.angle'.*no coordinate '1-2\.turn'"
        ):
            coordinates(solved("slider_crank"), ["crank.q", "9-9.angle", "1-2.turn"])


class TestFailures:
    def test_the_first_failure_is_counted(self, solved):
        trajectory = failed(solved("slider_crank"), 1, [3, 4, 9], 3)
        assert sentence(trajectory) == "SG-2 not converged at 3 of 41 instants"
        assert [failed_at(trajectory, instant) for instant in (3, 5)] == ["SG-2 not converged", ""]
        trajectory.status[2, 0] = 2
        assert sentence(trajectory) == "SG-1 singular at 1 of 41 instants, and 1 more"


class TestModes:
    def test_every_mode_is_drawn_where_it_is(self):
        """Pins of the drawn modes lie where the mode's own bodies have them."""
        model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
        dyad = groups.modes(model, 2)
        figure = mode_pictures(model, [dyad])
        assert [axes.get_title() for axes in figure.axes] == ["SG-2, mode 1", "SG-2, mode 2, the reference"]
        frames = joint_frames(model.mechanism)
        joint = model.mechanism.joint_ids.index("3-4")
        for axes, mode in zip(figure.axes, dyad, strict=True):
            k = mode.bodies.tolist().index(model.mechanism.joint_bodies(joint)[0])
            pin = mode.position[k] + mode.rotation[k] @ frames.origin[joint, 0]
            marks = np.array([np.ravel(line.get_data()) for line in axes.lines if len(line.get_xdata()) == 1])
            assert np.linalg.norm(marks - pin[:2], axis=1).min() < 1e-9

    def test_later_groups_are_left_out_and_space_is_drawn(self, tmp_path):
        model = groups.build(mbssa.decompose(mbssa.load("rotor")))
        figure = mode_pictures(model, [groups.modes(model, 1)])
        assert len(figure.axes) == 2
        write_figure(figure, tmp_path / "modes.svg")
        assert "SG-1, mode 2, the reference" in (tmp_path / "modes.svg").read_text(encoding="utf-8")

    def test_too_many_are_refused(self, monkeypatch):
        monkeypatch.setattr("groups.pictures.modes.MOST_MODES", 1)
        model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
        with pytest.raises(ValueError, match=r"2 assembly modes .* --group"):
            mode_pictures(model, [groups.modes(model, 2)])


class TestFiles:
    def test_animation(self, solved, tmp_path):
        animate(solved("slider_crank"), tmp_path / "a.gif", frames=5, fps=10)
        with Image.open(tmp_path / "a.gif") as image:
            assert image.n_frames == 5
            assert image.info["duration"] == 100
            assert image.info["loop"] == 0
            image.seek(1)
            one = np.asarray(image.convert("RGB")).astype(int)
            image.seek(3)
            other = np.asarray(image.convert("RGB")).astype(int)
        assert (np.abs(one - other).max(axis=2) > 60).mean() > 0.005
        assert one[0, 0].tolist() == [255, 255, 255]

    @pytest.mark.parametrize(
        ("ending", "codec"), [("mp4", "h264"), pytest.param("webm", "vp9", marks=pytest.mark.slow)]
    )
    def test_video(self, solved, tmp_path, ending, codec):
        av = pytest.importorskip("av", reason="videos need PyAV: pip install 'mbssa[video]'")
        animate(solved("slider_crank"), tmp_path / f"a.{ending}", frames=4, fps=12.5, width=401)
        animate(solved("slider_crank"), tmp_path / "a.gif", frames=4, width=401)
        with av.open(tmp_path / f"a.{ending}") as film:
            (stream,) = film.streams
            assert stream.codec.name == codec
            assert (stream.width, float(stream.average_rate)) == (400, 12.5)
            shown = [frame.to_ndarray(format="rgb24").astype(int) for frame in film.decode(video=0)]
        assert len(shown) == 4
        with Image.open(tmp_path / "a.gif") as image:
            for f, frame in enumerate(shown):
                image.seek(f)
                drawn = np.asarray(image.convert("RGB")).astype(int)[: frame.shape[0], :400]
                assert (np.abs(frame - drawn).max(axis=2) > 90).mean() < 0.01

    def test_without_pyav_says_what_to_install(self, solved, tmp_path, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "av", None)
        with pytest.raises(ModuleNotFoundError, match=r"\[video\]"):
            animate(solved("slider_crank"), tmp_path / "a.mp4", frames=2)

    def test_animation_is_the_same_every_time(self, solved, tmp_path):
        for name in ("a.gif", "b.gif"):
            animate(solved("planar_four_bar"), tmp_path / name, frames=3)
        assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()

    def test_stills(self, solved, tmp_path):
        for picture in ("coordinates", "paths", "mechanism"):
            write(solved("planar_four_bar"), tmp_path / f"{picture}.SVG", picture=picture)
            assert "<svg" in (tmp_path / f"{picture}.SVG").read_text(encoding="utf-8"), picture

    def test_other_endings_are_refused_with_the_list(self, solved, tmp_path):
        for ending in ("", ".avi", ".svgz"):
            with pytest.raises(ValueError, match=r"\.gif, \.mp4, \.webm, \.html, \.png, \.svg or \.pdf"):
                write(solved("planar_four_bar"), tmp_path / f"a{ending}")
        assert list(tmp_path.iterdir()) == []

    def test_all_faults_at_once(self, solved, tmp_path):
        with pytest.raises(ValueError, match=r"frames = 0.*fps = 99.*width = 9"):
            animate(solved("planar_four_bar"), tmp_path / "a.gif", frames=0, fps=99, width=9)
        with pytest.raises(ValueError, match=r"a\.png: .* \.gif, \.mp4 or \.webm"):
            animate(solved("planar_four_bar"), tmp_path / "a.png")
