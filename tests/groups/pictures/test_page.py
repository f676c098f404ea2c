"""The page of a motion: what is in the file, and what a real browser makes of it."""

import base64
import io
import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

import groups
import mbssa
from groups.pictures import page, write

SEEK = "slider.value = {}; slider.dispatchEvent(new Event('input'))"
HOSTILE = "</script><script>alert('&amp;')</script>$\u2028"


def data_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script id="motion" type="application/json">(.*?)</script>', text)[1])


def floats_of(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def arrays_of(data):
    time = np.array(data["time"])
    poses = np.frombuffer(base64.b64decode(data["poses"]), "<f4").reshape(len(time), len(data["bodies"]), 7)
    says = np.frombuffer(base64.b64decode(data["says"]), "<u2")
    return time, poses, [data["reasons"][row] for row in says]


def with_a_failure(trajectory, instants):
    """The last group fails at some instants and leaves the last body without a pose."""
    status, position = trajectory.status.copy(), trajectory.position.copy()
    status[instants, -1] = 1
    position[instants, -1] = np.nan
    return replace(trajectory, status=status, position=position)


class TestFile:
    def test_forces_are_those_of_joints(self, solved, tmp_path):
        """Of an over-constrained mechanism without the components that are open."""
        trajectory = solved("slider_crank")
        forces = groups.forces(trajectory, mbssa.decompose(trajectory.mechanism))
        page(trajectory, tmp_path / "a.html", forces=forces)
        data = data_of(tmp_path / "a.html")
        assert data["open"]
        assert [each["label"] for each in data["forces"]] == ["1-2", "2-3", "3-4", "1-4"]
        for each in data["forces"]:
            one = forces.joint(each["label"])
            at, force = (floats_of(each[key]).reshape(-1, 3) for key in ("at", "force"))
            np.testing.assert_allclose(at + data["centre"], one.point, atol=1e-6)
            np.testing.assert_allclose(force, np.nan_to_num(one.force), rtol=1e-6)
        assert np.isnan(forces.joint("1-2").force[:, 2]).all()
        page(trajectory, tmp_path / "b.html")
        assert data_of(tmp_path / "b.html")["forces"] == []

    @pytest.mark.parametrize("name", ["rotor", "theo_jansen"])
    def test_data_are_the_poses_of_the_trajectory(self, solved, tmp_path, name):
        trajectory = solved(name)
        page(trajectory, tmp_path / "a.html")
        data = data_of(tmp_path / "a.html")
        time, poses, reasons = arrays_of(data)
        lifted = trajectory.spatial()
        np.testing.assert_array_equal(time, trajectory.time)
        np.testing.assert_allclose(poses[..., :3] + data["centre"], lifted.position, atol=1e-6)
        # A quaternion and its negative are one orientation.
        turn = lifted.orientation
        np.testing.assert_allclose(np.abs((poses[..., 3:] * turn).sum(axis=2)), 1.0, atol=1e-6)
        assert set(reasons) == {""}
        assert [body["name"] for body in data["bodies"]] == [b.name for b in trajectory.mechanism.bodies]

    def test_far_from_the_origin_no_digit_is_lost(self, solved, tmp_path):
        trajectory = solved("slider_crank")
        shift = np.array([1e6, 0.0, 0.0])
        moved = replace(trajectory, position=trajectory.position + shift)
        page(moved, tmp_path / "a.html")
        data = data_of(tmp_path / "a.html")
        _, poses, _ = arrays_of(data)
        there = poses[:, 1:, :3].astype(float) + (data["centre"] - shift)
        assert np.ptp(there[:, 2, 0] - trajectory.position[:, 3, 0]) < 0.1

    def test_nothing_is_fetched(self, solved, tmp_path):
        page(solved("slider_crank"), tmp_path / "a.html")
        text = (tmp_path / "a.html").read_text(encoding="utf-8")
        assert re.findall(r"<(?:script|link|img|iframe|source)[^>]*\b(?:src|href)=", text) == []
        assert set(re.findall(r"https?://[\w./-]+", text)) <= {
            "http://www.w3.org/1999/xhtml",
            "http://www.w3.org/2000/svg",
        }  # namespaces
        assert re.findall(r"@import|url\(|\bimport\(", text) == []
        assert "default-src 'none'" in text

    def test_the_licence_of_what_is_embedded_is_in_the_file(self, solved, tmp_path):
        page(solved("slider_crank"), tmp_path / "a.html")
        assert "three.js authors" in (tmp_path / "a.html").read_text(encoding="utf-8")

    def test_names_cannot_break_out(self, solved, tmp_path):
        trajectory = solved("slider_crank")
        names = ("frame", HOSTILE, "rod", "piston")
        mechanism = replace(trajectory.mechanism, body_names=names, title=HOSTILE, name=HOSTILE)
        page(replace(trajectory, mechanism=mechanism), tmp_path / "a.html")
        text = (tmp_path / "a.html").read_text(encoding="utf-8")
        assert "<script>alert" not in text
        assert text.count("</script>") == 3
        assert data_of(tmp_path / "a.html")["bodies"][1]["name"] == HOSTILE

    def test_resampled_and_said(self, solved, tmp_path):
        page(solved("slider_crank"), tmp_path / "a.html", frames=9)
        data = data_of(tmp_path / "a.html")
        time, _, _ = arrays_of(data)
        np.testing.assert_allclose(time, np.linspace(0, 2, 9))
        assert "9 of the 41 instants" in data["about"]

    def test_failures_are_told_by_instant(self, solved, tmp_path):
        trajectory = with_a_failure(solved("slider_crank"), [3, 4])
        page(trajectory, tmp_path / "a.html")
        data = data_of(tmp_path / "a.html")
        _, poses, reasons = arrays_of(data)
        assert [i for i, reason in enumerate(reasons) if reason] == [3, 4]
        assert reasons[3] == "SG-2 not converged"
        assert np.flatnonzero(np.isnan(poses[:, 3, 0])).tolist() == [3, 4]
        assert "not converged" in data["note"]

    def test_bodies_that_were_not_kept_are_left_out_and_counted(self, solved, tmp_path):
        whole = solved("slider_crank")
        some = np.array([1, 3])
        kept = replace(
            whole, kept=some, position=whole.position[:, some], orientation=whole.orientation[:, some]
        )
        page(kept, tmp_path / "a.html", points=["piston.pin"])
        data = data_of(tmp_path / "a.html")
        assert [body["name"] for body in data["bodies"]] == ["frame", "crank", "piston"]
        assert "1 body was not kept" in data["about"]
        with pytest.raises(ValueError, match="rod was not kept"):
            page(kept, tmp_path / "b.html", points=[("rod", (0.5, 0.0, 0.0))])

    def test_refusals(self, solved, tmp_path):
        with pytest.raises(ValueError, match=r"written as \.html; frames = 0"):
            page(solved("slider_crank"), tmp_path / "a.svg", frames=0)

    def test_matplotlib_is_not_needed(self, solved, tmp_path, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
        write(solved("slider_crank"), tmp_path / "a.html")

    def test_curves_are_the_coordinates_in_the_units_of_the_file(self, solved, tmp_path):
        trajectory = solved("theo_jansen")
        page(trajectory, tmp_path / "a.html")
        curves = {curve["label"]: curve for curve in data_of(tmp_path / "a.html")["curves"]}
        crank = curves["1-2.angle"]
        assert crank["driven"]
        assert crank["titles"][1] == "angular velocity (rad/s)"
        motion = trajectory.joint("1-2")["angle"]
        for part, wanted in zip(
            crank["parts"], (motion.value, motion.rate, motion.acceleration), strict=True
        ):
            np.testing.assert_allclose(np.frombuffer(base64.b64decode(part), "<f4"), wanted, rtol=1e-6)
        mm = replace(trajectory, mechanism=replace(trajectory.mechanism, units=("mm", "deg")))
        page(mm, tmp_path / "b.html")
        foot = {c["label"]: c for c in data_of(tmp_path / "b.html")["curves"]}["foot_triangle.foot.x"]
        assert foot["titles"][0] == "position (mm)"
        wanted = 1000 * trajectory.body("foot_triangle").point("foot")[:, 0]
        np.testing.assert_allclose(
            np.frombuffer(base64.b64decode(foot["parts"][0]), "<f4"), wanted, rtol=1e-6
        )

    @pytest.mark.parametrize("name", ["slider_crank", "rssr"])
    def test_arrows_are_the_rates_of_the_paths(self, solved, tmp_path, name):
        trajectory = solved(name, 401)
        page(trajectory, tmp_path / "a.html")
        data = data_of(tmp_path / "a.html")
        time, poses, _ = arrays_of(data)
        path = data["paths"][0]
        w, xyz = poses[:, path["body"], 3:4], poses[:, path["body"], 4:]
        arm = np.broadcast_to(np.array(path["at"]), xyz.shape)
        turned = arm + 2 * np.cross(xyz, np.cross(xyz, arm) + w * arm)
        place = poses[:, path["body"], :3] + turned
        velocity, acceleration = (floats_of(rate).reshape(-1, 3) for rate in path["rates"])
        slope = np.gradient(place.astype(float), time, axis=0)[2:-2]
        assert np.abs(slope - velocity[2:-2]).max() < 1e-3 * np.abs(velocity).max()
        slope = np.gradient(velocity.astype(float), time, axis=0)[2:-2]
        assert np.abs(slope - acceleration[2:-2]).max() < 1e-3 * np.abs(acceleration).max()

    def test_the_model_can_be_saved_from_the_page(self, solved, tmp_path):
        trajectory = solved("stewart")
        page(trajectory, tmp_path / "a.html")
        again = mbssa.load(data_of(tmp_path / "a.html")["model"])
        assert again.joint_ids == trajectory.mechanism.joint_ids


@pytest.mark.slow
class TestBrowser:
    """Pixels and controls, in Chromium."""

    @pytest.fixture
    def shown(self, browser, solved, tmp_path):
        def show(trajectory):
            page(trajectory, tmp_path / "a.html")
            browser.open(tmp_path / "a.html")
            return browser

        yield show
        browser.close_tab()

    @pytest.mark.parametrize("name", ["rotor", "theo_jansen"])
    def test_draws_without_a_complaint_and_without_a_network(self, shown, solved, name):
        browser = shown(solved(name))
        picture = browser.picture()
        assert browser.complaints() == []
        assert all(address.startswith("file:") for address in browser.requests())
        # Saturated colours are the bodies': grid, texts and paper are grey.
        middle = picture[100:560, 100:780]
        assert (np.ptp(middle, axis=2) > 60).mean() > 0.01

    def test_play_pause_and_slider(self, shown, solved):
        browser = shown(solved("slider_crank"))
        browser.wait("document.getElementById('play').textContent === 'Pause'")
        before = float(browser.evaluate("document.getElementById('slider').value"))
        browser.wait(f"Number(document.getElementById('slider').value) !== {before}")
        browser.evaluate("document.getElementById('play').click()")
        still = browser.evaluate("document.getElementById('slider').value")
        first = browser.picture()
        assert browser.evaluate("document.getElementById('slider').value") == still
        browser.evaluate(SEEK.format(30))
        assert browser.evaluate("document.getElementById('clock').textContent") == "t = 1.5 s"
        assert np.abs(browser.picture() - first).max() > 60

    def test_dragging_turns_scrolling_zooms_and_the_view_comes_back(self, shown, solved):
        browser = shown(solved("stewart"))
        browser.evaluate("document.getElementById('play').click()")
        browser.evaluate("document.getElementById('names').click()")
        first = browser.picture()
        browser.drag((500, 300), (560, 310), (640, 330))
        second = browser.picture()
        assert (np.abs(second - first).max(axis=2) > 60).mean() > 0.01
        browser.scroll(500, 300, 400)
        third = browser.picture()
        assert (np.abs(third - second).max(axis=2) > 60).mean() > 0.005
        browser.evaluate("document.getElementById('view').click()")
        np.testing.assert_array_equal(browser.picture()[60:560, :780], first[60:560, :780])
        assert browser.complaints() == []

    def test_keys_step_and_views_change(self, shown, solved):
        browser = shown(solved("stewart"))
        press = "dispatchEvent(new KeyboardEvent('keydown', {{key: '{}', bubbles: true}}))"
        at = "document.getElementById('slider').value"
        for key, wanted in (("Home", "0"), ("ArrowRight", "1"), ("ArrowRight", "2"), ("ArrowLeft", "1")):
            browser.evaluate("document.body." + press.format(key))
            assert browser.evaluate(at) == wanted
        seen = [browser.picture()]
        for view in ("front", "top", "side"):
            choose = f"const from = document.getElementById('from'); from.value = '{view}'; from.onchange()"
            browser.evaluate("{" + choose + "}")
            seen.append(browser.picture())
            assert all((np.abs(seen[-1] - other).max(axis=2) > 60).mean() > 0.01 for other in seen[:-1])
        assert browser.complaints() == []

    def test_a_failed_instant_is_told_and_its_body_is_gone(self, shown, solved):
        browser = shown(with_a_failure(solved("slider_crank"), slice(20, 41)))
        browser.evaluate("document.getElementById('play').click()")
        browser.evaluate(SEEK.format(10))
        assert "SG-2" in browser.evaluate("document.getElementById('status').textContent")
        assert browser.evaluate("document.getElementById('status').className") == ""
        browser.evaluate(SEEK.format(25))
        said = browser.evaluate("document.getElementById('status').textContent")
        assert said == "SG-2 not converged; not drawn: piston"
        assert browser.evaluate("document.querySelectorAll('#bodies .missing').length") == 1

    def test_a_body_is_brought_out(self, shown, solved):
        browser = shown(solved("rotor"))
        browser.evaluate("document.getElementById('play').click()")
        first = browser.picture()
        browser.evaluate("document.querySelectorAll('#bodies button')[5].click()")
        second = browser.picture()
        colourful = [(np.ptp(p[100:560, 100:780], axis=2) > 60).sum() for p in (first, second)]
        assert 0 < colourful[1] < 0.6 * colourful[0]

    def test_a_group_is_brought_out_with_its_bodies(self, shown, solved):
        browser = shown(solved("rotor"))
        groups = browser.evaluate(
            "[...document.querySelectorAll('#bodies .group')].map((b) => b.textContent)"
        )
        assert groups[0] == "SG-1 1R1P1U1S3D"
        assert len(groups) == 7
        browser.evaluate("document.querySelectorAll('#bodies .group')[0].click()")
        pressed = "[...document.querySelectorAll('#bodies [aria-pressed=true]')].map((b) => b.textContent)"
        found = browser.evaluate(pressed)
        assert [row.split()[0] for row in found] == ["9", "10", "13"]
        browser.evaluate("document.querySelectorAll('#bodies .group')[0].click()")
        assert browser.evaluate(pressed) == []

    def test_levels_are_shown_one_after_another(self, shown, solved):
        browser = shown(solved("theo_jansen"))
        choose = "{{const s = document.getElementById('stages'); s.value = '{}'; s.onchange()}}"
        names = (
            "[...document.querySelectorAll('#labels span')].filter((s) => s.style.visibility === 'visible')"
        )
        browser.evaluate("document.getElementById('play').click()")
        seen = []
        browser.evaluate(choose.format("level"))
        for _ in range(3):
            browser.picture()
            said = browser.evaluate("document.getElementById('status').textContent")
            seen.append((said.partition(".")[0], browser.evaluate(names + ".map((s) => s.textContent)")))
            press = "new KeyboardEvent('keydown', {key: ']', bubbles: true})"
            browser.evaluate(f"document.body.dispatchEvent({press})")
        assert [said for said, _ in seen] == ["1 of 3: Level 1", "2 of 3: Level 2", "3 of 3: Level 3"]
        assert [set(some) for _, some in seen] == [
            {"crank"},
            {"upper_rod", "upper_triangle", "lower_rod", "lower_rocker"},
            {"link", "foot_triangle"},
        ]
        browser.evaluate(choose.format("whole"))
        browser.picture()
        assert len(browser.evaluate(names + ".map((s) => s.textContent)")) == 7
        assert browser.complaints() == []

    def test_inputs_and_curves_go_to_their_instant(self, shown, solved):
        browser = shown(solved("slider_crank"))
        driven = np.rad2deg(solved("slider_crank").joint("1-2")["angle"].value)  # its file is in degrees
        browser.evaluate(
            "{const i = document.querySelector('#inputs input'); "
            f"i.value = {driven[12]}; i.dispatchEvent(new Event('input'))}}"
        )
        frame = int(browser.evaluate("document.getElementById('slider').value"))
        assert driven[frame] == pytest.approx(driven[12], abs=np.ptp(driven) / 500)
        browser.evaluate("{const c = document.getElementById('coordinate'); c.value = '0'; c.onchange()}")
        assert browser.evaluate("document.querySelectorAll('#curves svg').length") == 3
        browser.evaluate(SEEK.format(7))
        said = browser.evaluate("document.querySelector('#curves output').textContent")
        assert float(said) == pytest.approx(driven[7], rel=1e-3)
        left, width, top = browser.evaluate(
            "(({left, width, top}) => [left, width, top])"
            "(document.querySelector('#curves svg').getBoundingClientRect())"
        )
        x = left + 0.5 * width
        browser.drag((x, top + 20), (x, top + 21))
        assert browser.evaluate("document.getElementById('slider').value") == "20"
        assert browser.complaints() == []

    def test_arrows_come_and_go(self, shown, solved):
        browser = shown(solved("slider_crank"))
        browser.evaluate(SEEK.format(10))
        seen = [browser.picture()]
        for name in ("velocity", "acceleration", "acceleration", "velocity"):
            browser.evaluate(f"document.getElementById('{name}').click()")
            seen.append(browser.picture())
        changed = [(np.abs(b - a)[60:560, :780].max(axis=2) > 60).sum() for a, b in pairwise(seen)]
        assert min(changed) > 50
        np.testing.assert_array_equal(seen[0][60:560, :780], seen[-1][60:560, :780])

    def test_what_is_saved_has_the_names(self, shown, solved):
        browser = shown(solved("theo_jansen"))
        browser.evaluate("document.getElementById('play').click()")
        browser.evaluate(
            "HTMLAnchorElement.prototype.click = function () { window.saved = [this.download, this.href]; }"
        )
        browser.picture()
        pictures = {}
        for step in ("with", "without"):
            browser.evaluate("document.getElementById('png').click()")
            name, address = browser.evaluate("window.saved")
            assert name == "theo_jansen.png"
            raw = base64.b64decode(address.partition(",")[2])
            pictures[step] = np.asarray(Image.open(io.BytesIO(raw)).convert("RGB")).astype(int)
            browser.evaluate("document.getElementById('names').click()")
        # Names are dark texts; nothing else differs.
        differs = np.abs(pictures["with"] - pictures["without"]).max(axis=2) > 60
        assert 100 < differs.sum() < 20_000
        browser.evaluate("document.getElementById('model').click()")
        assert browser.evaluate("window.saved")[0] == "theo_jansen.toml"

    def test_light_and_dark(self, shown, solved):
        browser = shown(solved("theo_jansen"))
        light = browser.picture()[300, 5].sum()
        browser.evaluate("document.getElementById('theme').click()")
        assert abs(int(browser.picture()[300, 5].sum()) - int(light)) > 400

    def test_hostile_names_are_only_text(self, shown, solved):
        trajectory = solved("slider_crank")
        names = ("frame", HOSTILE, "<img src=x onerror=alert(1)>", "piston")
        mechanism = replace(trajectory.mechanism, body_names=names, title=HOSTILE)
        browser = shown(replace(trajectory, mechanism=mechanism))
        row = browser.evaluate(
            "document.querySelectorAll('#bodies button:not(.group, .level)')[1].textContent"
        )
        assert row == str(mechanism.bodies[1])
        assert browser.evaluate("document.querySelectorAll('img').length") == 0
        assert browser.evaluate("document.title").startswith("</script>")
        assert browser.complaints() == []


class TestWithoutWebGL:
    """The same scene is drawn in SVG, and every control works."""

    def test_draws_and_plays(self, browser, solved, tmp_path):
        page(solved("stewart"), tmp_path / "a.html")
        text = (tmp_path / "a.html").read_text(encoding="utf-8")
        without = "<body><script>HTMLCanvasElement.prototype.getContext = () => null;</script>"
        (tmp_path / "b.html").write_text(text.replace("<body>", without, 1), encoding="utf-8")
        browser.open(tmp_path / "b.html")
        picture = browser.picture()
        assert browser.evaluate("document.getElementById('scene').tagName") == "svg"
        assert (np.ptp(picture[100:560, 100:780], axis=2) > 60).mean() > 0.005
        browser.wait("document.getElementById('play').textContent === 'Pause'")
        browser.evaluate("document.getElementById('play').click()")
        browser.evaluate(SEEK.format(5))
        before = browser.picture()
        browser.evaluate(SEEK.format(30))
        assert (np.abs(browser.picture() - before).max(axis=2) > 60).sum() > 200
        before = browser.picture()
        browser.drag((500, 300), (560, 310), (640, 330))
        assert (np.abs(browser.picture() - before).max(axis=2) > 60).sum() > 200
        assert len(browser.evaluate("[...document.querySelectorAll('#bodies button')]")) > 14
        assert [one for one in browser.complaints() if "WebGL" not in one] == []
        browser.close_tab()


@pytest.mark.slow
class TestPhone:
    def test_nothing_lies_over_something_else(self, browser, solved, tmp_path):
        page(solved("theo_jansen"), tmp_path / "a.html")
        browser.open(tmp_path / "a.html")
        browser.send(
            "Emulation.setDeviceMetricsOverride", width=390, height=780, deviceScaleFactor=2, mobile=True
        )
        browser.send("Page.reload")
        browser.wait("document.readyState === 'complete' && innerWidth === 390")
        boxes = browser.evaluate(
            "['top', 'panel', 'status', 'bar'].map((id) => $(id).getBoundingClientRect())"
            ".map(({left, right, top, bottom}) => [left, right, top, bottom])"
        )
        for i, (left, right, _, bottom) in enumerate(boxes):
            assert left >= 0
            assert right <= 390
            assert bottom <= 780
            assert all(bottom <= other[2] for other in boxes[i + 1 :]), (i, boxes)
        browser.close_tab()


def test_every_model_that_moves_has_a_page(solved, tmp_path):
    for name in ("andrews", "nine_bar", "rssr", "six_sps", "suspension"):
        page(solved(name, 11), tmp_path / f"{name}.html")
        data = data_of(tmp_path / f"{name}.html")
        assert len(data["marks"]) >= mbssa.load(name).n_joints - 1
        assert all(np.isfinite([*data["low"], *data["high"]]))
