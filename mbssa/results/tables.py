"""Names by which the input search and ``routes`` still call :mod:`mbssa.reports`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mbssa.reports.table import plain_table as plain_table
from mbssa.reports.table import plain_text as plain_text
from mbssa.reports.wording import counted as counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def print_fitting(console: Console, table_of: Callable[[bool], Table]) -> None:
    """Print a table; if it is too wide for the screen, its narrow form."""
    table = table_of(False)
    if console.measure(table, options=console.options.update(width=10_000)).maximum > console.width:
        table = table_of(True)
    console.print(table)
