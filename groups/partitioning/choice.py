"""Coordinate partitioning: independent and dependent relative coordinates of a mechanism that is cut open."""

# q of h(q) = 0, the equations of the cuts with Jacobian J, falls into independent u, dependent v and driven
# coordinates, so that the columns J_v of the independent equations are square and regular: then the cuts give
# v for any u nearby (Wehage and Haug 1982; Robotran's mbs_exe_part).

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groups.partitioning.cutting import CutOpen, cut_coordinates, cut_open
from groups.partitioning.jacobian import linearised
from groups.partitioning.pivoting import METHODS, Method, pivots_of
from groups.posed import poses_of
from mbssa import Mechanism
from mbssa.arrays import Bools, Floats, Ints
from mbssa.faults import BETWEEN, meant
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import Frames, joint_frames
from mbssa.joints.poses import Poses
from mbssa.singularities.ranks import precision_of, tolerance_for

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


#: Largest number of entries of all J of a motion, a gigabyte, and of operations for one, minutes.
_MOST_ENTRIES, _MOST_OPERATIONS = 10**8, 10**10

#: Share of its largest entry from which a coordinate takes part in a free motion.
_CONCERNED = 1e-6


class CannotAssembleError(ValueError):
    """The reference does not close: there is no configuration to take J at."""


@dataclass(frozen=True, eq=False, repr=False)
class Partitioning:
    """Independent, dependent and driven coordinates of a mechanism that is cut open.

    Attributes
    ----------
    opened : the tree and its cuts; ``opened.coordinates`` are all n, ``opened.equations`` all m
    method : ``complete``, ``qr``, or ``given`` where the user chose
    time : s, of the instant of the motion that it was taken at; None for the reference
    value : (n,) of the coordinates, m and rad
    independent, dependent, driven : names of coordinates, in the order of the joints; driven ones of cut
        joints are equations instead, and are among ``prescribed``
    redundant : equations that follow from the others here
    jacobian : (m, n) of all equations by all coordinates; lengths divided by ``opened.frames.size``, in rows
        and in columns
    rank : number of independent equations in the columns that are not driven, and of dependent coordinates
    condition : smallest over largest singular value of J_v: 1 well conditioned, 0 singular
    pivots : sizes of the pivots, falling; the first ``rank`` count
    bound : by how much the rank falls short where the driven columns are left out: so many combinations of
        driven coordinates are not free to be driven
    tolerance : share of J's largest entry at which a pivot is none

    Examples
    --------
    >>> import groups, mbssa
    >>> from groups.partitioning import partition
    >>> found = partition(mbssa.load("suspension"), driven=())
    >>> found.n, found.rank, len(found.independent)
    (5, 2, 3)
    """

    opened: CutOpen
    method: str
    time: float | None
    value: Floats
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    driven: tuple[str, ...]
    prescribed: tuple[str, ...]
    redundant: tuple[str, ...]
    jacobian: Floats
    rank: int
    condition: float
    pivots: Floats
    bound: int
    tolerance: float

    def __repr__(self) -> str:
        name = self.mechanism.name or "a mechanism"
        return (
            f"<Partitioning of {name}: {len(self.independent)} independent, {len(self.dependent)} dependent, "
            f"{len(self.driven)} driven coordinates, condition {self.condition:.2g}>"
        )

    @property
    def mechanism(self) -> Mechanism:
        """Partitioned mechanism."""
        return self.opened.mechanism

    @property
    def n(self) -> int:
        """Number of relative coordinates."""
        return len(self.opened.coordinates)

    @property
    def cuts(self) -> tuple[str, ...]:
        """The cuts, each with its kind: ``ball cut at 2-4``."""
        return tuple(f"{cut.kind} cut at {self.opened.cut_name(cut)}" for cut in self.opened.cuts)

    @property
    def smallest_pivot(self) -> float:
        """The smallest pivot of J_v; 1 where there is none."""
        return float(self.pivots[self.rank - 1]) if self.rank else 1.0


