"""A robot as a mechanism: one body for links that do not move against each other, joints by local frames."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from mbssa.allowed import located
from mbssa.arrays import Floats
from mbssa.faults import Faults, ModelError
from mbssa.io.records import from_record
from mbssa.io.robots.placing import Placed, placed
from mbssa.io.robots.robot import COORDINATE, COUPLING, INERTIA, Kind, Record, Robot, RobotJoint
from mbssa.io.robots.unread import TIES, Effect, Unread
from mbssa.io.robots.xml_tree import placed_at
from mbssa.joints.axes import axes_of
from mbssa.loads import inertia_matrix, principal_moments
from mbssa.mechanism import Mechanism
from mbssa.texts import counted, printable


def mechanism_of(robot: Robot, source_name: str, faults: Faults, name: str) -> Mechanism:
    """Mechanism of a robot; a warning and its notes list what was merged, left out or assumed."""
    at = placed(robot, faults) if not faults else None
    if at is None or faults:
        raise ModelError(source_name, faults)
    _note_merged(robot, at)
    driven = _driven(robot, at)
    joints, springs = _joints(robot, at, driven)
    joints += [*_couplings(robot, at), *_gears(robot, at)]
    bodies = _bodies(robot, at, Path(source_name).parent)
    record: Record = {
        "format": 1,
        "space": "spatial",
        "title": robot.name,
        "notes": robot.notes,
        "unread": list(map(str, robot.unread)),
        "body": bodies,
        "joint": joints,
    }
    if springs:
        record["force"] = springs
    if robot.gravity is not None:
        record["gravity"] = robot.gravity.tolist()
    elif any("inertia" in body for body in bodies):
        robot.notes.append("the file says no gravity, so there is none; a model file has it as gravity")
    mechanism = from_record(record, source_name, name)
    said = [*record["unread"], *robot.notes]
    if said:
        head = f"{source_name}: {counted(len(said), 'note')}"
        warnings.warn(printable("\n  ".join([head, *said])), stacklevel=2)
    return mechanism


# --- bodies ------------------------------------------------------------------------------------------


def _bodies(robot: Robot, at: Placed, folder: Path) -> list[Record]:
    members: dict[str, list[str]] = {}
    for link in at.world:
        members.setdefault(at.body[link], []).append(link)
    # A link without mass, looks or further joint is only a place on its body, as of a tool.
    busy = {joint.parent for joint in robot.ties} | {joint.child for joint in robot.closures}
    records = []
    for first, names in [*members.items()][1:]:
        record: Record = {"name": first} | placed_at(at.world[first])
        links = [robot.links[name] for name in names]
        points = {
            link.name: at.world[link.name][:3, 3].tolist()
            for link in links[1:]
            if not (link.inertia or link.visuals or link.name in busy or "." in link.name)
        }
        masses = [(at.local[link.name] @ link.inertia.frame, link.inertia.record) for link in links
                  if link.inertia is not None]  # fmt: skip
        shapes: list[Record] = [
            {"link": link.name} | placed_at(at.local[link.name] @ part.frame) | part.record
            for link in links
            for part in link.visuals
        ]
        for shape in (shape for shape in shapes if "file" in shape):
            try:
                shape["file"] = located(shape["file"], folder)
            except ValueError as error:
                robot.notes.append(f"a mesh of the body {first} is not shown: {error}")
        inertia, wrong = combined(masses, at.world[first]) if masses else (None, "")
        if wrong:
            robot.notes.append(f"inertia of the body {first} is left out: {wrong}")
        given = {"points": points, "inertia": inertia, "visual": {"parts": shapes} if shapes else None}
        records.append(record | {key: value for key, value in given.items() if value})
    return records


def _note_merged(robot: Robot, at: Placed) -> None:
    root = next(iter(at.world))
    robot.notes.append(f"the root link {root!r} is the frame, which stands still")
    ties: dict[str, list[str]] = {}
    for tie in robot.ties:
        if tie.kind == Kind.FIXED:
            ties.setdefault(at.body[tie.child], []).append(tie.where)
    for first, by in ties.items():
        links = ", ".join(link for link in at.world if at.body[link] == first)
        robot.notes.append(f"merged into the body {at.name(first)}: {links}; by {'; '.join(by)}")
    still = robot.links[root]
    if still.inertia is not None or still.visuals:
        what = "inertia and visuals of the frame have no place in a model file"
        robot.notes.append(f"{still.where}: {what}")


# --- joints ------------------------------------------------------------------------------------------


def _driven(robot: Robot, at: Placed) -> set[str]:
    if robot.driven:
        return set(robot.driven)
    loose = {j.name for j in robot.joints.values() if j.kind in COORDINATE and j.mimic is None}
    driven = set[str]()
    if at.closing or robot.closures:
        what = "so none is; mbssa transform proposes sets"
    elif not loose:
        return driven
    elif any(part.effect in TIES for part in robot.unread):
        what = "and not all ties were read, so none is"
    else:
        driven, what = loose, "there are no loops, so every R and P is"
    robot.notes.append(f"nothing says which joints are driven{';' if driven else ','} {what}")
    return driven


def _joints(robot: Robot, at: Placed, driven: set[str]) -> tuple[list[Record], list[Record]]:
    """Joints and closures that leave two bodies, and springs and dampers of joints."""
    records, springs = list[Record](), list[Record]()
    for joint in robot.ties:
        if joint.kind == Kind.FIXED:
            continue
        if joint.kind == Kind.FREE:
            robot.notes.append(f"{joint.where}: {joint.child!r} floats, on an F, which binds nothing")
        bodies = [at.name(link) for link in (joint.parent, joint.child)]
        if bodies[0] == bodies[1]:
            robot.notes.append(f"{joint.where}: both links are the body {bodies[0]}; left out")
            continue
        if joint.name in at.closing:
            what = f"closes a loop at {joint.child!r}, which other joints lead to"
            robot.notes.append(f"{joint.where}: {what}")
        record: Record = {
            "bodies": bodies, "type": joint.kind.value, "id": joint.name, "frames": _frames(joint, at)
        }  # fmt: skip
        if joint.name in driven:
            record["driven"] = True
        if joint.pitch is not None:
            record["pitch"] = joint.pitch
        # Formats and exporters write ±1e16 or inf where there is no limit.
        low, high = joint.limits or (-math.inf, math.inf)
        ends = (abs(low) < 1e9) + (abs(high) < 1e9)
        coordinate = COORDINATE.get(joint.kind)
        if coordinate is None:
            several = f"damping of {joint.where}, which has several coordinates"
            for effect, lost, text in (
                (Effect.LIMIT, ends, joint.where),
                (Effect.SPRING, joint.stiffness, joint.where),
                (Effect.FORCE, joint.damping, several),
            ):
                if lost:
                    robot.unread.append(Unread(effect, text))
        elif ends == 2:
            record["limits"] = {coordinate: [low, high]}
        elif ends == 1:
            text = f"{joint.where}: from {low:g} to {high:g}, at one end alone"
            robot.unread.append(Unread(Effect.LIMIT, text))
        if coordinate is not None and (joint.stiffness or joint.damping):
            springs.append({
                "type": "coordinate",
                "id": f"spring and damper of {joint.name}",
                "coordinate": f"{joint.name}.{coordinate}",
                "stiffness": joint.stiffness,
                "damping": joint.damping,
                "rest": joint.rest,
            })  # fmt: skip
        records.append(record)
    return records, springs


def _frames(joint: RobotJoint, at: Placed) -> list[Record]:
    """Frame of the joint on each body; of a U the pins, each with the other's for its x."""
    z = [joint.axes[0], joint.axes[-1]]
    across = [axes_of(axis)[:, 0] for axis in z]
    x = [z[1], z[0]] if joint.kind == Kind.UNIVERSAL and not joint.closes else across
    sides = (at.local[joint.parent] @ joint.frame, at.local[joint.child] @ joint.child_frame)
    return [_frame(side, *both) for side, both in zip(sides, zip(z, x, strict=True), strict=True)]


