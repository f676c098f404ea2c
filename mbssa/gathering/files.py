"""Files in and out: text in whatever encoding a spreadsheet left, and writing whole or not at all."""

from __future__ import annotations

import codecs
import os
import re
import tempfile
from pathlib import Path

from mbssa.gathering.faults import Fault, ModelError

#: Largest text file; above it arrays are the right input.
MAX_BYTES = 20_000_000

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


def read_text(path: Path, kind: str) -> str:
    """Text of a file with ``\\n`` at its line ends; ``kind`` says in messages what it should be.

    UTF-8, UTF-16 with a byte order mark, or Windows-1252, which spreadsheets still write.

    Raises
    ------
    ModelError
        Unreadable, larger than 20 MB, or not text.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise ModelError(
                str(path), [Fault("", f"{size / 1e6:.0f} MB of text; give more than 20 MB as .npz")]
            )
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(str(path), [Fault("", f"cannot be read: {error.strerror}")]) from None
    text = _decoded(data)
    strange = None if text is None else _CONTROL.search(text)
    if text is None or strange:
        line = text.count("\n", 0, strange.start()) + 1 if text is not None and strange else 1
        raise ModelError(str(path), [Fault(f"line {line}", f"is not text; write {kind}")])
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(data: bytes) -> str | None:
    marked = [name for mark, name in _BYTE_ORDER_MARKS.items() if data.startswith(mark)]
    for encoding in marked or ("utf-8", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that is afterwards either whole or as it was before, with the mode that it had.

    What is there and is no regular file (a pipe, a device) is written to, not replaced.

    Raises
    ------
    OSError
        With the path that was asked for, not that of the temporary file.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as stream:
                stream.write(data)
            return
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(name, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
