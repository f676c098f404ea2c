"""Pass backwards over the groups in steps of one group, for runs that spread groups over workers."""

# Reactions of later groups are added in the order of the whole pass, so that the results are the same to the
# bit.

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groups.dynamics.block import JointLoads, balanced
from groups.dynamics.forces import wrenches_of
from groups.dynamics.inverse import (
    LATER_FAILED,
    OK,
    SINGULAR,
    UNSOLVED,
    Solution,
    acting_on,
    loads_of,
    owned_joints,
)
from groups.dynamics.masses import masses, massless
from groups.dynamics.results import Forces, results_of
from groups.dynamics.state import State
from groups.passive_rotations import LockedRotation, locked_rotations
from mbssa.arrays import Floats
from mbssa.joints.system import unknowns
from mbssa.loads import FORCE_TYPES

if TYPE_CHECKING:
    from groups.trajectory import Trajectory
    from mbssa import Structure
    from mbssa.joints.frames import Frames
    from mbssa.loads import Force


@dataclass(frozen=True, eq=False)
class Step:
    """One group of the pass: bodies to balance, and the joints and locked rotations that do it."""

    bodies: tuple[int, ...]
    joints: tuple[int, ...]
    spins: tuple[LockedRotation, ...]
    slots: tuple[tuple[tuple[int, ...], int], ...]  # by joint, then by spin: bodies, first slot among all
    forces: tuple[Force, ...]  # that may act on its bodies
    reads: tuple[int, ...]  # bodies whose motion it needs
    later: tuple[int, ...]  # indices of the groups whose reactions load it, in the order of the pass
    drives: int  # place of its first driven coordinate among all


@dataclass(frozen=True, eq=False)
class Answers:
    """Arrays of a pass over T instants."""

    # (S, T, 12) by joint and body: wrench of constraints and drives about its centre (forces times size),
    # and of constraints alone about the joint's point.
    slots: Floats
    drives: Floats  # (D, T, 2) effort and rate of each driven coordinate
    status: npt.NDArray[np.int8]  # (G, T) as groups.dynamics.inverse.STATUS


