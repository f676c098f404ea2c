"""Executors, one file each: factories of :class:`concurrent.futures.Executor`, found by file name."""

# The same plan gives the same bits in every executor.

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from routes.executors.base import ExecutorCosts, ExecutorType

__all__ = [
    "ExecutorCosts",
    "ExecutorType",
    "default_executor",
    "executor_named",
    "executor_names",
    "is_parallel",
    "launched_executor",
]


def executor_names() -> list[str]:
    """Names of all executors, in alphabetical order."""
    return list(_files(tuple(__path__)))


@cache
def _files(folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(module.name for module in iter_modules(folders) if module.name != "base"))


def executor_named(name: str) -> ExecutorType:
    """Return the executor of this name; nothing that it needs is imported yet."""
    if name not in executor_names():
        raise ValueError(f"no executor {name!r}; write one of {', '.join(executor_names())}")
    found = _type(name)
    found.check_installed()
    return found


def launched_executor() -> ExecutorType | None:
    """Executor whose launcher started several workers, this process among them; None without one."""
    return next((each for each in map(_type, executor_names()) if each.started() > 1), None)


def is_parallel(name: str) -> bool:
    """Whether an executor runs tasks outside the calling thread; unknown ones count as parallel."""
    return name not in executor_names() or _type(name).parallel


def default_executor() -> str:
    """Name of the parallel executor for a run that names none: its workers share memory."""
    return next(name for name in executor_names() if _type(name).memory == "shared" and _type(name).parallel)


def _type(name: str) -> ExecutorType:
    found: ExecutorType = import_module(f"routes.executors.{name}").EXECUTOR
    return found
