"""Search for all ways to assemble a group: closed forms, homotopy, and starts of Newton from many places."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from groups.assembly_modes.homotopy import DRAWN, LOOPS, has_degree, is_algebraic, positions, traced
from groups.branches.prover import prover_of
from groups.engine.rescue import System
from groups.engine.solve import plan_of
from groups.status import NOT_CONVERGED, OK
from groups.truss import truss_of
from mbssa import Group
from mbssa.arrays import Bools, Floats
from mbssa.joints.cams.contact import contacts
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.poses import Poses, RelativePose, relative_pose
from mbssa.progress import Progress

if TYPE_CHECKING:
    from groups.engine.plan import Part
    from groups.model import Model

#: Random starts of Newton in a row that find no new mode before it ends.
STARTS = 500
#: Poses (rad, or of the size) that differ by less are one, and the largest residual, over the size.
SAME, CLOSED = 1e-6, 1e-9
#: Distance of poses within which two are one unless the second is proven: Newton's method scatters about a
#: singular position.
SCATTER = 1e-3
#: Residuals of redundant equations, over those of the reference, which rounded geometry leaves open.
ROUNDED = 100.0
#: Condition below which a position that Newton finds is no mode: it can be left without opening anything.
FLAT = 1e-7
#: Starts at most, as a multiple of those in a row that find nothing new, and starts that are drawn at once.
AT_MOST, LOT = 10, 100


#: Origin of a list of modes in words, whether it is complete, and the number that it may lack.
Search: TypeAlias = tuple[str, bool, float]
#: The search of a closed form.
CLOSED_FORM = "a closed form gives all"


@dataclass(eq=False)
class Placement:
    """One way to assemble a group: a column of the plan's array, signs of it and of its struts."""

    column: Floats
    signs: tuple[int, ...]
    residual: float = 0.0
    #: How often Newton met it.
    times: int = 1


