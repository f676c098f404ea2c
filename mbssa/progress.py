"""A bar on the terminal while something takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Callback of a progress report: the present step in words, and the share done, from 0 to 1.
Progress = Callable[[str, float], object]

#: s before a bar is shown on a terminal, and before a first line is written elsewhere.
PATIENCE, SILENCE = 1.0, 2.0


@contextmanager
def bar() -> Iterator[Progress]:
    """A bar on a terminal's standard error for what takes long, which leaves nothing behind; else lines."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("Ctrl-C stops"),
        console=Console(stderr=True),
        transient=True,
    )
    task = shown.add_task("", total=1.0)
    began = time.monotonic()

    def report(what: str, share: float) -> None:
        shown.update(task, description=what, completed=share)
        if not shown.live.is_started and time.monotonic() - began > PATIENCE:
            shown.start()

    try:
        yield report
    finally:
        shown.stop()


def _lines() -> Progress:
    began, due = time.monotonic(), SILENCE

    def report(what: str, share: float) -> None:
        nonlocal due
        passed = time.monotonic() - began
        if passed >= due:
            print(f"{what}: {share:.0%} after {passed:.0f} s", file=sys.stderr, flush=True)
            due = 2 * max(passed, due)

    return report
