"""Running a plan: the motion solved by whichever executor the plan names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from groups.branches.insertion import prove
from groups.model import Model, build, kept_bodies
from groups.motion import Motion, default_motion
from groups.run import Run
from groups.trajectory import Branch, Level, Trajectory, level_number
from routes.checkpoint import begun, left_off
from routes.event_log import EventLog
from routes.executors.inner_threads import one_for_each
from routes.executors.watch import Progress, Watch
from routes.job import Bench, Job, TaskError, job_of
from routes.plan import Plan
from routes.workspace import Workspace, in_files, in_memory, room_for_files

#: Executors of this package; other names are joblib's.
EXECUTORS = ("sequential", "threads", "processes", "mpi")

Execute = Callable[[Bench, Sequence[int], Watch], None]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run gave (:func:`logged_run`).

    Attributes
    ----------
    trajectory : instants of groups that were not solved say so in their status
    log : which task was done when, and by whom
    seconds : of the whole run

    Examples
    --------
    >>> import groups, mbssa, routes
    >>> model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    >>> plan = routes.plan_of(model, routes.sequential_route(model), instants=361)
    >>> len(routes.logged_run(model, plan).log.start)
    1
    """

    trajectory: Trajectory
    log: EventLog
    seconds: float


def run(
    model: Model,
    plan: Plan,
    motion: Motion | None = None,
    *,
    bodies: Sequence[str | int] | None = None,
    level: Level = "acceleration",
    modes: Mapping[int, int] | None = None,
    branch: Branch | None = None,
    compiled: bool | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> Trajectory:
    """Solve a motion by a plan.

    The same plan gives the same bits in every executor; another plan, the same to rounding. With the executor
    ``mpi`` every rank calls this: what rank 0 was given counts, and the other ranks get None.

    Parameters
    ----------
    plan : of :func:`routes.plan_of`, a study, or a file
    motion, bodies, level, modes, branch, compiled : as :meth:`groups.Model.solve` has them
    checkpoint : folder that keeps what is done, so that a run that was ended can be resumed
    resume : go on from what ``checkpoint`` keeps
    progress : called with the share that is done now and then; False from it stops the run

    Raises
    ------
    ValueError
        A plan for another model or number of instants, no such executor, a checkpoint of another run; and
        as :meth:`groups.Model.solve`.
    TaskError
        A task failed: its groups, its instants and the cause; ``trajectory`` has what others found.
    OSError
        The checkpoint cannot be written, or its disk is full.

    Examples
    --------
    >>> import groups, mbssa, routes
    >>> model = groups.build(mbssa.decompose(mbssa.load("stewart_inverse")))
    >>> plan = routes.plan_of(model, [(1,), (2, 3, 4, 5, 6, 7)], instants=501, executor="threads", workers=2)
    >>> routes.run(model, plan, groups.default_motion(model.mechanism, steps=501)).ok
    True
    """
    outcome = logged_run(
        model,
        plan,
        motion,
        bodies=bodies,
        level=level,
        modes=modes,
        branch=branch,
        compiled=compiled,
        checkpoint=checkpoint,
        resume=resume,
        progress=progress,
    )
    return cast(Trajectory, None) if outcome is None else outcome.trajectory


def logged_run(
    model: Model,
    plan: Plan,
    motion: Motion | None = None,
    *,
    bodies: Sequence[str | int] | None = None,
    level: Level = "acceleration",
    modes: Mapping[int, int] | None = None,
    branch: Branch | None = None,
    compiled: bool | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """:func:`run`, with the log of its tasks and the time it took; arguments and errors are the same.

    Examples
    --------
    >>> import groups, mbssa, routes
    >>> model = groups.build(mbssa.decompose(mbssa.load("rotor")))
    >>> plan = routes.plan_of(model, routes.parallel_route(model), instants=101)
    >>> outcome = routes.logged_run(model, plan, groups.default_motion(model.mechanism, steps=101))
    >>> outcome.log.faults(model.needs), outcome.seconds > outcome.log.schedule().makespan
    ([], True)
    """
    answers = level_number(level)
    if branch not in (None, "checked", "proven"):
        raise ValueError(f"branch {branch!r}; a plan takes checked or proven")
    if motion is not None and not isinstance(motion, Motion):
        raise TypeError(f"run takes a Motion, not a {type(motion).__name__}; groups.sample makes one of laws")
    solved = _by_solvers(model, plan)
    began = perf_counter()

    def solve(execute: Execute) -> Outcome:
        moved = default_motion(model.mechanism) if motion is None else motion
        wanted = kept_bodies(model.mechanism, bodies)
        fast = solved.compiles(len(moved.time)) if compiled is None else compiled
        memory = solved.memory_in(modes, moved)
        proves = branch == "proven" or (branch is None and solved.proves(moved, fast))
        # A branch is proven by the poses and rates of all bodies.
        held, far = (np.arange(model.mechanism.n_bodies), max(answers, 1)) if proves else (wanted, answers)
        job = job_of(solved, moved, plan, held, far, memory, fast)
        if resume and checkpoint is None:
            raise ValueError("resume goes on from a checkpoint; name its folder")
        folder = None if checkpoint is None else Path(checkpoint)
        with _workspace(job, folder, resume) as space:
            trajectory = _done(Bench(job, space), execute, held, progress)
        log = EventLog.of(space.log, job.tasks.calls, job.tasks.bounds)
        if proves:
            trajectory = prove(solved, moved, trajectory, wanted, answers, memory, fast)
        return Outcome(trajectory, log, perf_counter() - began)

    if plan.executor == "mpi":
        # None on other ranks, as the documentation says; whoever runs on one rank need not ask.
        return cast(Outcome, import_module("routes.executors.mpi").on_all_ranks(plan, solve))
    return solve(executor_of(plan.executor))


def check_executor(name: str) -> None:
    """Whether there is such an executor.

    Raises
    ------
    ValueError
        There is none, or what it needs is not installed: what to write.

    Examples
    --------
    >>> check_executor("threads")
    """
    if name != "mpi":
        executor_of(name)
    elif find_spec("mpi4py") is None:
        raise ValueError("ranks of MPI need mpi4py: pip install 'mbssa[mpi]'")


def executor_of(name: str) -> Execute:
    """The executor of this name.

    Raises
    ------
    ValueError
        There is none, and joblib knows no such backend either.
    """
    if name in EXECUTORS:
        found: Execute = import_module(f"routes.executors.{name}").execute
        return found
    on_backend: Execute = import_module("routes.executors.backends").executor_on(name)
    return on_backend


def _done(
    bench: Bench, execute: Execute, wanted: npt.NDArray[np.int64], progress: Progress | None
) -> Trajectory:
    """All tasks that are not done yet, and what was found."""
    space = bench.space
    if not space.done.any():
        bench.begin()
    todo = np.flatnonzero(space.done == 0).tolist()
    watch = Watch(bench.job.tasks, len(bench.job.tasks) - len(todo), progress)
    try:
        with one_for_each(bench.job):
            execute(bench, todo, watch)
    except TaskError as error:
        error.trajectory = _finish(bench, wanted)
        raise
    return _finish(bench, wanted)


#: By model, and solvers that are not its own, the model that has them.
_BUILT: WeakKeyDictionary[Model, dict[tuple[tuple[int, str], ...], Model]] = WeakKeyDictionary()


def _by_solvers(model: Model, plan: Plan) -> Model:
    """The model with the solvers of a plan beside its own choices, built once."""
    choices = {**model.choices, **plan.solvers}
    if choices == model.choices:
        return model
    built = _BUILT.setdefault(model, {})
    chosen = tuple(sorted(choices.items()))
    if chosen not in built:
        built[chosen] = build(model.structure, solvers=choices)
    return built[chosen]


@contextmanager
def _workspace(job: Job, folder: Path | None, resume: bool) -> Iterator[Workspace]:
    """The arrays of a run; where they are files of their own, these are gone afterwards."""
    if folder is not None:
        with (left_off if resume else begun)(job, folder) as space:
            yield space
    elif job.plan.executor in ("sequential", "threads", "mpi"):
        yield in_memory(job.shapes)
    else:
        with import_module("routes.executors.elsewhere").scratch(room_for_files(job.shapes)) as made:
            yield in_files(job.shapes, made)


def _finish(bench: Bench, wanted: npt.NDArray[np.int64]) -> Trajectory:
    """Look back at chunks, and say of what is not done that it was not computed."""
    job, run, space = bench.job, bench.run, bench.space
    chunks = len(job.tasks.bounds) - 1
    done = space.done.reshape(chunks, -1)
    if space.folder is not None and not done.all():
        # What a later run goes on from stays as its tasks have left it.
        run = Run(job.model, job.motion, job.kept, job.level, space.answer.copy(), job.compiled)
    for c, k in np.argwhere(done == 0).tolist():
        run.place_frame(*job.tasks.span(c * done.shape[1]))
        for group in job.tasks.calls[k]:
            run.not_computed(group, *job.tasks.span(c * done.shape[1]))
    if done.all():
        bench.mend()
    run.look_back(0, len(job.motion.time))
    if space.folder is not None:  # who changes an answer must not change what is kept
        run.arrays.seal()
    return run.trajectory(wanted)
