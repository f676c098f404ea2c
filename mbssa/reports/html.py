"""Values as HTML, for notebooks: the report that their command prints, and a picture."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pkgutil import resolve_name
from typing import Any

from mbssa.reports.table import SHOWN, Bad, Good, Heading, Table

#: Bodies beyond which a notebook shows no picture unasked.
DRAWN = 60

#: Titles may be broken, cells not.
_WHOLE = {"th": "", "td": ";white-space:nowrap"}

_COLOURS: dict[type, str] = {Good: ";color:#2e7d32", Bad: ";color:#c62828"}


def html_of(value: Any, report: str, picture: str | None = None) -> str:
    """HTML of a value: its report, and below it a picture, or the reason why there is none."""
    # Report and picture are functions as "module:name": they stand above the value, which does not import
    # them.
    parts = resolve_name(report)(value).parts
    made = [_part(part) for part in parts if not isinstance(part, Table) or part.items]
    if picture is not None:
        try:
            figure = resolve_name(picture)(value)
        except (ModuleNotFoundError, ValueError) as error:
            made.append(_part(f"no picture: {error}"))
        else:
            # An image of its own: names inside one SVG would meet those of the next.
            svg = resolve_name("mbssa.pictures.files:rendered")(figure, "svg")
            code = base64.b64encode(svg).decode("ascii")
            made.append(f'<img style="max-width:100%" alt="" src="data:image/svg+xml;base64,{code}">')
    return "<div>" + "\n".join(made) + "</div>"


def _part(part: str | Table) -> str:
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Heading):
        return f"<div><strong>{escape(part)}</strong></div>"
    colour = _COLOURS.get(type(part), "")
    return f'<div style="white-space:pre-wrap{colour}">{escape(part) or "&nbsp;"}</div>'


def _table(table: Table) -> str:
    styles = [
        f"padding:0.1em 0.6em;text-align:{'right' if title in table.right else 'left'}"
        for title in table.columns
    ]

    def row(cells: Sequence[str], tag: str) -> str:
        made = (
            f'<{tag} style="{style}{_WHOLE[tag]}">{escape(cell)}</{tag}>'
            for cell, style in zip(cells, styles, strict=True)
        )
        return f"<tr>{''.join(made)}</tr>"

    most = table.shown or SHOWN
    body = "\n".join(row(cells, "td") for cells in table.rows(most))
    left = len(table.items) - most
    more = f"\n<div>{escape(table.rest.format(left))}</div>" if left > 0 else ""
    head = row(table.columns, "th")
    made = f"<table><thead>{head}</thead>\n<tbody>{body}</tbody></table>"
    return f'<div style="overflow-x:auto">{made}</div>{more}'
