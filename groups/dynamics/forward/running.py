"""Checks, initial state, integration and measures of a simulation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from numbers import Real
from typing import Any, get_args

import numpy as np

from groups.dynamics.forward import METHODS
from groups.dynamics.forward.course import CannotGoOnError, Event, Request, Run, Simulation, limit_events
from groups.dynamics.forward.equations import EXPLICIT, ONE_STEP, Equations, Integrator, faults_of
from groups.dynamics.forward.lagrange import Lagrange, Penalty, Residual
from groups.dynamics.forward.trees import Trees
from groups.dynamics.state import massless
from groups.model import Model, build
from groups.motion import Law
from groups.motion.laws import OutsideError, check_span, law_of, laws_from_data
from groups.motion.sampled import instants_of, name_faults
from groups.partitioning import partition
from groups.results.faults import excesses, values_text
from groups.results.joints import coordinate_motion
from groups.trajectory import Trajectory
from mbssa import Mechanism, Structure, decompose
from mbssa.arrays import Floats
from mbssa.faults import BETWEEN
from mbssa.input_search.query import driven_by
from mbssa.io.motion import by_id
from mbssa.joints.catalogue import coordinate_unit

#: Smallest tolerance above rounding.
FINEST = 1e-13

#: Shares of the exchanged energy by which the balance may be off, and that a tolerance may explain; the
#: tolerance from which on a coarser one explains no more.
_OFF_BALANCE, _EXPLAINED, _FINE = 0.01, 0.1, 1e-8


def run(request: Request) -> Simulation:
    """Carry out a request; see :func:`groups.simulate`."""
    model = moving_model(request.of)
    mechanism, method = model.mechanism, request.method
    if request.stop_at_limits:
        request.events = *request.events, *limit_events(mechanism)
    named = request.initial, request.rates, request.applied
    request.initial, request.rates, request.loads = (by_id(mechanism, each) for each in named)
    _check(request, model)
    request.integrator = request.integrator or {"penalty": "Radau", "dae": "IDA"}.get(method, "DOP853")
    try:
        course = Run(_begun(request, model), request, request.time)
        course.equations.run(course)
        if not course.samples:
            raise CannotGoOnError(course.status.removeprefix("failed: "))
        return _result(course)
    except CannotGoOnError as error:
        raise ValueError(f"{mechanism.name}: {error}") from None


def moving_model(of: Model | Structure | Mechanism) -> Model:
    """The model, of a mechanism in its driven coordinates, or else in those of :func:`groups.partition`."""
    if not isinstance(of, Model | Structure | Mechanism):
        raise TypeError(f"takes a model, a structure or a mechanism, not a {type(of).__name__}")
    return of if isinstance(of, Model) else _built(of)


@lru_cache(maxsize=4)  # models keep their equations of motion, for calls one after another
def _built(of: Structure | Mechanism) -> Model:
    if isinstance(of, Structure):
        return build(of)
    if not (mechanism := of).n_driven:
        independent = partition(mechanism, driven=()).independent
        if not independent:
            raise ValueError(f"{mechanism.name} has no freedom: there is nothing to simulate")
        mechanism = driven_by(mechanism, independent)
    structure = decompose(mechanism)
    if not structure.determined:
        raise ValueError(
            f"{mechanism.name}: {', '.join(mechanism.driven_coordinates)} are not its independent "
            "coordinates, since the mobility count is not determined with them; see mbssa check"
        )
    return build(structure)


def _begun(request: Request, model: Model) -> Equations:
    """The equations of motion in their initial state."""
    method, time, laws = request.method, request.time, request.laws
    given = model, request.loads, laws
    by_trees, first = method in ("groups", "partitioning"), float(time[0])
    explicit = request.integrator if request.integrator in EXPLICIT else "DOP853"
    compiled = request.compiled if by_trees else False  # others begin by trees alone
    trees = Trees(*given, explicit, request.tolerance, compiled, method == "partitioning", time)
    if request.start is not None:
        trees.begin_at(request.start)
    else:
        state = dict(zip(trees.traced.drives, trees.traced.start, strict=False)) | request.initial
        state = {name: (value, request.rates.get(name, 0.0)) for name, value in state.items()}
        state |= {name: [float(x[0]) for x in law(time[:1])][:2] for name, law in laws.items()}
        trees.begin(first, *np.array([*state.values()], dtype=np.float64).reshape(-1, 2).T)
    if by_trees:
        return trees
    kinds: dict[str, type[Lagrange | Penalty]] = {"lagrange": Lagrange, "penalty": Penalty, "dae": Residual}
    return kinds[method](*given, trees.instant(first, trees.start))


def _check(request: Request, model: Model) -> None:
    """Add laws of prescribed coordinates, and the instants (T,), s; all faults at once."""
    faults = _setting_faults(request) + _start_faults(request, model.mechanism)
    if request.time is None:
        first = 0.0 if faults or request.start is None else float(request.start.time[-1])
        duration, time = 1.0 if request.duration is None else request.duration, np.zeros(2)
        try:
            check_span(request.steps, duration)
            time = np.linspace(first, first + duration, request.steps)
        except ValueError as error:
            faults.append(str(error))
    else:
        if request.duration is not None:
            faults.append(f"duration is {request.duration}, and time gives the instants; leave one out")
        time = instants_of(request.time, faults)
    if time.shape == (1,):
        what = "steps is 1" if request.time is None else "time has 1 instant"
        faults.append(f"{what}; write 2 or more")
    laws = _laws(request, model, time[:1], faults)
    given = {"initial": request.initial, "rates": request.rates}
    faults += faults_of(model.mechanism, request.applied, given, laws, request.progress)
    if faults:
        raise ValueError(BETWEEN.join(faults))
    request.laws, request.time = laws, time


def _setting_faults(request: Request) -> list[str]:
    method, integrator, known = request.method, request.integrator, get_args(Integrator)
    wanted = "tolerance", "largest_step", "most_steps", "stiffness", "damping"
    given = {name: getattr(request, name) for name in wanted}
    if none := [name for name, value in given.items() if not isinstance(value, Real)]:
        return [f"{name} is {given[name]!r}; write a number" for name in none]
    tolerance, longest, most, stiffness, damping = given.values()
    faults = {
        f"method {method!r}: write {', '.join(METHODS)}": method not in METHODS,
        f"integrator {integrator!r}: write {', '.join(known)}": integrator not in (None, *known),
        f"integrator {integrator!r}: has a history that projection would break; for lagrange "
        f"write {', '.join(ONE_STEP)}": method == "lagrange" and integrator not in (None, *ONE_STEP),
        "method 'dae': its integrator is IDA; leave integrator out, or take another method": (
            method == "dae" and bool(integrator)
        ),
        f"largest_step is {longest}; write a positive number": not longest > 0.0,
        f"stiffness is {stiffness}; write a positive number": not stiffness > 0.0,
        f"most_steps is {most}; write 1 or more": not most >= 1,
        f"tolerance is {tolerance}; write {FINEST:g} to below 1": not FINEST <= tolerance < 1.0,
        f"damping is {damping}; write 0 or more": not damping >= 0.0,
    }
    for event in request.events:
        if not isinstance(event, Event):
            faults[f"events: {event!r} is none; give groups.Event(name, quantity, target)"] = True
            continue
        text, ways = f"event {event.name}", (-1, 0, 1)
        number = isinstance(event.target, Real) and np.isfinite(event.target)
        faults[f"{text}: target is {event.target!r}; write a number"] = not number
        faults[f"{text}: direction is {event.direction}; write 1, -1 or 0"] = event.direction not in ways
    return [text for text, wrong in faults.items() if wrong]


def _laws(request: Request, model: Model, first: Floats, faults: list[str]) -> dict[str, Law]:
    """Laws of prescribed coordinates, by name, that are checked at the first instant (1,)."""
    given, laws = request.prescribed, {}
    if isinstance(given, Mapping):
        for name, law in by_id(model.mechanism, given).items():
            if not (callable(law) or isinstance(law, str)):
                faults.append(f"prescribed {name!r} is no law; give one, such as groups.polynomial")
                continue
            try:
                laws[name] = law_of(law, coordinate_unit(name), first)
                if not np.isfinite(laws[name](first)).all():
                    faults.append(f"prescribed {name!r} is not finite at t = {first[0]:.6g} s")
            except Exception as error:  # of a user's function: any kind is named with its coordinate
                faults.append(f"prescribed {name!r}: {error}")
    elif given:
        motion = model.mechanism.motion
        own = {} if motion is None else laws_from_data(motion, model.reference_inputs.__getitem__)
        several = isinstance(given, Iterable) and not isinstance(given, str)
        for name in map(model.mechanism.called, given if several else [given]):
            if name in own:
                laws[name] = own[name]
            else:
                known = ", ".join(own) or "nothing"
                faults.append(f"prescribed {name!r}: the model has a law for {known}; give one")
    laws = {name: partial(_reached, name, law) for name, law in laws.items()}
    driven = model.mechanism.driven_coordinates
    faults += [f"prescribed: {fault}" for fault in name_faults(driven, [*driven, *laws], "value")]
    return laws


def _reached(name: str, law: Law, time: Floats) -> Any:
    """Numbers of a prescribed coordinate's law."""
    try:
        return law(time)
    except OutsideError as error:
        raise ValueError(f"prescribed {name!r}: {error}") from None


