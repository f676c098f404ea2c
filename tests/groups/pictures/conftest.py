"""A browser for the page of a motion: Chromium over its debugging pipe, without further packages."""

import base64
import fcntl
import io
import json
import os
import select
import shutil
import signal
import time

import numpy as np
import pytest

import groups
import mbssa

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--window-size=1000,700",
    "--remote-debugging-pipe",
)


@pytest.fixture(scope="session")
def solved():
    """Solved motions by model, once each."""
    made = {}

    def solve(name, steps=41):
        if (name, steps) not in made:
            mechanism = mbssa.load(name)
            model = groups.build(mbssa.decompose(mechanism))
            made[name, steps] = model.solve(swinging(mechanism, model, steps), compiled=False)
        return made[name, steps]

    return solve


def swinging(mechanism, model, steps):
    """Every driven coordinate swings a little about the reference."""
    reference = model.reference_inputs
    laws = {
        name: groups.harmonic(0.05, 0.5, 0.0, float(reference[name]))
        for name in groups.driven_coordinates(mechanism)
    }
    return groups.sample(mechanism, laws, np.linspace(0.0, 2.0, steps))


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A running browser; the tests that ask for it are skipped where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser on PATH: none of {', '.join(BROWSERS)}")
    running = Browser(found, tmp_path_factory.mktemp("browser"))
    yield running
    running.close()


class Browser:
    """The DevTools protocol: JSON messages that end with a zero byte, to file descriptor 3 and from 4."""

    def __init__(self, program, folder):
        theirs_in, self.out = os.pipe()
        self.inn, theirs_out = os.pipe()
        # Above 9, so that neither is written over before it is moved to its place.
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (theirs_in, theirs_out)]
        quiet = [(os.POSIX_SPAWN_OPEN, end, os.devnull, os.O_RDWR, 0) for end in (0, 1, 2)]
        moved = [(os.POSIX_SPAWN_DUP2, end, place) for end, place in zip(theirs, (3, 4), strict=True)]
        arguments = [program, *OPTIONS, f"--user-data-dir={folder}", "about:blank"]
        self.process = os.posix_spawn(program, arguments, os.environ, file_actions=quiet + moved)
        for end in (theirs_in, theirs_out, *theirs):
            os.close(end)
        self.buffer, self.number, self.session, self.target, self.events = b"", 0, None, None, []

    def open(self, path):
        """Show a file in a tab of its own, and wait until it has loaded."""
        self.close_tab()
        self.target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Page.navigate", url=path.as_uri())
        self.until(lambda: any(event["method"] == "Page.loadEventFired" for event in self.events))

    def close_tab(self):
        """Close the tab, where a motion would play on beside other tests."""
        self.session, self.events = None, []
        if self.target:
            self.send("Target.closeTarget", targetId=self.target)
            self.target = None

    def evaluate(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, expression):
        self.until(lambda: self.evaluate(expression))

    def drag(self, *points):
        for kind, (x, y) in zip(("mousePressed", *["mouseMoved"] * (len(points) - 1)), points, strict=True):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
        x, y = points[-1]
        self.send("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)

    def scroll(self, x, y, amount):
        self.send("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=amount)

    def picture(self):
        """(height, width, 3) what the page looks like."""
        from PIL import Image

        # Two frames later what was asked for is drawn.
        self.send(
            "Runtime.evaluate",
            expression="new Promise(go => requestAnimationFrame(() => requestAnimationFrame(go)))",
            awaitPromise=True,
        )
        data = self.send("Page.captureScreenshot", format="png")["data"]
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")).astype(int)

    def complaints(self):
        """Exceptions, errors and warnings that the page has given."""
        told = []
        for event in self.events:
            what = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                told.append(what["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif event["method"] == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
                told.append(str([part.get("value") for part in what["args"]]))
            elif event["method"] == "Log.entryAdded" and what["entry"]["level"] == "error":
                told.append(what["entry"]["text"])
        return told

    def requests(self):
        """Addresses that the page has asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        number = self.number
        answer = self.until(lambda: next((e for e in self.events if e.get("id") == number), None))
        self.events.remove(answer)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def until(self, true, seconds=60):
        end = time.monotonic() + seconds
        while not (value := true()):
            left = end - time.monotonic()
            assert left > 0, "the browser did not answer in time"
            if not select.select([self.inn], [], [], min(left, 0.05))[0]:
                continue
            data = os.read(self.inn, 1 << 20)
            assert data, "the browser has ended"
            *whole, self.buffer = (self.buffer + data).split(b"\0")
            self.events += [{"method": "", "params": {}, **json.loads(part)} for part in whole]
        return value

    def close(self):
        os.close(self.out)
        os.close(self.inn)
        os.kill(self.process, signal.SIGTERM)
        os.waitpid(self.process, 0)
