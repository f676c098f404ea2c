"""Contract of a group solver: a class in a file of this package, listed in :mod:`groups.solvers.registry`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias

from groups.setting import Setting
from groups.tree import GroupTree, ball_of
from mbssa import Group
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.equations import Step

#: Methods by which a group's unknowns are found.
Form = Literal["driven", "closed form", "Newton", "global"]
#: An unknown motion: its joint and its step.
Motion: TypeAlias = tuple[int, Step]


@dataclass(frozen=True, eq=False)
class Solver(ABC):
    """Solver of one group: its name, unknowns and closing joints, and why the group has it."""

    number: int
    name: str
    why: str
    unknowns: tuple[str, ...]
    closing: tuple[str, ...]
    roots: int | None = None
    #: Number of struts, and of equations that are only checked.
    n_struts: int = 0
    n_checked: int = 0
    default: Solver | None = None

    form: ClassVar[Form]
    #: Assembly modes of each root.
    turns: ClassVar[int] = 1

    @classmethod
    @abstractmethod
    def match(cls, tree: GroupTree, setting: Setting) -> Solver | None:
        """Return the solver of an opened group; None where it does not solve the group."""

    @classmethod
    def of(cls, tree: GroupTree, setting: Setting, name: str, why: str, **fields: Any) -> Self:
        """Return the solver of an opened group in the coordinates of its tree, closed by joints and rods."""
        mechanism = setting.mechanism
        rods = ("-".join(map(mechanism.body_name, strut.bodies)) for strut in tree.rods)
        closing = *(mechanism.joint_ids[j] for j in tree.cuts), *rods
        made: dict[str, Any] = {
            "unknowns": unknowns_of(tree, setting),
            "closing": closing,
            "n_struts": len(tree.struts),
        }
        return cls(tree.number, name, why, **(made | fields))

    def of_twin(self, tree: GroupTree, setting: Setting) -> Solver | None:
        """Return the solver of a group of the same labelled topology; None where it has to be matched."""
        return None

    def at(self, setting: Setting) -> Self:
        """The solver in another pose."""
        return self

    def degree(self, group: Group) -> tuple[int | None, str]:
        """Degree of the group's equation in one unknown, None where it is not known, and the reason."""
        return self.roots, self.why

    def most_modes(self, group: Group) -> int | None:
        """Most assembly modes that the group can have; None where that is not known."""
        source = self.default or self
        degree, _ = source.degree(group)
        return None if degree is None else degree * source.turns

    @property
    def title(self) -> str:
        """Form and name in one: ``closed form: RRR dyad``, ``Newton, 6 unknowns``."""
        return self.name if self.name.startswith(self.form) else f"{self.form}: {self.name}"

    @property
    def choice(self) -> str:
        """Name by which it is chosen."""
        return self.form

    @property
    def n_unknowns(self) -> int:
        """Number of unknowns that are solved for at once."""
        return len(self.unknowns)

    @property
    def redundant(self) -> bool:
        """Whether more equations close the group than it has unknowns, so that some are only checked."""
        return self.n_checked > 0


def unknowns_of(tree: GroupTree, setting: Setting) -> tuple[str, ...]:
    """Names of the undriven coordinates, and of those of bodies that no joint carries."""
    mechanism, found = setting.mechanism, list[str]()
    for link in tree.links:
        if link.joint < 0:
            turns = ["angle"] if setting.planar else ["z", "turn_x", "turn_y", "turn_z"]
            found += [f"{mechanism.body_name(link.body)}.{name}" for name in ("x", "y", *turns)]
        else:
            names = type_of_joint(mechanism, link.joint).coordinates
            of = mechanism.joint_ids[link.joint]
            found += [f"{of}.{name}" for name in names if (link.joint, name) not in setting.drives]
    return tuple(found)


def is_elementary(tree: GroupTree, setting: Setting) -> bool:
    """Whether every unknown is one turn or slide, no ball carries a body, and no passive rotation is held."""
    if {spin.body for spin in setting.spins}.intersection(link.body for link in tree.links):
        return False
    for j in (link.joint for link in tree.links):
        pair = type_of_joint(setting.mechanism, j).pair if j >= 0 else None
        names = type_of_joint(setting.mechanism, j).coordinates
        if pair is None or ball_of(pair.steps, [(j, name) in setting.drives for name in names]):
            return False
    steps = [(link.joint, step) for link in tree.links for step in motions(setting, link.joint)]
    moved = Counter((j, step.coordinate) for j, step in steps)
    is_plain = all(step.factor in (1.0, -1.0) for _, step in steps)
    return is_plain and len(moved) == len(unknowns_of(tree, setting)) and set(moved.values()) <= {1}


def motions(setting: Setting, j: int) -> list[Step]:
    """Steps of the undriven coordinates of a joint."""
    kind = type_of_joint(setting.mechanism, j)
    return [
        step
        for step in (kind.pair.steps if kind.pair is not None else ())
        if step.coordinate is not None and (j, kind.coordinates[step.coordinate]) not in setting.drives
    ]


def sides_of(tree: GroupTree, cut: int, setting: Setting) -> tuple[list[int], list[list[Motion]]]:
    """Bodies on the ways from both ends of a joint to known bodies, and the unknown motions of each way."""
    link_of, bodies, sides = {link.body: link for link in tree.links}, list[int](), list[list[Motion]]()
    for body in setting.mechanism.joint_bodies(cut)[:2]:
        sides.append([])
        while body in link_of:
            bodies.append(body)
            link = link_of[body]
            steps = motions(setting, link.joint)[:: -1 if link.forward else 1]
            sides[-1] += [(link.joint, step) for step in steps]
            body = link.parent
    return bodies, sides


def checked_rows(tree: GroupTree, setting: Setting) -> tuple[str, ...]:
    """Names of the equations of a group that others imply, and that are only checked."""
    joints = setting.structure.groups[tree.number - 1].joint_indices
    treatment, ids = setting.structure.treatment, setting.mechanism.joint_ids
    dropped = () if treatment is None else treatment.dropped
    return tuple(f"{ids[of.joint]} {of.equation}" for of in dropped if of.joint in joints)
