"""``python -m mbssa`` is the command ``mbssa``."""

from mbssa.cli import main

main()
