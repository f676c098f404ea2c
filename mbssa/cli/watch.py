"""A command repeated at each save of the file that it reads."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import typer

from mbssa.cli.console import say
from mbssa.faults import ModelError

#: Seconds between two checks of the file.
PAUSE = 0.2


def repeat(path: Path, run: Callable[[], object]) -> None:
    """Run, and run again whenever the file was saved; ends by Ctrl-C."""
    # An error is printed and the next save awaited, as is a file that an editor is just replacing.
    if not path.is_file():
        raise typer.BadParameter(f"{path} is no file; name a model file", param_hint="--watch")
    seen = None
    while True:
        stamp = _stamp(path)
        if stamp is None or stamp == seen:
            time.sleep(PAUSE)
            continue
        if seen is not None:
            print(f"\n{path} was saved at {time.strftime('%H:%M:%S')}", flush=True)
        seen = stamp
        try:
            run()
        except (typer.Exit, SystemExit):
            pass  # its code is that of one round
        except (ModelError, OSError) as error:
            say("error", str(error))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
