"""Planar mechanisms with masses in Exudyn, and by the dense saddle point of the 2D guide, as rivals.

Both take masses, revolute and prismatic joints, springs between points, and constant torques about a hinge of
the frame: what Andrews' squeezer and the slider-crank have.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.integrate import solve_ivp

import mbssa
from mbssa.joints.frames import joint_frames

Floats = npt.NDArray[np.float64]


def inertias(mechanism: mbssa.Mechanism) -> list[Any]:
    """Inertia of each movable body."""
    return [mechanism.body_geometry[body].inertia for body in range(1, mechanism.n_bodies)]


class Guide:
    """The scheme of the 2D guide: x, y and angle of every body, dense [M Jᵀ; J 0] at every evaluation.

    Coordinates are of the centres of mass. Constraints are not stabilised, as in its default.
    """

    def __init__(self, mechanism: mbssa.Mechanism) -> None:
        frames, n = joint_frames(mechanism), mechanism.n_bodies - 1
        given = inertias(mechanism)
        self.centre = np.vstack([[0.0, 0.0], [one.centre for one in given]])
        self.mass = np.repeat([one.mass for one in given], 3).astype(float)
        self.mass[2::3] = [one.moment for one in given]
        self.n, self.joints = n, []
        for joint in mechanism.joints:
            i, j = mechanism.joint_bodies(joint.index)
            ends = frames.origin[joint.index]
            point = [ends[0, :2] - self.centre[i], ends[1, :2] - self.centre[j]]
            axis = frames.axes[joint.index, 0, :2, 0]
            self.joints.append((i, j, point[0], point[1], axis if joint.type.code == "P" else None))
        self.force = np.zeros(3 * n)
        if mechanism.gravity is not None:
            self.force[0::3] = self.mass[0::3] * mechanism.gravity[0]
            self.force[1::3] = self.mass[1::3] * mechanism.gravity[1]
        self.springs = []
        for one in mechanism.forces:
            if one.points is not None:
                ends = [np.array(p) - self.centre[b] for b, p in zip(one.bodies, one.points, strict=True)]
                self.springs.append((one.bodies, ends, one.stiffness, one.rest))
            else:
                self.force[3 * one.bodies[1] - 1] += one.force

    def accelerations(self, q: Floats, v: Floats) -> Floats:
        n, E = 3 * self.n, 2 * len(self.joints)
        matrix = np.zeros((n + E, n + E))
        matrix[range(n), range(n)] = self.mass
        right = np.zeros(n + E)
        right[:n] = self.force
        for (a, b), ends, stiffness, rest in self.springs:
            arms = [self._arm(q, body, end) for body, end in zip((a, b), ends, strict=True)]
            line = self._origin(q, b) + arms[1] - self._origin(q, a) - arms[0]
            length = np.sqrt(line @ line)
            pull = -stiffness * (length - rest) * line / length
            for body, arm, force in ((a, arms[0], -pull), (b, arms[1], pull)):
                if body:
                    right[3 * body - 3 : 3 * body - 1] += force
                    right[3 * body - 1] += arm[0] * force[1] - arm[1] * force[0]
        for k, (i, j, one, other, axis) in enumerate(self.joints):
            row = n + 2 * k
            rows = slice(row, row + 2)
            arms = self._arm(q, i, one), self._arm(q, j, other)
            if axis is None:
                for body, arm, sign in ((i, arms[0], -1.0), (j, arms[1], 1.0)):
                    if body:
                        at = 3 * body - 3
                        matrix[rows, at : at + 2] += sign * np.eye(2)
                        matrix[rows, at + 2] += sign * np.array([-arm[1], arm[0]])
                        right[rows] += sign * v[at + 2] ** 2 * arm
            else:  # a guide of the frame: same angle, no way across
                at = 3 * j - 3
                across = np.array([-axis[1], axis[0]])
                matrix[row, at : at + 2] = across
                matrix[row, at + 2] = across @ [-arms[1][1], arms[1][0]]
                right[row] = v[at + 2] ** 2 * (across @ arms[1])
                matrix[row + 1, at + 2] = 1.0
        matrix[:n, n:] = matrix[n:, :n].T
        return np.linalg.solve(matrix, right)[:n]

    def _origin(self, q: Floats, body: int) -> Floats:
        return q[3 * body - 3 : 3 * body - 1] if body else np.zeros(2)

    def _arm(self, q: Floats, body: int, point: Floats) -> Floats:
        if not body:
            return point
        c, s = np.cos(q[3 * body - 1]), np.sin(q[3 * body - 1])
        return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1]])

    def run(self, duration: float, tolerance: float, method: str = "DOP853") -> tuple[Floats, int]:
        """Angles of all bodies at the end, and evaluations."""
        start = np.zeros(6 * self.n)
        start[: 3 * self.n].reshape(-1, 3)[:, :2] = self.centre[1:]

        def rate(_: float, y: Floats) -> Floats:
            v = y[3 * self.n :]
            return np.concatenate([v, self.accelerations(y[: 3 * self.n], v)])

        found = solve_ivp(rate, (0.0, duration), start, method, rtol=tolerance, atol=0.01 * tolerance)
        return found.y[2 : 3 * self.n : 3, -1], found.nfev


def exudyn_run(mechanism: mbssa.Mechanism, duration: float, steps: int) -> Any:
    """A function that simulates a planar mechanism in Exudyn, and gives the angles of all bodies at the end.

    Generalised-alpha with index-2 reduction, a dense solver and a Newton that keeps its matrix, nothing
    written: the fastest of its settings here.
    """
    sys.exudynFast = True  # type: ignore[attr-defined]  # the build without its range checks
    import exudyn
    from exudyn import itemInterface as items

    frames, given = joint_frames(mechanism), inertias(mechanism)
    centre = [np.zeros(2), *(np.array(one.centre) for one in given)]

    def run() -> Floats:
        system = exudyn.SystemContainer().AddSystem()
        bodies, nodes = [system.AddObject(items.ObjectGround())], []
        for one in given:
            nodes.append(system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[*one.centre, 0.0])))
            bodies.append(
                system.AddObject(
                    items.ObjectRigidBody2D(mass=one.mass, inertia=one.moment, nodeNumber=nodes[-1])
                )
            )

        def marker(body: int, point: Floats) -> Any:
            local = [*(point - centre[body]).tolist(), 0.0]
            return system.AddMarker(items.MarkerBodyPosition(bodyNumber=bodies[body], localPosition=local))

        for body in bodies[1:] if mechanism.gravity is not None else []:
            whole = system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
            weight = [*(mechanism.gravity or ()), 0.0]
            system.AddLoad(items.LoadMassProportional(markerNumber=whole, loadVector=weight))
        for joint in mechanism.joints:
            ends = list(zip(mechanism.joint_bodies(joint.index), frames.origin[joint.index], strict=True))
            if joint.type.code == "P":
                rigid = [
                    system.AddMarker(
                        items.MarkerBodyRigid(
                            bodyNumber=bodies[body], localPosition=[*(end[:2] - centre[body]).tolist(), 0.0]
                        )
                    )
                    for body, end in ends
                ]
                x, y = frames.axes[joint.index, 0, :2, 0].tolist()
                system.AddObject(
                    items.ObjectJointPrismatic2D(
                        markerNumbers=rigid, axisMarker0=[x, y, 0.0], normalMarker1=[-y, x, 0.0]
                    )
                )
                continue
            markers = [marker(body, end[:2]) for body, end in ends]
            system.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))
        for force in mechanism.forces:
            if force.points is not None:
                ends = [marker(b, np.array(p)) for b, p in zip(force.bodies, force.points, strict=True)]
                system.AddObject(
                    items.ObjectConnectorSpringDamper(
                        markerNumbers=ends, stiffness=force.stiffness, referenceLength=force.rest
                    )
                )
            else:
                turned = system.AddMarker(items.MarkerBodyRigid(bodyNumber=bodies[force.bodies[1]]))
                system.AddLoad(items.LoadTorqueVector(markerNumber=turned, loadVector=[0, 0, force.force]))
        system.Assemble()
        settings = exudyn.SimulationSettings()
        integration = settings.timeIntegration
        integration.numberOfSteps, integration.endTime = steps, duration
        integration.newton.useModifiedNewton = True
        integration.generalizedAlpha.spectralRadius = 1.0
        integration.generalizedAlpha.useIndex2Constraints = True
        integration.generalizedAlpha.useNewmark = True
        integration.verboseMode = integration.verboseModeFile = 0
        settings.solution.file.write = False
        settings.parallel.numberOfThreads = 1
        settings.linearSolver.solverType = exudyn.LinearSolverType.EXUdense
        system.SolveDynamic(settings)
        found = [system.GetNodeOutput(node, exudyn.OutputVariableType.Coordinates)[2] for node in nodes]
        return np.array(found)

    return run
