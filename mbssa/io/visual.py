"""The ``visual`` table of a body: an outline in the plane, or a mesh in a file of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from mbssa.faults import Fault, Faults

#: Files of triangles that pictures can show.
MESHES = (".stl", ".obj")


def visual_faults(visual: Mapping[str, Any], dimension: int, where: str) -> list[Fault]:
    """Faults of the table, lengths in metres; keys that are not read may have any value."""
    faults = Faults()
    if "outline" in visual and not _is_polygon(visual["outline"], dimension):
        wanted = f"3 points or more of {dimension} numbers"
        faults.add(f"{where}.outline", f"is no polygon; write {wanted}, world coordinates")
    if "mesh" in visual:
        if fault := mesh_fault(visual["mesh"]):
            faults.add(f"{where}.mesh", fault)
        scale = visual.get("scale", 1.0)
        if not isinstance(scale, int | float) or isinstance(scale, bool) or not 0.0 < scale < 1e9:
            faults.add(f"{where}.scale", f"is {scale!r}; write metres per unit of the mesh")
    return faults


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
