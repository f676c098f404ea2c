"""Arrays of a run, in memory or in files: all numbers of the engine, reactions, finished tasks."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from groups.dynamics.one_group import Answers
from groups.engine.arrays import aligned
from mbssa.arrays import Floats

Shapes = dict[str, tuple[tuple[int, ...], type[np.generic]]]

#: Arrays of every run.
BESIDE = ("numbers", "done", "log")

#: Arrays of reactions.
BACK = ("reactions", "efforts", "balanced")


@dataclass(frozen=True, eq=False)
class Workspace:
    """All arrays of a run."""

    numbers: Floats  # (height, T and more) the engine's array of all numbers
    done: npt.NDArray[np.uint8]  # (tasks,) 1 where a task is done
    log: Floats  # (tasks, 3) begin and end (s, monotonic clock of the machine), worker
    folder: Path | None  # where the arrays are files; None in memory
    reactions: Answers | None  # of plans with reactions; else None
    arrays: dict[str, Any]  # all of these by name

    @property
    def answers(self) -> Answers:
        """The reactions, of a plan that has them."""
        assert self.reactions is not None
        return self.reactions


def in_memory(shapes: Shapes, memory: Callable[[int], Floats] = np.zeros) -> Workspace:
    """Arrays in memory, initialised but for that of numbers, which takes the ``memory`` of a size."""
    (rows, pitch), _ = shapes["numbers"]
    made: dict[str, Any] = {n: np.zeros(*of) for n, of in shapes.items() if n != "numbers"}
    return _initialised({**made, "numbers": aligned(rows, pitch, memory)}, None)


def in_files(shapes: Shapes, folder: Path) -> Workspace:
    """Arrays in NumPy files of a folder, mapped into memory, initialised."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for name, (shape, kind) in shapes.items():
        path = folder / f"{name}.npy"
        if not np.prod(shape):  # empty arrays cannot be mapped
            made[name] = np.empty(shape, kind)
            np.save(path, made[name])
            continue
        array = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=shape)
        _allocate(path)
        made[name] = array.view(np.ndarray)
    return _initialised(made, folder)


def opened(folder: Path) -> Workspace:
    """Map the arrays of a folder, written by another process."""
    made = {}
    for path in sorted(folder.glob("*.npy")):
        # Empty arrays cannot be mapped.
        with path.open("rb") as file:
            np.lib.format.read_magic(file)
            shape, _, kind = np.lib.format.read_array_header_1_0(file)
            # NumPy would lengthen a file that is too short, with zeros.
            if path.stat().st_size < file.tell() + int(np.prod(shape)) * kind.itemsize:
                raise ValueError(f"{path.name} is cut short")
        made[path.stem] = np.load(path, mmap_mode="r+" if np.prod(shape) else None).view(np.ndarray)
    return _named(made, folder)


def room_for_files(shapes: Shapes) -> Path:
    """Folder under which the arrays fit: in memory where the system has files there, else on disk."""
    import shutil
    import tempfile

    shared = Path("/dev/shm")
    needed = sum(int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in shapes.values())
    if os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > 1.1 * needed:
        return shared
    return Path(tempfile.gettempdir())


def _initialised(made: dict[str, Any], folder: Path | None) -> Workspace:
    made["log"][:] = -1.0
    return _named(made, folder)


def _named(made: dict[str, Any], folder: Path | None) -> Workspace:
    reactions = Answers(*(made[name] for name in BACK)) if BACK[0] in made else None
    others: dict[str, Any] = {name: made[name] for name in BESIDE}
    return Workspace(**others, folder=folder, reactions=reactions, arrays=made)


def _allocate(path: Path) -> None:
    """Allocate the blocks of a file: a full disk raises here, and would crash the process later."""
    if not hasattr(os, "posix_fallocate"):
        return
    handle = os.open(path, os.O_RDWR)
    try:
        os.posix_fallocate(handle, 0, os.path.getsize(path))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        os.close(handle)