class Assembly:
    """A group to be assembled where the bodies that it hangs on stand, as in a column of the plan's array."""

    # Its most modes, starts in a row without a new one that end the search, and a report of progress.

    def __init__(
        self,
        model: Model,
        group: Group,
        starts: int = STARTS,
        told: Progress = lambda what, share: None,
        column: Floats | None = None,
    ) -> None:
        self.group, self.plan, self.starts, self.told = group, plan_of(model), starts, told
        self.most = model.solvers[group.number - 1].most_modes(group)
        self.part = self.plan.parts[group.number - 1]
        self.part.group.prepare()
        self.column, self.size = self.plan.start if column is None else column, self.plan.size
        self.scale = np.where(self.part.turns, 1.0, self.size)
        self.start = np.array(self.part.group.start, dtype=float)[:, None]
        self.found: list[Placement] = []
        self._seen: list[Floats] = []
        self.tolerance = CLOSED * self.size
        if self.part.routine.redundant:
            rows, _ = System(self.plan, self.part, self.plan.start[:, None]).at(self.start, np.arange(1))
            self.tolerance = max(self.tolerance, ROUNDED * float(np.abs(rows).max(initial=0.0)))

    def system(self, count: int, part: Part | None = None) -> System:
        """Rows and Jacobian in so many positions."""
        return System(self.plan, part or self.part, np.repeat(self.column[:, None], count, axis=1))

    def poses(self, found: Sequence[Placement]) -> Poses:
        """Poses (M, N) of all bodies."""
        return self.plan.poses(np.array([placement.column for placement in found]).T)

    def numbers(self, found: Sequence[Placement]) -> Floats:
        """(M, k) places, over the size, and rotations of the group's bodies."""
        poses, own = self.poses(found), self.group.body_indices
        parts = poses.position[:, own] / self.size, poses.rotation[:, own]
        return np.concatenate([x.reshape(len(found), -1) for x in parts], axis=1)

    def from_reference(self, found: Sequence[Placement]) -> Floats:
        """(M,) distances from the reference: over the size, or of rotations."""
        numbers = self.numbers([Placement(self.plan.start, ()), *found])
        return np.asarray(np.abs(numbers[1:] - numbers[0]).max(axis=1, initial=0.0))

    def by_signs(self) -> None:
        """Add the placement of every sign of a closed form; of a leg alone of all of its signs."""
        group, part = self.part.group, self.part
        signs = part.routine.signs_of(group)
        free = signs.get(("mode",), [])
        for strut in group.struts if not group.links else ():
            free = signs["mode", strut.bodies][0 if strut.slide >= 0 and not strut.slide_driven else 1 :]
        for values in itertools.product((1.0, -1.0), repeat=len(free)):
            geometry = part.geometry.copy()
            for k, value in zip(free, values, strict=True):
                geometry[k] = value
            other = replace(part, geometry=geometry)
            system = self.system(1, other)
            branch = (int(geometry[signs["mode",][0]]),) if ("mode",) in signs else ()
            for placement in self._placed(system, system.start() if part.n else self.start, [branch]):
                self.add(placement)

    def solved(self, q: Floats) -> list[Placement | None]:
        """Regular placements that Newton finds from some unknowns (n, M), None where it finds none."""
        system, routine = self.system(q.shape[1]), self.part.routine
        q, _, _, J = system.nearest(q)
        J = np.nan_to_num(J)
        signs = np.ones(len(J)) if routine.redundant else np.sign(np.linalg.det(J))
        branches = [() if routine.linear else (int(sign),) for sign in signs]
        regular = (routine.conditions_at(J) > FLAT).tolist()
        found = self._placed(system, q, branches)
        return [x if good else None for x, good in zip(found, regular, strict=True)]

    def _placed(
        self, system: System, q: Floats, branches: Sequence[tuple[int, ...]]
    ) -> list[Placement | None]:
        """Placements by unknowns (n, M), None where a joint is open or reversed."""
        part, X = system.part, system.Y
        with np.errstate(all="ignore"):
            rows, J = system.at(q, np.arange(q.shape[1]))
            residual = np.abs(rows).max(axis=0, initial=0.0)
            good = residual <= self.tolerance / (min(1.0, self.size) if part.n else 1.0)
            code = np.where(good, OK, NOT_CONVERGED).astype(np.int8)
            system.write(q, rows, np.nan_to_num(J / self.scale), code)
            good &= np.isfinite(X[part.answer]).all(axis=0) & self._has_sense(X)
        signs = part.routine.signs_of(part.group)
        laid = [part.geometry[k] for strut in part.group.struts for k in signs["mode", strut.bodies]]
        return [
            Placement(X[:, k], (*branches[k], *map(int, laid)), float(residual[k])) if good[k] else None
            for k in range(len(good))
        ]

    def _has_sense(self, X: Floats) -> Bools:
        """(M,) whether axes of joints that close the group point as they should, and profiles only touch."""
        mechanism, frames, poses = self.plan.mechanism, self.plan.setting.frames, self.plan.poses(X)
        good = np.ones(X.shape[1], dtype=np.bool_)

        def seen(bodies: Sequence[int], origin: Floats, axes: Floats) -> RelativePose:
            return relative_pose([(poses.position[:, b], poses.rotation[:, b]) for b in bodies], origin, axes)

        for j in self.part.group.cuts:
            pair, relations = type_of_joint(mechanism, j).pair, frames.relations.get(j)
            for row, column in pair.sense if pair is not None else ():
                C = seen(mechanism.joint_bodies(j)[:2], frames.origin[j], frames.axes[j]).C
                good &= C[:, row, column] > 0.0
            for term in [t for r in relations.constraints for t in r.terms] if relations is not None else ():
                if term.kind == "contact" and relations is not None:  # not on the far side of a profile
                    of = relations.pairs[term.pair]
                    d, C = seen(of.bodies, of.origin, of.axes)[:2]
                    curve, other, *_ = (*relations.curves, None)
                    assert curve is not None
                    gap = contacts(curve, other, term.numbers[0], d, C).gap - term.parameter
                    good &= np.abs(gap) <= self.tolerance
        return good

    def add(self, placement: Placement | None) -> bool:
        """Add a placement if it is another one; whether it is."""
        if placement is None:
            return False
        numbers = self.numbers([placement])[0]
        for other, seen in zip(self.found, self._seen, strict=True):
            off = np.abs(seen - numbers).max(initial=0.0)
            if off <= SAME or (off <= SCATTER and not self.proven([placement])[0]):
                other.times += 1
                return False
        self.found.append(placement)
        self._seen.append(numbers)
        return True

    def add_from(self, q: Floats) -> None:
        """Add what Newton finds from some unknowns (n, M)."""
        for placement in self.solved(q) if q.shape[1] else ():
            self.add(placement)

    def proven(self, found: Sequence[Placement]) -> Bools:
        """(M,) whether each placement is proven to be near one regular solution, the only one around."""
        X, count = np.array([placement.column for placement in found]).T, len(found)
        every, rest = np.ones((len(self.plan.parts), count), dtype=np.bool_), np.zeros(count)
        pieces = prover_of(self.plan).tried(X, rest, 0, rest, every, compiled=False)
        return np.asarray(pieces.good[self.part.index])


