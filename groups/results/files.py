"""Writing large files whole or not at all, without holding them in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: str | Path) -> Iterator[Path]:
    """A path to write to in place of ``path``, which gets what was written when the block ends well.

    Until then, and after an error, ``path`` is as it was; its mode stays. What is there and is no regular
    file (a pipe, a device) is given itself. The stream's twin of ``mbssa.gathering.files.write_whole``.

    Raises
    ------
    OSError
        With the path that was asked for, not that of the temporary file.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole(Path(folder) / "run.csv") as place:
    ...         _ = place.write_text("time")
    ...     (Path(folder) / "run.csv").read_text()
    'time'
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            yield target
            return
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        os.close(handle)
        try:
            yield Path(name)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(name, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask)
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
