"""The command ``mbssa routes``."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from groups.cli.running import motion_to_solve, solvable_model
from groups.trajectory import Level
from mbssa import load, mpi_rank
from mbssa.cli.console import fail, present, refuse, stopping
from mbssa.cli.options import ALLOW, FORCE, FORMAT, MODEL, TRUST, flag, option
from mbssa.cli.outputs import STILL, Target, target_faults
from mbssa.progress import bar

if TYPE_CHECKING:
    from groups.model import Model
    from groups.motion import Motion
    from routes.study import Study


@stopping("costs that were measured are kept")
def routes(
    model: str = MODEL,
    workers: int | None = option("N", "Threads or processes; all cores if not given.", min=1),
    executors: str = option("NAME,...", "Parallel executors to try.", "threads,processes"),
    motion: Path | None = option("FILE", "Laws (.toml) or columns (.csv); the model's own if not given."),
    steps: int = option("N", "Instants.", 10_000, min=1),
    duration: float | None = option("S", "Seconds, from the beginning."),
    level: Level = option(
        "LEVEL", "The last one wanted: position, velocity or acceleration.", "acceleration"
    ),
    forces: bool = flag("--forces", "Find reactions too, backwards over the same groups."),
    top: int = option("K", "Plans of each kind and executor that are run.", 2, min=1),
    repeats: int = option("N", "Times that each plan is run.", 5, min=1),
    recalibrate: bool = flag("--recalibrate", "Measure this machine's costs anew."),
    simulate_workers: str | None = option("N,...", "Predict the speed-up instead: 1,2,4,...,1024."),
    save: Path | None = option("FILE", "Write the fastest plan: .json, for solve --plan."),
    gantt: Path | None = option("FILE", "Draw the fastest plans over time, predicted and measured."),
    tree: Path | None = option("FILE", "Draw the tree of routes, as the paper's Fig. 7."),
    curve: Path | None = option("FILE", "Draw the predicted speed-up over --simulate-workers."),
    force: bool = FORCE,
    trust: bool = TRUST,
    allow: list[Path] | None = ALLOW,
    form: str = FORMAT,
) -> None:
    """Find the fastest way through the structural groups of MODEL.

    Plans of every kind are predicted from costs that are measured on this
    machine once; the best of each kind are run in turn, sequential among them.

    Exit 0: studied; 1: the model cannot be solved as given; 2: bad input; 130: stopped.

    Example: mbssa routes stewart_inverse --workers 2 --gantt gantt.png

    Example: mbssa routes rotor --forces --steps 2000
    """
    if mpi_rank.size() > 1:
        fail("mbssa routes measures one machine: start it without mpiexec")
    targets = [
        Target(option, path, endings)
        for option, path, endings in (
            ("--save", save, (".json",)),
            ("--gantt", gantt, STILL),
            ("--tree", tree, STILL),
            ("--curve", curve, STILL),
        )
        if path is not None
    ]
    faults = target_faults(targets, [model, motion], force)
    counts: tuple[int, ...] = ()
    if simulate_workers is not None:
        try:
            counts = worker_counts(simulate_workers)
        except ValueError as error:
            faults.append(str(error))
        faults += [
            f"{option}: needs a study; leave --simulate-workers out"
            for option, path in (("--save", save), ("--gantt", gantt))
            if path is not None
        ]
        if forces:
            faults.append("--forces: needs a study; leave --simulate-workers out")
    elif curve is not None:
        faults.append("--curve: draws what --simulate-workers predicts; write both")
    if forces and tree is not None:
        faults.append("--tree: draws routes of motions alone; leave --forces out")
    names = [name.strip() for name in executors.split(",") if name.strip()]
    faults += executor_faults(names)
    refuse(faults)
    found = solvable_model(load(model), model)
    moved = motion_to_solve(found, model, motion, steps, duration, None, level)
    try:
        if tree is not None:
            _draw_tree(found, tree)
        if counts:
            _simulate(found, moved, counts, level, curve, recalibrate, form)
            return
        from routes.study import study

        with bar() as report:
            result = study(
                found,
                moved,
                workers=workers,
                executors=names,
                top=top,
                repeats=repeats,
                level=level,
                forces=forces,
                recalibrate=recalibrate,
                progress=report,
            )
    except ValueError as error:
        fail(str(error))
    _deliver_study(result, save, gantt, form)


def worker_counts(text: str) -> tuple[int, ...]:
    """Numbers of workers, ascending; ``...`` continues the geometric progression of the two before."""
    advice = f"--simulate-workers {text}: write numbers, such as 1,2,4,8 or 1,2,4,...,1024"
    parts = [part.strip() for part in text.replace("…", "...").split(",")]
    found: list[int] = []
    for k, part in enumerate(parts):
        if part == "...":
            if len(found) < 2 or k != len(parts) - 2 or not _is_whole(parts[-1]) or found[-1] <= found[-2]:
                raise ValueError(advice)
            factor, last = found[-1] / found[-2], int(parts[-1])
            while round(found[-1] * factor) < last:
                found.append(round(found[-1] * factor))
        elif _is_whole(part) and int(part) > 0:
            found.append(int(part))
        else:
            raise ValueError(advice)
    return tuple(sorted(set(found)))


def _is_whole(text: str) -> bool:
    return text.isdecimal() and len(text) < 19


def executor_faults(names: list[str]) -> list[str]:
    """Faults in the names of executors, one for each."""
    from routes.executors import executor_named

    faults = [] if names else ["--executors: names none; write threads or processes"]
    for name in names:
        try:
            executor_named(name)
        except ValueError as error:
            faults.append(f"--executors {name}: {error}")
    return faults


def _simulate(
    model: Model,
    motion: Motion,
    counts: tuple[int, ...],
    level: Level,
    curve: Path | None,
    recalibrate: bool,
    form: str,
) -> None:
    from routes.reports.scaling import scaling_report
    from routes.study import predicted_scaling

    found = predicted_scaling(model, motion, counts, level=level, recalibrate=recalibrate)
    if curve is not None:
        from routes.plots.scaling import draw_scaling

        title = f"{model.mechanism.name}, {len(motion.time):,} instants"
        best = max(found, key=lambda kind: float(found[kind].speed_up.max()))
        others = {kind: scaling for kind, scaling in found.items() if kind != best}
        draw_scaling(found[best], curve, title=title, name=best, beside=others)
    present(scaling_report(found), form)


def _draw_tree(model: Model, path: Path) -> None:
    """The whole tree if it fits, else that of the first routes and the parallel one."""
    from routes.dag import Dag
    from routes.enumeration import count, enumerate_routes, tree, tree_of
    from routes.plan import parallel_route
    from routes.plots.tree import MOST_ROUTES, draw_tree

    dag, name = Dag.of(model), model.mechanism.name
    there = count(dag)
    if there <= MOST_ROUTES:
        title = f"{name}: {there:,} routes" if there > 1 else f"{name}: 1 route"
        draw_tree(tree(dag), path, title=title, fold=True)
        return
    some = [*islice(enumerate_routes(dag), MOST_ROUTES - 1), parallel_route(model)]
    draw_tree(
        tree_of(dag, dict.fromkeys(some)), path, title=f"{name}: {len(some)} of {there:,} routes", fold=True
    )


def _deliver_study(result: Study, save: Path | None, gantt: Path | None, form: str) -> None:
    from routes.reports.study import study_report

    if save is not None:
        result.best.save(save)
    if gantt is not None:
        from routes.plots.gantt import charts_of, draw_gantt

        draw_gantt(charts_of(result), gantt, title=result.model.mechanism.name)
    present(study_report(result), form)