def searched(assembly: Assembly) -> Search:
    """Find all placements of a group that can be found, each once, closed to the tolerance."""
    routine, starts, most = assembly.part.routine, assembly.starts, assembly.most
    if assembly.part.group.form is not None or not assembly.part.n:
        assembly.by_signs()
        return CLOSED_FORM, True, 0.0
    if routine.linear or most == 1:
        assembly.add_from(assembly.start)
        return CLOSED_FORM, True, 0.0
    answer, certain = None, False
    if has_degree(assembly):
        search = _from_random_starts(assembly, min(starts, LOT))
        if search[1]:
            return search
        # A loop of a larger truss that does not close by as much in all positions has more of them.
        truss = truss_of(assembly.group)
        degree = most if truss is None or truss.links <= 5 else None
        answer = positions(assembly, [each.column[assembly.part.state] for each in assembly.found], degree)
    elif starts >= LOT and most is None and is_algebraic(assembly):
        answer, certain = traced(assembly), True
    if answer is None:
        return _from_random_starts(assembly, starts)
    count, ended, real = answer
    text = f"{count} complex positions were followed, "
    assembly.add_from(real.T)
    if certain:
        return f"{text}and a trace test shows that there are no others", True, 0.0
    if len(real) != len(assembly.found):
        return _from_random_starts(assembly, starts)
    others = f"{LOOPS} loops of each and {DRAWN} positions drawn at random led to no other"
    text += "as many as the degree of such a group" if count == degree else others
    text += f": {len(real)} are real, {ended - len(real)} are not"
    text += f", {count - ended} end in singular positions or at infinity" if count > ended else ""
    complete = most in (count, ended)
    return text + ("" if complete else "; not proven complete"), complete, 0.0


def _from_random_starts(assembly: Assembly, most_in_a_row: int) -> Search:
    """Newton from the reference, and from many places drawn from a fixed seed."""
    rng, found, most = np.random.default_rng(assembly.group.number), assembly.found, assembly.most
    assembly.add_from(assembly.start)
    starts, closed, last = 0, 0, 0
    while starts - last < most_in_a_row and starts < AT_MOST * most_in_a_row and len(found) != most:
        if starts % LOT == 0:
            far = np.where(assembly.part.turns, np.pi, 2.0 * assembly.size)[:, None]
            drawn = rng.uniform(-1.0, 1.0, (len(far), LOT)) * far
            placements = assembly.solved(assembly.start + drawn)
        placement = placements[starts % LOT]
        starts += 1
        closed += placement is not None
        if assembly.add(placement):
            last = starts
        assembly.told("starting Newton", (starts - last) / most_in_a_row)
    if len(found) == most:
        return f"Newton found as many as there can be, after {starts} starts", True, 0.0
    once, twice = (sum(placement.times == count for placement in found) for count in (1, 2))
    missing = once * (once - 1) / (2.0 * (twice + 1))
    text = (
        f"Newton from {starts} places, of which {closed} led to a mode; the last {starts - last} found "
        f"no new one; about {missing:.0f} more are expected from how often each was met; not proven complete"
    )
    return text, False, missing
