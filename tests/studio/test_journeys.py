"""Journeys of a person through the studio in a real browser."""

import json
import math
import os
import time
from pathlib import Path

import numpy as np
import pytest


def until(page, expression, seconds=15):
    """Wait for a condition. (Playwright's own waiting evaluates text, which the page's policy forbids.)"""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(20)


def tool(page, name):
    page.click(f"#tool-{name}")


def at(page, point):
    """Place on the page of a point of the drawing, whose corner is the reference."""
    box = page.locator("#drawing").bounding_box()
    return box["x"] + point[0], box["y"] + point[1]


def revision(page):
    return page.evaluate("studio.store.state.revision")


def drag(page, start, end):
    """Drag on the drawing, and wait for the edit."""
    before = revision(page)
    page.mouse.move(*at(page, start))
    page.mouse.down()
    page.mouse.move(*at(page, ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)))
    page.mouse.move(*at(page, end))
    page.mouse.up()
    until(page, f"studio.store.state.revision > {before}")


def click(page, point):
    before = revision(page)
    page.mouse.click(*at(page, point))
    until(page, f"studio.store.state.revision > {before}")


def opened(page, address):
    page.goto(address)
    until(page, "window.studio && studio.store.state")
    page.wait_for_selector("#play")


def draw_four_bar(page):
    tool(page, "link")
    drag(page, (192, 456), (192, 360))
    drag(page, (192, 360), (384, 264))
    drag(page, (384, 264), (432, 456))
    tool(page, "ground")
    click(page, (192, 456))
    click(page, (432, 456))
    tool(page, "drive")
    click(page, (192, 456))


def draw(page, *links, grounds=(), driven=None):
    """Draw links between points in the unit of the drawing, pin some to the frame and drive one of these."""
    tool(page, "link")
    for ends in links:
        drag(page, *(shown(page, end) for end in ends))
    tool(page, "ground")
    for point in grounds:
        click(page, shown(page, point))
    if driven is not None:
        tool(page, "drive")
        click(page, shown(page, driven))


def shown(page, point):
    """Place of a point, in the unit of the drawing, before the mechanism is moved."""
    return page.evaluate(f"studio.toScreen({list(point)})")


def joints(page):
    """Type and bodies of the joints."""
    return [(each["type"], each["bodies"]) for each in page.evaluate("studio.store.state.joints")]


def summary(page):
    return page.inner_text("#summary")


def test_draw_a_four_bar_and_play_it(studio, page):
    with studio() as address:
        opened(page, address)
        draw_four_bar(page)
        assert summary(page) == "mobility 1, 1 driven, 2 groups"
        assert page.locator(".card.group").count() == 2
        page.click("#play")
        frame = page.frame_locator("#player")
        frame.locator("#slider").wait_for()
        assert frame.locator("#clock").inner_text().startswith("t =")


@pytest.mark.slow
def test_a_motion_that_cannot_be_played_is_a_sentence(studio, page):
    with studio("planar_four_bar") as address:
        opened(page, address)
        tool(page, "drive")
        pin = page.locator(".pin.driven").bounding_box()
        before = revision(page)
        page.mouse.click(pin["x"] + pin["width"] / 2, pin["y"] + pin["height"] / 2)
        until(page, f"studio.store.state.revision > {before}")
        page.click("#play")
        until(page, "document.getElementById('message').textContent.includes('not determined')")
        assert not page.is_visible("#player")
        assert page.get_attribute("#play", "aria-pressed") == "false"
        page.select_option("#save", "player")
        until(page, "document.getElementById('message').textContent.includes('not determined')")
        page.click("#undo")
        until(page, "studio.store.state.determined")
        page.click("#play")
        page.frame_locator("#player").locator("#slider").wait_for()


