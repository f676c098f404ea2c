"""Solution of a motion by a plan, on the executor that the plan names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TypedDict, Unpack, cast
from weakref import WeakKeyDictionary

import numpy as np

from groups.assembly_modes import in_modes
from groups.branches.insertion import Proof
from groups.dynamics import Forces
from groups.dynamics import forces as forces_of
from groups.engine.solve import Solving, solved
from groups.model import Model, build
from groups.motion import Motion, default_motion
from groups.run import Run
from groups.solve import kept_bodies, patience_of
from groups.trajectory import Branch, Level, Progress, Trajectory, level_number
from mbssa.arrays import Floats, Ints
from routes.checkpoint import existing, new, stored_life
from routes.dispatch import CallFailed, dispatch
from routes.event_log import EventLog
from routes.executors import ExecutorType, executor_named
from routes.handover import HANDOVERS, Handover, scratch
from routes.job import Job, TaskError, TaskRunner, job_of
from routes.plan import Plan
from routes.reverse import steps_of
from routes.workspace import Workspace, in_files, in_memory, room_for_files


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of a run (:func:`logged_run`).

    Attributes
    ----------
    trajectory : time steps that were not solved have that status
    forces : of a plan with reactions; else None
    log : times and worker of each task
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
    forces: Forces | None = None


class Options(TypedDict, total=False):
    """Keywords of :func:`logged_run`, which :func:`run` and :func:`forces` pass on."""

    bodies: Sequence[str | int] | None
    level: Level
    modes: Mapping[int, int] | None
    branch: Branch | None
    compiled: bool | None
    checkpoint: str | Path | None
    resume: bool
    progress: Progress | None


def run(model: Model, plan: Plan, motion: Motion | None = None, **options: Unpack[Options]) -> Trajectory:
    """Solve a motion by a plan.

    The same plan gives the same bits in every executor; another plan, the same to rounding. With the executor
    ``mpi`` every rank calls this: the arguments of rank 0 count, and the other ranks get None.

    Parameters
    ----------
    plan : of :func:`routes.plan_of`, a study, or a file
    motion, bodies, level, modes, compiled : as :meth:`groups.Model.solve` has them
    branch : ``checked`` or ``proven``, as there
    checkpoint : folder that stores what is done, so that a run that was ended can be resumed
    resume : continue from what ``checkpoint`` stores
    progress : called at intervals with the share that is done; False from it stops the run

    Raises
    ------
    ValueError
        A plan for another model or number of time steps, an unknown executor, a checkpoint of another run;
        and as :meth:`groups.Model.solve`.
    TaskError
        A task failed: its groups, its time steps and the cause; ``trajectory`` has the results of the others.
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
    outcome = logged_run(model, plan, motion, **options)
    return cast(Trajectory, None) if outcome is None else outcome.trajectory


