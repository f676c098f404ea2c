"""Result of forward dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from groups.dynamics.forward.events import Occurrence
from groups.dynamics.forward.integration import Change
from groups.results.joints import coordinate_motion
from groups.results.table import Column, check_target, shown_in, write_table
from groups.trajectory import Trajectory
from mbssa.arrays import Floats

if TYPE_CHECKING:
    from groups.dynamics.forward.equations import Applied
    from groups.dynamics.results import Forces
    from mbssa import Structure


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A motion that follows from masses and forces, with SI units and world axes.

    Attributes
    ----------
    trajectory : all bodies at the T instants that were reached; every table, plot and page takes it
    structure : whose driven coordinates were the independent ones at the beginning
    method, integrator, tolerance : of the run
    released, prescribed : driven coordinates of ``structure`` that were free to move, and those with a law
    kinetic_energy, potential_energy : (T,) J; the potential of gravity and of linear springs
    work : (T,) J that force elements, applied forces and prescribed coordinates have done since the start
    balance : (T,) J, change of kinetic energy and of the potential of gravity, less ``work``: an error
    position_error, velocity_error : (T,) largest residual of the constraints, m and m/s
    status : ``finished``, ``stopped`` (before the end), ``event …`` or ``failed: …``. A run has failed where
        its energy (by more than 1 % of the exchanged one, and more than the tolerance explains), its power or
        a closing equation is off balance: with the time, the group and the coordinates there. So the branch
        of a run that is ``ok`` is *checked*, as ``trajectory.proof`` says, not proven
    events : events in the order of time
    changes : choices of independent coordinates that replaced another, with their instants
    steps, evaluations : of the integrator, and of the equations of motion
    notes : assumptions

    Examples
    --------
    >>> import groups, mbssa
    >>> simulation = groups.simulate(mbssa.load("slider_crank"), duration=0.2, steps=11)
    >>> simulation.status, bool(abs(simulation.balance).max() < 1e-6)
    ('finished', True)
    """

    trajectory: Trajectory
    structure: Structure
    method: str
    integrator: str
    tolerance: float
    released: tuple[str, ...]
    prescribed: tuple[str, ...]
    kinetic_energy: Floats
    potential_energy: Floats
    work: Floats
    balance: Floats
    position_error: Floats
    velocity_error: Floats
    status: str
    events: tuple[Occurrence, ...]
    changes: tuple[Change, ...]
    steps: int
    evaluations: int
    notes: tuple[str, ...] = ()
    applied: Mapping[str, Applied] = field(default_factory=dict)

    def __repr__(self) -> str:
        name = self.trajectory.mechanism.name or "a mechanism"
        return f"<Simulation of {name} by {self.method}: {len(self.time)} instants, {self.status}>"

    @property
    def time(self) -> Floats:
        """(T,) s."""
        return self.trajectory.time

    @property
    def total_energy(self) -> Floats:
        """(T,) J, kinetic and potential."""
        return self.kinetic_energy + self.potential_energy

    @property
    def ok(self) -> bool:
        """True if the run reached its end, or an event that ends it, with its energy in balance."""
        return self.status == "finished" or self.status.startswith("event")

    @property
    def coordinates(self) -> dict[str, Floats]:
        """By name, the values (T,) of the driven coordinates of the structure, m and rad."""
        names = sorted((*self.released, *self.prescribed))
        return {name: coordinate_motion(self.trajectory, name).value for name in names}

    def columns(self) -> list[Column]:
        """Time, energies, work and errors as columns of a table, SI units."""
        named = (
            ("kinetic_energy", "J"), ("potential_energy", "J"), ("total_energy", "J"), ("work", "J"),
            ("balance", "J"), ("position_error", "m"), ("velocity_error", "m/s"),
        )  # fmt: skip
        return [Column("time", "s", self.time), *(Column(n, unit, getattr(self, n)) for n, unit in named)]

    def write(self, path: str | Path, *, force: bool = False, units: Literal["si", "file"] = "file") -> None:
        """Write energies and errors over time to ``.csv`` or ``.parquet``, in the units of the model file.

        The motion itself is written by ``simulation.trajectory.write``, reactions by
        ``simulation.forces.write``.

        Raises
        ------
        ValueError
            Another ending.
        OSError
            The file exists and ``force`` is False, or it cannot be written.
        """
        found = shown_in(self.columns(), self.trajectory, units)
        write_table(found, check_target(path, (".csv", ".parquet"), force))

    @cached_property
    def forces(self) -> Forces:
        """Reactions and powers along the run, by :func:`groups.forces`; released coordinates need no drive.

        Raises
        ------
        ValueError
            As :func:`groups.forces`.
        """
        from groups.dynamics import forces

        given = {
            name: np.array([value(t) for t in self.time.tolist()]) if callable(value) else value
            for name, value in self.applied.items()
        }
        return forces(self.trajectory, self.structure, applied=given)
