"""Forward dynamics: motion under masses and forces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from groups.dynamics.forward.course import Event, Request, Simulation
from groups.motion import Law

if TYPE_CHECKING:
    from groups.dynamics.forward.equations import Applied, Integrator
    from groups.model import Model
    from groups.trajectory import Progress, Trajectory
    from mbssa import Mechanism, Structure

__all__ = ["Event", "Simulation", "simulate"]

#: Formulations of the equations of motion.
Method = Literal["groups", "partitioning", "lagrange", "penalty", "dae"]
METHODS: tuple[Method, ...] = get_args(Method)


def simulate(
    of: Model | Structure | Mechanism,
    duration: float | None = None,
    *,
    method: Method = "groups",
    tolerance: float = 1e-8,
    steps: int = 201,
    time: npt.ArrayLike | None = None,
    start: Simulation | Trajectory | None = None,
    initial: Mapping[str, float] | None = None,
    rates: Mapping[str, float] | None = None,
    prescribed: Mapping[str, Law] | Sequence[str] = (),
    applied: Mapping[str, Applied] | None = None,
    events: Sequence[Event] = (),
    stop_at_limits: bool = False,
    integrator: Integrator | None = None,
    largest_step: float = np.inf,
    most_steps: int = 1_000_000,
    stiffness: float = 1e7,
    damping: float = 200.0,
    compiled: bool | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Simulate a mechanism: forward dynamics under its masses, gravity and force elements.

    The driving constraints are released: the driven coordinates are the independent ones, and move under the
    forces. Those that are ``prescribed`` keep a motion law. Of a mechanism without driven coordinates,
    independent ones are chosen by :func:`groups.partition`.

    Parameters
    ----------
    of : with geometry and masses; a model that is built serves many runs
    duration : s, from t = 0 or from ``start``; 1 by default
    method : ``groups``: coordinates of the groups' trees, the groups closed one after another, no drift;
        ``partitioning``: the same with one tree of the whole mechanism, all loops closed at once;
        ``lagrange``: all bodies' coordinates with multipliers, projected after each step; ``penalty``: joints
        as stiff springs and dampers, which need no independent constraints; ``dae``: the implicit residual
        form, by SUNDIALS IDA (extra ``dae``)
    tolerance : relative, of the integrator; the absolute one is a hundredth of it in m, rad, m/s, rad/s
    steps : instants of the answer, both ends included; ``time`` (T,) s, increasing, gives them instead
    start : a run, or a motion with velocities; its last instant gives the initial pose and rates
    initial, rates : values (m, rad) and rates at the first instant, of released coordinates, by name; the
        reference at rest by default
    prescribed : laws by the coordinate's name, or names of coordinates whose law is the model's own
    applied : forces, N, or torques, N m, by joint coordinate: a number or a function of time, s
    events : conditions to record, or to end the run
    stop_at_limits : end the run where a joint coordinate reaches a limit that the model gives it; otherwise
        the notes name the first instant beyond one
    integrator : of SciPy; ``DOP853`` by default, ``Radau`` for ``penalty``
    largest_step : s, shorter than the shortest contact: a longer step may skip it
    most_steps : of the integrator, after which a run has failed at the time that it has reached, or after
        1024 whose pace would make ten times as many (not where events may end it)
    stiffness, damping : of the joints of ``penalty``, N/m and N s/m; rotations at the mechanism's size
    compiled : machine code or Python; by default Python, until that has taken as long as making the code
    progress : called with the finished share of the run; False from it stops the run

    Returns
    -------
    Simulation. A run that stops before its end, by Ctrl-C, an event or a failure, keeps what it has.

    Raises
    ------
    ValueError
        Not determined, without geometry or mass; coordinates, methods, times that do not fit: all of a kind.

    Examples
    --------
    >>> import groups, mbssa
    >>> pendulum = mbssa.Builder("planar").body("arm", inertia={"mass": 1.0, "centre": (0.0, -1.0)})
    >>> pendulum = pendulum.gravity(0.0, -9.81).revolute("frame", "arm", point=(0, 0), driven=True).build()
    >>> simulation = groups.simulate(pendulum, duration=2.0, initial={"1-2.angle": 0.1})
    >>> bool(abs(simulation.balance).max() < 1e-7)
    True
    """
    given: dict[str, Any] = locals()
    given |= {name: given[name] or {} for name in ("initial", "rates", "applied")}
    given["events"] = tuple(events) if isinstance(events, Iterable) else (events,)
    given["start"] = start.trajectory if isinstance(start, Simulation) else start
    from groups.dynamics.forward.running import run

    return run(Request(**given))
