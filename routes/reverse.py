"""Routes with reactions: the motion of the groups along the DAG, then their reactions in reverse order."""

# The reactions of a group have its number with a minus. They need its motion, that of all bodies between
# which its joints and force elements act, and the reactions of the groups that depend on it. In tables of
# indices there are first the G motions, then the G balances of reactions.

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

import numpy as np

from groups.dynamics.one_group import Answers, Steps
from groups.model import Model
from routes.dag import Dag

_STEPS: WeakKeyDictionary[Model, Steps] = WeakKeyDictionary()


def numbers(groups: int) -> tuple[int, ...]:
    """Numbers of the motions of all groups, then of their reactions, in the order of their indices."""
    return (*range(1, groups + 1), *range(-1, -groups - 1, -1))


def steps_of(model: Model) -> Steps:
    """Balances of reactions of a model, group by group, made once."""
    if model not in _STEPS:
        _STEPS[model] = Steps.of(model.structure, model.frames)
    return _STEPS[model]


def needs_of(model: Model) -> tuple[tuple[int, ...], ...]:
    """Predecessors by index: of motions, then of balances of reactions."""
    steps, n = steps_of(model), model.structure.n_groups
    back = tuple(
        tuple(sorted((*needed, *(n + g for g in step.later))))
        for needed, step in zip(steps.needs, steps.steps, strict=True)
    )
    return (*(tuple(needed) for needed in model.needs), *back)


def dag_with_reactions(model: Model) -> Dag:
    """The DAG of motions and reactions together, for :func:`routes.count` and the other enumerations.

    Index g is the motion of group g + 1; G + g its reactions, which a plan calls -(g + 1).

    Raises
    ------
    ValueError
        Groups with redundant equations.

    Examples
    --------
    >>> import groups, mbssa, routes
    >>> model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    >>> routes.count(routes.dag_with_reactions(model))
    1
    """
    forwards = Dag.of(model)
    return Dag(needs_of(model), (*forwards.labels, *(f"reactions of {label}" for label in forwards.labels)))


def signed(route: Iterable[Iterable[int]], groups: int) -> tuple[tuple[int, ...], ...]:
    """A route of :func:`dag_with_reactions`, numbered from 1 to 2 G, in the numbers of plans.

    >>> signed(((1,), (2,), (4,), (3,)), 2)
    ((1,), (2,), (-2,), (-1,))
    """
    plan_number = numbers(groups)
    return tuple(tuple(plan_number[number - 1] for number in stage) for stage in route)


def empty_answers(model: Model, instants: int) -> Answers:
    """Arrays in memory for the reactions of a motion."""
    made = {name: np.zeros(shape, kind) for name, (shape, kind) in answer_shapes(model, instants).items()}
    return Answers(made["reactions"], made["efforts"], made["balanced"])


def answer_shapes(model: Model, instants: int) -> dict[str, tuple[tuple[int, ...], type[np.generic]]]:
    """Shape and kind of each array of the reactions, by name."""
    last = steps_of(model).steps[-1]
    return {
        "reactions": ((last.slots.stop, 6, instants), np.float64),
        "efforts": ((last.drives.stop, instants), np.float64),
        "balanced": ((model.structure.n_groups, instants), np.int8),
    }
