"""Elements, numbers and frames of robot descriptions that are written."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats
from mbssa.io.robots.xml_tree import placed_at

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
