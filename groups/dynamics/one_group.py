"""Pass backwards over the groups in steps of one group, for runs that spread groups over workers."""

# Reactions of later groups are added in the order of the whole pass, so that the results are the same to the
# bit.

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.dynamics.block import Block, JointLoads
from groups.dynamics.forces import exerted as exerted_by
from groups.dynamics.inverse import Solution, acting_on, blocks_of
from groups.dynamics.masses import masses, massless
from groups.dynamics.results import Forces, results_of
from groups.dynamics.state import State
from mbssa.arrays import Floats
from mbssa.loads import FORCE_TYPES

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Structure
    from mbssa.joints.frames import Frames
    from mbssa.loads import Force


@dataclass(frozen=True, eq=False)
class Step:
    """One group of the pass: the block to balance, and where its results are."""

    block: Block
    ends: tuple[tuple[int, ...], ...]  # bodies of each joint, then of each locked rotation
    slots: slice  # of all of them together among the slots of the pass
    drives: slice  # of its driven coordinates among all
    n_driven: tuple[int, ...]  # of each of ``ends``
    forces: tuple[Force, ...]  # that may act on its bodies
    reads: tuple[int, ...]  # bodies whose motion it needs
    later: tuple[int, ...] = ()  # indices of the groups whose reactions load it, in the order of the pass


@dataclass(frozen=True, eq=False)
class Answers:
    """Arrays of a pass over T instants."""

    slots: Floats  # (S, 6, T) by joint and body: loads of constraints and drives, as JointLoads
    drives: Floats  # (D, T) of each driven coordinate, N times size, or N m
    status: npt.NDArray[np.int8]  # (G, T) as groups.dynamics.inverse.STATUS

    def of(self, step: Step) -> list[JointLoads]:
        """Views of the loads of a step's joints and locks."""
        slots = np.split(self.slots[step.slots, :, None], list(accumulate(map(len, step.ends)))[:-1])
        drives = np.split(self.drives[step.drives, None], list(accumulate(step.n_driven))[:-1])
        return [JointLoads(*each) for each in zip(step.ends, slots, drives, strict=True)]


@dataclass(frozen=True, eq=False)
class Steps:
    """Pass over a structure, group by group."""

    structure: Structure
    steps: tuple[Step, ...]
    n_slots: int  # rows of Answers.slots
    n_drives: int  # rows of Answers.drives

    @staticmethod
    def of(structure: Structure, frames: Frames) -> Steps:
        """The steps of a structure; a ValueError where redundant equations forbid a balance one by one."""
        mechanism, number, n = structure.mechanism, structure.group_of_body, structure.mechanism.freedom
        later: list[set[int]] = [set() for _ in structure.groups]
        touching = [(force, _bodies_of(force, structure, frames)) for force in mechanism.forces]
        found: list[Step] = []
        n_slots = n_drives = 0
        faults = []
        for g, block in enumerate(blocks_of(structure, frames)):
            ends = [tuple(frames.bodies_of(mechanism, joint)) for joint in block.joints]
            ends += [(0, spin.body) for spin in block.spins]
            for body in {body for those in ends for body in those}:
                if number[body] not in (0, g + 1):
                    later[int(number[body]) - 1].add(g)
            forces = tuple(force for force, those in touching if not those.isdisjoint(block.bodies))
            reads = {body for those in ends for body in those} | set(block.bodies)
            for force in forces:
                if not FORCE_TYPES[force.type].on_masses:  # those load each body by its own motion
                    reads |= _bodies_of(force, structure, frames)
            driven = [len(mechanism.joints[joint].driven) for joint in block.joints] + [0] * len(block.spins)
            own, freedoms = list(block.joints), n * len(block.bodies)
            rows = len(block.spins) + int((n - mechanism.grade[own]).sum()) + sum(driven)
            if rows != freedoms:
                faults.append(f"SG-{g + 1} has {rows} equations for {freedoms} freedoms")
            slots = slice(n_slots, n_slots := n_slots + sum(map(len, ends)))
            drives = slice(n_drives, n_drives := n_drives + sum(driven))
            found.append(Step(block, tuple(ends), slots, drives, tuple(driven), forces, tuple(sorted(reads))))
        if faults:
            raise ValueError(
                "reactions by routes need as many equations as freedoms in each group; "
                f"{'; '.join(faults)}: take groups.forces, or mbssa forces"
            )
        steps = tuple(
            replace(step, later=tuple(sorted(after, reverse=True)))
            for step, after in zip(found, later, strict=True)
        )
        return Steps(structure, steps, n_slots, n_drives)

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
            found, exerted, status = solution.balance(step.block)
        if found.deficient or found.multipliers.shape[2] > 1:
            raise ValueError(
                "its equations depend on one another at every instant; groups.forces balances all at once"
            )
        for mine, one in zip(answers.of(step), exerted, strict=True):
            mine.loads[:], mine.driving[:] = one.loads, one.driving
        answers.status[group] = status

    def forces(self, trajectory: Trajectory, answers: Answers) -> Forces:
        """The public result of a complete pass."""
        with np.errstate(invalid="ignore", divide="ignore"):
            state = State.of(trajectory)
            acting = acting_on(state, None)
            solution = Solution.of(state, acting.all, len(self.steps))
            for g, step in reversed(list(enumerate(self.steps))):
                solution.take(step.block, answers.of(step))
                solution.status[:, g] = answers.status[g]
            return results_of(state, acting, solution, self.structure, False)


def _bodies_of(force: Force, structure: Structure, frames: Frames) -> set[int]:
    """Bodies on which an element acts, or whose motion it depends on."""
    if FORCE_TYPES[force.type].on_masses:
        return set(range(1, structure.mechanism.n_bodies)) - set(massless(structure.mechanism))
    if force.coordinate is None:
        return set(force.bodies)
    joint = structure.mechanism.place_of(force.coordinate)[0]
    return {*force.bodies, *frames.bodies_of(structure.mechanism, joint)}
