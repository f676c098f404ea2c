"""List of the group solvers: a known closed form, else Newton in relative coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from groups.setting import Setting
from groups.solvers.driven import Driven
from groups.solvers.gear_train import GearTrain
from groups.solvers.global_approach import GlobalApproach
from groups.solvers.leg import Leg
from groups.solvers.newton import Newton
from groups.solvers.planar_dyads import PlanarDyad
from groups.solvers.point_at_distance import PointAtDistance
from groups.solvers.solver import Solver
from groups.solvers.spherical_loop import SphericalLoop
from mbssa import Group

#: Solvers in the order in which they are tried; the last one solves all groups that can be solved.
SOLVERS: list[type[Solver]] = [
    PlanarDyad, Leg, GearTrain, Driven, PointAtDistance, SphericalLoop, Newton,
]  # fmt: skip

#: Solvers that can be chosen for any group, by name: of a group, its setting, its default, and the reason.
CHOICES: dict[str, Callable[[Group, Setting, Solver, str], Solver]] = {
    "Newton": Newton.instead,
    "global dense": partial(GlobalApproach.instead, "dense"),
    "global sparse": partial(GlobalApproach.instead, "sparse"),
}


def choose_all(setting: Setting, wanted: Mapping[int, str]) -> tuple[Solver, ...]:
    solvers, of_label = list[Solver](), dict[object, Solver]()
    for tree, label in zip(*setting.forest, strict=True):
        solver = of_label[label].of_twin(tree, setting) if label in of_label else None
        matching = (found for kind in SOLVERS if (found := kind.match(tree, setting)) is not None)
        solvers.append(solver or next(matching))
        if label is not None:
            of_label.setdefault(label, solvers[-1])
    faults = []
    for number, name in wanted.items():
        try:
            group = setting.structure.group(number)
        except ValueError as error:
            faults.append(str(error))
            continue
        default = solvers[number - 1]
        try:
            solvers[number - 1] = _chosen(group, setting, default, name)
        except ValueError as error:
            others = ", ".join(alternatives(group, setting, default))
            faults.append(f"SG-{number} cannot be solved by {name!r}: {error}; it has {others}")
    if faults:
        raise ValueError("; ".join(faults))
    return tuple(solvers)


def alternatives(group: Group, setting: Setting, default: Solver) -> tuple[str, ...]:
    """Names of the solvers that a group can have, its default first."""
    found = {default.choice: None}
    for name in CHOICES:
        with suppress(ValueError):
            _chosen(group, setting, default, name)
            found[name] = None
    return tuple(found)


def _chosen(group: Group, setting: Setting, default: Solver, name: str) -> Solver:
    """The solver of a name, if a group can have it."""
    if name == default.choice:
        return default
    if name not in CHOICES:
        is_form = name == "closed form"
        raise ValueError("no closed form is known" if is_form else "there is no such solver")
    return CHOICES[name](group, setting, default, f"chosen instead of {default.title}")
