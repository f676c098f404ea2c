"""Study of a model's routes: predictions of all plans, measurements of the best few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from groups.model import Model, model_of
from groups.motion import Motion, default_motion
from groups.setting import Setting
from groups.solvers.registry import alternatives
from groups.trajectory import Level
from mbssa import Mechanism, Structure
from mbssa.arrays import Floats
from mbssa.progress import Progress
from routes.calibration import costs as calibrated
from routes.calibration.machine import cores, give_back_memory
from routes.calibration.reactions import with_reactions
from routes.cost import Costs
from routes.dag import Dag
from routes.enumeration import TooLarge, count
from routes.event_log import EventLog
from routes.executors import default_executor, executor_named
from routes.plan import GRAIN, Plan, even_chunk, parallel_route, plan_of, sequential_route
from routes.plan_candidates import LEAST, Candidate, candidates
from routes.predict import Prediction, predict
from routes.reverse import dag_with_reactions, steps_of
from routes.run import logged_run
from routes.scaling import WORKERS, Scaling, scaling
from routes.tasks import tasks_of

#: Routes whose plans are predicted.
PREDICTED = 200

#: Share of the time of a group's own solver below which another solver is tried.
CHEAPER = 0.9

#: Least share of the time of all groups that a solver must save; less is below the noise.
NOTICED = 0.02

#: Effort limit of counting routes: about a second.
COUNTED = 100_000

#: The longest motion, in time steps, for which the break-even is sought.
LONGEST = 10**8


@dataclass(frozen=True, eq=False)
class Trial:
    """A plan that was predicted and run.

    Attributes
    ----------
    kind : of plan: ``sequential``, ``other solvers``, ``time chunks``, ``stages`` …
    measured : s of each repeat
    log : of the fastest repeat

    Examples
    --------
    >>> import groups, mbssa, routes
    >>> model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    >>> alone = routes.study(model, workers=1, repeats=3).sequential
    >>> alone.kind, len(alone.measured), alone.seconds > 0.0
    ('sequential', 3, True)
    """

    kind: str
    plan: Plan
    prediction: Prediction
    measured: tuple[float, ...]
    log: EventLog

    @property
    def seconds(self) -> float:
        """Least of the repeats, as costs are: other programs on the machine only add time."""
        return min(self.measured)

    @property
    def error(self) -> float:
        """Predicted over measured, less 1."""
        return self.prediction.seconds / self.seconds - 1.0

    @property
    def idle(self) -> Floats:
        """(workers,) share of the run in which each worker had no task."""
        return self.log.schedule(self.plan.workers).idle_in(self.seconds)


@dataclass(frozen=True, eq=False)
class Study:
    """Result of :func:`study`; ``best`` is a plan for :func:`routes.run`.

    Attributes
    ----------
    trials : those that were run, the fastest first
    routes : number of routes up to interchange of equal groups
    told_apart : number of routes with equal groups distinct
    predicted : plans that were predicted, by kind
    costs : of the predictions

    Examples
    --------
    >>> import groups, mbssa, routes
    >>> model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    >>> found = routes.study(model, workers=1, repeats=1)
    >>> found.best == found.trials[0].plan, routes.run(model, found.best).ok
    (True, True)
    """

    model: Model
    motion: Motion
    workers: int
    level: Level
    trials: tuple[Trial, ...]
    routes: int | None
    told_apart: int | None
    predicted: dict[str, int]
    costs: Costs

    def _repr_html_(self) -> str:
        from mbssa.reports.html import html_of

        return html_of(self, "routes.reports.study:study_report", "routes.plots.gantt:study_gantt")

    @property
    def best(self) -> Plan:
        """The plan that was fastest."""
        return self.trials[0].plan

    @property
    def machine(self) -> str:
        """The processor, in words."""
        return self.costs.machine

    @property
    def sequential(self) -> Trial:
        """One group after another."""
        return next(trial for trial in self.trials if trial.kind == "sequential")

    @property
    def parallel(self) -> Trial | None:
        """The fastest with more than one worker."""
        return next((trial for trial in self.trials if trial.plan.workers > 1), None)

    def speed_up(self, trial: Trial) -> float:
        """Speed-up over sequential, from the least times of interleaved repeats."""
        return self.sequential.seconds / trial.seconds

    def is_doubtful(self, trial: Trial) -> bool:
        """Whether workers cannot give such a speed-up by the same solvers: sequential was disturbed."""
        same = trial.plan.solvers == self.sequential.plan.solvers
        return same and self.speed_up(trial) > trial.plan.workers

    @cached_property
    def pays_from(self) -> int | None:
        """Time steps from which a measured parallel plan is faster than all on one core; None for no number.

        Predicted for other lengths, scaled by measured over predicted time at this one.
        """
        if self.parallel is None:
            return None
        low, high = GRAIN, GRAIN
        while not self._pays(high):
            low, high = high, 2 * high
            if high > LONGEST:
                return None
        while high - low > max(GRAIN, high // 100):
            middle = (low + high) // 2
            low, high = (low, middle) if self._pays(middle) else (middle, high)
        return high

    def _pays(self, instants: int) -> bool:
        def scaled(trial: Trial) -> float:
            found = predict(self.model, of_length(trial.plan, instants), self.costs)
            return found.seconds * trial.seconds / trial.prediction.seconds

        alone = min(scaled(trial) for trial in self.trials if trial.plan.workers == 1)
        return any(scaled(trial) < alone for trial in self.trials if trial.plan.workers > 1)


def of_length(plan: Plan, instants: int) -> Plan:
    """The plan for a motion of another number of instants, in as many chunks."""
    chunks = min(plan.chunks, max(1, instants // GRAIN))
    return replace(plan, instants=instants, chunk=even_chunk(instants, chunks))


def study(
    model: Model | Structure | Mechanism,
    motion: Motion | None = None,
    *,
    workers: int | None = None,
    executors: Sequence[str] = ("threads", "processes"),
    top: int = 2,
    repeats: int = 5,
    level: Level = "acceleration",
    forces: bool = False,
    recalibrate: bool = False,
    progress: Progress | None = None,
) -> Study:
    """Predict the plans of a model, run the best of each kind, and find the fastest.

    Parameters
    ----------
    motion : the model's own by default
    workers : threads or processes; as many as this machine has cores by default
    executors : parallel ones that are tried; sequential always is
    top : plans of each kind and executor that are run
    forces : study motions forwards and reactions backwards as one plan
    repeats : of every plan, interleaved
    recalibrate : measure the costs anew instead of using stored ones
    progress : called with the step under way, and the share that is done

    Raises
    ------
    ValueError
        No workers or repeats, no such executor, and as :meth:`groups.Model.solve`.

    Examples
    --------
    >>> import groups, mbssa, routes
    >>> platform = mbssa.load("stewart_inverse")
    >>> motion = groups.default_motion(platform, steps=1001)
    >>> found = routes.study(platform, motion, workers=2, executors=["threads"], top=1, repeats=1)
    >>> found.routes, found.told_apart, found.best.instants
    (32, 4683, 1001)
    """
    model = model_of(model)
    workers = cores() if workers is None else workers
    executors = (executors,) if isinstance(executors, str) else executors
    faults = [
        f"{name} is {value}; write 1 or more"
        for name, value in (("workers", workers), ("top", top), ("repeats", repeats))
        if value < 1
    ]
    types = []
    for name in executors:
        try:
            types.append(executor_named(name))
        except ValueError as error:
            faults.append(str(error))
    if forces and level != "acceleration":
        faults.append(f"forces need accelerations, and level is {level}; write acceleration")
    faults += [
        f"executor {each.name}: its workers are not measured here; leave it out"
        for each in types
        if not each.measurable
    ]
    if faults:
        raise ValueError("; ".join(faults))
    executors = [each.name for each in types if each.parallel]  # the sequential one is always studied
    motion = default_motion(model.mechanism) if motion is None else motion
    if forces:
        steps_of(model)  # refused before anything is measured
    report = progress or (lambda _what, _share: None)
    report("calibrating", 0.0)
    costs = calibrated(
        model, motion, level=level, executors=executors, workers=workers, recalibrate=recalibrate
    )
    for others in _alternatives(model):
        costs = calibrated(model, motion, level=level, executors=(), alternatives=others)
    if forces:
        costs = with_reactions(costs, model, motion)
    report("predicting", 0.0)
    chosen, predicted = _chosen(model, len(motion.time), workers, executors, costs, top, forces)
    measured: list[list[tuple[float, EventLog]]] = [[] for _ in chosen]
    # Once by each executor with each choice of solvers, so that no repeat compiles any.
    plans = [candidate.plan for candidate, _ in chosen]
    warm = {(plan.executor, *sorted(plan.solvers.items())): plan for plan in reversed(plans)}
    for plan in warm.values():
        logged_run(model, plan, motion, level=level, compiled=True)
    for repeat in range(repeats):
        for k, (candidate, _) in enumerate(chosen):
            report("running", (repeat + k / len(chosen)) / repeats)
            give_back_memory()
            outcome = logged_run(model, candidate.plan, motion, level=level, compiled=True)
            measured[k].append((outcome.seconds, outcome.log))
    trials = []
    for (candidate, prediction), runs in zip(chosen, measured, strict=True):
        _, log = min(runs, key=lambda run: run[0])
        trials.append(Trial(candidate.kind, candidate.plan, prediction, tuple(run[0] for run in runs), log))
    trials.sort(key=lambda trial: trial.seconds)
    return Study(model, motion, workers, level, tuple(trials), *_counted(model, forces), predicted, costs)


def best_plan(
    model: Model,
    motion: Motion,
    *,
    workers: int,
    executors: Sequence[str] = ("threads",),
    level: Level = "acceleration",
    costs: Costs | None = None,
    parallel: bool = False,
) -> Plan:
    """The plan with the least predicted time; no plan is run.

    Parameters
    ----------
    costs : of the model (:func:`routes.costs`); stored ones, or else measured now, by default
    parallel : leave the sequential one out, if there is another

    Examples
    --------
    >>> import groups, mbssa, routes
    >>> model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    >>> one = groups.default_motion(model.mechanism, steps=1)
    >>> routes.best_plan(model, one, workers=2).executor
    'sequential'
    """
    if costs is None:
        costs = calibrated(model, motion, level=level, executors=executors, workers=workers)
    chosen, _ = _chosen(model, len(motion.time), workers, executors, costs, 1)
    if parallel and len(chosen) > 1:
        chosen = [pair for pair in chosen if pair[0].kind != "sequential"]
    return min(chosen, key=lambda pair: pair[1].seconds)[0].plan


def predicted_scaling(
    model: Model,
    motion: Motion,
    workers: Sequence[int] = WORKERS,
    *,
    level: Level = "acceleration",
    recalibrate: bool = False,
) -> dict[str, Scaling]:
    """Predicted speed-up on each number of workers, by kind of plan; the workers share no cores.

    Submission overhead is that of this machine's threads; communication over a network is not included.

    Examples
    --------
    >>> import groups, mbssa
    >>> model = groups.build(mbssa.decompose(mbssa.load("stewart_inverse")))
    >>> motion = groups.default_motion(model.mechanism, steps=1001)
    >>> list(predicted_scaling(model, motion, (1, 2, 4)))
    ['stages', 'time chunks', 'chunked stages']
    """
    name = default_executor()
    costs = calibrated(model, motion, level=level, executors=(name,), recalibrate=recalibrate)
    instants = len(motion.time)
    alone = plan_of(model, sequential_route(model), instants=instants)
    sequential = predict(model, alone, costs).seconds
    chunks = max(1, min(4 * max(workers), instants // LEAST))
    found = {}
    for kind, route, count_of in (
        ("stages", parallel_route(model), 1),
        ("time chunks", sequential_route(model), chunks),
        ("chunked stages", parallel_route(model), chunks),
    ):
        plan = plan_of(model, route, instants=instants, chunks=count_of, executor=name, workers=2)
        tasks = tasks_of(plan, model)
        found[kind] = scaling(
            costs.task_seconds(tasks, plan),
            tasks.needs_start,
            tasks.needs,
            workers,
            handing=costs.handing(name),
            around=costs.around_seconds(plan, tasks),
            sequential=sequential,
        )
    return found


def _chosen(
    model: Model,
    instants: int,
    workers: int,
    executors: Sequence[str],
    costs: Costs,
    top: int,
    forces: bool = False,
) -> tuple[list[tuple[Candidate, Prediction]], dict[str, int]]:
    """The best few plans of each kind and executor, and how many were predicted of each kind."""
    found: dict[tuple[str, str], list[tuple[Candidate, Prediction]]] = {}
    predicted: dict[str, int] = {}
    for candidate in candidates(
        model,
        instants,
        workers=workers,
        executors=executors,
        seconds=costs.group_seconds(instants),
        stage=costs.handing(default_executor()),
        call=costs.handing(default_executor()),
        most=PREDICTED,
        solvers=_cheaper(instants, costs),
        forces=forces,
    ):
        predicted[candidate.kind] = predicted.get(candidate.kind, 0) + 1
        same = found.setdefault((candidate.kind, candidate.plan.executor), [])
        same.append((candidate, predict(model, candidate.plan, costs)))
        same.sort(key=lambda pair: pair[1].seconds)
        del same[top:]
    return [pair for same in found.values() for pair in same], predicted


def _alternatives(model: Model) -> Iterator[dict[int, str]]:
    """Alternative solvers that may be cheaper, by group number."""
    setting = Setting.of(model.structure)
    options: list[tuple[int, str, tuple[str, ...]]] = [
        (group.number, solver.choice, alternatives(group, setting, solver.default or solver))
        for group, solver in zip(model.structure.groups, model.solvers, strict=True)
    ]
    for solver in ("closed form", "Newton"):
        found: dict[int, str] = {
            n: solver for n, own, others in options if solver in others and solver != own
        }
        if found:
            yield found


def _cheaper(instants: int, costs: Costs) -> dict[int, str]:
    """Solvers that are cheaper than a group's own beyond measurement error, by group number."""
    own = costs.group_seconds(instants)
    whole = float(own.sum())
    found: dict[int, str] = {}
    for name in costs.alternatives:
        number, _, solver = name.partition(" ")
        group = int(number)
        seconds = costs.group_seconds(instants, {group: solver})[group - 1]
        saved = own[group - 1] - seconds
        if saved > (1.0 - CHEAPER) * own[group - 1] and saved > NOTICED * whole:
            own[group - 1] = seconds
            found[group] = solver
    return found


def _counted(model: Model, forces: bool) -> tuple[int | None, int | None]:
    dag = dag_with_reactions(model) if forces else Dag.of(model)
    try:
        return count(dag, effort=COUNTED), count(dag, symmetry=False, effort=COUNTED)
    except TooLarge:
        return None, None
