"""Stiffness and damping of a mechanism at rest: derivatives of its generalised forces."""

# Along a direction d of the independent coordinates all coordinates go by R d, and their derivatives R by S,
# which follows from the second derivatives of the closed rows. A function that no formula gives has no
# derivative: there differences stand for all of it.

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mbssa.graph.derivative import Direction, derivative
from mbssa.graph.evaluation import evaluated
from mbssa.graph.source import Printed, functions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from groups.dynamics.forward.trees import Trees
    from mbssa.arrays import Floats
    from mbssa.graph.nodes import Number

#: Inputs of the traced equations that depend on the state.
_MOVING = ("x", "v", "a", "R")
#: Calls from which on derivatives are printed.
_FEW = 10
#: Step of differences, over the size or in rad.
_STEP = 1e-5


class Slopes:
    """Derivatives of the generalised forces of all driven coordinates."""

    def __init__(self, equations: Trees) -> None:
        self.equations = equations
        traced = equations.traced
        make, nodes = traced.graph.input, traced.graph.nodes
        self.force = traced.force[: traced.free]
        moving = set[int]()
        for i, (op, operands, data) in enumerate(nodes):
            if data[0] in _MOVING if op == "in" else any(k in moving for k in operands):
                moving.add(i)
        needed = traced.graph.needed([*self.force, *traced.rows])
        self.by_differences = any(nodes[i][0] == "user" for i in moving.intersection(needed))
        if self.by_differences:
            return

        def along(given: str, to: str) -> Direction:
            return Direction(lambda name, k: make(to, k) if name == given else 0.0)

        def moved(name: str, k: Any) -> Number:
            return make("d", k) if name == "x" else make("S", k) if name == "R" else 0.0

        curvature = derivative(derivative(traced.rows, along("x", "e")), along("x", "d"))
        by_place, by_rate = derivative(self.force, Direction(moved)), derivative(self.force, along("v", "d"))
        #: Derivatives of the rows by place and twice along directions, of the forces by place and by rate.
        self._numbers = [*traced.jacobian.values(), *curvature], [*by_place, *by_rate]
        self._calls = 0

    @cached_property
    def _printed(self) -> list[Printed]:
        return [functions("slopes", [], numbers) for numbers in self._numbers]

    def _values(self, which: int, lanes: int, given: Mapping[str, Any]) -> Floats:
        """Numbers (…, lanes) by their inputs, node by node at first, since printing takes as long as many."""

        def of(name: str, k: Any) -> Any:
            return given[name][k] if name in given else 0.0

        if self._calls <= _FEW:
            found = evaluated(self._numbers[which], of)
        else:
            (_, function), inputs = self._printed[which]
            found = list(function([of(*each) for each in inputs], ()))
        return np.array([np.broadcast_to(each, lanes) for each in found]).reshape(-1, lanes)

    def __call__(self, value: Floats) -> tuple[Floats, Floats]:
        """Stiffness and damping matrices (D, D) at values of the driven coordinates, at rest."""
        if self.by_differences:
            return self._differences(value)
        self.equations.balance(value, np.zeros(len(value)))
        traced, (x, R) = self.equations.traced, self.equations.tangents
        n, F = R.shape
        one, other = np.divmod(np.arange(F * F), F)
        applied = self.equations.memory["applied"]
        given: dict[str, Any] = {"x": x, "R": R.ravel(), "applied": applied, "e": R[:, one], "d": R[:, other]}
        self._calls += 1
        found = self._values(0, F * F, given)
        J, S = np.zeros((traced.m, n)), np.zeros((n, F * F))
        for place, slope in zip(traced.jacobian, found[:, 0].tolist(), strict=False):
            J[place] = slope
        S[F:] = np.linalg.lstsq(J[:, F:], -found[len(traced.jacobian) :], rcond=None)[0]
        given |= {"d": R, "S": S.reshape(n * F, F)}
        K, C = np.split(-self._values(1, F, given), 2)
        return K, C

    def _differences(self, value: Floats) -> tuple[Floats, Floats]:
        still, unit = 0.0 * value, self.equations.traced.unit[: len(value)]

        def columns(force: Callable[[Floats], Floats]) -> Floats:
            each = [(force(-step) - force(step)) / (2 * step.max()) for step in _STEP * np.diag(unit)]
            return np.stack(each, axis=1)

        def force(value: Floats, rate: Floats) -> Floats:
            return self.equations.balance(value, rate)[1]

        K = columns(lambda step: force(value + step, still))
        C = columns(lambda step: force(value, step))
        self.equations.balance(value, still)
        return K, C
