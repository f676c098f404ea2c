"""Looks of bodies that a model file gives: outlines in the plane, and meshes in STL and OBJ files."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.shapes import Outline, Stage
from groups.rotations import rotation_of
from mbssa.allowed import Allowed, located
from mbssa.arrays import Floats
from mbssa.io.visual import MESHES

if TYPE_CHECKING:
    from mbssa import Mechanism


#: Triangles of all meshes in one page, and bytes of one file of them.
MOST_TRIANGLES, _MOST_BYTES = 300_000, 100_000_000


#: Parts that are not shown and that a warning names.
_NAMED = 3


@dataclass(frozen=True, eq=False)
class Solid:
    """A mesh: ``corners`` (n, 3, 3) of its triangles in the frame of ``body``, m."""

    body: int
    corners: Floats


def visual_outlines(stage: Stage) -> list[Outline]:
    """Closed outlines that the model gives for some drawn bodies."""
    found = []
    for body in stage.bodies:
        geometry = stage.mechanism.body_geometry.get(body)
        outline = (geometry.visual or {}).get("outline") if geometry is not None else None
        if outline:
            points = np.array([stage.frames.on_body(body, at) for at in outline])
            found.append(Outline(body, np.concatenate([points, points[:1]]), True))
    return found


def solids_of(mechanism: Mechanism, bodies: Sequence[int]) -> tuple[Solid, ...]:
    """Meshes and simple shapes of some bodies; a warning names those that cannot be shown, and why."""
    found: list[Solid] = []
    missing: list[str] = []
    room = MOST_TRIANGLES
    for body in bodies:
        for name, frame, part in _parts(mechanism, body):
            try:
                corners = _corners(mechanism.folder, part)
                if len(corners) > room:
                    raise ValueError(f"a page shows {MOST_TRIANGLES:,} triangles; simplify the meshes")
            except (ImportError, KeyError, OSError, TypeError, ValueError) as error:
                missing.append(f"{name} of body {mechanism.body_name(body)} is not shown: {error}")
                continue
            room -= len(corners)
            found.append(Solid(body, corners @ frame[:, :3].T + frame[:, 3]))
    if missing:
        more = f"; and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        warnings.warn("; ".join(missing[:_NAMED]) + more, stacklevel=2)
    return tuple(found)


def _parts(mechanism: Mechanism, body: int) -> Iterator[tuple[str, Floats, Mapping[str, Any]]]:
    """Name, frame (3, 4) in the body's and table of each part of its looks that is a solid."""
    geometry = mechanism.body_geometry.get(body)
    visual = (geometry.visual or {}) if geometry is not None else {}
    if isinstance(visual.get("mesh"), str):
        yield (
            f"mesh {visual['mesh']}",
            np.eye(3, 4),
            {"file": visual["mesh"], "scale": visual.get("scale", 1.0)},
        )
    parts = visual.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, dict):
            continue
        turn = rotation_of(np.array(part.get("orientation", [1.0, 0.0, 0.0, 0.0])))
        frame = np.column_stack([turn, part.get("origin", [0.0, 0.0, 0.0])])
        yield f"{part.get('shape')} {part.get('file', '')}".strip(), frame, part


def _corners(folder: str, part: Mapping[str, Any]) -> Floats:
    """Corners (n, 3, 3) of the triangles of a mesh or of a simple shape, m, in the frame of the part."""
    if "file" in part:
        name = part["file"]
        if not str(name).lower().endswith(MESHES):
            raise ValueError(f"pictures have meshes in {' and '.join(MESHES)}")
        path = Path(name if isinstance(name, Allowed) else located(name, folder))
        found: Floats = _triangles(Path(folder, path)) * part.get("scale", 1.0)
        return found
    creation = _trimesh().creation
    if part.get("shape") == "box":
        made = creation.box(extents=part["size"])
    elif part.get("shape") == "cylinder":
        made = creation.cylinder(radius=part["radius"], height=part["length"], sections=24)
    elif part.get("shape") == "sphere":
        made = creation.icosphere(subdivisions=2, radius=part["radius"])
    else:
        raise ValueError("pictures have meshes, boxes, cylinders and spheres")
    return np.asarray(made.triangles, dtype=np.float64)


def _trimesh() -> Any:
    try:
        import trimesh
    except ImportError as error:
        raise ImportError('meshes need trimesh: pip install -e ".[meshes]" in the clone') from error
    return trimesh


def _triangles(path: Path) -> Floats:
    """Corners (n, 3, 3) of triangles."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"it is larger than {_MOST_BYTES // 10**6} MB")
    trimesh = _trimesh()
    try:
        mesh = trimesh.load_mesh(path, process=False, skip_materials=True)
        corners = np.asarray(mesh.triangles, dtype=np.float64).reshape(-1, 3, 3)
    except Exception as error:  # a damaged file makes trimesh raise anything; the cause is in the message
        raise ValueError(f"it cannot be read ({type(error).__name__}: {error})") from error
    if not len(corners) or not np.isfinite(corners).all():
        raise ValueError("it has no triangles, or corners that are no numbers")
    return corners
