"""MJCF before MuJoCo's parser: includes put in place, every path inside the folder of the model."""

# MuJoCo gets one text without includes, whose paths are absolute and have been checked, so that what it
# parses is what was checked. Textures, skins and materials' looks are left out.

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from mbssa.allowed import Allowed, is_allowed
from mbssa.bounds import CELLS, COPIES, COUNT, DEEPEST, DIVISIONS, INCLUDES, NAMED_BYTES
from mbssa.faults import Fault, Faults, ModelError
from mbssa.files import read_text
from mbssa.io.robots.xml_tree import Element, parse_xml

#: Elements that are not handed on, and why nothing is lost: looks alone.
_LOOKS = ("texture", "skin", "layer", "visual", "statistic")

#: Elements that are refused.
_REFUSED = {
    "plugin": "plugins are not run; take it out",
    "attach": "models in other files are not attached; write their bodies here, or include them",
    "flexcomp": "deformable bodies are not read; take it out",
    "flex": "deformable bodies are not read; take it out",
}

#: Attributes that are counts, and their bounds, beside ``nkey`` and ``nuser_…`` of ``size``.
_COUNTS = {"user": {"dim": COUNT}, "mesh": {"params": DIVISIONS}}

_FOLDERS = ("meshdir", "texturedir", "assetdir", "strippath")

#: Attributes that are not handed on: folders that the paths have already, and names of textures.
_LEFT_OUT = {*(("compiler", key) for key in _FOLDERS), ("material", "texture"), ("light", "texture")}


@dataclass(frozen=True, slots=True)
class Line:
    """One element of the expanded text: its file, where that is not the model's own, and the element."""

    file: str
    element: Element

    @property
    def where(self) -> str:
        """Its place for messages, as ``leg.xml line 12 joint 'knee'``."""
        return f"{self.file} {self.element.where}" if self.file else self.element.where


@dataclass(frozen=True, slots=True)
class Source:
    """Text for MuJoCo, the element that begins on each of its lines, and the file of each mesh."""

    text: str
    lines: tuple[Line, ...]
    meshes: dict[str, str]

    def place(self, number: int) -> str:
        """Place of a line of the text in the files that were given."""
        return self.lines[number - 1].where if 0 < number <= len(self.lines) else ""

    def all(self, *tags: str) -> Iterator[Line]:
        """Elements of some names."""
        return (line for line in self.lines if line.element.tag in tags)


def source_of(path: Path) -> Source:
    """Source of a model and of all that it includes; ModelError with all faults at once."""
    root = parse_xml(read_text(path, "MJCF"), str(path))
    if root.tag != "mujoco":
        what = f"is <{root.tag}>; an MJCF is a <mujoco>, and a <robot> or an <sdf> ends in .urdf or .sdf"
        raise ModelError(str(path), [Fault(f"line {root.line}", what, "syntax")])
    maker = _Maker(path)
    maker.add(Line("", root), 1)
    maker.resolve()
    if maker.faults:
        raise ModelError(str(path), maker.faults)
    return maker.source()


