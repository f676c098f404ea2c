"""Recorded answers: quantities of each mechanism, by public calls alone.

Left out because today's answer is known to be wrong: the cases of faults that are to be mended (near-kites,
three cranks, bearings of gears with a carrier, limits of rams), and the modes in which platforms come back
from behind a stretch out of reach.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from failures import FAILURES, SLOW_FAILURES
from storage import SOME, Array, Entry

import groups
import mbssa
import routes
from groups.results.joints import joint_motion, measurable
from mbssa.joints.catalogue import is_length

MODELS = Path(__file__).parent / "models"
#: Models that begin where a group is singular, so that rounding leads them.
SINGULAR = ("dead_centre", "through_flat")
#: Members of the family of Table 16.
FAMILY = tuple(
    f"assur:{each}"
    for each in (
        "I-1", "I-2", "I-4", "I-8", "I-2B", "I-4B", "I-8B", "II-2", "II-3", "II-4", "II-8", "II-2B", "II-4B",
        "III-2", "III-4", "III-2B", "III-4B",
    )
)  # fmt: skip
INSTANTS = 31
#: Models whose forces are not recorded: known to be wrong today, or zero.
WITHOUT_FORCES = ("ball_off_plate", "legs", "points_at_distance")
#: Methods of forward dynamics: duration of the run (s), and the tolerance of the integrator.
METHODS = {
    "groups": (0.05, 1e-11),
    "partitioning": (0.05, 1e-11),
    "lagrange": (0.05, 1e-11),
    "penalty": (0.002, 1e-9),
    "dae": (0.02, 1e-9),
}
#: Fast motions under large forces: run for so much of that time.
SHORT = {"andrews": 0.02, "bennett": 0.2, "rotor": 0.5}
#: Final states depend on the steps of the integrator: these are compared to so much of the largest.
INTEGRATED = 1e-6
#: Models for which forward dynamics, equilibria and eigenvalues are recorded: all kinds of solver.
DYNAMIC = (
    "andrews", "bennett", "cam_roller", "double_parallelogram", "pendulum_four_bar", "planar_3rrr",
    "quick_return", "rack_steering", "rotor", "rssr", "slider_crank", "stewart", "suspension",
    "universal_shafts", "press_with_forces", "knocker_on_ground", "turning_frame", "force_functions",
)  # fmt: skip


def subjects() -> list[str]:
    """Names of all mechanisms of the record: built-in ones, and files of this folder."""
    return [*mbssa.builtin_names(), *sorted(path.stem for path in MODELS.glob("*.toml"))]


@cache
def mechanism(name: str) -> mbssa.Mechanism:
    """A built-in mechanism, or one of this folder, whose functions are trusted."""
    path = MODELS / f"{name}.toml"
    return mbssa.load(path, trust=True) if path.exists() else mbssa.load(name)


@cache
def structure(name: str) -> mbssa.Structure:
    return mbssa.decompose(mechanism(name))


@cache
def model(name: str) -> groups.Model:
    return groups.build(structure(name))


def moves(name: str) -> bool:
    """Whether a mechanism can be solved, has a motion, and is not singular at its beginning."""
    of = mechanism(name)
    if name in SINGULAR or not (of.has_geometry and of.n_driven and structure(name).determined):
        return False
    try:
        model(name), groups.default_motion(of, steps=2)
    except ValueError:
        return False
    return True


# --- structure ---------------------------------------------------------------------------------------


def structure_entry(name: str) -> Entry:
    """Groups, their order, the results matrix, ranks, treatment and findings by code and place."""
    parted = structure(name)
    tables = {
        key: value for key, value in parted.to_dict().items() if key not in ("mechanism", "note", "types")
    }
    results = parted.results if isinstance(parted.results, np.ndarray) else parted.results.toarray()
    tables["results"] = {f"{row},{column}": int(results[row, column]) for row, column in np.argwhere(results)}
    treatment = parted.treatment
    if treatment is not None:
        tables["dropped"] = [[each.joint, each.equation] for each in treatment.dropped]
        tables["passive rotations"] = [list(each.bodies) for each in treatment.passive_rotations]
        tables["parts with three freedoms"] = [
            [each.kind, list(each.bodies), list(each.joints)] for each in treatment.parts
        ]
    report = mbssa.check(mechanism(name))
    for basis, examined in (("generic", report.generic), ("numeric", report.numeric)):
        if examined is not None:
            tables[basis] = {
                "ranks": [examined.constraints.rank, examined.all.rank],
                "redundant": [examined.constraints.redundant, examined.all.redundant],
                "mobility": examined.mobility,
                "dependent inputs": examined.dependent_drives,
                "singular": [examined.singular_pose, examined.dead_point, examined.stuck],
                "elsewhere": examined.elsewhere
                and [examined.elsewhere.constraints.rank, examined.elsewhere.all.rank],
                "closed": not examined.fault,
            }
    tables["ranks of groups"] = [[rank and rank.rank for rank in pair] for pair in report.group_ranks]
    tables["findings"] = [[each.kind, each.fatal, each.bodies, each.joints] for each in report.findings]
    tables["proposals"] = [[each.kind, each.driven, each.types] for each in report.proposals]
    tables["solvable"] = report.solvable
    return Entry(tables)


def routes_entry(name: str) -> Entry:
    """Numbers of kinematic routes, without and with symmetry."""
    return Entry({"routes": [routes.count(structure(name), symmetry=each) for each in (False, True)]})


def inputs_entry(name: str) -> Entry:
    """Numbers of sets of inputs, and the best ten schemes."""
    try:
        found = mbssa.transform(mechanism(name))
    except mbssa.ModelError as error:
        return Entry({"fault": [fault.code for fault in error.faults]})
    figures = (
        "inputs",
        "n_groups",
        "largest",
        "levels",
        "width",
        "valid",
        "sets",
        "valid_sets",
        "alike",
        "alike_valid",
    )
    counts = ("n_sets", "n_valid", "n_distributions", "n_determined", "complete")
    rows = [{key: row.figures()[key] for key in figures} for row in found.rows[:10]]
    return Entry({**{key: getattr(found, key) for key in counts}, "rows": rows})


def modes_entry(name: str) -> Entry:
    """Assembly modes of each group: their number and joint coordinates, where all of them are known."""
    entry = Entry({"groups": []})
    for of in groups.modes(model(name)):
        # Random starts of Newton may find more of an incomplete list, in another order.
        entry.tables["groups"].append(
            [of.group, of.complete, *((len(of), of.reference) if of.complete else ())]
        )
        names = list(of.modes[0].coordinates)
        if names:
            entry.labels[f"coordinate of {of.group}"] = names
            values = np.array([[mode.coordinates[each] for each in names] for mode in of])
            # Sines and cosines: an angle of π and one of -π are the same place.
            lengths = np.array([is_length(each) for each in names])
            entry.arrays[f"modes of group {of.group}"] = Array(
                np.stack(
                    [np.where(lengths, values, np.sin(values)), np.where(lengths, 0.0, np.cos(values))],
                    axis=2,
                ),
                ("mode" if of.complete else SOME, f"coordinate of {of.group}", "part"),
            )
    return entry


# --- motions -----------------------------------------------------------------------------------------


def far_motion(name: str) -> groups.Motion:
    """Inputs that go three times as far as the default motion, begin off the reference, and turn back."""
    of, solvable = mechanism(name), model(name)
    usual = groups.default_motion(of, steps=361)
    start = solvable.reference_inputs
    laws: dict[str, Any] = {}
    for k, coordinate in enumerate(usual.names):
        way = usual.value[k] - start[coordinate]
        farthest = float(way[np.abs(way).argmax()])
        # start + farthest · (0.1 + 2.9 sin² πt) = start + farthest · (1.55 − 1.45 cos 2πt)
        mean = start[coordinate] + 1.55 * farthest
        laws[coordinate] = groups.harmonic(-1.45 * farthest, 1.0, np.pi / 2, mean)
    return groups.sample(of, laws, np.linspace(0.0, 1.0, 12 * (INSTANTS - 1) + 1))


def kinematics(trajectory: groups.Trajectory, status: bool = True) -> Entry:
    """Poses, velocities and accelerations of all bodies and joint coordinates; status of each group."""
    of = trajectory.mechanism
    linear = 2 if trajectory.planar else 3
    entry = Entry(labels={"body": [of.body_name(b) for b in trajectory.kept.tolist()]})
    entry.labels["time"] = _times(trajectory)
    orientation = trajectory.orientation
    axes = ("time", "body", "component")
    entry.arrays["position"] = Array(trajectory.position, axes)
    entry.arrays["orientation"] = Array(orientation, axes[: orientation.ndim])
    for what in ("velocity", "acceleration"):
        twists = getattr(trajectory, what)
        if twists is not None:
            entry.arrays[what] = Array(twists[:, :, :linear], axes)
            entry.arrays[f"angular {what}"] = Array(twists[:, :, linear:], axes)
    _joints(trajectory, entry)
    if status:
        entry.labels["group"] = list(trajectory.named_groups)
        entry.arrays["status"] = Array(trajectory.status.astype(np.int64), ("time", "group"))
        entry.tables["causes"] = None if trajectory.causes is None else list(trajectory.causes)
        entry.tables["contacts"] = None if trajectory.contacts is None else list(trajectory.contacts)
        bad = trajectory.status != 0
        entry.tables["first"] = [int(column.argmax()) if column.any() else None for column in bad.T]
    return entry


def _joints(trajectory: groups.Trajectory, entry: Entry) -> None:
    held = [joint_motion(trajectory, joint) for joint in measurable(trajectory)]
    for unit, kind in (("m", "lengths"), ("rad", "angles")):
        places = [(one, k) for one in held for k in range(len(one.names)) if one.units[k] == unit]
        if not places:
            continue
        entry.labels[kind] = [f"{one.joint}.{one.names[k]}" for one, k in places]
        for what, level in (("", "value"), ("rates of ", "rates"), ("accelerations of ", "accelerations")):
            if getattr(places[0][0], level) is not None:
                values = np.stack([getattr(one, level)[:, k] for one, k in places], axis=1)
                entry.arrays[f"{what}{kind}"] = Array(values, ("time", kind))


def motion_entry(name: str, compiled: bool = False) -> Entry:
    """The default motion at 31 instants."""
    return kinematics(
        model(name).solve(groups.default_motion(mechanism(name), steps=INSTANTS), compiled=compiled)
    )


def global_entry(name: str) -> Entry:
    """The default motion by the global approach, which shares no tree and no equations with the groups."""
    motion = groups.default_motion(mechanism(name), steps=INSTANTS)
    entry = kinematics(groups.solve_globally(structure(name), motion, branch="proven", compiled=False))
    del entry.arrays["status"], entry.labels["group"]
    entry.tables = {}
    return entry


def far_motion_entry(name: str, compiled: bool = False) -> Entry:
    """A motion that goes three times as far, begins away from the reference and turns back.

    It is solved in steps of which turns can be counted, and recorded at 31 instants; its status at all.
    """
    whole = model(name).solve(far_motion(name), branch="checked", compiled=compiled)
    entry = kinematics(whole.instants(slice(None, None, 12)))
    entry.arrays["status"] = Array(whole.status.astype(np.int64), ("step", "group"))
    return entry


def quantities_entry(name: str, compiled: bool = False) -> Entry:
    """Three derived quantities with their rates: a distance, an angle, and a function of a coordinate."""
    of = mechanism(name)
    trajectory = model(name).solve(groups.default_motion(of, steps=INSTANTS), compiled=compiled)
    # Of points that never meet, and without arcs of cosines: where these end, rates are rounding alone.
    away = 7.0 * (float(np.abs(model(name).reference.position).max()) or 1.0)
    first, last = (of.body_name(b) for b in (1, of.n_bodies - 1))
    texts = {
        "distance": f"norm({last}.origin - world.origin + mm({1e3 * away:.6g}) * world.x)",
        "angle": f"angle({last}.x, world.x, world.z)" if of.space == "planar" else f"dot({last}.x, world.y)",
        "product": f"dot({last}.origin - world.origin + mm({1e3 * away:.6g}) * world.y, {first}.x)",
    }
    entry = Entry(labels={"time": _times(trajectory)})
    for what, text in texts.items():
        one = trajectory.quantity(text)
        for level in ("value", "rates", "accelerations"):
            entry.arrays[f"{level} of {what}"] = Array(getattr(one, level), ("time",))
    return entry


def _times(trajectory: groups.Trajectory) -> list[str]:
    return [f"{t:.6g} s" for t in trajectory.time.tolist()]


# --- forces ------------------------------------------------------------------------------------------


def with_masses(of: mbssa.Mechanism) -> mbssa.Mechanism:
    """A mechanism itself where it has masses, else with masses by a formula and gravity along no axis."""
    if any(body.inertia is not None for body in of.body_geometry.values()):
        return of
    planar = of.space == "planar"
    geometry = dict(of.body_geometry)
    size = float(np.abs(groups.build(mbssa.decompose(of)).reference.position).max()) or 1.0
    for body in range(1, of.n_bodies):
        mass, angle = 1.0 + 0.25 * (body % 5), 1.0 + 2.4 * body
        centre = (0.3 * size * np.cos(angle), 0.3 * size * np.sin(angle), 0.1 * size * np.cos(2 * angle))
        if planar:
            inertia = mbssa.Inertia(mass, centre[:2], moment=0.2 * mass * size**2)
        else:
            moments = tuple(mass * size**2 * np.array([0.30, 0.24, 0.20]))
            inertia = mbssa.Inertia(
                mass, centre, None, moments, tuple(mass * size**2 * np.array([0.02, -0.01, 0.03]))
            )
        geometry[body] = replace(geometry.get(body, mbssa.BodyGeometry()), inertia=inertia)
    return replace(of, body_geometry=geometry, gravity=(1.0, -9.0) if planar else (1.0, 2.0, -9.0))


def forces_entry(name: str, compiled: bool = False) -> Entry:
    """Driving forces, reactions, shaking force and powers of the default motion."""
    heavy = with_masses(mechanism(name))
    trajectory = groups.build(mbssa.decompose(heavy)).solve(
        groups.default_motion(heavy, steps=INSTANTS), compiled=compiled
    )
    found = groups.forces(trajectory)
    entry = Entry({"drives": found.drives, "indeterminate": found.indeterminate})
    entry.labels = {"joint": list(heavy.joint_ids), "time": _times(trajectory)}
    entry.arrays = {
        "shaking force": Array(found.shaking_force, ("time", "component")),
        "shaking moment": Array(found.shaking_moment, ("time", "component")[: found.shaking_moment.ndim]),
        "kinetic energy": Array(found.kinetic_energy, ("time",)),
        "kinetic power": Array(found.kinetic_power, ("time",)),
        "power of gravity": Array(found.gravity_power, ("time",)),
        "status": Array(found.status.astype(np.int64), ("time", "group")),
    }
    for k, name in enumerate(found.drives):
        entry.arrays[f"driving force of {name}"] = Array(found.driving[:, k], ("time",))
        entry.arrays[f"power of {name}"] = Array(found.drive_power[:, k], ("time",))
    for what, values in (("power of element", found.element_power), ("locking moment of", found.held)):
        entry.arrays |= {f"{what} {name}": Array(value, ("time",)) for name, value in values.items()}
    loads = [found.joint(joint) for joint in range(heavy.n_joints)]
    for what in ("force", "moment"):
        values = np.stack([getattr(load, what) for load in loads], axis=1)
        entry.arrays[f"reaction {what}s"] = Array(values, ("time", "joint", "component")[: values.ndim])
    return entry


def rest_entry(name: str) -> Entry:
    """Static equilibrium, and eigenvalues about it."""
    heavy = with_masses(mechanism(name))
    entry = Entry()
    try:
        rest = groups.equilibrium(heavy)
    except ValueError as error:
        return Entry({"fault": str(error).partition(":")[0]})
    entry.tables = {"found": rest.found, "stable": rest.stable}
    if not rest.found:
        return entry
    about = groups.linearise(heavy, at=rest.coordinates)
    entry.labels["coordinate"] = list(rest.coordinates)
    # The search for the pose ends at forces of 1e-9, and eigenvalues are taken by differences.
    entry.arrays["pose"] = Array(np.array(list(rest.coordinates.values())), ("coordinate",), INTEGRATED)
    # In the order of their real parts, of which rounding tells nothing.
    found, size = about.eigenvalues, np.abs(about.eigenvalues).max(initial=1.0)
    parts = found[np.lexsort((np.abs(found.imag), np.round(found.real / size, 9)))]
    entry.arrays["eigenvalues"] = Array(
        np.stack([parts.real, np.abs(parts.imag)], axis=1), ("mode", "part"), 1e-5
    )
    return entry


def simulation_entry(name: str, method: str, compiled: bool = False) -> Entry:
    """Final state of a simulation by one method."""
    heavy = with_masses(mechanism(name))
    duration, tolerance = METHODS[method]
    try:
        run = groups.simulate(
            heavy,
            duration,
            method=method,
            tolerance=tolerance,
            steps=3,
            compiled=compiled,  # type: ignore[arg-type]
        )
    except ValueError as error:
        return Entry({"fault": str(error).partition(":")[0]})
    entry = kinematics(run.trajectory.instants(slice(-1, None)), status=False)
    entry.tables = {"status": run.status.partition(":")[0], "released": run.released}
    # Accelerations of stiff joints are those of the springs' ringing.
    kept = (
        ("position", "orientation")
        if method == "penalty"
        else ("position", "orientation", "velocity", "angular velocity")
    )
    limit = 1e-4 if method in ("penalty", "dae") else INTEGRATED
    entry.arrays = {key: replace(entry.arrays[key], tolerance=limit) for key in kept}
    return entry


# --- failures ----------------------------------------------------------------------------------------


def failure_entry(name: str, compiled: bool = False) -> Entry:
    """A motion that fails: status of each group, first instant, cause; answers where there are any."""
    return kinematics({**FAILURES, **SLOW_FAILURES}[name].solve(compiled))


# --- all ---------------------------------------------------------------------------------------------

#: By kind: what answers a subject, and whether it takes ``compiled``.
KINDS: dict[str, tuple[Callable[..., Entry], bool]] = {
    "structure": (structure_entry, False),
    "routes": (routes_entry, False),
    "inputs": (inputs_entry, False),
    "modes": (modes_entry, False),
    "default motion": (motion_entry, True),
    "far motion": (far_motion_entry, True),
    "quantities": (quantities_entry, True),
    "forces": (forces_entry, True),
    "rest": (rest_entry, False),
    **{f"simulation by {method}": (partial(simulation_entry, method=method), True) for method in METHODS},
    "failure": (failure_entry, True),
}


def names() -> Iterator[str]:
    """Names of all entries, ``kind of subject``."""
    every = subjects()
    moving = [name for name in every if moves(name)]
    motions = {"modes", "default motion", "far motion", "quantities"}
    for kind in KINDS:
        if kind == "failure":
            found = [*FAILURES, *SLOW_FAILURES]
        elif kind in motions:
            found = moving
        elif kind == "forces":
            found = [name for name in moving if name not in WITHOUT_FORCES]
        elif kind == "rest" or kind.startswith("simulation"):
            found = list(DYNAMIC)
        else:
            found = [*every, *(FAMILY if kind in ("structure", "routes") else ())]
        yield from (f"{kind} of {name}" for name in found)


def answer(name: str, compiled: bool = False) -> Entry:
    """Today's answer of an entry, without the warnings of its calls."""
    kind, _, subject = name.partition(" of ")
    function, lives = KINDS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(subject, **({"compiled": compiled} if lives else {}))
