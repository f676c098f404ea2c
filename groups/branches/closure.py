"""The closure equations of a planar group at solved poses, in absolute coordinates.

Points of the plane are complex numbers, lengths are over the mechanism's size. Of a joint between A and B

    p_B + r_B exp(i φ_B) - p_A - r_A exp(i φ_A) - s exp(i ψ) = 0

with p the centre of a body's joints and r the joint seen from there. R has no slide s; P and SLOT slide along
a line of A, ψ = φ_A + constant; a ROD (s is its length) and a driven DIST have a direction ψ of their own, an
unknown as the turns are. P and driven angles add that φ_B - φ_A is given. So second derivatives come from
turning segments and from slides along turning lines alone (García de Jalón & Bayo 1994, chapter 2, for the
coordinates).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mbssa.joints.catalogue import JointType, coordinate_unit

if TYPE_CHECKING:
    from groups.model import Model
    from groups.motion import Motion

Floats = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses and rates of all bodies and inputs at instants, lengths over the size, per s.

    Attributes
    ----------
    time : (T,) s
    centre, centre_rate : (T, N) complex, of the joints of each body
    turn, turn_rate : (T, N) rad
    value, rate : (T, D) of the inputs
    """

    time: Floats
    centre: Complex
    centre_rate: Complex
    turn: Floats
    turn_rate: Floats
    value: Floats
    rate: Floats

    @staticmethod
    def of(model: Model, motion: Motion, outputs: tuple[Floats, ...], first: int, stop: int) -> Poses:
        """Of the instants ``first`` … ``stop`` - 1 of arrays (N, T, ...) that hold all bodies."""
        size = model.frames.size
        position, turn, velocity = (array[:, first:stop].swapaxes(0, 1) for array in outputs[:3])
        centre = model.frames.centre
        arm = (centre[:, 0] + 1j * centre[:, 1]) * np.exp(1j * turn)
        place = position[..., 0] + 1j * position[..., 1] + arm
        rate = velocity[..., 0] + 1j * velocity[..., 1] + 1j * velocity[..., 2] * arm
        over = np.array([size if is_length(name) else 1.0 for name in motion.names])
        value, speed = (array[:, first:stop].T / over for array in (motion.value, motion.rate))
        return Poses(
            motion.time[first:stop], place / size, rate / size, turn, velocity[..., 2], value, speed
        )  # fmt: skip


