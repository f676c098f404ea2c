"""Users' functions: traced, where that gives the same numbers, else called at every instant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mbssa.arrays import Floats
from mbssa.faults import Fault
from mbssa.graph.evaluation import evaluated
from mbssa.graph.frames import Frame
from mbssa.graph.nodes import Graph, Number, graph_of
from mbssa.joints.poses import Poses
from mbssa.joints.user import UserFunction
from mbssa.joints.user_sources import error_line

#: Step of the differences of first derivatives, rad and sizes of the mechanism.
STEP = 3e-4
#: Poses at which a traced function is compared, by how far they are from the reference, rad and sizes, and
#: the share of the largest value by which numbers may differ. Far ones meet what a function asks for there.
AROUND, AGREE = {0.2: 10, 1.0: 20, 6.0: 30}, 1e-9


class OpaqueError(ValueError):
    """An exception inside a user's function, which ends the run."""


def traced(function: UserFunction, frames: Sequence[Frame], reference: Poses | None, joint: str) -> Number:
    """A user's function of some frames: one node, or those of its operations if a reference is given."""
    x = numbers_of(function, frames)
    graph = graph_of(x)
    if graph is None:
        try:
            return Opaque(function, joint).of(0)(*x)
        except OpaqueError as error:
            raise ValueError(str(error)) from error
    operations = None if reference is None else _operations(function, reference)
    if operations is not None:
        return evaluated([operations], lambda _, k: x[k])[0]
    return graph.make("user", tuple(graph.node(v).i for v in x), (Opaque(function, joint), 0))


def _operations(function: UserFunction, reference: Poses) -> Number | None:
    """Expression of a function in inputs ("x", k); None where it has other values than the function."""
    call, graph = function.resolve(), Graph()
    poses = np.array([numbers_of(function, frames) for frames in _around(function, reference)])
    inputs = np.array([graph.input("x", k) for k in range(poses.shape[1])], dtype=object)
    try:
        with np.errstate(all="ignore"):
            result = graph.node(call(*_arguments(function, inputs)))
            found = np.broadcast_to(evaluated([result], lambda _, k: poses[:, k])[0], len(poses))
            wanted = np.array([call(*_arguments(function, x)) for x in poses], dtype=np.float64)
    except (Exception, SystemExit):  # whatever it is, the function can be called
        return None
    finite = np.isfinite(wanted)
    near = AGREE * np.maximum(np.abs(wanted[finite]), np.abs(wanted[:10][finite[:10]]).max(initial=0.0))
    same = finite[:10].any() and (np.isfinite(found) == finite).all()
    return result if same and (np.abs(found - wanted)[finite] <= near).all() else None


def _around(function: UserFunction, reference: Poses) -> Iterator[list[Frame]]:
    """Random poses near the reference, the same in each run."""
    random = np.random.default_rng(7)
    for far in (far for far, count in AROUND.items() for _ in range(count)):
        shift, turn = random.uniform(-far, far, (2, function.bodies, 3))
        places, axes = reference.position + function.size * shift, reference.rotation.swapaxes(1, 2)
        yield [
            frame.turn(2, c) if function.planar else frame.turn(2, c).turn(0, a).turn(1, b)
            for frame, (a, b, c) in zip(map(Frame, places, axes, reference.angle), turn, strict=True)
        ]


def numbers_of(function: UserFunction, frames: Sequence[Frame]) -> list[Number]:
    """Numbers of frames in a row: x, y, angle; in space places, and rotations by rows."""
    if function.planar:
        return [v for f in frames for v in (*f.place[:2], f.angle)]
    return [v for f in frames for v in (*f.place, *(f.axes[c][r] for r in range(3) for c in range(3)))]


def _arguments(function: UserFunction, x: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Poses and rotations of numbers in a row; in the plane there are no rotations."""
    if function.planar:
        return x.reshape(-1, 3), x
    x = x.reshape(-1, 12)
    return x[:, :3], x[:, 3:].reshape(-1, 3, 3)


class Opaque:
    """A function that is called; its derivatives are by its ``derivative`` or by complex step."""

    def __init__(self, function: UserFunction, joint: str) -> None:
        self.function, self.joint, self._call = function, joint, function.resolve()
        scale = [function.size] * 2 + [1.0] if function.planar else [function.size] * 3 + [1.0] * 9
        self._scale = np.tile(scale, function.bodies)

    def of(self, order: int) -> Callable[..., Number]:
        """Derivative along ``order`` directions: a function of numbers, then directions, floats or arrays."""
        evaluate: Callable[..., float] = (self._value, self._slope, self._curvature)[order]

        def on_numbers(*x: Number) -> Number:
            columns = np.array(np.broadcast_arrays(*x), dtype=np.float64)
            if columns.ndim == 1:
                return self._at(evaluate, columns.reshape(order + 1, -1))
            each = columns.reshape(order + 1, len(x) // (order + 1), -1)
            found = [self._at(evaluate, each[:, :, t]) for t in range(each.shape[2])]
            return np.array(found, dtype=np.float64).reshape(columns.shape[1:])

        return on_numbers

    def _at(self, evaluate: Callable[..., float], rows: Floats) -> float:
        if not np.isfinite(rows).all():
            return np.nan
        try:
            with np.errstate(all="ignore"):
                return float(evaluate(*rows))
        except (Exception, SystemExit) as error:
            fault = Fault(self.function.name, error_line(error))
            raise OpaqueError(str(fault.at(f"joint {self.joint}: {fault.place}"))) from error

    def _value(self, x: Floats) -> float:
        return float(np.real(self._call(*_arguments(self.function, x))))

    def _slope(self, x: Floats, v: Floats) -> float:
        return self._call.slope(*_arguments(self.function, x), *_arguments(self.function, v))

    def _curvature(self, x: Floats, v: Floats, w: Floats) -> float:
        """Central differences of the fourth order."""
        speed = float((np.abs(w) / self._scale).max())
        if not speed or not v.any():
            return 0.0
        h, found = STEP / speed, 0.0
        for ahead, factor in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)):
            found += factor * self._slope(x + ahead * h * w, v)
        return found / (12 * h)