def partition(
    mechanism: Mechanism,
    method: Method = "complete",
    *,
    at: Trajectory | None = None,
    cuts: Sequence[str] | None = None,
    independent: Sequence[str] | str | None = None,
    dependent: Sequence[str] | None = None,
    driven: Sequence[str] | None = None,
    tolerance: float = 1e-9,
) -> Partitioning:
    """Divide the relative coordinates of a mechanism that is cut open into independent and dependent ones.

    Parameters
    ----------
    method : "complete", Gaussian elimination with complete pivoting, or "qr" with column pivoting
    at : one instant of a motion, as ``trajectory.instants(slice(k, k + 1))``; the assembled reference if not
        given
    cuts : ids of the joints to cut; both joints of a body between two spherical (in the plane: revolute)
        joints replace it by a rod. By default the joints with the most freedom, and such rods in space
    independent, dependent : the user's own choice. Where one is given, all other coordinates are of the
        other kind, and none is in both; but after ``independent="all"`` those that are named dependent are no
        longer independent, as with Robotran's ``set_qu`` and ``set_qv``. A driven coordinate that is named
        independent is no longer driven.
    driven : coordinates that are prescribed and never dependent; those of the model if not given, ``()`` for
        none
    tolerance : share of J's largest entry at which a pivot is none; a model whose numbers are rounded has
        at least 10 times its precision

    Raises
    ------
    ValueError
        No geometry, a reference that cannot close (``CannotAssembleError``), an instant that was not solved,
        cuts that leave a loop or an unconnected body, unknown names, names of both kinds; of the
        user's choice too many or too few, or a singular J_v, with the coordinates concerned: all faults of
        a kind at once.

    Examples
    --------
    >>> import mbssa
    >>> found = partition(mbssa.load("pendulum_four_bar"))
    >>> found.driven, found.independent, found.dependent
    (('1-2.angle',), (), ('1-3.angle', '3-4.angle'))
    >>> partition(mbssa.load("spatial_4r")).redundant
    ('3-4: position z', '3-4: tilt x', '3-4: tilt y')
    """
    if method not in METHODS:
        raise ValueError(f"no method {method!r}; write one of {', '.join(METHODS)}")
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance is {tolerance}; write a share of the largest entry, from 0 to below 1")
    frames = joint_frames(mechanism)
    prescribed = set(mechanism.driven_coordinates if driven is None else map(mechanism.called, driven))
    if independent is not None and not isinstance(independent, str):
        independent = [mechanism.called(name) for name in independent]
    dependent = None if dependent is None else [mechanism.called(name) for name in dependent]
    free = set() if independent is None or isinstance(independent, str) else set(independent)
    opened = cut_open(mechanism, frames, cuts, prescribed - free)
    check_size(opened, 1)
    is_driven, is_given = _kinds(opened, independent, dependent, prescribed, own=driven is None)
    poses = _one(mechanism, frames, at)
    (value,), (J,) = linearised(opened, poses)
    tolerance = effective_tolerance(mechanism, frames, tolerance)
    limit = tolerance * float(np.abs(J).max(initial=0.0))
    columns = np.flatnonzero(~is_driven)
    if is_given is not None:
        given = np.flatnonzero(is_given)
        _check_choice(opened, J, columns, given, method, limit)
        columns = given
    pivots = pivots_of(J[None][:, :, columns], method)
    rank = int((pivots.sizes[0] > limit).sum())
    rows, taken = np.sort(pivots.rows[0, :rank]), np.sort(columns[pivots.columns[0, :rank]])
    singular = np.linalg.svd(J[np.ix_(rows, taken)], compute_uv=False)
    names = np.array(opened.coordinates)
    depends = np.isin(np.arange(len(names)), taken)
    return Partitioning(
        opened=opened,
        method=method if is_given is None else "given",
        time=None if at is None else float(at.time[0]),
        value=value,
        independent=tuple(names[~is_driven & ~depends].tolist()),
        dependent=tuple(names[depends].tolist()),
        driven=tuple(names[is_driven].tolist()),
        prescribed=tuple(n for n, here in zip(opened.equations, opened.prescribed, strict=True) if here),
        redundant=tuple(n for k, n in enumerate(opened.equations) if k not in set(rows.tolist())),
        jacobian=J,
        rank=rank,
        condition=float(singular[-1] / singular[0]) if rank else 1.0,
        pivots=pivots.sizes[0],
        bound=_rank(J, limit) - rank if rank < len(J) else 0,
        tolerance=tolerance,
    )


def effective_tolerance(mechanism: Mechanism, frames: Frames, tolerance: float) -> float:
    """The tolerance, but no less than the digits of a model's numbers allow."""
    precision = precision_of(mechanism, frames.size)
    return max(tolerance, tolerance_for(precision)) if precision > 0 else tolerance


def check_size(opened: CutOpen, instants: int) -> None:
    """Refuse more instants, equations and coordinates than a dense J can be made for."""
    m, n = len(opened.equations), len(opened.coordinates)
    if instants * m * n > _MOST_ENTRIES or m * n * n > _MOST_OPERATIONS:
        instead = "write fewer instants" if instants > 1 else "a structural choice needs no such matrix"
        times = f"{instants:,} instants of " if instants > 1 else ""
        raise ValueError(f"{times}{m:,} equations in {n:,} coordinates are too many; {instead}")


def check_same(mechanism: Mechanism, other: Mechanism, what: str) -> None:
    """Refuse a motion of a mechanism that differs in more than its inputs."""
    sizes = [(one.space, one.n_bodies, one.joint_ids) for one in (mechanism, other)]
    if sizes[0] != sizes[1] or not np.array_equal(mechanism.joint_type, other.joint_type):
        raise ValueError(f"{what} is a motion of another mechanism; only its inputs may differ")


