"""Mechanisms of ours as Exudyn models that its static solver leads through a motion.

Driven coordinates follow symbolic functions of time, evaluated in C++. Nothing is written or stored on
the way: the answer is the last instant's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

sys.exudynFast = True  # type: ignore[attr-defined]  # the build without its range checks

import exudyn
import numpy as np
import numpy.typing as npt
from exudyn import itemInterface as items
from exudyn.utilities import CreateSymbolicUserFunction

import groups
import mbssa
from mbssa.joints.frames import Frames, joint_frames

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Static:
    """An assembled system; :meth:`run` leads it from the reference through the motion's whole span.

    Settings are the fastest of those that Exudyn offers: a Newton that keeps its matrix while it can, a
    sparse solver that keeps its pattern for the platform, a dense one for the planar linkages.
    """

    system: Any
    nodes: list[Any]
    pose: Callable[[Floats], list[Floats]]
    sparse: bool
    kept: list[Any]

    def run(self, steps: int) -> list[Floats]:
        """Position (N - 1, k) and orientation of all moving bodies at the last instant."""
        settings = exudyn.SimulationSettings()
        static = settings.staticSolver
        static.numberOfLoadSteps, static.adaptiveStep = steps, False
        static.newton.relativeTolerance, static.newton.absoluteTolerance = 1e-10, 1e-10
        static.newton.useModifiedNewton = True
        static.verboseMode = static.verboseModeFile = 0
        settings.solution.file.write = False
        settings.parallel.numberOfThreads = 1
        kind = exudyn.LinearSolverType
        settings.linearSolver.reuseAnalyzedPattern = True
        settings.linearSolver.solverType = kind.EigenSparse if self.sparse else kind.EXUdense
        self.system.SolveStatic(settings, updateInitialValues=False)
        return self.pose(np.array([self.system.GetNodeOutput(n, _COORDINATES) for n in self.nodes]))


_COORDINATES = exudyn.OutputVariableType.Coordinates


def planar(mechanism: mbssa.Mechanism, motion: groups.Motion) -> Static:
    """Bodies in the plane, revolute joints, one driven angle at constant speed."""
    system = exudyn.SystemContainer().AddSystem()
    frames = joint_frames(mechanism)
    ground = system.AddObject(items.ObjectGround())
    nodes, bodies = [], [ground]
    for _ in range(mechanism.n_bodies - 1):
        nodes.append(system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[0, 0, 0])))
        bodies.append(system.AddObject(items.ObjectRigidBody2D(mass=1, inertia=1, nodeNumber=nodes[-1])))
    kept: list[Any] = []
    for joint in mechanism.joints:
        sides = mechanism.joint_bodies(joint.index)
        at = frames.origin[joint.index]
        markers = [
            system.AddMarker(
                items.MarkerBodyPosition(bodyNumber=bodies[body], localPosition=at[side].tolist())
            )
            for side, body in enumerate(sides)
        ]
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))
        if joint.driven:
            still = system.AddNode(items.NodePointGround())
            markers = [
                system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=still, coordinate=0)),
                system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nodes[sides[1] - 1], coordinate=2)),
            ]
            drive = system.AddObject(
                items.ObjectConnectorCoordinate(markerNumbers=markers, offset=float(motion.rate[0, 0]))
            )
            kept.append(_symbolic(system, drive, lambda mbs, t, itemNumber, lOffset: lOffset * t))
    system.Assemble()
    return Static(system, nodes, lambda q: [q[:, :2], q[:, 2]], False, kept)


def platform(mechanism: mbssa.Mechanism, motion: groups.Motion) -> Static:
    """The Stewart platform of leg lengths, all 13 bodies, driven by the model's own harmonic motion."""
    system = exudyn.SystemContainer().AddSystem()
    frames = joint_frames(mechanism)
    assert mechanism.motion is not None
    ground = system.AddObject(items.ObjectGround())
    nodes, bodies = [], [ground]
    for body in range(1, mechanism.n_bodies):
        at = [*frames.position[body].tolist(), 1.0, 0.0, 0.0, 0.0]
        nodes.append(system.AddNode(items.NodeRigidBodyEP(referenceCoordinates=at)))
        bodies.append(
            system.AddObject(
                items.ObjectRigidBody(mass=1.0, inertia=[1.0, 1.0, 1.0, 0.0, 0.0, 0.0], nodeNumber=nodes[-1])
            )
        )
    kept: list[Any] = []
    for joint in mechanism.joints:
        sides = mechanism.joint_bodies(joint.index)
        code = joint.type.code
        if code == "F":
            continue
        at, turned = _sides(frames, joint.index, code)
        markers = [
            system.AddMarker(
                items.MarkerBodyRigid(
                    bodyNumber=bodies[body], localHT=exudyn.HT(rotation=turned[side], translation=at[side])
                )
            )
            for side, body in enumerate(sides)
        ]
        system.AddObject(items.ObjectJointGeneric(markerNumbers=markers, constrainedAxes=_LOCKED[code]))
        if code == "P":
            law = mechanism.motion.inputs[f"{joint.id}.slide"].parameters
            amplitude, phase = law["amplitude"], law.get("phase", 0.0)
            start = float(motion.value[motion.names.index(f"{joint.id}.slide"), 0])
            drive = system.AddObject(
                items.ObjectJointGeneric(
                    markerNumbers=markers,
                    constrainedAxes=[0, 0, 1, 0, 0, 0],
                    offsetUserFunctionParameters=[
                        *(start - amplitude * np.sin(phase), amplitude, 2 * np.pi * law["frequency"], phase),
                        *(0.0, 0.0),
                    ],
                )
            )
            kept.append(_symbolic(system, drive, _swing))
    system.Assemble()
    home = frames.position[1:]
    return Static(system, nodes, lambda q: [home + q[:, :3], q[:, 3:7] + np.eye(4)[0]], True, kept)


#: Which of three translations and three rotations a joint locks, about the first side's axes.
_LOCKED = {"P": [1, 1, 0, 1, 1, 1], "S": [1, 1, 1, 0, 0, 0], "U": [1, 1, 1, 1, 0, 0]}


def _sides(frames: Frames, joint: int, code: str) -> tuple[Floats, Floats]:
    """Points and axes of a joint on both bodies, as Exudyn's generic joint takes them."""
    at, turned = frames.origin[joint], frames.axes[joint]
    if code == "U":  # it keeps the first side's y across the second side's z
        turned = np.array([turned[0][:, [1, 2, 0]], turned[1]])
    return at, turned


def _swing(mbs: Any, t: Any, itemNumber: Any, offsetUserFunctionParameters: Any) -> list[Any]:
    p = offsetUserFunctionParameters
    return [0.0, 0.0, p[0] + p[1] * exudyn.symbolic.sin(p[2] * t + p[3]), 0.0, 0.0, 0.0]


def _symbolic(system: Any, item: Any, function: Callable[..., Any]) -> Any:
    """Hand a function over to C++; what is returned has to be kept alive."""
    made = CreateSymbolicUserFunction(system, function, "offsetUserFunction", item)
    system.SetObjectParameter(item, "offsetUserFunction", made)
    return made
