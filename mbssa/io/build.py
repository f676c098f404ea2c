"""The one way to a sound :class:`Mechanism`: every fault of its columns and texts is reported at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mbssa.arrays import Ints
from mbssa.decomposition.flow import connected_pieces
from mbssa.faults import Fault, Faults
from mbssa.io.couplings import with_couplings
from mbssa.io.loads import with_joints
from mbssa.io.motion import coordinate_faults, with_ids
from mbssa.joints.catalogue import CATALOGUE, JointType
from mbssa.mechanism import FRAME, Mechanism
from mbssa.texts import bodies_text, printable, strange

#: Bodies and joints that one fault names before it only counts the rest.
_NAMED = 12


def checked(mechanism: Mechanism, source_name: str, where: Callable[[int], str], faults: Faults) -> Mechanism:
    """Check what all formats share; ModelError has the faults of the reader too."""
    # -1 in ``joint_body`` (indices, 0 is the frame) and ``joint_type`` (catalogue rows): a fault already
    # reported. ``where`` names joint j in a message.
    mechanism = replace(
        mechanism,
        joint_start=np.ascontiguousarray(mechanism.joint_start, dtype=np.int64),
        joint_body=np.ascontiguousarray(mechanism.joint_body, dtype=np.int64),
        joint_type=np.ascontiguousarray(mechanism.joint_type, dtype=np.int64),
        driven=np.ascontiguousarray(mechanism.driven, dtype=np.uint8),
        name=printable(mechanism.name),
    )
    n_bodies, n_joints, joint_body = mechanism.n_bodies, mechanism.n_joints, mechanism.joint_body
    sizes = np.diff(mechanism.joint_start)
    sound = not faults
    faults = Faults([*faults, *_unfit_texts(mechanism)])
    if sound and n_bodies < 2:
        faults.add("", f"no movable body; a mechanism has the {FRAME} and at least one more", "structure")
    if n_joints == 0:
        faults.add("", "no joint; a mechanism needs at least one joint to the frame", "structure")
    reach = 1 + int((sizes - 1).sum())
    if n_bodies >= 2 and n_joints and n_bodies > reach + n_joints * 10:
        # So many cannot be connected; say so before any array is as long as that.
        faults.add("bodies", f"{n_bodies} bodies, but these joints can connect at most {reach}", "structure")
    elif n_bodies >= 2 and n_joints:
        outside = joint_body >= n_bodies
        slot_joint = np.repeat(np.arange(n_joints), sizes)
        for slot in np.flatnonzero(outside)[:_NAMED].tolist():
            what = f"body {joint_body[slot] + 1} does not exist; the bodies are 1 (frame) to {n_bodies}"
            faults.add(where(int(slot_joint[slot])), what, "unknown")
        if outside.sum() > _NAMED:
            faults.add("", f"{outside.sum() - _NAMED} more bodies that do not exist", "unknown")
        faults += _joined_to_itself(slot_joint, joint_body, where)
        if sound and not faults:
            faults += _disconnected(mechanism)
    motion, known = mechanism.motion, (mechanism.joint_type >= 0).all() and (joint_body >= 0).all()
    if motion is not None and known:
        mechanism = replace(mechanism, motion=(motion := with_ids(mechanism, motion)))
        faults += coordinate_faults(mechanism, motion)
    if mechanism.forces and known:
        mechanism = replace(mechanism, forces=with_joints(mechanism, mechanism.forces, faults))
    if any(one.couples for one in mechanism.joint_geometry.values()) and not faults:
        mechanism = with_couplings(mechanism, where, faults)
    if mechanism.joint_names:
        seen: dict[str, int] = {}
        for j, identity in enumerate(mechanism.joint_ids):
            if (first := seen.setdefault(identity, j)) != j:
                what = f"id {identity!r} is also the id of joint {first + 1}; ids are unique"
                faults.add(where(j), what, "duplicate")
    faults.raise_if_any(source_name)
    return mechanism


def _unfit_texts(mechanism: Mechanism) -> list[Fault]:
    """Names and texts with characters that a terminal obeys, or that turn the direction of what follows."""
    texts = (mechanism.title, mechanism.source, *mechanism.notes, *mechanism.unread)
    named = [
        (f"body {number} name", name, False) for number, name in enumerate(mechanism.body_names or (), 1)
    ]
    named += [(f"joint {index + 1} id", name, False) for index, name in mechanism.joint_names.items()]
    for index, geometry in mechanism.body_geometry.items():
        named += [(f"body {index + 1} points", name, False) for name in geometry.points]
    named += [("title, source, notes or unread", text, True) for text in texts]
    return [
        Fault(where, f"{text!r} has the control character {found}; write it without")
        for where, text, lines in named
        if (found := strange(text, lines=lines)) is not None
    ]


def with_article(row: JointType) -> str:
    """A type with its article: the paper's codes are spelled, additions are words."""
    return f"{'an' if row.table3 and row.code[0] in 'AEFHILMNORSX' else 'a'} {row.code}"


def driven_bits(row: int, wanted: object, where: str, faults: Faults) -> int:
    """Bit mask of the driven coordinates of one joint: a count, ``true``, or names."""
    kind = CATALOGUE[row]
    names = kind.coordinates
    if isinstance(wanted, bool):
        return (1 << kind.grade) - 1 if wanted else 0
    if isinstance(wanted, int | np.integer):
        count = int(wanted)
        if 0 <= count <= kind.grade:
            return int((1 << count) - 1)
        faults.add(
            where,
            f"{count} driven coordinates; {with_article(kind)} has "
            f"{kind.grade} free coordinate{'s' * (kind.grade != 1)} "
            f"({', '.join(names)}), so write 0 to {kind.grade}",
        )
        return 0
    if isinstance(wanted, str):
        wanted = [wanted]
    mask = 0
    for coordinate in wanted if isinstance(wanted, list | tuple) else [wanted]:
        if coordinate not in names:
            has = f"{with_article(kind)} has {', '.join(map(repr, names))}"
            faults.add(where, f"coordinate {coordinate!r} does not exist; {has}", "unknown")
        elif mask >> names.index(coordinate) & 1:
            faults.add(where, f"coordinate {coordinate!r} is driven twice", "duplicate")
        else:
            mask |= 1 << names.index(coordinate)
    return mask


def _joined_to_itself(slot_joint: Ints, joint_body: Ints, where: Callable[[int], str]) -> list[Fault]:
    most = 2 + int(joint_body.max())
    slot, wide = slot_joint * most + joint_body + 1, np.bincount(slot_joint)[slot_joint] > 2
    slot[wide] = np.sort(slot[wide])
    again = slot[1:][(slot[1:] == slot[:-1]) & (slot[1:] % most > 0)]
    bad = np.unique(again // most).tolist()
    what = "joins a body to itself; name two different bodies"
    faults = [Fault(where(j), what, "structure") for j in bad[:_NAMED]]
    if len(bad) > _NAMED:
        faults.append(Fault("", f"{len(bad) - _NAMED} more joints join a body to itself", "structure"))
    return faults


def _disconnected(mechanism: Mechanism) -> list[Fault]:
    start, bodies = mechanism.joint_start, mechanism.joint_body
    piece = connected_pieces(mechanism.n_bodies, np.repeat(bodies[start[:-1]], np.diff(start)), bodies)
    loose = np.flatnonzero(piece != piece[0]).tolist()
    if not loose:
        return []
    what = bodies_text(mechanism, loose, _NAMED)
    return [
        Fault("", f"not connected to the frame: {what}; join them to the rest, or take them out", "structure")
    ]
