"""Mechanism as a robot: a tree of links, joints of few axes, and those that close its loops."""

# Every joint whose pose its type builds from steps, each about or along an axis by a coordinate of its own,
# is a chain of turns and shifts, taken at the assembled reference, from which the coordinates count.

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mbssa.disjoint_set import outwards, spanning_forest
from mbssa.faults import Fault, Faults, ModelError
from mbssa.io.robots.looks import SIZES
from mbssa.io.robots.robot import COORDINATE, Kind, Link, Mimic, Part, Robot, RobotJoint
from mbssa.io.robots.xml_tree import frame, inverse, pose_frame
from mbssa.joints.assembly import assemble
from mbssa.joints.equations import pose
from mbssa.joints.frames import Frames, joint_frames
from mbssa.joints.poses import Poses
from mbssa.joints.system import coordinates_at
from mbssa.mechanism import Joint, Mechanism

#: Steps of one joint, one after another.
Chain = list[RobotJoint]


def robot_of(
    mechanism: Mechanism, whole: Collection[Kind], *, keeps: Collection[str] = (), approximate: bool = False
) -> tuple[Robot, list[str]]:
    """Robot at the reference, its joints' frames in world axes, and a sentence on each thing that is lost."""
    # ``whole``: kinds beside R and P that the format has; balls and universal joints that it has not, or that
    # are driven, are R one after another over links without mass. ``where`` of a joint is the id of the one
    # that it is a step of. ``approximate`` leaves out joints that are no chain; ``keeps`` has keys of _lost.
    title = mechanism.name or "mechanism"
    frames, faults, lost = joint_frames(mechanism), Faults(), list[str]()
    for joint in mechanism.joints:
        if not frames.known[joint.index]:
            faults.add(f"joint {joint.id}", "has no geometry; give it some", "missing")
    faults.raise_if_any(title)
    assembled = assemble(mechanism, frames, hold=True)
    if not assembled.closed:
        raise ModelError(title, [Fault("", f"cannot be assembled: {assembled.fault}")])
    at = assembled.configuration
    chains: dict[Joint, Chain] = {}
    couplings, unsaid = list[Joint](), list[Joint]()
    values: dict[str, tuple[str, float]] = {}
    for joint in mechanism.joints:
        if joint.type.is_free and not joint.driven:
            lost.append(f"joint {joint.id}: binds nothing, and is left out")
        elif joint.type.is_coupling:
            couplings.append(joint)
        elif chain := _chain(joint, frames, at, whole, values):
            chains[joint] = chain
        else:
            unsaid.append(joint)
    single = {step.name for chain in chains.values() for step in chain if step.kind in COORDINATE}
    coordinates = {key: name for key, (name, _) in values.items() if name in single}
    mimics: dict[str, Mimic] = {}
    for joint in couplings:
        if not _follows(joint, coordinates, mimics):
            unsaid.append(joint)
    for joint in sorted(unsaid, key=lambda joint: joint.index):
        if approximate:
            lost.append(f"joint {joint.id}: type {joint.type.code} is left out")
        else:
            what = f"type {joint.type.code} has no joint in this format; --approximate leaves it out"
            faults.add(f"joint {joint.id}", what, "unsupported")
    faults.raise_if_any(title)

    names = [mechanism.body_name(body) for body in range(mechanism.n_bodies)]
    links = {name: _link(mechanism, frames, body) for body, name in enumerate(names)}
    poses = {name: frame(at.rotation[body], at.position[body]) for body, name in enumerate(names)}
    joints: dict[str, RobotJoint] = {}
    reached = set(names[:1])
    for chain, (first, last), closes in _spread(mechanism, chains):
        if not closes:
            reached.add(names[last])
        parent = names[first]
        for number, step in enumerate(chain, start=1):
            if step.name in joints:
                other = joints[step.name].where
                what = f"is written as {step.name!r}, as joint {other} is; give one of them another id"
                faults.add(f"joint {step.where}", what, "duplicate")
            child = names[last]
            if number < len(chain):
                child = f"{step.where} link {number}"
                while child in links:
                    child += "'"
                links[child], poses[child] = Link(child, ""), step.frame
            joints[step.name] = replace(
                step, parent=parent, child=child,
                frame=inverse(poses[parent]) @ step.frame, child_frame=inverse(poses[child]) @ step.frame,
                mimic=mimics.get(step.name), closes=closes and number == len(chain),
            )  # fmt: skip
            parent = child
    for name in (name for name in names if name not in reached):
        faults.add(f"body {name}", "no joint that is written leads to it; give it one", "structure")
    faults.raise_if_any(title)
    driven = {values[key][0] for key in mechanism.driven_coordinates if key in values}
    robot = Robot(
        title, links, joints, driven=tuple(name for name in joints if name in driven), poses=poses,
        values=dict(values.values()), notes=list(mechanism.notes),
        gravity=None if mechanism.gravity is None else np.array((*mechanism.gravity, 0.0)[:3]),
    )  # fmt: skip
    shifted = [f"{key} = {value:.6g}" for key, (_, value) in values.items() if abs(value) > 1e-12]
    return robot, lost + _lost(mechanism, robot, shifted, keeps)