@dataclass(frozen=True, eq=False)
class Steps:
    """Pass over a structure, group by group."""

    structure: Structure
    steps: tuple[Step, ...]
    n_slots: int  # rows of Answers.slots
    n_drives: int  # rows of Answers.drives

    @staticmethod
    def of(structure: Structure, frames: Frames) -> Steps:
        """The steps of a structure; see :func:`step_faults` for those that have none."""
        mechanism, number = structure.mechanism, structure.group_of_body
        joints = owned_joints(mechanism, frames, number, structure.n_groups)
        spins = locked_rotations(structure, frames)
        later: list[set[int]] = [set() for _ in joints]
        touching = [(force, _bodies_of(force, structure, frames)) for force in mechanism.forces]
        found: list[Step] = []
        n_slots = n_drives = 0
        for g, group in enumerate(structure.groups):
            bodies = group.body_indices.tolist()
            mine = [spin for spin in spins if spin.body in bodies]
            slots = []
            for those in [
                *(frames.bodies_of(mechanism, joint) for joint in joints[g]),
                *((0, s.body) for s in mine),
            ]:
                slots.append((tuple(those), n_slots))
                n_slots += len(those)
                for body in those:
                    if number[body] not in (0, g + 1):
                        later[int(number[body]) - 1].add(g)
            forces = tuple(force for force, those in touching if not those.isdisjoint(bodies))
            reads = {body for those, _ in slots for body in those} | set(bodies)
            for force in forces:
                if not FORCE_TYPES[force.type].on_masses:  # those load each body by its own motion
                    reads |= _bodies_of(force, structure, frames)
            placed = tuple(bodies), tuple(joints[g]), tuple(mine), tuple(slots)
            found.append(Step(*placed, forces, tuple(sorted(reads)), (), n_drives))
            n_drives += sum(len(mechanism.joints[joint].driven) for joint in joints[g])
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
            loads = self._loads(step, state, answers)
            waiting = ~np.isfinite(loads).all(axis=(0, 2))
            found, exerted = balanced(state, loads[..., None], step.bodies, step.joints, step.spins)
        if found.deficient or found.multipliers.shape[2] > 1:
            raise ValueError(
                "its equations depend on one another at every instant; groups.forces balances all at once"
            )
        drive = step.drives
        for (one, whole), (bodies, first) in zip(exerted, step.slots, strict=True):
            mine = answers.slots[first : first + len(bodies)]
            mine[..., :6], mine[..., 6:] = (each[..., 0].swapaxes(0, 1) for each in (whole, one.wrench))
            after = drive + one.rate.shape[1]
            answers.drives[drive:after, :, 0], answers.drives[drive:after, :, 1] = (
                one.driving[..., 0].T,
                one.rate.T,
            )
            drive = after
        answers.status[group] = np.where(waiting, LATER_FAILED, np.where(found.singular, SINGULAR, OK))

    def _loads(self, step: Step, state: State, answers: Answers) -> Floats:
        """Loads (B, T, 6) on the bodies of a step, reactions of later groups included."""
        given = masses(state, step.bodies)[0]
        given += [
            each for force in step.forces for each in wrenches_of(force, state) if each.body in step.bodies
        ]
        loads = loads_of(state, given)[list(step.bodies)]
        place = {body: k for k, body in enumerate(step.bodies)}
        for other in step.later:
            for bodies, first in self.steps[other].slots:
                for slot, body in enumerate(bodies):
                    if body in place:
                        loads[place[body]] += answers.slots[first + slot, :, :6]
        return loads

    def forces(self, trajectory: Trajectory, answers: Answers) -> Forces:
        """The public result of a complete pass."""
        with np.errstate(invalid="ignore", divide="ignore"):
            state = State.of(trajectory)
            acting = acting_on(state, None)
            solution = self._solution(state, loads_of(state, acting.all), answers)
            return results_of(state, acting, solution, self.structure, False)

    def _solution(self, state: State, loads: Floats, answers: Answers) -> Solution:
        status = np.ascontiguousarray(answers.status.T)
        failed = (state.trajectory.status != 0).any(axis=1)
        status[(status == LATER_FAILED) & failed[:, None]] = UNSOLVED
        found = Solution(state, loads[:1, ..., None], status)
        for step in reversed(self.steps):
            drive = step.drives
            for k, (bodies, first) in enumerate(step.slots):
                joint = step.joints[k] if k < len(step.joints) else None
                rows = answers.slots[first : first + len(bodies)]
                for slot in (slot for slot, body in enumerate(bodies) if body == 0):
                    found.loads[0, ..., 0] += rows[slot, :, :6]
                after = drive + (0 if joint is None else len(self.structure.mechanism.joints[joint].driven))
                mine = answers.drives[drive:after].transpose(2, 1, 0)
                one = JointLoads(
                    bodies,
                    np.ascontiguousarray(rows[..., 6:].swapaxes(0, 1))[..., None],
                    np.ascontiguousarray(mine[0])[..., None],
                    np.ascontiguousarray(mine[1]),
                )
                drive = after
                if joint is None:
                    found.locks[step.spins[k - len(step.joints)].body] = one
                else:
                    found.joints[joint] = one
        return found


def step_faults(structure: Structure, frames: Frames) -> list[str]:
    """Reasons why the groups of a structure cannot be balanced one by one: redundant equations."""
    n, steps = len(unknowns(structure.mechanism.space)), Steps.of(structure, frames).steps
    mechanism, faults = structure.mechanism, []
    for g, step in enumerate(steps):
        rows = len(step.spins)
        for joint in step.joints:
            view = mechanism.joints[joint]
            pair = view.type.pair
            own = frames.relations[joint].constraints if pair is None else pair.constraints
            rows += len(own) + len(view.driven)
        if rows != n * len(step.bodies):
            faults.append(f"SG-{g + 1} has {rows} equations for {n * len(step.bodies)} freedoms")
    return faults


def _bodies_of(force: Force, structure: Structure, frames: Frames) -> set[int]:
    """Bodies on which an element acts, or whose motion it depends on."""
    if FORCE_TYPES[force.type].on_masses:
        return set(range(1, structure.mechanism.n_bodies)) - set(massless(structure.mechanism))
    if force.coordinate is None:
        return set(force.bodies)
    joint = structure.mechanism.place_of(force.coordinate)[0]
    return {*force.bodies, *frames.bodies_of(structure.mechanism, joint)}
