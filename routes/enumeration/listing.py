"""Lazy enumeration of routes, one of each orbit."""

# A route is built stage by stage. The groups of a stage are chosen recursively over the shape of the DAG:
# equal parallel parts in the same state choose a multiset; a prime order with remaining automorphisms chooses
# the lexicographically largest of equivalent choices.

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from mbssa.structure import Structure
from routes.dag import Dag
from routes.enumeration.composition import Composition, Shape, TooLarge, compose

if TYPE_CHECKING:
    from groups.model import Model

#: Stages of group numbers (from 1), ascending within a stage.
Route: TypeAlias = tuple[tuple[int, ...], ...]

#: Of a group, its stage from 1, or 0 while it has none; of parts, the states of each.
State: TypeAlias = "int | tuple[State, ...]"

#: The choices of a part from one of them on, numbered.
_Choice: TypeAlias = Callable[[int], Iterator[tuple[int, State]]]

#: Depth of nested parts, at most.
DEEPEST = 150


def enumerate_routes(source: Dag | Structure | Model, symmetry: bool = True) -> Iterator[Route]:
    """All kinematic routes, lazily and in a fixed order; with ``symmetry`` one of each orbit.

    The fully sequential route in the order of solution comes first, the fully parallel one (by levels) last.

    Parameters
    ----------
    source : a DAG, or a structure or model, whose DAG is labelled as :meth:`Dag.of` says
    symmetry : leave out images of earlier routes under automorphisms of the labelled DAG

    Raises
    ------
    TooLarge
        Parts of the DAG are nested deeper than 150.

    Examples
    --------
    >>> import mbssa
    >>> list(enumerate_routes(mbssa.decompose(mbssa.load("theo_jansen"))))
    [((1,), (2,), (3,), (4,)), ((1,), (2, 3), (4,))]
    """
    dag = source if isinstance(source, Dag) else Dag.of(source)
    if not len(dag):
        yield ()
        return
    composition = compose(dag if symmetry else told_apart(dag))
    first = tuple((group + 1,) for group in dag.order)
    yield first
    for state in states(composition.shape):
        route = route_of(composition, state)
        if route != first:
            yield route


def told_apart(dag: Dag) -> Dag:
    """The same DAG with distinct labels, which has no symmetry."""
    return Dag(dag.needs, tuple(map(str, range(len(dag)))))


def states(shape: Shape) -> Iterator[State]:
    """Complete states of a shape, one for each orbit of its routes."""
    if shape.depth > DEEPEST:
        raise TooLarge(
            f"parts of the DAG are nested {shape.depth} deep; routes are listed down to a depth of {DEEPEST}"
        )
    start = untouched(shape)
    open_stages = [(start, following(shape, start, 1))]
    while open_stages:
        state = next(open_stages[-1][1], None)
        if state is None:
            open_stages.pop()
        elif state == open_stages[-1][0]:
            continue  # an empty stage
        elif is_complete(state):
            yield state
        else:
            open_stages.append((state, following(shape, state, len(open_stages) + 1)))


def untouched(shape: Shape) -> State:
    """State before the first stage."""
    return 0 if shape.kind == "single" else tuple(untouched(part) for part in shape.parts)


def is_complete(state: State) -> bool:
    """Whether every group has its stage."""
    return state > 0 if isinstance(state, int) else all(map(is_complete, state))


def following(shape: Shape, state: State, stage: int) -> Iterator[State]:
    """The states after one more stage; first that of an empty stage, last that of a full one."""
    if isinstance(state, int):
        yield state
        if not state:
            yield stage
        return
    if shape.kind == "series":
        done = next((i for i, part in enumerate(state) if not is_complete(part)), None)
        if done is None:
            yield state
            return
        for inner in following(shape.parts[done], state[done], stage):
            yield (*state[:done], inner, *state[done + 1 :])
        return
    ready = _ready(shape, state)
    choices = [
        _choice(shape.parts[i], part, stage) if ready[i] else _no_choice(part) for i, part in enumerate(state)
    ]
    tied = _ties(shape, state)
    stabiliser = [view for view in shape.views if view(state) == state]
    for picked in _pick(choices, tied):
        numbers = tuple(number for number, _ in picked)
        if all(numbers >= view(numbers) for view in stabiliser):
            yield tuple(inner for _, inner in picked)


def route_of(composition: Composition, state: State) -> Route:
    """Route of a complete state."""
    stage_of = list(_leaves(state))
    stages: list[list[int]] = [[] for _ in range(max(stage_of, default=0))]
    for group, stage in sorted(zip(composition.places, stage_of, strict=True)):
        stages[stage - 1].append(group + 1)
    return tuple(map(tuple, stages))


def canonical(shape: Shape, stage_of: Sequence[int], first: int = 0) -> State:
    """Canonical form: equal for the partial routes of one orbit, and for no others."""
    # Numbers of stages, or other labels, are at the shape's places from `first` on.
    if shape.kind == "single":
        return stage_of[first]
    inner: list[Any] = []
    for part, times in shape.runs:
        after = first + times * part.size
        if part.kind == "single":
            equal: list[Any] = list(stage_of[first:after])
        else:
            equal = [canonical(part, stage_of, place) for place in range(first, after, part.size)]
        if shape.kind == "parallel" and times > 1:
            equal.sort()
        inner += equal
        first = after
    found = tuple(inner)
    return min(found, *(view(found) for view in shape.views)) if shape.views else found


def _leaves(state: State) -> Iterator[int]:
    if isinstance(state, int):
        yield state
    else:
        for part in state:
            yield from _leaves(part)


def _ready(shape: Shape, state: tuple[State, ...]) -> list[bool]:
    """Parts that may continue: in a prime order, only after their predecessors."""
    if shape.kind == "parallel":
        return [True] * len(state)
    complete = sum(1 << i for i, part in enumerate(state) if is_complete(part))
    return [not needs & ~complete for needs in shape.needs]


def _choice(shape: Shape, state: State, stage: int) -> _Choice:
    return lambda low: islice(enumerate(following(shape, state, stage)), low, None)


def _no_choice(state: State) -> _Choice:
    return lambda low: iter([(0, state)])


def _ties(shape: Shape, state: tuple[State, ...]) -> list[int]:
    """Next equal part in an equal state, by part, whose choice must not be larger; -1 for none."""
    tied = [-1] * len(state)
    if shape.kind == "parallel":
        last: dict[object, int] = {}
        for i, part in enumerate(state):
            key = (shape.parts[i].number, part)
            if key in last:
                tied[last[key]] = i
            last[key] = i
    return tied


def _pick(choices: Sequence[_Choice], tied: Sequence[int]) -> Iterator[list[tuple[int, State]]]:
    """One of the choices of each part, the first part's changing fastest."""
    trails: list[Iterator[tuple[int, State]]] = [iter(())] * len(choices)
    picked: list[tuple[int, State]] = [(0, 0)] * len(choices)
    changed = len(choices)
    while True:
        for i in range(changed - 1, -1, -1):
            trails[i] = choices[i](picked[tied[i]][0] if tied[i] >= 0 else 0)
            picked[i] = next(trails[i])
        yield picked
        for changed, trail in enumerate(trails):
            choice = next(trail, None)
            if choice is not None:
                picked[changed] = choice
                break
        else:
            return