def _chain(
    joint: Joint, frames: Frames, at: Poses, whole: Collection[Kind], values: dict[str, tuple[str, float]]
) -> Chain:
    """Steps in the world, none where the type is no chain; ``values`` gains step and value of coordinates."""
    mechanism, equations, chain = joint.mechanism, joint.type.pair, Chain()
    moving = [step for step in equations.steps if step.coordinate is not None] if equations else []
    followed, factors = [step.coordinate or 0 for step in moving], [step.factor for step in moving]
    screw = not any(followed) and factors[1:] == ["pitch"]
    each_once = sorted(followed) == list(range(joint.type.grade))
    plain = each_once and all(isinstance(factor, float) for factor in factors)
    if equations is None or not (Kind.SCREW in whole if screw else plain):
        return chain
    first = mechanism.joint_bodies(joint.index)[0]
    value = coordinates_at(mechanism, frames, at, [joint.index])[0]
    parameters = {name: column[[joint.index]] for name, column in frames.parameters.items()}
    start = frame(at.rotation[first], at.position[first])
    start = start @ frame(frames.axes[joint.index, 0], frames.origin[joint.index, 0])
    limits = joint.geometry.limits if joint.geometry is not None else {}
    for number, step in enumerate(equations.steps):
        if step.coordinate is None or (screw and chain):
            continue
        assert isinstance(step.factor, float)
        shift, turned, _ = pose(replace(equations, steps=equations.steps[:number]), value[None], parameters)
        here = start @ frame(turned[0], shift[0])
        coordinate, zero = joint.type.coordinates[step.coordinate], float(value[step.coordinate])
        name = joint.id if screw or len(moving) == 1 else f"{joint.id} {coordinate}"
        kind = Kind.REVOLUTE if step.kind == "turn" else Kind.PRISMATIC
        ends = limits.get(coordinate)
        place, axis = frame(np.eye(3), here[:3, 3]), step.factor * here[:3, step.axis]
        chain.append(RobotJoint(
            name, joint.id, Kind.SCREW if screw else kind, "", "", place, (axis,),
            None if ends is None else (ends[0] - zero, ends[1] - zero), child_frame=place,
            pitch=float(frames.parameters["pitch"][joint.index]) if screw else None,
        ))  # fmt: skip
        values[f"{joint.id}.{coordinate}"] = name, zero
    if joint.type.code not in {Kind.BALL, Kind.UNIVERSAL}.intersection(whole) or joint.driven:
        return chain
    if mechanism.space == "planar" or np.ptp([step.frame[:3, 3] for step in chain], axis=0).max() > 1e-9:
        return chain
    axes = tuple(step.axes[0] for step in chain)
    return [replace(chain[-1], name=joint.id, kind=Kind(joint.type.code), axes=axes)]


def _follows(joint: Joint, coordinates: dict[str, str], mimics: dict[str, Mimic]) -> bool:
    """Add a coupling of two coordinates that are joints; False where they are none, or both follow."""
    # Both count from the reference, so there is no offset.
    geometry = joint.geometry
    assert geometry is not None
    assert geometry.couples is not None
    assert geometry.multiplier is not None
    first, second = (coordinates.get(joint.mechanism.called(each), "") for each in geometry.couples)
    for leader, follower, power in ((first, second, 1), (second, first, -1)):
        if leader and follower and follower not in mimics:
            mimics[follower] = Mimic(leader, geometry.multiplier**power, 0.0, joint.id)
            return True
    return False


