"""Checks, initial state, integration and measures of a simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

import numpy as np
import numpy.typing as npt

from groups.building import build
from groups.dynamics.forces import energy_of
from groups.dynamics.forward import METHODS
from groups.dynamics.forward.choice import structure_of
from groups.dynamics.forward.equations import CannotGoOnError, Equations
from groups.dynamics.forward.errors import constraint_errors
from groups.dynamics.forward.events import Event, limit_events
from groups.dynamics.forward.integration import EXPLICIT, ONE_STEP, Integrator, Pace, Record, integrate
from groups.dynamics.forward.lagrange import Lagrange
from groups.dynamics.forward.loads import Applied, Loads, applied_faults
from groups.dynamics.forward.penalty import Penalty
from groups.dynamics.forward.result import Simulation
from groups.dynamics.forward.trees import Trees, calling_back
from groups.dynamics.masses import gravity_energy, masses, massless
from groups.dynamics.state import State
from groups.model import Model
from groups.motion import Law
from groups.motion.inputs import name_faults
from groups.motion.sampled import time_faults
from groups.motion.sampling import check_span, stored_laws
from groups.posed import configuration_at
from groups.results.limits import excesses
from groups.trajectory import Trajectory
from mbssa import Mechanism, Structure
from mbssa.arrays import Floats
from mbssa.bounds import range_fault
from mbssa.faults import BETWEEN
from mbssa.io.motion import by_id

if TYPE_CHECKING:
    from groups.dynamics.forward import Method


#: Smallest tolerance above rounding.
FINEST = 1e-13

#: Shares of the exchanged energy by which the balance may be off, and that a tolerance may explain; the
#: tolerance from which on a coarser one explains no more.
_OFF_BALANCE, _EXPLAINED, _FINE = 0.01, 0.1, 1e-8


@dataclass(frozen=True, eq=False)
class Request:
    """Arguments of :func:`groups.simulate`."""

    of: Model | Structure | Mechanism
    duration: float
    method: Method
    tolerance: float
    steps: int
    time: npt.ArrayLike | None
    start: Simulation | Trajectory | None
    initial: Mapping[str, float]
    rates: Mapping[str, float]
    prescribed: Mapping[str, Law] | Sequence[str]
    applied: Mapping[str, Applied]
    events: tuple[Event, ...]
    stop_at_limits: bool
    integrator: Integrator | None
    largest_step: float
    most_steps: int
    stiffness: float
    damping: float
    compiled: bool | None
    progress: Callable[[float], object] | None


def run(request: Request) -> Simulation:
    """Carry out a request; see :func:`groups.simulate`."""
    of = request.of
    if not isinstance(of, Model | Structure | Mechanism):
        raise TypeError(f"simulate takes a model, a structure or a mechanism, not a {type(of).__name__}")
    if request.stop_at_limits:
        limited = of if isinstance(of, Mechanism) else of.mechanism
        request = replace(request, events=(*request.events, *limit_events(limited)))
    model = of if isinstance(of, Model) else build(of if isinstance(of, Structure) else structure_of(of))
    initial, rates = (by_id(model.mechanism, given) for given in (request.initial, request.rates))
    request = replace(request, initial=initial, rates=rates)
    laws, time = _checked(request, model)
    mechanism = model.mechanism
    try:
        with calling_back():
            record, integrator = _integrated(request, model, laws, time)
    except CannotGoOnError as error:
        raise ValueError(f"{mechanism.name}: {error}") from None
    if not record.time:
        raise ValueError(f"{mechanism.name}: {record.status.removeprefix('failed: ')}")
    return _measured(request, model, laws, record, integrator)


def _integrated(request: Request, model: Model, laws: Mapping[str, Law], time: Floats) -> tuple[Record, str]:
    """The samples, and the integrator's name."""
    integrator: str = request.integrator or ("Radau" if request.method == "penalty" else "DOP853")
    applied = by_id(model.mechanism, request.applied)
    explicit = integrator if integrator in EXPLICIT else "DOP853"
    trees = Trees(
        model, applied, laws, explicit, request.tolerance, request.compiled, request.method == "partitioning"
    )
    _begin(trees, request, laws, float(time[0]))
    pace = Pace(time, request.most_steps, request.events, request.progress)
    if request.method in ("groups", "partitioning") and integrator in EXPLICIT:
        return trees.run(time, request.largest_step, request.events, pace), integrator
    equations: Equations = trees
    if request.method in ("lagrange", "dae", "penalty"):
        loads = Loads(model.mechanism, model.frames, applied)
        begin = trees.instant(float(time[0]), trees.start)
        at = configuration_at(model, begin.position, begin.orientation)
        given = model.structure, model.frames, at, loads, laws, begin, float(time[0])
        if request.method == "penalty":
            equations = Penalty(*given, request.stiffness, request.damping)
        else:
            equations = Lagrange(*given)
        if request.method == "dae":
            from groups.dynamics.forward.dae import integrate_dae

            assert isinstance(equations, Lagrange)
            record = integrate_dae(
                equations, time, request.tolerance, request.largest_step, request.most_steps, request.events,
                request.progress,
            )  # fmt: skip
            return record, "IDA"
    record = integrate(
        equations, time, integrator, request.tolerance, request.largest_step, request.events, pace
    )
    return record, integrator


