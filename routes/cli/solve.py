"""Command ``mbssa solve`` with workers, a plan or a checkpoint (entry point ``mbssa.runner``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from groups.cli.running import Request
from groups.model import Model
from groups.motion import Motion
from groups.trajectory import Level, Trajectory
from mbssa import mpi_rank
from routes.calibration import stored_costs
from routes.calibration.machine import cores
from routes.checkpoint import stored_plan
from routes.executors import default_executor, executor_named, is_parallel, launched_executor
from routes.plan import Plan, plan_of, sequential_route
from routes.plan_candidates import LEAST
from routes.reports.study import short
from routes.run import run
from routes.study import best_plan

#: Default number of chunks with a checkpoint.
KEPT_CHUNKS = 64


@dataclass(frozen=True, eq=False)
class PlannedSolve:
    """A model's :meth:`groups.Model.solve`, by a plan."""

    model: Model
    plan: Plan
    request: Request
    why: str

    @property
    def how(self) -> str:
        """The plan in words."""
        return f"{short(self.plan)} ({self.why})" if self.why else short(self.plan)

    def __call__(self, motion: Motion, **chosen: object) -> Trajectory:
        """The trajectory; keywords as :func:`routes.run` has them. Ranks that have none of it end here."""
        request = self.request
        found = run(
            self.model,
            self.plan,
            motion,
            checkpoint=request.checkpoint,
            resume=request.resume,
            **chosen,  # type: ignore[arg-type]
        )
        if mpi_rank.rank() > 0:
            raise SystemExit(0)
        return found


def runner(request: Request, model: Model, motion: Motion, level: Level) -> PlannedSolve:
    """Return the solver of a request: the plan of a file, or the plan that is predicted fastest."""
    faults = []
    if request.resume and request.checkpoint is None:
        faults.append("--resume: goes on from a checkpoint; write --checkpoint FOLDER too")
    launched = launched_executor()
    if launched and request.executor not in (None, launched.name):
        faults.append(
            f"--executor {request.executor}: under its launcher a run is on the executor {launched.name}; "
            "leave it out"
        )
    if request.executor is not None:
        try:
            executor_named(request.executor)
        except ValueError as error:
            faults.append(f"--executor {request.executor}: {error}")
    if faults:
        raise ValueError("\n  ".join(faults))
    why = ""
    if request.plan is not None:
        plan = _of_the_file(request.plan, request)
        try:
            plan.check(model)
        except ValueError as error:
            raise ValueError(f"{request.plan}: {error}") from None
    elif request.resume and request.checkpoint is not None:
        stored = stored_plan(request.checkpoint, model.mechanism.name, len(motion.time))
        plan = replace(stored, executor=_executor(request), workers=_workers(request))
    else:
        plan, why = _planned(request, model, motion, level)
    return PlannedSolve(model, plan, request, why)


def _of_the_file(path: Path, request: Request) -> Plan:
    """The plan of a file, with the workers and the executor of the request."""
    plan, launched = Plan.load(path), launched_executor()
    if request.executor is not None or launched:
        workers = _workers(request) if plan.workers == 1 or launched else plan.workers
        plan = replace(plan, executor=_executor(request), workers=workers)
    if request.workers is not None:
        alone = request.workers > 1 and not is_parallel(plan.executor)
        executor = default_executor() if alone else plan.executor
        plan = replace(plan, workers=request.workers, executor=executor)
    try:
        executor_named(plan.executor)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return plan


def _planned(request: Request, model: Model, motion: Motion, level: Level) -> tuple[Plan, str]:
    """A plan, and the reason for it."""
    executor, workers, instants = executor_named(_executor(request)), _workers(request), len(motion.time)

    def all_groups(chunks: int) -> Plan:
        route = sequential_route(model)
        return plan_of(
            model,
            route,
            instants=instants,
            chunks=max(1, min(chunks, instants // LEAST)),
            executor=executor.name,
            workers=workers,
        )

    costs = None
    if executor.parallel and executor.measurable and workers > 1:
        costs = stored_costs(model, motion, level=level, executors=(executor.name,), workers=workers)
    if costs is not None:
        # A named executor is used even where one core would be faster.
        named = request.executor is not None
        plan = best_plan(
            model,
            motion,
            workers=workers,
            executors=(executor.name,),
            level=level,
            costs=costs,
            parallel=named,
        )
        why = "predicted fastest"
    else:
        plan = all_groups(workers * (2 if executor.parallel and executor.started() < 2 else 1))
        why = "" if workers == 1 else "a default: mbssa routes finds out which is fastest"
    if request.checkpoint is not None and len(plan.calls) == 1 and plan.chunks < KEPT_CHUNKS:
        plan = replace(all_groups(KEPT_CHUNKS), executor=plan.executor, workers=plan.workers)
    return plan, why


def _executor(request: Request) -> str:
    launched = launched_executor()
    if request.executor is not None or launched:
        return request.executor or (launched.name if launched else "")
    return "sequential" if request.workers == 1 else default_executor()


def _workers(request: Request) -> int:
    if request.workers is not None:
        return request.workers
    executor = executor_named(_executor(request))
    return executor.started() or (cores() if executor.parallel else 1)