def _frame(side: Floats, z: Floats, x: Floats) -> Record:
    turn = side[:3, :3]
    return {"origin": side[:3, 3].tolist(), "z": (turn @ z).tolist(), "x": (turn @ x).tolist()}


# --- joints that follow others -----------------------------------------------------------------------


def _couplings(robot: Robot, at: Placed) -> Iterable[Record]:
    for joint in robot.joints.values():
        if joint.mimic is None:
            continue
        master, mimic = robot.joints[joint.mimic.joint], joint.mimic
        wrong = _uncoupled(joint, at) or _uncoupled(master, at)
        if wrong:
            text = f"{joint.where}: mimics {master.name!r}, but {wrong}; it moves independently"
            robot.unread.append(Unread(Effect.COUPLING, text))
            continue
        said = f"{mimic.multiplier:g} x {master.name} + {mimic.offset:g}"
        robot.notes.append(f"{joint.where}: mimics {said}: a {COUPLING}")
        # A model file has no turns of joints with frames: the master's count from its last whole one. Where
        # the description places links and says no values, joints are at zero.
        turns = round(robot.values.get(master.name, 0.0) / math.tau) if master.kind == Kind.REVOLUTE else 0
        if turns:
            robot.notes.append(f"{master.where}: counts without its {turns} turns")
        ends = (joint.parent, joint.child, master.parent, master.child)
        yield {
            "bodies": list(dict.fromkeys(at.name(link) for link in ends)),
            "type": COUPLING,
            "id": mimic.name or f"{joint.name} mimics {master.name}",
            "couples": [f"{each.name}.{COORDINATE[each.kind]}" for each in (master, joint)],
            "multiplier": mimic.multiplier,
            "offset": mimic.offset + mimic.multiplier * turns * math.tau,
        }


