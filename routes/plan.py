"""Plan of a run: a kinematic route with calls, chunks, executor and solvers, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, get_args

from groups.model import Model
from mbssa.files import write_whole
from routes.executors import is_parallel
from routes.reverse import needs_of, numbers

#: Stages in sequence of group numbers in parallel.
Route = tuple[tuple[int, ...], ...]

#: Predecessors of a call: all calls of the stage before, or those that it needs.
Wait = Literal["stage", "needs"]

#: Chunks begin at multiples of this number of time steps: whole vectors of the machine code.
GRAIN = 32

FORMAT = 1


@dataclass(frozen=True)
class Plan:
    """A kinematic route, cut into calls and chunks, with its executor.

    Attributes
    ----------
    stages : stages of calls of group numbers. A call solves its groups one after another; calls of one stage
        need nothing of each other. A number with a minus is the balance of the group's reactions,
        which needs the motion of all bodies between which the group's joints and force elements act, and the
        reactions of the groups that depend on it; with one there have to be all
    instants : of the motion
    chunk : instants of a chunk of time, a multiple of 32; the last chunk is shorter
    wait : in its chunk, a call waits for the whole ``stage`` before it, or only for the calls that it
        ``needs``
    executor : sequential, threads, processes, mpi, or cluster: the current ``distributed.Client``, else the
        scheduler of ``DASK_SCHEDULER_ADDRESS``, else processes. All give the same bits
    workers : threads, processes or ranks
    solvers : by group number, where it is not the registry's choice

    Examples
    --------
    >>> import groups, mbssa
    >>> model = groups.build(mbssa.decompose(mbssa.load("stewart_inverse")))
    >>> plan = plan_of(model, [(1,), (2, 3, 4), (5, 6, 7)], instants=1000, executor="threads", workers=2)
    >>> plan.route
    ((1,), (2, 3, 4), (5, 6, 7))
    >>> str(plan)
    '1 > 2|3|4 > 5|6|7, threads × 2'
    """

    stages: tuple[tuple[tuple[int, ...], ...], ...]
    instants: int
    chunk: int
    wait: Wait = "needs"
    executor: str = "sequential"
    workers: int = 1
    solvers: Mapping[int, str] = field(default_factory=dict)

    @property
    def calls(self) -> tuple[tuple[int, ...], ...]:
        """Group numbers of each call, stage by stage."""
        return tuple(call for stage in self.stages for call in stage)

    @property
    def chunks(self) -> int:
        """Chunks of time."""
        return -(-self.instants // self.chunk)

    @property
    def backwards(self) -> bool:
        """Whether it includes reactions."""
        return any(group < 0 for call in self.calls for group in call)

    @property
    def route(self) -> Route:
        """The groups of each stage."""
        return tuple(tuple(sorted(g for call in stage for g in call)) for stage in self.stages)

    def __str__(self) -> str:
        stages = " > ".join("|".join("+".join(map(str, call)) for call in stage) for stage in self.stages)
        parts = [stages]
        if self.chunks > 1:
            parts.append(f"{self.chunks} chunks of {self.chunk}")
        if len(self.stages) > 1 and self.wait == "stage":
            parts.append("stage by stage")
        parts += [f"SG-{group} by {solver}" for group, solver in sorted(self.solvers.items())]
        parts.append(f"{self.executor} × {self.workers}" if is_parallel(self.executor) else self.executor)
        return ", ".join(parts)

    def check(self, model: Model) -> None:
        """Check that a plan fits a model.

        Raises
        ------
        ValueError
            Missing, duplicate or unknown groups, calls before their predecessors, chunks that do not
            fit: all of them.
        """
        faults = _faults_of_choices(self)
        groups = model.structure.n_groups
        needs = needs_of(model) if self.backwards else model.needs
        number = numbers(groups)[: len(needs)]
        if self.backwards and self.chunks > 1:
            faults.append(f"{self.chunks} chunks: reactions take the whole motion at once; write one chunk")
        seen: dict[int, tuple[int, int, int]] = {}
        for s, stage in enumerate(self.stages):
            for k, call in enumerate(stage):
                for place, group in enumerate(call):
                    if not 1 <= abs(group) <= groups:
                        faults.append(f"there is no group {group}; the groups are 1 to {groups}")
                    elif group in seen:
                        faults.append(f"group {group} is a duplicate")
                    seen[group] = s, k, place
        missing = [str(g) for g in number if g not in seen]
        if missing:
            faults.append(f"no stage has group {', '.join(missing)}")
        pairs = [(g, number[n]) for g, before in zip(number, needs, strict=True) for n in before]
        for after, needed in pairs if not faults else ():
            (s, k, place), before = seen[after], seen[needed]
            if before[0] > s or (before[0] == s and (before[1] != k or before[2] > place)):
                faults.append(f"group {after} needs group {needed}, which is not solved before it")
        if faults:
            raise ValueError("the plan does not fit: " + "; ".join(faults))

    def to_json(self) -> str:
        """The plan as text."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n"

    @staticmethod
    def from_json(text: str) -> Plan:
        """The plan of a text.

        Raises
        ------
        ValueError
            No plan: every fault, with its place.

        Examples
        --------
        >>> plan = Plan((((1, 2),),), 100, 128)
        >>> Plan.from_json(plan.to_json()) == plan
        True
        """
        from pydantic import TypeAdapter, ValidationError

        try:
            record = json.loads(text)
        except ValueError as error:
            raise ValueError(f"no JSON: {error}") from None
        if not isinstance(record, dict) or record.pop("format", None) != FORMAT:
            raise ValueError(f'a plan is a JSON object with "format": {FORMAT}')
        record.pop("start", None)  # of older plans, whose chunks could depend on each other
        unknown = set(record) - set(Plan.__dataclass_fields__)
        try:
            plan = TypeAdapter(Plan).validate_python(record)
        except ValidationError as error:
            parts = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
            raise ValueError("; ".join(parts)) from None
        faults = [f"there is no field {name}" for name in sorted(unknown)] + _faults_of_choices(plan)
        if faults:
            raise ValueError("; ".join(faults))
        return plan

    def save(self, path: str | Path) -> None:
        """Write the plan to a JSON file."""
        write_whole(Path(path), self.to_json().encode())

    @staticmethod
    def load(path: str | Path) -> Plan:
        """Read a plan from a JSON file.

        Raises
        ------
        ValueError
            No plan: every fault, with the file.
        OSError
            The file cannot be read.
        """
        try:
            return Plan.from_json(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: {error}; mbssa routes MODEL --save FILE.json writes a plan") from None


def _faults_of_choices(plan: Plan) -> list[str]:
    faults = []
    for name in ("instants", "chunk", "workers"):
        if getattr(plan, name) < 1:
            faults.append(f"{name} is {getattr(plan, name)}; write 1 or more")
    if plan.chunk % GRAIN and plan.chunks > 1:
        faults.append(f"chunk is {plan.chunk}; write a multiple of {GRAIN}")
    if plan.wait not in get_args(Wait):
        faults.append(f"wait is {plan.wait!r}; write {' or '.join(get_args(Wait))}")
    return faults


def plan_of(
    model: Model,
    route: Sequence[Sequence[int]],
    *,
    instants: int,
    chunks: int = 1,
    wait: Wait = "needs",
    executor: str = "sequential",
    workers: int = 1,
    batch: bool = False,
    solvers: Mapping[int, str] | None = None,
) -> Plan:
    """The plan of a route; successive stages of one call each become one call.

    Parameters
    ----------
    route : stages of group numbers
    chunks : pieces of the time axis, as even as multiples of 32 instants can be
    batch : whether equal groups of a stage go into one call: as many such calls as there are workers

    Raises
    ------
    ValueError
        A route that does not fit the model.

    Examples
    --------
    >>> import groups, mbssa
    >>> model = groups.build(mbssa.decompose(mbssa.load("stewart_inverse")))
    >>> str(plan_of(model, [(1,), (2,), (3,), (4, 5, 6, 7)], instants=1000, workers=2, batch=True))
    '1+2+3 > 4+6|5+7, sequential'
    """
    faults = [
        f"{name} is {number}; write 1 or more"
        for name, number in (("instants", instants), ("chunks", chunks), ("workers", workers))
        if number < 1
    ]
    if faults:
        raise ValueError("; ".join(faults))
    stages: list[list[tuple[int, ...]]] = []
    for stage in route:
        calls = _batches(model, stage, workers) if batch else [(group,) for group in stage]
        if stages and len(calls) == 1 and len(stages[-1]) == 1:
            stages[-1][0] += calls[0]
        else:
            stages.append(list(calls))
    plan = Plan(
        tuple(tuple(stage) for stage in stages),
        instants,
        even_chunk(instants, chunks),
        wait,
        executor,
        workers,
        dict(solvers or {}),
    )
    plan.check(model)
    return plan


def even_chunk(instants: int, chunks: int) -> int:
    """Time steps of each chunk, a multiple of 32."""
    return -(-instants // (chunks * GRAIN)) * GRAIN


def sequential_route(model: Model) -> Route:
    """One group after another, in canonical order.

    >>> import groups, mbssa
    >>> sequential_route(groups.build(mbssa.decompose(mbssa.load("planar_four_bar"))))
    ((1,), (2,))
    """
    return tuple((group,) for group in range(1, model.structure.n_groups + 1))


def sequential_with_reactions(model: Model) -> Route:
    """One group after another in canonical order, then their reactions in reverse.

    >>> import groups, mbssa
    >>> sequential_with_reactions(groups.build(mbssa.decompose(mbssa.load("planar_four_bar"))))
    ((1,), (2,), (-2,), (-1,))
    """
    forwards = sequential_route(model)
    return (*forwards, *((-group,) for (group,) in reversed(forwards)))


def parallel_route(model: Model) -> Route:
    """Every group as early as possible: one stage for each level.

    >>> import groups, mbssa
    >>> parallel_route(groups.build(mbssa.decompose(mbssa.load("stewart_inverse"))))
    ((1,), (2, 3, 4, 5, 6, 7))
    """
    return model.structure.levels


def _batches(model: Model, stage: Sequence[int], workers: int) -> list[tuple[int, ...]]:
    """Calls of a stage: groups of one solver dealt to as many calls as there are workers."""
    kinds: dict[tuple[str, int, bool], list[int]] = {}
    for group in stage:
        solver = model.solvers[abs(group) - 1]
        kinds.setdefault((solver.name, solver.n_unknowns, group > 0), []).append(group)
    return [
        tuple(groups[first::workers])
        for groups in kinds.values()
        for first in range(min(workers, len(groups)))
    ]
