"""Tables, and reports made of lines and tables, printed as text, JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, get_args

from mbssa.texts import as_cell, folded

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table as Printed

Format = Literal["table", "json", "csv", "markdown"]

#: Width of a text where no terminal sets one.
WIDE = 160

#: Rows of a long table that a text lists before it only counts the rest.
SHOWN = 500


#: Columns by title: a key, an attribute or a function of a record, and the format of its numbers, if any.
Columns = Mapping[str, tuple[str | Callable[[Any], Any], str]]


def _cell(value: Any, form: str, none: str) -> str:
    """Text of a value; names and numbers of a list have commas between."""
    if isinstance(value, list | tuple):
        comma = "," if all(isinstance(each, int) for each in value) else ", "
        value = comma.join(map(str, value)) or None
    return none if value is None or value != value else f"{value:{form}}"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts below titles."""

    columns: tuple[str, ...]
    items: Sequence[Any]  # one a row; a table without rows is not printed
    # row: cells of an item, made when they are printed; the item itself by default
    row: Callable[[Any], Sequence[str]] | None = None
    right: Collection[str] = ()  # titles of columns that are aligned right
    whole: Collection[str] = ("SG type",)  # titles of columns whose cells are never broken
    narrow: Table | None = None  # the table for a screen that this one is too wide for
    wraps: bool = False  # whether cells may wrap before the table counts as too wide
    tight: bool = False  # little space between columns
    shown: int | None = None  # rows in a text; None: all
    rest: str = "… and {} more rows"  # line that counts the others

    @classmethod
    def of(cls, records: Sequence[Any], columns: Columns, none: str = "–", **options: Any) -> Table:
        """Table of dictionaries or of objects; ``none`` for what is None, NaN or empty."""

        def cells(record: Any) -> list[str]:
            values = record.get if isinstance(record, dict) else partial(getattr, record)
            return [
                _cell(values(key) if isinstance(key, str) else key(record), form, none)
                for key, form in columns.values()
            ]

        numbers = [title for title, (_, form) in columns.items() if form]
        return cls(tuple(columns), records, cells, numbers, **options)

    def rows(self, most: int | None = None) -> Iterator[Sequence[str]]:
        """Cells of the first rows, or of all."""
        items = self.items if most is None else self.items[:most]
        return map(self.cells, items)

    def cells(self, item: Any) -> Sequence[str]:
        """Cells of an item."""
        cells: Sequence[str] = item if self.row is None else self.row(item)
        return cells

    def csv(self) -> str:
        """The table as CSV; what spreadsheets would take for formulas has an apostrophe before it."""
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows(
            map(as_cell, row) for row in (self.columns, *self.rows())
        )
        return stream.getvalue()

    def markdown(self) -> str:
        """The table as Markdown, without a line end."""
        rows = ([cell.replace("|", "\\|") for cell in row] for row in self.rows())
        lines = [self.columns, ["---"] * len(self.columns), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def print_on(self, console: Console) -> None:
        """Print the first rows; on a narrow screen in the narrow form, then tight, then one by one."""
        # No word is broken.
        of, table = self, self._printed()
        width = console.measure(table, options=console.options.update(width=10_000))
        if self.narrow is not None and (width.minimum if self.wraps else width.maximum) > console.width:
            of = self.narrow
            table = of._printed()
        if not of._fitted(table, console):
            table = replace(of, tight=True)._printed()
            if not of._fitted(table, console):
                table = of._one_by_one()
        console.print(table)
        if self.shown is not None and len(self.items) > self.shown:
            console.print(self.rest.format(len(self.items) - self.shown))

    def _fitted(self, table: Printed, console: Console) -> bool:
        """Set the widths of the columns so that words stay whole; False where that is too wide."""
        from rich.markup import render

        cells = [
            [title, *(render(str(cell)).plain for cell in column.cells)]
            for title, column in zip(self.columns, table.columns, strict=True)
        ]
        lines = [[line for cell in column for line in cell.splitlines()] for column in cells]
        longest = [max(map(len, column), default=0) for column in lines]
        least = [
            longest[k]
            if column[0] in self.whole
            else max((len(w) for line in lines[k] for w in line.split(" ")), default=0)
            for k, column in enumerate(cells)
        ]
        wide = console.measure(table, options=console.options.update(width=10_000)).maximum
        spare = console.width - wide + sum(longest) - sum(least)
        if spare < 0:
            return False
        for left, k in enumerate(sorted(range(len(cells)), key=lambda k: longest[k] - least[k])):
            more = min(longest[k] - least[k], spare // (len(cells) - left))
            table.columns[k].width = least[k] + more
            spare -= more
        return True

    def _one_by_one(self) -> Printed:
        """The first rows, each as lines of a title and its cell."""
        from rich.markup import escape
        from rich.table import Table as Printed

        table = Printed.grid(padding=(0, 2))
        for k, cells in enumerate(self.rows(self.shown)):
            if k:
                table.add_row()
            for column, cell in zip(self.columns, cells, strict=True):
                table.add_row(escape(column), escape(cell))
        return table

    def _printed(self) -> Printed:
        """The first rows in the one style of this project."""
        from rich import box
        from rich.markup import escape
        from rich.table import Table as Printed

        table = Printed(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=self.tight)
        for column in self.columns:
            justify: Literal["left", "right"] = "right" if column in self.right else "left"
            table.add_column(escape(column), justify=justify, overflow="fold", no_wrap=column in self.whole)
        for cells in self.rows(self.shown):
            table.add_row(*map(escape, cells))
        return table


class Heading(str):
    """A highlighted line."""


class Verbatim(str):
    """Lines that are never broken, such as an example or a path."""


class Good(str):
    """A line of success; green on a terminal."""


class Bad(str):
    """A line of failure; red on a terminal."""


_STYLES: dict[type, str] = {Heading: "bold", Good: "green", Bad: "red"}

#: A part of a report. A plain text is a line, which is broken where the screen ends.
Part = str | Table


@dataclass(frozen=True, slots=True)
class Report:
    """Report of a query, ready to be printed."""

    parts: Sequence[Part]  # of the text; a title first
    record: Callable[[], Any] | None = None  # makes the lists, texts and numbers of JSON
    sheet: Table | None = None  # table that CSV has
    document: Sequence[Part] | None = None  # what Markdown has; ``parts`` by default

    def with_files(self, files: Sequence[Path]) -> Report:
        """The report with a line for each file that was written, and their paths in its record."""
        names = ["standard output" if str(path) == "-" else path for path in files]
        record = self.record or dict
        return replace(
            self,
            parts=[*self.parts, *(Verbatim(f"written: {name}") for name in names)],
            record=lambda: record() | {"files": files},
        )

    def print_on(self, console: Console) -> None:
        """Print title, lines and tables."""
        for part in self.parts:
            if not isinstance(part, Table):
                text = part if isinstance(part, Verbatim) else folded(part, console.width)
                console.print(text, style=_STYLES.get(type(part)), markup=False, soft_wrap=True)
            elif part.items:
                part.print_on(console)

    def text(self, width: int = WIDE) -> str:
        """The report without colours, as ``print(value)`` shows it; no line end after the last line."""
        return plain_text(self.print_on, width)

    def json(self) -> str:
        """The record as JSON."""
        if self.record is None:
            raise ValueError("this report has no JSON")
        return json.dumps(_plain(self.record()), ensure_ascii=False, indent=2) + "\n"

    def csv(self) -> str:
        """The table of the report as CSV."""
        if self.sheet is None:
            raise ValueError("this report has no CSV")
        return self.sheet.csv()

    def markdown(self) -> str:
        """Title, lines and tables as Markdown."""
        blocks: list[str] = []
        lines: list[str] = []
        for part in self.parts if self.document is None else self.document:
            if not isinstance(part, Table | Heading):
                lines.append(part if part.strip() else "")
                continue
            blocks += ["\n".join(lines)] * bool(lines)
            lines = []
            if isinstance(part, Heading):
                blocks.append(f"{'##' if blocks else '#'} {part}")
            elif part.items:
                blocks.append(part.markdown())
        return "\n\n".join([*blocks, *(["\n".join(lines)] if lines else [])]) + "\n"

    def export(self, form: str) -> str:
        """Text of the report in one format; ValueError for an unsupported one."""
        if form == "table":
            return self.text() + "\n"
        if form not in get_args(Format):
            raise ValueError(f"format {form!r} is unknown; write one of {', '.join(get_args(Format))}")
        written: str = getattr(self, form)()
        return written


def plain_text(print_on: Callable[[Console], None], width: int = WIDE) -> str:
    """Text of a console, without colours and without blanks at the ends of lines."""
    from rich.console import Console

    stream = io.StringIO()
    print_on(Console(file=stream, width=width, color_system=None, highlight=False, force_jupyter=False))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def first_lines(lines: Sequence[str], most: int) -> list[str]:
    """The first lines, and one that counts the others."""
    more = len(lines) - most
    return [*lines[:most], *([f"… and {more} more; --format json lists all"] if more > 0 else [])]


def plain(source: object, names: str) -> dict[str, Any]:
    """Attributes by their names, ready for JSON: sequences and arrays become lists."""
    return {name: _plain(getattr(source, name)) for name in names.split()}


def _plain(value: Any) -> Any:
    """A value for JSON: sequences and arrays as lists, None for a number that is not finite."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, PurePath):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
