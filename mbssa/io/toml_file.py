"""Reader of the native format: TOML with ``format = 1``."""

# Faults of shape (unknown keys, wrong types) and of meaning (missing bodies, zero axes) are raised together:
# an entry of the wrong shape is reported and left out of the checks of meaning.

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mbssa.bounds import body_faults, joint_faults
from mbssa.faults import Faults, ModelError
from mbssa.io.build import checked, driven_bits, with_article
from mbssa.io.loads import LoadReader
from mbssa.io.multiple import spanning_tree
from mbssa.io.schema import BodyEntry, JointEntry
from mbssa.io.shape_faults import UNREAD, check_shape, entry_name
from mbssa.io.toml_text import toml_tables, toml_text
from mbssa.io.visual import visual_faults
from mbssa.joints.catalogue import JointType, joint_type, types_of
from mbssa.joints.joint_type import SHORTHAND
from mbssa.mechanism import (
    FRAME_NAMES,
    BodyGeometry,
    JointFrame,
    JointGeometry,
    Mechanism,
    MultipleJoint,
    Vector,
)

#: Keys of the geometry of a joint, which types have or have not.
_GEOMETRY = tuple(
    field.name for field in fields(JointGeometry) if field.name not in ("limits", "at_reference")
)

#: Cosine up to which rounded digits may miss a right angle between two axes.
_SQUARE = 5e-3

#: Sine below which a pin and a rod's line are parallel.
_PARALLEL = 1e-6


def read_toml(path: Path) -> Mechanism:
    """Read a model file."""
    return parse_toml(toml_text(path), str(path), path.stem)


def parse_toml(text: str, source_name: str, name: str) -> Mechanism:
    """A mechanism from the text of a model file; ``source_name`` stands before its faults."""
    return parse_record(toml_tables(text, source_name), source_name, name)


def parse_record(raw: dict[str, Any], source_name: str, name: str) -> Mechanism:
    """A mechanism from the plain tables of a model file, which are changed on the way."""
    faults = Faults()
    model = check_shape(raw, faults)
    if model is None:
        raise ModelError(source_name, faults)
    return ModelReader(model, source_name, faults).mechanism(name)


# --- faults of meaning -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pair:
    """One joint of the mechanism, and the entry of the file that it comes from."""

    entry: int
    ends: list[int]
    row: JointType | None
    driven: int
    geometry: JointGeometry | None
    identity: str | None


