"""Model of a mechanism: frozen columns, and light views on them."""

# Index 0 is the frame, body number 1; number = index + 1 everywhere, and N counts the frame.

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from types import MappingProxyType
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Ints
from mbssa.faults import meant
from mbssa.joints.catalogue import CATALOGUE, FREEDOM, JointType, Space
from mbssa.joints.geometry import JointFrame as JointFrame
from mbssa.joints.geometry import JointGeometry as JointGeometry
from mbssa.joints.geometry import Vector as Vector
from mbssa.loads import Force as Force
from mbssa.loads import Inertia as Inertia
from mbssa.motion import DefaultMotion
from mbssa.texts import counted
from mbssa.trust import may_run
from mbssa.units import SI

ByteArray = npt.NDArray[np.uint8]

#: The name of body 1 in files and messages.
FRAME = "frame"

#: Names that a model file keeps for it.
FRAME_NAMES = (FRAME, "ground")


@dataclass(frozen=True, slots=True)
class BodyGeometry:
    """Data of a body in a model file besides its name.

    ``origin`` (3,) or (2,), m, and ``orientation`` (unit quaternion w, x, y, z; planar: one angle,
    rad) place the body's frame in the world at the reference; both default to the world's frame.
    ``points`` are named points in world coordinates at the reference. A body without ``inertia`` is
    massless. ``visual`` is what pictures show (:mod:`mbssa.io.visual`), lengths in m.

    >>> import mbssa
    >>> mbssa.load("stewart").bodies[13].geometry.origin
    (0.0, 0.0, 1.0)
    """

    origin: Vector | None = None
    orientation: Vector | None = None
    points: Mapping[str, Vector] = field(default_factory=dict)
    inertia: Inertia | None = None
    visual: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MultipleJoint:
    """Joint of three or more bodies on one pin, axis, guide or centre."""

    bodies: tuple[int, ...]  # indices
    joints: tuple[int, ...]  # indices of its pairs: a spanning tree, which changes the groups, not the motion


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Bodies, joints and driven coordinates of one mechanism.

    Made by :func:`mbssa.load`, :func:`mbssa.from_pairs` or :func:`mbssa.from_adjacency`, which
    validate; the constructor does not.

    Attributes
    ----------
    space : "planar" or "spatial"
    n_bodies : N, the frame included
    joint_start : (J + 1,) int64; joint j joins ``joint_body[joint_start[j]:joint_start[j + 1]]``
    joint_body : (sum of joint sizes,) int64, body indices; index 0 is the frame
    joint_type : (J,) int64, rows of :data:`mbssa.joints.CATALOGUE`
    driven : (J,) uint8, one bit per free coordinate of the joint, lowest bit first
    body_names : names by index, or None where bodies have only numbers
    joint_names : ids that the user gave, by joint index
    joint_geometry, body_geometry : by index; only those that have any
    multiple_joints : joints of three or more bodies, whose pairs are among the joints
    motion : the motion that the model carries, or None; kept here, run by the package ``groups``
    gravity : acceleration, m/s², world axes; None: none
    forces : force elements; kept here, evaluated by the package ``groups``
    unread : parts of the file read that are missing here and change answers, a sentence each
    units : of length and angle in the model file, for tables; every number here is in m and rad
    folder : of the model file, where the meshes of its bodies are; empty for one that is no file

    Examples
    --------
    >>> import mbssa
    >>> four_bar = mbssa.load("spatial_four_bar")
    >>> [(joint.id, joint.type.code) for joint in four_bar.joints]
    [('1-2', 'R'), ('2-3', 'S'), ('3-4', 'C'), ('1-4', 'P')]
    >>> four_bar.mobility
    1
    """

    space: Space
    n_bodies: int
    joint_start: Ints
    joint_body: Ints
    joint_type: Ints
    driven: ByteArray
    body_names: tuple[str, ...] | None = None
    joint_names: Mapping[int, str] = field(default_factory=dict)
    joint_geometry: Mapping[int, JointGeometry] = field(default_factory=dict)
    body_geometry: Mapping[int, BodyGeometry] = field(default_factory=dict)
    multiple_joints: tuple[MultipleJoint, ...] = ()
    motion: DefaultMotion | None = None
    name: str = ""
    title: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()
    units: tuple[str, str] = SI
    folder: str = ""
    gravity: Vector | None = None
    forces: tuple[Force, ...] = ()
    unread: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for column in (self.joint_start, self.joint_body, self.joint_type, self.driven):
            column.flags.writeable = False
        for attribute in ("joint_names", "joint_geometry", "body_geometry"):
            object.__setattr__(self, attribute, MappingProxyType(dict(getattr(self, attribute))))

    def __reduce__(self) -> tuple[type[Mechanism], tuple[Any, ...]]:
        """The fields alone, mappings as plain ones: what is derived is derived again elsewhere."""
        values = (getattr(self, each.name) for each in fields(self))
        return Mechanism, tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)

    def __repr__(self) -> str:
        return (
            f"<Mechanism {self.name or 'unnamed'}: {self.space}, {counted(self.n_bodies, 'body')} with the "
            f"frame, {counted(self.n_joints, 'joint')}, {counted(self.n_driven, 'driven coordinate')}>"
        )

    def _repr_html_(self) -> str:
        html = import_module("mbssa.reports.html")  # by name, as it stands above this module
        drawn = self.has_geometry and self.n_bodies <= html.DRAWN
        picture = "groups.pictures:at_reference" if drawn else None
        return str(html.html_of(self, "mbssa.reports.mechanism:mechanism_report", picture))

    @property
    def freedom(self) -> int:
        """B of Eq. (2): 3 planar, 6 spatial."""
        return FREEDOM[self.space]

    @property
    def n_joints(self) -> int:
        """Number of joints."""
        return len(self.joint_type)

    @cached_property
    def grade(self) -> Ints:
        """(J,) k of each joint, Table 3."""
        return np.array([row.grade for row in CATALOGUE], dtype=np.int64)[self.joint_type]

    @cached_property
    def n_driven_of_joint(self) -> Ints:
        """(J,) w of each joint, the paper's KnownInputs."""
        return np.bitwise_count(self.driven).astype(np.int64)

    @property
    def n_driven(self) -> int:
        """Driven coordinates of the whole mechanism."""
        return int(self.n_driven_of_joint.sum())

    @property
    def mobility(self) -> int:
        """Kutzbach-Grübler mobility L_c of the undriven mechanism, Eq. (2)."""
        return self.freedom * (self.n_bodies - 1) - int((self.freedom - self.grade).sum())

    @property
    def has_geometry(self) -> bool:
        """Whether every joint that needs geometry has it, and no function of one is untrusted."""
        return not self.without_geometry and not self.untrusted

    @cached_property
    def without_geometry(self) -> tuple[int, ...]:
        """Indices of the joints that need geometry and have none."""
        needs = [bool(row.required) for row in CATALOGUE]
        joints = range(self.n_joints)
        return tuple(j for j in joints if j not in self.joint_geometry and needs[self.joint_type[j]])

    @cached_property
    def untrusted(self) -> tuple[int, ...]:
        """Indices of the joints whose functions a file names, and that may not be run (``mbssa.trust``)."""
        return tuple(
            j
            for j, found in sorted(self.joint_geometry.items())
            if not (may_run(found.function) and may_run(found.derivative))
        )

    @property
    def untrusted_said(self) -> str:
        """Sentence that names the :attr:`untrusted` joints and their functions; empty if there are none."""
        return ", ".join(f"{self.joint_ids[j]} ({self.joint_geometry[j].function})" for j in self.untrusted)

    @property
    def bodies(self) -> Sequence[Body]:
        """Views of all bodies, the frame first."""
        return Views(self, range(self.n_bodies), Body)

    @property
    def joints(self) -> Sequence[Joint]:
        """Views of all joints in the order of the model."""
        return Views(self, range(self.n_joints), Joint)

    def body_name(self, index: int) -> str:
        """Name of the body with this index: its number where it has no name."""
        return self.body_names[index] if self.body_names is not None else str(index + 1)

    def geometry_of(self, body: int) -> BodyGeometry:
        """Geometry, masses, points and looks of the body with this index; of none where it has none."""
        return self.body_geometry.get(body, BodyGeometry())

    def joint_bodies(self, joint: int) -> tuple[int, ...]:
        """Body indices of a joint."""
        return tuple(self.joint_body[self.joint_start[joint] : self.joint_start[joint + 1]].tolist())

    @cached_property
    def joint_ids(self) -> tuple[str, ...]:
        """Unique id of every joint: the user's, else ``2-3``, ``2-3#2`` for the second, …"""
        return tuple(self.joint_names.get(j, default) for j, default in enumerate(self._ids_by_bodies))

    @cached_property
    def _ids_by_bodies(self) -> tuple[str, ...]:
        seen: dict[str, int] = {}
        ids = []
        flat = (self.joint_body + 1).tolist()
        for start, stop in pairwise(self.joint_start.tolist()):
            pair = "-".join(map(str, sorted(flat[start:stop])))
            seen[pair] = seen.get(pair, 0) + 1
            ids.append(pair if seen[pair] == 1 else f"{pair}#{seen[pair]}")
        return tuple(ids)

    @cached_property
    def driven_coordinates(self) -> tuple[str, ...]:
        """Names of the driven coordinates, ``joint.coordinate``, in the order of the joints."""
        driven = np.flatnonzero(self.driven).tolist()
        return tuple(f"{self.joint_ids[j]}.{name}" for j in driven for name in self.joints[j].driven)

    @cached_property
    def coordinate_limits(self) -> dict[str, tuple[float, float]]:
        """Lowest and highest values, m or rad, of joint coordinates with limits, by ``joint.coordinate``."""
        return {
            f"{self.joint_ids[j]}.{name}": limits
            for j, geometry in sorted(self.joint_geometry.items())
            for name, limits in geometry.limits.items()
        }

    def place_of(self, coordinate: str) -> tuple[int, str]:
        """Joint index and coordinate of a name with the joint's id, as in ``driven_coordinates``.

        A user's text goes through :meth:`joint`, which finds joints by their bodies too.
        """
        joint, _, name = coordinate.rpartition(".")
        return self._joint_by_id[joint], name

    def called(self, coordinate: str) -> str:
        """Name of a coordinate with its joint's id where a text has the joint's bodies; else the text."""
        joint, _, name = str(coordinate).rpartition(".")
        try:
            return f"{self.joint(joint).id}.{name}"
        except KeyError:
            return coordinate

    def joint(self, name: str) -> Joint:
        """The joint with this id, or between the bodies with these numbers; ``3-2`` finds ``2-3``.

        Bodies find a joint that has an id of its own too, unless that is another joint's id.

        Raises
        ------
        KeyError
            Unknown, or a pair of bodies with several joints and no ``#``.
        """
        found = name
        pair, _, which = name.partition("#")
        parts = pair.split("-")
        if name not in self._joint_by_id and all(part.isdecimal() and len(part) < 19 for part in parts):
            found = "-".join(map(str, sorted(int(part) for part in parts)))
            found += f"#{which}" if which not in ("", "1") else ""
        for joints in (self._joint_by_id, self._joint_by_bodies):
            if found in joints:
                if not which and f"{found}#2" in joints and self.joint_names.get(joints[found]) != found:
                    raise KeyError(f"joint {name!r} is ambiguous: write {name}#1, {name}#2, …")
                return Joint(self, joints[found])
        hint = meant(name, self.joint_ids[:1_000], most=2)
        raise KeyError(f"no joint {name!r}; {hint}the joints are {', '.join(self.joint_ids[:40])}")

    @cached_property
    def _joint_by_id(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.joint_ids)}

    @cached_property
    def _joint_by_bodies(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self._ids_by_bodies)}


