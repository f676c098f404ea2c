"""Requests that are no person's: other hosts, other pages, no token, too much; and the command."""

import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event

import pytest

from mbssa_studio import Session
from mbssa_studio.server import Studio


def status(address, data=None, **headers):
    request = urllib.request.Request(address, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


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
