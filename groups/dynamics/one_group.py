"""Pass backwards over the groups in steps of one group, for runs that spread groups over workers."""

# Reactions of later groups are added in the order of the whole pass, so that the results are the same to the
# bit.

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from groups.dynamics.forces import exerted as exerted_by
from groups.dynamics.inverse import Block, JointLoads, Solution, acting_on, blocks_of
from groups.dynamics.results import Forces, results_of
from groups.dynamics.state import State, masses, massless
from mbssa.arrays import Floats
from mbssa.loads import FORCE_TYPES

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Structure
    from mbssa.joints.frames import Frames
    from mbssa.loads import Force


class Step(NamedTuple):
    """One group of the pass: the block to balance, and where its results are."""

    block: Block
    slots: slice  # of its joints and locks among the slots of the pass
    drives: slice  # of its driven coordinates among all
    ends: list[tuple[tuple[int, ...], int]]  # of each joint, then lock: bodies, number of drives
    forces: list[Force]  # that may act on its bodies
    reads: list[int]  # bodies whose motion it needs
    later: list[int]  # indices of the groups whose reactions load it, in the order of the pass


class Answers(NamedTuple):
    """Arrays of a pass over T instants."""

    slots: Floats  # (S, 6, T) by joint and body: loads of constraints and drives, as JointLoads
    drives: Floats  # (D, T) of each driven coordinate, N times size, or N m
    status: npt.NDArray[np.int8]  # (G, T) as groups.dynamics.inverse.STATUS

    def of(self, step: Step) -> list[JointLoads]:
        """Views of the loads of a step's joints and locks."""
        bodies, counts = zip(*step.ends, strict=True)
        loads = np.split(self.slots[step.slots, :, None], np.cumsum([*map(len, bodies)]))
        driving = np.split(self.drives[step.drives, None], np.cumsum(counts))
        return [*map(JointLoads, bodies, loads, driving)]


@dataclass(frozen=True, eq=False)
class Steps:
    """Pass over a structure, group by group."""

    structure: Structure
    steps: list[Step]

    @staticmethod
    def of(structure: Structure, frames: Frames) -> Steps:
        """The steps of a structure; a ValueError where redundant equations forbid a balance one by one."""
        mechanism, number, n = structure.mechanism, structure.group_of_body, structure.mechanism.freedom
        touching = [(force, _bodies_of(force, structure, frames)) for force in mechanism.forces]
        steps, faults = list[Step](), []
        n_slots = n_drives = 0
        for g, block in enumerate(blocks_of(structure, frames)):
            ends = [(frames.bodies_of(mechanism, j), len(mechanism.joints[j].driven)) for j in block.joints]
            ends += [((0, spin.body), 0) for spin in block.spins]
            slots = slice(n_slots, n_slots := n_slots + sum(len(bodies) for bodies, _ in ends))
            drives = slice(n_drives, n_drives := n_drives + sum(driven for _, driven in ends))
            reads = {*block.bodies, *(body for bodies, _ in ends for body in bodies)}
            for earlier in {int(number[body]) - 1 for body in reads} - {-1, g}:
                steps[earlier].later.insert(0, g)
            forces = [force for force, those in touching if not those.isdisjoint(block.bodies)]
            of_two = (force for force in forces if not FORCE_TYPES[force.type].on_masses)
            reads.update(*(_bodies_of(force, structure, frames) for force in of_two))
            drivers = len(block.spins) + drives.stop - drives.start
            rows = drivers + int((n - mechanism.grade[list(block.joints)]).sum())
            if rows != n * len(block.bodies):
                faults.append(f"SG-{g + 1} has {rows} equations for {n * len(block.bodies)} freedoms")
            steps.append(Step(block, slots, drives, ends, forces, sorted(reads), []))
        if faults:
            raise ValueError(
                "reactions by routes need as many equations as freedoms in each group; "
                f"{'; '.join(faults)}: take groups.forces, or mbssa forces"
            )
        return Steps(structure, steps)

    @cached_property
    def needs(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the groups whose motion each group's step needs, its own among them."""
        number = self.structure.group_of_body
        return tuple(tuple(sorted({int(number[b]) - 1 for b in step.reads} - {-1})) for step in self.steps)

    def perform(self, group: int, trajectory: Trajectory, answers: Answers) -> None:
        """Balance one group (index) after those whose reactions load it."""
        step = self.steps[group]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            state = State.of(trajectory, step.reads)
            given = masses(state, step.block.bodies)[0]
            given += [each for force in step.forces for each in exerted_by(force, state)[0]]
            solution = Solution.of(state, given, 0)
            for other in step.later:
                solution.take(self.steps[other].block, answers.of(self.steps[other]))
            found, exerted, answers.status[group] = solution.balance(step.block)
        if found.deficient or found.multipliers.shape[2] > 1:
            remedy = "groups.forces balances all at once"
            raise ValueError(f"its equations depend on one another at every instant; {remedy}")
        for mine, one in zip(answers.of(step), exerted, strict=True):
            mine.loads[:], mine.driving[:] = one.loads, one.driving

    def forces(self, trajectory: Trajectory, answers: Answers) -> Forces:
        """The public result of a complete pass."""
        with np.errstate(invalid="ignore", divide="ignore"):
            state = State.of(trajectory)
            acting = acting_on(state, None)
            solution = Solution.of(state, acting.all, len(self.steps))
            for step in reversed(self.steps):
                solution.take(step.block, answers.of(step))
            solution.status[:] = answers.status.T
            return results_of(state, acting, solution, self.structure, False)


def _bodies_of(force: Force, structure: Structure, frames: Frames) -> set[int]:
    """Bodies on which an element acts, or whose motion it depends on."""
    if FORCE_TYPES[force.type].on_masses:
        return set(range(1, structure.mechanism.n_bodies)) - set(massless(structure.mechanism))
    if force.coordinate is None:
        return set(force.bodies)
    joint = structure.mechanism.place_of(force.coordinate)[0]
    return {*force.bodies, *frames.bodies_of(structure.mechanism, joint)}
