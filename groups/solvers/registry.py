"""Choice of each group's solver: a known closed form, else Newton in relative coordinates.

Another can be asked for: Newton where there is a closed form, or the global approach for one group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from groups.encoding.constraint_tables import drive_rows
from groups.encoding.joint_steps import Gearing
from groups.encoding.passive_rotations import HeldSpin, held_spins
from groups.encoding.relative_coordinates import encode_relative
from groups.encoding.tree import GroupTree, open_group
from groups.kernels import layout
from groups.motion import reference_inputs
from groups.reference import closed_reference
from groups.solvers.families import GLOBAL, PLANAR, RELATIVE, STRUT, Family, Kernel
from groups.solvers.gear_train import gearing
from groups.solvers.global_solver.part import GlobalPart, encode_part
from groups.solvers.global_solver.solver import Method
from groups.solvers.planar_dyads import encode_planar
from mbssa import Group, Mechanism, Structure
from mbssa.arrays import Floats, Ints
from mbssa.joints.catalogue import CATALOGUE
from mbssa.joints.frames import Frames
from mbssa.joints.system import Configuration

if TYPE_CHECKING:
    from mbssa.joints.user import UserFunction


_LED = "fully prescribed by the inputs"

#: Methods by which a group's unknowns are found.
Form = Literal["driven", "closed form", "Newton", "global"]

#: Solvers that can be asked for. A driven group has nothing to solve for, and closed forms are not for all.
Choice = Literal["closed form", "Newton", "global dense", "global sparse"]


@dataclass(frozen=True, eq=False)
class Solver:
    """The solver of one group: what it is called, and its data for the kernels.

    Attributes
    ----------
    number : of the group
    form : ``driven`` (no unknown), ``closed form``, ``Newton`` or ``global``
    name : in words, such as ``RRR dyad`` or ``a circle meets a sphere``
    why : what decided
    unknowns : unknown coordinates, ``joint.coordinate``
    closing : what closes the group: joints, and bodies of struts; the first that runs out comes first
    roots : of the equation that closes it, without struts; None: see :mod:`groups.solvers.library`
    family : layout of its data; ints, floats, memory : its data
    default : what the group gets if nothing is asked for; None if this is it
    part : what solves it if its form is ``global``
    users : users' functions, and where in ``floats`` their addresses stand
    """

    number: int
    form: Form
    name: str
    why: str
    unknowns: tuple[str, ...]
    closing: tuple[str, ...]
    roots: int | None
    family: Family
    ints: Ints
    floats: Floats
    memory: Floats
    default: Solver | None = None
    part: GlobalPart | None = None
    users: tuple[tuple[UserFunction, int], ...] = ()

    @property
    def choice(self) -> str:
        """The form; of ``global`` ones ``global dense`` or ``global sparse``."""
        return self.form if self.part is None else f"{self.form} {self.part.method}"

    @property
    def globally(self) -> Method | None:
        """Elimination of the global approach, ``dense`` or ``sparse``; None for other solvers."""
        return None if self.part is None else self.part.method

    @property
    def redundant(self) -> bool:
        """Whether more equations close the group than it has unknowns, so that some are only checked."""
        if self.part is not None:
            return self.part.system.redundant > 0
        return self.family == RELATIVE and layout.is_redundant(self.ints)

    @cached_property
    def kernel(self) -> Kernel | None:
        """Kernel that solves it; None for the global approach."""
        return self.family.kernel(self.ints, self.floats)

    @cached_property
    def legs(self) -> Kernel | None:
        """Kernel that places its struts after that, if it has any."""
        return self.family.legs(self.ints)

    @property
    def of_modes(self) -> Solver:
        """The solver that lists the group's assembly modes: the default, where its signs hold here too."""
        if self.default is not None and (self.part is not None or self.default.family == self.family):
            return self.default
        return self


@dataclass(frozen=True, eq=False)
class Setting:
    """Data that all groups of a structure share.

    Attributes
    ----------
    drives : row of the motion for each driven (joint index, coordinate)
    inputs : (D,) the inputs at the reference
    spins : all held spins of the mechanism
    """

    structure: Structure
    frames: Frames
    reference: Configuration
    drives: Mapping[tuple[int, str], int]
    inputs: Floats
    spins: Sequence[HeldSpin]

    @staticmethod
    def of(structure: Structure) -> Setting:
        """Of a structure that can be solved.

        Raises
        ------
        ValueError
            It cannot: what and where.
        """
        return Setting.at(structure, *closed_reference(structure))

    @staticmethod
    def at(structure: Structure, frames: Frames, reference: Configuration) -> Setting:
        """Of a structure whose reference is closed."""
        mechanism = structure.mechanism
        inputs = reference_inputs(mechanism, frames, reference)
        spins = held_spins(structure, frames)
        return Setting(structure, frames, reference, drive_rows(mechanism), inputs, spins)

    @cached_property
    def geared(self) -> dict[int, Gearing]:
        """By number of the group, what leads its coordinates, where gears alone close it."""
        return gearing(self.structure, self.frames, self.reference, self.drives, self.inputs)


def choose_all(setting: Setting, wanted: Mapping[int, str]) -> tuple[Solver, ...]:
    """The solvers of all groups.

    Parameters
    ----------
    wanted : one of :data:`Choice` by number of the group; the default for those that are not named

    Raises
    ------
    ValueError
        No solver for a group, or not the one that is wanted: all of those.
    """
    groups = setting.structure.groups
    solvers = [choose(group, setting) for group in groups]
    faults = []
    for number, name in wanted.items():
        try:
            group = setting.structure.group(number)
        except ValueError as error:
            faults.append(str(error))
            continue
        default = solvers[number - 1]
        if name == default.choice:
            continue
        try:
            solvers[number - 1] = _instead(group, setting, default, name)
        except ValueError as error:
            others = ", ".join(alternatives(group, setting, default))
            faults.append(f"SG-{number} cannot be solved by {name!r}: {error}; it has {others}")
    if faults:
        raise ValueError("; ".join(faults))
    return tuple(solvers)


