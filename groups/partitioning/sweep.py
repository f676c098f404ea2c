"""Structural and numerical choices of independent coordinates, side by side along a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from groups.motion import Motion, from_arrays
from groups.partitioning.choice import (
    Method,
    check_same,
    check_size,
    checked_tolerance,
    partition,
    pivots_of,
    singular_values,
)
from groups.partitioning.cutting import CutOpen, cut_open, linearised
from groups.results.joints import coordinate_motion
from groups.trajectory import poses_of
from mbssa.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from groups.model import Model
    from groups.trajectory import Trajectory


class Followed(NamedTuple):
    """One way to choose the independent coordinates, along a motion."""

    sets: tuple[tuple[str, ...], ...]  # of independent coordinates
    which: Ints  # (T,) index of the set at each instant
    singular: Floats  # (T,) smallest singular value of J_v that should not vanish, lengths over the size
    condition: Floats  # (T,) that over the largest: 1 well conditioned, 0 singular; NaN without a pose
    # Instants with the same set; none where there are redundant equations.
    crossings: tuple[int, ...]  # k with det J_v = 0, or a change of its sign from k to k + 1


class Stretch(NamedTuple):
    """Stretch of a motion, instants ``first`` to ``last``, near a singular position."""

    first: int
    last: int
    lowest: Mapping[str, float]  # smallest of PartitionSweep.conditions in it, NaN where there is none
    crossed: tuple[str, ...]  # fixed choices with a determinant that changes its sign


@dataclass(frozen=True, eq=False, repr=False)
class PartitionSweep:
    """Choices of independent coordinates along a motion; T instants, G groups.

    Attributes
    ----------
    opened : the tree and its cuts
    method : of the numerical choices
    time : (T,) s
    rank : independent equations in general; the number of dependent coordinates
    structural : u are the driven coordinates of the model, whose columns are left out
    once : u is chosen at the reference, or by the user, and kept
    held : begins as ``once``, switched where its condition falls below ``limit`` times that of a new choice
    anew : u is re-selected at each instant
    whole : (T,) condition of all of J: where it vanishes, no choice is regular
    groups, status : (T, G) condition and status of the structural groups
    group_names : by group, its bodies and its type
    near : a condition below it is a warning
    limit : see ``held``
    given : whether the user chose ``once``

    Examples
    --------
    >>> import groups, mbssa
    >>> from groups.partitioning import sweep_partition
    >>> bar = mbssa.load("planar_four_bar")
    >>> swept = sweep_partition(groups.build(mbssa.decompose(bar)), groups.constant_speed(bar, steps=25))
    >>> swept.structural.sets, swept.once.sets
    ((('1-2.angle',),), (('2-3.angle',),))
    """

    opened: CutOpen
    method: Method
    time: Floats
    rank: int
    structural: Followed
    once: Followed
    held: Followed
    anew: Followed
    whole: Floats
    groups: Floats
    status: npt.NDArray[np.int8]
    group_names: tuple[str, ...]
    near: float
    limit: float
    given: bool

    def __repr__(self) -> str:
        name = self.opened.mechanism.name or "a mechanism"
        return (
            f"<PartitionSweep of {name}: {len(self.time)} instants, {len(self.warnings)} stretches near a "
            f"singular position, {len(self.changes)} changes of the independent set>"
        )

    @property
    def agree(self) -> Bools:
        """(T,) agreement of the choice at each instant with the structural one."""
        same = np.array([set(one) == set(self.structural.sets[0]) for one in self.anew.sets])
        return np.asarray(same[self.anew.which] & np.isfinite(self.anew.condition))

    @property
    def changes(self) -> tuple[tuple[int, tuple[str, ...], tuple[str, ...]], ...]:
        """Instants at which the independent set has to change, with the set before and after."""
        which, sets = self.held.which, self.held.sets
        at = np.flatnonzero(np.diff(which)) + 1
        return tuple((k, sets[which[k - 1]], sets[which[k]]) for k in at.tolist())

    @property
    def choices(self) -> dict[str, Followed]:
        """The choices by name."""
        return {name: getattr(self, name) for name in ("structural", "once", "held", "anew")}

    @property
    def conditions(self) -> dict[str, Floats]:
        """(T,) conditions of the choices, the worst of the groups, and that of all of J, by name."""
        structural, *numeric = [(name, one.condition) for name, one in self.choices.items()]
        return dict([structural, ("groups", self.worst_group), *numeric, ("whole", self.whole)])

    @property
    def worst_group(self) -> Floats:
        """(T,) the smallest condition of the groups; 0 where one was not solved."""
        return np.asarray(np.where(self.status == 0, self.groups, 0.0).min(axis=1, initial=1.0))

    @property
    def warnings(self) -> tuple[Stretch, ...]:
        """Stretches in which a choice, the groups or all of J come near a singular position."""
        rows, crossings = self.conditions, {name: one.crossings for name, one in self.choices.items()}
        low = np.any([values < self.near for values in rows.values()], axis=0)
        for k in chain.from_iterable(crossings.values()):
            low[k : k + 2] = True
        found = []
        for first, end in np.flatnonzero(np.diff(low, prepend=False, append=False)).reshape(-1, 2).tolist():
            lowest = {name: float(np.fmin.reduce(values[first:end])) for name, values in rows.items()}
            crossed = tuple(name for name, at in crossings.items() if any(first <= k < end for k in at))
            found.append(Stretch(first, end - 1, lowest, crossed))
        return tuple(found)


def sweep_partition(
    model: Model,
    path: Motion | Trajectory | None = None,
    *,
    method: Method = "complete",
    cuts: Sequence[str] | None = None,
    independent: Sequence[str] | str | None = None,
    tolerance: float = 1e-9,
    near: float = 0.01,
    limit: float = 0.1,
) -> PartitionSweep:
    """Follow the structural choice of independent coordinates and the numerical ones along a motion.

    Parameters
    ----------
    model : its driven coordinates are the structural choice; conditions of its groups are reported beside it
    path : a motion of the model, its own by default; or a solved motion of the same mechanism with other
        inputs, which may pass dead-centre positions of the model: its groups are then solved with the
        values of its own inputs there, and beyond a dead centre may be on another branch of the same
        condition
    method, cuts, tolerance : as in :func:`partition`
    independent : the user's own choice, which is then ``once``, and which ``held`` begins with
    near : a condition below it is a warning
    limit : the set is changed where its condition is below this share of a new choice's

    Raises
    ------
    ValueError
        As :func:`partition` and :meth:`groups.Model.solve`; a path of another mechanism, or one with
        instants that were not solved.

    Examples
    --------
    >>> import dataclasses, groups, mbssa
    >>> pendulum = mbssa.load("pendulum_four_bar")
    >>> turned = dataclasses.replace(pendulum, driven=pendulum.driven[[1, 0, 2, 3]].copy(), motion=None)
    >>> crank = groups.build(mbssa.decompose(turned)).solve(groups.constant_speed(turned, steps=181))
    >>> swept = sweep_partition(groups.build(mbssa.decompose(pendulum)), crank)
    >>> [(round(float(swept.time[k]), 2), round(float(swept.anew.condition[k]), 1))
    ...     for k in swept.structural.crossings]
    [(0.33, 0.6), (0.93, 0.1)]
    """
    for name, share in (("near", near), ("limit", limit)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} is {share}; write a condition, from 0 to 1")
    mechanism, frames, inputs = model.mechanism, model.frames, model.mechanism.driven_coordinates
    share = checked_tolerance(mechanism, frames, method, tolerance)
    opened = cut_open(mechanism, frames, cuts, inputs)
    if path is None or isinstance(path, Motion):
        trajectory = solved = model.solve(path, level="position")
    else:
        check_same(mechanism, path.mechanism, "path")
        if not path.ok:
            raise ValueError(f"path has instants that were not solved: {'; '.join(path.faults())}")
        measured = {name: coordinate_motion(path, name) for name in inputs}
        values = {name: one.value for name, one in measured.items()}
        rates = {} if path.velocity is None else {name: one.rate for name, one in measured.items()}
        trajectory = path
        solved = model.solve(from_arrays(mechanism, path.time, values, rates), level="position")
    check_size(opened, len(trajectory.time))
    names, is_drive = np.array(opened.coordinates), np.array(opened.prescribed, dtype=bool)
    # The first instant is the reference.
    poses = model.reference[None], poses_of(trajectory)
    everything = np.concatenate([linearised(opened, at)[1] for at in poses])
    J = everything[:, ~is_drive]
    whole, largest = singular_values(J), np.abs(J).max(axis=(1, 2), initial=0.0)
    rank = int((whole > share * largest[:, None]).sum(axis=1).max())
    first, *_ = each = np.sort(pivots_of(J, method).columns[:, :rank], axis=1)
    if independent is not None:
        options: dict[str, Any] = {"cuts": cuts, "independent": independent, "tolerance": tolerance}
        first = np.flatnonzero(np.isin(names, partition(mechanism, method, driven=(), **options).dependent))
    everything, J, each = everything[1:], J[1:], each[1:]
    free = np.flatnonzero(~np.isin(names, inputs))
    structural = _followed(names, everything, free, min(len(free), rank + int(is_drive.sum())))
    anew = _followed(names, J, each, rank)
    held, begin = np.tile(first, (len(J), 1)), 0
    while begin < len(J):
        poor = np.flatnonzero(_quality(J[begin:], held[begin:], rank)[1] < limit * anew.condition[begin:])
        if not len(poor):
            break
        begin += int(poor[0])
        held[begin:] = each[begin]
        begin += 1  # a set is not compared with itself: rounding could make it poor
    return PartitionSweep(
        opened=opened,
        method=method,
        time=trajectory.time,
        rank=rank,
        structural=structural._replace(sets=(inputs,)),
        once=_followed(names, J, first, rank),
        held=_followed(names, J, held, rank),
        anew=anew,
        whole=_at_rank(whole[1:], rank)[1],
        groups=solved.condition,
        status=solved.status,
        group_names=model.group_names,
        near=near,
        limit=limit,
        given=independent is not None,
    )


def _at_rank(values: Floats, rank: int) -> tuple[Floats, Floats]:
    """Singular value (T,) number ``rank``, and its share of the first; 1 where there is none."""
    if not rank:
        return np.ones(len(values)), np.ones(len(values))
    singular, largest = values[:, rank - 1], values[:, 0]
    return singular, singular / np.where(largest == 0, 1.0, largest)


def _quality(J: Floats, columns: Ints, rank: int) -> tuple[Floats, Floats]:
    """Smallest singular value (T,) of these columns (T, r), and condition."""
    return _at_rank(singular_values(np.take_along_axis(J, columns[:, None], axis=2)), rank)


def _followed(names: npt.NDArray[np.str_], J: Floats, columns: Ints, rank: int) -> Followed:
    """Sets without columns, those of each instant (T, r) or fixed ones (r,), and their conditions."""
    crossings: Ints = np.zeros(0, dtype=np.int64)
    if columns.ndim == 1 and J.shape[1] == len(columns) == rank > 0:
        with np.errstate(invalid="ignore", divide="ignore"):  # no sign where there is no pose
            sign = np.sign(np.linalg.det(J[:, :, columns]))
        crossings = np.flatnonzero(np.append(sign[1:] * sign[:-1] < 0, False) | (sign == 0))
    columns = np.broadcast_to(columns, (len(J), columns.shape[-1]))
    sets: dict[tuple[int, ...], int] = {}
    which = np.array([sets.setdefault(tuple(row), len(sets)) for row in columns.tolist()], dtype=np.int64)
    without = tuple(tuple(np.delete(names, list(row)).tolist()) for row in sets)
    return Followed(without, which, *_quality(J, columns, rank), tuple(crossings.tolist()))
