"""MJCF, the format of MuJoCo, through MuJoCo's own compiler: loops by equality constraints."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.bounds import MODEL_BYTES, MUJOCO_BYTES, MUJOCO_SECONDS
from mbssa.faults import Fault, Faults, ModelError
from mbssa.io.robots import mjcf_child
from mbssa.io.robots.mechanism import mechanism_of
from mbssa.io.robots.mjcf_source import Source
from mbssa.io.robots.placing import followed, held, moved, reference_values
from mbssa.io.robots.robot import COORDINATE, INERTIA, Kind, Link, Mimic, Part, Record, Robot, RobotJoint
from mbssa.io.robots.unread import NOT_READ_OF_MJCF, Effect, Unread, lines_of
from mbssa.io.robots.xml_tree import inverse, pose_frame
from mbssa.mechanism import Mechanism
from mbssa.texts import counted

_KINDS = {"free": Kind.FREE, "ball": Kind.BALL, "slide": Kind.PRISMATIC, "hinge": Kind.REVOLUTE}

#: Groups of geoms that MuJoCo's viewer hides: shapes for collisions.
_HIDDEN = 3

#: Elements that MuJoCo compiles to each kind of object.
_TAGS = {
    "body": ("body",),
    "joint": ("joint", "freejoint"),
    "geom": ("geom",),
    "site": ("site",),
    "equality": ("connect", "weld", "joint", "tendon"),
    "tendon": ("fixed", "spatial"),
    "actuator": (
        "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "general",
    ),
}  # fmt: skip

#: What resists the motion of a tendon or an actuator.
_RESISTANCES = ("damping", "armature", "frictionloss", "dampingpoly")


def read_mjcf(path: Path) -> Mechanism:
    """Read an MJCF, and warn of what was merged, left out or assumed."""
    source = Source(path)
    reader = _Reader(*_compiled(source, str(path)), source)
    reader.check_numbers(str(path))
    faults = Faults()
    return mechanism_of(reader.read(faults), str(path), faults, path.stem)


def _compiled(source: Source, source_name: str) -> tuple[ModuleType, Any]:
    """MuJoCo and its model of a source; ModelError in MuJoCo's words, with the lines of the file."""
    # Compiled by a child with limits of time and memory: what a text asks for is known only then.
    try:
        import mujoco
    except ModuleNotFoundError:
        what = "MJCF is read by MuJoCo, which is not installed: pip install -e '.[mujoco]' in the clone"
        raise ModelError(source_name, [Fault("", what, "unsupported")]) from None
    bounds = map(str, (MUJOCO_SECONDS, MUJOCO_BYTES, MODEL_BYTES))
    try:
        # Safe path (-P): nothing beside the model is imported.
        done = subprocess.run(
            [sys.executable, "-P", mjcf_child.__file__, *bounds],
            input=source.text.encode(),
            capture_output=True,
            timeout=5 * MUJOCO_SECONDS,
            env=os.environ | {"MUJOCO_GL": "disable", "OPENBLAS_NUM_THREADS": "1"},
            check=False,
        )
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        code, output = mjcf_child.TOO_LARGE, b""
    if code == mjcf_child.REFUSED:
        error = output.decode("utf-8", "replace")
        lines = [int(number) for number in re.findall(r"\bline (\d+)", error)]
        said = " ".join(re.sub(r",? ?\bline \d+", "", error).split())
        place = source.place(lines[-1]) if lines else ""
        raise ModelError(source_name, [Fault(place, f"MuJoCo refuses it: {said}")])
    if code:
        most = f"{MUJOCO_SECONDS} s, {MUJOCO_BYTES / 1e9:g} GB or a model of {MODEL_BYTES / 1e6:g} MB"
        what = f"MuJoCo cannot compile it within {most}; simplify its meshes and numbers"
        raise ModelError(source_name, [Fault("", what, "size")])
    return mujoco, mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": output})


