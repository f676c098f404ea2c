"""Text that comes from files, made fit for a terminal, a page, or a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mbssa.units import ANGLES, LENGTHS

if TYPE_CHECKING:
    from mbssa.mechanism import Mechanism

#: Control characters but for tabs and line ends, separators of lines, and what turns the direction of text.
_STRANGE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_UNIT = "|".join((*LENGTHS, *ANGLES, "s", "kg", "N", "J", "W", "Hz", "%"))
#: A unit behind a number: ``mm``, ``N mm``, ``rad/s^2``.
_BEHIND = re.compile(rf"(?<=\d)(?: (?:{_UNIT})(?:(?:/|\^|[²³])\S*)?(?![^\s,.;:)]))+")
_LONG = re.compile(r"\S{401,}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def strange(text: str, *, lines: bool = False) -> str | None:
    """First character that may not be in a name, as U+001B; None where all may be."""
    found = _STRANGE.search(text) or (None if lines else re.search("[\t\n]", text))
    return None if found is None else f"U+{ord(found[0]):04X}"


def printable(text: str) -> str:
    """Text with control and bidirectional characters as escapes; line ends and tabs stay."""
    return _STRANGE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def folded(text: str, width: int) -> str:
    """Text in lines of a width: broken between words, but not between a number and its unit."""
    from textwrap import wrap

    glued = _BEHIND.sub(lambda behind: behind[0].replace(" ", "\0"), text)
    lines = (
        wrap(line, max(width, 1), replace_whitespace=False, expand_tabs=False, break_on_hyphens=False)
        for line in glued.splitlines()
    )
    return "\n".join("\n".join(parts) for parts in lines).replace("\0", " ")


def shortened(text: str) -> str:
    """Text of a message, with the ends alone of words that are longer than any but the longest paths."""
    return _LONG.sub(lambda word: f"{word[0][:100]}…({len(word[0]):,} characters)…{word[0][-100:]}", text)


def as_cell(value: object) -> object:
    """Cell of a CSV file that no spreadsheet takes for a formula, by an apostrophe before it."""
    if not isinstance(value, str) or len(value) < 2 or _NUMBER.fullmatch(value):
        return value
    return f"'{value}" if value.lstrip("'")[:1] in tuple("=@+-") else value


def from_cell(text: str) -> str:
    """Return the text that :func:`as_cell` made a cell of."""
    return text[1:] if text[:1] == "'" and as_cell(text[1:]) == text else text


def counted(number: int, noun: str) -> str:
    """Number with its noun."""
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("dy") else f"{noun}s"
    return f"{number:,} {noun}"


def listed(items: Sequence[str], most: int = 30, between: str = ", ") -> str:
    """First items with ``between`` them, and the number of the others."""
    return between.join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")


def bodies_text(mechanism: Mechanism, bodies: Sequence[int], most: int = 30) -> str:
    """Bodies (indices) by number and name: ``body 3 (rod)``, ``bodies 4, 5``."""
    names = listed([str(mechanism.bodies[body]) for body in bodies], most)
    return f"{'body' if len(bodies) == 1 else 'bodies'} {names}"


def joined(words: Sequence[str], last: str = "and") -> str:
    """Words with commas between, and a word before the last one."""
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail
