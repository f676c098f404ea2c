"""Plans that every executor must run to the same bits, for tests and for the ranks that they start."""

from dataclasses import replace
from functools import cache

import numpy as np

import groups
import mbssa
import routes
from routes.plan import parallel_route, plan_of, sequential_route, sequential_with_reactions
from routes.reverse import dag_with_reactions, signed
from routes.run import logged_run

ARRAYS = (
    "position",
    "orientation",
    "velocity",
    "acceleration",
    "status",
    "residual",
    "iterations",
    "condition",
)
INSTANTS = 250

#: Route, chunks, wait, batch: each value of each with each other value at least once.
CHOICES = (
    ("parallel", 1, "needs", False),
    ("parallel", 3, "stage", True),
    ("parallel", 5, "stage", True),
    ("parallel", 8, "needs", False),
    ("sequential", 8, "needs", True),
    ("sequential", 3, "needs", False),
    ("late", 5, "needs", False),
    ("late", 1, "stage", True),
)
NAMES = ("rotor", "stewart_inverse", "nine_bar")
#: Models whose reactions are found by routes: spatial, planar with springs and one large group.
REACTIONS = ("rotor", "andrews")


def model_of(name):
    return groups.build(mbssa.decompose(mbssa.load(name)))


def motion_of(model, instants=INSTANTS):
    return groups.default_motion(model.mechanism, steps=instants)


def late_route(model):
    """Stages of levels, but whoever nobody needs at the end, all together."""
    needed = {need for group in model.structure.groups for need in group.depends_on}
    early = [tuple(g for g in level if g in needed) for level in model.structure.levels]
    last = tuple(g for g in range(1, model.structure.n_groups + 1) if g not in needed)
    return (*(stage for stage in early if stage), last)


def plans_of(model, executor, workers, instants=INSTANTS):
    made = {"parallel": parallel_route, "sequential": sequential_route, "late": late_route}
    for route, chunks, wait, batch in CHOICES:
        yield plan_of(
            model,
            made[route](model),
            instants=instants,
            chunks=chunks,
            wait=wait,
            batch=batch,
            executor=executor,
            workers=workers,
        )


def bits(trajectory):
    return {name: getattr(trajectory, name).tobytes() for name in ARRAYS}


def in_sequence(plan):
    return replace(plan, executor="sequential")


def faults(model, log):
    needs = [[need - 1 for need in group.depends_on] for group in model.structure.groups]
    return log.faults(needs)


@cache
def right(name, compiled):
    """The model, and the bits of its own answer."""
    model = model_of(name)
    return model, bits(model.solve(motion_of(model), compiled=compiled))


def check(name, executor, workers):
    """Every plan of a model, by NumPy and by machine code: the bits of the model itself, and a sound log."""
    for compiled in (False, True):
        model, theirs = right(name, compiled)
        for plan in plans_of(model, executor, workers):
            outcome = logged_run(model, plan, motion_of(model), compiled=compiled)
            if outcome is not None:  # as on ranks other than 0
                assert bits(outcome.trajectory) == theirs, (plan, compiled)
                assert faults(model, outcome.log) == [], (plan, compiled)


def reaction_bits(forces):
    """Everything that a pass backwards gives."""
    arrays = [forces.driving, forces.drive_power, forces.balance, forces.shaking_force, forces.shaking_moment]
    arrays += [forces.status, forces.kinetic_energy, *forces.held.values(), *forces.element_power.values()]
    for joint in forces.joints:
        found = forces.joint(forces.trajectory.mechanism.joint_ids[joint])
        arrays += [found.force, found.moment, found.local_force, found.local_moment]
    return [np.ascontiguousarray(array).tobytes() for array in arrays]


def check_reactions(name, executor, workers):
    """Reactions by routes are those of :func:`groups.forces`, to the bit."""
    model = model_of(name)
    motion = motion_of(model, 64)
    levels = signed(
        [[g + 1 for g in level] for level in dag_with_reactions(model).levels], model.structure.n_groups
    )
    for route, batch in ((levels, False), (levels, True), (sequential_with_reactions(model), False)):
        plan = plan_of(
            model, route, instants=64, executor=executor, workers=workers, wait="stage", batch=batch
        )
        found = routes.forces(model, plan, motion, compiled=False)
        if found is not None:
            right = groups.forces(found.trajectory, model.structure)
            assert right.ok
            assert reaction_bits(found) == reaction_bits(right)
