"""Solving through borrowed inputs beside the direct way: linkages, the Stewart platform, the rotor.

    python -m pytest benchmarks/test_tearing.py --benchmark-only -s

The groups are those for other inputs, which an outer Newton finds so that the real ones are met. Both ways
answer for all bodies up to acceleration, and are compared first. A ratio above 1 says that borrowing loses:
it does where the direct groups are solved well already, as the platform with its legs taken out and the rotor
in closed form; it wins where Newton's group falls into dyads, as in the triad and the family of Table 16, the
more the larger the group is. Aim: no slower than the direct way.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import groups
import mbssa
from benchmarks.race import INSTANTS, Runner, race, same
from groups.reports.about import solver_text

#: By model, the inputs that its groups are solved for.
BORROWED = {
    "triad": ["1-5.angle"],
    "stewart": [f"1-14.{name}" for name in ("x", "y", "z", "angle_x", "angle_y", "angle_z")],
    "rotor": ["1-2.slide", "1-13.slide", "13-15.angle"],
    "assur:I-4B": ["1-2.angle"],
    "assur:I-8B": ["1-2.angle"],
}

#: How far (rad) the inputs swing of models that carry no motion.
SWING = 0.05


def motion_of(mechanism, start):
    if mechanism.motion is not None:
        return groups.default_motion(mechanism, steps=INSTANTS)
    laws = {name: groups.harmonic(SWING, 1.0, mean=value) for name, value in start.items()}
    return groups.sample(mechanism, laws, np.linspace(0.0, 1.0, INSTANTS))


@pytest.mark.parametrize("name", BORROWED)
def test_through_borrowed_inputs(benchmark, name):
    structure = mbssa.decompose(mbssa.load(name))
    direct = groups.build(structure)
    borrowed = groups.build(structure, borrow=BORROWED[name])
    motion = motion_of(structure.mechanism, direct.reference_inputs)

    def arrays(model):
        trajectory = model.solve(motion)
        return trajectory.position, trajectory.orientation, trajectory.velocity, trajectory.acceleration

    quaternions = [] if structure.mechanism.space == "planar" else [1]
    assert same(arrays(borrowed), arrays(direct), quaternions) < 1e-9
    race(
        benchmark,
        f"{name}: all bodies through {', '.join(BORROWED[name])}",
        Runner("through borrowed inputs", lambda: arrays(borrowed)),
        [Runner("direct", lambda: arrays(direct), aim=1.0)],
    )
    outer = borrowed.solve(motion).outer
    print(borrowed.borrowed)
    print(
        f"outer steps an instant: {outer.iterations.mean():.2f}, at most {outer.iterations.max()}; "
        f"{outer.fallback.sum()} of {INSTANTS} instants solved by the direct structure"
    )
    for way, model in (("through", borrowed), ("direct", direct)):
        solvers = Counter(solver_text(solver) for solver in model.solvers)
        print(f"{way}: {', '.join(f'{count} × {text}' for text, count in solvers.items())}")
