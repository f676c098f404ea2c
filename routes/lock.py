"""Lock of a folder against concurrent runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: The file that is locked.
NAME = ".lock"


def file_at(folder: Path) -> Path | None:
    """The file that stands where a folder, or one above it, is to be."""
    there = next((path for path in (folder, *folder.parents) if path.exists()), None)
    return None if there is None or there.is_dir() else there


@contextmanager
def locked(folder: Path, error: type[Exception] = ValueError) -> Iterator[None]:
    """Lock a folder, made if missing, for this process; locks of dead processes are void."""
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / NAME, timeout=0)
        lock.acquire()
    except Timeout:
        raise error(f"{folder} is being written by another run; wait, or name another folder") from None
    except OSError as refused:
        what = f"cannot be written there ({refused.strerror or refused}); name another folder"
        raise OSError(refused.errno, what, str(folder)) from None
    try:
        yield
    finally:
        lock.release()