def _start_faults(request: Request, mechanism: Mechanism) -> list[str]:
    """Faults of a start from the last instant of another run."""
    before, faults = request.start, list[str]()
    if before is None:
        return []
    if not isinstance(before, Trajectory):
        return [f"start: {before!r} is no run; give the trajectory of one"]
    if request.initial or request.rates:
        faults.append("start: a continued run has its own values and rates; leave initial and rates out")
    if (before.planar, before.mechanism.n_bodies) != (mechanism.space == "planar", mechanism.n_bodies):
        faults.append(f"start: is a run of another mechanism than {mechanism.name or 'this one'}")
    elif before.velocity is None or len(before.kept) != mechanism.n_bodies:
        faults.append("start: has no velocities, or not all bodies; give a run as simulate gives it")
    elif not (np.isfinite(before.position[-1]).all() and np.isfinite(before.velocity[-1]).all()):
        faults.append("start: was not solved at its last instant; give it up to one that was")
    return faults


def _result(course: Run) -> Simulation:
    """The result with its energies and errors."""
    equations, request, time = course.equations, course.request, course.time[: course.done]
    measured = equations.measured(time, np.concatenate(course.samples))
    structure, mechanism, laws = equations.model.structure, equations.mechanism, equations.laws
    trajectory, work = measured.trajectory, measured.work
    kinetic, gravity, stored = measured.energies
    names, notes = mechanism.driven_coordinates, course.notes
    if bare := [mechanism.body_name(b) for b in massless(mechanism)]:
        notes.append(f"no mass: {', '.join(bare)}")
    if chosen := [f"SG-{solver.number}" for solver in equations.model.solvers if solver.form == "global"]:
        text = "solved in relative coordinates; the global approach is for given motions"
        notes.append(f"{', '.join(chosen)}: {text}")
    stops = [force.coordinate or "" for force in mechanism.forces if force.type == "stop"]
    beyond = excesses(trajectory, without=[*stops, *measured.inside])
    notes += [one.text(mechanism.units) for one in beyond]
    has_locks = structure.treatment is not None and structure.treatment.passive_rotations
    if has_locks:
        notes.append("passive rotations are locked by convention, as by a guide in the frame")
    balance, fault = _balanced(course.steps, request.tolerance, work, *measured.energies)
    faults = [each for each in (measured.fault, fault) if each is not None]
    if faults:
        k, text = min(faults)
        values = {name: float(coordinate_motion(trajectory, name).value[k]) for name in names}
        group = equations.weakest(float(time[k]), np.concatenate(course.samples)[k])
        remedy = "the run is wrong from there on; take a smaller tolerance"
        if elastic := request.method == "penalty":
            remedy = "the springs and dampers of the joints take it; take less damping, more stiffness"
        place = values_text(values, mechanism.units)
        text = f"t = {time[k]:.6g} s: {group}: {text} at {place}: {remedy}, or another method"
        if not elastic and (course.status == "finished" or course.status.startswith("event")):
            course.status = f"failed: {text}"
        else:
            notes.append(text)
    found = Simulation(
        trajectory, structure, request.method, request.integrator, request.tolerance,
        tuple(name for name in names if name not in laws), tuple(laws), kinetic, gravity + stored, work,
        balance, measured.off[0], measured.off[1], course.status, tuple(course.occurrences),
        tuple(course.changes), course.steps, equations.evaluations, tuple(notes), dict(request.applied),
    )  # fmt: skip
    return replace(found, notes=(*notes, *found.forces.acting_locks())) if has_locks else found


def _balanced(
    steps: int, tolerance: float, work: Floats, kinetic: Floats, gravity: Floats, stored: Floats
) -> tuple[Floats, tuple[int, str] | None]:
    """Balance of energy, and the first sample at which it is off by more than exchange or tolerance allow."""
    balance = kinetic + gravity - (kinetic[0] + gravity[0]) - (work - work[0])
    exchanged = max(np.ptp(kinetic), np.ptp(gravity), np.ptp(work))
    # The absolute tolerance of the work is a hundredth of the relative one, in J, in each step.
    errors = steps * (float((kinetic + np.abs(gravity + stored)).max()) + 0.01)
    explained = tolerance * errors
    if explained > _EXPLAINED * exchanged:  # as at rest, or by a tolerance that would excuse any run
        explained = min(tolerance, _FINE) * errors
    off = ~(np.abs(balance) <= max(_OFF_BALANCE * exchanged, explained))
    text = f"the balance of energy is off by {np.abs(balance).max():.2g} J of {exchanged:.3g} J exchanged"
    return balance, (int(off.argmax()), text) if off.any() else None
