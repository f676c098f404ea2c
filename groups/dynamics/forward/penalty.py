"""Method ``penalty``: joints as stiff springs and dampers, the R/C elements of bond graphs.

Each constraint φ = 0 pulls with -(k φ + c φ') along its direction. Constraints may depend on one another, so
that hyperstatic mechanisms are simulated as they are; joints give way by what they carry, over k.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from groups.dynamics.forward.absolute import Bodies, Constraints
from groups.dynamics.forward.equations import CannotGoOnError, Instant
from groups.dynamics.forward.loads import Loads
from groups.motion import Law
from mbssa import Structure
from mbssa.joints.frames import Frames

Floats = npt.NDArray[np.float64]


class Penalty:
    """Equations of motion of all bodies, each free, between stiff springs and dampers.

    Parameters
    ----------
    stiffness, damping : N/m and N s/m of constraints on lengths; those on directions have the same at the
        mechanism's size, in N m/rad and N m s/rad

    Raises
    ------
    CannotGoOnError
        A movable body without mass: nothing resists the springs.
    """

    def __init__(
        self, structure: Structure, frames: Frames, loads: Loads, laws: Mapping[str, Law], begin: Instant,
        compiled: bool, stiffness: float, damping: float,
    ) -> None:  # fmt: skip
        self.mechanism, self.evaluations = structure.mechanism, 0
        self.coordinates: tuple[str, ...] = ()
        self.notes: list[str] = []
        self.loads = loads
        self.constraints = Constraints(structure, frames, laws, compiled)
        self.bodies = Bodies(structure, frames, loads)
        self.start = self.bodies.packed(begin)
        self.k, self.c = stiffness * frames.size**2, damping * frames.size**2
        M, *_ = self.bodies.inertia(0.0, self.bodies.unpacked(self.start))
        wide = self.bodies.wide[2]
        blocks = [M[k : k + wide, k : k + wide] for k in range(0, len(M), wide)]
        light = [
            self.mechanism.body_name(b)
            for b, block in enumerate(blocks, start=1)
            if np.linalg.matrix_rank(block) < wide
        ]
        if light:
            raise CannotGoOnError(
                f"the method penalty needs mass and inertia of every body; {', '.join(light)} "
                "can move or turn without; give them an inertia, or take another method"
            )

    def rate(self, t: float, y: Floats) -> Floats:
        if not np.isfinite(y).all():
            return np.full(len(y), np.nan)
        parts, second, power = self._solved(t, y)
        _, orientation, velocity, _, _, twist = parts
        linear = velocity[1:, : self.bodies.wide[0]].ravel()
        turned = self.bodies.turned(orientation, twist[1:, 3:])
        return np.concatenate([linear, turned, second, [power]])

    def settle(self, t: float, y: Floats) -> None:
        """Joints give way: nothing is put back."""
        self.rate(t, y)
        self.constraints.turns()

    def instant(self, t: float, y: Floats) -> Instant:
        parts, second, _ = self._solved(t, y)
        return self.bodies.instant(parts, second, 1.0)

    def renewed(self, t: float, y: Floats) -> None:
        """All bodies' coordinates serve everywhere."""

    def _solved(self, t: float, y: Floats) -> tuple[tuple[Floats, ...], Floats, float]:
        """The state in parts, accelerations (n,), and the power of the loads and of the joints' springs."""
        self.evaluations += 1
        parts = self.bodies.unpacked(y)
        _, orientation, _, in_space, rotation, twist = parts
        rows = self.constraints.at(t, in_space, rotation, twist, self.bodies.angle(orientation))
        M, f, loads = self.bodies.inertia(t, parts)
        pull = -(self.k * rows.residual + self.c * rows.rate)
        second = np.asarray(np.linalg.solve(M, f + rows.jacobian.T @ pull), dtype=np.float64)
        power = float((loads * parts[2]).sum() + pull @ (rows.rate + rows.given))
        return parts, second, power
