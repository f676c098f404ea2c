"""Which solver each group gets: closed form where one is known, Newton in relative coordinates elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from groups.closed_form.planar import encode_planar
from groups.kernels import span
from groups.relative import encode_relative
from groups.spins import HeldSpin
from groups.tree import open_group
from mbssa import Group
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

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
    modes : most assembly modes that it can have; None where nobody knows
    code, ints, floats, memory : for :mod:`groups.kernels.span`
    """

    number: int
    form: Form
    name: str
    why: str
    unknowns: tuple[str, ...]
    closing: tuple[str, ...]
    modes: int | None
    code: int
    ints: Ints
    floats: Floats
    memory: Floats


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
            return Solver(
                group.number,
                "driven" if planar.runs_out is None else "closed form",
                planar.name,
                "at most two unknowns, and one hinge closes them",
                (),
                () if planar.runs_out is None else (mechanism.joint_ids[planar.runs_out],),
                planar.n_modes,
                span.PLANAR,
                planar.ints,
                planar.floats,
                planar.memory,
            )
    relative = encode_relative(tree, mechanism, frames, reference, drives, inputs, spins)
    struts = len(tree.struts)
    free = sum(strut.slide >= 0 and not strut.slide_driven for strut in tree.struts)
    gimbals = 2**struts
    form, name, why, modes = {
        "driven": (
            ("closed form", "a leg between two points", "its length follows from its ends", 2 * gimbals)
            if free
            else ("driven", "driven", "the inputs say all", 1)
        ),
        "reach": (
            "closed form",
            "a point at a distance",
            "one unknown, and a rod closes it: a circle or a line meets a sphere",
            2 * gimbals,
        ),
        "meet": (
            "closed form",
            "three joints to a point",
            "three unknowns, and a ball closes them: a quartic at most",
            4 * gimbals,
        ),
        "newton": (
            "Newton",
            f"Newton, {len(relative.unknowns)} unknowns",
            _why_newton(relative.left_out, len(relative.unknowns)),
            None,
        ),
    }[relative.method]
    code, data = span.RELATIVE, (relative.ints, relative.floats, relative.memory)
    if not tree.links:  # a strut and nothing else
        code, data = span.STRUT, relative.strut
    return Solver(
        group.number,
        form,  # type: ignore[arg-type]
        name,
        why,
        relative.unknowns,
        relative.closing,
        modes,
        code,
        *data,
    )


def _why_newton(left_out: tuple[str, ...], unknowns: int) -> str:
    if left_out:
        return f"over-constrained: {len(left_out)} equations are only checked ({', '.join(left_out)})"
    return f"no closed form is known for {unknowns} unknowns that close at once"