def share(page):
    """Size of the links in the drawing, of the smaller side of its view; all of them are inside it."""
    return page.evaluate(
        """() => {
            const view = document.getElementById("drawing").getBoundingClientRect();
            const bars = [...document.querySelectorAll(".bar")].map((bar) => bar.getBoundingClientRect());
            const [left, top] = ["left", "top"].map((key) => Math.min(...bars.map((bar) => bar[key])));
            const [right, low] = ["right", "bottom"].map((key) => Math.max(...bars.map((bar) => bar[key])));
            if (left < view.left || top < view.top || right > view.right || low > view.bottom) return 0;
            return Math.max(right - left, low - top) / Math.min(view.width, view.height);
        }"""
    )


@pytest.mark.slow
def test_a_lost_view_comes_back(studio, page):
    with studio() as address:
        opened(page, address)
        draw_four_bar(page)
        page.mouse.move(*at(page, (300, 300)))
        for _ in range(60):
            page.mouse.wheel(0, 600)
        page.wait_for_timeout(50)
        page.keyboard.press("f")
        until(page, "studio.view.scale > 1")
        assert share(page) > 0.5
        for _ in range(60):
            page.mouse.wheel(0, -600)
        until(page, "studio.view.scale > 50")
        assert page.evaluate("studio.view.scale") < 1000
        page.click("#fit")
        assert share(page) > 0.5
        page.click("#tab-Pairs")
        page.fill("[aria-label='x of link3.B']", "1e6")
        page.keyboard.press("Tab")
        until(page, "studio.view.scale < 0.01")
        page.click("#undo")
        until(page, "studio.view.scale > 1")
        assert share(page) > 0.5
        for size in ((390, 640), (1024, 640), (1280, 720)):
            page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
            page.wait_for_timeout(100)
            assert share(page) > 0.3, size
        page.click("#nearer")
        assert page.evaluate("studio.view.own")
        page.click("#new")
        until(page, "studio.store.state.bodies.length === 1 && studio.view.scale === 2")


@pytest.mark.slow
def test_edits_do_not_wait_for_pictures_of_examples(studio, page):
    with studio() as address:
        opened(page, address)
        draw_four_bar(page)
        asked = []
        page.on("request", lambda request: asked.append(request.url) if "thumbnail" in request.url else None)
        page.click("#gallery")
        until(page, "document.querySelector('#builtin img')?.naturalWidth > 0", 60)
        page.click("#models button:text-is('Close')")
        page.wait_for_timeout(50)
        begun = len(asked)
        page.click("#new")
        until(page, "studio.store.state.bodies.length === 1", 3)
        page.wait_for_timeout(300)
        assert len(asked) == begun < 6
        page.click("#gallery")
        until(page, "document.querySelectorAll('#builtin img')[2].naturalWidth > 0", 60)
        # An edit is made even if the page is left at once.
        page.click("#models button:text-is('Close')")
        before = revision(page)
        page.evaluate("document.getElementById('undo').click(); location.reload()")
        page.wait_for_timeout(200)
        until(page, f"window.studio && studio.store.state && studio.store.state.revision > {before}")
        assert page.evaluate("studio.store.state.bodies.length") == 4


@pytest.mark.slow
def test_draw_a_six_bar_and_see_its_groups_in_three_hues(studio, page):
    with studio() as address:
        opened(page, address)
        draw_four_bar(page)
        tool(page, "link")
        drag(page, (384, 264), (576, 168))
        drag(page, (576, 168), (624, 456))
        tool(page, "ground")
        click(page, (624, 456))
        assert summary(page) == "mobility 1, 1 driven, 3 groups"
        hues = page.evaluate("studio.store.state.groups.map((group) => group.colour)")
        assert len(set(hues)) == 3
        strokes = page.evaluate(
            "[...document.querySelectorAll('.bar')].map((bar) => bar.getAttribute('stroke'))"
        )
        assert {stroke.upper() for stroke in strokes} >= set(hues)
        assert page.locator("#graph circle").count() == 3