def forces(model: Model, plan: Plan, motion: Motion | None = None, **options: Unpack[Options]) -> Forces:
    """Solve a motion, and its driving forces and reactions, by a plan with both.

    The same bits as of ``groups.forces(trajectory)``, by every executor. Where a proof of the
    branch has changed the motion afterwards, the forces are solved again in that way. Arguments and errors
    are those of :func:`run`; reactions need accelerations of all bodies.

    Raises
    ------
    ValueError
        A plan without reactions, or groups with redundant equations.

    Returns
    -------
    Forces; their ``trajectory`` is the motion. None on other ranks than the first, and of a run that
    ``progress`` has stopped.

    Examples
    --------
    >>> import groups, mbssa, routes
    >>> model = groups.build(mbssa.decompose(mbssa.load("slider_crank_isostatic")))
    >>> motion = groups.default_motion(model.mechanism, steps=91)
    >>> plan = routes.plan_of(model, routes.sequential_with_reactions(model), instants=91)
    >>> str(plan), routes.forces(model, plan, motion).ok
    ('1+2+-2+-1, sequential', True)
    """
    if not plan.backwards:
        raise ValueError("the plan has no reactions; make one of routes.sequential_with_reactions(model)")
    outcome = logged_run(model, plan, motion, **options)
    return cast(Forces, None if outcome is None else outcome.forces)


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
    if plan.backwards:
        faults = ['reactions need accelerations; write level="acceleration"'] if answers < 2 else []
        faults += ["reactions need all bodies; leave bodies out"] if bodies is not None else []
        if faults:
            raise ValueError("; ".join(faults))
    if branch not in (None, "checked", "proven"):
        raise ValueError(f"branch {branch!r}; a plan takes checked or proven")
    if motion is not None and not isinstance(motion, Motion):
        raise TypeError(f"run takes a Motion, not a {type(motion).__name__}; groups.sample makes one of laws")
    executor = executor_named(plan.executor)
    began = perf_counter()
    with executor.open(plan.workers) as pool:
        if pool is None:  # this process has served as a worker
            return cast(Outcome, None)
        solved = in_modes(_by_solvers(model, plan), modes)
        moved = default_motion(model.mechanism) if motion is None else motion
        wanted = kept_bodies(model.mechanism, bodies)
        if resume and compiled is None and checkpoint is not None:
            compiled = stored_life(Path(checkpoint))
        fast = solved.compiles(len(moved.time)) if compiled is None else compiled
        job = job_of(solved, moved, plan, wanted, answers, fast)
        if resume and checkpoint is None:
            raise ValueError("resume continues from a checkpoint; name its folder")
        folder = None if checkpoint is None else Path(checkpoint)
        with _workspace(job, executor, folder, resume) as space:
            runner = TaskRunner(job, space)
            trajectory = solution = _solved(runner, executor, pool, wanted, progress)
            found = _reactions(runner, trajectory)
            patience = patience_of(solved, branch)
            if patience is not None and space.done.all():
                trajectory = _proven(runner.solving, solution, answers, patience)
        log = EventLog.of(_numbered(space), job.tasks.calls, job.tasks.bounds)
        if found is not None and not _same(trajectory, solution):
            found = forces_of(trajectory, solved.structure)
        return Outcome(trajectory, log, perf_counter() - began, found)


def _proven(solving: Solving, solution: Trajectory, answers: int, patience: float) -> Trajectory:
    """A solution whose branches are proven, or another one where they are not."""
    model, kept, X = solving.model, solution.kept, solving.X
    if not model.globally:
        proof = Proof(solving, patience, status=solution.status.T.copy())
        proven = proof.trajectory(kept, answers)
        if solving.X is X:
            return replace(solution, proven=proven.proven, singular=proven.singular)
        return proven
    everything = np.arange(model.mechanism.n_bodies)
    found = Run(model, solving.answer(everything, answers, solution.status.T)).trajectory()
    again = solved(model, solving.motion, compiled=solving.is_compiled)
    return Proof(again, patience).in_place_of(found, kept, answers)


def _reactions(runner: TaskRunner, trajectory: Trajectory) -> Forces | None:
    """The forces that the tasks have found; None of a plan without them, or of one that was stopped."""
    if not runner.job.plan.backwards or not runner.space.done.all():
        return None
    return steps_of(runner.job.model).forces(trajectory, runner.space.answers)


def _same(one: Trajectory, other: Trajectory) -> bool:
    """Whether a proof has left a motion as it was."""
    names = ("position", "orientation", "velocity", "acceleration", "status")
    return one is other or all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in names
    )


def _numbered(space: Workspace) -> Floats:
    """The log of the tasks, with workers numbered from 0; -1 for tasks that are not done."""
    events, done = space.log.copy(), space.done.astype(bool)
    events[~done, 2] = -1.0
    events[done, 2] = np.unique(events[done, 2], return_inverse=True)[1]
    return events


