"""The studio: from the command to the first page, from an edit to coloured groups, poses while dragging.

python -m pytest benchmarks/test_studio.py --benchmark-only -s
"""

import os
import shutil
import subprocess
import sys
import time
import urllib.request

import pytest

from mbssa_studio import Session
from mbssa_studio.posing import Posing
from mbssa_studio.view import view

#: Aims: s to the first page, s from an edit to groups at 60 bodies, frames a second.
FIRST_PAGE, EDIT, FRAMES = 3.0, 0.3, 30.0

#: Drags the first slider for three seconds, as fast as the page draws; poses that were shown in a second.
DRAG = """async () => {
    const slider = document.querySelector('#inputs input'), begin = performance.now();
    const before = studio.rate.frames;
    for (let turn = 0; performance.now() - begin < 3000; turn += 0.01) {
        slider.value = 0.2 * slider.max * Math.sin(turn);
        slider.dispatchEvent(new Event('input'));
        await new Promise(requestAnimationFrame);
    }
    return (studio.rate.frames - before) / (performance.now() - begin) * 1000;
}"""


def dyads(n):
    """A crank and n dyads, each on the one before: 2 n + 2 bodies with the frame."""
    session = Session()
    session.edit("add_link", points=[[0, 0], [0, 40]])
    session.edit("add_ground", point=[0, 0])
    session.edit("set_field", index=0, field="driven", value=True)
    tip = [0, 40]
    for k in range(n):
        knee, foot = [100 * (k + 1), 80], [100 * (k + 1) + 20, 0]
        session.edit("add_link", points=[tip, knee])
        session.edit("add_link", points=[knee, foot])
        session.edit("add_ground", point=foot)
        tip = knee
    return session


def started(model, cache):
    """The process of a studio, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mbssa", "studio", "--no-browser", model],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "XDG_CACHE_HOME": str(cache)},
    )  # fmt: skip
    return process, process.stdout.readline().split()[1]


def test_first_page(benchmark, tmp_path):
    def start():
        begin = time.perf_counter()
        process, address = started("planar_four_bar", tmp_path)
        request = urllib.request.Request(
            f"{address}state", data=b"{}", headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            response.read()
        took = time.perf_counter() - begin
        process.terminate()
        process.communicate()
        return took

    took = benchmark.pedantic(start, rounds=3, warmup_rounds=1)
    print(f"\nfrom the command to the first state: {took:.1f} s (aim {FIRST_PAGE:g})")


def test_edit_to_coloured_groups(benchmark):
    session = dyads(29)
    assert session.mechanism().n_bodies == 60
    at = [[0.0, 40.0]]

    def edit():
        after = [at[0][0], at[0][1] + 0.01]
        session.edit("move_point", before=at[0], after=after)
        at[0] = after
        return view(session)

    data = benchmark.pedantic(edit, rounds=8, warmup_rounds=1)
    assert len(data["groups"]) == 30
    print(f"\nan edit at 60 bodies: {benchmark.stats.stats.median:.2f} s (aim {EDIT:g})")


def test_poses_of_a_dragged_six_bar(benchmark):
    posing = Posing(dyads(2).state)
    (name,) = posing.inputs
    answer = benchmark(lambda: posing.pose({name: posing.inputs[name] + 0.05}))
    assert "poses" in answer
    print(f"\nposes of a six-bar: {1 / benchmark.stats.stats.median:,.0f} a second (aim {FRAMES:g})")


@pytest.mark.parametrize("model", ["quick_return", "theo_jansen", "stewart"])
def test_frames_while_a_slider_is_dragged(benchmark, tmp_path, model):
    """In Chromium, which draws by software."""
    browsers = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on PATH")
    process, address = started(model, tmp_path)
    with browsers.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(address)
        page.wait_for_selector("#inputs input")
        if model == "stewart":  # in space the player shows the poses
            page.frame_locator("#player").locator("#status:not(:empty)").wait_for()
        frames = benchmark.pedantic(lambda: page.evaluate(DRAG), rounds=1)
        browser.close()
    process.terminate()
    process.communicate()
    print(f"\n{model}: {frames:.0f} poses shown a second (aim {FRAMES:g})")
