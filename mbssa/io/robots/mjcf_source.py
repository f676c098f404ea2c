"""MJCF before MuJoCo's parser: includes put in place, every path inside the folder of the model."""

# MuJoCo gets one text without includes, whose paths are absolute and have been checked, so that what it
# parses is what was checked. Textures, skins and materials' looks are left out.

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import replace
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


class Source:
    """Model with all that it includes: text for MuJoCo, the element that begins on each line, mesh files."""

    def __init__(self, path: Path) -> None:
        """Expand a model; ModelError with all faults at once."""
        root = parse_xml(read_text(path, "MJCF"), str(path))
        if root.tag != "mujoco":
            what = f"is <{root.tag}>; an MJCF is a <mujoco>, and a <robot> or an <sdf> ends in .urdf or .sdf"
            raise ModelError(str(path), [Fault(f"line {root.line}", what, "syntax")])
        self.folder, self.faults, self.included = path.parent.resolve(), Faults(), {path.resolve()}
        self.lines, self.meshes, self.cells = list[Element](), dict[str, str](), 0
        depths = list(self._add(root, 0, 1))
        self._resolve()
        self.faults.raise_if_any(str(path))
        text, open_tags = list[str](), list[str]()
        for depth, element in zip(depths, self.lines, strict=True):
            closed = "".join(f"</{tag}>" for tag in reversed(open_tags[depth:]))
            open_tags[depth:] = [element.tag]
            said = "".join(f" {key}={quoteattr(value)}" for key, value in element.attributes.items())
            text.append(f"{closed}<{element.tag}{said}>")
        self.text = "\n".join(text) + "".join(f"</{tag}>" for tag in reversed(open_tags))

    def place(self, number: int) -> str:
        """Place of a line of the text in the files that were given."""
        return self.lines[number - 1].where if 0 < number <= len(self.lines) else ""

    def all(self, *tags: str) -> Iterator[Element]:
        """Elements of some names."""
        return (element for element in self.lines if element.tag in tags)

    def _add(self, element: Element, depth: int, copies: int) -> Iterator[int]:
        """Add an element and all in it that is handed on to the lines; their depths."""
        attached = element.tag == "model" and "file" in element.attributes
        if element.tag == "include":
            for child in self._included(element):
                yield from self._add(child, depth, copies)
        elif attached or element.tag in _REFUSED:
            what = _REFUSED["attach" if attached else element.tag]
            self.faults.add(element.where, what, "unsupported")
        elif element.tag not in _LOOKS and depth > DEEPEST:
            self.faults.add(element.where, f"elements are nested more than {DEEPEST} deep", "size")
        elif element.tag not in _LOOKS:
            copies = self._counted(element, copies)
            self.lines.append(element)
            yield depth
            for child in element.children:
                yield from self._add(child, depth + 1, copies)

    def _counted(self, element: Element, copies: int) -> int:
        """Copies of what is inside, and a fault for numbers that fill the memory."""
        attributes = element.attributes
        self._add_cells(element, [_whole(attributes.get(key, "")) for key in ("nrow", "ncol")])
        counts = _COUNTS.get(element.tag, {})
        if element.tag == "size":
            counts = {key: COUNT for key in attributes if key == "nkey" or key.startswith("nuser_")}
        for key, most in counts.items():
            number = max(_whole(word) for word in [*attributes.get(key, "").split(), ""])
            if number > most:
                what = f"asks for {number:,}; write {most:,} or fewer"
                self.faults.add(f"{element.where} {key}", what, "size")
        if element.tag in ("replicate", "composite"):
            copies *= math.prod(_whole(word) for word in attributes.get("count", "").split())
            if copies > COPIES:
                what = f"asks for {copies:,} copies; write {COPIES:,} or fewer"
                self.faults.add(element.where, what, "size")
                return 1
        return copies

    def _add_cells(self, element: Element, sides: list[int]) -> None:
        """Count cells of height fields, all together; a fault at the first that is one too many."""
        before, self.cells = self.cells, self.cells + (math.prod(sides) if max(sides) > 1 else 0)
        if before <= CELLS < self.cells:
            self.faults.add(element.where, f"makes {self.cells:,} cells; write fewer", "size")

    def _included(self, element: Element) -> list[Element]:
        """Elements of the file that an element includes."""
        path = self._inside(element, element.attributes.get("file", ""), "")
        if path is None:
            return []
        if path in self.included:
            what = "includes a file that is included already; a file is included once"
            self.faults.add(element.where, what, "duplicate")
            return []
        if len(self.included) > INCLUDES:
            what = f"is include {len(self.included)}; there are {INCLUDES} at most"
            self.faults.add(element.where, what, "size")
            return []
        self.included.add(path)
        name = str(self._named(path))
        try:
            return parse_xml(read_text(path, "MJCF"), name, name).children
        except ModelError as error:
            self.faults += [fault.at(f"{name} {fault.place}") for fault in error.faults]
            return []

    def _resolve(self) -> None:
        """Make every path absolute, by the last folders of the compiler element, as MuJoCo does."""
        compiler = {
            key: element.attributes[key]
            for element in self.all("compiler")
            for key in _FOLDERS
            if key in element.attributes
        }
        # MuJoCo reads meshes from meshdir and height fields from it too; assetdir sets both folders.
        folder = compiler.get("meshdir", compiler.get("assetdir", ""))
        size = 0
        for number, old in enumerate(self.lines):
            attributes = {
                key: value for key, value in old.attributes.items() if (old.tag, key) not in _LEFT_OUT
            }
            for key in [key for key in attributes if key.startswith("file")]:
                file = attributes[key].replace("\\", "/")
                if compiler.get("strippath") == "true":
                    file = file.rpartition("/")[2]
                path = self._inside(old, file, folder)
                if path is None:
                    continue
                size += path.stat().st_size
                if old.tag == "hfield":
                    self._add_cells(old, _pixels(path))
                if (old.tag, key) == ("mesh", "file"):
                    self.meshes[old.name() or path.stem] = self._named(path)
                attributes[key] = str(path)
            self.lines[number] = replace(old, attributes=attributes, children=[])
        if size > NAMED_BYTES:
            self.faults.add("", f"names {size / 1e6:.0f} MB of files; simplify the meshes", "size")

    def _inside(self, element: Element, file: str, folder: str) -> Path | None:
        """The file that a path means, None with a fault where it is missing or leaves the folder."""
        shown = Path(folder.replace("\\", "/"), file.replace("\\", "/"))
        if not file or "\0" in file or re.match(r"[A-Za-z][\w+.-]*:", file):
            self.faults.add(
                element.where, f"file {file[:60]!r} is no path in the folder of the model", "file"
            )
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
        self.faults.add(element.where, what, "file")
        return None

    def _named(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else Allowed(path)


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
