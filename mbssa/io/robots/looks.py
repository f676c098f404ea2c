"""Looks of bodies in robots' descriptions: simple shapes and meshes, each with its frame on the body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mbssa.faults import Faults
from mbssa.io.robots.robot import Part, Record
from mbssa.io.robots.sdf_frames import pose_of
from mbssa.io.robots.tree import Tree
from mbssa.io.robots.xml_tree import Element, frame, origin_of, parsed
from mbssa.io.robots.xml_writer import child, said

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


def parts_of(tree: Tree, body: int) -> list[Part]:
    """Shapes and meshes of a body, in its own frame."""
    from scipy.spatial.transform import Rotation

    geometry = tree.mechanism.body_geometry.get(body)
    visual: Any = (geometry.visual or {}) if geometry is not None else {}
    given = [part for part in visual.get("parts") or [] if isinstance(part, dict)]
    if "mesh" in visual:
        given.append({"shape": "mesh", "file": visual["mesh"], "scale": [visual.get("scale", 1.0)] * 3})
    return [
        Part(
            frame(
                Rotation.from_quat(part.get("orientation", [1, 0, 0, 0]), scalar_first=True).as_matrix(),
                np.array(part.get("origin", [0.0, 0.0, 0.0])),
            ),
            part,
        )
        for part in given
        if part.get("shape") in (*SIZES, "mesh")
    ]


def write_shape(parent: Any, record: Record, *, attributes: bool) -> None:
    """The ``geometry`` of a visual: sizes as attributes, as URDF has them, or as elements, as SDF does."""
    shape = child(child(parent, "geometry"), record["shape"])
    if record["shape"] == "mesh":
        scale = said(np.broadcast_to(record.get("scale", 1.0), 3))
        entries = {"filename" if attributes else "uri": str(record["file"]), "scale": scale}
    else:
        entries = {key: said(record[key]) for key in SIZES[record["shape"]]}
    for key, value in entries.items():
        if attributes:
            shape.set(key, value)
        else:
            child(shape, key, value)


def meshes_named(tree: Tree) -> list[str]:
    """A sentence on the files of meshes, which are named and not copied; none where there are no meshes."""
    files = {
        str(part.record["file"])
        for body in range(1, tree.mechanism.n_bodies)
        for part in parts_of(tree, body)
        if "file" in part.record
    }
    return [f"files of meshes, which are named and not copied: {', '.join(sorted(files))}"] if files else []
