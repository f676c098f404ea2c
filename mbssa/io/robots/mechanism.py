"""A robot as a mechanism: one body for links that do not move against each other, joints by local frames."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mbssa.allowed import located
from mbssa.arrays import Floats
from mbssa.faults import Faults, ModelError
from mbssa.io.records import from_record
from mbssa.io.robots.placing import Placed, placed, reference_values
from mbssa.io.robots.robot import COORDINATE, COUPLING, GEAR, Kind, Link, Part, Record, Robot, RobotJoint
from mbssa.io.robots.unread import TIES, Effect, Unread
from mbssa.joints.axes import axes_of
from mbssa.loads import inertia_matrix, principal_moments
from mbssa.mechanism import FRAME, Mechanism
from mbssa.texts import counted, printable


def mechanism_of(robot: Robot, source_name: str, faults: Faults, name: str) -> Mechanism:
    """Mechanism of a robot; a warning and its notes list what was merged, left out or assumed."""
    at = placed(robot, faults) if not faults else None
    if at is None or faults:
        raise ModelError(source_name, faults)
    notes, unread = [*robot.notes, *_merged_notes(robot, at)], list(robot.unread)
    driven = _driven(robot, at, notes)
    unread += _unread_of_joints(robot, at)
    joints = [
        *_joint_records(robot, at, driven, notes),
        *_ball_records(robot, at, notes),
        *_coupling_records(robot, at, notes, unread),
        *_given_gears(robot, at),
    ]
    bodies = _body_records(robot, at, notes, Path(source_name).parent)
    record: Record = {
        "format": 1,
        "space": "spatial",
        "title": robot.name,
        "notes": notes,
        "unread": list(map(str, unread)),
        "body": bodies,
        "joint": joints,
    }
    if springs := list(_springs(robot, at)):
        record["force"] = springs
    if robot.gravity is not None:
        record["gravity"] = robot.gravity.tolist()
    elif any("inertia" in body for body in bodies):
        notes.append("the file says no gravity, so there is none; a model file has it as gravity")
    mechanism = from_record(record, source_name, name)
    said = [*record["unread"], *notes]
    if said:
        head = f"{source_name}: {counted(len(said), 'note')}"
        warnings.warn(printable("\n  ".join([head, *said])), stacklevel=2)
    return mechanism


# --- bodies ------------------------------------------------------------------------------------------


def _name(at: Placed, link: str) -> str:
    first = at.body[link]
    return FRAME if first == at.order[0] else first


def _body_records(robot: Robot, at: Placed, notes: list[str], folder: Path) -> list[Record]:
    from scipy.spatial.transform import Rotation

    firsts = [link for link in at.order if at.body[link] == link][1:]
    members: dict[str, list[str]] = {first: [] for first in at.order}
    for link in at.order:
        members[at.body[link]].append(link)
    records = []
    for first in firsts:
        world = at.world[first]
        record: Record = {
            "name": first,
            "origin": world[:3, 3].tolist(),
            "orientation": Rotation.from_matrix(world[:3, :3]).as_quat(scalar_first=True).tolist(),
        }
        links = [robot.links[name] for name in members[first]]
        points = {
            link.name: at.world[link.name][:3, 3].tolist() for link in links[1:] if _is_frame(robot, link)
        }
        record |= {"points": points} if points else {}
        masses = [
            (at.local[link.name] @ link.inertia.frame, link.inertia.record)
            for link in links
            if link.inertia is not None
        ]
        shapes = [_part(link.name, at, part) for link in links for part in link.visuals]
        for shape in shapes:
            notes += _locate(shape, first, folder)
        inertia, wrong = combined(masses, world) if masses else (None, "")
        if wrong:
            notes.append(f"inertia of the body {first} is left out: {wrong}")
        record |= {"inertia": inertia} if inertia else {}
        record |= {"visual": {"parts": shapes}} if shapes else {}
        records.append(record)
    return records


def _part(link: str, at: Placed, part: Part) -> Record:
    from scipy.spatial.transform import Rotation

    frame = at.local[link] @ part.frame
    turned = Rotation.from_matrix(frame[:3, :3]).as_quat(scalar_first=True)
    return {"link": link, "origin": frame[:3, 3].tolist(), "orientation": turned.tolist()} | part.record


def _is_frame(robot: Robot, link: Link) -> bool:
    """Return whether a link is only a place on its body, as of a tool: no mass, looks or further joint."""
    carried = any(link.name == joint.parent for joint in robot.joints.values())
    closed = any(link.name in (each.first, each.second) for each in robot.closures)
    return link.inertia is None and not link.visuals and not carried and not closed and "." not in link.name


def _locate(shape: Record, body: str, folder: Path) -> list[str]:
    """Give a mesh its path from the folder of the model; a note where it is not to be had."""
    if "file" in shape:
        try:
            shape["file"] = located(shape["file"], folder)
        except ValueError as error:
            return [f"a mesh of the body {body} is not shown: {error}"]
    return []


def _merged_notes(robot: Robot, at: Placed) -> list[str]:
    root = at.order[0]
    notes = [f"the root link {root!r} is the frame, which stands still"]
    ties: dict[str, list[str]] = {}
    for joint in robot.joints.values():
        if joint.kind == Kind.FIXED:
            ties.setdefault(at.body[joint.child], []).append(joint.where)
    for closure in robot.closures:
        if closure.weld:
            ties.setdefault(at.body[closure.first], []).append(closure.where)
    for first, by in ties.items():
        links = ", ".join(link for link in at.order if at.body[link] == first)
        notes.append(f"merged into the body {_name(at, first)}: {links}; by {'; '.join(by)}")
    still = robot.links[root]
    if still.inertia is not None or still.visuals:
        notes.append(f"{still.where}: inertia and visuals of the frame have no place in a model file")
    return notes


# --- joints ------------------------------------------------------------------------------------------


def _driven(robot: Robot, at: Placed, notes: list[str]) -> set[str]:
    if robot.driven:
        return set(robot.driven)
    loose = [j for j in robot.joints.values() if j.kind in COORDINATE and j.mimic is None]
    if at.closing or robot.closures:
        notes.append("nothing says which joints are driven, so none is; mbssa transform proposes sets")
        return set()
    if loose and any(part.effect in TIES for part in robot.unread):
        notes.append("nothing says which joints are driven, and not all ties were read, so none is")
        return set()
    if loose:
        notes.append("nothing says which joints are driven; there are no loops, so every R and P is")
    return {joint.name for joint in loose}


def _joint_records(robot: Robot, at: Placed, driven: set[str], notes: list[str]) -> Iterable[Record]:
    for joint in robot.joints.values():
        if joint.kind == Kind.FIXED:
            continue
        if joint.kind == Kind.FREE:
            notes.append(f"{joint.where}: {joint.child!r} floats, on an F, which binds nothing")
        if at.body[joint.parent] == at.body[joint.child]:
            notes.append(f"{joint.where}: both links are the body {_name(at, joint.child)}; left out")
            continue
        if joint.name in at.closing:
            notes.append(f"{joint.where}: closes a loop at {joint.child!r}, which other joints lead to")
        record: Record = {
            "bodies": [_name(at, joint.parent), _name(at, joint.child)],
            "type": joint.kind.value,
            "id": joint.name,
            "frames": _frames(joint, at),
        }
        if joint.name in driven:
            record["driven"] = True
        if joint.pitch is not None:
            record["pitch"] = joint.pitch
        if joint.limits is not None and joint.kind in COORDINATE and _ends(joint.limits) == 2:
            record["limits"] = {COORDINATE[joint.kind]: list(joint.limits)}
        yield record


def _frames(joint: RobotJoint, at: Placed) -> list[Record]:
    """Frame of the joint on each body; of a U the pins, each with the other's for its x."""
    z = [joint.axes[0], joint.axes[-1]]
    across = [axes_of(axis)[:, 0] for axis in z]
    x = [z[1], z[0]] if joint.kind == Kind.UNIVERSAL and not joint.closes else across
    sides = (at.local[joint.parent] @ joint.frame, at.local[joint.child] @ joint.child_frame)
    return [_frame(side, *both) for side, both in zip(sides, zip(z, x, strict=True), strict=True)]


