"""Files in and out: text in whatever encoding a spreadsheet left, and writing whole or not at all."""

from __future__ import annotations

import codecs
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from mbssa.bounds import MAX_BYTES
from mbssa.faults import Fault, ModelError

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


def read_text(path: Path, kind: str, encoding: str | None = None) -> str:
    """Text of a file; ``kind`` says in messages what it should be."""
    # Without a required encoding: UTF-8, UTF-16 with a byte order mark, or Windows-1252, which spreadsheets
    # still write.
    data = read_bytes(path, MAX_BYTES)
    if len(data) > MAX_BYTES:
        most = f"{MAX_BYTES / 1e6:.0f} MB"
        what = f"is more than {most} of text; write more than {most} as arrays, .npz"
        raise ModelError(str(path), [Fault("", what, "size")])
    try:
        text = data.decode(encoding) if encoding else _decoded(data)
        strange = _CONTROL.search(text)
        wrong = text.count("\n", 0, strange.start()) if strange else None
    except UnicodeDecodeError as error:
        wrong = data.count(b"\n", 0, error.start)
    if wrong is not None:
        raise ModelError(str(path), [Fault(f"line {wrong + 1}", f"is not text; write {kind}", "file")])
    return text


def read_bytes(path: Path, most: int) -> bytes:
    """Content of a file up to ``most`` bytes and one more, which says that there are more."""
    try:
        refuse_device(path)
        with path.open("rb") as stream:
            return stream.read(most + 1)
    except OSError as error:
        raise ModelError(str(path), [Fault("", f"cannot be read: {error.strerror}", "file")]) from None


def refuse_device(path: Path) -> None:
    """Raise a ModelError for a device, which has no end, as behind a link in an archive of a stranger."""
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise ModelError(str(path), [Fault("", "is a device; name a file", "file")])


def _decoded(data: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return data.decode(encoding)
    with suppress(UnicodeDecodeError):
        return data.decode()
    return data.decode("cp1252")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file as :func:`whole` does."""
    write_together({path: data})


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write files as :func:`whole` does, none of them before all could be written."""
    with ExitStack() as stack:
        for path, data in files.items():
            with stack.enter_context(whole(path)).open("wb") as stream:
                stream.write(data)


@contextmanager
def whole(path: str | Path) -> Iterator[Path]:
    """Path to write to in place of ``path``, which gets what was written when the block ends well."""
    # Until then, and after an error, ``path`` is as it was; its mode stays. A process that is killed leaves
    # nothing where the system has files without a name (Linux). A pipe or a device is yielded itself. An
    # OSError has the requested path, not that of the temporary file.
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            yield target
            return
        handle, name = _temporary(target)
        try:
            yield Path(name or f"/proc/self/fd/{handle}")
            if target.exists():
                os.chmod(handle if os.chmod in os.supports_fd else name, target.stat().st_mode & 0o777)
            os.fsync(handle)  # else a power cut may leave an empty file under the name
            name = name or _named(handle, target)
            os.replace(name, target)
        except BaseException:
            if name:
                Path(name).unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _temporary(target: Path) -> tuple[int, str]:
    """A new file beside another one: its descriptor, and its name, which is empty where it needs none."""
    if hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").is_dir():
        # Folders of some file systems cannot have such files.
        with suppress(OSError):
            return os.open(target.parent, os.O_TMPFILE | os.O_RDWR, 0o666), ""
    name = str(target.with_name(f".{target.name}.{secrets.token_hex(4)}"))
    return os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0), 0o666), name


def _named(handle: int, target: Path) -> str:
    """Give a file that has no name one beside another file, for the moment until it replaces that one."""
    name = str(target.with_name(f".{target.name}.{secrets.token_hex(4)}"))
    folder = os.open(target.parent, os.O_PATH)
    try:
        # With a folder's descriptor Python follows the link to the file, as it is documented to do without.
        os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)
    return name


def remove_temporaries(path: Path) -> None:
    """Remove what killed processes have left of writing a file that no other process writes now."""
    for left in path.parent.glob(f".{path.name}.*"):
        left.unlink(missing_ok=True)


def user_cache() -> Path | None:
    """The user's own cache folder, by the habits of the system; None for a user who has no home."""
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "mbssa" / "Cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "mbssa"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mbssa"
    except RuntimeError:
        return None
