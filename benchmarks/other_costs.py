"""What an instant takes of a group whose type has no cost of its own: fits OTHERWISE of a search over inputs.

    python benchmarks/other_costs.py

Of valid inputs of the built-in models some are drawn by chance; groups of types that
``groups.solvers.library.COSTS`` does not have are solved alone, as ``benchmarks/type_costs.py`` does it. What
they take grows about in proportion to their bodies, so the fit is the geometric mean of cost over n, in the
plane and in space. Types that are
measured are nearer to the truth.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import type_costs

import mbssa
from groups.solvers import library
from mbssa.input_search.evaluate import OTHERWISE

#: Models whose inputs are drawn, and rows of each.
MODELS = ("rotor", "stewart", "planar_3rrr", "andrews", "nine_bar", "theo_jansen", "suspension")
ROWS = 12


def measured() -> Iterator[tuple[str, str, int, float]]:
    """Space, type and model, bodies and µs of groups of unknown types; each type of each model once."""
    type_costs.ROUNDS, type_costs.INSTANTS = 5, 512
    dice = np.random.default_rng(1)
    for name in MODELS:
        rows = mbssa.transform(mbssa.load(name)).rows
        seen = set(library.COSTS)
        for k in dice.choice(len(rows), min(ROWS, len(rows)), replace=False).tolist():
            structure = rows[k].structure()
            new = {group.type_name: group for group in structure.groups if group.type_name not in seen}
            if new and type_costs._motion(structure) is not None:
                seen |= set(new)
                costs = type_costs._costs_of(structure, list(new.values()), name)
                for cost, group in zip(costs, new.values(), strict=True):
                    yield structure.mechanism.space, f"{name} {cost.type_name}", len(group.bodies), cost.cost


def main() -> None:
    """Measure on one core, and print."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    ratios: dict[str, list[float]] = {space: [] for space in OTHERWISE}
    for space, name, n, cost in measured():
        print(f"{name:34} {n:3} bodies {cost:9.2f} µs {cost / n:7.3f} n", flush=True)
        ratios[space].append(cost / n)
    for space, found in ratios.items():
        factor = float(np.exp(np.mean(np.log(found))))
        low, high = np.percentile(factor / np.array(found), [10, 90])
        print(
            f"{space}: {factor:.2g} n µs (OTHERWISE {OTHERWISE[space]} n); predicted over measured "
            f"{low:.2f} to {high:.2f} (10 to 90 %)"
        )


if __name__ == "__main__":
    main()
