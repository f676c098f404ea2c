"""XML of robot descriptions: elements with their lines, numbers and frames; elements that are written."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from typing import Any
from xml.etree import ElementTree
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, Locator

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats
from mbssa.bounds import DEEPEST, LARGEST, SMALLEST, range_fault
from mbssa.faults import Fault, Faults, ModelError

#: An element that is written.
Node = ElementTree.Element

#: A description, files beside it by their endings, and what these do not keep, a sentence each.
Written = tuple[bytes, dict[str, bytes], list[str]]


@dataclass(frozen=True, slots=True)
class Element:
    """One element: its name, attributes, line of the file, and what it contains."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    file: str = ""  # where that is not the model's own

    def all(self, tag: str) -> Iterator[Element]:
        """Children of one name."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """The first child of one name."""
        return next(self.all(tag), None)

    def find(self, *tags: str) -> Element | None:
        """The first child of the first name, of that the first of the next one, and so on."""
        found: Element | None = self
        for tag in tags:
            found = found and found.first(tag)
        return found

    def said(self, *tags: str) -> str | None:
        """Attribute of the element that all names but the last find, else the text of the last one in it."""
        found = self.find(*tags[:-1])
        if found is None:
            return None
        inner = found.first(tags[-1])
        return found.attributes.get(tags[-1], None if inner is None else inner.text)

    def name(self) -> str:
        """The attribute ``name``, without blanks around it."""
        return self.attributes.get("name", "").strip()

    @property
    def text(self) -> str:
        """Text directly inside the element."""
        return "".join(self.words).strip()

    @property
    def where(self) -> str:
        """Its place for messages, as ``leg.xml line 12 joint 'knee'``."""
        words = (self.file, f"line {self.line} {self.tag}", self.name() and repr(self.name()))
        return " ".join(filter(None, words))


class _Tree(ContentHandler):
    def __init__(self, source_name: str, file: str) -> None:
        super().__init__()
        self._source_name, self._file = source_name, file
        self._locator: Locator | None = None
        self._open = [Element("", {}, 0)]  # the document, then elements that have not ended

    @property
    def root(self) -> Element:
        return self._open[0].children[0]

    def setDocumentLocator(self, locator: Locator) -> None:
        self._locator = locator

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        line = (self._locator.getLineNumber() if self._locator else None) or 0
        element = Element(name, dict(attrs.items()), line, file=self._file)
        if len(self._open) > DEEPEST:
            what = f"elements are nested more than {DEEPEST} deep"
            raise ModelError(self._source_name, [Fault(f"line {line}", what, "size")])
        self._open[-1].children.append(element)
        self._open.append(element)

    def endElement(self, name: str) -> None:
        self._open.pop()

    def characters(self, content: str) -> None:
        self._open[-1].words.append(content)


def parse_xml(text: str, source_name: str, file: str = "") -> Element:
    """Root element of a text; ModelError, with the line, for what is no XML or is refused."""
    from xml.sax import SAXParseException

    from defusedxml import DefusedXmlException
    from defusedxml.sax import parse

    tree = _Tree(source_name, file)
    try:
        parse(StringIO(text), tree, forbid_dtd=True)
    except SAXParseException as error:
        fault = Fault(f"line {error.getLineNumber()}", f"is not XML: {error.getMessage()}", "syntax")
        raise ModelError(source_name, [fault]) from None
    except DefusedXmlException:
        what = "has a document type, an entity or an external reference, none of which is read; take it out"
        raise ModelError(source_name, [Fault("", what, "unsupported")]) from None
    return tree.root


def parsed(text: str | None, where: str, count: int, default: tuple[float, ...], faults: Faults) -> Floats:
    """Numbers (count,) of a text; the default where there is none, and where it is wrong."""
    if text is None:
        return np.array(default)
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    if len(values) != count or not all(math.isfinite(value) for value in values):
        wanted = "a number" if count == 1 else f"{count} numbers"
        faults.add(where, f"is {text[:60]!r}; write {wanted}")
        return np.array(default)
    return np.array(values)


def number(element: Element, default: float, faults: Faults, *tags: str) -> float:
    """One number of what :meth:`Element.said` finds."""
    where = f"{element.where} {tags[-1]}"
    return float(parsed(element.said(*tags), where, 1, (default,), faults)[0])


def frame(rotation: Floats, position: Floats) -> Floats:
    """Frame (4, 4) with these axes as columns, in this place."""
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = rotation, position
    return found


def inverse(of: Floats) -> Floats:
    """Inverse (4, 4) of a frame."""
    return frame(of[:3, :3].T, -of[:3, :3].T @ of[:3, 3])


def frame_of(position: Floats, angles: Floats, where: str, faults: Faults) -> Floats:
    """Frame (4, 4) of a position and of rotations about the fixed x, y and z, in this order (rad)."""
    from scipy.spatial.transform import Rotation

    if fault := next(filter(None, map(range_fault, angles.tolist())), ""):
        faults.add(where, f"an angle {fault.replace(';', ' rad;')}")
        angles = np.zeros(3)
    return frame(Rotation.from_euler("xyz", angles).as_matrix(), position)


def pose_frame(position: Floats, quaternion: Floats) -> Floats:
    """Frame (4, 4) of a position and of a quaternion w, x, y, z of any length but zero."""
    from scipy.spatial.transform import Rotation

    return frame(Rotation.from_quat(quaternion, scalar_first=True).as_matrix(), position)


def placed_at(at: Floats) -> dict[str, Any]:
    """Origin and orientation, a quaternion w, x, y, z, of a frame (4, 4)."""
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_matrix(at[:3, :3]).as_quat(scalar_first=True)
    return {"origin": at[:3, 3].tolist(), "orientation": turned.tolist()}


def origin_of(element: Element, faults: Faults, tag: str = "origin") -> Floats:
    """Frame (4, 4) of a child of an element, with ``xyz`` and ``rpy``; the identity without one."""
    origin = element.first(tag)
    if origin is None:
        return np.eye(4)
    position, angles = (
        parsed(origin.said(key), f"{origin.where} {key}", 3, (0.0, 0.0, 0.0), faults)
        for key in ("xyz", "rpy")
    )
    return frame_of(position, angles, f"{origin.where} rpy", faults)


def axis_of(element: Element, faults: Faults, tag: str) -> Floats:
    """Direction (3,) of a child of an element, with ``xyz``, of length 1; x without one, as URDF has it."""
    along_x, axis = (1.0, 0.0, 0.0), element.first(tag)
    where = element.where if axis is None else axis.where
    given = parsed(element.said(tag, "xyz"), f"{where} xyz", 3, along_x, faults)
    return direction(given, along_x, f"{element.where} {tag}", faults)


def direction(given: Floats, default: tuple[float, ...], where: str, faults: Faults) -> Floats:
    """Unit vector (3,) along a given one; the default where that is no direction."""
    length = math.hypot(*given)
    if not SMALLEST <= length <= LARGEST:
        faults.add(where, f"has length {length:.3g}; give a direction such as 0 0 1")
        return np.array(default)
    return np.array(given / length)


# --- writing -----------------------------------------------------------------------------------------


def child(parent: Node, tag: str, text: str | None = None, **attributes: str) -> Node:
    """A new element in another one."""
    found = ElementTree.SubElement(parent, tag, attributes)
    found.text = text
    return found


def said(numbers: npt.ArrayLike) -> str:
    """Numbers in their shortest form that is read as the same; rounding of zero is zero."""
    return " ".join(
        "0" if abs(number) < 1e-15 else f"{number!r}".removesuffix(".0")
        for number in np.atleast_1d(np.asarray(numbers, dtype=np.float64)).tolist()
    )


def document(root: Node) -> bytes:
    """The whole file in UTF-8, indented."""
    ElementTree.indent(root)
    data: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def xyz_rpy(at: Floats) -> tuple[str, str]:
    """Place, and angles (rad) about the fixed x, y and z, in this order, of a frame (4, 4)."""
    import warnings

    from scipy.spatial.transform import Rotation

    with warnings.catch_warnings():
        # At a quarter turn about y there are many; the one that is chosen is right.
        warnings.filterwarnings("ignore", message="Gimbal lock detected")
        return said(at[:3, 3]), said(Rotation.from_matrix(at[:3, :3]).as_euler("xyz"))


def pos_quat(at: Floats) -> dict[str, str]:
    """Place and quaternion w, x, y, z of a frame (4, 4), as attributes of MJCF."""
    return {key: said(numbers) for key, numbers in zip(("pos", "quat"), placed_at(at).values(), strict=True)}