def is_length(coordinate: str) -> bool:
    """Whether a driven coordinate is in m, else in rad."""
    return coordinate_unit(coordinate.rpartition(".")[2]) == "m"


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of a group: rows of its equations, and what they are made of.

    ``line`` : the member whose turn directs the slide, -1 where none slides, -2 for the frame;
    ``direction`` : of the line on the first body, rad, None for a line of its own; ``slide`` : its unknown,
    -1 where it is given, by the input ``driven`` or by ``length``; ``angle`` : the row of the turn, -1 for
    none, with its input or -1.
    """

    bodies: tuple[int, int]
    arms: tuple[complex, complex]
    line: int = -1
    direction: float | None = None
    slide: int = -1
    driven: int = -1
    length: float = 0.0
    angle: int = -1
    angle_input: int = -1
    between: float = 0.0


@dataclass(frozen=True, eq=False)
class Linearised:
    """The equations at instants.

    Attributes
    ----------
    residual, residual_rate : (T, n), turns not yet reduced by whole turns
    jacobian : (T, n, n) by centres (two columns each), turns and slides
    segments : (T, J, M) complex, of each turning member in each joint's equation
    turn, turn_rate : (T, M) rad of the members; rods have their angle only up to whole turns
    slide, slide_rate : (T, J), of joints without a line 0
    """

    residual: Floats
    residual_rate: Floats
    jacobian: Floats
    segments: Complex
    turn: Floats
    turn_rate: Floats
    slide: Floats
    slide_rate: Floats


class Closure:
    """The equations of one group of a planar model.

    Members are what turns: its own bodies, its rods, and other groups' bodies at its joints. ``known`` are
    the last ones; ``n`` counts equations and unknowns.
    """

    def __init__(self, model: Model, group: int) -> None:
        mechanism, frames = model.mechanism, model.frames
        found = model.structure.groups[group]
        joints = [j for j in found.joint_indices.tolist() if _binds(mechanism.joints[j])]
        own = found.body_indices.tolist()
        ends = {j: mechanism.joint_bodies(j)[:2] for j in joints}
        self.own = np.array(own)
        self.known = np.array(sorted({b for pair in ends.values() for b in pair} - {0, *own}), dtype=np.int64)
        rods = [j for j in joints if mechanism.joints[j].type.line]
        self.n_turns = len(own) + len(rods)
        self.member = {b: k for k, b in enumerate(own)}
        self.member |= {int(b): self.n_turns + k for k, b in enumerate(self.known)}
        self.n_members = self.n_turns + len(self.known)
        inputs = {name: row for row, name in enumerate(mechanism.driven_coordinates)}
        self.joints: list[Joint] = []
        self.n_slides, angles = 0, 2 * len(joints)
        for j in joints:
            joint, (a, b) = mechanism.joints[j], ends[j]
            kind, driven = joint.type, {name: inputs[f"{joint.id}.{name}"] for name in joint.driven}
            local = frames.origin[j] - frames.centre[[a, b]]
            arms = tuple((local[side, 0] + 1j * local[side, 1]) / frames.size for side in (0, 1))
            heading = np.arctan2(frames.axes[j, :, 1, 0], frames.axes[j, :, 0, 0])
            line, slide = -1, -1
            if kind.line:
                line = len(own) + rods.index(j)
            elif kind.slides:
                line = -2 if a == 0 else self.member[a]
                if "slide" not in driven:
                    slide, self.n_slides = self.n_slides, self.n_slides + 1
            angle = -1
            if kind.is_slider or "angle" in driven:
                angle, angles = angles, angles + 1
            self.joints.append(
                Joint(
                    (a, b), arms, line, float(heading[0]) if kind.slides else None, slide,
                    driven.get("slide", driven.get("distance", -1)),
                    float(frames.parameters["length"][j]) / frames.size, angle, driven.get("angle", -1),
                    float(heading[1] - heading[0]),
                )
            )  # fmt: skip
        self.n, self.rows = 2 * len(own) + self.n_turns + self.n_slides, angles

    @staticmethod
    def bounded(model: Model, group: int) -> Closure | None:
        """The equations of a group whose second derivatives have a bound; None if it has none.

        That are planar groups of R, P, SLOT, ROD and driven DIST alone, without constraints left out.
        """
        mechanism = model.mechanism
        if mechanism.space != "planar" or model.tearing is not None:
            return None
        for j in model.structure.groups[group].joint_indices.tolist():
            joint = mechanism.joints[j]
            if _binds(joint) and not _is_bounded(joint.type, joint.driven):
                return None
        closure = Closure(model, group)
        return closure if closure.rows == closure.n else None

    def linearised(self, at: Poses) -> Linearised:
        """Residuals, Jacobian and segments at instants."""
        T, m, J = len(at.time), len(self.own), len(self.joints)
        residual, residual_rate = np.zeros((T, self.n)), np.zeros((T, self.n))
        jacobian = np.zeros((T, self.n, self.n))
        segments = np.zeros((T, J, self.n_members), dtype=np.complex128)
        bodies = np.concatenate([self.own, self.known])
        turn, turn_rate = np.zeros((T, self.n_members)), np.zeros((T, self.n_members))
        of_body = [self.member[int(b)] for b in bodies]
        turn[:, of_body], turn_rate[:, of_body] = at.turn[:, bodies], at.turn_rate[:, bodies]
        slide, slide_rate = np.zeros((T, J)), np.zeros((T, J))
        for row, joint in enumerate(self.joints):
            gap, gap_rate = np.zeros(T, np.complex128), np.zeros(T, np.complex128)
            for sign, body, arm in zip((-1.0, 1.0), joint.bodies, joint.arms, strict=True):
                segment = sign * arm * np.exp(1j * at.turn[:, body])
                gap += sign * at.centre[:, body] + segment
                gap_rate += sign * at.centre_rate[:, body] + 1j * at.turn_rate[:, body] * segment
                if body:
                    segments[:, row, self.member[body]] += segment
                column = 2 * self.member[body] if body else self.n
                if column < 2 * m:
                    jacobian[:, 2 * row, column] = jacobian[:, 2 * row + 1, column + 1] = sign
            if joint.line != -1:
                along = self._along(joint, at, turn, turn_rate, gap, gap_rate)
                line, line_rate, slide[:, row], slide_rate[:, row] = along
                gap = gap - slide[:, row] * line
                gap_rate = gap_rate - slide_rate[:, row] * line - 1j * slide[:, row] * line_rate * line
                if joint.line >= 0:
                    segments[:, row, joint.line] -= slide[:, row] * line
                if joint.slide >= 0:
                    column = 2 * m + self.n_turns + joint.slide
                    jacobian[:, 2 * row, column], jacobian[:, 2 * row + 1, column] = -line.real, -line.imag
            residual[:, 2 * row], residual[:, 2 * row + 1] = gap.real, gap.imag
            residual_rate[:, 2 * row], residual_rate[:, 2 * row + 1] = gap_rate.real, gap_rate.imag
            if joint.angle >= 0:
                a, b = joint.bodies
                residual[:, joint.angle] = at.turn[:, b] - at.turn[:, a] + joint.between
                residual_rate[:, joint.angle] = at.turn_rate[:, b] - at.turn_rate[:, a]
                if joint.angle_input >= 0:
                    residual[:, joint.angle] -= at.value[:, joint.angle_input]
                    residual_rate[:, joint.angle] -= at.rate[:, joint.angle_input]
                for sign, body in ((-1.0, a), (1.0, b)):
                    if body and self.member[body] < m:
                        jacobian[:, joint.angle, 2 * m + self.member[body]] = sign
        turning = 1j * segments[:, :, : self.n_turns]
        jacobian[:, 0 : 2 * J : 2, 2 * m : 2 * m + self.n_turns] = turning.real
        jacobian[:, 1 : 2 * J : 2, 2 * m : 2 * m + self.n_turns] = turning.imag
        return Linearised(residual, residual_rate, jacobian, segments, turn, turn_rate, slide, slide_rate)

    def _along(
        self, joint: Joint, at: Poses, turn: Floats, turn_rate: Floats, gap: Complex, gap_rate: Complex
    ) -> tuple[Complex, Floats, Floats, Floats]:
        """Direction (T,) of a joint's line and its turning, the slide and its rate; rods' turns are set."""
        if joint.direction is None:
            turn[:, joint.line] = np.angle(gap)
            with np.errstate(divide="ignore", invalid="ignore"):
                turn_rate[:, joint.line] = (gap_rate / gap).imag
            heading, spin = turn[:, joint.line], turn_rate[:, joint.line]
            s, speed = np.full(len(gap), joint.length), np.zeros(len(gap))
        else:
            a = joint.bodies[0]
            heading, spin = at.turn[:, a] + joint.direction, at.turn_rate[:, a]
            back = np.exp(-1j * heading)
            s, speed = (gap * back).real, (gap_rate * back - 1j * spin * gap * back).real
        if joint.driven >= 0:
            s, speed = at.value[:, joint.driven], at.rate[:, joint.driven]
        return np.exp(1j * heading), spin, s, speed


def _is_bounded(kind: JointType, driven: tuple[str, ...]) -> bool:
    """Whether a planar joint is a hinge, a slide or a line between points, driven in what is understood."""
    understood = {"distance"} & {*kind.coordinates} if kind.line else {"angle", "slide"}
    return (bool(kind.line) or kind.slides or kind.is_ball) and set(driven) <= understood


def _binds(joint: object) -> bool:
    """Whether a joint has equations: free pairs that are not driven have none."""
    return joint.type.grade < 3 or bool(joint.driven)  # type: ignore[attr-defined]
