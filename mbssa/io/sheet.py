"""Sheet of the paper's matrices: CSV with M above and the driven coordinates below, in one file."""

# The first cell is the space (or 3 or 6, the paper's ProblemType); an empty line and ``driven`` begin the
# second matrix. Header and labels may be missing, cells empty, commas semicolons or tabs; without a first
# cell the space is that of the types, if only one fits. An example is in docs/reference/model-files.md.

from __future__ import annotations

import csv
import dataclasses
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mbssa.faults import Fault, Faults, ModelError
from mbssa.files import read_text
from mbssa.io.adjacency import from_matrices, matrices
from mbssa.joints.catalogue import FREEDOM, Space, types_of
from mbssa.mechanism import FRAME, Mechanism
from mbssa.texts import as_cell, from_cell

_SPACES: dict[str, Space] = {"planar": "planar", "3": "planar", "spatial": "spatial", "6": "spatial"}
_CORNER = re.compile(r'\s*"?(?:planar|spatial|3|6)"?[ ]*([,;\t])', re.IGNORECASE)
_DRIVEN = ("driven", "inputs", "knowninputs", "known inputs")
_FIRST_CELL = "write planar or spatial into the first cell, then the numbers or names of the bodies"


def read_sheet(path: Path) -> Mechanism:
    """Read a sheet; its mechanism has the name of the file."""
    return parse_sheet(read_text(path, "a sheet of comma-separated cells"), str(path), path.stem)


def parse_sheet(text: str, source_name: str, name: str) -> Mechanism:
    """Mechanism from the text of a sheet; ``source_name`` stands before its faults."""
    faults, rows = Faults(), _lines(text, source_name)
    marks = [k for k, (_, cells) in enumerate(rows) if k and cells and cells[0].casefold() in _DRIVEN]
    if not marks:
        what = (
            "is missing; below M, after an empty line, write driven and a matrix like M, 0 where nothing is"
        )
        faults.add("driven", what, "missing")
    last = marks[-1] if marks else len(rows)
    at = next((k for k in reversed(marks) if not rows[k - 1][1]), last)
    m = _block(rows[:at], "M", faults)
    k = _block(rows[at:], "driven", faults, m)
    space, names = _space(m, faults), _names(m, k, faults)
    inputs = [
        [_count(cell, line, faults) for cell in row] for row, line in zip(k.cells, k.lines, strict=True)
    ]
    if faults or space is None:
        raise ModelError(source_name, faults)

    def line(matrix: str, row: int | None) -> int:
        block = k if matrix == "KnownInputs" else m
        return block.lines[row] if row is not None and row < len(block.lines) else block.begins

    mechanism = from_matrices(m.cells, inputs, FREEDOM[space], source_name=source_name, name=name, line=line)
    return mechanism if names is None else dataclasses.replace(mechanism, body_names=names)


def write_sheet(mechanism: Mechanism) -> tuple[bytes, list[str]]:
    """Sheet in UTF-8, and what it cannot keep; ModelError for joints of three bodies, over 1,000 bodies."""
    written, labels, lost = matrices(mechanism), list[str](), list[str]()
    tables: list[tuple[str, list[Any]]] = [(mechanism.space, written.cells), ("driven", written.inputs)]
    for number, body in enumerate(map(mechanism.body_name, range(mechanism.n_bodies)), 1):
        is_cell = body.isprintable() and body.strip() == (body or " ") and not body.isdigit()
        labels.append(str(as_cell(body)) if is_cell else str(number))
        if body != labels[-1] and not is_cell:
            lost.append(f"name {body!r} of body {number}: {number if number > 1 else FRAME}")
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    for corner, rows in tables:
        sheet.write("\n" if corner == "driven" else "")
        writer.writerow([corner, *labels])
        writer.writerows([label, *row] for label, row in zip(labels, rows, strict=True))
    text = sheet.getvalue()
    # Spreadsheets take a file without a mark for the encoding of their own country.
    return text.encode("utf-8" if text.isascii() else "utf-8-sig"), lost + written.lost


# --- reading ---------------------------------------------------------------------------------------

_Line = tuple[int, list[str]]


@dataclass(slots=True)
class _Block:
    """One matrix of the sheet: its first cell, labels, rows and their lines."""

    corner: str
    labels: list[str]
    cells: list[list[str]]
    lines: list[int]
    begins: int


def _lines(text: str, source_name: str) -> list[_Line]:
    """Rows of stripped cells with their line numbers, without the empty cells at their ends."""
    if text.lower().startswith("sep="):
        text = "\n" + text.partition("\n")[2]
    cornered = _CORNER.match(text)
    delimiter = cornered[1] if cornered else max(",;\t", key=text.count)
    rows: list[_Line] = []
    try:
        reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True, skipinitialspace=True)
        for row in reader:
            cells = [cell.strip() for cell in row]
            while cells and not cells[-1]:
                cells.pop()
            rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise ModelError(
            source_name, [Fault(f"line {reader.line_num}", f"is no row of cells: {error}", "syntax")]
        ) from None
    return rows