@pytest.mark.slow
def test_break_it_and_apply_the_proposal(studio, page):
    with studio("planar_four_bar") as address:
        opened(page, address)
        page.click("#tab-Pairs")
        before = revision(page)
        page.fill("[aria-label='driven of joint 1']", "")
        page.keyboard.press("Tab")
        until(page, f"studio.store.state.revision > {before}")
        assert "not determined" in summary(page)
        page.click("#tab-Findings")
        page.locator(".finding.fatal").first.click()
        page.locator(".proposal button").first.click()
        until(page, "studio.store.state.determined")
        page.wait_for_selector("#verdict")
        assert page.inner_text("#verdict") == "Can be solved as given."


@pytest.mark.slow
def test_choose_the_inputs_of_the_rotor(studio, page):
    with studio("rotor") as address:
        opened(page, address)
        assert "7 groups" in summary(page)
        page.click("#tab-Inputs")
        page.click("#work-transform")
        page.locator("#transform button").first.wait_for(timeout=60_000)
        shown = "[...document.querySelectorAll('#transform tr:not([hidden])')].slice(1)"
        everything = page.evaluate(f"{shown}.length")
        page.fill("#filter", "1-2.slide groups>=9")
        rows = page.evaluate(f"{shown}.map((row) => [...row.cells].map((cell) => cell.textContent))")
        assert 0 < len(rows) < everything
        assert all("1-2.slide" in row[0] and int(row[1]) >= 9 for row in rows)
        assert page.inner_text("#filter + p").startswith(f"{len(rows)} of {everything} sets")
        page.locator("#transform tr:not([hidden]) button").first.click()
        until(page, "studio.store.state.groups.length === 9")


@pytest.mark.slow
def test_a_hostile_model_is_text_and_runs_nothing(studio, page, tmp_path):
    text = (
        'format = 1\nspace = "planar"\ntitle = "</script><img src=x onerror=alert(1)>"\n'
        '[[body]]\nname = "<img src=x onerror=alert(1)>"\n'
        '[[joint]]\nbodies = [1, 2]\ntype = "R"\npoint = [0, 0]\n'
        '[[joint]]\nbodies = [1, 2]\ntype = "USER"\nfunction = "evil.py:run"\n'
    )
    (tmp_path / "evil.toml").write_text(text)
    (tmp_path / "evil.exe").write_bytes(b"MZ")
    with studio() as address:
        opened(page, address)
        page.set_input_files("#open", tmp_path / "evil.toml")
        page.wait_for_selector(".card.fatal:has-text('Python function')")
        page.click("#tab-Matrix")
        page.click("#tab-Pairs")
        assert page.locator("img").count() == 0
        page.set_input_files("#open", tmp_path / "evil.exe")
        until(page, "document.getElementById('message').textContent.includes('not a supported')")


@pytest.mark.slow
def test_a_wrong_cell_is_marked_and_nothing_is_lost(studio, page):
    with studio("theo_jansen") as address:
        opened(page, address)
        page.click("#tab-Matrix")
        page.fill("[aria-label='M 2, 3']", "Q")
        page.keyboard.press("Tab")
        page.wait_for_selector("td.bad")
        assert "'Q' is not a joint type" in page.get_attribute("td.bad", "data-fault")
        assert page.evaluate("studio.store.state.text").count("# crank pin P") == 2
        page.click("#undo")
        until(page, "studio.store.state.determined")
        assert page.locator("td.bad").count() == 0


@pytest.mark.slow
def test_text_and_drawing_are_one(studio, page):
    with studio("planar_four_bar") as address:
        opened(page, address)
        page.click("#tab-Text")
        text = page.input_value("#text")
        page.fill("#text", text + "\nspace = ")
        page.click("text=Apply")
        page.wait_for_selector(".card.fatal")
        assert page.input_value("#text").endswith("space = ")
        page.fill("#text", text)
        page.click("text=Apply")
        until(page, "studio.store.state.determined")


