"""Elements, numbers and frames of robot descriptions that are written."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats

Element = ElementTree.Element

#: A description, files beside it by their endings, and what these do not keep, a sentence each.
Written = tuple[bytes, dict[str, bytes], list[str]]


def child(parent: Element, tag: str, text: str | None = None, **attributes: str) -> Element:
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


def document(root: Element) -> bytes:
    """The whole file in UTF-8, indented."""
    ElementTree.indent(root)
    data: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def rpy(rotation: Floats) -> Floats:
    """Angles (3,), rad, about the fixed x, y and z, in this order."""
    import warnings

    from scipy.spatial.transform import Rotation

    with warnings.catch_warnings():
        # At a quarter turn about y there are many; the one that is chosen is right.
        warnings.filterwarnings("ignore", message="Gimbal lock detected")
        angles: Floats = Rotation.from_matrix(rotation).as_euler("xyz")
    return angles


def quaternion(rotation: Floats) -> Floats:
    """Quaternion (4,) w, x, y, z."""
    from scipy.spatial.transform import Rotation

    found: Floats = Rotation.from_matrix(rotation).as_quat(scalar_first=True)
    return found
