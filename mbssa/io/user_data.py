"""Script ``User_Data.m`` of the paper: topology as matrices M and KnownInputs."""

# The script is never run: a tokenizer of the few statements of such a script reads it.

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple, NoReturn

from mbssa.faults import Fault, Faults, ModelError
from mbssa.files import read_text
from mbssa.io.adjacency import from_matrices, matrices
from mbssa.joints.catalogue import FREEDOM
from mbssa.mechanism import Mechanism


def read_user_data(path: Path) -> Mechanism:
    """Read a script ``User_Data.m``; its mechanism has the name of the file."""
    text = read_text(path, "a script like User_Data.m").replace("\r\n", "\n").replace("\r", "\n")
    return parse_user_data(text, str(path), path.stem)


def parse_user_data(text: str, source_name: str, name: str) -> Mechanism:
    """Mechanism from the text of a script; ``source_name`` stands before its faults."""
    script = _Script(text, source_name)
    script.read()
    return script.mechanism(name)


def write_user_data(mechanism: Mechanism) -> tuple[bytes, list[str]]:
    """Script in UTF-8, and what it cannot keep; ModelError for joints of three bodies, over 1,000 bodies."""
    written = matrices(mechanism)
    width = max(len(cell) for row in written.cells for cell in row) + 2
    cells = (" ".join(f"'{cell}'".ljust(width) for cell in row).rstrip() for row in written.cells)
    inputs = (" ".join(map(str, row)) for row in written.inputs)
    title = "".join(filter(str.isprintable, " ".join(mechanism.title.split())))
    script = [
        *([f"% {title}"] if title else []),
        "global ProblemType N M KnownInputs",
        f"ProblemType={FREEDOM[mechanism.space]}; % 3 for planar, 6 for spatial",
        "M={ ... % extended adjacency matrix",
        ";\n".join(cells) + "};",
        "N=length(M); % bodies with the frame",
        "KnownInputs=[ ... % driven coordinates of each pair",
        ";\n".join(inputs) + "];",
        "",
    ]
    names = ["names of the bodies"] if mechanism.body_names is not None else []
    return "\n".join(script).encode(), names + written.lost + _unknown_to_mbssa3d(mechanism, written.cells)


def _unknown_to_mbssa3d(mechanism: Mechanism, cells: list[list[str]]) -> list[str]:
    """Cells that this package reads and the authors' program does not."""
    ours = sorted({joint.type.code for joint in mechanism.joints if not joint.type.table3})
    ours += sorted({cell for row in cells for cell in row if "+" in cell})
    return [f"MBSSA3D itself does not read {', '.join(ours)}; this package does"] if ours else []