def _begin(trees: Trees, request: Request, laws: Mapping[str, Law], t: float) -> None:
    """Take the initial state."""
    model = trees.model
    if request.start is not None:
        trees.begin_at(replace(_before(request.start).instants(slice(-1, None)), mechanism=model.mechanism))
        return
    reference = model.reference_inputs
    value, rate = np.array(list(reference.values())), np.zeros(len(reference))
    for k, name in enumerate(reference):
        if name in laws:
            first, second, _ = laws[name](np.array([t]))
            value[k], rate[k] = first[0], second[0]
        else:
            value[k] = request.initial.get(name, value[k])
            rate[k] = request.rates.get(name, 0.0)
    trees.begin(t, value, rate)


def _checked(request: Request, model: Model) -> tuple[dict[str, Law], Floats]:
    """Laws of prescribed coordinates, and the instants; all faults at once."""
    faults = _setting_faults(request) + _start_faults(request, model.mechanism)
    laws = _laws(request, model, faults)
    released = tuple(name for name in model.mechanism.driven_coordinates if name not in laws)
    for what, values in (("initial", request.initial), ("rates", request.rates)):
        faults += [
            f"{what}: {name} is prescribed, and its law gives it; leave it out"
            for name in values
            if name in laws
        ]
        faults += [f"{what}: {fault}" for fault in _unknown(released, [n for n in values if n not in laws])]
        faults += [
            f"{what} of {name} {fault}" for name, value in values.items() if (fault := range_fault(value))
        ]
    faults += applied_faults(request.applied, model.mechanism)
    time = _instants(request, 0.0 if faults else _first(request), faults)
    if len(massless(model.mechanism)) == model.mechanism.n_bodies - 1:
        faults.append("no body has mass; give bodies an inertia = { mass = …, centre = …, … }")
    if faults:
        raise ValueError(BETWEEN.join(faults))
    return laws, time


def _setting_faults(request: Request) -> list[str]:
    faults = []
    if request.method not in METHODS:
        faults.append(f"method {request.method!r}: write {', '.join(METHODS)}")
    if request.integrator is not None and request.integrator not in get_args(Integrator):
        faults.append(f"integrator {request.integrator!r}: write {', '.join(get_args(Integrator))}")
    if request.method == "lagrange" and request.integrator not in (None, *ONE_STEP):
        faults.append(
            f"integrator {request.integrator!r}: has a history that projection would break; for lagrange "
            f"write {', '.join(ONE_STEP)}"
        )
    if request.method == "dae" and request.integrator:
        faults.append("method 'dae': its integrator is IDA; leave integrator out, or take another method")
    for what, value in (
        ("largest_step", request.largest_step), ("stiffness", request.stiffness),
    ):  # fmt: skip
        if not value > 0.0:
            faults.append(f"{what} is {value}; write a positive number")
    if request.most_steps < 1:
        faults.append(f"most_steps is {request.most_steps}; write 1 or more")
    if not FINEST <= request.tolerance < 1.0:
        faults.append(f"tolerance is {request.tolerance}; write {FINEST:g} to below 1")
    if not request.damping >= 0.0:
        faults.append(f"damping is {request.damping}; write 0 or more")
    return faults


def _laws(request: Request, model: Model, faults: list[str]) -> dict[str, Law]:
    """Laws of prescribed coordinates, by name."""
    given, laws = request.prescribed, {}
    if isinstance(given, Mapping):
        laws = by_id(model.mechanism, given)
        faults += [
            f"prescribed {name!r} is no law; give one, such as groups.polynomial"
            for name, law in laws.items()
            if not callable(law)
        ]
    elif given:
        own = stored_laws(model.mechanism, model.reference_inputs)
        for name in map(model.mechanism.called, [given] if isinstance(given, str) else given):
            if name in own:
                laws[name] = own[name]
            else:
                known = ", ".join(own) or "nothing"
                faults.append(f"prescribed {name!r}: the model has a law for {known}; give one")
    faults += [f"prescribed: {fault}" for fault in _unknown(model.mechanism.driven_coordinates, laws)]
    return laws


def _unknown(among: tuple[str, ...], given: Iterable[str]) -> list[str]:
    """Faults of unknown coordinates."""
    return name_faults(among, [*among, *given], "value")