def _block(rows: list[_Line], what: str, faults: Faults, like: _Block | None = None) -> _Block:
    """Matrix in these lines, labels taken off; a fault where it is not square."""
    # A second matrix is ``like`` the first: empty cells at its ends do not make it smaller.
    full = [k for k, (_, cells) in enumerate(rows) if cells]
    rows = rows[full[0] : full[-1] + 1] if full else []
    begins, header = rows[0][0] if rows else 1, list[str]()
    if rows and _is_header(rows[0][1]):
        header, rows = rows[0][1], rows[1:]
    height, width = len(rows), max((len(cells) for _, cells in rows), default=0)
    labelled = width == height + 1
    if like is not None and rows and like.cells:
        labelled = width == len(like.cells) + 1 or [cells[0] for _, cells in rows if cells] == like.labels
        width = max(width, len(like.cells) + labelled)
        rows = rows + [(rows[-1][0], [])] * (0 if labelled else len(like.cells) - height)
        height = len(rows)
    if rows and width not in (height, height + 1):
        faults.add(
            f"line {rows[0][0]}",
            f"{what} has {height} rows of {width} cells; it is square, but for a label before each row",
        )
    cells = [(row + [""] * width)[:width] for _, row in rows]
    labels = [row[0] for row in cells] if labelled else []
    cornered = bool(header) and (labelled or header[0].casefold() in (*_SPACES, *_DRIVEN))
    if header:
        above = header[1:] if cornered else header
        if above and len(above) != len(rows):
            what = f"names {len(above)} bodies above {len(rows)} rows; name each once"
            faults.add(f"line {begins}", what)
        else:
            for row, label, over in zip(rows, labels, above, strict=False):
                if label != over:
                    what = f"is labelled {label!r}, its column {over!r}; write the same"
                    faults.add(f"line {row[0]}", what, "conflict")
        labels = labels or above
    labels, lines = [from_cell(label) for label in labels], [line for line, _ in rows]
    corner = header[0].casefold() if cornered else ""
    return _Block(corner, labels, [row[labelled:] for row in cells], lines, begins)


def _is_header(cells: list[str]) -> bool:
    """The space or ``driven`` in the first cell; else a row without a pair, for the frame has one."""
    if cells and cells[0].casefold() in (*_SPACES, *_DRIVEN):
        return True
    codes = {kind.code for space in FREEDOM for kind in types_of(space)}
    return not any(set("".join(cell.split()).split("+")) <= codes for cell in cells if cell)


def _space(m: _Block, faults: Faults) -> Space | None:
    """The space of the first cell; else the only one that has all the types."""
    if m.corner in _SPACES:
        return _SPACES[m.corner]
    codes = {code for row in m.cells for cell in row for code in "".join(cell.split()).split("+")}
    known: dict[Space, set[str]] = {space: {kind.code for kind in types_of(space)} for space in FREEDOM}
    pairs = codes & (known["planar"] | known["spatial"])
    fitting = [space for space, those in known.items() if pairs and pairs <= those]
    if len(fitting) == 1:
        return fitting[0]
    faults.add(f"line {m.begins}", f"says neither planar nor spatial; {_FIRST_CELL}", "missing")
    return None


def _count(cell: str, line: int, faults: Faults) -> int:
    if cell in ("", "-", "–", "−"):
        return 0
    try:
        value = float(cell.replace(",", "."))
    except ValueError:
        value = 0.5
    if value % 1:
        faults.add(f"line {line}", f"{cell!r} is no number of driven coordinates; write 0, 1, …")
        return 0
    return int(value)


def _names(m: _Block, k: _Block, faults: Faults) -> tuple[str, ...] | None:
    """Names of the bodies; None where the labels are missing or are their numbers."""
    labels = m.labels
    if k.labels and labels and k.labels != labels:
        faults.add(f"line {k.begins}", "the labels are not those of M; write the same in both", "conflict")
    if all(label == str(number) for number, label in enumerate(labels, 1)):
        return None
    for number, label in enumerate(labels, 1):
        where = f"label {number}"
        if not label:
            faults.add(where, "is empty; write a name or the body's number")
        elif label in labels[: number - 1]:
            faults.add(where, f"{label!r} is taken; each body has a name of its own", "duplicate")
        elif label.isdigit() and label != str(number):
            faults.add(where, f"{label!r} is another body's number; write {number} or a name", "conflict")
    return tuple(FRAME if label == "1" else label for label in labels)
