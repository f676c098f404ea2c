"""Entry point of ``python -m mbssa.cli``, the same as ``python -m mbssa``."""

from mbssa.cli import main

main()
