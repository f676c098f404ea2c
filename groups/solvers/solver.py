"""Contract of a group solver: a class in a file of this package, listed in :mod:`groups.solvers.registry`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

if TYPE_CHECKING:
    from groups.setting import Setting
    from groups.tree import GroupTree
    from mbssa import Group

#: Methods by which a group's unknowns are found.
Form = Literal["driven", "closed form", "Newton", "global"]


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
