"""The command ``mbssa``: turns errors into sentences, and ends quietly by Ctrl-C.

``mbssa.application`` gathers the commands. Nothing that takes time is imported before Ctrl-C is looked after.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from types import FrameType
from typing import NoReturn

from mbssa import ranks
from mbssa.texts import printable

#: Exit codes: determined, not determined, bad input, ended by Ctrl-C.
OK, NOT_DETERMINED, BAD_INPUT, STOPPED = 0, 1, 2, 130

#: Between two faults of one message.
BETWEEN = "\n  "


def main() -> None:
    """Entry point of the command; exit 0 determined, 1 not determined, 2 bad input, 130 stopped."""
    _on_interrupt(_leave)
    _prepare_output()
    warnings.showwarning = _warn  # type: ignore[assignment]
    from mbssa.application import application
    from mbssa.gathering.faults import ModelError

    try:
        app = application(next((word for word in sys.argv[1:] if not word.startswith("-")), None))
        _on_interrupt(_interrupt)
        app()
    except ModelError as error:
        fail(str(error))
    except KeyboardInterrupt:
        print("stopped by Ctrl-C", file=sys.stderr)
        raise SystemExit(STOPPED) from None
    except BrokenPipeError:
        # The reader of a pipe has seen enough; closing stdout again must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(OK) from None
    except OSError as error:
        fail(f"{error.filename or 'output'}: {error.strerror or error}")
    except MemoryError as error:
        fail(
            f"out of memory{f' ({error})' if str(error) else ''}; ask for fewer steps, cases, bodies or rows"
        )
    except RecursionError:
        fail("nested too deeply; write flatter tables or shorter formulas")


def _on_interrupt(handler: signal.Handlers | Callable[[int, FrameType | None], None]) -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """The first Ctrl-C lets a command keep what it has; the next one does not wait for that."""
    _on_interrupt(_leave)
    raise KeyboardInterrupt


def _leave(_number: int, _frame: FrameType | None) -> None:
    """End at once, without a traceback from wherever that comes: files are whole or not there at any time."""
    os._exit(STOPPED)


def _warn(message: Warning | str, *_: object) -> None:
    """A warning as a sentence, without the line of code that it comes from."""
    print(f"warning: {printable(str(message))}", file=sys.stderr)


def _prepare_output() -> None:
    """A terminal that knows no dash gets a question mark; a closed one, and all ranks but one, nothing."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or ranks.rank() > 0:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - open as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    """One message on standard error, and the end."""
    print(f"error: {printable(message)}", file=sys.stderr)
    raise SystemExit(code)


def fail_all(faults: Sequence[str]) -> NoReturn:
    """Say all faults at once, and exit 2."""
    fail(faults[0] if len(faults) == 1 else BETWEEN.join([f"{len(faults)} faults", *faults]))


if __name__ == "__main__":
    main()