class _Reader:
    """Robot of a model that MuJoCo compiled."""

    # Coordinates count from MuJoCo's reference ``qpos0``; the bodies stand as the first keyframe says, if
    # any.

    def __init__(self, mujoco: ModuleType, model: Any, source: Source) -> None:
        self.mujoco, self.model, self.source = mujoco, model, source
        self.places = {
            (kind, element.name()): element.where
            for kind, tags in _TAGS.items()
            for element in source.all(*tags)
            if element.name()
        }
        # Unique names of bodies and joints: their own, or by their numbers and bodies.
        self.links = _unique(self.given("body", k) or f"body {k}" for k in range(model.nbody))
        self.joints = _unique(self.given("joint", k) or self._by_body(k) for k in range(model.njnt))
        # The name of the model is the first of MuJoCo's list of names.
        self.robot = Robot(bytes(model.names).split(b"\0", 1)[0].decode("utf-8", "replace"))

    def given(self, kind: str, number: int) -> str:
        """The name that the file gives, or nothing."""
        of = getattr(self.mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        return self.mujoco.mj_id2name(self.model, of, number) or ""

    def _by_body(self, joint: int) -> str:
        body = int(self.model.jnt_bodyid[joint])
        which = (
            f" {joint - int(self.model.body_jntadr[body]) + 1}" if self.model.body_jntnum[body] > 1 else ""
        )
        return f"{self.links[body]} joint{which}"

    def place(self, kind: str, number: int) -> str:
        """Line and name where the file has one for it, else kind and name alone."""
        name = self.given(kind, number)
        own = {"body": self.links, "joint": self.joints}.get(kind)
        shown = own[number] if own is not None else name or str(number + 1)
        return self.places.get((kind, name), f"{kind} {shown!r}")

    def kind(self, enumeration: str, number: Any) -> str:
        """Name of a kind of MuJoCo's, as hinge of Joint."""
        name: str = getattr(self.mujoco, f"mjt{enumeration}")(int(number)).name
        return name.partition("_")[2].lower()

    def disabled(self, name: str) -> bool:
        """Return whether a flag of the options switches a part of MuJoCo off, as GRAVITY."""
        bits = self.mujoco.mjtDisableBit
        bit = getattr(bits, f"mjDSBL_{name}", None) or bits.mjDSBL_PASSIVE
        return bool(self.model.opt.disableflags & int(bit))

    def note(self, what: str) -> None:
        self.robot.notes.append(what)

    def not_read(self, effect: Effect, what: str) -> None:
        self.robot.unread.append(Unread(effect, what))

    def check_numbers(self, source_name: str) -> None:
        """Refuse what is not finite, and axes and quaternions without length 1, whose squares overflow."""
        model, faults = self.model, Faults()
        axes = [k for k in range(model.njnt) if self.kind("Joint", model.jnt_type[k]) in ("hinge", "slide")]
        welds = [
            k
            for k in range(model.neq)
            if (self.kind("Eq", model.eq_type[k]), self.kind("Obj", model.eq_objtype[k])) == ("weld", "body")
        ]
        for kind, numbers, units in (
            ("body", range(model.nbody), model.body_quat),
            ("body", range(model.nbody), model.body_iquat),
            ("joint", axes, model.jnt_axis),
            ("geom", range(model.ngeom), model.geom_quat),
            ("site", range(model.nsite), model.site_quat),
            ("equality", welds, model.eq_data[:, 6:10]),
        ):
            for number in numbers:
                if not abs(math.hypot(*units[number]) - 1.0) < 1e-6:
                    what = "has an axis or a rotation that MuJoCo cannot normalise; write numbers near 1"
                    faults.add(self.place(kind, number), what)
        for kind, field in (
            *(("body", f"body_{name}") for name in ("pos", "ipos", "mass", "inertia")),
            ("joint", "jnt_pos"), ("geom", "geom_pos"), ("site", "site_pos"), ("equality", "eq_data"),
        ):  # fmt: skip
            for number, row in enumerate(getattr(model, field)):
                if not np.isfinite(row).all():
                    what = "has a number that is not finite; write finite ones"
                    faults.add(self.place(kind, number), what)
        faults.raise_if_any(source_name)

    def read(self, faults: Faults) -> Robot:
        model, robot = self.model, self.robot
        sections: dict[str, list[str]] = {}
        for element in self.source.all(*NOT_READ_OF_MJCF):
            sections.setdefault(element.tag, []).append(f"{element.file} {element.line}".strip())
        for what, places in sections.items():
            self.note(f"not read: {what}, {lines_of(places)}")
        shown = self._visuals()
        for body, link in enumerate(self.links):
            for joint in self._joints_of(body):
                robot.joints[joint.name] = joint
                if joint.child != link:
                    robot.links[joint.child] = Link(joint.child, joint.where)
            where, count = self.place("body", body), int(model.body_jntnum[body])
            robot.links[link] = Link(link, where, self._inertia(body), tuple(shown[body]))
            if count > 1:
                between = f"{counted(count - 1, 'body')} without mass"
                self.note(f"{where}: has {count} joints, with {between} between them")
            if model.body_mocapid[body] >= 0:
                self.note(f"{where}: is a mocap body, which stands still here")
        robot.gravity = np.zeros(3) if self.disabled("GRAVITY") else np.array(model.opt.gravity)
        self._name_unread()
        for number in range(model.neq):
            self._constrain(number)
        self._pose(faults)
        self._drive()
        return robot

    # --- bodies and joints ---------------------------------------------------------------------------

    def _inertia(self, body: int) -> Part | None:
        """Mass and principal moments about the centre of mass, given or inferred from geoms by MuJoCo."""
        model = self.model
        if model.body_mass[body] <= 0.0:
            return None
        moments = dict(zip(INERTIA[0], map(float, model.body_inertia[body]), strict=True))
        frame = pose_frame(model.body_ipos[body], model.body_iquat[body])
        return Part(frame, {"mass": float(model.body_mass[body])} | moments)

    def _visuals(self) -> list[list[Part]]:
        """Parts of each body: shapes and meshes of the groups that are shown; notes name what is left out."""
        model, hidden, strange = self.model, 0, Counter[str]()
        parts: list[list[Part]] = [[] for _ in range(model.nbody)]
        for geom in range(model.ngeom):
            if model.geom_group[geom] >= _HIDDEN:
                hidden += 1
                continue
            kind = self.kind("Geom", model.geom_type[geom])
            first, second, third = model.geom_size[geom].tolist()
            frame = pose_frame(model.geom_pos[geom], model.geom_quat[geom])
            sizes: Record | None = {
                "sphere": {"radius": first},
                "capsule": {"radius": first, "length": 2 * second},
                "cylinder": {"radius": first, "length": 2 * second},
                "box": {"size": [2 * first, 2 * second, 2 * third]},
            }.get(kind)
            mesh = int(model.geom_dataid[geom])
            if kind == "mesh" and (file := self.source.meshes.get(self.given("mesh", mesh))) is not None:
                # MuJoCo moves a mesh to its centre of mass and principal axes; the file is where it was.
                frame = frame @ inverse(pose_frame(model.mesh_pos[mesh], model.mesh_quat[mesh]))
                sizes = {"file": file, "scale": np.asarray(model.mesh_scale[mesh]).tolist()}
            if sizes is None:
                strange[kind] += 1
            else:
                parts[int(model.geom_bodyid[geom])].append(Part(frame, {"shape": kind} | sizes))
        if hidden:
            what = f"of group {_HIDDEN} or above, which are for collisions"
            self.note(f"not read: {counted(hidden, 'geom')} {what}")
        for kind, number in strange.items():
            self.note(f"not read: {counted(number, 'geom')} of type {kind}")
        return parts

    def _joints_of(self, body: int) -> Iterator[RobotJoint]:
        """Joints of a body from its parent, through a body without mass between two; a fixed one if none."""
        # MuJoCo moves a body by its joints one after another, each at its place in the body as moved so far.
        if body == 0:
            return
        model, link = self.model, self.links[body]
        parent = self.links[int(model.body_parentid[body])]
        at_zero = pose_frame(model.body_pos[body], model.body_quat[body])
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        if not count:
            yield RobotJoint(f"{link} fixed", self.place("body", body), Kind.FIXED, parent, link, at_zero)
        for number in range(first, first + count):
            kind = _KINDS[self.kind("Joint", model.jnt_type[number])]
            name = self.joints[number]
            child = link if number == first + count - 1 else f"{link} after {name}"
            place, at, rate = np.eye(4), int(model.jnt_qposadr[number]), int(model.jnt_dofadr[number])
            if kind != Kind.FREE:
                place[:3, 3] = model.jnt_pos[number]
            # Limits, and the rest of the spring, from MuJoCo's reference, where coordinates are zero.
            low, high = (model.jnt_range[number] - model.qpos0[at]).tolist()
            yield RobotJoint(
                name, self.place("joint", number), kind, parent, child,
                at_zero @ place, (np.array(model.jnt_axis[number]),),
                (low, high) if model.jnt_limited[number] and not self.disabled("LIMIT") else None,
                child_frame=place,
                stiffness=float(model.jnt_stiffness[number]) * (not self.disabled("SPRING")),
                damping=float(model.dof_damping[rate]) * (not self.disabled("DAMPER")),
                rest=float(model.qpos_spring[at] - model.qpos0[at]) if kind in COORDINATE else 0.0,
            )  # fmt: skip
            parent, at_zero = child, np.eye(4)

    def _name_unread(self) -> None:
        """Name parts of a model that change answers and have no place in a mechanism."""
        model = self.model

        def some(kind: str, number: int, *keys: str) -> bool:
            """Return whether one of the fields that this version of MuJoCo has is not 0 for an object."""
            fields = [getattr(model, f"{kind}_{key}", None) for key in keys]
            return any(np.any(field[number]) for field in fields if field is not None)

        for body in np.flatnonzero(model.body_gravcomp):
            self.not_read(Effect.GRAVITY, f"{self.place('body', int(body))} gravcomp")
        for tendon in range(model.ntendon):
            for effect, keys in (
                (Effect.LIMIT, ("limited",)),
                (Effect.SPRING, ("stiffness", "stiffnesspoly")),
                (Effect.FORCE, _RESISTANCES),
            ):
                if some("tendon", tendon, *keys):
                    self.not_read(effect, self.place("tendon", tendon))
        for actuator in range(model.nu):
            if some("actuator", actuator, *_RESISTANCES):
                self.not_read(Effect.FORCE, self.place("actuator", actuator))
        for joint in (k for k in range(model.njnt) if some("jnt", k, "stiffnesspoly")):
            self.not_read(Effect.SPRING, f"{self.place('joint', joint)}, not a linear one")
        loose = self.disabled("FRICTIONLOSS")
        for key in ("armature", *(() if loose else ("frictionloss",)), "dampingpoly"):
            dofs = [k for k in range(model.nv) if some("dof", k, key)]
            joints = list(dict.fromkeys(int(model.dof_jntid[k]) for k in dofs))
            if joints:
                shown = ", ".join(self.place("joint", k) for k in joints[:8])
                self.not_read(Effect.FORCE, f"{key} of {shown}{' …' if len(joints) > 8 else ''}")
        if model.opt.density or model.opt.viscosity:
            self.not_read(Effect.FORCE, "density or viscosity of the option, a fluid around all bodies")

    # --- equality constraints ------------------------------------------------------------------------

    def _constrain(self, number: int) -> None:
        """Read an equality, or note why it is not read."""
        # ``connect`` is a ball, ``weld`` makes one body, ``joint`` with a linear polynomial a joint that
        # follows another, or that is held where there is no other.
        where, kind = self.place("equality", number), self.kind("Eq", self.model.eq_type[number])
        if self.disabled("EQUALITY") or not self.model.eq_active0[number]:
            self.note(f"{where}: is not active; left out")
        elif kind in ("connect", "weld"):
            self._close(number, where, kind == "weld")
        elif kind != "joint":
            effect = Effect.COUPLING if kind == "tendon" else Effect.TIE
            self.not_read(effect, f"{where}, an equality of type {kind}")
        elif wrong := self._follow(number, where):
            self.not_read(Effect.COUPLING, f"{where}: {wrong}")

    def _close(self, number: int, where: str, weld: bool) -> None:
        """Add a closure: coincident frames of sites, or of bodies by points and pose of ``eq_data``."""
        # ``eq_data`` of a connect is the point in the first body, then in the second; of a weld the point in
        # the second, then position and quaternion of the second relative to the first.
        model, data = self.model, self.model.eq_data[number]
        ids = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
        if self.kind("Obj", model.eq_objtype[number]) == "site":
            first, second = (pose_frame(model.site_pos[site], model.site_quat[site]) for site in ids)
            links = [self.links[int(model.site_bodyid[site])] for site in ids]
        else:
            upright, links = np.array([1.0, 0.0, 0.0, 0.0]), [self.links[body] for body in ids]
            first = pose_frame(data[3:6], data[6:10]) if weld else pose_frame(data[:3], upright)
            second = pose_frame(data[:3] if weld else data[3:6], upright)
        if weld and data[10] == 0.0:
            self.note(f"{where}: has torquescale 0, so it is a ball")
            weld = False
        name = self.given("equality", number) or f"{links[0]} {links[1]} {number + 1}"
        kind = Kind.FIXED if weld else Kind.BALL
        self.robot.closures.append(
            RobotJoint(name, where, kind, links[0], links[1], first, child_frame=second, closes=True)
        )

    def _follow(self, number: int, where: str) -> str:
        """Hold a joint, or let it follow another, as an equality says; the reason where it does not."""
        # q_1 = c_0 + c_1 q_2 + … + c_4 q_2^4, each counted from the reference of MuJoCo, as ours are.
        joints, name = self.robot.joints, self.given("equality", number)
        first, other = int(self.model.eq_obj1id[number]), int(self.model.eq_obj2id[number])
        polynomial: Floats = self.model.eq_data[number, :5]
        joint, offset, multiplier = joints[self.joints[first]], float(polynomial[0]), float(polynomial[1])
        if joint.kind not in COORDINATE:
            return f"{joint.name!r} is held already, or has no single coordinate"
        if other < 0 or not polynomial[1:].any():
            if joint.mimic is not None:
                return f"{joint.name!r}, which it holds, follows another joint"
            joints[joint.name] = held(joint, offset)
            self.note(f"{where}: holds {joint.name!r}, which is no joint therefore")
            return ""
        master = joints[self.joints[other]]
        if master.kind not in COORDINATE:
            return f"{master.name!r} is held, or has no single coordinate"
        if polynomial[2:].any():
            degree = int(np.flatnonzero(polynomial)[-1])
            what = f"is a polynomial of degree {degree} of {master.name!r}, not a linear one"
            return f"{joint.name!r} {what}"
        if followed(joints, joint.name)[-1] is followed(joints, master.name)[-1]:
            return f"{joint.name!r} and {master.name!r} follow one joint already"
        if joint.mimic is not None:
            if master.mimic is not None:
                return f"{joint.name!r} and {master.name!r} follow other joints"
            joint, master, multiplier, offset = master, joint, 1.0 / multiplier, -offset / multiplier
        joints[joint.name] = replace(joint, mimic=Mimic(master.name, multiplier, offset, name))
        return ""

    # --- reference and drives ------------------------------------------------------------------------

    def _pose(self, faults: Faults) -> None:
        """Place links as at the first keyframe, or at MuJoCo's reference."""
        # Joints that follow others stand where those put them, whatever the keyframe says.
        model, robot, qpos = self.model, self.robot, np.array(self.model.qpos0)
        if model.nkey:
            qpos = np.array(model.key_qpos[0])
            shown = [self.given("key", key) or str(key + 1) for key in range(model.nkey)]
            others = f"; not read: {', '.join(map(repr, shown[1:]))}" if len(shown) > 1 else ""
            self.note(f"the reference is the keyframe {shown[0]!r}{others}")
        place = {name: int(model.jnt_qposadr[k]) for k, name in enumerate(self.joints)}
        given = {
            name: float(qpos[at] - model.qpos0[at])
            for name, at in place.items()
            if robot.joints[name].kind in COORDINATE
        }
        robot.values = reference_values(robot, faults, given)
        robot.poses = {self.links[0]: np.eye(4)}
        for joint in robot.joints.values():
            step, at = moved(joint, robot.values[joint.name]), place.get(joint.name, 0)
            if joint.kind == Kind.FREE:
                step = pose_frame(qpos[at : at + 3], qpos[at + 3 : at + 7])
            elif joint.kind == Kind.BALL:
                turned = pose_frame(np.zeros(3), qpos[at : at + 4])
                step = joint.frame @ turned @ inverse(joint.child_frame)
            robot.poses[joint.child] = robot.poses[joint.parent] @ step

    def _drive(self) -> None:
        """Drive the joints of actuators; notes name the others and what they act on."""
        model, joints = self.model, self.robot.joints
        driven, followers = dict[str, None](), dict[str, str]()
        for actuator in range(model.nu):
            where, kind = self.place("actuator", actuator), self.kind("Trn", model.actuator_trntype[actuator])
            number = int(model.actuator_trnid[actuator, 0])
            if kind not in ("joint", "jointinparent"):
                self.note(f"{where}: acts on a {kind}, so it drives no joint")
            elif joints[name := self.joints[number]].kind not in COORDINATE:
                self.note(f"{where}: {name!r} is no hinge and no slide, so it is not driven")
            elif joints[name].mimic is None:
                driven[name] = None
            else:
                followers[name] = self.place("joint", number)
        for name, where in followers.items():
            leaders = [followed(joints, each)[-1].name for each in driven]
            if followed(joints, name)[-1].name in leaders:
                self.note(f"{where}: follows a driven joint, so it is not driven")
            else:
                driven[name] = None
        if driven:
            self.note(f"driven joints are those of actuators: {', '.join(driven)}")
        self.robot.driven = tuple(driven)


def _unique(names: Iterator[str]) -> list[str]:
    taken: dict[str, None] = {}
    for name in names:
        while name in taken:
            name += "'"
        taken[name] = None
    return list(taken)
