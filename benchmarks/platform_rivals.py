"""The Stewart platform as others would solve it.

NumPy, MuJoCo and Pinocchio for given poses of the platform, CasADi for given lengths of its legs. They
answer with position (14, T, 3) and quaternion (14, T, 4) of all bodies, the frame among them. Geometry comes
from the model's reference (:func:`platform_legs`), so that all solve the same mechanism to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import mbssa
from mbssa.joints.frames import joint_frames

Floats = npt.NDArray[np.float64]
Poses = tuple[Floats, Floats]


@dataclass(frozen=True)
class Legs:
    """Six legs U-P-S between a body with the gimbals and one with the balls; reference in the world.

    Attributes
    ----------
    fixed, moving : (6, 3) joint centres at the frame and on the platform (from the platform's origin)
    pin : (6, 3) first axis of the gimbal, on the body that carries it; cross : (6, 3) the second, on the
        leg, in the sense that makes ``rise`` positive; third : (6, 3) pin x cross
    length, lean, rise : (6,) of the reference: distance of the centres, and the direction's share along
        pin and third
    origin : (3,) of the platform's own frame
    """

    fixed: Floats
    moving: Floats
    pin: Floats
    cross: Floats
    third: Floats
    length: Floats
    lean: Floats
    rise: Floats
    origin: Floats


def platform_legs(mechanism: mbssa.Mechanism) -> Legs:
    """Legs of ``stewart`` (gimbals at the frame) or ``stewart_inverse`` (gimbals on the platform)."""
    frames = joint_frames(mechanism)
    origin = frames.position[13]
    fixed, moving, pin, cross = (np.zeros((6, 3)) for _ in range(4))
    for joint in mechanism.joints:
        j, bodies = joint.index, mechanism.joint_bodies(joint.index)
        leg = (min(b for b in bodies if b) - 1) // 2
        if joint.type.code in ("U", "S"):
            if 0 in bodies:
                fixed[leg] = frames.origin[j, bodies.index(0)]
            else:
                moving[leg] = frames.origin[j, bodies.index(13)]
        if joint.type.code == "U":
            on_leg = 0 if 0 < bodies[0] < 13 else 1
            cross[leg], pin[leg] = frames.axes[j, on_leg, :, 2], frames.axes[j, 1 - on_leg, :, 2]
    difference = origin + moving - fixed
    length = np.linalg.norm(difference, axis=1)
    direction = difference / length[:, None]
    third = np.cross(pin, cross)
    sense = np.sign((direction * third).sum(axis=1))[:, None]
    cross, third = sense * cross, sense * third
    lean, rise = (direction * pin).sum(axis=1), (direction * third).sum(axis=1)
    return Legs(fixed, moving, pin, cross, third, length, lean, rise, origin)


def product(a: Floats, b: Floats) -> Floats:
    """Quaternions (4, ...) one after the other."""
    w, x, y, z = a
    return np.stack(
        [
            w * b[0] - x * b[1] - y * b[2] - z * b[3],
            w * b[1] + x * b[0] + y * b[3] - z * b[2],
            w * b[2] - x * b[3] + y * b[0] + z * b[1],
            w * b[3] + x * b[2] - y * b[1] + z * b[0],
        ]
    )


def turned(q: Floats, v: Floats) -> Floats:
    """Vectors (3, ...) turned by unit quaternions (4, ...)."""
    w, x, y, z = q
    tx, ty, tz = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
    return np.stack(
        [v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx]
    )


#: Instants of one block of whole-array work, whose temporary arrays stay in a near cache.
BLOCK = 500


def numpy_inverse(pose: Floats, legs: Legs) -> Poses:
    """Whole arrays of all legs and a block of instants, components first: (component, leg, instant)."""
    instants = pose.shape[1]
    position, orientation = np.empty((14, instants, 3)), np.empty((14, instants, 4))
    position[0], orientation[0] = 0.0, (1.0, 0.0, 0.0, 0.0)
    for begin in range(0, instants, BLOCK):
        block = slice(begin, begin + BLOCK)
        _numpy_block(pose[:, block], legs, position[:, block], orientation[:, block])
    return position, orientation


def _numpy_block(pose: Floats, legs: Legs, position: Floats, orientation: Floats) -> None:
    fixed, moving, pin, cross, third = (
        v.T[:, :, None] for v in (legs.fixed, legs.moving, legs.pin, legs.cross, legs.third)
    )
    lean, rise = legs.lean[:, None], legs.rise[:, None]
    (ca, cb, cc), (sa, sb, sc) = np.cos(0.5 * pose[3:]), np.sin(0.5 * pose[3:])
    q = np.stack(
        [
            ca * cb * cc - sa * sb * sc,
            sa * cb * cc + ca * sb * sc,
            ca * sb * cc - sa * cb * sc,
            ca * cb * sc + sa * sb * cc,
        ]
    )
    back = q[:, None] * np.array([1.0, -1.0, -1.0, -1.0])[:, None, None]
    d = pose[:3, None] + turned(q[:, None], moving) - fixed
    distance = np.sqrt((d * d).sum(axis=0))
    d /= distance
    seen = turned(back, d)
    along, aside, up = (seen * pin).sum(axis=0), (seen * cross).sum(axis=0), (seen * third).sum(axis=0)
    flat = np.sqrt(1 - along * along)
    c = np.sqrt(0.5 + 0.5 * up / flat)
    s = -0.5 * aside / (flat * c)
    k = np.sqrt(0.5 + 0.5 * (flat * rise + along * lean))
    h = 0.5 * (along * rise - flat * lean) / k
    swung = np.concatenate([(c * k)[None], s * k * pin + c * h * cross + s * h * third])
    of_leg = product(q[:, None], swung)
    cylinder = fixed - turned(of_leg, fixed)
    position[1:13:2] = cylinder.transpose(1, 2, 0)
    position[2:13:2] = (cylinder + (distance - legs.length[:, None]) * d).transpose(1, 2, 0)
    orientation[1:13:2] = orientation[2:13:2] = of_leg.transpose(1, 2, 0)
    position[13], orientation[13] = pose[:3].T, q.T


def tree_values(poses: Poses, legs: Legs) -> Floats:
    """(T, 37): platform's place and quaternion, then each leg's quaternion and excess of length.

    Derived beforehand, from solved poses: a tree's kinematics takes joint values and solves nothing.
    """
    position, orientation = poses
    columns = [position[13], orientation[13]]
    for i in range(6):
        apart = position[2 + 2 * i] - position[1 + 2 * i]
        along = turned(orientation[1 + 2 * i].T, _direction(legs, i)[:, None]).T
        columns += [orientation[1 + 2 * i], (apart * along).sum(axis=1, keepdims=True)]
    return np.concatenate(columns, axis=1)


def _direction(legs: Legs, i: int) -> Floats:
    return (legs.origin + legs.moving[i] - legs.fixed[i]) / legs.length[i]


def mujoco_tree(values: Floats, legs: Legs) -> Callable[[], Poses]:
    """MuJoCo's kinematics of seven open chains, instant by instant."""
    import mujoco

    def numbers(v: Floats) -> str:
        return " ".join(repr(float(x)) for x in v)

    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    chains = [
        f'<body><joint type="ball" pos="{numbers(legs.fixed[i])}"/>{inertial}'
        f'<body><joint type="slide" axis="{numbers(_direction(legs, i))}"/>{inertial}</body></body>'
        for i in range(6)
    ]
    platform = f'<body pos="{numbers(legs.origin)}"><freejoint/>{inertial}</body>'
    xml = f"<mujoco><worldbody>{platform}{''.join(chains)}</worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    order = [0, *range(2, 14), 1]  # theirs: world, platform, legs

    def solve() -> Poses:
        position, orientation = np.empty((14, len(values), 3)), np.empty((14, len(values), 4))
        by_time = position.swapaxes(0, 1), orientation.swapaxes(0, 1)
        qpos, xpos, xquat = data.qpos, data.xpos, data.xquat
        for t in range(len(values)):
            qpos[:] = values[t]
            mujoco.mj_kinematics(model, data)
            by_time[0][t], by_time[1][t] = xpos, xquat
        return position[order], orientation[order]

    return solve


def pinocchio_tree(values: Floats, legs: Legs) -> Callable[[], Any]:
    """Pinocchio's kinematics of the same chains; poses stay in its own data and are not written out.

    Calling it returns the poses of the last instant: positions (13, 3) and quaternions (13, 4).
    """
    import pinocchio as pin

    model = pin.Model()
    one = np.eye(3)
    free = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
    frames = []
    for i in range(6):
        base, back = pin.SE3(one, legs.fixed[i]), pin.SE3(one, -legs.fixed[i])
        ball = model.addJoint(0, pin.JointModelSpherical(), base, f"ball{i}")
        slide = model.addJoint(
            ball, pin.JointModelPrismaticUnaligned(_direction(legs, i)), pin.SE3.Identity(), f"slide{i}"
        )
        for name, joint in (("cylinder", ball), ("piston", slide)):
            frames.append(model.addFrame(pin.Frame(f"{name}{i}", joint, 0, back, pin.FrameType.BODY)))
    frames.append(model.addFrame(pin.Frame("platform", free, 0, pin.SE3.Identity(), pin.FrameType.BODY)))
    data = model.createData()
    places = [0, 1, 2, 4, 5, 6, 3]  # its quaternions are x, y, z, w
    legs_at = [place for i in range(6) for place in (7 + 5 * i + np.array([1, 2, 3, 0, 4])).tolist()]
    configurations = np.ascontiguousarray(values[:, places + legs_at])

    def solve() -> Any:
        for q in configurations:
            pin.framesForwardKinematics(model, data, q)
        last = [data.oMf[f] for f in frames]
        turns = [pin.Quaternion(m.rotation).coeffs()[[3, 0, 1, 2]] for m in last]
        return np.array([m.translation for m in last]), np.array(turns)

    return solve


def casadi_forward(legs: Legs, instants: int, follow: bool, in_c: bool = False) -> Callable[[Floats], Poses]:
    """CasADi's Newton on the platform's pose and the legs' poses, over all instants in one call.

    ``follow``: each instant starts from the one before (``mapaccum``); else all start from the
    reference and are mapped serially. ``in_c``: as C code that gcc compiles, not in CasADi's own machine.
    """
    import casadi

    pose, lengths = casadi.SX.sym("pose", 6), casadi.SX.sym("lengths", 6)
    half = [(casadi.cos(0.5 * pose[i]), casadi.sin(0.5 * pose[i])) for i in (3, 4, 5)]
    q = [half[0][0], half[0][1], 0, 0]
    for (c, s), axis in ((half[1], 2), (half[2], 3)):
        q = _product(q, [c, *(s if axis == i else 0 for i in (1, 2, 3))])
    place = [pose[i] + legs.origin[i] for i in range(3)]
    gaps, columns = [], []
    for i in range(6):
        arm = _turned(q, legs.moving[i])
        d = [place[j] + arm[j] - legs.fixed[i, j] for j in range(3)]
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        gaps.append(square - lengths[i] ** 2)
        d = [component / casadi.sqrt(square) for component in d]
        along, aside, up = (
            d[0] * v[i, 0] + d[1] * v[i, 1] + d[2] * v[i, 2] for v in (legs.pin, legs.cross, legs.third)
        )
        flat = casadi.sqrt(1 - along * along)
        c = casadi.sqrt(0.5 + 0.5 * up / flat)
        s = -0.5 * aside / (flat * c)
        k = casadi.sqrt(0.5 + 0.5 * (flat * legs.rise[i] + along * legs.lean[i]))
        h = 0.5 * (along * legs.rise[i] - flat * legs.lean[i]) / k
        of_leg = [c * k]
        for j in range(3):
            of_leg.append(s * k * legs.pin[i, j] + c * h * legs.cross[i, j] + s * h * legs.third[i, j])
        cylinder = [legs.fixed[i, j] - turn for j, turn in enumerate(_turned(of_leg, legs.fixed[i]))]
        piston = [cylinder[j] + (lengths[i] - legs.length[i]) * d[j] for j in range(3)]
        columns += [*cylinder, *of_leg, *piston, *of_leg]
    columns += [*place, *q]
    answers = casadi.Function("answers", [pose, lengths], [casadi.vertcat(*columns)])
    problem = {"x": pose, "p": lengths, "g": casadi.vertcat(*gaps)}
    newton = casadi.rootfinder("newton", "fast_newton", problem, {"abstol": 1e-12, "max_iter": 20})
    first, given = casadi.MX.sym("first", 6), casadi.MX.sym("given", 6)
    root = newton(first, given)
    options = {"jit": True, "compiler": "shell", "jit_options": {"flags": ["-O3"]}} if in_c else {}
    one = casadi.Function("one", [first, given], [root, answers(root, given)], options)
    if follow:
        mapped, start = one.mapaccum("all", instants, {"base": 10}), np.zeros(6)
    else:
        mapped, start = one.map(instants, "serial"), np.zeros((6, instants))

    def solve(values: Floats) -> Poses:
        columns = mapped(start, values)[1].full()
        by_body = columns.reshape(13, 7, instants).transpose(0, 2, 1)
        position, orientation = np.zeros((14, instants, 3)), np.zeros((14, instants, 4))
        position[1:], orientation[1:], orientation[0, :, 0] = by_body[:, :, :3], by_body[:, :, 3:], 1.0
        return position, orientation

    return solve


def _product(a: list[Any], b: list[Any]) -> list[Any]:
    w, x, y, z = a
    return [
        w * b[0] - x * b[1] - y * b[2] - z * b[3],
        w * b[1] + x * b[0] + y * b[3] - z * b[2],
        w * b[2] - x * b[3] + y * b[0] + z * b[1],
        w * b[3] + x * b[2] - y * b[1] + z * b[0],
    ]


def _turned(q: list[Any], v: Any) -> list[Any]:
    w, x, y, z = q
    tx, ty, tz = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
    return [v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx]
