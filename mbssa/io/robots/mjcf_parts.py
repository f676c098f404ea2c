"""Names, masses, looks and equality constraints of a compiled MuJoCo model."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.io.robots.mjcf_source import Source
from mbssa.io.robots.placing import held, leader_of
from mbssa.io.robots.robot import COORDINATE, Closure, Kind, Mimic, Part, Record, Robot, RobotJoint
from mbssa.io.robots.unread import Effect, Unread
from mbssa.io.robots.xml_tree import inverse, pose_frame
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


#: Elements that MuJoCo compiles to each kind of object.
_TAGS = {
    "body": ("body",),
    "joint": ("joint", "freejoint"),
    "geom": ("geom",),
    "site": ("site",),
    "equality": ("connect", "weld", "joint", "tendon"),
    "tendon": ("fixed", "spatial"),
    "actuator": (
        "motor",
        "position",
        "velocity",
        "intvelocity",
        "damper",
        "cylinder",
        "muscle",
        "adhesion",
        "general",
    ),
}


class Names:
    """Unique names of bodies and joints, and where each object stands in the file."""

    def __init__(self, mujoco: ModuleType, model: Any, source: Source) -> None:
        self._mujoco, self._model = mujoco, model
        self._places = {
            (kind, line.element.name()): line.where
            for kind, tags in _TAGS.items()
            for line in source.all(*tags)
            if line.element.name()
        }
        self._links = self._unique([self.given("body", k) or f"body {k}" for k in range(model.nbody)])
        self._joints = self._unique([self._joint(k) for k in range(model.njnt)])

    def given(self, kind: str, number: int) -> str:
        """The name that the file gives, or nothing."""
        of = getattr(self._mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        return self._mujoco.mj_id2name(self._model, of, number) or ""

    def link(self, body: int) -> str:
        """Name of a body, its own or by its number."""
        return self._links[body]

    def joint(self, number: int) -> str:
        """Name of a joint, its own or by its body."""
        return self._joints[number]

    def place(self, kind: str, number: int) -> str:
        """Line and name where the file has one for it, else kind and name alone."""
        name = self.given(kind, number)
        own = {"body": self._links, "joint": self._joints}.get(kind)
        shown = own[number] if own is not None else name or str(number + 1)
        return self._places.get((kind, name), f"{kind} {shown!r}")

    def _joint(self, number: int) -> str:
        body = int(self._model.jnt_bodyid[number])
        count = int(self._model.body_jntnum[body])
        which = f" {number - int(self._model.body_jntadr[body]) + 1}" if count > 1 else ""
        return self.given("joint", number) or f"{self._links[body]} joint{which}"

    @staticmethod
    def _unique(names: list[str]) -> list[str]:
        taken: dict[str, None] = {}
        for name in names:
            while name in taken:
                name += "'"
            taken[name] = None
        return list(taken)


def disabled(mujoco: ModuleType, model: Any, name: str) -> bool:
    """Return whether a flag of the options switches a part of MuJoCo off, as GRAVITY."""
    bit = getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", None) or mujoco.mjtDisableBit.mjDSBL_PASSIVE
    return bool(model.opt.disableflags & int(bit))


def constrained(mujoco: ModuleType, model: Any, names: Names, robot: Robot) -> Robot:
    """Robot with its equality constraints; notes name those that are not read, and why."""
    # ``connect`` is a ball, ``weld`` makes one body, ``joint`` with a linear polynomial a joint that follows
    # another, or that is held where there is no other.
    kinds = mujoco.mjtEq
    joints, closures, notes, parts = dict(robot.joints), [], list(robot.notes), list(robot.unread)
    idle = disabled(mujoco, model, "EQUALITY")
    for number in range(model.neq):
        where = names.place("equality", number)
        kind = int(model.eq_type[number])
        if idle or not model.eq_active0[number]:
            notes.append(f"{where}: is not active; left out")
        elif kind == int(kinds.mjEQ_CONNECT) or kind == int(kinds.mjEQ_WELD):
            closures.append(_closure(mujoco, model, names, number, kind == int(kinds.mjEQ_WELD), notes))
        elif kind == int(kinds.mjEQ_JOINT):
            changed, wrong = _following(model, names, number, joints)
            if changed is None:
                parts.append(Unread(Effect.COUPLING, f"{where}: {wrong}"))
            else:
                joints[changed.name] = changed
                if changed.kind == Kind.FIXED:
                    notes.append(f"{where}: holds {changed.name!r}, which is no joint therefore")
        else:
            said = kinds(kind).name.removeprefix("mjEQ_").lower()
            effect = Effect.COUPLING if said == "tendon" else Effect.TIE
            parts.append(Unread(effect, f"{where}, an equality of type {said}"))
    return replace(robot, joints=joints, closures=tuple(closures), notes=tuple(notes), unread=tuple(parts))


def _closure(
    mujoco: ModuleType, model: Any, names: Names, number: int, weld: bool, notes: list[str]
) -> Closure:
    """Closure of an equality: coincident frames of sites, or of bodies by points and pose of ``eq_data``."""
    # ``eq_data`` of a connect is the point in the first body, then in the second; of a weld the point in the
    # second, then position and quaternion of the second relative to the first.
    ids, data = (int(model.eq_obj1id[number]), int(model.eq_obj2id[number])), model.eq_data[number]
    if int(model.eq_objtype[number]) == int(mujoco.mjtObj.mjOBJ_SITE):
        frames = tuple(pose_frame(model.site_pos[site], model.site_quat[site]) for site in ids)
        bodies = [int(model.site_bodyid[site]) for site in ids]
    else:
        bodies, upright = list(ids), np.array([1.0, 0.0, 0.0, 0.0])
        second = data[:3] if weld else data[3:6]
        first = pose_frame(data[3:6], data[6:10]) if weld else pose_frame(data[:3], upright)
        frames = first, pose_frame(second, upright)
    where = names.place("equality", number)
    if weld and data[10] == 0.0:
        notes.append(f"{where}: has torquescale 0, so it is a ball")
        weld = False
    links = [names.link(body) for body in bodies]
    name = names.given("equality", number) or f"{links[0]} {links[1]} {number + 1}"
    return Closure(name, where, links[0], links[1], weld, (frames[0], frames[1]))


def _following(
    model: Any, names: Names, number: int, joints: dict[str, RobotJoint]
) -> tuple[RobotJoint | None, str]:
    """Joint that an equality of joints changes, or None and the reason."""
    # q_1 = c_0 + c_1 q_2 + … + c_4 q_2^4, each counted from the reference of MuJoCo, as ours are.
    first, other = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
    polynomial: Floats = model.eq_data[number, :5]
    joint = joints[names.joint(first)]
    if joint.kind not in COORDINATE:
        return None, f"{joint.name!r} is held already, or has no single coordinate"
    if other < 0 or not polynomial[1:].any():
        if joint.mimic is not None:
            return None, f"{joint.name!r}, which it holds, follows another joint"
        return held(joint, float(polynomial[0])), ""
    master = joints[names.joint(other)]
    if master.kind not in COORDINATE:
        return None, f"{master.name!r} is held, or has no single coordinate"
    if polynomial[2:].any():
        degree = int(np.flatnonzero(polynomial)[-1])
        return None, f"{joint.name!r} is a polynomial of degree {degree} of {master.name!r}, not a linear one"
    offset, multiplier = float(polynomial[0]), float(polynomial[1])
    own = names.given("equality", number)
    if leader_of(joints, joint.name) == leader_of(joints, master.name):
        return None, f"{joint.name!r} and {master.name!r} follow one joint already"
    if joint.mimic is None:
        return replace(joint, mimic=Mimic(master.name, multiplier, offset, own)), ""
    if master.mimic is None:
        return replace(master, mimic=Mimic(joint.name, 1.0 / multiplier, -offset / multiplier, own)), ""
    return None, f"{joint.name!r} and {master.name!r} follow other joints"