def _frame(side: Floats, z: Floats, x: Floats) -> dict[str, Any]:
    turn = side[:3, :3]
    return {"origin": side[:3, 3].tolist(), "z": (turn @ z).tolist(), "x": (turn @ x).tolist()}


def _ball_records(robot: Robot, at: Placed, notes: list[str]) -> Iterable[Record]:
    up, along = np.eye(3)[2], np.eye(3)[0]
    for closure in robot.closures:
        if closure.weld:
            continue
        if at.body[closure.first] == at.body[closure.second]:
            notes.append(f"{closure.where}: both frames are on the body {_name(at, closure.first)}; left out")
            continue
        links = (closure.first, closure.second)
        yield {
            "bodies": [_name(at, link) for link in links],
            "type": Kind.BALL.value,
            "id": closure.name,
            "frames": [
                _frame(at.local[link] @ frame, up, along)
                for link, frame in zip(links, closure.frames, strict=True)
            ],
        }


def _unread_of_joints(robot: Robot, at: Placed) -> Iterable[Unread]:
    for joint in robot.joints.values():
        if at.body[joint.parent] == at.body[joint.child]:
            continue
        ends = 0 if joint.limits is None else _ends(joint.limits)
        if joint.kind in COORDINATE and joint.limits is not None and ends == 1:
            low, high = joint.limits
            yield Unread(Effect.LIMIT, f"{joint.where}: from {low:g} to {high:g}, at one end alone")
        if joint.kind not in COORDINATE:
            if ends:
                yield Unread(Effect.LIMIT, joint.where)
            if joint.stiffness:
                yield Unread(Effect.SPRING, joint.where)
            if joint.damping:
                yield Unread(Effect.FORCE, f"damping of {joint.where}, which has several coordinates")


