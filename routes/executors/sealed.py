"""A job as bytes: small things pickled, large arrays beside them, which are mapped or sent as they are."""

from __future__ import annotations

import mmap
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from routes.job import Job

#: Bytes from which an array is not pickled.
LARGE = 16 * 1024

#: Where arrays begin in a file: at multiples of so many bytes.
_ALIGNED = 64


def sealed(job: Job) -> tuple[bytes, list[memoryview]]:
    """The pickle of a job, and the bytes of its large arrays."""
    arrays: list[memoryview] = []

    def keep(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < LARGE:
            return True
        arrays.append(raw)
        return False

    return pickle.dumps(job, protocol=5, buffer_callback=keep), arrays


def unsealed(pickled: bytes, arrays: Sequence[Any]) -> Job:
    """The job again; its large arrays stay where these bytes are."""
    job: Job = pickle.loads(pickled, buffers=arrays)
    return job


def write_sealed(job: Job, folder: Path) -> None:
    """Write a job into a folder, for processes of this machine that trust each other."""
    pickled, arrays = sealed(job)
    with (folder / "arrays").open("wb") as file:
        ends = []
        for array in arrays:
            file.write(array)
            ends.append(file.tell())
            file.write(bytes(-file.tell() % _ALIGNED))
    spans = list(zip([0, *(end + -end % _ALIGNED for end in ends)], ends, strict=False))
    (folder / "job").write_bytes(pickle.dumps((pickled, spans)))


def read_sealed(folder: Path) -> Job:
    """The job of a folder; its large arrays are mapped, and changing them does not change the file."""
    pickled, spans = pickle.loads((folder / "job").read_bytes())
    if not spans:
        return unsealed(pickled, [])
    with (folder / "arrays").open("rb") as file:
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    return unsealed(pickled, [mapped[first:stop] for first, stop in spans])
