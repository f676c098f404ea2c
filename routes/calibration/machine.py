"""Properties of this machine that decide the costs of tasks."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Machine:
    """Processor and software, which decide costs."""

    processor: str
    features: str  # hash of its features, which decide the machine code
    cores: int  # that this process may use
    python: str  # version
    numpy: str  # version
    llvmlite: str  # version

    @property
    def fingerprint(self) -> str:
        """Hash of all fields, 16 hexadecimal digits."""
        return hashlib.sha256(repr(sorted(asdict(self).items())).encode()).hexdigest()[:16]


@cache
def this_machine() -> Machine:
    """The machine that this process runs on."""
    return Machine(
        _of_processor("model name") or platform.processor() or platform.machine() or "unknown processor",
        hashlib.sha256(_of_processor("flags", "Features").encode()).hexdigest()[:16],
        cores(),
        f"{platform.python_implementation()} {platform.python_version()}",
        _version("numpy"),
        _version("llvmlite"),
    )


def _of_processor(*names: str) -> str:
    """A property of the processor, by its names in Linux; empty where the system does not say."""
    # llvmlite says more, and takes longer to import than a short motion to solve.
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(names):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return ""


def cores() -> int:
    """Number of cores that this process may use."""
    import joblib

    return int(joblib.cpu_count())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def give_back_memory() -> None:
    """Return freed memory to the system, by ``malloc_trim`` of glibc."""
    # A run of 10⁴ instants can take half as long again where its arrays come in pages that were never
    # touched, as those of a new process do. In a process that repeats runs, glibc sometimes gives them the
    # pages of the last one instead, unpredictably.
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], Any] | None:
    if os.name != "posix":
        return None
    found: Callable[[int], Any] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return found