class ModelReader(LoadReader):
    """One pass over a file of right shape, collecting faults of meaning."""

    def mechanism(self, name: str) -> Mechanism:
        """The checked mechanism; raises ModelError with every fault."""
        self._check_bodies()
        pairs: list[_Pair] = []
        multiple = []
        for index, joint in enumerate(self.model.joint):
            where = self._joint_name(index)
            row = self._row(joint, where)
            ends = self._ends(joint, row, where)
            if row is not None and row.may_be_multiple and len(ends) > 2:
                several = self._spanning_pairs(joint, row, ends, index, where)
                joints = range(len(pairs), len(pairs) + len(several))
                multiple.append(MultipleJoint(tuple(ends), tuple(joints)))
                pairs += several
                continue
            if joint.driven_pairs:
                what = "is for joints of three or more bodies; write driven"
                self.faults.add(f"{where} driven_pairs", what, "unsupported")
            mask = driven_bits(row.index, joint.driven, f"{where} driven", self.faults) if row else 0
            geometry = self.joint_geometry(joint, row, where) if row else None
            pairs.append(_Pair(index, ends, row, mask, geometry, joint.id))
        has_names = self.model.body and not self.model.bodies
        mechanism = Mechanism(
            space=self.space,
            n_bodies=self.n_bodies,
            joint_start=np.concatenate([[0], np.cumsum([len(pair.ends) for pair in pairs])]),
            joint_body=np.array([end for pair in pairs for end in pair.ends], dtype=np.int64),
            joint_type=np.array([-1 if p.row is None else p.row.index for p in pairs], dtype=np.int64),
            driven=np.array([pair.driven for pair in pairs], dtype=np.uint8),
            body_names=tuple(self.names) if has_names else None,
            joint_names={j: p.identity for j, p in enumerate(pairs) if p.identity is not None},
            joint_geometry={j: p.geometry for j, p in enumerate(pairs) if p.geometry is not None},
            body_geometry=self.body_geometry(),
            multiple_joints=tuple(multiple),
            motion=self.motion(),
            gravity=self.gravity(),
            forces=self.forces(),
            name=name,
            title=self.model.title,
            source=self.model.source,
            notes=tuple(self.model.notes),
            unread=tuple(self.model.unread),
            units=(self.model.units.length, self.model.units.angle),
        )
        return checked(mechanism, self.source_name, lambda j: self._joint_name(pairs[j].entry), self.faults)

    def _spanning_pairs(
        self, joint: JointEntry, row: JointType, ends: list[int], entry: int, where: str
    ) -> list[_Pair]:
        """Pairs for a joint of several bodies: the driven ones, then a star on the first body."""
        if joint.driven:
            what = "does not say which pair; write driven_pairs = [[i, j]]"
            self.faults.add(f"{where} driven", what, "missing")
        if joint.at_reference:
            what = "does not say of which pair; write one joint per pair"
            self.faults.add(f"{where} at_reference", what, "missing")
        if joint.driven_pairs and row.grade != 1:
            what = f"{with_article(row)} has {row.grade} coordinates; write pairs instead"
            self.faults.add(f"{where} driven_pairs", what, "unsupported")
        driven = []
        for pair in joint.driven_pairs:
            a, b = map(self.index_of, pair)
            if a != b and {a, b} <= set(ends):
                driven.append((a, b))
            else:
                what = f"{pair} is no pair of two of the joint's bodies"
                self.faults.add(f"{where} driven_pairs", what, "unknown")
        tree = spanning_tree(ends, driven)
        if tree is None:
            what = "close a ring; drive at most one fewer than the bodies"
            self.faults.add(f"{where} driven_pairs", what, "conflict")
            tree = tuple((ends[0], end) for end in ends[1:])
        geometry = self.joint_geometry(joint, row, where)
        pairs = []
        for number, (a, b) in enumerate(tree):
            mine = geometry
            if geometry is not None and geometry.frames is not None and len(geometry.frames) == len(ends):
                sides = (geometry.frames[ends.index(a)], geometry.frames[ends.index(b)])
                mine = replace(geometry, frames=sides)
            identity = joint.id if joint.id is None or number == 0 else f"{joint.id}#{number + 1}"
            pairs.append(_Pair(entry, [a, b], row, int((a, b) in driven), mine, identity))
        return pairs

    def _joint_name(self, index: int) -> str:
        joint = self.model.joint[index]
        return entry_name("joint", index, vars(joint))

    def _check_bodies(self) -> None:
        """Check the names of the bodies; without bodies there are as many as the joints name."""
        if not self.model.bodies and not self.model.body:
            if not self.reported("bodies"):
                remedy = 'add each by its name (in a file: a [[body]] table, or "bodies = N")'
                self.faults.add("body", f"no bodies; {remedy}", "missing")
            numbers = [b for joint in self.model.joint for b in joint.bodies if isinstance(b, int)]
            self.n_bodies = max([1, *numbers])
        if self.model.bodies and self.model.body:
            what = "stands beside [[body]]; give the number or the tables, not both"
            self.faults.add("bodies", what, "conflict")
        first = {name: index for index, name in reversed(list(enumerate(self.names)))}
        for index, name in enumerate(self.names[1:], 1):
            where = entry_name("body", index - 1, vars(self.model.body[index - 1]))
            if name in FRAME_NAMES:
                what = f"name {name!r} is taken by the fixed body; each movable body has a name of its own"
                self.faults.add(where, what, "duplicate")
            elif first[name] < index:
                what = f"name {name!r} is taken; each body has a name of its own"
                self.faults.add(where, what, "duplicate")
            elif name.isdigit() and name != str(index + 1):
                what = f"name {name!r} is a number, but this is body {index + 1}; write letters"
                self.faults.add(where, what, "conflict")

    def _row(self, joint: JointEntry, where: str) -> JointType | None:
        if joint.type == UNREAD:
            return None
        try:
            return joint_type(joint.type, self.space)
        except KeyError as error:
            self.faults.add(f"{where} type", error.args[0], "unknown")
            return None

    def _ends(self, joint: JointEntry, row: JointType | None, where: str) -> list[int]:
        """Body indices of a joint; -1 for those that have been reported as faults."""
        if joint.type == UNREAD:
            return [-1, -1]
        if row is not None and len(joint.bodies) > row.max_bodies and not row.may_be_multiple:
            count = f"{len(joint.bodies)} bodies; {with_article(row)} joins {row.max_bodies}"
            self.faults.add(f"{where} bodies", f"{count}: write one joint per pair")
        ends = self.bodies(joint.bodies, f"{where} bodies")
        named = [end for end in ends if end >= 0]
        if len(ends) > 2 and len(set(named)) < len(named):
            self.faults.add(f"{where} bodies", "names a body twice; name each once", "duplicate")
            ends = list(dict.fromkeys(ends))
        return ends

    # --- geometry ---

    def joint_geometry(self, joint: JointEntry, row: JointType, where: str) -> JointGeometry | None:
        """Geometry of a joint; ``where`` names it in faults."""
        if row.pins_from_rod and joint.frames is None and len(joint.axes or ()) < 2:
            pins = _pins_of(joint, self.model.joint, self.index_of)
            bodies = (body for each in self.model.joint for body in each.bodies)
            placed = joint.point is not None or self.reported(f"{where} point")
            if pins is None and placed and any(self.index_of(body) < 0 for body in bodies):
                pins = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))  # its rod may be the body that does not exist
            joint = joint if pins is None else joint.model_copy(update={"axes": pins})
        given = [field for field in _GEOMETRY if getattr(joint, field) is not None]
        self._coordinate_tables(joint, row, where)
        if not given and not joint.limits and not joint.at_reference:
            return None
        allowed = {*row.required, *row.optional}
        readable = allowed | ({"frames"} if row.takes_frames else set())
        for field in given:
            if field not in readable:
                takes = ", ".join(f for f in _GEOMETRY if f in readable) or "no geometry"
                what = f"{with_article(row)} does not read it; it takes {takes}"
                self.faults.add(f"{where} {field}", what, "unsupported")
        if joint.frames is not None:
            if joint.at_reference:
                what = "stands beside frames, which say where zero is; leave it out"
                self.faults.add(f"{where} at_reference", what, "conflict")
            for field in set(given) & set(SHORTHAND):
                self.faults.add(f"{where} {field}", "stands beside frames; give one or the other", "conflict")
        if given:
            covered = set(given) | (set(SHORTHAND) if joint.frames is not None else set())
            missing = [field for field in row.required if field not in covered]
            for field in (field for field in missing if not self.reported(f"{where} {field}")):
                about = str(JointEntry.model_fields[field].description).removeprefix(f"{row.code}: ")
                what = f"is missing beside {', '.join(given)}; {with_article(row)} needs it: {about}"
                self.faults.add(f"{where} {field}", what, "missing")
        elif row.required:
            # Limits or values alone place nothing: the joint has no geometry.
            return None
        mask = driven_bits(row.index, joint.driven, where, Faults())
        for bit, name in enumerate(row.coordinates):
            if mask >> bit & 1 and name not in row.drivable:
                can = ", ".join(row.drivable) or "none of its coordinates"
                what = f"{name!r} has no equation; {with_article(row)} is driven in {can}"
                self.faults.add(f"{where} driven", what, "unsupported")
        return self._geometry_values(joint, row, where)

    def _geometry_values(self, joint: JointEntry, row: JointType, where: str) -> JointGeometry:
        points, axes = joint.points, joint.axes
        for key, entries in (("points", points), ("axes", axes)):
            if entries is not None and len(entries) != (row.contacts or 2):
                self.faults.add(f"{where} {key}", f"{len(entries)} entries; write {row.contacts or 2}")
        if row.has_square_axes and axes is not None and len(axes) == 2:
            self._check_angle(axes[0], axes[1], f"{where} axes", square=True)
        if row.line and joint.length is None and points and points[:1] == points[1:]:
            self.faults.add(f"{where} points", "coincide; a rod or a distance has a length")
        values = {key: getattr(joint, key) for key in (*_GEOMETRY, "limits", "at_reference")}
        values |= {
            "frames": self._frames(joint, row, where),
            "profile": self.profile(joint.profile, where),
            "function": self.function(joint.function, f"{where} function"),
            "derivative": self.function(joint.derivative, f"{where} derivative"),
        }
        geometry = JointGeometry(**values)
        self.faults += joint_faults(geometry, where)
        return geometry

    def _coordinate_tables(self, joint: JointEntry, row: JointType, where: str) -> None:
        for table, names in (("limits", joint.limits), ("at_reference", joint.at_reference)):
            for name in names:
                if name not in row.coordinates:
                    what = f"does not exist; {with_article(row)} has {', '.join(map(repr, row.coordinates))}"
                    self.faults.add(f"{where} {table}.{name}", what, "unknown")
        if joint.at_reference and row.relations is not None:
            what = f"those of {with_article(row)} are zero there; leave it out"
            self.faults.add(f"{where} at_reference", what, "unsupported")
        if "distance" in joint.at_reference and "distance" in row.coordinates:
            what = "is said by the points; leave it out"
            self.faults.add(f"{where} at_reference.distance", what, "conflict")
        if "contact" in joint.limits and "contact" in {*row.coordinates} - {*row.drivable}:
            takes = f"{with_article(row)} takes limits of {', '.join(row.drivable)}"
            self.faults.add(f"{where} limits.contact", f"has no value to be limited; {takes}", "unsupported")

    def _frames(self, joint: JointEntry, row: JointType, where: str) -> tuple[JointFrame, ...] | None:
        if joint.frames is None:
            return None
        if len(joint.frames) != len(joint.bodies):
            what = f"{len(joint.frames)} for {len(joint.bodies)} bodies; write one each"
            self.faults.add(f"{where} frames", what)
        frames = []
        for side, entry in enumerate(joint.frames):
            place = f"{where} frames[{side + 1}]"
            if self.space == "spatial" and entry.z is None and row.axis == 2:
                what = f"is missing; {with_article(row)} needs its axis on each body"
                self.faults.add(f"{place} z", what, "missing")
            if entry.z is not None and entry.x is not None:
                self._check_angle(entry.z, entry.x, f"{place} z and x")
            frames.append(JointFrame(**vars(entry)))
        return tuple(frames)

    def _check_angle(self, first: Any, second: Any, where: str, *, square: bool = False) -> None:
        """Check that axes are not parallel, or ``square`` within the angle that rounded digits make."""
        u, v = (np.array(axis) / math.hypot(*axis) for axis in (first, second))
        cosine = float(u @ v)
        upright = v - cosine * u
        if (across := float(np.linalg.norm(upright))) < 1e-9:  # below any file's digits
            self.faults.add(where, "are parallel; write two different directions")
        elif square and abs(cosine) > _SQUARE:  # else the frames take the nearest right angle
            shown = ", ".join(f"{c:.6g}" for c in upright / across + 0.0)
            angle = math.degrees(math.atan2(across, cosine))
            what = f"stand at {angle:.4g}° to each other; write right angles, for the second [{shown}]"
            self.faults.add(where, what)

    def body_geometry(self) -> dict[int, BodyGeometry]:
        """Geometry of bodies by index."""
        found = {}
        for index, body in enumerate(self.model.body):
            where = entry_name("body", index, vars(body))
            values = {key: value for key, value in vars(body).items() if key != "name"}
            values["orientation"] = self._orientation(body, where)
            values["inertia"] = self.inertia(body.inertia, body.origin, where)
            self.faults += visual_faults(body.visual or {}, self.dimension, f"{where} visual")
            if any(values.values()):
                geometry = BodyGeometry(**values)
                self.faults += body_faults(geometry, where)
                found[index + 1] = geometry
        return found

    def _orientation(self, body: BodyEntry, where: str) -> Vector | None:
        value: Any = body.orientation
        place = f"{where} orientation"
        if value is None or (self.space == "planar" and not isinstance(value, tuple)):
            return None if value is None else (value,)
        if self.space == "planar":
            self.faults.add(place, "write one angle; quaternions are for spatial models", "unsupported")
            return None
        if not isinstance(value, tuple) or len(value) != 4:
            self.faults.add(place, "write a quaternion [w, x, y, z]")
            return None
        norm = math.hypot(*value)
        if abs(norm - 1.0) > 1e-6:
            self.faults.add(place, f"has the norm {norm:.6g}; write a unit quaternion")
            return None
        # A norm of 1 up to rounding is left alone, so that what is written comes back bit for bit.
        return value if abs(norm - 1.0) < 1e-15 else tuple(v / norm for v in value)


