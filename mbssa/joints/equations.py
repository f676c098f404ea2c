"""Equations of the kinematic pairs: residuals, Jacobians, coordinates and free motions."""

# d (n, 3): B's origin in A's axes; C (n, 3, 3): columns are B's axes in A's; twist v of B's origin, w, in A's
# axes: δd = v, δC = [w]× C. Angles are about z from x of A to x of B unless a type's file says otherwise, and
# zero where the frames coincide; in the plane d_z = 0 and slides are along x of A.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mbssa.graph.derivative import Direction, Twist, derivative
from mbssa.graph.frames import (
    UNIT,
    ZERO,
    Frame,
    Motion,
    Vector,
    carried,
    cross,
    dot,
    minus,
    relative,
    transposed,
)
from mbssa.graph.nodes import Graph, Number, atan2, cos, is_zero, sin, sqrt
from mbssa.graph.source import functions as printed

Array = npt.NDArray[Any]

#: Parameters of one type's joints by name, (n,) each: length, pitch, radius, offset.
Parameters = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Step:
    """Elementary motion from A to B: a turn about or a shift along an axis of the moving frame."""

    kind: Literal["turn", "shift", "swap"]
    axis: int = 2
    coordinate: int | None = None  # index of the free coordinate; None: constant
    factor: float | str = 1.0  # of the coordinate; may name a parameter


#: Constraints with their names.
Named: TypeAlias = "tuple[tuple[str, Elementary], ...]"


@dataclass(frozen=True, slots=True)
class Equations:
    """Equations of a joint type on the relative pose of its two frames."""

    constraints: Named
    coordinates: tuple[Elementary, ...]
    steps: tuple[Step, ...]  # build the pose from the coordinates
    sense: tuple[tuple[int, int], ...] = ()  # entries of C that must be positive, or an axis is reversed

    @property
    def functions(self) -> tuple[Elementary, ...]:
        """Functions of the relative pose that the constraints hold at zero."""
        return tuple(function for _, function in self.constraints)


# --- elementary equations --------------------------------------------------------------------------

# Haug 1989, Computer-aided kinematics and dynamics of mechanical systems, chapters 3 and 9 (dot-1 and dot-2).
# The formulas take any numbers: floats, arrays or nodes of a graph, C as C[row][column].


@dataclass(frozen=True, slots=True)
class Elementary:
    """A scalar function of the relative pose, by its kind and its numbers."""

    kind: str
    numbers: tuple[int, ...] = ()
    sign: float = 1.0
    parameter: str | None = None

    @property
    def is_length(self) -> bool:
        """Whether its value is in m; else it is an angle or its cosine."""
        return self.kind in ("along", "distance", "screw", "offset")


#: Angle of a screw about z, whole turns by its advance.
SCREWED = Elementary("turn", (1, 0, 0, 0), parameter="pitch")


def sine_cosine(elementary: Elementary, d: Vector, C: Sequence[Vector]) -> tuple[Number, Number] | None:
    """Two numbers in the ratio of sine and cosine of an elementary angle; None for a length."""
    match elementary.kind:
        case "turn":
            i, j, k, m = elementary.numbers
            return elementary.sign * C[i][j], C[k][m]
        case "cardan":  # angle_y of C = Rx Ry Rz
            return C[0][2], sqrt(C[0][0] * C[0][0] + C[0][1] * C[0][1])
        case "azimuth":
            return d[1], d[0]
        case "elevation":
            return d[2], sqrt(d[0] * d[0] + d[1] * d[1])
    return None


def differs(sine: Number, cosine: Number, angle: Number) -> Number:
    """Zero where an angle by its sine and cosine is this one: no turns to be counted."""
    return sine * cos(angle) - cosine * sin(angle)


def value(elementary: Elementary, d: Vector, C: Sequence[Vector], given: Number = None) -> Number:
    """A length or a cosine, less what is given."""
    kind, numbers, given = elementary.kind, elementary.numbers, 0.0 if given is None else given
    match kind:
        case "along":
            return d[numbers[0]] - given
        case "cosine":
            return C[numbers[0]][numbers[1]]
        case "distance":
            return sqrt(dot(d, d)) - given
        case "offset":  # along the common normal z_A × z_B
            z = [C[r][2] for r in range(3)]
            return d[numbers[0]] - given * cross([0.0, 0.0, 1.0], z)[numbers[0]]
        case "screw":
            return differs(C[1][0], C[0][0], d[2] * (1.0 / given))
    raise ValueError(f"an elementary equation {kind!r} is neither a length nor a cosine")