class _Maker:
    """Expansion of one model, with its faults."""

    def __init__(self, path: Path) -> None:
        self.folder = path.parent.resolve()
        self.faults = Faults()
        self.included = {path.resolve()}
        # Elements with their depth, in the order of the text.
        self.found: list[tuple[int, Line]] = []
        self.depth, self.cells = 0, 0

    def add(self, line: Line, copies: int) -> None:
        element = line.element
        if element.tag == "include":
            self._include(line, copies)
            return
        if element.tag in _LOOKS:
            return
        if element.tag in _REFUSED:
            self.faults.add(line.where, _REFUSED[element.tag], "unsupported")
            return
        if element.tag == "model" and "file" in element.attributes:
            self.faults.add(line.where, _REFUSED["attach"], "unsupported")
            return
        if self.depth > DEEPEST:
            self.faults.add(line.where, f"elements are nested more than {DEEPEST} deep", "size")
            return
        copies = self._counted(line, copies)
        self.found.append((self.depth, line))
        self.depth += 1
        for child in element.children:
            self.add(Line(line.file, child), copies)
        self.depth -= 1

    def _counted(self, line: Line, copies: int) -> int:
        """Copies of what is inside, and a fault for numbers that fill the memory."""
        attributes = line.element.attributes
        self._add_cells(line, [_whole(attributes.get(key, "")) for key in ("nrow", "ncol")])
        counts = _COUNTS.get(line.element.tag, {})
        if line.element.tag == "size":
            counts = {key: COUNT for key in attributes if key == "nkey" or key.startswith("nuser_")}
        for key, most in counts.items():
            number = max(_whole(word) for word in [*attributes.get(key, "").split(), ""])
            if number > most:
                what = f"asks for {number:,}; write {most:,} or fewer"
                self.faults.add(f"{line.where} {key}", what, "size")
        if line.element.tag in ("replicate", "composite"):
            copies *= math.prod(_whole(word) for word in attributes.get("count", "").split())
            if copies > COPIES:
                what = f"asks for {copies:,} copies; write {COPIES:,} or fewer"
                self.faults.add(line.where, what, "size")
                return 1
        return copies

    def _add_cells(self, line: Line, sides: list[int]) -> None:
        """Count cells of height fields, all together; a fault at the first that is one too many."""
        before, self.cells = self.cells, self.cells + (math.prod(sides) if max(sides) > 1 else 0)
        if before <= CELLS < self.cells:
            self.faults.add(line.where, f"makes {self.cells:,} cells; write fewer", "size")

    def _include(self, line: Line, copies: int) -> None:
        path = self._inside(line, line.element.attributes.get("file", ""), "")
        if path is None:
            return
        if path in self.included:
            what = "includes a file that is included already; a file is included once"
            self.faults.add(line.where, what, "duplicate")
            return
        if len(self.included) > INCLUDES:
            what = f"is include {len(self.included)}; there are {INCLUDES} at most"
            self.faults.add(line.where, what, "size")
            return
        self.included.add(path)
        name = str(self._named(path))
        try:
            root = parse_xml(read_text(path, "MJCF"), name)
        except ModelError as error:
            self.faults += [fault.at(f"{name} {fault.place}") for fault in error.faults]
            return
        for child in root.children:
            self.add(Line(name, child), copies)

    def resolve(self) -> None:
        """Make every path absolute, by the last folders of the compiler element, as MuJoCo does."""
        compiler = {
            key: line.element.attributes[key]
            for _, line in self.found
            if line.element.tag == "compiler"
            for key in _FOLDERS
            if key in line.element.attributes
        }
        # MuJoCo reads meshes from meshdir and height fields from it too; assetdir sets both folders.
        folder = compiler.get("meshdir", compiler.get("assetdir", ""))
        size = 0
        for place, (depth, line) in enumerate(self.found):
            old = line.element
            attributes = {
                key: value for key, value in old.attributes.items() if (old.tag, key) not in _LEFT_OUT
            }
            for key in [key for key in attributes if key.startswith("file")]:
                file = attributes[key].replace("\\", "/")
                if compiler.get("strippath") == "true":
                    file = file.rpartition("/")[2]
                path = self._inside(line, file, folder)
                if path is not None:
                    size += path.stat().st_size
                    if old.tag == "hfield":
                        self._add_cells(line, _pixels(path))
                    attributes[key] = str(path)
            element = Element(old.tag, attributes, old.line, words=old.words)
            self.found[place] = depth, Line(line.file, element)
        if size > NAMED_BYTES:
            self.faults.add("", f"names {size / 1e6:.0f} MB of files; simplify the meshes", "size")

    def _inside(self, line: Line, file: str, folder: str) -> Path | None:
        """The file that a path means, None with a fault where it is missing or leaves the folder."""
        shown = Path(folder.replace("\\", "/"), file.replace("\\", "/"))
        if not file or "\0" in file or re.match(r"[A-Za-z][\w+.-]*:", file):
            self.faults.add(line.where, f"file {file[:60]!r} is no path in the folder of the model", "file")
            return None
        path = (self.folder / shown).resolve()
        if not is_allowed(path, self.folder):
            what = (
                f"{str(shown)!r} leaves the folder of the model; put the file there, or write --allow FOLDER"
            )
        elif not path.is_file():
            what = f"there is no file {str(shown)!r} in the folder of the model"
        else:
            return path
        self.faults.add(line.where, what, "file")
        return None

    def _named(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else Allowed(path)

    def source(self) -> Source:
        text, open_tags = [], list[str]()
        meshes = {}
        for depth, line in self.found:
            element = line.element
            closed = "".join(f"</{tag}>" for tag in reversed(open_tags[depth:]))
            del open_tags[depth:]
            said = "".join(f" {key}={quoteattr(value)}" for key, value in element.attributes.items())
            text.append(f"{closed}<{element.tag}{said}>")
            open_tags.append(element.tag)
            if element.tag == "mesh" and "file" in element.attributes:
                file = Path(element.attributes["file"])
                meshes[element.name() or file.stem] = self._named(file)
        closed = "".join(f"</{tag}>" for tag in reversed(open_tags))
        return Source("\n".join(text) + closed, tuple(line for _, line in self.found), meshes)


def _pixels(path: Path) -> list[int]:
    """Width and height that the header of a PNG says; 1 for another file, whose size is what it holds."""
    with path.open("rb") as stream:
        head = stream.read(24)
    return (
        list(struct.unpack(">II", head[16:24])) if head.startswith(b"\x89PNG") and len(head) == 24 else [1, 1]
    )


def _whole(text: str) -> int:
    """A positive whole number; 1 for anything else, which MuJoCo refuses."""
    return max(1, int(text)) if re.fullmatch(r"\+?\d{1,18}", text) else 1