@pytest.mark.slow
def test_drag_the_driven_link(studio, page):
    with studio("planar_four_bar") as address:
        opened(page, address)
        tool(page, "move")
        slider = page.locator("#inputs input")
        box = slider.bounding_box()
        coupler = ".bar[data-body='3']"
        first = page.get_attribute(coupler, "points")
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        for k in range(20):
            page.mouse.move(box["x"] + box["width"] * (0.5 + k / 60), box["y"] + box["height"] / 2)
        page.mouse.up()
        until(page, f"document.querySelector(\"{coupler}\").getAttribute('points') !== '{first}'")


@pytest.mark.slow
def test_two_tabs_show_one_model(studio, page):
    with studio() as address:
        opened(page, address)
        second = page.context.new_page()
        opened(second, address)
        draw_four_bar(page)
        until(second, "studio.store.state.determined")
        assert summary(second) == summary(page)


@pytest.mark.slow
def test_kill_the_server_and_recover(studio, page):
    with studio() as address:
        opened(page, address)
        draw_four_bar(page)
        text = page.evaluate("studio.store.state.text")
    page.wait_for_selector("text=does not answer")
    with studio() as address:
        opened(page, address)
        assert page.evaluate("studio.store.state.text") == text
        assert "the last drawing is back" in page.inner_text("#message")


@pytest.mark.slow
def test_undo_and_redo_by_the_keyboard(studio, page):
    with studio() as address:
        opened(page, address)
        empty = page.evaluate("studio.store.state.text")
        draw_four_bar(page)
        drawn = page.evaluate("studio.store.state.text")
        page.focus("#drawing")
        for _ in range(6):
            before = revision(page)
            page.keyboard.press("Control+z")
            until(page, f"studio.store.state.revision > {before}")
        assert page.evaluate("studio.store.state.text") == empty
        for _ in range(6):
            before = revision(page)
            page.keyboard.press("Control+y")
            until(page, f"studio.store.state.revision > {before}")
        assert page.evaluate("studio.store.state.text") == drawn


@pytest.mark.slow
def test_save_every_format(studio, page, tmp_path):
    with studio("planar_four_bar") as address:
        for ending in ("toml", "m", "csv", "npz"):
            opened(page, address)
            with page.expect_download() as download:
                page.select_option("#save", ending)
            download.value.save_as(tmp_path / f"{ending}.{ending}")
            page.set_input_files("#open", tmp_path / f"{ending}.{ending}")
            until(page, f"studio.store.state.name === '{ending}' && studio.store.state.determined")


@pytest.mark.slow
def test_a_spatial_model_follows_its_sliders_and_plays(studio, page):
    with studio("stewart") as address:
        opened(page, address)
        assert "determined" not in summary(page)
        inside = page.frame_locator("#player")
        inside.locator("#status:not(:empty)").wait_for()
        assert page.locator("#inputs input").count() == 6
        label = inside.locator("#labels :text-is('piston_1')")
        before = label.bounding_box()
        page.evaluate(
            "() => { const slider = document.querySelector('#inputs input');"
            "slider.value = 0.2; slider.dispatchEvent(new Event('input')); }"
        )
        until(page, "studio.rate.frames > 1")
        end = time.monotonic() + 15
        while label.bounding_box() == before:
            assert time.monotonic() < end
        page.click("#play")
        inside.locator("#clock:not(:text('t = 0 s'))").wait_for()


@pytest.mark.slow
def test_open_an_example_by_its_picture_and_come_back(studio, page):
    with studio() as address:
        opened(page, address)
        draw_four_bar(page)
        text = page.evaluate("studio.store.state.text")
        page.click("#gallery")
        page.click("#builtin button:has-text('andrews')")
        until(page, "studio.store.state.name === 'andrews'")
        page.click("#gallery")
        until(page, "document.querySelector('#builtin img').naturalWidth > 0")
        page.click("#recent button:has-text('model')")
        until(page, f"studio.store.state.text === {text!r}")


@pytest.mark.slow
def test_a_link_opens_the_model_elsewhere(studio, page, tmp_path):
    with studio() as address:
        opened(page, address)
        draw_four_bar(page)
        text = page.evaluate("studio.store.state.text")
        page.select_option("#save", "link")
        until(page, "location.hash.startsWith('#model=')")
        link = page.evaluate("location.hash")
    for arguments, ending in (((link,), ""), (("rotor",), link)):
        with studio(*arguments) as address:
            page.goto("about:blank")
            opened(page, address + ending)
            until(page, f"studio.store.state.text === {text!r}")


@pytest.mark.slow
def test_put_a_group_into_another_assembly_mode(studio, page):
    with studio("planar_four_bar") as address:
        opened(page, address)
        page.click("#tab-Modes")
        page.click("#work-modes")
        coupler = ".bar[data-body='3']"
        first = page.get_attribute(coupler, "points")
        page.locator(".row button:not(:has-text('reference'))").first.click()
        until(page, f"document.querySelector(\"{coupler}\").getAttribute('points') !== '{first}'")
        page.click("#play")
        page.frame_locator("#player").locator("#slider").wait_for()


@pytest.mark.slow
def test_pictures_are_shown_and_saved(studio, page, tmp_path):
    with studio("planar_four_bar") as address:
        opened(page, address)
        page.click("#tab-Pictures")
        names = page.evaluate("[...document.getElementById('picture').options].map((option) => option.value)")
        names.remove("workspace")  # there is one input
        for name in names:
            page.select_option("#picture", name)
            page.wait_for_selector(".picture img")
            until(page, "document.querySelector('.picture img').naturalWidth > 0")
        for kind, begins in (("PNG", b"\x89PNG"), ("PDF", b"%PDF"), ("CSV", b"time [s]")):
            with page.expect_download() as download:
                page.click(f".row a:text-is('{kind}')")
            assert Path(download.value.path()).read_bytes().startswith(begins)


@pytest.mark.slow
def test_groups_before_and_after_stand_side_by_side(studio, page):
    with studio("rotor") as address:
        opened(page, address)
        page.click("#tab-Inputs")
        page.click("#work-transform")
        page.locator("#transform button:text-is('compare')").first.click(timeout=60_000)
        page.wait_for_selector("#sides figure:nth-child(2)")
        counts = page.evaluate(
            "[...document.querySelectorAll('#sides svg')].map((svg) => svg.querySelectorAll('circle').length)"
        )
        assert counts == [7, 9]


@pytest.mark.slow
def test_a_parallelogram_shows_its_redundancy(studio, page):
    with studio("double_parallelogram") as address:
        opened(page, address)
        page.click("#tab-Findings")
        page.locator(".finding").nth(1).click()
        assert page.evaluate("studio.store.lit.joints.length + studio.store.lit.bodies.length") > 0
        assert page.locator(".lit").count() > 0


@pytest.mark.slow
def test_a_slider_crank_is_drawn(studio, page):
    with studio() as address:
        opened(page, address)
        tool(page, "link")
        drag(page, (192, 456), (192, 360))
        drag(page, (192, 360), (480, 456))
        drag(page, (480, 456), (528, 456))
        tool(page, "ground")
        click(page, (192, 456))
        tool(page, "slider")
        drag(page, (528, 456), (576, 456))
        tool(page, "drive")
        click(page, (192, 456))
        assert summary(page) == "mobility 1, 1 driven, 2 groups"