def measured(elementary: Elementary, d: Vector, C: Sequence[Vector], given: Number = None) -> Number:
    """Value in m or rad, or a cosine; angles are principal, that of a screw is nearest to its advance."""
    angle = sine_cosine(elementary, d, C)
    if angle is not None:
        if elementary.parameter is None:
            return atan2(*angle)
        (sine, cosine), turned = angle, d[2] * (1.0 / given)
        return turned + atan2(differs(sine, cosine, turned), cosine * cos(turned) + sine * sin(turned))
    if elementary.kind == "screw":
        return d[2] - given * measured(SCREWED, d, C, given)
    return value(elementary, d, C, given)


# --- evaluation ------------------------------------------------------------------------------------


#: Position (n, 3), rotation (n, 3, 3), and of velocity and acceleration (n, 6) those that are known.
Body: TypeAlias = tuple[Array, Array, Array | None, Array | None]
_OF_BODIES = ("position", "rotation", "velocity", "acceleration")
#: Elementary functions that are printed together.
Functions: TypeAlias = tuple[Elementary, ...]
#: Numbers (m, n) of n joints from their inputs, which are arrays (n,), by name and key.
_Evaluate: TypeAlias = Callable[[int, Callable[[str, Any], Any]], Array]


def _printed(name: str, numbers: Sequence[Number]) -> _Evaluate:
    rows = [row for row, x in enumerate(numbers) if not is_zero(x)]
    (_, arrays), inputs = printed(name, [], [numbers[row] for row in rows])

    def evaluate(n: int, read: Callable[[str, Any], Any]) -> Array:
        found = np.zeros((len(numbers), n))
        for row, result in zip(rows, arrays([read(*key) for key in inputs], ()), strict=True):
            found[row] = result
        return found

    return evaluate


def _measured(graph: Graph, functions: Functions, d: Vector, C: Sequence[Vector]) -> list[Number]:
    """Elementary functions whose parameters are inputs."""
    given = [None if e.parameter is None else graph.input("parameter", e.parameter) for e in functions]
    return [measured(e, d, C, x) for e, x in zip(functions, given, strict=True)]


@cache
def _of_pose(functions: Functions, slopes: bool) -> _Evaluate:
    """Values, and with ``slopes`` their derivatives by the relative twist."""
    graph = Graph()
    d = [graph.input("d", i) for i in range(3)]
    C = [[graph.input("C", (i, j)) for j in range(3)] for i in range(3)]

    def along(by: Sequence[float]) -> Direction:
        columns = [cross(by[3:], column) for column in transposed(C)]
        rates: dict[str, Callable[[Any], Number]] = {"d": lambda k: by[k], "C": lambda k: columns[k[1]][k[0]]}
        return Direction(lambda name, k: rates[name](k) if name in rates else 0.0)

    values = _measured(graph, functions, d, C)
    rates = [derivative(values, along(unit)) for unit in np.eye(6).tolist()] if slopes else []
    return _printed("elementary", sum(rates, values))


def _evaluated(functions: Functions, slopes: bool, d: Array, C: Array, parameters: Parameters) -> Array:
    read: dict[str, Callable[[Any], Array]] = {
        "d": lambda k: d[:, k],
        "C": lambda k: C[:, k[0], k[1]],
        "parameter": parameters.__getitem__,
    }
    found = _of_pose(functions, slopes)(len(d), lambda name, k: read[name](k))
    return found.reshape(7 if slopes else 1, len(functions), len(d)).transpose(2, 1, 0)


def elementary_values(functions: Functions, d: Array, C: Array, parameters: Parameters) -> Array:
    """Values (n, e), m or rad, of elementary functions; angles are principal."""
    return _evaluated(functions, False, d, C, parameters)[:, :, 0]


def elementary_slopes(
    functions: Functions, d: Array, C: Array, parameters: Parameters
) -> tuple[Array, Array]:
    """Values (n, e) and derivatives (n, e, 6) by the relative twist."""
    found = _evaluated(functions, True, d, C, parameters)
    return found[:, :, 0], found[:, :, 1:]


