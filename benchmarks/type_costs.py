"""Seconds of each type of group at an instant, for COSTS of mbssa/group_library.py.

    python benchmarks/type_costs.py               # measures all types; says how far COSTS is off
    python benchmarks/type_costs.py 3R2D 1P1U1S3D # measures these types alone

Each chain of the library's systematic list, in a random geometry, and each group of the built-in models is
solved alone, up to acceleration, over a long motion on one core: the median of several rounds, in time of the
processor, as others may use it too. In it are the bodies that are read and those that are written. Of the
chains of one type the dearest counts. Absolute numbers are of one machine; those who judge structures by them
need their ratios alone.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

import groups
import mbssa
from groups.engine.solve import Solving
from groups.solvers import library
from groups.truss import chain_of
from mbssa import Group, Structure

#: Instants of each motion.
INSTANTS = 4096

#: Rounds of each measurement.
ROUNDS = 15

#: Largest swing (m or rad) of a random geometry's inputs; less where that comes to a dead point.
SWING = 0.05

#: Random geometries that are tried until one can be solved.
SEEDS = 6


@dataclass(frozen=True)
class Cost:
    """µs an instant of one group, and whose it is."""

    type_name: str
    chain: str
    of: str
    solver: str
    cost: float


def measured(only: Collection[str] = ()) -> list[Cost]:
    """Costs of the groups of all types, or of some; the first of equal chains of one type stands for all."""
    found: dict[tuple[str, str, str], Cost] = {}
    for structure, groups_asked, name in _structures():
        wanted = [group for group in groups_asked if not only or group.type_name in only]
        wanted = [group for group in wanted if (group.type_name, chain_of(group), name) not in found]
        for cost in _costs_of(structure, wanted, name) if wanted else ():
            found.setdefault((cost.type_name, cost.chain, name), cost)
    return list(found.values())


def dearest(costs: list[Cost]) -> dict[str, float]:
    """µs by type, as COSTS has them: in the order of their names, two digits."""
    table: dict[str, float] = {}
    for cost in costs:
        table[cost.type_name] = max(table.get(cost.type_name, 0.0), float(f"{cost.cost:.2g}"))
    return dict(sorted(table.items()))


def _structures() -> Iterator[tuple[Structure, list[Group], str]]:
    """Structures, their groups that are to be measured, and whose they are."""
    for space, chains in (("planar", library.PLANAR), ("spatial", library.SPATIAL)):
        for joints in chains:
            for seed in range(SEEDS):
                structure = mbssa.decompose(library.example(joints, space, seed))
                if _motion(structure) is not None:
                    yield structure, [structure.groups[-1]], "systematic"
                    break
    for name in mbssa.builtin_names():
        structure = mbssa.decompose(mbssa.load(name))
        if _motion(structure) is not None:
            yield structure, list(structure.groups), name


def _motion(structure: Structure) -> groups.Motion | None:
    """The model's own motion, or a swing of all inputs; None where neither can be solved."""
    try:
        model = groups.build(structure)
    except ValueError:
        return None
    mechanism = structure.mechanism
    if mechanism.motion is not None:
        motion = groups.default_motion(mechanism, steps=INSTANTS)
        return motion if model.solve(motion).ok else None
    for part in range(4):
        laws = {
            name: groups.harmonic(SWING / 4**part, 1.0, mean=value)
            for name, value in model.reference_inputs.items()
        }
        motion = groups.sample(mechanism, laws, np.linspace(0.0, 1.0, INSTANTS))
        if model.solve(motion).ok:
            return motion
    return None


def _costs_of(structure: Structure, wanted: list[Group], name: str) -> Iterator[Cost]:
    model, motion = groups.build(structure), _motion(structure)
    assert motion is not None
    solving = Solving(model, motion, compiled=True)
    solving.begin()
    solving.advance(0, INSTANTS)
    for group in wanted:
        seconds = []
        for _ in range(ROUNDS):
            begin = time.process_time()
            solving.advance(0, INSTANTS, [group.number - 1])
            seconds.append(time.process_time() - begin)
        cost = 1e6 * statistics.median(seconds) / INSTANTS
        yield Cost(group.type_name, chain_of(group), name, model.solver(group.number).name, cost)


def _print(costs: list[Cost]) -> None:
    print(f"{'type':14} {'chain':46} {'solver':30} {'of':24} {'µs':>8}")
    for cost in sorted(costs, key=lambda cost: (cost.type_name, cost.cost)):
        print(f"{cost.type_name:14} {cost.chain:46} {cost.solver:30} {cost.of:24} {cost.cost:8.3f}")
    print(f"\n{'type':14} {'dearest':>8} {'COSTS':>8} {'ratio':>8}")
    for name, cost in dearest(costs).items():
        kept = library.COSTS.get(name)
        said = f"{kept:8.3g} {cost / kept:8.2f}" if kept else f"{'–':>8}"
        print(f"{name:14} {cost:8.3g} {said}")


def main(only: Collection[str]) -> None:
    """Measure on one core, and print."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    _print(measured(only))


if __name__ == "__main__":
    main(sys.argv[1:])