@pytest.mark.slow
def test_a_slot_a_length_and_a_trail(studio, page):
    with studio() as address:
        opened(page, address)
        tool(page, "link")
        drag(page, (192, 456), (192, 360))
        drag(page, (240, 456), (192, 264))
        tool(page, "ground")
        click(page, (192, 456))
        click(page, (240, 456))
        tool(page, "slot")
        drag(page, (192, 360), (198, 288))
        tool(page, "drive")
        click(page, (192, 456))
        assert summary(page) == "mobility 1, 1 driven, 2 groups"
        page.click("#tab-Pairs")
        before = revision(page)
        page.fill("[aria-label='length of link3']", "120")
        page.keyboard.press("Tab")
        until(page, f"studio.store.state.revision > {before}")
        until(page, "document.querySelector(\"[aria-label='length of link3']\").value === '120'")
        tool(page, "move")
        assert moved_by_dragging(page, (192, 456), (192, 360)) >= 3
        until(page, "document.querySelectorAll('.trail').length > 0")
        until(page, "document.querySelector('#inputs input').dataset.reach")


@pytest.mark.slow
def test_points_and_axes_in_space_have_handles(studio, page):
    def looked():
        frame = page.frames[-1]
        page.wait_for_timeout(200)  # a page made anew lays out its view first
        until(frame, "window.handles?.places().length > 4")
        edge = page.locator("#player").bounding_box()
        return {
            (each["joint"], each["field"]): (edge["x"] + each["at"][0], edge["y"] + each["at"][1])
            for each in frame.evaluate("handles.places()")
        }

    def places():
        found = None
        while found != (found := looked()):
            pass
        return found

    def pull(place, by):
        before = revision(page)
        page.mouse.move(*place)
        page.mouse.down()
        page.mouse.move(place[0] + by[0] / 2, place[1] + by[1] / 2)
        page.mouse.move(place[0] + by[0], place[1] + by[1])
        page.mouse.up()
        until(page, f"studio.store.state.revision > {before}")

    joint = "studio.store.state.joints[1]"
    with studio("rssr") as address:
        opened(page, address)
        before = page.evaluate(f"{joint}.point")
        shown = places()
        pull(shown[1, "point"], (0, -40))
        after = page.evaluate(f"{joint}.point")
        assert after[2] > before[2]
        moved = places()[1, "point"]  # the view stays, and the joint is where it was dropped
        assert math.dist(moved, shown[1, "point"]) == pytest.approx(40, abs=15)
        axis = page.evaluate("studio.store.state.joints[0].axis")
        pull(places()[0, "axis"], (30, 20))
        turned = page.evaluate("studio.store.state.joints[0].axis")
        assert 0.3 < np.dot(axis, turned) / np.linalg.norm(axis) / np.linalg.norm(turned) < 0.999
        page.click("#undo")
        page.click("#undo")
        until(page, f"JSON.stringify({joint}.point) === '{json.dumps(before).replace(' ', '')}'")


@pytest.mark.slow
def test_a_cam_and_its_follower(studio, page):
    with studio() as address:
        opened(page, address)
        page.on("dialog", lambda dialog: dialog.accept("10, 5"))
        tool(page, "link")
        drag(page, (192, 456), (192, 432))
        drag(page, (192, 360), (192, 264))
        tool(page, "ground")
        click(page, (192, 456))
        tool(page, "slider")
        drag(page, (192, 264), (192, 216))
        tool(page, "cam")
        drag(page, (192, 456), (192, 360))
        tool(page, "drive")
        click(page, (192, 456))
        assert summary(page) == "mobility 1, 1 driven, 2 groups"
        assert page.evaluate("document.querySelectorAll('.profile').length") == 2
        tool(page, "move")
        assert moved_by_dragging(page, (192, 432), (230, 456)) >= 3
        until(page, "document.querySelector('#inputs input').dataset.reach")


