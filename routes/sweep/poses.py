"""Many independent poses of one model at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from groups import Model
from groups.branches.poses import solve_proven_poses
from groups.motion import Motion
from groups.run import Run, RunState
from groups.solvers.solver import Solver
from groups.trajectory import Branch
from mbssa.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of some bodies and status of the groups, in n cases."""

    bodies: Ints  # (rows,) indices, ascending
    position: Floats  # (rows, n, 3) m; planar: (rows, n, 2)
    orientation: Floats  # (rows, n, 4) w, x, y, z, of any sign; planar: (rows, n) rad, of any turn
    status: npt.NDArray[np.int8]  # (G, n), as a trajectory has it
    residual: Floats  # (G, n)
    condition: Floats  # (G, n)

    @property
    def number(self) -> int:
        """Number of cases."""
        return int(self.status.shape[1])

    def of(self, body: int) -> tuple[Floats, Floats]:
        """Position and orientation (n, ...) of one of the bodies."""
        row = int(np.searchsorted(self.bodies, body))
        return self.position[row], self.orientation[row]


def solve_poses(
    model: Model, inputs: Floats, bodies: Ints, memory: Floats | None = None, branch: Branch | None = None
) -> Poses:
    """Poses for each row of inputs (n, D), m and rad, in the modes of the reference or of ``memory``."""
    # Closed forms select their mode by signs. Newton and the spherical-loop closure continue from the last
    # pose; here every pose is reached on a straight line of the inputs from the reference, subdivided as
    # necessary, so that it does not depend on order or on other cases.
    n = len(inputs)
    value = np.ascontiguousarray(inputs.T)
    still = np.zeros_like(value)
    motion = Motion(np.arange(n, dtype=np.float64), tuple(model.reference_inputs), value, still, still)
    continues = any(depends_on_last_pose(solver) for solver in model.solvers)
    memory = model.packed.memory if memory is None else memory
    proves = (branch == "proven" or (branch is None and continues)) and not model.by_instants
    held = np.arange(model.mechanism.n_bodies) if proves else model.held_bodies(bodies)
    run = Run(model, motion, held, 0, solve_proven_poses(model, inputs, memory) if proves else None)
    state = RunState.start(memory, len(held))
    if continues and not proves:
        for case in range(n):
            state.memory[:] = memory
            run.advance(case, case + 1, state)
    elif not proves:
        run.advance(0, n, state)
    run.check_contacts(0, n, angles=False)
    position, orientation, _, _ = run.arrays.outputs
    if len(held) > len(bodies):
        rows = np.searchsorted(held, bodies)
        position, orientation = position[rows], orientation[rows]
    status, residual, _, condition = run.arrays.quality
    return Poses(bodies, position, orientation, status, residual, condition)


def depends_on_last_pose(solver: Solver) -> bool:
    """Whether the solution of a solver may depend on the pose before."""
    return solver.form in ("Newton", "global") or (solver.form == "closed form" and solver.roots is None)