def _one(mechanism: Mechanism, frames: Frames, at: Trajectory | None) -> Poses:
    """Poses (1, N) of all bodies."""
    if at is None:
        closed = assemble(mechanism, frames, hold=True)
        if not closed.closed:
            raise CannotAssembleError(
                f"{mechanism.name or 'the mechanism'} cannot be assembled: {closed.fault}"
            )
        return closed.configuration[None]
    if len(at.time) != 1:
        raise ValueError(
            f"at has {len(at.time)} instants; write trajectory.instants(slice(k, k + 1)) for one"
        )
    check_same(mechanism, at.mechanism, "at")
    poses = poses_of(at)
    if not np.isfinite(poses.position).all():
        raise ValueError(f"at t = {at.time[0]:.6g} s not all bodies have a pose: {'; '.join(at.faults())}")
    return poses


def _kinds(
    opened: CutOpen,
    independent: Sequence[str] | str | None,
    dependent: Sequence[str] | None,
    prescribed: set[str],
    *,
    own: bool,
) -> tuple[Bools, Bools | None]:
    """Masks (n,) of driven coordinates, and of the user's dependent ones, None without a choice."""
    names = opened.coordinates
    faults = [] if own else _unknown("driven", sorted(prescribed), (*names, *cut_coordinates(opened)))
    everything = independent == "all"
    if isinstance(independent, str) and not everything:
        faults.append(f"independent: {independent!r} is one text; write a list of coordinates, or 'all'")
        independent = None
    u, v = names if everything else tuple(independent or ()), tuple(dependent or ())
    held = prescribed - set(u)
    faults += _unknown("independent", u, names) + _unknown("dependent", v, names)
    faults += [
        f"{name}: independent and dependent{', and driven' if name in prescribed else ''}; "
        "name it in one of the lists"
        for name in names
        if not everything and name in u and name in v
    ]
    faults += [
        f"dependent: {name} is driven and cannot be; write driven=() to release the driving constraints"
        for name in v
        if name in held
    ]
    if faults:
        raise ValueError(BETWEEN.join(faults))
    driven = np.array([name in held for name in names], dtype=bool)
    if independent is None and dependent is None:
        return driven, None
    left = [name for name in names if name not in held and name not in u and name not in v]
    if dependent is None:
        v = tuple(left)
    elif independent is not None and left:
        raise ValueError(
            f"{', '.join(left)}: neither independent nor dependent; name them in one of the lists"
        )
    return driven, np.array([name in v for name in names], dtype=bool)


def _unknown(what: str, given: Sequence[str], names: Sequence[str]) -> list[str]:
    return [
        f"{what}: no coordinate {name!r} in the tree; "
        + (meant(name, names, most=2).rstrip() or f"there are {', '.join(names)}")
        for name in given
        if name not in names
    ]


def _check_choice(
    opened: CutOpen, J: Floats, columns: Ints, given: Ints, method: Method, limit: float
) -> None:
    """Refuse a choice of dependent columns ``given`` whose J_v is not square and regular; name another."""
    names = np.array(opened.coordinates)
    rank = _rank(J[:, columns], limit)
    mine = _rank(J[:, given], limit)
    if mine == rank == len(given):
        return
    faults = []
    if len(given) != rank:
        many = "too many" if len(given) > rank else "too few"
        faults.append(f"dependent coordinates: {len(given)}, independent equations: {rank}; that is {many}")
    if mine < len(given):
        basis = np.linalg.svd(J[:, given])[2][mine:]
        pivots = pivots_of(basis[None], "complete").columns[0, : len(basis)]
        for motion in np.linalg.solve(basis[:, pivots], basis):  # of few coordinates each
            moving = np.abs(motion) > _CONCERNED * np.abs(motion).max()
            faults.append(
                f"J_v is singular: {', '.join(names[given[moving]])} can move while the others stand still"
            )
    if mine < rank and len(given) <= rank:
        others = np.setdiff1d(columns, given)
        stiff = [k for k in others.tolist() if _rank(J[:, [*given.tolist(), k]], limit) > mine]
        faults.append(f"the cuts bind what is independent: {', '.join(names[stiff])}")
    first = given[pivots_of(J[None][:, :, given], method).columns[0, :mine]].tolist() if len(given) else []
    for k in columns.tolist():
        if len(first) < rank and _rank(J[:, [*first, k]], limit) > len(first):
            first.append(k)
    faults.append(f"regular would be dependent = {', '.join(names[sorted(first)]) or 'none'}")
    raise ValueError(BETWEEN.join(faults))


def _rank(matrix: Floats, limit: float) -> int:
    return int((np.linalg.svd(matrix, compute_uv=False) > limit).sum()) if matrix.size else 0
