"""Which solver each group gets: closed form where one is known, Newton in relative coordinates elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from groups.closed_form.planar import encode_planar
from groups.kernels import span
from groups.kernels.closing import is_redundant
from groups.relative import encode_relative
from groups.spins import HeldSpin
from groups.tree import GroupTree, open_group
from mbssa import Group, Mechanism
from mbssa.joints.catalogue import CATALOGUE
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_LED = "the inputs say all"

#: How a group's unknowns are found.
Form = Literal["driven", "closed form", "Newton"]


@dataclass(frozen=True, eq=False)
class Solver:
    """The solver of one group: what it is called, and its data for the kernels.

    Attributes
    ----------
    number : of the group
    form : ``driven`` (no unknown), ``closed form`` or ``Newton``
    name : in words, such as ``RRR dyad`` or ``a circle meets a sphere``
    why : what decided
    unknowns : unknown coordinates, ``joint.coordinate``
    closing : what closes the group: joints, and bodies of struts; the first that runs out comes first
    roots : of the equation that closes it, without struts; None where only :mod:`groups.library` knows
    code, ints, floats, memory : for :mod:`groups.kernels.span`
    """

    number: int
    form: Form
    name: str
    why: str
    unknowns: tuple[str, ...]
    closing: tuple[str, ...]
    roots: int | None
    code: int
    ints: Ints
    floats: Floats
    memory: Floats

    @property
    def redundant(self) -> bool:
        """Whether more equations close the group than it has unknowns, so that some are only checked."""
        return self.code == span.RELATIVE and is_redundant(self.ints)


def choose(
    group: Group,
    frames: Frames,
    reference: Configuration,
    drives: Mapping[tuple[int, str], int],
    inputs: Floats,
    spins: Sequence[HeldSpin],
) -> Solver:
    """The solver of a group.

    Parameters
    ----------
    drives : row of the motion for each driven (joint index, coordinate)
    inputs : (D,) the inputs at the reference
    spins : all held spins of the mechanism

    Raises
    ------
    ValueError
        No solver: which joint or group, and why.
    """
    mechanism = group.structure.mechanism
    tree = open_group(group, frames)
    if mechanism.space == "planar":
        planar = encode_planar(tree, mechanism, frames, reference, drives)
        if planar is not None:
            led = planar.runs_out is None
            return Solver(
                group.number,
                "driven" if led else "closed form",
                planar.name,
                _LED if led else "two unknowns at most, and one hinge, slot or rod closes them",
                _unknowns(tree, mechanism, drives),
                () if planar.runs_out is None else (mechanism.joint_ids[planar.runs_out],),
                planar.n_modes,
                span.PLANAR,
                planar.ints,
                planar.floats,
                planar.memory,
            )
    relative = encode_relative(tree, mechanism, frames, reference, drives, inputs, spins)
    alone = not tree.links  # a strut and nothing else
    form: Form
    if alone:
        form, name, why = "closed form", "a leg between two points", "its length follows from its ends"
    elif relative.method == "driven":
        form, name, why = "driven", "driven", _LED
    elif relative.method == "reach":
        form, name = "closed form", "a point at a distance"
        why = "one unknown, and a rod closes it: a circle or a line meets a sphere"
    elif relative.method == "meet":
        form, name = "closed form", "three joints to a point"
        why = "three unknowns, and a ball closes them: a quartic at most"
    else:
        unknowns = len(relative.unknowns)
        form, name = "Newton", f"Newton, {_counted(unknowns)}"
        why = _why_newton(relative.left_out, unknowns)
    roots = {"driven": 2 if alone else 1, "reach": 2}.get(relative.method)
    code, data = span.RELATIVE, (relative.ints, relative.floats, relative.memory)
    if alone:
        code, data = span.STRUT, relative.strut
    return Solver(
        group.number,
        form,
        name,
        why,
        relative.unknowns,
        relative.closing,
        roots,
        code,
        *data,
    )


def _unknowns(
    tree: GroupTree, mechanism: Mechanism, drives: Mapping[tuple[int, str], int]
) -> tuple[str, ...]:
    """Undriven coordinates of the joints that carry the group's bodies."""
    return tuple(
        f"{mechanism.joint_ids[link.joint]}.{name}"
        for link in tree.links
        for name in CATALOGUE[int(mechanism.joint_type[link.joint])].coordinates
        if (link.joint, name) not in drives
    )


def _why_newton(left_out: tuple[str, ...], unknowns: int) -> str:
    if left_out:
        are = "equation is" if len(left_out) == 1 else "equations are"
        return f"over-constrained: {len(left_out)} {are} only checked ({', '.join(left_out)})"
    at_once = "that closes alone" if unknowns == 1 else "that close at once"
    return f"no closed form is known for {_counted(unknowns)} {at_once}"


def _counted(unknowns: int) -> str:
    return f"{unknowns} unknown{'s' if unknowns > 1 else ''}"
