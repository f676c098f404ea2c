"""Requests that are no person's: other hosts, other pages, no token, too much; and the command."""

import asyncio
import inspect
import json
import socket
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mbssa import ModelError
from mbssa_studio import Session
from mbssa_studio.document import EMPTY
from mbssa_studio.server import Studio, application
from mbssa_studio.session import EDITS

#: Requests of the page, but for the work that has a process of its own.
CALLS = {
    "state": (), "revision": (), "edit": ("name", "arguments"), "text": ("text",), "undo": (), "redo": (),
    "example": ("name",), "new": (), "use": ("inputs", "pairs"), "apply": ("kind", "types", "driven"),
    "pose": ("values",), "examples": (), "recent": ("name",), "link": (), "open_link": ("link",),
    "preview": ("inputs", "pairs"), "mode": ("group", "mode"), "reach": ("name",),
}  # fmt: skip


def status(address, data=None, **headers):
    request = urllib.request.Request(address, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Client:
    """Requests to the application of a session in this process, in pieces as a socket has them."""

    def __init__(self, model="planar_four_bar"):
        self.session = Session()
        self.session.open_builtin(model)
        self.application = application(self.session, {"h"}, "t")

    def send(self, path, *pieces, method="POST", kind="http", leaves=False, **headers):
        """Status and text of the answer; without an answer (None, "")."""
        pieces = pieces or (b"",)
        more = [leaves or k + 1 < len(pieces) for k in range(len(pieces))]
        pieces = zip(pieces, more, strict=True)
        left = [{"type": "http.request", "body": each, "more_body": more} for each, more in pieces]
        answers = []

        async def receive():
            return left.pop(0) if left else {"type": "http.disconnect"}

        async def send(message):
            answers.append(message)

        headers = {"host": "h", "content-type": "application/json"} | headers
        scope = {
            "type": kind, "method": method, "path": f"/t/{path}", "root_path": "", "query_string": b"",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
        }  # fmt: skip
        with ThreadPoolExecutor(1) as thread:  # the loop of a browser may run in this one
            thread.submit(asyncio.run, self.application(scope, receive, send)).result()
        if not answers:
            return None, ""
        text = b"".join(each.get("body", b"") for each in answers).decode()
        return answers[0].get("status", answers[0]["type"]), text

    def call(self, name, given=None, /, **arguments):
        """Status and text of the answer to a request of the page."""
        return self.send(name, json.dumps(arguments if given is None else given).encode())


WRONG = {
    "nested": ("state", b"[" * 100_000, 400),
    "half a character": ("edit", b'{"name": "\\ud800"}', 400),
    "half a text": ("text", b'{"text": "\\ud800"}', 400),
    "infinite": ("pose", b'{"values": {"1-2.angle": 1e400}}', 400),
    "not finite": ("text", b'{"text": NaN}', 400),
    "not UTF-8": ("state", b"\xff", 400),
    "no object": ("pose", b'{"values": [1]}', 422),
    "too large for a float": ("pose", b'{"values": {"1-2.angle": 1%s}}' % (b"0" * 400), 422),
    "no group": ("mode", b'{"group": 99, "mode": 1}', 422),
    "no mode": ("mode", b'{"group": 2, "mode": 99}', 422),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_request_is_refused_and_changes_nothing(case):
    client = Client()
    before, poses = client.call("state"), client.call("pose", values={})
    name, body, code = WRONG[case]
    assert client.send(name, body)[0] == code
    assert client.call("state") == before
    assert client.call("pose", values={}) == poses


def test_a_body_in_pieces_is_bounded_and_one_that_breaks_off_is_no_fault():
    client = Client()
    whole = json.dumps({"values": {}}).encode()
    assert client.send("pose", whole[:5], whole[5:])[0] == 200
    assert client.send("text", *[b"x" * 1_000_000] * 6)[0] == 413
    assert client.send("text", b"x", **{"content-length": "\u00b2"})[0] == 400
    assert client.send("pose", whole, leaves=True) == (None, "")
    assert client.send("picture/mechanism/svg", b"", method="GET", leaves=True) == (None, "")


def test_what_is_no_request_of_the_page_is_refused():
    client = Client()
    assert client.send("", kind="websocket")[0] == "websocket.close"
    assert client.send("state", b"{}", origin="h")[0] == 403
    assert client.send("state", b"{}", origin="http://h")[0] == 200
    for ending in ("%2Etoml", ".toml", "exe", "\u00e9"):
        assert client.send(f"save/{ending}", method="GET")[0] in (404, 422)
    for method in ("GET", "PUT", "DELETE"):
        assert client.send("state", method=method)[0] == 405


ODD = st.sampled_from([
    None, True, -1, 0, 1, 2, 99, 10**30, 10**400, 1e308, "", "x", "R", "\0", "1-2.angle", [], [[]], [0, 0],
    [1, 2], [[0, 0], [0, 40]], {}, {"a": 1}, {"1-2.angle": None}, json.loads("[" * 500 + "]" * 500),
])  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_no_request_is_an_error_of_the_server(data):
    client = Client()
    for _ in range(3):
        name = data.draw(st.sampled_from(sorted(CALLS)))
        arguments = {key: data.draw(ODD) for key in CALLS[name] if data.draw(st.booleans())}
        if name == "edit":
            edit = data.draw(st.sampled_from(sorted(EDITS)))
            own = list(inspect.signature(EDITS[edit]).parameters)[1:]
            arguments = {"name": edit, "arguments": {key: data.draw(ODD) for key in own}}
        assert client.call(name, arguments)[0] in (200, 400, 422)
        assert client.call("state")[0] == 200


STRANGE = {
    "infinite": "inf",
    "not finite": "[nan, 0]",
    "date": "1979-05-27",
    "too large for a float": f"[1{'0' * 400}, 0]",
    "table": "{A = [inf, 0]}",
    "list": "[1, 2]",
    "ragged": "[[1], 2]",
    "nested": "[" * 90 + "]" * 90,
}


@pytest.mark.parametrize("value", STRANGE.values(), ids=list(STRANGE))
def test_what_a_text_may_hold_is_shown_or_left_out(value):
    client = Client()
    for text in (
        f"body = {value}",
        f"joint = {value}",
        f"[[body]]\npoints = {value}",
        f"[[body]]\n[[joint]]\nbodies = {value}\naxis = {value}\npoint = {value}\nratio = {value}",
        f"title = {value}\n[units]\nlength = {value}",
    ):
        code, answer = client.call("text", text=f'format = 1\nspace = "planar"\n{text}')
        assert (code, bool(json.loads(answer)["faults"])) == (200, True), text
    client.call("text", text=EMPTY)
    assert client.call("edit", name="add_link", arguments={"points": [[0, 0], [0, 40]]})[0] == 200


def test_a_mode_that_cannot_be_taken_is_not_kept():
    client = Client()
    other = json.loads(client.call("mode", group=2, mode=2)[1])["poses"]
    assert client.call("mode", group=2, mode=3)[0] == 422
    assert json.loads(client.call("pose", values={})[1])["poses"] == other


def test_why_a_motion_cannot_be_played_is_said_before_its_page_is_opened():
    client = Client()
    assert client.call("play") == (200, "{}")
    assert "<script" in client.send("player", method="GET")[1]
    client.call("edit", name="set_field", arguments={"index": 0, "field": "driven", "value": None})
    code, answer = client.call("play")
    assert (code, "not determined" in json.loads(answer)["error"]) == (422, True)


def test_a_file_name_may_be_no_text():
    client = Client()
    client.session.set_text(EMPTY, "\udcff")  # as Python reads it from a folder
    code, answer = client.call("state")
    assert (code, json.loads(answer)["name"]) == (200, "?")


@pytest.mark.parametrize("name", ["my arm.urdf", "my arm.csv", "my arm.npz", "my arm.toml"])
def test_faults_of_an_upload_name_the_file_of_the_person(name):
    with pytest.raises(ModelError) as refused, closing(Studio(Session())) as served:
        served.open(name, b"\xff")
    assert refused.value.source == name
    assert "tmp" not in str(refused.value)


_HEAD = b"POST /TOKEN/state HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n"
ABRUPT = (
    b"\x16\x03\x01",
    b"GET /TOKEN/ HTTP/9.9\r\n\r\n",
    _HEAD + b"Content-Length: 50\r\n\r\n{",
    _HEAD + b"Content-Length: -1\r\n\r\n{",
    _HEAD + b"Transfer-Encoding: chunked\r\n\r\n5b8d80\r\n" + b" " * 6_000_000 + b"\r\n0\r\n\r\n",
    b"GET /TOKEN/picture/mechanism/svg HTTP/1.1\r\nHost: HOST\r\n\r\n",
    b"GET /TOKEN/ HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
)


def test_only_its_own_page_is_answered(studio):
    kind = {"Content-Type": "application/json"}
    with studio("planar_four_bar") as address:
        top = address.split("/", 3)
        bare = f"{top[0]}//{top[2]}/"
        assert status(address)[0] == 200
        assert status(bare)[0] == 404
        assert status(f"{bare}guess/state", b"{}", **kind)[0] == 404
        assert status(address, Host="evil.example")[0] == 400
        assert status(f"{address}state", b"{}", Origin="http://evil.example", **kind)[0] == 403
        assert status(f"{address}state", b"{}", Origin=bare.rstrip("/"), **kind)[0] == 200
        assert status(f"{address}state", b"{}", **{"Content-Type": "text/plain"})[0] == 415
        assert status(f"{address}text", b"x" * 5_000_001, **kind)[0] == 413
        for wrong in (b"[", b"[]"):
            assert status(f"{address}state", wrong, **kind)[0] == 400
        for name in ("..%2Fserver.py", "py.typed", "none.js"):
            assert status(f"{address}web/{name}")[0] == 404
        code, text = status(f"{address}edit", json.dumps({"name": "explode"}).encode(), **kind)
        assert (code, "is no edit" in text) == (422, True)
        code, text = status(
            f"{address}edit", json.dumps({"name": "set_cell", "arguments": 3}).encode(), **kind
        )
        assert (code, "Traceback" in text) == (422, False)
        stale = json.dumps({"revision": -1, "name": "delete_body", "arguments": {"number": 2}}).encode()
        code, text = status(f"{address}edit", stale, **kind)
        assert len(json.loads(text)["bodies"]) == 4
        for request in ABRUPT:  # the fixture asserts that none of them is a traceback in the terminal
            host, _, port = top[2].partition(":")
            with socket.create_connection((host, int(port)), timeout=20) as client:
                client.sendall(
                    request.replace(b"TOKEN", top[3].strip("/").encode()).replace(b"HOST", top[2].encode())
                )
        assert "another tab" in json.loads(text)["note"]


def test_poses_do_not_wait_for_the_range_of_an_input():
    session, begun, ended = Session(), Event(), Event()
    session.open_builtin("planar_four_bar")
    with closing(Studio(session)) as served, ThreadPoolExecutor() as threads:
        served._posed().reach = lambda name: (begun.set(), ended.wait(20))
        sought = threads.submit(served.reach, {"name": "1-2.angle"})
        try:
            assert begun.wait(20)
            assert "poses" in threads.submit(served.pose, {"values": {}}).result(timeout=20)
            assert not sought.done()
        finally:
            ended.set()


@pytest.mark.parametrize("module", ["starlette", "uvicorn"])
def test_without_the_extra_one_sentence(module, run_mbssa, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    result = run_mbssa("studio")
    assert result.exit_code == 2
    assert 'pip install -e ".[studio]" in the clone' in result.stderr