@pytest.mark.slow
def test_gears_and_an_underlay(studio, page, tmp_path):
    from matplotlib.figure import Figure

    Figure(figsize=(4, 2)).savefig(tmp_path / "drawing.png")
    with studio() as address:
        opened(page, address)
        answers = iter(["2", "300", "0"])
        page.on("dialog", lambda dialog: dialog.accept(next(answers)))
        tool(page, "link")
        drag(page, (192, 456), (192, 408))
        drag(page, (336, 456), (336, 408))
        tool(page, "ground")
        click(page, (192, 456))
        click(page, (336, 456))
        tool(page, "gear")
        drag(page, (192, 456), (336, 456))
        tool(page, "drive")
        click(page, (192, 456))
        assert summary(page) == "mobility 1, 1 driven, 2 groups"
        page.set_input_files("#underlay", tmp_path / "drawing.png")
        until(page, "document.querySelector('#drawing image')")
        circles = "[...document.querySelectorAll('circle[stroke-dasharray]')]"
        (x1, r1), (x2, r2) = page.evaluate(f"{circles}.map((c) => [c.cx, c.r].map((v) => v.baseVal.value))")
        assert (r2 / r1, r1 + r2) == pytest.approx((2, x2 - x1))
        width = "Number(document.querySelector('#drawing image').getAttribute('width'))"
        assert page.evaluate(width) == pytest.approx(300 / 80 * (x2 - x1))  # the pivots are 80 mm apart
        page.set_input_files("#underlay", tmp_path / "drawing.png")
        until(page, "!document.querySelector('#drawing image')")


@pytest.mark.slow
def test_the_tour(studio, page, tmp_path):
    """The steps of the tour, which draw a Watt six-bar; MBSSA_TOUR names a folder that gets its pictures."""
    folder = Path(os.environ.get("MBSSA_TOUR") or tmp_path)
    o, a, b, c, d, e, f = (192, 456), (192, 396), (352, 336), (372, 456), (452, 316), (592, 276), (612, 456)
    with studio() as address:
        opened(page, address)
        tool(page, "link")
        drag(page, o, a)
        drag(page, a, b)
        tool(page, "ternary")
        page.mouse.click(*at(page, b))
        page.mouse.click(*at(page, c))
        click(page, d)
        tool(page, "link")
        drag(page, d, e)
        drag(page, e, f)
        tool(page, "ground")
        for point in (o, c, f):
            click(page, point)
        page.click("#tab-Findings")
        page.locator(".proposal").first.wait_for(timeout=30_000)
        page.screenshot(path=folder / "studio-findings.png")
        tool(page, "drive")
        click(page, o)
        page.click("#tab-Groups")
        assert summary(page) == "mobility 1, 1 driven, 3 groups"
        page.screenshot(path=folder / "studio-groups.png")
        tool(page, "move")
        frames = moved_by_dragging(page, o, a)
        assert frames >= 5
        page.screenshot(path=folder / "studio-move.png")
        assert (folder / "studio-move.png").stat().st_size > 10_000


def moved_by_dragging(page, pivot, tip):
    """Frames that are drawn while the crank is dragged by its middle."""
    middle = [(pivot[k] + tip[k]) / 2 for k in range(2)]
    before = page.evaluate("studio.rate.frames")
    page.mouse.move(*at(page, middle))
    page.mouse.down()
    for k in range(30):
        page.mouse.move(*at(page, (middle[0] + k, middle[1])))
        page.wait_for_timeout(15)
    page.mouse.up()
    return page.evaluate("studio.rate.frames") - before


FOUR_BAR = ((0, 0), (0, 40)), ((0, 40), (100, 80)), ((100, 80), (120, 0))


@pytest.mark.slow
def test_a_slot_is_proposed_applied_and_moves(studio, page):
    with studio() as address:
        opened(page, address)
        draw(page, *FOUR_BAR, ((0, 40), (120, 0)), grounds=((0, 0), (120, 0)), driven=(0, 0))
        links = page.evaluate("studio.store.state.bodies.map((body) => body.points)")
        view = shown(page, (0, 0))
        page.click("#tab-Findings")
        page.locator(".proposal:has-text('2-5 from R to SLOT') button").click()
        until(page, "studio.store.state.determined")
        page.wait_for_selector("#verdict:has-text('Can be solved')")
        assert page.evaluate("studio.store.state.bodies.map((body) => body.points)") == links
        assert (page.evaluate("studio.store.state.unit"), shown(page, (0, 0))) == ("mm", view)
        tool(page, "move")
        assert moved_by_dragging(page, shown(page, (0, 0)), shown(page, (0, 40))) > 0
        assert page.is_hidden("#message")


