"""Sources of users' functions: modules, files beside a model, callables; and their pickles."""

# Nothing is imported before it is needed. Users' code runs as it is imported.

from __future__ import annotations

import functools
import hashlib
import importlib
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import Any, NamedTuple

#: Forms of a function: a callable, "module:name", or "file.py:name".
Source = str | Callable[..., Any]

#: Held while users' modules are imported: threads may need the same.
importing = threading.RLock()
_files: dict[tuple[str, int], ModuleType] = {}
_BY_FILE = "write it into a file and give 'file.py:{}', or let threads do the work"


def imported(source: str) -> Any:
    """Function named by "module:name" or "file.py:name"."""
    place, _, name = source.rpartition(":")
    if not place or not name:
        raise ValueError(f"{source!r} names no function; write 'file.py:name' or 'module:name'")
    module = _from_file(source, Path(place)) if place.endswith(".py") else _module(source, place)
    try:
        return attrgetter(name)(module)
    except AttributeError:
        there = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        known = f"; it has {', '.join(there)}" if there else ""
        raise ValueError(f"{source}: {place} has no {name}{known}") from None


def _module(source: str, place: str) -> ModuleType:
    place = re.sub(r"^mbssa\.gathering\.", "mbssa.io.", place)  # its name until the package moved
    try:
        return importlib.import_module(place)
    except (Exception, SystemExit) as error:
        absent = error.name if isinstance(error, ModuleNotFoundError) else None
        if absent and (place == absent or place.startswith(f"{absent}.")):
            name = source.rpartition(":")[2]
            what = f"no module {place}; install it, or write 'file.py:{name}' for a file beside the model"
            raise ValueError(f"{source}: {what}") from None
        raise ValueError(f"{source}: importing {place} failed: {error_line(error)}") from error


def _from_file(source: str, path: Path) -> ModuleType:
    """Module of a file; imported again if it was written since."""
    try:
        key = str(path.resolve()), path.stat().st_mtime_ns
    except OSError:
        raise ValueError(f"{source}: no file {path}; its name starts from the model's folder") from None
    if key in _files:
        return _files[key]
    name = f"user_{path.stem}_{hashlib.sha256(repr(key).encode()).hexdigest()[:12]}"
    module = ModuleType(name)
    module.__file__ = key[0]
    sys.modules[name] = module
    try:
        # Not by importlib, whose bytecode on disk is too old after two edits in a second.
        exec(compile(path.read_bytes(), key[0], "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        lines = [n for at, n in walk_tb(error.__traceback__) if at.f_code.co_filename == key[0]]
        lines = [error.lineno or 0] if isinstance(error, SyntaxError) else lines
        where = f"{path} line {lines[-1]}" if lines else f"{path}"
        raise ValueError(f"{source}: {where} failed: {error_line(error)}") from error
    _files[key] = module
    return module


def name_of(source: Source) -> str:
    """Name of a function in messages."""
    if isinstance(source, str):
        return source
    return str(getattr(source, "__qualname__", None) or type(source).__name__)


def short_name(source: Source) -> str:
    """Its own name, as one defines it."""
    name = name_of(source).rpartition(":")[2].rpartition(".")[2]
    return name if name.isidentifier() else "function"


class Packed(NamedTuple):
    """A callable as bytes of cloudpickle, which takes lambdas too."""

    name: str
    content: bytes


def pickled(record: Any) -> tuple[Any, ...]:
    """Result of ``__reduce__`` of a dataclass whose functions go to other processes as bytes."""
    given = (getattr(record, each.name) for each in fields(record))
    return _unpickled, (type(record), *(_packed(value) if callable(value) else value for value in given))


def _packed(call: Callable[..., Any]) -> Packed:
    try:
        return Packed(name_of(call), _cloudpickle().dumps(call))
    except Exception as error:  # of any value that the function refers to
        what = f"{name_of(call)} cannot be handed to another process ({error_line(error)})"
        raise ValueError(f"{what}; {_BY_FILE.format(short_name(call))}") from error


def _unpickled(kind: Callable[..., Any], *given: Any) -> Any:
    return kind(*(_unpacked(value) if isinstance(value, Packed) else value for value in given))


@functools.lru_cache(256)
def _unpacked(given: Packed) -> Any:
    """The callable of another process; the same for the same bytes, so that it is compiled once."""
    try:
        return _cloudpickle().loads(given.content)
    except Exception as error:  # the user's module is imported here, which may raise anything
        what = f"{given.name} cannot be made in this process ({error_line(error)})"
        raise ValueError(f"{what}; {_BY_FILE.format('name')}") from error


def _cloudpickle() -> Any:
    """Comes with joblib, since 1.6 beside it and before inside it."""
    try:
        return importlib.import_module("cloudpickle")
    except ModuleNotFoundError:
        return importlib.import_module("joblib.externals.cloudpickle")


def error_line(error: BaseException) -> str:
    """An exception in one line."""
    first = str(error).strip().splitlines()[:1]
    return ": ".join([type(error).__name__, *first])
