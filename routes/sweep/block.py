"""One block of cases, solved and written: the work of a worker."""

from __future__ import annotations

import dataclasses
import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from platform import node
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

import mbssa
from groups import Model, build
from groups.assembly_modes import in_modes
from groups.engine.solve import plan_of
from groups.motion import Motion, default_motion
from groups.trajectory import LEVELS, PROOF, STATUS, Branch, Trajectory
from mbssa import Mechanism, Structure
from mbssa.arrays import Floats, Ints
from routes.sweep.cases import Cases
from routes.sweep.envelope import Envelope, packed
from routes.sweep.parameters import Parameter, changed, unit_of
from routes.sweep.poses import solve_poses
from routes.sweep.record import Quantity, bodies_needed, followed, measured
from routes.sweep.simulated import Simulated, simulated
from routes.sweep.store import SweepError, write_part

if TYPE_CHECKING:
    import pyarrow

Columns = dict[str, Floats]

#: Names of the status of a case, by number: of a group, or of an invalid design.
NAMES = (*STATUS, "cannot be assembled", "no such mode", "cannot be simulated", "simulation failed")
NOT_ASSEMBLED, NO_MODE, NOT_SIMULATED, FAILED = range(len(STATUS), len(NAMES))

#: Poses that are solved and measured together: few enough that memory is used again.
TOGETHER = 2_048

#: Columns of number, status and limits of a case.
ABOUT = ("case", "status", "group", "proof", "within", "margin", "solved", "failed_at")

#: Largest distance beyond a limit, relative to it or to 1, at which a coordinate counts as on it.
ON_LIMIT = 1e-9


@dataclass(frozen=True, eq=False)
class Setup:
    """Data of a sweep, enough to solve any block in any process."""

    model: Model  # nominal
    base: Mechanism  # its mechanism, ready to be changed
    cases: Cases
    parameters: tuple[Parameter, ...]
    quantities: tuple[Quantity, ...]  # recorded, or with limits
    recorded: tuple[str, ...]  # columns that are written
    limits: Mapping[str, tuple[float, float]]  # lowest and highest value by coordinate
    modes: Mapping[int, int]  # number of the mode by number of the group, in every case
    # None for poses; "own": of each design, by ``steps`` and ``duration``
    motion: Motion | Literal["own", "simulated"] | None
    steps: int | None
    duration: float | None
    folder: Path
    block: int
    branch: Branch | None = None
    simulation: Simulated | None = None  # settings of cases that are simulated
    compiled: bool = False  # by machine code, not NumPy: settled for all cases, in whatever order they come
    identity: str = ""  # of its store

    @property
    def has_designs(self) -> bool:
        """Whether cases differ in their geometry, masses or forces."""
        kinds = {target.kind for parameter in self.parameters for target in parameter.targets}
        return bool(kinds & {"joint", "body", "force"})


