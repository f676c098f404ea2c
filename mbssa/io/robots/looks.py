"""Looks of bodies in robots' descriptions: simple shapes and meshes, each with its frame on the body."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mbssa.faults import Faults
from mbssa.io.robots.robot import Part, Record
from mbssa.io.robots.sdf_frames import pose_of
from mbssa.io.robots.xml_tree import Element, origin_of, parsed

#: Sizes of the shapes that URDF and SDF have, by their names there; m.
SIZES: dict[str, tuple[str, ...]] = {
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
}


def visuals_of(
    link: Element, visual: Callable[[Element, Faults], Part | None], notes: list[str]
) -> tuple[Part, ...]:
    """Looks of a link that ``visual`` reads; one with a slip is left out, and a note names it."""
    parts = []
    for element in link.all("visual"):
        faults = Faults()
        part = visual(element, faults)
        notes += [f"not shown: {fault}" for fault in faults]
        if part is not None and not faults:
            parts.append(part)
    return tuple(parts)


def urdf_visual(element: Element, faults: Faults) -> Part | None:
    """A ``visual`` of a URDF, with sizes as attributes."""
    shape = _shape(element, faults)
    if shape is None:
        return None
    where = f"{element.where} {shape.tag}"
    return Part(origin_of(element, faults), _record(shape, "filename", shape.attributes, where, faults))


def sdf_visual(element: Element, faults: Faults) -> Part | None:
    """A ``visual`` of an SDF, with sizes as elements."""
    shape = _shape(element, faults)
    if shape is None:
        return None
    given = {each.tag: each.text for each in shape.children}
    return Part(
        pose_of(element, faults), _record(shape, "uri", given, f"{element.where} {shape.tag}", faults)
    )


def _shape(element: Element, faults: Faults) -> Element | None:
    geometry = element.first("geometry")
    shape = geometry.children[0] if geometry is not None and geometry.children else None
    if shape is None:
        faults.add(element.where, "has no geometry; write a shape or a mesh in <geometry>", "missing")
    elif shape.tag not in (*SIZES, "mesh"):
        faults.add(
            element.where, f"the shape is {shape.tag!r}; write {', '.join(SIZES)} or mesh", "unsupported"
        )
    else:
        return shape
    return None


def _record(shape: Element, file: str, given: Mapping[str, str], where: str, faults: Faults) -> Record:
    record: Record = {"shape": shape.tag}
    if shape.tag == "mesh":
        scale = parsed(given.get("scale"), f"{where} scale", 3, (1.0, 1.0, 1.0), faults)
        return record | {"file": given.get(file, ""), "scale": scale.tolist()}
    for key in SIZES[shape.tag]:
        count = 3 if key == "size" else 1
        if key not in given:
            faults.add(where, f"has no {key}", "missing")
        size = parsed(given.get(key), f"{where} {key}", count, (1.0,) * count, faults).tolist()
        record[key] = size if count > 1 else size[0]
    return record