# --- tokens ----------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""
    (?P<skip>[ \t]+|(?:\.\.\.|…)[^\n]*(?:\n|\Z)|%[^\n]*)
    |(?P<end>[;\n])
    |(?P<text>['‘’"“”][^'‘’"“”\n]*['‘’"“”])
    |(?P<number>[-+]?\d+(?:\.\d*)?)
    |(?P<name>[A-Za-z]\w*)
    |(?P<mark>[={}()\[\],])
    |(?P<other>[^\n]+)
    """,
    re.VERBOSE,
)
_BLOCK_COMMENT = re.compile(r"^[ \t]*%\{[ \t]*\n.*?^[ \t]*%\}[ \t]*$", re.MULTILINE | re.DOTALL)
_NUMBERED = re.compile(r"[ \t]*(\d{1,9})(?:[ \t](.*))?")

#: Statements without a value that such scripts begin with.
_COMMANDS = ("global", "clear", "clearvars", "clc", "close", "format")
_VARIABLES = ("ProblemType", "M", "N", "KnownInputs")
_EXAMPLES = {
    "ProblemType": "ProblemType=6; or 3",
    "M": "M={'-' 'R'; 'R' '-'};",
    "KnownInputs": "KnownInputs=[0 1; 1 0];",
}


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def _tokens(text: str) -> list[_Token]:
    """Tokens without comments and continuations; a last one of kind ``stop``."""
    text = _BLOCK_COMMENT.sub(lambda block: "\n" * block[0].count("\n"), _without_line_numbers(text))
    tokens = []
    line, at = 1, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None
        kind = str(match.lastgroup)
        if kind != "skip":
            tokens.append(_Token(kind, match[0], line))
        line += match[0].count("\n")
        at = match.end()
    tokens.append(_Token("stop", "the end of the file", line))
    return tokens


def _without_line_numbers(text: str) -> str:
    """A listing that was copied together with its line numbers, as the paper prints it, without them."""
    lines = text.split("\n")
    numbered = [_NUMBERED.fullmatch(line) for line in lines if line.strip()]
    if [match and int(match[1]) for match in numbered] != list(range(1, len(numbered) + 1)):
        return text
    return "\n".join((match[2] or "") if (match := _NUMBERED.fullmatch(line)) else line for line in lines)


def _unreadable(rest: str) -> str:
    if rest[0] in "'‘’\"“”":
        return f"the quote before {rest[1:12]!r} is not closed; write 'R'"
    return f"{rest[:20]!r} is no part of such a script, which is read, not run; write rows of quoted types"


# --- statements ------------------------------------------------------------------------------------


class _Script:
    """One pass over the statements of a script."""

    def __init__(self, text: str, source_name: str) -> None:
        self.source_name = source_name
        self.tokens = _tokens(text)
        self.at = 0
        self.begins: dict[str, int] = {}
        self.rows: dict[str, list[list[str]]] = {}
        self.row_lines: dict[str, list[int]] = {}
        self.problem_type = 0
        self.n: int | None = None
        self.zeros: int | None = None

    # --- reading ---

    def read(self) -> None:
        while (token := self.take()).kind != "stop":
            if token.kind == "end" or token.text == ",":
                continue
            if token.kind != "name":
                self.fail(token, f"a statement begins with {token.text!r}; write NAME=…")
            if token.text in _COMMANDS:
                self.to_end()
            else:
                self.assignment(token)

    def assignment(self, token: _Token) -> None:
        name = token.text
        if name not in _VARIABLES:
            self.fail(token, f"{name!r} is not read; the script gives {', '.join(_VARIABLES)}")
        if name in self.begins:
            self.fail(token, f"{name} is given in line {self.begins[name]} already; give it once")
        self.begins[name] = token.line
        self.expect("=")
        if name == "M":
            self.matrix(name, "{", "}", ("text", "number"))
        elif name == "KnownInputs" and self.peek().text == "zeros":
            self.zeros = self.size()
        elif name == "KnownInputs":
            self.matrix(name, "[", "]", ("number",))
        elif name == "N" and self.peek().kind == "name":
            self.size()
        else:
            value = self.whole(self.take())
            self.n, self.problem_type = (value, self.problem_type) if name == "N" else (self.n, value)
        if (after := self.peek()).kind not in ("end", "stop") and after.text != ",":
            self.fail(after, f"{after.text!r} after the value of {name}; write a semicolon")

    def matrix(self, name: str, opening: str, closing: str, kinds: tuple[str, ...]) -> None:
        """Rows up to the closing bracket; a semicolon or a new line ends a row."""
        self.expect(opening)
        rows: list[list[str]] = [[]]
        lines = [0]
        while (token := self.take()).text != closing:
            if token.kind == "stop":
                self.fail(
                    token, f"{name}={opening} of line {self.begins[name]} is not closed; write {closing}"
                )
            if token.kind in kinds:
                rows[-1].append(token.text.strip("'‘’\"“” \t"))
                lines[-1] = lines[-1] or token.line
            elif token.kind == "end":
                rows.append([])
                lines.append(0)
            elif token.text != ",":
                wanted = "quoted types" if "text" in kinds else "whole numbers"
                self.fail(token, f"{token.text!r} in {name}; write {wanted}")
        self.rows[name] = [row for row in rows if row]
        self.row_lines[name] = [line for row, line in zip(rows, lines, strict=True) if row]
        if name == "KnownInputs":
            for row, line in zip(self.rows[name], self.row_lines[name], strict=True):
                for text in row:
                    self.whole(_Token("number", text, line))

    def size(self) -> int | None:
        """Number in ``length(M)``, ``size(M,1)``, ``zeros(N)`` or ``zeros(4,4)``, if there is one."""
        word = self.take()
        inside = []
        self.expect("(")
        while (token := self.take()).text != ")":
            inside.append(token)
            if token.kind in ("stop", "end"):
                self.fail(token, f"{word.text}( is not closed; write )")
        said = word.text + "(" + "".join(token.text for token in inside) + ")"
        known = {"length(M)", "size(M,1)", "size(M,2)", "numel(M(1,:))", "zeros(N)", "zeros(N,N)"}
        number = re.fullmatch(r"zeros\((\d{1,9})(?:,\1)?\)", said)
        if number is None and said not in known:
            self.fail(word, f"{said} is not read; write N=length(M) and KnownInputs as a matrix")
        return None if number is None else int(number[1])

    # --- meaning ---

    def mechanism(self, name: str) -> Mechanism:
        faults = Faults()
        for variable, example in _EXAMPLES.items():
            if variable not in self.begins:
                faults.add(variable, f"is missing; write {example}", "missing")
        cells = self.rows.get("M", [])
        if self.n is not None and "M" in self.begins and self.n != len(cells):
            faults.add(f"line {self.begins['N']}", f"N is {self.n}; M has {len(cells)} rows", "conflict")
        faults.raise_if_any(self.source_name)
        size = self.zeros if self.zeros is not None else len(cells)
        inputs = [[int(float(text)) for text in row] for row in self.rows.get("KnownInputs", [])]
        if "KnownInputs" not in self.rows:
            inputs = [[0] * size for _ in range(size)] if size == len(cells) else [[0] * size]
        return from_matrices(
            cells, inputs, self.problem_type, source_name=self.source_name, name=name, line=self.line
        )

    def line(self, variable: str, row: int | None) -> int:
        lines = self.row_lines.get(variable, [])
        return lines[row] if row is not None and row < len(lines) else self.begins[variable]

    # --- tokens ---

    def peek(self) -> _Token:
        return self.tokens[self.at]

    def take(self) -> _Token:
        token = self.tokens[self.at]
        if token.kind == "other":
            self.fail(token, _unreadable(token.text))
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def to_end(self) -> None:
        while self.peek().kind not in ("end", "stop"):
            self.take()

    def expect(self, mark: str) -> None:
        token = self.take()
        if token.text != mark:
            shown = "the end of the line" if token.text == "\n" else repr(token.text)
            self.fail(token, f"{shown} where {mark} belongs; write {mark}")

    def whole(self, token: _Token) -> int:
        if token.kind != "number" or float(token.text) % 1:
            self.fail(token, f"{token.text!r} is no whole number; write one")
        return int(float(token.text))

    def fail(self, token: _Token, what: str) -> NoReturn:
        raise ModelError(self.source_name, [Fault(f"line {token.line}", what)])
