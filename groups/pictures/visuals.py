"""Looks of bodies that a model file gives: outlines in the plane, and meshes in STL and OBJ files."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.pictures.cams import Outline
from groups.pictures.shapes import local_point

if TYPE_CHECKING:
    from mbssa import Mechanism
    from mbssa.joints.frames import Frames

Floats = npt.NDArray[np.float64]

#: Triangles of all meshes in one page, and bytes of one file of them.
MOST_TRIANGLES, _MOST_BYTES = 300_000, 100_000_000


@dataclass(frozen=True, eq=False)
class Solid:
    """A mesh: ``corners`` (n, 3, 3) of its triangles in the frame of ``body``, m."""

    body: int
    corners: Floats


def visual_outlines(mechanism: Mechanism, frames: Frames, bodies: Sequence[int]) -> tuple[Outline, ...]:
    """Closed outlines that the model gives for some bodies."""
    found = []
    for body in bodies:
        geometry = mechanism.body_geometry.get(body)
        outline = (geometry.visual or {}).get("outline") if geometry is not None else None
        if outline:
            points = np.array([local_point(mechanism, frames, body, at) for at in outline])
            found.append(Outline(body, -1, np.concatenate([points, points[:1]]), True))
    return tuple(found)


def solids_of(mechanism: Mechanism, bodies: Sequence[int]) -> tuple[Solid, ...]:
    """Meshes of some bodies; one that cannot be read is left out with a warning that says why.

    A file is read from the folder of the model, by trimesh (``pip install "mbssa[meshes]"``).
    """
    found: list[Solid] = []
    room = MOST_TRIANGLES
    for body in bodies:
        geometry = mechanism.body_geometry.get(body)
        visual = (geometry.visual or {}) if geometry is not None else {}
        if not isinstance(visual.get("mesh"), str):
            continue
        try:
            corners = _triangles(Path(mechanism.folder, visual["mesh"])) * visual.get("scale", 1.0)
            if len(corners) > room:
                raise ValueError(f"a page shows {MOST_TRIANGLES:,} triangles; simplify the meshes")
        except (ImportError, OSError, ValueError) as error:
            name = f"mesh {visual['mesh']} of body {mechanism.body_name(body)}"
            warnings.warn(f"{name} is not shown: {error}", stacklevel=2)
            continue
        room -= len(corners)
        found.append(Solid(body, corners))
    return tuple(found)


def _triangles(path: Path) -> Floats:
    """(n, 3, 3) corners."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"it is larger than {_MOST_BYTES // 10**6} MB")
    try:
        import trimesh
    except ImportError as error:
        raise ImportError('meshes need trimesh: pip install "mbssa[meshes]"') from error
    try:
        mesh = trimesh.load_mesh(path, process=False, skip_materials=True)
        corners = np.asarray(mesh.triangles, dtype=np.float64).reshape(-1, 3, 3)
    except Exception as error:  # whatever a reader of foreign files trips over
        raise ValueError(f"it cannot be read ({type(error).__name__}: {error})") from error
    if not len(corners) or not np.isfinite(corners).all():
        raise ValueError("it has no triangles, or corners that are no numbers")
    return corners
