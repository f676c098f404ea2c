"""A structure that can be solved: one solver per group, in the order of the dependency DAG."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from groups.branches.prover import prover_of
from groups.engine.solve import life_of, plan_of
from groups.motion import driven_coordinates, reference_inputs
from groups.setting import Setting
from groups.solve import solve as solve_model
from groups.solvers.registry import alternatives, choose_all
from groups.solvers.solver import Solver
from groups.trajectory import names_of_groups
from mbssa import Mechanism, Structure, decompose
from mbssa.arrays import Floats, Ints
from mbssa.joints.axes import whole_turns
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.frames import Frames
from mbssa.joints.poses import Poses
from mbssa.texts import counted


@dataclass(frozen=True, eq=False)
class Model:
    """Solvable model of a structure, made by :func:`build`; :meth:`solve` runs it over a motion.

    ``solvers`` has one entry per group, in their order: that of group 1 is ``solvers[0]``, or ``solver(1)``.

    >>> import groups, mbssa
    >>> model = groups.build(mbssa.decompose(mbssa.load("rotor")))
    >>> [solver.form for solver in model.solvers[:3]], model.solver(2).form
    (['closed form', 'driven', 'closed form'], 'driven')
    """

    structure: Structure
    frames: Frames
    reference: Poses
    solvers: tuple[Solver, ...]
    #: Inputs (D,) at the reference, m and rad, where angles have turned round to come there.
    inputs: Floats | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        solved = ", ".join(solver.form for solver in self.solvers[:8]) + ", …" * (len(self.solvers) > 8)
        name = self.mechanism.name or "unnamed"
        return f"<Model of {name}: {counted(len(self.solvers), 'group')}: {solved}>"

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that is solved."""
        return self.structure.mechanism

    @cached_property
    def watches(self) -> tuple[tuple[int, int, str, float, float], ...]:
        """Limits of contacts, which end there: indices of group and joint, coordinate, range in m or rad."""
        mechanism, found = self.mechanism, list[tuple[int, int, str, float, float]]()
        for g, group in enumerate(self.structure.groups):
            for j in group.joint_indices.tolist():
                geometry, kind = mechanism.joint_geometry.get(j), type_of_joint(mechanism, j)
                if geometry is not None and (kind.ends or kind.is_contact) and self.frames.known[j]:
                    limits = geometry.limits.items()
                    found += [(g, j, name, *ends) for name, ends in limits if name in kind.drivable]
        return tuple(found)

    def held_bodies(self, kept: Ints) -> Ints:
        """Indices of the bodies that the arrays of a run must hold if these are wanted, ascending."""
        # The global approach reads other groups' bodies from them, and contacts are watched there.
        if self.globally:
            return np.arange(self.mechanism.n_bodies)
        if not self.watches:
            return kept
        ends = {b for _, j, *_ in self.watches for b in self.mechanism.joint_bodies(j)}
        return np.array(sorted({*kept.tolist(), *(ends - {0})}), dtype=np.int64)

    @cached_property
    def globally(self) -> bool:
        """Whether any group is solved by the global approach."""
        return any(solver.form == "global" for solver in self.solvers)

    def compile(self) -> bool:
        """Make the machine code that :meth:`solve` takes with ``compiled=True``, if it is not made yet.

        False where a user's function cannot be traced, or a group has so many unknowns that NumPy's solver is
        the faster one: such a model has none, and :meth:`solve` takes NumPy whatever ``compiled`` says.
        """
        plan = plan_of(self)
        return life_of(plan, compiled=True) is plan.machine

    @property
    def compile_seconds(self) -> float:
        """Seconds of :meth:`compile`, roughly; 0 once it is done."""
        plan = plan_of(self)
        return plan.price if plan.is_printable and plan.machine is None else 0.0

    def proof_seconds(self, instants: int, *, compiled: bool = False) -> float:
        """Seconds, roughly, of the proof of a motion of so many instants that is not solved in pieces."""
        return prover_of(plan_of(self)).seconds(instants, compiled=compiled)

    def compiles(self, instants: int, *, calls: int = 1) -> bool:
        """Whether machine code is the faster choice for so many calls more of so many instants each.

        It is once it is made, and it is made as soon as NumPy would have taken longer in all than that takes.
        """
        return plan_of(self).compiles(instants, calls)

    @cached_property
    def group_names(self) -> tuple[str, ...]:
        """By group, its bodies and its type."""
        return names_of_groups(self.structure)

    @property
    def choices(self) -> dict[int, str]:
        """By group number, the solvers that are not the defaults."""
        return {solver.number: solver.choice for solver in self.solvers if solver.default is not None}

    def solver(self, group: int) -> Solver:
        """The solver of a group by its number, from 1 on; a ValueError where no group has it."""
        return self.solvers[self.structure.group(group).number - 1]

    @cached_property
    def needs(self) -> tuple[tuple[int, ...], ...]:
        """By group, the indices of the groups that it needs."""
        return tuple(tuple(number - 1 for number in group.depends_on) for group in self.structure.groups)

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """By group, the indices of the bodies at its joints that others solve; the frame is not named."""
        found = []
        for group in self.structure.groups:
            ends = {b for j in group.joint_indices.tolist() for b in self.mechanism.joint_bodies(j)}
            found.append(tuple(sorted(ends - {0, *group.body_indices.tolist()})))
        return tuple(found)

    @property
    def reference_inputs(self) -> dict[str, float]:
        """Values of the driven coordinates at the reference, m and rad: where a law may well start."""
        values = reference_inputs(self.mechanism, self.frames, self.reference)
        return dict(zip(driven_coordinates(self.mechanism), values.tolist(), strict=True))

    def posed(self, at: Poses, inputs: Floats | None) -> Model:
        """Model that goes on from a closed pose in the mode that it has there; inputs (D,) in m and rad."""
        setting = Setting.at(self.structure, self.frames, at, inputs)
        solvers = tuple(solver.at(setting) for solver in self.solvers)
        return replace(self, reference=at, solvers=solvers, inputs=inputs)

    def inputs_at(self, at: Poses, known: Floats) -> Floats:
        """Inputs (D,) in a pose, m and rad; angles go on from the known ones at the reference."""
        # In the plane by what the two bodies have turned, else the shorter way.
        mechanism, before = self.mechanism, self.reference
        values = reference_inputs(mechanism, self.frames, at)
        for k, name in enumerate(mechanism.driven_coordinates):
            joint, coordinate = mechanism.place_of(name)
            guess = known[k]
            if mechanism.space == "planar" and coordinate == "angle":
                a, b = mechanism.joint_bodies(joint)[:2]
                guess += (at.angle[b] - at.angle[a]) - (before.angle[b] - before.angle[a])
            if "angle" in coordinate or coordinate in ("azimuth", "elevation"):
                values[k] += whole_turns(guess - values[k])
        return values

    solve = solve_model


