"""A running studio for each test that asks for one, and a browser for the journeys."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")


@contextmanager
def running(cache, *arguments):
    """Address of a studio in a process of its own; its drawing is kept in ``cache``."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "MBSSA_TRUST": "0"}
    command = [sys.executable, "-m", "mbssa", "studio", "--no-browser", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        line = process.stdout.readline()
        found = re.match(r"studio: (http://127\.0\.0\.1:\d+/[\w-]+/)", line)
        assert found, (line, process.stderr.read())
        yield found[1]
    finally:
        process.terminate()
        _, complaints = process.communicate(timeout=20)
    assert "Traceback" not in complaints


@pytest.fixture
def studio(tmp_path):
    """Start a studio: ``with studio("rotor") as address``."""
    return lambda *arguments: running(tmp_path / "cache", *arguments)


@pytest.fixture(scope="session")
def chromium():
    """A headless browser; the tests that ask for it are skipped where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser on PATH: none of {', '.join(BROWSERS)}")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is missing: extra dev")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """A page of 1280 × 720 that collects complaints and requests, both of which end a test with an error."""
    context = chromium.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.complaints, page.addresses = [], []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.addresses.append(request.url))
    yield page
    context.close()
    assert page.complaints == []
    outside = ("http://127.0.0.1:", "data:", "blob:")
    assert [address for address in page.addresses if not address.startswith(outside)] == []
