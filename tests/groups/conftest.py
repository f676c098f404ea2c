"""Fixtures of tests of kernels."""

import lives
import pytest


@pytest.fixture(params=["plain", pytest.param("compiled", marks=pytest.mark.slow)])
def life(request, monkeypatch):
    """Each test of a kernel runs twice: in plain Python, and compiled among the slow tests."""
    monkeypatch.setattr(lives, "COMPILED", request.param == "compiled")
    return request.param
