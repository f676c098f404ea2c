"""Masses and looks of the bodies of a compiled MuJoCo model."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from mbssa.io.robots.mjcf_source import Source
from mbssa.io.robots.numbers import pose_frame
from mbssa.io.robots.placing import inverse
from mbssa.io.robots.robot import Part, Record
from mbssa.texts import counted

#: Groups of geoms that MuJoCo's viewer hides: shapes for collisions.
_HIDDEN = 3


def inertia_of(model: Any, body: int) -> Part | None:
    """Mass and principal moments about the centre of mass, given or inferred from geoms by MuJoCo."""
    mass = float(model.body_mass[body])
    if mass <= 0.0:
        return None
    moments = map(float, model.body_inertia[body])
    record = {"mass": mass} | dict(zip(("ixx", "iyy", "izz"), moments, strict=True))
    return Part(pose_frame(model.body_ipos[body], model.body_iquat[body]), record)


def visuals_of(mujoco: ModuleType, model: Any, source: Source, notes: list[str]) -> list[tuple[Part, ...]]:
    """Parts of each body: shapes and meshes of the groups that are shown; notes name what is left out."""
    parts: list[list[Part]] = [[] for _ in range(model.nbody)]
    hidden, strange = 0, dict[str, int]()
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        if model.geom_group[geom] >= _HIDDEN:
            hidden += 1
            continue
        part = _part(mujoco, model, source, geom)
        if part is None:
            kind = mujoco.mjtGeom(int(model.geom_type[geom])).name.removeprefix("mjGEOM_").lower()
            strange[kind] = strange.get(kind, 0) + 1
        else:
            parts[body].append(part)
    if hidden:
        notes.append(
            f"not read: {counted(hidden, 'geom')} of group {_HIDDEN} or above, which are for collisions"
        )
    notes += [f"not read: {counted(n, 'geom')} of type {kind}" for kind, n in strange.items()]
    return [tuple(each) for each in parts]


def _part(mujoco: ModuleType, model: Any, source: Source, geom: int) -> Part | None:
    kinds = mujoco.mjtGeom
    frame = pose_frame(model.geom_pos[geom], model.geom_quat[geom])
    kind, size = int(model.geom_type[geom]), model.geom_size[geom].tolist()
    record: Record | None = {
        int(kinds.mjGEOM_SPHERE): {"shape": "sphere", "radius": size[0]},
        int(kinds.mjGEOM_CAPSULE): {"shape": "capsule", "radius": size[0], "length": 2 * size[1]},
        int(kinds.mjGEOM_CYLINDER): {"shape": "cylinder", "radius": size[0], "length": 2 * size[1]},
        int(kinds.mjGEOM_BOX): {"shape": "box", "size": [2 * each for each in size]},
    }.get(kind)
    if kind == int(kinds.mjGEOM_MESH):
        mesh = int(model.geom_dataid[geom])
        file = source.meshes.get(mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_MESH, mesh))
        if file is None:
            return None
        # MuJoCo moves a mesh to its centre of mass and principal axes; the file is where it was.
        frame = frame @ inverse(pose_frame(model.mesh_pos[mesh], model.mesh_quat[mesh]))
        record = {"shape": "mesh", "file": file, "scale": np.asarray(model.mesh_scale[mesh]).tolist()}
    return None if record is None else Part(frame, record)