def _ends(limits: tuple[float, float]) -> int:
    """Number of limits that are one: formats and exporters write ±1e16 or inf where there is none."""
    return sum(abs(limit) < 1e9 for limit in limits)


def _springs(robot: Robot, at: Placed) -> Iterable[Record]:
    for joint in robot.joints.values():
        moves = joint.kind in COORDINATE and at.body[joint.parent] != at.body[joint.child]
        if moves and (joint.stiffness or joint.damping):
            yield {
                "type": "coordinate",
                "id": f"spring and damper of {joint.name}",
                "coordinate": f"{joint.name}.{COORDINATE[joint.kind]}",
                "stiffness": joint.stiffness,
                "damping": joint.damping,
                "rest": joint.rest,
            }


# --- joints that follow others -----------------------------------------------------------------------


def _coupling_records(robot: Robot, at: Placed, notes: list[str], unread: list[Unread]) -> Iterable[Record]:
    # Where the description places links and says no values, joints are at zero.
    values = robot.values if robot.poses else reference_values(robot, Faults())
    for joint in robot.joints.values():
        if joint.mimic is None:
            continue
        master, mimic = robot.joints[joint.mimic.joint], joint.mimic
        wrong = _uncoupled(joint, at) or _uncoupled(master, at)
        if wrong:
            text = f"{joint.where}: mimics {master.name!r}, but {wrong}; it moves independently"
            unread.append(Unread(Effect.COUPLING, text))
            continue
        said = f"{mimic.multiplier:g} x {master.name} + {mimic.offset:g}"
        notes.append(f"{joint.where}: mimics {said}: a {COUPLING}")
        # A model file has no turns of joints with frames: the master's count from its last whole one.
        turns = round(values.get(master.name, 0.0) / math.tau) if master.kind == Kind.REVOLUTE else 0
        if turns:
            notes.append(f"{master.where}: counts without its {turns} turns")
        ends = (joint.parent, joint.child, master.parent, master.child)
        yield {
            "bodies": list(dict.fromkeys(_name(at, link) for link in ends)),
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


def _given_gears(robot: Robot, at: Placed) -> Iterable[Record]:
    for gear in robot.gears:
        first, second, _ = gear.links
        sides = [at.local[link] @ frame for link, frame in zip((first, second), gear.frames, strict=True)]
        across = [axes_of(axis)[:, 0] for axis in gear.axes]
        wheels = [_frame(*each) for each in zip(sides, gear.axes, across, strict=True)]
        yield {
            "bodies": [_name(at, link) for link in gear.links],
            "type": GEAR,
            "id": gear.name,
            "frames": [*wheels, _frame(np.eye(4), np.eye(3)[2], np.eye(3)[0])],
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
        own = inertia_matrix(
            [record.get(key, 0.0) for key in ("ixx", "iyy", "izz")],
            [record.get(key, 0.0) for key in ("ixy", "ixz", "iyz")],
        )
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
