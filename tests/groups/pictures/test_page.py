"""The page of a motion: what is in the file, and what a real browser makes of it."""

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import mbssa
from groups.pictures import page, write

SEEK = "slider.value = {}; slider.dispatchEvent(new Event('input'))"
HOSTILE = "</script><script>alert('&amp;')</script>$\u2028"


def data_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script id="motion" type="application/json">(.*?)</script>', text)[1])


def arrays_of(data):
    time = np.frombuffer(base64.b64decode(data["time"]), "<f8")
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
    @pytest.mark.parametrize("name", ["rotor", "stewart", "theo_jansen"])
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
        assert set(re.findall(r"https?://[\w./-]+", text)) <= {"http://www.w3.org/1999/xhtml"}
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
        assert "9 of the 41 instants, evenly chosen" in data["about"]

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

    @pytest.mark.parametrize("name", ["rotor", "stewart", "theo_jansen", "slider_crank", "planar_3rrr"])
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
        row = browser.evaluate("document.querySelectorAll('#bodies button:not(.group)')[1].textContent")
        assert row == str(mechanism.bodies[1])
        assert browser.evaluate("document.querySelectorAll('img').length") == 0
        assert browser.evaluate("document.title").startswith("</script>")
        assert browser.complaints() == []


def test_every_model_that_moves_has_a_page(solved, tmp_path):
    for name in ("andrews", "nine_bar", "rssr", "spatial_4r", "six_sps", "suspension", "pendulum_four_bar"):
        page(solved(name, 11), tmp_path / f"{name}.html")
        data = data_of(tmp_path / f"{name}.html")
        assert len(data["marks"]) >= mbssa.load(name).n_joints - 1
        assert all(np.isfinite([*data["low"], *data["high"]]))
