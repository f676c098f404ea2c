"""A folder that one run at a time may write to."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: The file that is locked.
NAME = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder for this process; the lock of a process that is gone counts for nothing.

    Raises
    ------
    BlockingIOError
        Another run writes there: its process.
    OSError
        The folder cannot be made or written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, locked(Path(folder)):
    ...     print((Path(folder) / NAME).read_text().split()[0])
    process
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = (folder / NAME).open("a+", encoding="utf-8")
    except PermissionError as error:
        remedy = "may not be written, perhaps it is another user's; name another folder"
        raise PermissionError(error.errno, remedy, str(folder)) from None
    with lock as stream:
        try:
            _take(stream.fileno())
        except OSError:
            stream.seek(0)
            who = stream.read().strip() or "another process"
            said = f"{folder} is being written by {who}; wait for it, or name another folder"
            raise BlockingIOError(said) from None
        stream.truncate(0)
        stream.write(f"process {os.getpid()} on {socket.gethostname()}")
        stream.flush()
        try:
            yield
        finally:
            stream.truncate(0)


def _take(descriptor: int) -> None:
    """An exclusive lock, or an OSError."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
