"""Robots read from files: what is said of them, and what is wrong with them."""

import warnings
from pathlib import Path

import pytest

import mbssa


def loaded(path: Path) -> mbssa.Mechanism:
    """The mechanism of a file whose warnings say all that its notes keep, and nothing else."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        mechanism = mbssa.load(path)
    assert [str(one.message).split("\n  ")[1:] for one in said] == [[*mechanism.unread, *mechanism.notes]]
    return mechanism


def faults_of(path: Path) -> str:
    """Everything that is wrong with a file."""
    with pytest.raises(mbssa.ModelError) as raised:
        mbssa.load(path)
    assert raised.value.source == str(path)
    return str(raised.value)