def _start_faults(request: Request, mechanism: Mechanism) -> list[str]:
    """Faults of a start from the last instant of another run."""
    if request.start is None:
        return []
    faults = []
    if request.initial or request.rates:
        faults.append("start: a continued run has its own values and rates; leave initial and rates out")
    before = _before(request.start)
    if (before.planar, before.mechanism.n_bodies) != (mechanism.space == "planar", mechanism.n_bodies):
        faults.append(f"start: is a run of another mechanism than {mechanism.name or 'this one'}")
    elif before.velocity is None or len(before.kept) != mechanism.n_bodies:
        faults.append("start: has no velocities, or not all bodies; give a run as simulate gives it")
    elif not (np.isfinite(before.position[-1]).all() and np.isfinite(before.velocity[-1]).all()):
        faults.append("start: was not solved at its last instant; give it up to one that was")
    return faults


def _before(start: Simulation | Trajectory) -> Trajectory:
    return start.trajectory if isinstance(start, Simulation) else start


def _first(request: Request) -> float:
    """Time at which the run begins, s."""
    return 0.0 if request.start is None else float(_before(request.start).time[-1])


def _instants(request: Request, first: float, faults: list[str]) -> Floats:
    """Instants (T,), s."""
    if request.time is None:
        try:
            check_span(request.steps, request.duration)
        except ValueError as error:
            faults.append(str(error))
            return np.zeros(2)
        if request.steps == 1:
            faults.append("steps is 1; write 2 or more")
        return np.linspace(first, first + request.duration, max(2, request.steps))
    time = np.array(request.time, dtype=np.float64)
    faults += time_faults(time)
    if time.shape == (1,):
        faults.append("time has 1 instant; write 2 or more")
    return time


def _measured(
    request: Request, model: Model, laws: Mapping[str, Law], record: Record, integrator: str
) -> Simulation:
    """The result with its energies and errors."""
    structure = model.structure
    trajectory = record.trajectory(structure.mechanism)
    state = State.of(trajectory)
    kinetic, gravity = masses(state)[1].kinetic, gravity_energy(state)
    work = np.array(record.work)
    position_error, velocity_error = constraint_errors(state, model.frames, laws)
    names, notes = structure.mechanism.driven_coordinates, list(record.notes)
    bare = [structure.mechanism.body_name(b) for b in massless(structure.mechanism)]
    if bare:
        notes.append(f"no mass: {', '.join(bare)}")
    if model.globally:
        chosen = ", ".join(f"SG-{solver.number}" for solver in model.solvers if solver.part is not None)
        notes.append(f"{chosen}: solved in relative coordinates; the global approach is for given motions")
    if not request.stop_at_limits:
        stops = [force.coordinate or "" for force in structure.mechanism.forces if force.type == "stop"]
        notes += [one.text(structure.mechanism.units) for one in excesses(trajectory, without=stops)]
    has_locks = structure.treatment is not None and structure.treatment.passive_rotations
    if has_locks:
        notes.append("passive rotations are locked by convention, as by a guide in the frame")
    potential = gravity + sum((energy_of(force, state) for force in structure.mechanism.forces), start=0.0)
    balance = kinetic + gravity - (kinetic[0] + gravity[0]) - (work - work[0])
    fault = _imbalance(record, request.tolerance, kinetic, gravity, work, potential, balance)
    status = record.status
    if fault and (status == "finished" or status.startswith("event")):
        status = f"failed: {fault}"
    elif fault:
        notes.append(fault)
    found = Simulation(
        trajectory,
        structure,
        request.method,
        integrator,
        request.tolerance,
        tuple(name for name in names if name not in laws),
        tuple(laws),
        kinetic,
        potential,
        work,
        balance,
        position_error,
        velocity_error,
        status,
        tuple(record.events),
        tuple(record.changes),
        record.steps,
        record.evaluations,
        tuple(notes),
        dict(request.applied),
    )
    return replace(found, notes=(*notes, *found.forces.acting_locks())) if has_locks else found


def _imbalance(
    record: Record, tolerance: float, kinetic: Floats, gravity: Floats, work: Floats, potential: Floats,
    balance: Floats,
) -> str:  # fmt: skip
    """Fault of a balance of energy that is off by more than the exchange or the tolerance allow."""
    exchanged = max(np.ptp(kinetic), np.ptp(gravity), np.ptp(work))
    # The absolute tolerance of the work is a hundredth of the relative one, in J, in each step.
    steps = record.steps * (float((kinetic + np.abs(potential)).max()) + 0.01)
    explained = tolerance * steps
    if explained > _EXPLAINED * exchanged:  # as at rest, or by a tolerance that would excuse any run
        explained = min(tolerance, _FINE) * steps
    off = ~(np.abs(balance) <= max(_OFF_BALANCE * exchanged, explained))
    if not off.any():
        return ""
    first = record.time[int(off.argmax())]
    return (
        f"the balance of energy is off by {np.abs(balance).max():.2g} J of {exchanged:.3g} J exchanged, "
        f"first at t = {first:.6g} s: the run is wrong from there on; take a smaller tolerance, or another "
        "method"
    )
