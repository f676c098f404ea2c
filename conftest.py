"""Fixtures of every test and example: stored costs are its own."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def _store_of_the_session(tmp_path_factory):
    before = os.environ.get("MBSSA_STORE")
    os.environ["MBSSA_STORE"] = str(tmp_path_factory.mktemp("store") / "store.sqlite")
    yield
    if before is None:
        del os.environ["MBSSA_STORE"]
    else:
        os.environ["MBSSA_STORE"] = before