def _uncoupled(joint: RobotJoint, at: Placed) -> str:
    """Why a joint has no coordinate that can be coupled; empty if it has one."""
    if joint.kind not in COORDINATE:
        return f"{joint.name!r} has no single coordinate"
    same = at.body[joint.parent] == at.body[joint.child]
    return f"both links of {joint.name!r} are one body" if same else ""


def _gears(robot: Robot, at: Placed) -> Iterable[Record]:
    for gear in robot.gears:
        yield {
            "bodies": [at.name(link) for link in (gear.parent, gear.child, gear.carrier)],
            "type": gear.kind.value,
            "id": gear.name,
            "frames": [*_frames(gear, at), _frame(np.eye(4), np.eye(3)[2], np.eye(3)[0])],
            "ratio": gear.ratio,
        }


@np.errstate(over="ignore", invalid="ignore")  # of numbers that overflow no body is left
def combined(parts: Sequence[tuple[Floats, Record]], world: Floats) -> tuple[Record | None, str]:
    """Table ``inertia`` of a body, and the reason where there is none."""
    # ``parts``: frame (4, 4) of each centre of mass in the body's, and ``mass`` with ``ixx`` … ``iyz``;
    # ``world`` (4, 4) of the body's frame at the reference.
    masses = np.array([record.get("mass", 0.0) for _, record in parts])
    total = float(masses.sum())
    if total <= 0.0 or (masses < 0.0).any():
        return None, f"the mass is {total:g}"
    places = np.array([frame[:3, 3] for frame, _ in parts])
    centre = masses @ places / total
    matrix = np.zeros((3, 3))
    for (frame, record), mass, place in zip(parts, masses, places, strict=True):
        own = inertia_matrix(*([record.get(key, 0.0) for key in keys] for keys in INERTIA))
        away = place - centre
        matrix += frame[:3, :3] @ own @ frame[:3, :3].T
        matrix += mass * (away @ away * np.eye(3) - np.outer(away, away))
    shown, wrong = principal_moments(matrix)
    if wrong:
        return None, f"the principal moments {shown} are those of no body"
    return {
        "mass": total,
        "centre": (world[:3, :3] @ centre + world[:3, 3]).tolist(),
        "moments": np.diag(matrix).tolist(),
        "products": [float(matrix[i]) for i in ((0, 1), (0, 2), (1, 2))],
    }, ""
