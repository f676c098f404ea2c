"""A word about a run whose process is killed before it could say one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def last_words(text: str) -> Iterator[None]:
    """Print ``text`` on standard error if this process is killed before the context ends.

    A rank of MPI that is killed takes all others with it, at once: mpiexec leaves them no time. A shell in a
    session of its own waits for the end of this process, or for word that all is well; where the system has
    no shell, nothing is said.

    Examples
    --------
    >>> with last_words("error: this process was killed"):
    ...     pass
    """
    shell = None
    with suppress(OSError):
        waits = ["/bin/sh", "-c", 'read -r word || echo "$0" >&2', text]
        shell = subprocess.Popen(
            waits, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        )
    try:
        yield
    finally:
        if shell is not None:
            with suppress(OSError):
                shell.communicate(b"well\n")