class _Progress:
    """Share of the work that is done, reported by one thread at a time."""

    def __init__(self, runner: TaskRunner, report: Progress | None) -> None:
        tasks, done = runner.job.tasks, runner.space.done.astype(bool)
        spans = np.diff(tasks.bounds)[:, None] * np.array([len(call) for call in tasks.calls])
        self._weight = spans.ravel() / max(1, spans.sum())
        self._share, self._flag, self._report = float(self._weight[done].sum()), runner.stop, report
        self.failure: BaseException | None = None

    def finished(self, task: int) -> None:
        self._share += float(self._weight[task])

    def proceeds(self) -> bool:
        """Report; whether to continue. False from the callback, or an exception, stops the run."""
        try:
            if self._report is not None and self._report(min(1.0, self._share)) is False:
                self.stop()
        except BaseException as failure:
            self.failure = failure
            self.stop()
        return not self._flag[0]

    def stop(self) -> None:
        self._flag[0] = 1


def _solved(
    runner: TaskRunner, executor: ExecutorType, pool: Executor, wanted: Ints, report: Progress | None
) -> Trajectory:
    """Perform all tasks that are not done yet, and collect the results."""
    runner.begin()
    try:
        with _one_thread_of_blas(runner.job), HANDOVERS[executor.memory](runner) as handover:
            _dispatch(runner, executor, pool, handover, report)
    except TaskError as error:
        error.trajectory = runner.finished().trajectory(wanted)
        raise
    return runner.finished().trajectory(wanted)


def _dispatch(
    runner: TaskRunner, executor: ExecutorType, pool: Executor, handover: Handover, report: Progress | None
) -> None:
    tasks, todo = runner.job.tasks, np.flatnonzero(runner.space.done == 0).tolist()
    if not todo:
        return
    progress, undone = _Progress(runner, report), set(todo)
    if not executor.parallel:
        runner.between = progress.proceeds

    def take(task: int, result: object) -> bool:
        done = handover.take(task, result)
        if done:
            progress.finished(task)
        return done

    try:
        dispatch(
            {task: [need for need in tasks.before(task).tolist() if need in undone] for task in todo},
            pool,
            handover.call,
            take,
            progress.proceeds,
            executor.at_once(runner.job.plan.workers),
            progress.stop,
        )
    except CallFailed as failed:
        raise _named(runner, failed) from failed.__cause__
    if progress.failure is not None:
        raise progress.failure


def _named(runner: TaskRunner, failed: CallFailed) -> BaseException:
    """The error of a failed call, with its task; of a dead worker, with all tasks it may have run."""
    cause = failed.__cause__
    if isinstance(cause, TaskError):
        return cause
    if isinstance(cause, BrokenExecutor):
        started = [task for task in failed.running if runner.space.log[task, 0] >= 0.0]
        how = str(cause).partition("The exit codes of the workers are ")[2].partition("\n")[0]
        return runner.failed(sorted(started or failed.running), f"worker process died{how and ': '}{how}")
    return runner.failed([failed.task], f"{type(cause).__name__}: {cause}")


@contextmanager
def _one_thread_of_blas(job: Job) -> Iterator[None]:
    """Limit BLAS to one thread for each worker; of all tasks, reactions alone call it."""
    if job.plan.workers == 1 or not job.plan.backwards:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


#: By model and chosen solvers, the model with these.
_BUILT: WeakKeyDictionary[Model, dict[tuple[tuple[int, str], ...], Model]] = WeakKeyDictionary()


def _by_solvers(model: Model, plan: Plan) -> Model:
    """The model with the solvers of a plan in addition to its own choices, built once."""
    choices = {**model.choices, **plan.solvers}
    if choices == model.choices:
        return model
    built = _BUILT.setdefault(model, {})
    chosen = tuple(sorted(choices.items()))
    if chosen not in built:
        built[chosen] = build(model.structure, solvers=choices)
    return built[chosen]


@contextmanager
def _workspace(job: Job, executor: ExecutorType, folder: Path | None, resume: bool) -> Iterator[Workspace]:
    """Arrays of a run; temporary files are removed afterwards."""
    if folder is not None:
        with (existing if resume else new)(job, folder) as space:
            yield space
    elif executor.memory == "mapped":
        with scratch(room_for_files(job.shapes)) as made:
            yield in_files(job.shapes, made)
    else:
        # Reactions read arrays that other tasks have not filled yet.
        yield in_memory(job.shapes, np.zeros if job.plan.backwards else job.life.memory)
