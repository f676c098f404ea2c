"""Users' functions that cannot be traced: called at every instant, with derivatives by complex step."""

from __future__ import annotations

import numpy as np

from mbssa.faults import Fault
from mbssa.graph.nodes import is_node
from mbssa.joints.user_sources import error_line, name_of

#: Steps of the derivatives, in the coordinates' own units.
COMPLEX_STEP, STEP = 1e-30, 1e-5


class Opaque:
    """A function of numbers in a row; ``of(orders)`` is its derivative by the coordinates of these places."""

    def __init__(self, function, planar, joint):
        self.function, self.planar, self.joint = function, planar, joint
        self.call = function.resolve().function

    def of(self, orders):
        """The function of coordinates that are floats or arrays."""
        evaluate = (self._value, self._slope, self._curvature)[len(orders)]

        def on_numbers(*x):
            if not any(isinstance(v, np.ndarray) for v in x):
                return float(evaluate(np.array(x, dtype=float), *orders))
            columns = np.array(np.broadcast_arrays(*x))
            return np.array([evaluate(column, *orders) for column in columns.T])

        return on_numbers

    def _value(self, x):
        if not np.isfinite(x).all():
            return np.nan
        try:
            if self.planar:
                return self.call(x.reshape(-1, 3))
            p, R = x.reshape(-1, 12)[:, :3], x.reshape(-1, 12)[:, 3:].reshape(-1, 3, 3)
            return self.call(p.copy(), R.copy())
        except Exception as error:
            fault = Fault(name_of(self.function.source), error_line(error))
            raise OpaqueError(str(fault.at(f"joint {self.joint}: {fault.place}"))) from error

    def _slope(self, x, k):
        shifted = x.astype(complex)
        shifted[k] += 1j * COMPLEX_STEP
        return np.imag(self._value(shifted)) / COMPLEX_STEP

    def _curvature(self, x, k, n):
        ahead, behind = x.copy(), x.copy()
        ahead[n] += STEP
        behind[n] -= STEP
        return (self._slope(ahead, k) - self._slope(behind, k)) / (2.0 * STEP)


class OpaqueError(Exception):
    """An exception inside a user's function, which ends the run."""


def traced(function, planar, frames, joint):
    """The function's number on frames: traced where that can be, else as a node of its own."""
    call = function.resolve().function
    try:
        if planar:
            return call(np.array([[*f.place[:2], f.angle] for f in frames]))
        axes = np.array([f.axes for f in frames]).swapaxes(1, 2)
        return call(np.array([f.place for f in frames]), axes)
    except (TypeError, AttributeError):
        if planar:
            x = [v for f in frames for v in (*f.place[:2], f.angle)]
        else:
            x = [v for f in frames for v in (*f.place, *(f.axes[c][r] for r in range(3) for c in range(3)))]
        graph = next((v.graph for v in x if is_node(v)), None)
        if graph is None:
            raise
        operands = tuple(graph.node(v).i for v in x)
        return graph.make("user", operands, (Opaque(function, planar, joint), ()))
