"""Method ``penalty``: joints as stiff springs and dampers, the R/C elements of bond graphs."""

# Each constraint φ = 0 pulls with -(k φ + c φ') along its direction. Constraints may depend on one another,
# so that hyperstatic mechanisms are simulated as they are; a joint opens by its reaction over k.

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from groups.dynamics.forward.absolute import BodyCoordinates, Rows, Solved
from groups.dynamics.forward.equations import CannotGoOnError
from groups.dynamics.forward.loads import Loads
from groups.motion import Law
from groups.trajectory import Trajectory
from mbssa import Structure
from mbssa.arrays import Floats
from mbssa.joints.frames import Frames
from mbssa.joints.poses import Poses


class Penalty(BodyCoordinates):
    """Equations of motion of all bodies, each free, between springs (N/m) and dampers (N s/m)."""

    # Constraints on directions have the same stiffness at the mechanism's size, in N m/rad and N m s/rad.

    def __init__(
        self, structure: Structure, frames: Frames, at: Poses, loads: Loads,
        laws: Mapping[str, Law], begin: Trajectory, stiffness: float, damping: float,
    ) -> None:  # fmt: skip
        super().__init__(structure, frames, at, loads, laws, begin)
        self.k, self.c = stiffness * frames.size**2, damping * frames.size**2
        M, *_ = self.bodies.inertia(0.0, self.bodies.unpacked(self.start))
        missing = np.flatnonzero(np.linalg.matrix_rank(M) < M.shape[1])
        light = [self.mechanism.body_name(b + 1) for b in missing.tolist()]
        if light:
            raise CannotGoOnError(
                f"the method penalty needs mass and inertia of every body; {', '.join(light)} "
                "can move or turn without; give them an inertia, or take another method"
            )

    def settle(self, t: float, y: Floats) -> None:
        """No projection: joints are elastic."""
        self.rate(t, y)
        self.loads.turn()

    def solved(self, t: float, parts: tuple[Floats, ...], rows: Rows) -> Solved:
        """Solve for the accelerations; power of the loads and of the joints' springs."""
        self.evaluations += 1
        M, f, loads = self.bodies.inertia(t, parts)
        pull = -(self.k * rows.residual + self.c * rows.rate)
        force = (f + rows.jacobian.T @ pull).reshape(*M.shape[:2], 1)
        second = np.asarray(np.linalg.solve(M, force), dtype=np.float64).ravel()
        return Solved(second, float((loads * parts[2]).sum() + pull @ (rows.rate + rows.given)), pull)
