"""Wheel on a terrain y(x) that stands still with the frame: a natural cubic spline through its points.

They touch at the point of the terrain next to the wheel's centre.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.dynamics.forces.hertz import contact_wrenches, pressure_energy
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from mbssa.loads import Force
from mbssa.mechanism import Vector

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

Floats = npt.NDArray[np.float64]

#: Points between two of the terrain, among which the nearest is sought before Newton's steps.
_BETWEEN = 8

#: Newton's steps at most, and the change, over the terrain's length, at which they end.
_STEPS, _SETTLED = 30, 1e-15

#: Places at the wheel that are compared at a time: a bound for memory.
_AT_ONCE = 2_000_000


def wrenches(force: Force, state: State) -> list[Wrench]:
    """Equal and opposite forces on the wheel and on the frame, none while the wheel is off the terrain.

    Raises
    ------
    ValueError
        The wheel is beyond an end of the terrain.
    """
    return contact_wrenches(force, state, (0, force.bodies[0]), *_touch(force, state))


def energy(force: Force, state: State) -> Floats:
    """(T,) J of the compressed contact."""
    return pressure_energy(force, _touch(force, state)[2])


def _touch(force: Force, state: State) -> tuple[Floats, Floats, Floats]:
    """Points (T, 2) of the terrain next to the wheel, its normals there, and penetrations (T,), m."""
    assert force.terrain is not None
    assert force.radius is not None
    (body,) = force.bodies
    centre = state.position[body] + state.arm(body, np.array(force.point))
    foot, normal = nearest(force.terrain, centre[:, :2])
    beyond = np.flatnonzero(np.isnan(foot[:, 0]) & np.isfinite(centre[:, 0]))
    if len(beyond):
        x, time = centre[beyond[0], 0], state.trajectory.time[beyond[0]]
        ends = f"{force.terrain[0][0]:.6g} to {force.terrain[-1][0]:.6g} m"
        raise ValueError(
            f"force {force.id} terrain: at t = {time:.6g} s the wheel at x = {x:.6g} m is beyond its ends, "
            f"{ends}; add points"
        )
    return foot, normal, force.radius - ((centre[:, :2] - foot) * normal).sum(axis=1)


def nearest(terrain: tuple[Vector, ...], centre: Floats) -> tuple[Floats, Floats]:
    """Points (T, 2) of a terrain next to given points (T, 2), and its unit normals there, upwards.

    NaN where the given point is, or where the nearest is an end of the terrain with no normal through the
    point.

    >>> foot, normal = nearest(((0.0, 0.0), (1.0, 1.0)), np.array([[0.0, 1.0]]))
    >>> foot.round(9).tolist(), normal.round(6).tolist()
    ([[0.5, 0.5]], [[-0.707107, 0.707107]])
    """
    curve, grid, heights = _curve(terrain)
    x = np.full(len(centre), np.nan)
    placed = np.flatnonzero(np.isfinite(centre).all(axis=1))
    several = max(1, _AT_ONCE // len(grid))
    for first in range(0, len(placed), several):
        at = placed[first : first + several]
        away = (grid - centre[at, :1]) ** 2 + (heights - centre[at, 1:]) ** 2
        x[at] = grid[away.argmin(axis=1)]
    low, high = grid[0], grid[-1]
    step = grid[1:] - grid[:-1]
    widest = float(step.max())
    for _ in range(_STEPS):
        rise, slope, bend = curve(x) - centre[:, 1], curve(x, 1), curve(x, 2)
        gradient = x - centre[:, 0] + rise * slope
        # Without the term of curvature, which may be negative, the step leads downhill as well.
        second = 1.0 + slope**2 + rise * bend
        second = np.where(second > 0.1 * (1.0 + slope**2), second, 1.0 + slope**2)
        new = np.clip(x - np.clip(gradient / second, -widest, widest), low, high)
        change = np.nanmax(np.abs(new - x), initial=0.0)
        x = new
        if change <= _SETTLED * (high - low):
            break
    slope = curve(x, 1)
    lost = ((x == low) | (x == high)) & (
        np.abs(x - centre[:, 0] + (curve(x) - centre[:, 1]) * slope) > 1e-9 * (high - low)
    )
    x = np.where(lost, np.nan, x)
    normal = np.stack([-slope, np.ones_like(slope)], axis=1) / np.sqrt(1.0 + slope**2)[:, None]
    return np.stack([x, curve(x)], axis=1), np.where(lost[:, None], np.nan, normal)


@lru_cache(maxsize=64)
def _curve(terrain: tuple[Vector, ...]) -> tuple[CubicSpline, Floats, Floats]:
    """The spline, and x and y of points along it; kept, as a simulation needs it at every instant."""
    from scipy.interpolate import CubicSpline

    x, y = np.array(terrain).T
    curve = CubicSpline(x, y, bc_type="natural")
    share = np.arange(_BETWEEN) / _BETWEEN
    grid = np.append((x[:-1, None] + np.diff(x)[:, None] * share).ravel(), x[-1])
    return curve, grid, curve(grid)
