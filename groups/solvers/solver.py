"""Contract of a group solver: a class in a file of this package, listed in :mod:`groups.solvers.registry`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from groups.kernels import strut
from groups.placing.placing import CLOSED

if TYPE_CHECKING:
    from groups.global_solver.part import GlobalPart
    from groups.placing.placing import Placing, Search, Task
    from groups.setting import Setting
    from groups.tree import GroupTree
    from mbssa import Group
    from mbssa.arrays import Floats, Ints
    from mbssa.joints.user import UserFunction

#: Methods by which a group's unknowns are found.
Form = Literal["driven", "closed form", "Newton", "global"]

#: Reason of solvers without unknowns.
PRESCRIBED = "fully prescribed by the inputs"


class Kernel(NamedTuple):
    """A kernel and its costs."""

    run: Callable[..., None]
    compiling: float
    microseconds: float


class Data(NamedTuple):
    """Data of a solver for its kernels."""

    ints: Ints
    floats: Floats
    memory: Floats


@dataclass(frozen=True, eq=False)
class Solver(ABC):
    """Solver of one group: its name, and its data for the kernels, or a function that makes them."""

    number: int
    name: str
    why: str
    unknowns: tuple[str, ...]
    closing: tuple[str, ...]
    data: Data | Callable[[], Data]
    roots: int | None = None
    default: Solver | None = None
    part: GlobalPart | None = None
    users: tuple[tuple[UserFunction, int], ...] = ()

    form: ClassVar[Form]
    #: Assembly modes of each root.
    turns: ClassVar[int] = 1
    #: Whether the constants count the turns of the reference, as the inputs do.
    counts_turns: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def match(cls, tree: GroupTree, setting: Setting) -> Solver | None:
        """Return the solver of an opened group; None where it does not solve the group."""

    def of_twin(self, tree: GroupTree, setting: Setting) -> Solver | None:
        """Return the solver of a group of the same labelled topology; None where it has to be matched."""
        return None

    def __getstate__(self) -> dict[str, Any]:
        """The fields with the data themselves, as what makes them has the whole structure."""
        return {name: value for name, value in vars(self).items() if name != "made"} | {"data": self.made}

    @cached_property
    def made(self) -> Data:
        """Data for the kernels."""
        return self.data if isinstance(self.data, Data) else self.data()

    @property
    def ints(self) -> Ints:
        """Whole numbers for the kernels."""
        return self.made.ints

    @property
    def floats(self) -> Floats:
        """Constants for the kernels."""
        return self.made.floats

    @property
    def memory(self) -> Floats:
        """State that the kernels keep from instant to instant, at the reference."""
        return self.made.memory

    @property
    @abstractmethod
    def kernel(self) -> Kernel | None:
        """Kernel that solves the group; None for the global approach."""

    def placings(self, task: Task) -> tuple[list[Placing], Search]:
        """All placings of the group's bodies, and how they were found."""
        raise ValueError(f"{self.name} lists no assembly modes; solve the group by Newton for that")

    def degree(self, group: Group) -> tuple[int | None, str]:
        """Degree of the group's equation in one unknown, None where it is not known, and the reason."""
        return self.roots, self.why

    def most_modes(self, group: Group) -> int | None:
        """Most assembly modes that the group can have; None where that is not known."""
        source = self.default or self
        degree, _ = source.degree(group)
        return None if degree is None else degree * source.turns

    @property
    def choice(self) -> str:
        """Name by which it is chosen."""
        return self.form

    @property
    def n_unknowns(self) -> int:
        """Number of unknowns that are solved for at once."""
        return len(self.unknowns)

    @property
    def room(self) -> int:
        """Length of the kernel's workspace."""
        return 0

    @property
    def legs(self) -> Kernel | None:
        """Kernel that places the struts after the other bodies; None where it has none."""
        return None

    @property
    def microseconds(self) -> float:
        """Time of one instant in plain Python, µs."""
        return sum(kernel.microseconds for kernel in (self.kernel, self.legs) if kernel is not None)

    @property
    def redundant(self) -> bool:
        """Whether more equations close the group than it has unknowns, so that some are only checked."""
        return False

    @property
    def tolerance(self) -> float:
        """Largest residual of a joint in an assembly mode, over the size."""
        return CLOSED

    @property
    def counts_by_instants(self) -> bool:
        """Whether turns of some angle are counted from instant to instant alone."""
        return False

    @property
    def of_modes(self) -> Solver:
        """The solver that lists the group's assembly modes: the default, where its signs hold here too."""
        return self

    def strut_data(self, memory: Floats) -> tuple[Ints, Floats, Floats]:
        """Constants of the struts, and the part of a memory that holds their signs."""
        return self.ints[:0], self.floats[:0], memory[:0]

    @property
    def n_struts(self) -> int:
        """Number of struts."""
        return len(self.strut_data(self.memory)[2]) // strut.SIGNS
