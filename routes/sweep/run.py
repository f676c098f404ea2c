"""Sweeps: many cases of one model, with inputs, geometry or assembly modes by a grid, sample or table."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from groups import Model
from groups.assembly_modes import in_modes
from groups.dynamics.forward import Method
from groups.engine.solve import plan_of
from groups.model import model_of
from groups.motion import Motion, default_motion
from groups.trajectory import Branch, Progress
from mbssa import Mechanism, Structure
from mbssa.io.records import check_writable, to_record
from routes.checkpoint import digest
from routes.dispatch import CallFailed, dispatch
from routes.executors import ExecutorType, executor_named
from routes.lock import file_at, locked
from routes.sweep.block import ABOUT, TOGETHER, Setup, columns_of, packed_setup, solve_sent
from routes.sweep.cases import Cases, in_si_units
from routes.sweep.parameters import Parameter, framed, parameters_of, unit_of
from routes.sweep.record import Limits, Quantity, limits_of, quantities_of, user_quantities
from routes.sweep.result import Sweep
from routes.sweep.simulated import Simulated, settings_of
from routes.sweep.store import FORMAT, SweepError, identity, is_done, open_store, part_path, read_manifest

#: Cases of a block, at least and at most, where they are poses, and where many are designs or motions.
POSES, DESIGNS = (2_048, 32_768), (4, 256)
#: Blocks of a sweep: enough to balance the load of workers.
BLOCKS = 64


class Options(TypedDict, total=False):
    """Keywords of :func:`prepare`, which :func:`sweep` passes on."""

    record: Sequence[str] | None
    quantities: Mapping[str, str] | None
    limits: Limits | None
    modes: Mapping[int, int] | None
    branch: Branch | None
    motion: Motion | Literal["own"] | None
    steps: int | None
    duration: float | None
    simulate: Method | None
    tolerance: float
    block: int | None


def sweep(
    model: Model | Structure | Mechanism,
    cases: Cases,
    *,
    store: str | Path,
    workers: int = 2,
    executor: str = "processes",
    resume: bool = False,
    force: bool = False,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Sweep:
    """Solve every case, and write the recorded quantities to a folder of Parquet files as they come.

    A case is a pose; other inputs have their values at the reference of the nominal model. Every pose is
    solved independently, in the assembly mode of the reference; Newton follows a straight line of the inputs
    from the reference to it, over whole turns. The column ``proof`` says whether a branch is proven. With a
    ``motion`` a case is a motion of a design, of which the least, greatest and last values are recorded; with
    ``simulate`` it is a simulation, likewise.

    Parameters
    ----------
    cases : of :func:`grid`, :func:`sample` or :func:`table`. Names are inputs (``2-3.slide``, absolute, m and
        rad), geometry by the joint's id or the body's name and keys of its table in the model file
        (``2-3.point.x``, ``2-3.points[2].y``, ``2-3.length``, ``crank.points.tip.x``; entries are counted
        from 1), and ``mode 3``. ``frames[1]`` and ``frames[2]`` of a joint are its frames on its first and
        second body, in the file or not: they move a joint on one body alone. A ``+`` at the end adds to what
        is there, ``&`` between names gives them one value
    store : folder; a new one, or an empty one
    record : coordinates (``2-3.slide``), joints, points (``platform.tip``), bodies, ``residual``,
        ``condition``; over a motion also ``2-3.slide.rate`` and ``.acceleration``. By default the coordinates
        with limits and both figures
    quantities : expressions over coordinates, points and axes by the name of their column, such as
        ``{"camber": "angle(hub.y, world.z)"}``, as :meth:`groups.Trajectory.quantity` has them
    limits : (lowest, highest) by coordinate, inclusive, instead of or beside the model's own. They prevent
        nothing: a column ``within`` says whether a case keeps them, ``margin`` how well
    modes : number of the assembly mode by number of the group, in every case
    branch : ``proven``, the default: the straight line from the reference to each pose is; of motions as
        :meth:`groups.Model.solve` has it. ``checked`` is somewhat faster
    motion : inputs over time, or "own": the model file's, with ``steps`` and ``duration``; cases then change
        geometry and modes, and inputs by offsets
    simulate : method by which :func:`groups.simulate` simulates each case, with ``tolerance``, ``steps``
        (201) and ``duration`` (of the model's motion, or 1 s); inputs are then the initial values of released
        coordinates, ``2-3.slide.rate`` their rates, 0 if not given; masses (``crank.inertia.mass``) and
        numbers of force elements (``force strut.stiffness``) may be changed too. By default the driven
        coordinates, their rates and those with limits are recorded
    workers, executor : as in :class:`routes.Plan`; under a launcher, all workers that it started
    block : cases of a file; by default as many as make good files
    resume : continue the sweep in the folder
    force : replace the sweep in the folder, which is not resumed
    progress : called with the share of all cases that is done; False from it stops the run

    Raises
    ------
    ValueError
        Unknown names, invalid values, limits or modes, a folder with other content: all faults.
    SweepError
        A block that failed, a worker that was killed, a full disk, another run in the same folder. Written
        cases remain, and ``resume`` continues with the others.
    ModuleNotFoundError
        The extra ``sweeps`` is not installed.

    Examples
    --------
    >>> import mbssa, tempfile
    >>> from routes.sweep import grid, sweep
    >>> stewart = mbssa.load("stewart_inverse")
    >>> reach = grid({"1-14.x": [0.0, 0.5, 1.0], "1-14.z": [0.9, 1.1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = sweep(stewart, reach, record=["2-3.slide"], store=folder, executor="sequential")
    ...     found["within"].tolist(), found["2-3.slide"].round(3).tolist()[:2]
    ([True, True, True, True, False, False], [1.113, 1.28])
    """
    prepared = prepare(model, cases, store=store, **options)
    return run(prepared, workers=workers, executor=executor, resume=resume, force=force, progress=progress)


def run(
    setup: Setup,
    *,
    workers: int = 2,
    executor: str = "processes",
    resume: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """Run a prepared sweep (:func:`prepare`); arguments and errors as :func:`sweep` has them."""
    from threadpoolctl import threadpool_limits

    begin = perf_counter()
    if workers < 1:
        raise ValueError(f"{workers} workers; write 1 or more")
    chosen, solved, damaged = executor_named(executor), 0, list[str]()
    workers = chosen.started() or workers
    with chosen.open(workers) as pool:
        if pool is not None:  # None: this process has served as a worker
            with locked(setup.folder, SweepError), threadpool_limits(1):
                manifest = _manifest(setup)
                setup = dataclasses.replace(setup, identity=identity(manifest))
                todo, before, damaged = _remaining(setup, manifest, resume, force)
                solved = _solve(setup, todo, before, chosen, pool, workers, progress)
    return Sweep(setup.folder, read_manifest(setup.folder), solved, perf_counter() - begin, tuple(damaged))


def _solve(
    setup: Setup,
    todo: Sequence[int],
    before: int,
    executor: ExecutorType,
    pool: Executor,
    workers: int,
    progress: Progress | None,
) -> int:
    """Solve and write blocks; returns the number of cases."""
    sent = setup if executor.memory == "shared" else packed_setup(setup)
    solved = 0

    def take(block: int, cases: int) -> bool:
        nonlocal solved
        solved += cases
        return True

    def wanted() -> bool:
        return progress is None or progress(min(1.0, (before + solved) / setup.cases.number)) is not False

    blocks: dict[int, tuple[int, ...]] = dict.fromkeys(todo, ())
    try:
        dispatch(
            blocks, pool, lambda block: (solve_sent, sent, block), take, wanted, executor.at_once(workers)
        )
    except CallFailed as failed:
        cause = failed.__cause__
        if isinstance(cause, BrokenExecutor):
            raise SweepError(
                f"a worker process was killed after {solved:,} cases of this run (by the system, if memory "
                f"ran out); written cases are kept: resume {setup.folder} with fewer workers"
            ) from cause
        assert cause is not None
        raise cause from None
    return solved


def prepare(
    model: Model | Structure | Mechanism,
    cases: Cases,
    *,
    store: str | Path,
    record: Sequence[str] | None = None,
    quantities: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    modes: Mapping[int, int] | None = None,
    branch: Branch | None = None,
    motion: Motion | Literal["own"] | None = None,
    steps: int | None = None,
    duration: float | None = None,
    simulate: Method | None = None,
    tolerance: float = 1e-8,
    block: int | None = None,
) -> Setup:
    """Check the arguments of :func:`sweep` before anything is solved or written; all faults at once."""
    if find_spec("pyarrow") is None:
        raise ModuleNotFoundError('sweeps write Parquet: pip install -e ".[sweeps]" in the clone')
    if not isinstance(cases, Cases):
        raise TypeError(f"cases are made by grid, sample or table; this is a {type(cases).__name__}")
    model = model_of(model)
    limits, modes = limits or {}, modes or {}
    mechanism, faults = model.mechanism, list[str]()
    simulation: Simulated | None = None
    if simulate is not None:
        simulation, faults = settings_of(mechanism, simulate, tolerance, steps, duration)
        faults += [
            f"{what}: simulations have none; leave it out"
            for what, given in (("motion", motion), ("modes", modes), ("branch", branch))
            if given
        ]
    moving = motion is not None or simulation is not None
    parameters: tuple[Parameter, ...] = ()
    measured: tuple[Quantity, ...] = ()
    kept: dict[str, tuple[float, float]] = {}
    try:
        parameters = parameters_of(mechanism, cases.names, model.structure.n_groups)
        si = {each.name: unit_of(mechanism, each) for each in parameters}
        cases = in_si_units(cases, si, mechanism.units)
    except ValueError as error:
        faults.append(str(error))
    try:
        kept = limits_of(mechanism, limits)
        kept = {name: ends for name, ends in kept.items() if name in limits or _measurable(model, name)}
    except ValueError as error:
        faults.append(str(error))
    try:
        by_default = _by_default(mechanism, kept, simulation) if not quantities else ()
        recorded = record if record is not None else by_default
        measured = quantities_of(mechanism, model.frames, recorded, moving=moving)
        measured += _derived(model, cases, measured, quantities or {}, moving)
        limited = quantities_of(mechanism, model.frames, kept, moving=moving)
    except ValueError as error:
        faults.append(str(error))
    faults += _mode_faults(model, cases, parameters, modes)
    if simulation is not None:
        faults += [
            f"{each.name}: simulations start in the mode of the reference; leave it out"
            for each in parameters
            if each.targets[0].kind == "mode"
        ]
    else:
        faults += [
            f"{each.name}: matters to simulations alone; write simulate"
            for each in parameters
            if any(target.is_dynamic for target in each.targets)
        ]
    if simulation is None and moving:
        faults += [
            f"{each.name}: over a motion an input is changed by an offset; write {each.name}+"
            for each in parameters
            if each.is_input and not each.offset
        ]
        if motion == "own":
            try:
                default_motion(mechanism, steps=steps, duration=duration)
            except ValueError as error:
                faults.append(str(error))
        elif not isinstance(motion, Motion):
            faults.append(f"motion is {motion!r}; give a groups.Motion, or own for the model's")
        elif motion.names != tuple(model.reference_inputs):
            faults.append(
                f"the motion drives {motion.names}; the model needs {tuple(model.reference_inputs)}"
            )
    elif not moving and (steps is not None or duration is not None):
        faults.append("steps and duration are of a motion; leave them out, or write motion own")
    if branch not in (None, "checked", "proven"):
        faults.append(f"branch {branch!r}; write checked or proven")
    if (taken := file_at(Path(store))) is not None:
        faults.append(f"store {store}: {taken} is a file; name a folder")
    if block is not None and block < 1:
        faults.append(f"blocks of {block} cases; write 1 or more")
    if faults:
        raise ValueError("\n  ".join(dict.fromkeys(faults)))
    designs = moving or any(not each.is_input for each in parameters)
    least, most = DESIGNS if designs else POSES
    fit = int(np.clip(math.ceil(cases.number / BLOCKS), least, most))
    setup = Setup(
        model,
        framed(mechanism, parameters),
        cases,
        parameters,
        tuple({each.columns: each for each in (*measured, *limited)}.values()),
        columns_of(measured, moving=moving),
        kept,
        dict(modes),
        motion if simulation is None else "simulated",
        steps,
        duration,
        Path(store),
        block or fit,
        branch,
        simulation,
    )
    return dataclasses.replace(setup, compiled=_pays(setup))


def _pays(setup: Setup) -> bool:
    """Whether machine code pays, once for all cases, or for each of several designs."""
    plan, number = plan_of(setup.model), 1 if setup.has_designs else setup.cases.number
    if setup.simulation is not None:
        from groups.dynamics.forward.equations import Program

        method = setup.simulation.method
        program = Program.of(setup.model, (), (), asks=False, method=method)
        return program.pays(number, setup.simulation.steps)
    if setup.motion is None:  # on lines from the reference
        return plan.pays(2 * min(number, TOGETHER), -(-number // TOGETHER))
    if isinstance(setup.motion, Motion):
        return plan.pays(len(setup.motion.time), number)
    own = default_motion(setup.model.mechanism, steps=setup.steps, duration=setup.duration)
    return plan.pays(len(own.time), number)


def _by_default(mechanism: Mechanism, limits: Iterable[str], simulation: Simulated | None) -> tuple[str, ...]:
    """Coordinates with limits and figures; of simulations the state, which is that of the driven ones."""
    if simulation is None:
        return (*limits, "residual", "condition")
    driven = mechanism.driven_coordinates
    return tuple(dict.fromkeys((*driven, *(f"{name}.rate" for name in driven), *limits)))


def _derived(
    model: Model, cases: Cases, measured: Sequence[Quantity], texts: Mapping[str, str], moving: bool
) -> tuple[Quantity, ...]:
    """Quantities by expression, whose columns have names of their own."""
    taken = {*cases.names, *ABOUT, *(name for each in measured for name in each.columns)} & texts.keys()
    if taken:
        raise ValueError(
            f"quantity {', '.join(sorted(taken))}: a column has this name already; write another"
        )
    return user_quantities(model.mechanism, model.frames, texts, moving=moving)


def _measurable(model: Model, coordinate: str) -> bool:
    """Whether a limit of the model file can be measured; gears and cams have no coordinates here."""
    try:
        quantities_of(model.mechanism, model.frames, [coordinate], moving=False)
    except ValueError:
        return False
    return True


def _mode_faults(
    model: Model, cases: Cases, parameters: Sequence[Parameter], modes: Mapping[int, int]
) -> list[str]:
    faults = []
    swept = {target.index for each in parameters for target in each.targets if target.kind == "mode"}
    for group in modes:
        try:
            model.structure.group(group)
        except ValueError as error:
            faults.append(str(error))
        if group in swept:
            faults.append(f"the mode of group {group} is given for all cases and by the cases")
    if modes and not faults and all(each.is_input for each in parameters):
        try:
            in_modes(model, modes)
        except ValueError as error:
            faults.append(str(error))
    for k, each in enumerate(parameters):
        if each.targets[0].kind != "mode":
            continue
        if cases.definition["kind"] == "sample":
            faults.append(f"{each.name}: modes are no range; write them as values of a grid or a table")
            continue
        values = (
            np.array(cases.definition["values"][each.name])
            if cases.definition["kind"] == "grid"
            else cases.values()[:, k]
        )
        if (values != np.round(values)).any() or (values < 1).any():
            faults.append(f"{each.name}: modes are whole numbers from 1")
    return faults


# --- one run ---------------------------------------------------------------------------------------


def _remaining(
    setup: Setup, manifest: dict[str, Any], resume: bool, force: bool
) -> tuple[list[int], int, list[str]]:
    """Blocks to be solved, number of solved cases, and damaged parts; the folder is open for writing."""
    open_store(setup.folder, manifest, resume=resume, force=force)
    number, size = setup.cases.number, setup.block
    todo, before, damaged = [], 0, []
    for block in range(math.ceil(number / size)):
        cases = min(size, number - block * size)
        try:
            done = is_done(setup.folder, block, cases, setup.identity)
        except SweepError:
            done = False
            damaged.append(part_path(setup.folder, block).name)
        if done:
            before += cases
        else:
            todo.append(block)
    return todo, before, damaged


def _manifest(setup: Setup) -> dict[str, Any]:
    model = setup.model
    check_writable(model.mechanism)
    text = json.dumps(to_record(model.mechanism), sort_keys=True)
    motion: Any = setup.motion
    if isinstance(motion, Motion):
        arrays = (motion.time, motion.value, motion.rate, motion.acceleration)
        motion = {"instants": len(motion.time), "sha256": digest(*arrays)}
    elif setup.simulation is not None:
        motion = {"simulated": dataclasses.asdict(setup.simulation)}
    elif motion == "own":
        motion = {"own": True, "steps": setup.steps, "duration": setup.duration}
    return {
        "format": FORMAT,
        "model": model.mechanism.name,
        "number": setup.cases.number,
        "parameters": list(setup.cases.names),
        "block": setup.block,
        "cases": dict(setup.cases.definition),
        "record": list(setup.recorded),
        "quantities": {each.columns[0]: each.text for each in setup.quantities if each.text},
        "limits": {name: [_json(end) for end in ends] for name, ends in setup.limits.items()},
        "modes": {str(group): number for group, number in sorted(setup.modes.items())},
        "motion": motion,
        "branch": setup.branch,
        "mechanism": hashlib.sha256(text.encode()).hexdigest(),
        "solvers": {str(group): name for group, name in sorted(model.choices.items())},
        "versions": {name: version(name) for name in ("mbssa", "numpy", "scipy", "llvmlite")},
    }


def _json(number: float) -> float | str:
    """JSON has no infinity."""
    return number if math.isfinite(number) else str(number)