@lru_cache(maxsize=1)
def _unpacked(setup: bytes) -> Setup:
    """A setup sent to this process, with one thread of BLAS."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    found, code = pickle.loads(setup)
    assert isinstance(found, Setup)
    plan_of(found.model).code.update(code)
    return found


def packed_setup(setup: Setup) -> bytes:
    """Pickle for processes in any folder, with the object code of a model that all cases share."""
    if setup.compiled and not setup.has_designs:
        setup.model.compile()
    absolute = dataclasses.replace(setup, folder=setup.folder.absolute())
    return pickle.dumps((absolute, plan_of(setup.model).code))


def solve_sent(setup: Setup | bytes, block: int) -> int:
    """Perform :func:`solve_block` of a setup, or of its pickle."""
    return solve_block(_unpacked(setup) if isinstance(setup, bytes) else setup, block)


def solve_block(setup: Setup, block: int) -> int:
    """Solve a block of cases and write its part; returns how many cases it has."""
    start = block * setup.block
    stop = min(start + setup.block, setup.cases.number)
    which = f"block {block + 1}, cases {start} to {stop - 1}"
    try:
        values = setup.cases.values(start, stop)
        first = dict(zip(setup.cases.names, values[0].tolist(), strict=True))
    except Exception as error:
        raise SweepError(f"{which}, which cannot be drawn: {type(error).__name__}: {error}") from error
    envelope, reasons = b"", Reasons()
    try:
        if setup.motion is None:
            columns = _standing(setup, values, reasons)
        else:
            columns, envelope = _moving(setup, values, reasons)
        first_of = {name: (start + case, why) for name, (case, why) in reasons.first.items()}
        table = _table(setup, start, values, columns)
        write_part(setup.folder, block, table, setup.identity, envelope, json.dumps(first_of).encode())
    except OSError as error:
        what = error.strerror or str(error)
        raise SweepError(
            f"{setup.folder}: block {block + 1} cannot be written on {node()}: {what}; name a folder that "
            "all workers share and may write"
        ) from error
    except Exception as error:
        raise SweepError(f"{which}, the first with {first}: {type(error).__name__}: {error}") from error
    return stop - start


class Refusal(NamedTuple):
    """Status of a case that no group has, and the reason."""

    status: int
    reason: str


@dataclass(frozen=True)
class Reasons:
    """First case of each status that no group has, and the reason."""

    first: dict[str, tuple[int, str]] = field(default_factory=dict)

    def note(self, case: int, refusal: Refusal) -> int:
        """Status of a refused case."""
        reason = "; ".join(line.strip() for line in refusal.reason.splitlines())
        self.first.setdefault(NAMES[refusal.status], (case, reason))
        return refusal.status


# --- poses -----------------------------------------------------------------------------------------


def _standing(setup: Setup, values: Floats, reasons: Reasons) -> Columns:
    """Columns of cases that are poses."""
    model, n = setup.model, len(values)
    found = _empty(setup, n)
    base = np.array(list(model.reference_inputs.values()))
    inputs = np.repeat(base[None], n, axis=0)
    for k, parameter in enumerate(setup.parameters):
        for target in parameter.targets:
            if target.kind == "input":
                at = base[target.index] if parameter.offset else 0.0
                inputs[:, target.index] = at + values[:, k]
    bodies = np.array(bodies_needed(model.mechanism, setup.quantities), dtype=np.int64)
    for design, which in _designs(setup, values):
        ready = _ready(setup, design)
        if isinstance(ready, Refusal):
            found["status"][which] = reasons.note(int(which[0]), ready)
            continue
        for begin in range(0, len(which), TOGETHER):
            some = which[begin : begin + TOGETHER]
            poses = solve_poses(ready, inputs[some], bodies, setup.branch, setup.compiled)
            failed = poses.status != 0
            first = np.argmax(failed, axis=1)
            found["status"][some] = poses.status[np.arange(len(some)), first]
            found["group"][some] = np.where(failed.any(axis=1), first + 1, 0)
            found["proof"][some] = poses.proof.min(axis=1)
            columns = measured(ready, poses, setup.quantities, inputs[some], setup.compiled)
            for name, column in columns.items():
                found[name][some] = column
    if setup.limits:
        _add_limits(setup, found, found, found)
    return found


def _designs(setup: Setup, values: Floats) -> list[tuple[Floats, Ints]]:
    """Cases with equal geometry and modes: parameters of the first case, and indices of the cases."""
    shape = [k for k, parameter in enumerate(setup.parameters) if not parameter.is_input]
    if not shape:
        return [(values[0], np.arange(len(values)))]
    _, first, inverse = np.unique(values[:, shape], axis=0, return_index=True, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(inverse.ravel()))])
    in_turn = np.argsort(first, kind="stable").tolist()
    return [(values[first[k]], order[starts[k] : starts[k + 1]]) for k in in_turn]


def _ready(setup: Setup, design: Floats) -> Model | Refusal:
    """Model of a design in its modes; or why there is none."""
    inputs = [parameter.is_input for parameter in setup.parameters]
    return _made(setup, tuple(np.where(inputs, 0.0, design).tolist()))


@lru_cache(maxsize=8)
def _made(setup: Setup, design: tuple[float, ...]) -> Model | Refusal:
    model = setup.model
    if setup.has_designs:
        try:
            model = build(_structure(setup, changed(setup.base, setup.parameters, design)), model.choices)
        except (ValueError, np.linalg.LinAlgError) as error:
            return Refusal(NOT_ASSEMBLED, str(error))
        groups = model.structure.n_groups, setup.model.structure.n_groups
        if groups[0] != groups[1]:
            return Refusal(NOT_ASSEMBLED, "it has {} structural groups, the model {}".format(*groups))
    modes = _modes(setup, design)
    try:
        return in_modes(model, modes)
    except ValueError as error:
        return Refusal(NO_MODE, str(error))


def _structure(setup: Setup, mechanism: Mechanism) -> Structure:
    """The nominal structure with other geometry; decomposed again where ranks decided it."""
    nominal = setup.model.structure
    if nominal.treatment is None:
        return dataclasses.replace(nominal, mechanism=mechanism)
    return mbssa.decompose(mechanism)


def _modes(setup: Setup, design: Sequence[float]) -> dict[int, int]:
    modes = dict(setup.modes)
    for parameter, value in zip(setup.parameters, design, strict=True):
        modes |= {target.index: int(value) for target in parameter.targets if target.kind == "mode"}
    return modes


# --- motions ---------------------------------------------------------------------------------------


def _moving(setup: Setup, values: Floats, reasons: Reasons) -> tuple[Columns, bytes]:
    """Columns of cases that are motions, extremes and last values; and their envelopes over time."""
    found = _empty(setup, len(values))
    time = None if setup.simulation is None else setup.simulation.time
    envelopes: dict[str, Envelope] = {}
    level = LEVELS[max((each.order for each in setup.quantities), default=0)]
    bodies = [body + 1 for body in bodies_needed(setup.model.mechanism, setup.quantities)]
    for case, design in enumerate(values):
        model = _ready(setup, design)
        if isinstance(model, Refusal):
            found["status"][case] = reasons.note(case, model)
            continue
        if setup.simulation is not None:
            trajectory = _simulated(setup, setup.simulation, model, design, found, case, reasons)
            if trajectory is None:
                continue
        else:
            motion = _motion(setup, model, design)
            trajectory = model.solve(
                motion, bodies=bodies, level=level, branch=setup.branch, compiled=setup.compiled
            )
            _note_failure(trajectory, found, case)
        time = trajectory.time if time is None else time
        same = np.array_equal(time, trajectory.time)
        for name, column in followed(trajectory, setup.quantities).items():
            if same:
                one = Envelope.of(column)
                envelopes[name] = envelopes[name].joined(one) if name in envelopes else one
            sound = column[np.isfinite(column)]
            if len(sound):
                found[f"{name}.min"][case], found[f"{name}.max"][case] = sound.min(), sound.max()
            found[f"{name}.final"][case] = column[-1]
    if setup.limits:
        low, high = ({name: found[f"{name}.{end}"] for name in setup.limits} for end in ("min", "max"))
        _add_limits(setup, found, low, high)
    return found, packed(time, envelopes)


def _note_failure(trajectory: Trajectory, found: Columns, case: int) -> None:
    failed = trajectory.status != 0
    found["proof"][case] = trajectory.proof.min()
    found["solved"][case] = 1.0 - failed.any(axis=1).mean()
    if failed.any():
        first = int(np.argmax(failed.any(axis=1)))
        group = int(np.argmax(failed[first]))
        found["status"][case], found["group"][case] = trajectory.status[first, group], group + 1
        found["failed_at"][case] = trajectory.time[first]


def _simulated(
    setup: Setup,
    simulation: Simulated,
    model: Model,
    design: Floats,
    found: Columns,
    case: int,
    reasons: Reasons,
) -> Trajectory | None:
    """The motion of a case up to the end of its simulation; None without valid initial values."""
    try:
        trajectory, fault = simulated(model, simulation, setup.parameters, design.tolist(), setup.compiled)
    except ValueError as error:
        found["status"][case] = reasons.note(case, Refusal(NOT_SIMULATED, str(error)))
        return None
    found["solved"][case] = len(trajectory.time) / simulation.steps
    if fault:
        found["status"][case] = reasons.note(case, Refusal(FAILED, fault))
        found["failed_at"][case] = trajectory.time[-1]
    return trajectory


@lru_cache(maxsize=8)
def _own_motion(
    mechanism: Mechanism,
    steps: int | None,
    duration: float | None,
    at_reference: tuple[tuple[str, float], ...],
) -> Motion:
    return default_motion(mechanism, steps=steps, duration=duration, at_reference=dict(at_reference))


def _motion(setup: Setup, model: Model, design: Floats) -> Motion:
    if setup.motion is not None and not isinstance(setup.motion, str):
        motion = setup.motion
    else:
        # A default motion spans the limits, and starts at the reference of this design.
        mechanism = model.mechanism if setup.base.motion is None else setup.base
        motion = _own_motion(mechanism, setup.steps, setup.duration, tuple(model.reference_inputs.items()))
    shift = np.zeros((len(motion.names), 1))
    for parameter, value in zip(setup.parameters, design.tolist(), strict=True):
        for target in parameter.targets:
            if target.kind == "input":
                shift[target.index] += value
    if not shift.any():
        return motion
    return Motion(motion.time, motion.names, motion.value + shift, motion.rate, motion.acceleration)


# --- columns ---------------------------------------------------------------------------------------


def _units(setup: Setup) -> dict[str, str]:
    """Units of measured columns."""
    ends = ("",) if setup.motion is None else (".min", ".max", ".final")
    return {
        name + end: unit
        for each in setup.quantities
        for name, unit in zip(each.columns, each.units, strict=True)
        for end in ends
    }


def _empty(setup: Setup, n: int) -> dict[str, Any]:
    found: dict[str, Any] = {name: np.full(n, np.nan) for name in _units(setup)}
    found["status"], found["group"] = np.zeros(n, dtype=np.int8), np.zeros(n, dtype=np.int32)
    if setup.simulation is None:
        found["proof"] = np.zeros(n, dtype=np.int8)
    if setup.motion is not None:
        found["solved"], found["failed_at"] = np.zeros(n), np.full(n, np.nan)
    if setup.limits:
        found["within"], found["margin"] = np.zeros(n, dtype=bool), np.full(n, np.nan)
    return found


def _add_limits(
    setup: Setup, found: dict[str, Any], low: Mapping[str, Floats], high: Mapping[str, Floats]
) -> None:
    """Add columns: whether a solved case is within all limits, and its margin to them."""
    # A margin is 1 in the middle between two limits, 0 on one of them, negative beyond.
    n = len(found["status"])
    within, margin = found["status"] == 0, np.full(n, np.inf)
    for name, (lowest, highest) in setup.limits.items():
        blur_low, blur_high = (ON_LIMIT * max(1.0, abs(end)) for end in (lowest, highest))
        with np.errstate(invalid="ignore"):
            within &= (low[name] >= lowest - blur_low) & (high[name] <= highest + blur_high)
            if np.isfinite([lowest, highest]).all() and highest > lowest:
                room = np.minimum(low[name] - lowest, highest - high[name])
                margin = np.minimum(margin, 2.0 * room / (highest - lowest))
    found["within"] = within
    found["margin"] = np.where((found["status"] == 0) & np.isfinite(margin), margin, np.nan)


def columns_written(setup: Setup) -> list[str]:
    """Names of the columns that a block writes, in their order."""
    about = ["status", "group"]
    about += ["proof"] if setup.simulation is None else []
    about += ["solved", "failed_at"] if setup.motion is not None else []
    about += ["within", "margin"] if setup.limits else []
    return list(dict.fromkeys(["case", *setup.cases.names, *about, *setup.recorded]))


def _table(setup: Setup, start: int, values: Floats, columns: Columns) -> pyarrow.Table:
    """The columns of a block, with their units as metadata."""
    import pyarrow as pa

    units, arrays = _units(setup), dict[str, Any](columns)
    for k, parameter in enumerate(setup.parameters):
        arrays[parameter.name] = np.ascontiguousarray(values[:, k])
        units[parameter.name] = unit_of(setup.model.mechanism, parameter)
    arrays["case"] = np.arange(start, start + len(values))
    arrays["group"] = pa.array(columns["group"], pa.int32(), mask=columns["group"] == 0)
    for name, texts in (("status", NAMES), ("proof", PROOF)):
        if name in columns:
            codes = pa.array(columns[name], pa.int8())
            arrays[name] = pa.DictionaryArray.from_arrays(codes, pa.array(texts))
    written = {name: pa.array(arrays[name]) for name in columns_written(setup)}
    fields = [
        pa.field(name, array.type, metadata={"unit": units[name]} if units.get(name) else None)
        for name, array in written.items()
    ]
    return pa.Table.from_arrays(list(written.values()), schema=pa.schema(fields))


def columns_of(quantities: Sequence[Quantity], *, moving: bool) -> tuple[str, ...]:
    """Columns of quantities, in their order: of a motion, its extremes and its last value."""
    ends = (".min", ".max", ".final") if moving else ("",)
    return tuple(name + end for each in quantities for name in each.columns for end in ends)
