"""Refusals of an input by the code and the place of each fault, whatever its sentence says."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

from mbssa import Fault, ModelError


def codes(faults: Iterable[Fault]) -> list[str]:
    """``code at place`` of each fault, in their order."""
    return [f"{fault.code} at {fault.place}" if fault.place else fault.code for fault in faults]


@contextmanager
def refused(*expected: str) -> Iterator[pytest.ExceptionInfo[ModelError]]:
    """A block that ends with a `ModelError` of exactly these faults, each as ``code at place``."""
    with pytest.raises(ModelError) as caught:
        yield caught
    assert codes(caught.value.faults) == list(expected)