@pytest.mark.slow
def test_a_slider_at_the_end_of_a_rod_lets_it_turn(studio, page):
    with studio() as address:
        opened(page, address)
        draw(page, ((0, 0), (0, 40)), ((0, 40), (100, 0)), grounds=((0, 0),))
        tool(page, "slider")
        drag(page, shown(page, (100, 0)), shown(page, (140, 0)))
        tool(page, "drive")
        click(page, shown(page, (0, 0)))
        assert summary(page) == "mobility 1, 1 driven, 2 groups"
        tool(page, "move")
        assert moved_by_dragging(page, shown(page, (0, 0)), shown(page, (0, 40))) > 0


@pytest.mark.slow
def test_tools_draw_at_the_reference_after_a_move(studio, page):
    with studio() as address:
        opened(page, address)
        draw(page, *FOUR_BAR, grounds=((0, 0), (120, 0)), driven=(0, 0))
        at_reference = page.get_attribute(".bar[data-body='3']", "points")
        tool(page, "move")
        assert moved_by_dragging(page, shown(page, (0, 0)), shown(page, (0, 40))) > 0
        assert page.get_attribute(".bar[data-body='3']", "points") != at_reference
        tool(page, "link")
        assert page.get_attribute(".bar[data-body='3']", "points") == at_reference
        # A slider shows another pose, in which Move is the tool.
        page.evaluate(
            "() => { const slider = document.querySelector('#inputs input');"
            "slider.value = 0.5; slider.dispatchEvent(new Event('input')); }"
        )
        page.wait_for_selector("#tool-move[aria-pressed=true]")
        draw(page, ((100, 80), (150, 100)))
        assert ("R", [3, 4, 5]) in joints(page)


@pytest.mark.slow
def test_a_pose_becomes_the_reference_and_is_drawn_on(studio, page):
    with studio() as address:
        opened(page, address)
        draw(page, *FOUR_BAR, grounds=((0, 0), (120, 0)), driven=(0, 0))
        tool(page, "move")
        assert page.is_hidden("#reference")
        assert moved_by_dragging(page, shown(page, (0, 0)), shown(page, (0, 40))) > 0
        before = revision(page)
        page.click("#reference")
        until(page, f"studio.store.state.revision > {before}")
        until(page, "studio.store.state.joints[1].point[0] !== 100")
        coupler = page.get_attribute(".bar[data-body='3']", "points")
        draw(page, (page.evaluate("studio.store.state.joints[1].point"), (150, 100)))
        assert ("R", [3, 4, 5]) in joints(page)
        assert page.get_attribute(".bar[data-body='3']", "points") == coupler


@pytest.mark.slow
def test_points_and_ends_are_on_links_and_on_the_grid(studio, page):
    with studio() as address:
        opened(page, address)
        draw(page, ((0, 0), (100, 0)), ((0, 40), (100, 80)), ((50, 0), (50, 30)))
        assert joints(page) == [("R", [2, 4])]
        tool(page, "point")
        for x, y in ((20, 0), (40, 56)):  # beside the link; the grid is crossed at one of its lines
            place = shown(page, (x, y))
            click(page, (place[0] + 1.3, place[1] - 1.2))
        points = page.evaluate("studio.store.state.bodies.map((body) => body.points.P1)")
        assert points[1] == [20, 0]
        assert points[2] == pytest.approx([40, 56])
        # A link begins at the point, and ends on the other link, a pixel beside its line.
        tool(page, "link")
        end = shown(page, (30, 0))
        drag(page, shown(page, (40, 56)), (end[0] + 1, end[1] - 3))
        assert joints(page)[1:] == [("R", [3, 5]), ("R", [2, 5])]
        assert page.evaluate("studio.store.state.joints[2].point") == [30, 0]