def alternatives(group: Group, setting: Setting, default: Solver) -> tuple[str, ...]:
    """Names of the solvers that a group can have, its default first."""
    found = [default.choice]
    for name in get_args(Choice):
        if name not in found and name != "closed form":
            try:
                _instead(group, setting, default, name)
            except ValueError:
                continue
            found.append(name)
    return tuple(found)


def choose(group: Group, setting: Setting) -> Solver:
    """The solver that a group gets if nothing is asked for.

    Raises
    ------
    ValueError
        No solver: which joint or group, and why.
    """
    tree = open_group(group, setting.frames)
    return next(found for match in SOLVERS if (found := match(tree, setting)) is not None)


def _planar(tree: GroupTree, setting: Setting) -> Solver | None:
    """A solver by at most two loci in the plane; None where more is unknown."""
    mechanism, drives = setting.structure.mechanism, setting.drives
    if mechanism.space != "planar":
        return None
    planar = encode_planar(tree, mechanism, setting.frames, setting.reference, drives)
    if planar is None:
        return None
    led = planar.runs_out is None
    return Solver(
        tree.number,
        "driven" if led else "closed form",
        planar.name,
        _LED if led else "two unknowns at most, and one hinge, slot or rod closes them",
        _unknowns(tree, mechanism, drives),
        () if planar.runs_out is None else (mechanism.joint_ids[planar.runs_out],),
        planar.n_modes,
        PLANAR,
        planar.ints,
        planar.floats,
        planar.memory,
    )


def _relative(tree: GroupTree, setting: Setting, *, newton: bool = False) -> Solver:
    """A solver in relative coordinates; by Newton even where a closed form is known, if that is asked for."""
    geared = None if newton else setting.geared.get(tree.number)
    relative = encode_relative(
        tree,
        setting.structure.mechanism,
        setting.frames,
        setting.reference,
        setting.drives,
        setting.inputs,
        setting.spins,
        newton=newton,
        geared=geared,
    )
    alone = not tree.links  # a strut and nothing else
    form: Form
    if alone:
        form, name, why = "closed form", "a leg between two points", "its length follows from its ends"
    elif geared:
        form, name, why = "closed form", "gears", "gears lead it: its coordinates are ratios times inputs"
    elif relative.method == "driven":
        form, name, why = "driven", "driven", _LED
    elif relative.method == "reach":
        form, name = "closed form", "point at constant distance"
        why = "one unknown, and a rod closes it: a circle or a line meets a sphere"
    elif relative.method == "meet":
        form, name = "closed form", "spherical-loop closure"
        why = "three unknowns, and a ball closes them: a quartic at most"
    else:
        unknowns = len(relative.unknowns)
        form, name = "Newton", f"Newton, {_counted(unknowns)}"
        why = _why_newton(relative.left_out, unknowns)
    roots = {"driven": 2 if alone else 1, "reach": 2}.get(relative.method)
    family, data = RELATIVE, (relative.ints, relative.floats, relative.memory)
    if alone:
        family, data = STRUT, relative.strut
    return Solver(
        tree.number,
        form,
        name,
        why,
        tuple(f"{setting.structure.mechanism.joint_ids[joint]}.{name}" for joint, name in geared or ())
        or relative.unknowns,
        relative.closing,
        roots,
        family,
        *data,
        users=relative.users,
    )


#: Solvers in the order in which they are tried; each gives None where it does not solve the group. The last
#: one solves all that can be solved.
SOLVERS: list[Callable[[GroupTree, Setting], Solver | None]] = [_planar, _relative]


def _instead(group: Group, setting: Setting, default: Solver, name: str) -> Solver:
    """Another solver than a group's default.

    Raises
    ------
    ValueError
        There is none of that name, or it cannot solve the group: why.
    """
    said = f"{default.form}: {default.name}" if default.form == "closed form" else default.name
    why = f"asked for instead of {said}"
    if name in ("global dense", "global sparse"):
        method: Method = "dense" if name == "global dense" else "sparse"
        part = encode_part(
            group, setting.frames, setting.reference, setting.drives, setting.inputs, setting.spins, method
        )
        return replace(
            default,
            form="global",
            name=f"{name}, {_counted(part.system.n)}",
            why=why,
            unknowns=_natural(group),
            family=GLOBAL,
            ints=np.zeros(0, dtype=np.int64),
            floats=np.zeros(0),
            memory=part.memory,
            users=(),
            default=default,
            part=part,
        )
    if name not in get_args(Choice):
        raise ValueError("there is no such solver")
    if default.form == "driven":
        raise ValueError("it is driven, so that nothing is unknown in relative coordinates")
    if name == "closed form":
        raise ValueError("no closed form is known")
    # A leg alone has unknowns only if it is not taken out.
    tree = open_group(group, setting.frames, struts=default.family != STRUT)
    return replace(_relative(tree, setting, newton=True), why=why, default=default)


def _natural(group: Group) -> tuple[str, ...]:
    """Names of the coordinates of the group's bodies in the world."""
    mechanism = group.structure.mechanism
    space = ("x", "y", "z", "turn_x", "turn_y", "turn_z")
    names = ("x", "y", "angle") if mechanism.space == "planar" else space
    own = group.body_indices.tolist()
    return tuple(f"{mechanism.body_name(body)}.{name}" for body in own for name in names)


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
