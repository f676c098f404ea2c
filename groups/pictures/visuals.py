"""Solid looks of bodies that a model file gives: simple shapes, and meshes in STL and OBJ files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.scene import geometry_of
from groups.results.table import required
from groups.rotations import rotation_of
from mbssa.allowed import Allowed, located
from mbssa.arrays import Floats
from mbssa.io.visual import MESHES

if TYPE_CHECKING:
    from mbssa import Mechanism


#: Triangles of all meshes in one page, bytes of one file of them, and parts not shown that a warning names.
MOST_TRIANGLES, _MOST_BYTES, _NAMED = 300_000, 100_000_000, 3

#: Simple shapes by trimesh.creation, from the table of a part.
_SHAPES: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "box": lambda make, part: make.box(extents=part["size"]),
    "cylinder": lambda make, part: make.cylinder(radius=part["radius"], height=part["length"], sections=24),
    "sphere": lambda make, part: make.icosphere(subdivisions=2, radius=part["radius"]),
}


def solids_of(mechanism: Mechanism, bodies: Sequence[int]) -> list[tuple[int, Floats]]:
    """Bodies of meshes and shapes, corners (n, 3, 3) of their triangles, m; warn of those not shown."""
    found, missing, room = list[tuple[int, Floats]](), list[str](), MOST_TRIANGLES
    for body in bodies:
        visual = geometry_of(mechanism, body).visual or {}
        mesh, parts = visual.get("mesh"), visual.get("parts")
        whole = {"shape": "mesh", "file": mesh, "scale": visual.get("scale", 1.0)}
        parts = [*([whole] if isinstance(mesh, str) else []), *(parts if isinstance(parts, list) else [])]
        for part in (part for part in parts if isinstance(part, dict)):
            try:
                corners = _corners(mechanism.folder, part)
                if len(corners) > room:
                    raise ValueError(f"a page shows {MOST_TRIANGLES:,} triangles; simplify the meshes")
            except (ImportError, KeyError, OSError, TypeError, ValueError) as error:
                name = f"{part.get('shape')} {part.get('file', '')}".strip()
                missing.append(f"{name} of body {mechanism.body_name(body)} is not shown: {error}")
                continue
            room -= len(corners)
            turn = rotation_of(np.array(part.get("orientation", [1.0, 0.0, 0.0, 0.0])))
            found.append((body, corners @ turn.T + part.get("origin", [0.0, 0.0, 0.0])))
    if missing:
        more = f"; and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        warnings.warn("; ".join(missing[:_NAMED]) + more, stacklevel=2)
    return found


def _corners(folder: str, part: Mapping[str, Any]) -> Floats:
    """Corners (n, 3, 3) of the triangles of a mesh or of a simple shape, m, in the frame of the part."""
    trimesh = required("trimesh", "meshes need trimesh", "meshes")
    if "file" not in part:
        if part.get("shape") not in _SHAPES:
            raise ValueError("pictures have meshes, boxes, cylinders and spheres")
        return np.asarray(_SHAPES[part["shape"]](trimesh.creation, part).triangles, dtype=np.float64)
    name = part["file"]
    if not str(name).lower().endswith(MESHES):
        raise ValueError(f"pictures have meshes in {' and '.join(MESHES)}")
    path = Path(folder, name if isinstance(name, Allowed) else located(name, folder))
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"it is larger than {_MOST_BYTES // 10**6} MB")
    try:
        mesh: Any = trimesh.load_mesh(path, process=False, skip_materials=True)
        corners: Floats = np.asarray(mesh.triangles, dtype=np.float64).reshape(-1, 3, 3)
    except Exception as error:  # a damaged file makes trimesh raise anything; the cause is in the message
        raise ValueError(f"it cannot be read ({type(error).__name__}: {error})") from error
    if not len(corners) or not np.isfinite(corners).all():
        raise ValueError("it has no triangles, or corners that are no numbers")
    return corners * np.asarray(part.get("scale", 1.0), dtype=np.float64)
