"""Tearing inputs of a model, and the outcome of the iteration that finds them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from groups.results.faults import STATUS
from groups.results.schema import OUTER
from mbssa.arrays import Bools, Floats, Ints

#: Origins of the tearing inputs.
ChosenBy = Literal["user", "automatic"]

#: Stretches of instants that a sentence lists before it only counts the rest.
_SHOWN = 4


@dataclass(frozen=True)
class Borrowed:
    """Tearing: inputs that the groups are solved for, and the driven coordinates that these must satisfy.

    Attributes
    ----------
    inputs : the tearing inputs, in the order of the joints
    drives : the driven coordinates of the mechanism, in the order of a motion
    unknowns : tearing inputs that are not driven; an outer Newton iteration finds them at each instant
    loop : numbers of the groups between an unknown and the bodies of a driven coordinate
    before : numbers of the groups on which those depend and that no unknown moves
    groups : number of all groups
    chosen : by the ``user`` or ``automatic``

    Examples
    --------
    >>> import groups, mbssa
    >>> structure = mbssa.decompose(mbssa.load("stewart_inverse"))
    >>> slides = [f"{a}-{a + 1}.slide" for a in range(2, 14, 2)]
    >>> print(groups.build(structure, drives=slides).borrowed)
    tearing inputs 1-14.x, 1-14.y, 1-14.z, 1-14.angle_x, 1-14.angle_y, 1-14.angle_z instead of 2-3.slide, \
4-5.slide, 6-7.slide, 8-9.slide, 10-11.slide, 12-13.slide: 6 unknowns, 7 of 7 groups in the loop; \
chosen by the user
    """

    inputs: tuple[str, ...]
    drives: tuple[str, ...]
    unknowns: tuple[str, ...]
    loop: tuple[int, ...]
    before: tuple[int, ...]
    groups: int
    chosen: ChosenBy
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    @property
    def shared(self) -> tuple[str, ...]:
        """Driven coordinates among the tearing inputs."""
        return tuple(name for name in self.inputs if name in self.drives)

    def __str__(self) -> str:
        replaced = ", ".join(name for name in self.drives if name not in self.inputs)
        many = "s" if len(self.unknowns) != 1 else ""
        by = "chosen by the user" if self.chosen == "user" else "chosen automatically"
        return (
            f"tearing inputs {', '.join(self.unknowns) or 'none'} instead of {replaced or 'nothing'}: "
            f"{len(self.unknowns)} unknown{many}, {len(self.loop)} of {self.groups} groups in the loop; {by}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The record as lists, texts and numbers."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    @staticmethod
    def from_json(text: str) -> Borrowed:
        """The record that :meth:`to_dict` gave, from JSON.

        Raises
        ------
        ValueError
            Fields that are missing, unknown or of another kind: all of them.

        Examples
        --------
        >>> import groups, json, mbssa
        >>> borrowed = groups.build(mbssa.decompose(mbssa.load("triad")), borrow=["1-5.angle"]).borrowed
        >>> borrowed.from_json(json.dumps(borrowed.to_dict())) == borrowed
        True
        """
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(Borrowed).validate_json(text, strict=True)
        except ValidationError as error:
            faults = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
            raise ValueError("; ".join(faults)) from None


@dataclass(frozen=True, eq=False)
class Outer:
    """Outcome of the iteration that finds the tearing inputs, by instant."""

    borrowed: Borrowed
    fallback: Bools  # (T,) solved by the direct structure, of the driven coordinates
    status: npt.NDArray[np.int8]  # (T,) reason for it, by groups.trajectory.STATUS; else 0
    group: Ints  # (T,) number of the group that failed there, 0 where the loop itself did
    residual: Floats  # (T,) largest error of a driven coordinate, rad or over the mechanism's size
    iterations: Ints  # (T,) steps of the outer Newton, corrections of instants solved together with it
    # (T,) of its Jacobian: 0 singular; along a line between instants at which it was factorised
    condition: Floats
    names: tuple[str, ...]  # by group, its bodies and its type

    def instants(self, which: slice | npt.NDArray[np.intp]) -> Outer:
        """Some of the instants, as views."""
        arrays: dict[str, Any] = {name: getattr(self, name)[which] for name in OUTER}
        return replace(self, **arrays)

    def sentences(self) -> list[str]:
        """A sentence for each stretch of instants, from 0, that the direct structure solved."""
        said = []
        edges = np.flatnonzero(np.diff(np.concatenate([[False], self.fallback, [False]]).astype(np.int8)))
        stretches = edges.reshape(-1, 2).tolist()
        for first, stop in stretches[:_SHOWN]:
            which = f"instants {first} to {stop - 1} were" if stop - first > 1 else f"instant {first} was"
            g = int(self.group[first])
            where = f"SG-{g} of {self.names[g - 1]}" if g else "the loop of the tearing inputs"
            said.append(
                f"{which} solved with the direct structure, since tearing fails there "
                f"({where}: {STATUS[int(self.status[first])]})"
            )
        if len(stretches) > _SHOWN:
            more = stretches[_SHOWN:]
            total = sum(stop - first for first, stop in more)
            said.append(f"and {total} more instants in {len(more)} stretches")
        return said
