"""The command ``mbssa``, and ``python -m mbssa``: looks after Ctrl-C first, and imports the rest then."""

import _signal  # type: ignore[import-not-found]  # signal itself takes as long to import as Python to start
import os


def _leave(_number: int, _frame: object) -> None:
    """End without a traceback from within an import: nothing has been started."""
    os.write(2, b"stopped by Ctrl-C\n")
    os._exit(130)


_signal.signal(_signal.SIGINT, _leave)


def main() -> None:
    """Entry point of the command: :func:`mbssa.cli.main`."""
    from mbssa.cli import main as run

    run()


if __name__ == "__main__":
    main()
