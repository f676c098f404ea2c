"""Gear pairs in the plane (EO, EPI): the angles of two wheels in a constant ratio."""

# ρ = r_2 / r_1, negative for an internal mesh, angles since the reference: (θ_1 - φ) + ρ (θ_2 - φ) = 0, φ the
# angle of the carrier, or without one that of the line from the centre of wheel 1 to that of wheel 2.
# (Uicker, Pennock and Shigley, Theory of Machines and Mechanisms, chapters 7 and 9.)

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbssa.joints.geometry import JointGeometry
from mbssa.joints.joint_type import JointType
from mbssa.joints.poses import Poses
from mbssa.joints.relations import JointRelations, PairFrames, Relation, Term, ends_of


def _relations(bodies: tuple[int, ...], g: JointGeometry, poses: Poses) -> tuple[JointRelations, PairFrames]:
    ends, ratio = ends_of(bodies, g, poses), g.ratio or 1.0
    pairs = [PairFrames.of(bodies[0]), PairFrames.of(bodies[1])]
    if len(bodies) > 2:
        pairs.append(PairFrames.of(bodies[2]))
        arm = Term("turned", 2)
    else:
        pairs.append(PairFrames(ends.bodies, ends.origin, np.tile(np.eye(3), (2, 1, 1))))
        arm = Term("line", 2)
    first, second = Term("turned", 0), Term("turned", 1, factor=ratio)
    # Wheels of equal size and sense, as on a belt, turn alike wherever the arm is.
    line = (replace(arm, factor=-(1.0 + ratio)),) if ratio != -1.0 else ()
    mesh, back = Relation("mesh", (first, second, *line)), replace(arm, factor=-1.0)
    wheels = {"angle_1": first, "angle_2": Term("turned", 1)}
    driven = {name: Relation(name, (wheel, back)) for name, wheel in wheels.items()}
    return JointRelations(bodies[:3], tuple(pairs), (mesh,), driven), ends


def _gear(code: str, name: str) -> JointType:
    return JointType(
        code=code, space="planar", name=name, coordinates=("angle_1", "angle_2"),
        required=("points", "ratio"), max_bodies=3,
        note="first and second wheel, then the carrier if given; ratio r2/r1, negative for an internal mesh",
        relations=_relations, is_gear=True, wheels="gear",
        signs="angle_1, angle_2: of the first and the second wheel, counter-clockwise, against the "
            "carrier, or without one against the line of their centres: angle_1 + ratio x angle_2 = "
            "0, so that the wheels turn in opposite senses where the ratio is positive and in one "
            "where it is negative (an internal mesh).",
        example=f"""
[[joint]]                                   # the wheels' hinges
bodies = [1, 2]
type = "R"
point = [0.0, 0.0]

[[joint]]
bodies = [1, 3]
type = "R"
point = [0.3, 0.0]

[[joint]]
bodies = [2, 3, 1]                          # first wheel, second wheel, carrier (may be left out)
type = "{code}"
points = [[0.0, 0.0], [0.3, 0.0]]           # the wheels' centres
ratio = 2.0
""",
    )  # fmt: skip


ORDINARY = _gear("EO", "Ordinary Gear")
EPICYCLIC = _gear("EPI", "Epicyclic Gear")
