"""The command ``mbssa``: its table of commands, errors as sentences, and a quiet end by Ctrl-C."""

# One file has one command. Nothing that takes time is imported before Ctrl-C is handled, and no command
# before its use.

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from types import FrameType

from mbssa import mpi_rank
from mbssa.cli.console import OK, STOPPED, fail, warn

#: Place of each command: "module:function". Help lists them in this order.
COMMANDS = {
    "models": "mbssa.cli.models:models",
    "new": "mbssa.cli.new:new",
    "joints": "mbssa.cli.joints:joints",
    "schema": "mbssa.cli.schema:schema",
    "decompose": "mbssa.cli.decompose:decompose",
    "check": "mbssa.cli.check:check",
    "convert": "mbssa.cli.convert:convert",
    "cams": "mbssa.cli.cams:cams",
    "loops": "mbssa.cli.loops:loops",
    "transform": "mbssa.cli.transform:transform",
    "transformations": "mbssa.cli.transform:transformations",
    "solve": "groups.cli.solve:solve",
    "forces": "groups.cli.forces:forces",
    "simulate": "groups.cli.simulate:simulate",
    "linearise": "groups.cli.linearise:linearise",
    "solvers": "groups.cli.solvers:solvers",
    "modes": "groups.cli.modes:modes",
    "draw": "groups.cli.draw:draw",
    "partition": "groups.cli.partition:partition",
    "routes": "routes.cli.routes:routes",
    "sweep": "routes.cli.sweep:sweep",
    "studio": "mbssa_studio.cli.studio:studio",
}

#: Functions of packages above a command's own: ``mbssa solve`` runs plans, and ``mbssa check`` finds the
#: singular positions of a motion.
RUNNER = "routes.cli.solve:runner"
SINGULAR_POSITIONS = "groups.cli.running:singular_positions"

#: Warning of a character that no font of pictures has.
_without_font: list[str] = []


def main() -> None:
    """Entry point of the command; exit 0 determined, 1 not determined, 2 bad input, 130 stopped."""
    on_interrupt(_stop)
    _prepare_output()
    warnings.showwarning = _warn  # type: ignore[assignment]
    from pkgutil import resolve_name

    from typer import TyperException

    from mbssa.cli.application import application
    from mbssa.faults import ModelError

    try:
        app = application()
        command = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
        if command in COMMANDS:
            resolve_name(COMMANDS[command])  # here, where Ctrl-C may end an import
        on_interrupt(_interrupt)
        raise SystemExit(app(standalone_mode=False))
    except TyperException as error:
        message, context = error.format_message().rstrip("."), getattr(error, "ctx", None)
        fail(
            message
            if context is None or message[-1] == "?"
            else f"{message}; see {context.command_path} --help"
        )
    except ModelError as error:
        fail(str(error))
    except RecursionError:
        fail("nested too deeply; write flatter tables or shorter formulas")
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


def on_interrupt(handler: signal.Handlers | Callable[[int, FrameType | None], None]) -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """The first Ctrl-C raises KeyboardInterrupt; within an import, and the second time, the process ends."""
    on_interrupt(_leave)
    within = frame
    while within is not None:
        if within.f_code.co_filename.startswith("<frozen importlib"):  # a library that is half there
            _stop(number, frame)
        within = within.f_back
    raise KeyboardInterrupt


def _stop(number: int, frame: FrameType | None) -> None:
    """End at once, with a sentence."""
    if mpi_rank.rank() == 0:
        os.write(2, b"stopped by Ctrl-C\n")  # print may be what was interrupted
    _leave(number, frame)


def _leave(_number: int, _frame: FrameType | None) -> None:
    """End at once, without a traceback; files are written atomically."""
    os._exit(STOPPED)


def _warn(message: Warning | str, *_: object) -> None:
    """A warning as a sentence, without the line of code that it comes from."""
    text = str(message)
    if not text.startswith("Glyph "):
        warn(text)
    elif not _without_font:  # Matplotlib warns of each character, and of each that it draws
        _without_font.append(text)
        warn("names have characters that pictures have no font for; .svg shows them in the reader's font")


def _prepare_output() -> None:
    """Replace characters that the terminal cannot show; silence a closed stream and all MPI ranks but 0."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or mpi_rank.rank() > 0:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", closefd=False))  # kept open
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