def model_of(given: Model | Structure | Mechanism) -> Model:
    """A model itself, or that of a structure or mechanism with the solvers that its groups get by default."""
    if isinstance(given, Mechanism):
        given = decompose(given)
    return build(given) if isinstance(given, Structure) else given


def build(structure: Structure, solvers: Mapping[int, str] | None = None) -> Model:
    """A solvable model of a structure.

    A ValueError says what and where: not determined, without geometry, a type without equations, or a
    reference that cannot close; or all groups and solvers that there are not.

    Parameters
    ----------
    solvers : by number of the group, where it shall not be the one that it gets by default, ``closed form``,
        ``Newton``, ``global dense`` or ``global sparse``; :func:`solvers_of` says which a group can have

    Examples
    --------
    >>> import groups, mbssa
    >>> structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    >>> [solver.choice for solver in groups.build(structure).solvers]
    ['driven', 'closed form']
    >>> [solver.choice for solver in groups.build(structure, {2: "Newton"}).solvers]
    ['driven', 'Newton']
    """
    if solvers is not None and not isinstance(solvers, Mapping):
        raise TypeError(f"solvers are named by number of the group, as {{2: 'Newton'}}, not as {solvers!r}")
    setting = Setting.of(structure)
    chosen = choose_all(setting, solvers or {})
    return Model(structure, setting.frames, setting.reference, chosen)


def solvers_of(of: Model | Structure, group: int) -> tuple[str, ...]:
    """Names of the solvers that :func:`build` can give a group, its default first.

    A ValueError for a group that there is not, or a structure that cannot be solved.

    >>> import groups, mbssa
    >>> structure = mbssa.decompose(mbssa.load("planar_four_bar"))
    >>> groups.solvers_of(structure, 2)
    ('closed form', 'Newton', 'global dense', 'global sparse')
    """
    model = model_of(of)
    found, given = model.structure.group(group), model.solver(group)
    setting = Setting.at(model.structure, model.frames, model.reference)
    return alternatives(found, setting, given.default or given)
