"""The one way to a :class:`Mechanism`: columns in, every fault of them reported, a frozen value out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Ints
from mbssa.decomposition.flow import connected_pieces
from mbssa.faults import Fault, Faults
from mbssa.io.couplings import coupling_faults, with_coupled_ids
from mbssa.io.loads import with_joints
from mbssa.io.motion import coordinate_faults, with_ids
from mbssa.joints.catalogue import CATALOGUE, JointType, Space
from mbssa.loads import Force
from mbssa.mechanism import FRAME, BodyGeometry, JointGeometry, Mechanism, MultipleJoint, Vector
from mbssa.motion import DefaultMotion
from mbssa.texts import printable, strange
from mbssa.units import SI

#: Bodies and joints that one fault names before it only counts the rest.
_NAMED = 12


def build(
    *,
    source_name: str,
    space: Space,
    n_bodies: int,
    joint_start: npt.NDArray[Any],
    joint_body: npt.NDArray[Any],
    joint_type: npt.NDArray[Any],
    driven: npt.NDArray[Any],
    where: Callable[[int], str],
    faults: Faults,
    body_names: tuple[str, ...] | None = None,
    joint_names: Mapping[int, str] | None = None,
    joint_geometry: Mapping[int, JointGeometry] | None = None,
    body_geometry: Mapping[int, BodyGeometry] | None = None,
    multiple_joints: tuple[MultipleJoint, ...] = (),
    motion: DefaultMotion | None = None,
    gravity: Vector | None = None,
    forces: tuple[Force, ...] = (),
    name: str = "",
    title: str = "",
    source: str = "",
    notes: tuple[str, ...] = (),
    unread: tuple[str, ...] = (),
    units: tuple[str, str] = SI,
) -> Mechanism:
    """Check what all formats share and freeze it; ModelError has the faults of the reader too."""
    # -1 in ``joint_body`` (indices, 0 is the frame) and ``joint_type`` (catalogue rows): a fault already
    # reported. ``where`` names joint j in a message.
    joint_start = np.ascontiguousarray(joint_start, dtype=np.int64)
    joint_body = np.ascontiguousarray(joint_body, dtype=np.int64)
    joint_type = np.ascontiguousarray(joint_type, dtype=np.int64)
    driven = np.ascontiguousarray(driven, dtype=np.uint8)
    sound = not faults
    texts = (title, source, *notes, *unread)
    faults = Faults([*faults, *_unfit_texts(body_names, joint_names, body_geometry, texts)])
    if sound and n_bodies < 2:
        faults.add("", f"no movable body; a mechanism has the {FRAME} and at least one more", "structure")
    if len(joint_type) == 0:
        faults.add("", "no joint; a mechanism needs at least one joint to the frame", "structure")
    reach = 1 + int((np.diff(joint_start) - 1).sum())
    if n_bodies >= 2 and len(joint_type) and n_bodies > reach + len(joint_type) * 10:
        # So many cannot be connected; say so before any array is as long as that.
        faults.add("bodies", f"{n_bodies} bodies, but these joints can connect at most {reach}", "structure")
    elif n_bodies >= 2 and len(joint_type):
        outside = joint_body >= n_bodies
        slot_joint = np.repeat(np.arange(len(joint_type)), np.diff(joint_start))
        for slot in np.flatnonzero(outside)[:_NAMED].tolist():
            what = f"body {joint_body[slot] + 1} does not exist; the bodies are 1 (frame) to {n_bodies}"
            faults.add(where(int(slot_joint[slot])), what, "unknown")
        if outside.sum() > _NAMED:
            faults.add("", f"{outside.sum() - _NAMED} more bodies that do not exist", "unknown")
        faults += _joined_to_itself(joint_start, joint_body, where)
        if sound and not faults:
            faults += _disconnected(joint_start, joint_body, n_bodies, body_names)
    mechanism = Mechanism(
        space=space,
        n_bodies=n_bodies,
        joint_start=joint_start,
        joint_body=joint_body,
        joint_type=joint_type,
        driven=driven,
        body_names=body_names,
        joint_names=joint_names or {},
        joint_geometry=joint_geometry or {},
        body_geometry=body_geometry or {},
        multiple_joints=multiple_joints,
        motion=motion,
        gravity=gravity,
        forces=forces,
        name=printable(name),
        title=title,
        source=source,
        notes=notes,
        unread=unread,
        units=units,
    )
    if motion is not None and (joint_type >= 0).all() and (joint_body >= 0).all():
        mechanism = replace(mechanism, motion=(motion := with_ids(mechanism, motion)))
        faults += coordinate_faults(mechanism, motion)
    if forces and (joint_type >= 0).all() and (joint_body >= 0).all():
        mechanism = replace(mechanism, forces=with_joints(mechanism, forces, faults))
    if any(known.couples for known in mechanism.joint_geometry.values()) and not faults:
        faults += coupling_faults(mechanism, where)
        mechanism = with_coupled_ids(mechanism)
    if joint_names:
        faults += _repeated_ids(mechanism, where)
    faults.raise_if_any(source_name)
    return mechanism


def _unfit_texts(
    body_names: tuple[str, ...] | None,
    joint_names: Mapping[int, str] | None,
    body_geometry: Mapping[int, BodyGeometry] | None,
    texts: tuple[str, ...],
) -> list[Fault]:
    """Names and texts with characters that a terminal obeys, or that turn the direction of what follows."""
    named = [(f"body {number} name", name, False) for number, name in enumerate(body_names or (), 1)]
    named += [(f"joint {index + 1} id", name, False) for index, name in (joint_names or {}).items()]
    named += [
        (f"body {index + 1} points", name, False)
        for index, geometry in (body_geometry or {}).items()
        for name in geometry.points
    ]
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


def _joined_to_itself(joint_start: Ints, joint_body: Ints, where: Callable[[int], str]) -> list[Fault]:
    sizes = np.diff(joint_start)
    repeated = np.zeros(len(sizes), dtype=bool)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        bodies = np.sort(joint_body[joint_start[rows][:, None] + np.arange(size)], axis=1)
        repeated[rows] = ((bodies[:, 1:] == bodies[:, :-1]) & (bodies[:, 1:] >= 0)).any(axis=1)
    bad = np.flatnonzero(repeated)
    faults = Faults()
    for j in bad[:_NAMED]:
        faults.add(where(int(j)), "joins a body to itself; name two different bodies", "structure")
    if len(bad) > _NAMED:
        faults.add("", f"{len(bad) - _NAMED} more joints join a body to itself", "structure")
    return faults


def _disconnected(
    joint_start: Ints, joint_body: Ints, n_bodies: int, body_names: tuple[str, ...] | None
) -> list[Fault]:
    first = np.repeat(joint_body[joint_start[:-1]], np.diff(joint_start))
    piece = connected_pieces(n_bodies, first, joint_body)
    loose = np.flatnonzero(piece != piece[0])
    if not len(loose):
        return []
    names = [
        str(b + 1) if body_names is None or body_names[b] == str(b + 1) else f"{b + 1} ({body_names[b]})"
        for b in loose[:_NAMED].tolist()
    ]
    more = f" and {len(loose) - _NAMED} more" if len(loose) > _NAMED else ""
    return [
        Fault(
            "",
            f"not connected to the frame: {'body' if len(loose) == 1 else 'bodies'} "
            f"{', '.join(names)}{more}; join them to the rest, or take them out",
            "structure",
        )
    ]


def _repeated_ids(mechanism: Mechanism, where: Callable[[int], str]) -> list[Fault]:
    seen: dict[str, int] = {}
    faults = Faults()
    for j, identity in enumerate(mechanism.joint_ids):
        if identity in seen:
            what = f"id {identity!r} is also the id of joint {seen[identity] + 1}; ids are unique"
            faults.add(where(j), what, "duplicate")
        seen.setdefault(identity, j)
    return faults
