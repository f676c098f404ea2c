"""Looks of links in URDF and SDF: simple shapes and meshes, each with its frame on the link."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbssa.arrays import Floats
from mbssa.faults import Faults
from mbssa.io.robots.robot import Part, Record
from mbssa.io.robots.xml_tree import Element, parsed, said

#: Sizes of the shapes that URDF and SDF have, by their names there; m.
SIZES: dict[str, tuple[str, ...]] = {
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
}


def sizes_of(record: Record, file: str) -> dict[str, str]:
    """Sizes of a shape to be written; of a mesh its file, by the name that the format has, and its scale."""
    if record["shape"] != "mesh":
        return {key: said(record[key]) for key in SIZES[record["shape"]]}
    return {file: str(record["file"]), "scale": said(np.broadcast_to(record.get("scale", 1.0), 3))}


def visuals_of(
    link: Element, place: Callable[[Element, Faults], Floats], notes: list[str]
) -> tuple[Part, ...]:
    """Looks of a link, whose frames ``place`` reads; one with a slip is left out, and a note names it."""
    parts = []
    for element in link.all("visual"):
        faults = Faults()
        record = _record(element, faults)
        part = None if record is None else Part(place(element, faults), record)
        notes += [f"not shown: {fault}" for fault in faults]
        if part is not None and not faults:
            parts.append(part)
    return tuple(parts)


def _record(element: Element, faults: Faults) -> Record | None:
    geometry = element.first("geometry")
    if geometry is None or not geometry.children:
        faults.add(element.where, "has no geometry; write a shape or a mesh in <geometry>", "missing")
        return None
    shape = geometry.children[0]
    where, record = f"{element.where} {shape.tag}", Record(shape=shape.tag)
    if shape.tag == "mesh":
        scale = parsed(shape.said("scale"), f"{where} scale", 3, (1.0, 1.0, 1.0), faults)
        return record | {"file": shape.said("filename") or shape.said("uri") or "", "scale": scale.tolist()}
    if shape.tag not in SIZES:
        what = f"the shape is {shape.tag!r}; write {', '.join(SIZES)} or mesh"
        faults.add(element.where, what, "unsupported")
        return None
    for key in SIZES[shape.tag]:
        count = 3 if key == "size" else 1
        if shape.said(key) is None:
            faults.add(where, f"has no {key}", "missing")
        size = parsed(shape.said(key), f"{where} {key}", count, (1.0,) * count, faults).tolist()
        record[key] = size if count > 1 else size[0]
    return record
