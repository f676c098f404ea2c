"""A study of routes as a table for people and as plain data."""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Any

from mbssa.reports.table import Report, Table, plain
from mbssa.texts import counted
from routes.plan_candidates import KINDS, LEAST

if TYPE_CHECKING:
    from routes.plan import Plan
    from routes.study import Study, Trial

#: Characters of a route before it is shortened.
_LONG = 40

#: Median error of the predictions from which a warning is printed.
DOUBTFUL = 0.3

#: Workers up to which each idle share is printed.
_EACH = 4


def study_report(study: Study) -> Report:
    """Predictions, measurements, and the fastest plan."""
    kinds = dict.fromkeys(trial.kind for trial in study.trials)
    return Report(
        (
            *head(study),
            _table(study),
            *(f"  {kind}: {KINDS[kind]}" for kind in kinds),
            "  in plans: > then, | side by side, + one after another in one call",
            *(["  -n: reactions of group n"] if study.best.backwards else []),
            "",
            *verdict(study),
        ),
        lambda: record(study),
    )


def head(study: Study) -> list[str]:
    """Subject of a study: model, motion, machine, numbers of routes and plans."""
    structure = study.model.structure
    levels, groups = len(structure.levels), structure.n_groups
    lines = [
        f"{structure.mechanism.name}: {counted(groups, 'group')} in {counted(levels, 'level')}, "
        f"{counted(len(study.motion.time), 'instant')} up to {study.level}",
        f"{counted(study.workers, 'worker')} on {study.machine}",
    ]
    if study.routes is None:
        lines.append("Routes: too many to be counted")
    elif study.routes == study.told_apart:
        lines.append(f"{counted(study.routes, 'route')}")
    else:
        lines.append(
            f"{counted(study.routes, 'route')} where equal groups are interchangeable "
            f"({study.told_apart:,} told apart)"
        )
    plans = sum(study.predicted.values())
    lines.append(f"{counted(plans, 'plan')} predicted, {len(study.trials)} of them run")
    return lines


def _table(study: Study) -> Table:
    """A row for each plan that was run."""
    unit, factor = ("s", 1.0) if study.sequential.seconds >= 10.0 else ("ms", 1e3)
    figures = (f"Predicted {unit}", f"Measured {unit}", "Error", "Speed-up", "Idle")

    def cells(trial: Trial) -> tuple[str, ...]:
        return (
            trial.kind,
            short(trial.plan),
            f"{trial.prediction.seconds * factor:.3g}",
            f"{trial.seconds * factor:.3g}",
            f"{trial.error:+.0%}",
            f"{study.speed_up(trial):.2f}{'?' * study.is_doubtful(trial)}",
            _idle(trial),
        )

    return Table(("Kind", "Plan", *figures), study.trials, cells, figures, whole=("Kind",))


def short(plan: Plan) -> str:
    """A plan in words; of a long route only its beginning."""
    route, _, rest = str(plan).partition(", ")
    if len(route) > _LONG:
        cut = route[:_LONG].rstrip("0123456789")
        route = f"{cut}… ({counted(len(plan.calls), 'call')} in {counted(len(plan.stages), 'stage')})"
    return f"{route}, {rest}"


def verdict(study: Study) -> list[str]:
    """Sentences on the fastest plan, and on the number of instants from which parallel pays."""
    best, parallel = study.trials[0], study.parallel
    lines = [f"Fastest: {best.kind}, {short(best.plan)}"]
    if best.kind == "sequential":
        if parallel is not None:
            slower = parallel.seconds / best.seconds
            lines[0] += f"; sequential wins here, the best parallel plan takes {slower:.2f} times as long"
    else:
        lines[0] += f"; speed-up {study.speed_up(best):.2f} over sequential"
    if doubtful := [trial for trial in study.trials if study.is_doubtful(trial)]:
        low, high = min(study.sequential.measured), max(study.sequential.measured)
        most = max(doubtful, key=study.speed_up)
        lines.append(
            f"A speed-up of {study.speed_up(most):.2f} is more than {most.plan.workers} workers can give: "
            f"{counted(len(study.sequential.measured), 'sequential run')} took {1e3 * low:.3g} to "
            f"{1e3 * high:.3g} ms, disturbed by other programs; write more --repeats, or wait for them"
        )
    if (off := median(abs(trial.error) for trial in study.trials)) > DOUBTFUL:
        lines.append(
            f"Half of the predictions are off by {off:.0%} or more: the machine is busier than when its "
            "costs were measured, or was then; --recalibrate measures them anew"
        )
    if parallel is None:
        lines.append(_why_not_parallel(study))
    elif study.pays_from is None:
        lines.append("Parallel is predicted never to pay for this model on this machine")
    else:
        lines.append(
            f"Parallel pays from about {study.pays_from:,} instants on, as predicted from these measurements"
        )
    return lines


def _why_not_parallel(study: Study) -> str:
    if study.workers < 2:
        return "No parallel plan was run: write --workers 2 or more"
    if any(trial.plan.backwards for trial in study.trials):
        return (
            "No parallel plan was run: no two groups can be solved side by side, and motions with reactions "
            "are not cut in time"
        )
    return (
        "No parallel plan was run: no two groups can be solved side by side, and "
        f"{counted(len(study.motion.time), 'instant')} cannot be cut; write --steps {2 * LEAST} or more"
    )


def record(study: Study) -> dict[str, Any]:
    """The study as texts and numbers; s."""
    return {
        "model": study.model.mechanism.name,
        "groups": study.model.structure.n_groups,
        "levels": len(study.model.structure.levels),
        "instants": len(study.motion.time),
        **plain(study, "level workers machine routes"),
        "routes_told_apart": study.told_apart,
        **plain(study, "predicted pays_from"),
        "trials": [
            {
                "kind": trial.kind,
                "plan": json.loads(trial.plan.to_json()),
                "predicted": trial.prediction.seconds,
                "measured": trial.seconds,
                "repeats": list(trial.measured),
                "error": trial.error,
                "speed_up": study.speed_up(trial),
                "doubtful": study.is_doubtful(trial),
                "idle": trial.idle.tolist(),
            }
            for trial in study.trials
        ],
    }


def _idle(trial: Trial) -> str:
    shares = [f"{share:.0%}" for share in trial.idle.tolist()]
    if len(shares) <= _EACH:
        return " ".join(shares)
    return f"{min(trial.idle):.0%} to {max(trial.idle):.0%}"
