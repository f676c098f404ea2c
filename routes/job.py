"""One motion to be solved by a plan, and the solution of one task of it: the same in every executor."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from groups.engine.arrays import Life, pitch_of
from groups.engine.solve import Solving, life_of, plan_of
from groups.model import Model
from groups.motion import Motion
from groups.run import Run, finished
from groups.trajectory import Trajectory
from mbssa.arrays import Ints
from routes.plan import Plan
from routes.reverse import answer_shapes, steps_of
from routes.tasks import Tasks, tasks_of
from routes.workspace import Shapes, Workspace

#: An array, and an index of a part of it.
Place = tuple[npt.NDArray[Any], Any]

#: Time steps of a slice, after which a task checks whether the run has been stopped.
SLICE = 40 * 256


class TaskError(RuntimeError):
    """A task that failed: its groups, its time steps, the cause. Results of other tasks remain.

    Attributes
    ----------
    task : number
    trajectory : the part that was solved; None until the run has ended

    Examples
    --------
    >>> str(TaskError("SG-3 (1P1U1S3D), chunk 1 of 1 (instants 0 to 9): MemoryError: ", 0)).split(",")[0]
    'SG-3 (1P1U1S3D)'
    """

    def __init__(self, text: str, task: int) -> None:
        super().__init__(text, task)
        self.task = task
        self.trajectory: Any = None

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, eq=False)
class Job:
    """One motion to be solved by a plan. Without results; it can be sent to other processes."""

    model: Model
    motion: Motion
    plan: Plan
    tasks: Tasks
    bodies: Ints  # indices of the bodies of the result, and of those that its checks need
    level: int  # 0 for positions, 1 for velocities too, 2 for accelerations too
    compiled: bool

    def __getstate__(self) -> dict[str, Any]:
        """The fields, of the model its pickle, and the object code that there is of it."""
        model = pickle.dumps(self.model, protocol=5)
        return {**self.__dict__, "model": model, "code": plan_of(self.model).code}

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = _unpickled(state["model"])
        plan_of(model).code.update(state.pop("code"))
        self.__dict__.update(state, model=model)

    @property
    def life(self) -> Life:
        """The way in which the engine solves it here."""
        return life_of(plan_of(self.model), self.compiled)

    @property
    def shapes(self) -> Shapes:
        """Shape and kind of all arrays of a workspace."""
        n, instants = len(self.tasks), len(self.motion.time)
        # Calls that read what others have solved read the axes of bodies too.
        alone = all(self._is_alone(set(call)) for call in self.tasks.calls)
        rows = self.life.height if alone else self.life.plan.height
        return {
            "numbers": ((rows, pitch_of(instants)), np.float64),
            "done": ((n,), np.uint8),
            "log": ((n, 3), np.float64),
            **(answer_shapes(self.model, instants) if self.plan.backwards else {}),
        }

    def _is_alone(self, call: set[int]) -> bool:
        needs = self.model.needs
        return all(call.issuperset(needs[g]) for g in call if g < len(needs))


@lru_cache(maxsize=1)
def _unpickled(model: bytes) -> Model:
    """A model sent to this process, with all that has been made of it here for earlier jobs."""
    found = pickle.loads(model)
    assert isinstance(found, Model)
    return found


def job_of(model: Model, motion: Motion, plan: Plan, wanted: Ints, level: int, compiled: bool) -> Job:
    """Job of a plan that fits the model; ``wanted`` are ascending indices of the bodies of the result."""
    if plan.instants != len(motion.time):
        raise ValueError(
            f"the plan is for {plan.instants:,} instants and the motion has {len(motion.time):,}; "
            "plan again, or change the motion"
        )
    return Job(model, motion, plan, _tasks(plan, model), model.held_bodies(wanted), level, compiled)


#: By model, the plan that it ran last, and its tasks.
_LAST: WeakKeyDictionary[Model, tuple[Plan, Tasks]] = WeakKeyDictionary()


def _tasks(plan: Plan, model: Model) -> Tasks:
    """The tasks of a plan, checked; of one that is run again and again, the same ones."""
    last = _LAST.get(model)
    if last is None or last[0] is not plan:
        plan.check(model)
        last = _LAST[model] = plan, tasks_of(plan, model)
    return last[1]


class TaskRunner:
    """A job with the arrays it works on, in the process that works on them."""

    def __init__(self, job: Job, space: Workspace) -> None:
        self.job, self.space = job, space
        self.stop: npt.NDArray[np.uint8] = np.zeros(1, dtype=np.uint8)
        self.between: Callable[[], object] = lambda: None
        self.written = 0
        instants, n = len(job.motion.time), job.model.structure.n_groups
        self.solving = Solving(job.model, job.motion, space.numbers[:, :instants], compiled=job.compiled)
        #: By call, indices of the groups that it solves, and of those whose reactions it finds.
        self.solved = [[g for g in call if g < n] for call in job.tasks.calls]
        self.balanced = [[g - n for g in call if g >= n] for call in job.tasks.calls]

    def begin(self) -> None:
        """Find where all instants begin, unless tasks have been done already."""
        self.solving.begin(anew=not self.space.done.any())

    def perform(self, task: int) -> bool:
        """Perform one task whose predecessors are done; False if it has been stopped."""
        _, call = self.job.tasks.place(task)
        self.space.log[task, 0] = begin = self.now()
        try:
            for step in self._steps(call, *self.job.tasks.span(task)):
                self.between()
                if self.stop[0]:
                    return False
                step()
        except Exception as error:
            raise self.failed([task], f"{type(error).__name__}: {error}") from error
        self.note(task, begin, self.now(), threading.get_native_id())
        return True

    def _steps(self, call: int, first: int, end: int) -> Iterator[Callable[[], None]]:
        """Work of a call over a span, in pieces between which it may be stopped."""
        while first < end and self.solved[call]:
            stop = min((first // SLICE + 1) * SLICE, end)
            yield partial(self.solving.advance, first, stop, self.solved[call])
            first = stop
        for group in self.balanced[call]:
            steps = steps_of(self.job.model)
            yield partial(steps.perform, group, self.moved(), self.space.answers)

    def moved(self) -> Trajectory:
        """Present state of all bodies in the array."""
        job = self.job
        none = np.zeros((job.model.structure.n_groups, len(job.motion.time)), dtype=np.int8)
        return Run(job.model, self.solving.answer(job.bodies, job.level, none)).trajectory()

    @staticmethod
    def now() -> float:
        """Seconds of the clock that all processes of this machine share."""
        return perf_counter()

    def note(self, task: int, begin: float, end: float, worker: int) -> None:
        """Note that a task is done: s of its beginning and end, and any number of its worker."""
        self.space.log[task] = begin, end, worker
        self.space.done[task] = 1

    def places_of(self, task: int) -> tuple[list[Place], list[Place]]:
        """Arrays and the places in them that a task reads, and those that it writes; the log apart."""
        space, model, (_, call) = self.space, self.job.model, self.job.tasks.place(task)
        span, balanced = slice(*self.job.tasks.span(task)), self.balanced[call]
        mine, read = self.solving.rows_of(self.solved[call])
        reads, writes = list[Place](), list[Place]([(space.numbers, (mine, span))])
        if balanced:
            steps = steps_of(model).steps
            bodies = sorted({body for group in balanced for body in steps[group].reads})
            rows = np.concatenate([read, *(plan_of(model).rows_of_body(body) for body in bodies)])
            read = rows[rows < len(space.numbers)]
            later = {g for group in balanced for g in steps[group].later} - set(balanced)
            reads += [(space.answers.slots, steps[g].slots) for g in sorted(later)]
            for group in balanced:
                writes += [
                    (space.answers.slots, steps[group].slots),
                    (space.answers.drives, steps[group].drives),
                    (space.answers.status, slice(group, group + 1)),
                ]
        return [*reads, (space.numbers, (read, span))], writes

    def finished(self) -> Run:
        """The engine's answer, in which tasks that are not done are not computed."""
        solving, space, tasks = self.solving, self.space, self.job.tasks
        if space.folder is not None:  # a later run continues from the array as the tasks have left it
            solving.X = space.numbers.copy()[:, : len(self.job.motion.time)]
        missing = None
        for task in np.flatnonzero(space.done == 0).tolist():
            if missing is None:
                missing = np.zeros((self.job.model.structure.n_groups, len(self.job.motion.time)), np.bool_)
            groups, span = self.solved[tasks.place(task)[1]], slice(*tasks.span(task))
            missing[groups, span] = True
            solving.X[solving.rows_of(groups)[0], span] = 0.0
        return finished(solving, self.job.bodies, self.job.level, missing=missing)

    def failed(self, tasks: Sequence[int], why: str) -> TaskError:
        """The error that names tasks, one of which failed, and the cause."""
        return TaskError(f"{' or '.join(map(self._named, tasks))}: {why}", tasks[0])

    def _named(self, task: int) -> str:
        tasks = self.job.tasks
        chunk, call = tasks.place(task)
        first, stop = tasks.span(task)
        names, n = self.job.model.group_names, self.job.model.structure.n_groups
        groups = ", ".join(
            f"{'reactions of ' if g >= n else ''}SG-{g % n + 1} ({names[g % n]})"
            for g in tasks.calls[call][:4]
        )
        more = len(tasks.calls[call]) - 4
        groups += f" and {more} more" if more > 0 else ""
        return f"{groups}, chunk {chunk + 1} of {len(tasks.bounds) - 1} (instants {first:,} to {stop - 1:,})"
