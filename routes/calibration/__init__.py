"""Costs measured on this machine, and stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from groups.model import Model
from groups.motion import Motion, default_motion
from groups.trajectory import Level, level_number
from mbssa.store import StoreError
from routes.calibration.cost_store import key_of, store, stored
from routes.calibration.executors import LEAST_AT_ONCE, measured_executor
from routes.calibration.machine import this_machine
from routes.calibration.measuring import measured_costs, with_alternatives
from routes.cost import Costs
from routes.executors import ExecutorCosts, default_executor, executor_named

__all__ = ["costs", "stored_costs"]


def costs(
    model: Model,
    motion: Motion | None = None,
    *,
    level: Level = "acceleration",
    executors: Sequence[str] = ("threads",),
    workers: int | None = None,
    alternatives: Mapping[int, str] | None = None,
    recalibrate: bool = False,
) -> Costs:
    """Costs of a model's tasks on this machine: stored ones, else measured now, in 1 to 5 s.

    They are stored (:mod:`mbssa.store`) for this machine, model, level and, to a power of two, number of
    instants. Executors that they do not have are measured at their first use, and again where
    other programs kept their workers from running at once; those of MPI are assumed.

    Parameters
    ----------
    motion : the model's own by default
    level : the highest level of the solution
    executors : other than sequential
    workers : on which they are measured; as many as there are cores by default, and at most
    alternatives : by group number, another solver that plans may choose
    recalibrate : measure anew

    Raises
    ------
    ValueError
        No such executor or level; and as :meth:`groups.Model.solve`.
    mbssa.store.StoreError
        The store cannot be used.

    Examples
    --------
    >>> import groups, mbssa
    >>> from routes.calibration import costs
    >>> model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    >>> motion = groups.default_motion(model.mechanism, steps=1001)
    >>> found = costs(model, motion, executors=[])
    >>> bool(0.0 < found.group_seconds(500).sum() <= found.group_seconds(1000).sum())
    True
    """
    answers = level_number(level)
    motion = default_motion(model.mechanism) if motion is None else motion
    machine = this_machine()
    workers = min(workers or machine.cores, machine.cores)
    key = key_of(machine, model, answers, len(motion.time))
    found = None if recalibrate else stored(key)
    if found is None:
        found = measured_costs(model, motion, level)
        store(key, found)  # at once, since the user may stop what follows
    here = _measurable(executors)
    for name in dict.fromkeys([default_executor(), *here] if here and workers > 1 else []):
        # A machine that was busy with other programs shows nothing of contention between workers.
        if not _is_known(found, name, workers) or found.executors[name].at_once < LEAST_AT_ONCE:
            measured = measured_executor(model, motion, level, found, name, workers)
            found = replace(found, executors={**found.executors, name: _merged(found, name, measured)})
            store(key, found)
    new = {g: s for g, s in (alternatives or {}).items() if f"{g} {s}" not in found.alternatives}
    if new:
        found = with_alternatives(found, model, motion, level, new)
        store(key, found)
    return found


def stored_costs(
    model: Model, motion: Motion, *, level: Level, executors: Sequence[str], workers: int
) -> Costs | None:
    """Costs stored by :func:`costs` for a motion of similar length; None without any."""
    machine = this_machine()
    workers = min(workers, machine.cores)
    try:
        found = stored(key_of(machine, model, level_number(level), len(motion.time)), near=True)
    except StoreError:  # without stored costs a run takes the default plan
        return None
    if found is None or not all(_is_known(found, name, workers) for name in _measurable(executors)):
        return None
    return found


def _measurable(executors: Sequence[str]) -> list[str]:
    types = map(executor_named, executors)
    return [each.name for each in types if each.parallel and each.measurable]


def _merged(found: Costs, name: str, measured: ExecutorCosts) -> ExecutorCosts:
    """Costs measured with one number of workers, merged with those of others."""
    known = found.executors.get(name)
    if known is None or known.assumed != measured.assumed:
        return measured
    points = {**dict(known.slowdown), **dict(measured.slowdown)}
    return replace(measured, slowdown=tuple(sorted(points.items())))


def _is_known(found: Costs, name: str, workers: int) -> bool:
    known = found.executors.get(name)
    return known is not None and workers in dict(known.slowdown)