@dataclass(frozen=True, slots=True)
class Body:
    """View of one body.

    >>> import mbssa
    >>> crank = mbssa.load("rssr").bodies[1]
    >>> crank.number, crank.name, str(crank)
    (2, 'crank', '2 (crank)')
    """

    mechanism: Mechanism
    index: int

    @property
    def number(self) -> int:
        """1 is the frame."""
        return self.index + 1

    @property
    def name(self) -> str:
        """Name in the file; its number where it has none."""
        return self.mechanism.body_name(self.index)

    @property
    def geometry(self) -> BodyGeometry | None:
        """Frame, masses and points at the reference; None if not given."""
        return self.mechanism.body_geometry.get(self.index)

    def __str__(self) -> str:
        return str(self.number) if self.name == str(self.number) else f"{self.number} ({self.name})"


@dataclass(frozen=True, slots=True)
class Joint:
    """View of one joint, a kinematic pair KP(i-j).

    >>> import mbssa
    >>> joint = mbssa.load("rssr").joint("1-2")
    >>> joint.bodies, joint.type.code, joint.type.grade, joint.driven
    ((1, 2), 'R', 1, ('angle',))
    """

    mechanism: Mechanism
    index: int

    @property
    def id(self) -> str:
        """Unique name, such as ``2-3``."""
        return self.mechanism.joint_ids[self.index]

    @property
    def text(self) -> str:
        """The id as text of a user, which means no other joint: ``2-3#1`` where there is a ``2-3#2``."""
        try:
            self.mechanism.joint(self.id)
        except KeyError:
            return f"{self.id}#1"
        return self.id

    @property
    def bodies(self) -> tuple[int, ...]:
        """Body numbers."""
        return tuple(body + 1 for body in self.mechanism.joint_bodies(self.index))

    @property
    def type(self) -> JointType:
        """Row of the catalogue of joint types."""
        return CATALOGUE[int(self.mechanism.joint_type[self.index])]

    @property
    def driven(self) -> tuple[str, ...]:
        """Names of the driven coordinates."""
        mask = int(self.mechanism.driven[self.index])
        return tuple(name for bit, name in enumerate(self.type.coordinates) if mask >> bit & 1)

    @property
    def geometry(self) -> JointGeometry | None:
        """Points, axes and dimensions at the reference; None if not given."""
        return self.mechanism.joint_geometry.get(self.index)

    def __str__(self) -> str:
        return f"{self.id} {self.type.code}"


View = TypeVar("View")


class Views(Sequence[View]):
    """Views of an owner, each made from its key on demand."""

    def __init__(self, owner: Any, keys: Sequence[int] | Ints, make: Callable[[Any, int], View]) -> None:
        self._owner, self._keys = owner, keys
        self._make: Callable[[Any, int], View] = make

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> View: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[View]: ...
    def __getitem__(self, index: int | slice) -> View | Sequence[View]:
        if isinstance(index, slice):
            return [self._make(self._owner, int(key)) for key in self._keys[index]]
        return self._make(self._owner, int(self._keys[index]))

    def __iter__(self) -> Iterator[View]:
        return (self._make(self._owner, int(key)) for key in self._keys)
