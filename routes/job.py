"""One motion to be solved by a plan, and the solution of one task of it: the same in every executor."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from groups.dynamics.one_group import Step
from groups.engine.solve import Solving, plan_of
from groups.model import Model
from groups.motion import Motion
from groups.results.arrays import shapes
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
    # (rows,) indices of the bodies in the arrays: of the result, and those that other calls need
    bodies: Ints
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
    def shapes(self) -> Shapes:
        """Shape and kind of all arrays of a workspace."""
        n, instants = len(self.tasks), len(self.motion.time)
        return {
            **shapes(self.model, instants, len(self.bodies), self.level),
            "numbers": ((plan_of(self.model).height, instants), np.float64),
            "done": ((n,), np.uint8),
            "log": ((n, 3), np.float64),
            **(answer_shapes(self.model, instants) if self.plan.backwards else {}),
        }


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
    tasks = _tasks(plan, model)
    exchanged = {body for call in tasks.calls for body in _needed_by(model, call)}
    bodies = np.array(
        sorted({*wanted.tolist(), *exchanged, *model.held_bodies(wanted).tolist()}), dtype=np.int64
    )
    return Job(model, motion, plan, tasks, bodies, level, compiled)


#: By model, the plan that it ran last, and its tasks.
_LAST: WeakKeyDictionary[Model, tuple[Plan, Tasks]] = WeakKeyDictionary()


def _tasks(plan: Plan, model: Model) -> Tasks:
    """The tasks of a plan, checked; of one that is run again and again, the same ones."""
    last = _LAST.get(model)
    if last is None or last[0] is not plan:
        plan.check(model)
        last = _LAST[model] = plan, tasks_of(plan, model)
    return last[1]


@dataclass(frozen=True, eq=False)
class Part:
    """Groups that one call solves."""

    groups: Ints  # indices, each after those that it needs
    loaded: Ints  # bodies that others have solved and these groups need
    written: Ints  # bodies of these groups


class TaskRunner:
    """A job with the arrays it works on, in the process that works on them."""

    def __init__(self, job: Job, space: Workspace) -> None:
        self.job, self.space = job, space
        self.stop: npt.NDArray[np.uint8] = np.zeros(1, dtype=np.uint8)
        self.between: Callable[[], object] = lambda: None
        self.written = 0
        model = job.model
        self.run = Run(model, job.motion, job.bodies, job.level, space.answer, job.compiled)
        self.solving = Solving(model, job.motion, space.numbers, compiled=job.compiled)
        row_of = np.full(model.mechanism.n_bodies, -1)
        row_of[job.bodies] = np.arange(len(job.bodies))
        self.parts: list[Part] = []
        self._row_of = row_of
        start, bodies = model.structure.members
        for call in job.tasks.calls:
            forwards = [g for g in call if g < model.structure.n_groups]
            mine = np.array([b for g in forwards for b in bodies[start[g] : start[g + 1]]], dtype=np.int64)
            # The frame belongs to no group; the first call writes its pose.
            mine = np.append(mine, 0) if not self.parts else mine
            written = np.sort(mine[row_of[mine] >= 0])
            loaded = np.array(sorted(_needed_by(model, call)), dtype=np.int64)
            self.parts.append(Part(np.array(forwards, dtype=np.int64), loaded, written))

    def begin(self) -> None:
        """Find where all instants begin, unless tasks have been done already."""
        anew = not self.space.done.any()
        self.solving.begin(anew=anew)
        if anew and self.job.plan.backwards:  # they read the pose of the frame, whichever call writes it
            self.run.place_frame(0, len(self.job.motion.time))

    def perform(self, task: int) -> bool:
        """Perform one task whose predecessors are done; False if it has been stopped."""
        space = self.space
        _, call = self.job.tasks.place(task)
        first, end = self.job.tasks.span(task)
        space.log[task, 0] = begin = self.now()
        while first < end and len(self.parts[call].groups):
            self.between()
            if self.stop[0]:
                return False
            stop = min((first // SLICE + 1) * SLICE, end)
            try:
                self._advance(first, stop, self.parts[call])
            except Exception as error:
                raise self.failed([task], f"{type(error).__name__}: {error}") from error
            first = stop
        for group in self._balanced_by(call):
            self.between()
            if self.stop[0]:
                return False
            try:
                steps_of(self.job.model).perform(group, self.moved(), space.answers)
            except Exception as error:
                raise self.failed([task], f"{type(error).__name__}: {error}") from error
        self.note(task, begin, self.now(), threading.get_native_id())
        return True

    def _advance(self, first: int, stop: int, part: Part) -> None:
        self.solving.advance(first, stop, part.groups.tolist())
        if self.job.plan.backwards:  # reactions read the answer
            none = np.zeros(self.run.arrays.quality[0].shape, dtype=np.int8)
            found, rows = self.solving.arrays(part.written, self.job.level, none), self._row_of[part.written]
            for mine, theirs in zip(self.run.arrays.outputs, found.outputs, strict=True):
                mine[rows, first:stop] = theirs[:, first:stop]

    def _balanced_by(self, call: int) -> list[int]:
        """Indices of the groups whose reactions a call finds, in its order."""
        n = self.job.model.structure.n_groups
        return [g - n for g in self.job.tasks.calls[call] if g >= n]

    def moved(self) -> Trajectory:
        """Present state of all bodies in the arrays."""
        return self.run.trajectory(self.job.bodies)

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
        space, answer = self.space, self.space.answer
        _, call = self.job.tasks.place(task)
        span, part = slice(*self.job.tasks.span(task)), self.parts[call]
        loaded, reads, writes = part.loaded, list[Place](), list[Place]()
        if balanced := self._balanced_by(call):
            steps, joints = steps_of(self.job.model).steps, self.job.model.mechanism.joints
            bodies = {body for group in balanced for body in steps[group].reads}
            loaded = np.array(sorted({*loaded.tolist(), *bodies} - {*part.written.tolist()}), dtype=np.int64)
            later = {g for group in balanced for g in steps[group].later} - set(balanced)
            reads += [(space.answers.slots, _slots(steps[g])) for g in sorted(later)]
            for group in balanced:
                first = steps[group].drives
                n_driven = sum(len(joints[joint].driven) for joint in steps[group].joints)
                writes += [
                    (space.answers.slots, _slots(steps[group])),
                    (space.answers.drives, slice(first, first + n_driven)),
                    (space.answers.status, slice(group, group + 1)),
                ]
        outputs = [array for array in answer.outputs if array.shape[1]]
        mine, others = self.solving.rows_of(part.groups.tolist())
        reads.append((space.numbers, (np.concatenate([mine, others]), span)))
        writes.append((space.numbers, (mine, span)))
        reads += [(array, (self._row_of[loaded], span)) for array in outputs]
        writes += [(array, (self._row_of[part.written], span)) for array in outputs]
        writes += [(array, (part.groups.tolist(), span)) for array in answer.quality]
        return reads, writes

    def finished(self) -> Run:
        """The engine's answer, in which tasks that are not done are not computed."""
        solving, space, tasks = self.solving, self.space, self.job.tasks
        if space.folder is not None:  # a later run continues from the array as the tasks have left it
            solving.X = solving.X.copy()
        missing = np.zeros((self.job.model.structure.n_groups, len(self.job.motion.time)), dtype=np.bool_)
        for task in np.flatnonzero(space.done == 0).tolist():
            groups = self.parts[tasks.place(task)[1]].groups
            missing[groups[:, None], np.arange(*tasks.span(task))] = True
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


def _needed_by(model: Model, call: tuple[int, ...]) -> set[int]:
    """Bodies of other calls that a call's groups need."""
    of_body, n = model.structure.group_of_body, model.structure.n_groups
    return {body for g in call if g < n for body in model.neighbours[g] if int(of_body[body]) - 1 not in call}


def _slots(step: Step) -> slice:
    """Slots of the joints and locked passive rotations of a group, which are contiguous."""
    return slice(step.slots[0][1], step.slots[-1][1] + len(step.slots[-1][0]))
