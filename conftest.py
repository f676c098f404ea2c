"""Fixtures of every test and example: measured costs and the ledger of compiling are its own."""

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
def _each_test_is_a_new_process(monkeypatch):
    """Work adds up within a test, not over a session: else the compiler would run in tests at random."""
    monkeypatch.setattr(compiled, "_rented", {})