# --- pins of a U that its rod gives ------------------------------------------------------------------


def _pins_of(
    joint: JointEntry, joints: list[JointEntry], index_of: Callable[[int | str], int]
) -> tuple[Vector, ...] | None:
    """Pins of a U that has one of them or none, where a rod gives the rest; else None."""
    # Given the first pin, the second is perpendicular to it and to the rod, the joint's second body. Without
    # pins both are perpendicular to a rod that ends in an S (only its rotation about itself depends on them).
    # The rod's line goes from the U to its one other joint; to the S behind that if it is a P or C.
    if joint.point is None or len(joint.bodies) != 2:
        return None
    first: Any = joint.axes[0] if joint.axes else None
    ends = [index_of(body) for body in joint.bodies]
    lines = []
    for end in ends if first is None else ends[1:]:
        kind, point = _far_end(joint, end, joints, index_of)
        if point is not None and (first is not None or kind in _spatial("is_ball")):
            lines.append(np.subtract(point, joint.point))
    if len(lines) != 1:
        return None
    (line,) = lines
    if first is None:
        first = tuple(np.cross(np.eye(3)[np.argmin(np.abs(line))], line).tolist())
    second = np.cross(line, first)
    size = float(np.linalg.norm(line) * np.linalg.norm(first))
    if not np.linalg.norm(second) > _PARALLEL * size:
        return None
    return first, tuple((second / np.linalg.norm(second)).tolist())


def _spatial(trait: Literal["is_ball", "telescopes"]) -> set[str]:
    """Codes of the spatial types with a trait: those that end a rod's line, or that it goes through."""
    return {row.code for row in types_of("spatial") if getattr(row, trait)}


def _far_end(
    joint: JointEntry, body: int, joints: list[JointEntry], index_of: Callable[[int | str], int]
) -> tuple[str, Any]:
    """Type and point of the joint at the other end of a rod; a point of None where the body is no rod."""
    seen = [joint]
    while True:
        others = [
            each for each in joints if all(each is not s for s in seen) and body in map(index_of, each.bodies)
        ]
        if body == 0 or len(others) != 1 or len(others[0].bodies) != 2:
            return "", None
        (other,) = others
        if other.type not in _spatial("telescopes") or len(seen) > 1:
            return other.type, other.point
        seen.append(other)
        body = next(index_of(each) for each in other.bodies if index_of(each) != body)