@cache
def _of_bodies(functions: Functions, levels: int) -> _Evaluate:
    """Values and rates of functions of two bodies' frames by the motions of the bodies."""
    graph, frames, ends = Graph(), list[Frame](), list[Frame]()

    def vector(name: str, *key: int, first: int = 0) -> list[Number]:
        return [graph.input(name, (*key, k)) for k in range(first, first + 3)]

    def twist(body: int) -> Twist:
        spin = vector("velocity", body, first=3)
        return minus(vector("velocity", body), cross(spin, frames[body].place)), spin

    for body in (0, 1):
        motion, rows = Motion(None, body=body), [vector("rotation", body, k) for k in range(3)]
        place = carried(motion, vector("position", body), True)
        frames.append(Frame(place, [carried(motion, axis) for axis in transposed(rows)], motion=motion))
        axes = [vector("axes", body, k) for k in range(3)]
        ends.append(frames[body].end(vector("origin", body), axes))
    found = _measured(graph, functions, *relative(*ends))
    by = Direction(lambda name, k: graph.input("acceleration", k) if name == "velocity" else 0.0, twist)
    for _ in range(levels - 1):
        found += derivative(found[-len(functions) :], by)
    return _printed("moving", found)


def elementary_motion(
    functions: Functions, bodies: Sequence[Body], ends: tuple[Array, Array], parameters: Mapping[str, Any]
) -> list[Array]:
    """Values (n, e) of functions of two bodies' frames, and rates as far as the bodies have them."""
    # `ends` are the origins (2, 3) and axes (2, 3, 3) of the frames in the bodies' own. Angles are principal.
    levels = min(sum(each is not None for each in body) for body in bodies) - 1
    known: dict[str, Any] = {"origin": ends[0], "axes": ends[1], "parameter": parameters}
    for name, both in zip(_OF_BODIES, zip(*bodies, strict=True), strict=True):
        known[name] = [None if array is None else np.moveaxis(array, 0, -1) for array in both]

    def read(name: str, k: Any) -> Any:
        return known[name][k[0]][k[1:]] if name in _OF_BODIES else known[name][k]

    return [*np.split(_of_bodies(functions, levels)(len(bodies[0][0]), read).T, levels, axis=1)]


#: z of B to x of A, x of B to z of A: the cross of a universal joint at its zero, by rows.
SWAP = [[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]


def stepped(
    frame: Frame,
    steps: Sequence[Step],
    coordinate: Callable[[int], Number],
    parameter: Callable[[str], Number],
    sign: int = 1,
) -> Frame:
    """A frame after the elementary motions of a joint, taken backwards for a ``sign`` of -1."""
    # A coordinate is a number, or the cosine and sine of an angle; U's offset is along -(z_A × z_B).
    for step in steps[::sign]:
        if step.kind == "swap":
            frame = Frame(frame.place, frame.turned(SWAP), frame.angle, frame.motion)
            continue
        x: Number = step.factor
        if isinstance(step.factor, str):
            x = -parameter("offset") if step.factor == "normal" else parameter(step.factor)
        x = sign * x
        if step.coordinate is not None:
            q = coordinate(step.coordinate)
            x = (q[0], x * q[1]) if isinstance(q, tuple) else x * q
        frame = (frame.turn if step.kind == "turn" else frame.shift)(step.axis, x)
    return frame


@cache
def _at_coordinates(rows: Equations) -> _Evaluate:
    """Place, axes by rows, and for each coordinate velocity and angular velocity of B."""
    graph, k = Graph(), len(rows.coordinates)
    q = [graph.input("coordinate", i) for i in range(k)]
    frame = stepped(Frame(ZERO, UNIT), rows.steps, q.__getitem__, lambda name: graph.input("parameter", name))
    numbers = [*frame.place, *(x for row in transposed(frame.axes) for x in row)]

    def along(rates: Sequence[float]) -> Direction:
        return Direction(lambda name, i: rates[i] if name == "coordinate" else 0.0)

    for by in map(along, np.eye(k).tolist()):
        numbers += [*derivative(frame.place, by), *frame.motion.twist(by)[1]]
    return _printed("pose", numbers)


def pose(rows: Equations, q: Array, parameters: Parameters) -> tuple[Array, Array, Array]:
    """Relative pose d (n, 3), C (n, 3, 3) at coordinates q (n, k); twists (n, 6, k) of B at unit rates."""
    read: dict[str, Any] = {"coordinate": q.T, "parameter": parameters}
    found = _at_coordinates(rows)(len(q), lambda name, k: read[name][k]).T
    return found[:, :3], found[:, 3:12].reshape(-1, 3, 3), found[:, 12:].reshape(*q.shape, 6).swapaxes(1, 2)
