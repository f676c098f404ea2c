"""The ``visual`` table of a body: an outline in the plane, or a mesh in a file of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from mbssa.faults import Fault, Faults

#: Files of triangles that pictures can show.
MESHES = (".stl", ".obj")


def read_visual(
    visual: Mapping[str, Any] | None, length: float, dimension: int, where: str
) -> tuple[dict[str, Any] | None, list[Fault]]:
    """Table with lengths in metres, and its faults; other keys are kept as they are."""
    if not visual:
        return (None if visual is None else dict(visual)), []
    found, faults = dict(visual), Faults()
    if "outline" in found:
        if _is_polygon(found["outline"], dimension):
            found["outline"] = [[float(v) * length for v in point] for point in found["outline"]]
        else:
            wanted = f"3 points or more of {dimension} numbers"
            faults.add(f"{where}.outline", f"is no polygon; write {wanted}, world coordinates")
    if "mesh" in found:
        fault = mesh_fault(found["mesh"])
        if fault:
            faults.add(f"{where}.mesh", fault)
        scale = found.get("scale", length)
        if not isinstance(scale, int | float) or isinstance(scale, bool) or not 0.0 < scale < 1e9:
            faults.add(f"{where}.scale", f"is {scale!r}; write metres per unit of the mesh")
        elif "scale" in found or scale != 1.0:
            found["scale"] = float(scale)
    return found, faults


def _is_polygon(outline: Any, dimension: int) -> bool:
    return (
        isinstance(outline, list)
        and len(outline) > 2
        and all(isinstance(point, list) and len(point) == dimension for point in outline)
        and all(isinstance(v, int | float) and abs(v) < 1e12 for point in outline for v in point)
    )


def mesh_fault(mesh: Any) -> str:
    """Why a name is none of a file in the model's folder; empty where it is."""
    if not isinstance(mesh, str) or not mesh.lower().endswith(MESHES):
        return f"is {mesh!r}; name a file that ends in {' or '.join(MESHES)}"
    for path in (PurePosixPath(mesh), PureWindowsPath(mesh)):
        if path.is_absolute() or path.drive or ".." in path.parts:
            return f"{mesh} leaves the folder of the model; put the file into it"
    return ""
