"""Fixtures of every test and example: stored costs and the ledger of compiling are its own."""

import os

import pytest

from mbssa import compiled


@pytest.fixture(scope="session", autouse=True)
def _store_of_the_session(tmp_path_factory):
    before = os.environ.get("MBSSA_STORE")
    os.environ["MBSSA_STORE"] = str(tmp_path_factory.mktemp("store") / "store.sqlite")
    yield
    if before is None:
        del os.environ["MBSSA_STORE"]
    else:
        os.environ["MBSSA_STORE"] = before


@pytest.fixture(autouse=True)
def _fast_tests_do_not_compile(request, monkeypatch):
    """Work adds up within a test, not over a session; that of a fast test is never worth it."""
    monkeypatch.setattr(compiled, "_rented", {})
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(compiled, "LOADING", 20.0)