def _spread(
    mechanism: Mechanism, chains: dict[Joint, Chain]
) -> Iterator[tuple[Chain, tuple[int, int], bool]]:
    """Joints of a spanning tree from the frame outwards, then those that close loops; with their bodies."""
    # Driven joints come first, then those with few freedoms: loops are cut at the joints of most freedoms.
    joints = list(chains)
    ends = [(first, second) for first, second, *_ in (mechanism.joint_bodies(j.index) for j in joints)]
    freedoms = [sum(len(step.axes) for step in chain) for chain in chains.values()]
    order = sorted(range(len(joints)), key=lambda k: (not joints[k].driven, freedoms[k], k))
    chosen = sorted(spanning_forest(mechanism.n_bodies, ends, order))
    depth = {0: 0}
    for k, forward in outwards(ends, chosen, [0]):
        parent, child = ends[k] if forward else ends[k][::-1]
        depth[child] = depth[parent] + freedoms[k]
        yield chains[joints[k]] if forward else turned(chains[joints[k]]), (parent, child), False
    # A closure starts at the outer body: its links are then found after the body that it closes at.
    for k in (k for k in range(len(joints)) if k not in chosen):
        parent, child = ends[k]
        forward = depth.get(parent, 0) >= depth.get(child, 0)
        chain = chains[joints[k]]
        yield (chain, (parent, child), True) if forward else (turned(chain), (child, parent), True)


def turned(chain: Sequence[RobotJoint]) -> Chain:
    """The same joint from the child to the parent: coordinates keep their values."""
    return [
        replace(
            step, parent=step.child, child=step.parent, frame=step.child_frame, child_frame=step.frame,
            axes=tuple(-axis for axis in step.axes[::-1]),
        )
        for step in reversed(chain)
    ]  # fmt: skip


def _link(mechanism: Mechanism, frames: Frames, body: int) -> Link:
    geometry, inertia = mechanism.geometry_of(body), None
    if geometry.inertia is not None:
        centre = np.array((*geometry.inertia.centre, 0.0)[:3]) - frames.position[body]
        tensor = {
            f"i{'xyz'[i]}{'xyz'[j]}": float(geometry.inertia.matrix[i, j])
            for i in range(3)
            for j in range(i, 3)
        }
        at = frame(np.eye(3), frames.rotation[body].T @ centre)
        inertia = Part(at, {"mass": geometry.inertia.mass} | tensor)
    visual: Any = geometry.visual or {}
    looks = [part for part in visual.get("parts") or [] if isinstance(part, dict)]
    if "mesh" in visual:
        looks.append({"shape": "mesh", "file": visual["mesh"], "scale": [visual.get("scale", 1.0)] * 3})
    parts = (
        Part(pose_frame(part.get("origin", [0, 0, 0]), part.get("orientation", [1, 0, 0, 0])), part)
        for part in looks
        if part.get("shape") in (*SIZES, "mesh")
    )
    return Link(mechanism.body_name(body), "", inertia, tuple(parts))


def _lost(mechanism: Mechanism, robot: Robot, shifted: list[str], keeps: Collection[str]) -> list[str]:
    """Parts of a mechanism that a robot's description does not keep, a sentence each."""
    frame_of_model = mechanism.body_name(0)
    files = sorted({
        str(part.record["file"])
        for link in robot.links.values() if link.name != frame_of_model
        for part in link.visuals if "file" in part.record
    })  # fmt: skip
    sentences = {
        "meshes": (files, f"files of meshes, which are named and not copied: {', '.join(files)}"),
        "zeros": (
            shifted,
            f"zeros of coordinates: they count from the reference, where {', '.join(shifted)}",
        ),
        "motion": (mechanism.motion is not None, "the motion"),
        "gravity": (mechanism.gravity is not None, "gravity"),
        "unread": (mechanism.unread, "that parts of the file that it comes from were not read"),
        "forces": (mechanism.forces, "force elements"),
        "plane": (
            mechanism.space == "planar",
            "that the mechanism is planar: its joints have parallel axes in space",
        ),
        "drives": (robot.driven, f"driven coordinates: {', '.join(mechanism.driven_coordinates)}"),
    }
    return [text for key, (lost, text) in sentences.items() if lost and key not in keeps]
