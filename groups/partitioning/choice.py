"""Coordinate partitioning: independent and dependent relative coordinates of a mechanism that is cut open."""

# q of h(q) = 0, the equations of the cuts with Jacobian J, falls into independent u, dependent v and driven
# coordinates, so that the columns J_v of the independent equations are square and regular: then the cuts give
# v for any u nearby (Wehage and Haug 1982; Robotran's mbs_exe_part).

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from groups.partitioning.cutting import CutOpen, cut_open, linearised
from groups.trajectory import poses_of
from mbssa import Mechanism
from mbssa.arrays import Bools, Floats, Ints
from mbssa.faults import BETWEEN, meant
from mbssa.joints.assembly import assemble
from mbssa.joints.frames import Frames, joint_frames
from mbssa.singularities.ranks import precision_of, tolerance_for

if TYPE_CHECKING:
    from groups.trajectory import Trajectory

Strings: TypeAlias = npt.NDArray[np.str_]
#: Choice of dependent coordinates: Gaussian elimination with complete pivoting, or a pivoted QR.
Method = Literal["complete", "qr"]
METHODS: tuple[Method, ...] = get_args(Method)
#: Candidates within this share of the largest are equal and the first is taken: independent of rounding.
_EQUAL = 1e-9
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
        return self.opened.cut_texts

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
    frames = joint_frames(mechanism)
    tolerance = checked_tolerance(mechanism, frames, method, tolerance)
    everything, is_chosen = isinstance(independent, str), (independent, dependent) != (None, None)
    if everything and independent != "all":
        raise ValueError(f"independent: {independent!r} is one text; write a list of coordinates, or 'all'")
    given = {"driven": driven, "independent": () if everything else independent, "dependent": dependent}
    called = {what: [mechanism.called(name) for name in of or ()] for what, of in given.items()}
    u, v = called["independent"], called["dependent"]
    prescribed = set(mechanism.driven_coordinates if driven is None else called["driven"])
    opened = cut_open(mechanism, frames, cuts, prescribed.difference(u))
    check_size(opened, 1)
    names, faults = list(opened.coordinates), list[str]()
    u = names if everything else u
    held = prescribed.difference(u)
    for what, name in ((what, name) for what, of in called.items() for name in of if name not in names):
        if what != "driven" or name not in opened.drives:
            hint = meant(name, names, most=2).rstrip() or f"there are {', '.join(names)}"
            faults.append(f"{what}: no coordinate {name!r} in the tree; {hint}")
    for name in v:
        if name in u and not everything:
            too = ", and driven" if name in prescribed else ""
            faults.append(f"{name}: independent and dependent{too}; name it in one of the lists")
        if name in held:
            remedy = "write driven=() to release the driving constraints"
            faults.append(f"dependent: {name} is driven and cannot be; {remedy}")
    if faults:
        raise ValueError(BETWEEN.join(faults))
    left = [name for name in names if name not in held.union(u, v)]
    if left and None not in (independent, dependent):
        which = ", ".join(left)
        raise ValueError(f"{which}: neither independent nor dependent; name them in one of the lists")
    if at is None:
        closed = assemble(mechanism, frames, hold=True)
        if not closed.closed:
            name = mechanism.name or "the mechanism"
            raise CannotAssembleError(f"{name} cannot be assembled: {closed.fault}")
        poses = closed.configuration[None]
    else:
        if (count := len(at.time)) != 1:
            raise ValueError(f"at has {count} instants; write trajectory.instants(slice(k, k + 1)) for one")
        check_same(mechanism, at.mechanism, "at")
        poses = poses_of(at)
        if not np.isfinite(poses.position).all():
            why = "; ".join(at.faults())
            raise ValueError(f"at t = {at.time[0]:.6g} s not all bodies have a pose: {why}")
    (value,), (J,) = linearised(opened, poses)
    limit = tolerance * float(np.abs(J).max(initial=0.0))
    columns = np.flatnonzero([name not in held for name in names])
    if is_chosen:
        chosen = np.flatnonzero([name in (left if dependent is None else v) for name in names])
        _check(np.array(names), J, columns, chosen, method, limit)
        columns = chosen
    pivots = pivots_of(J[None][:, :, columns], method)
    rank = int((pivots.sizes[0] > limit).sum())
    rows, taken = np.sort(pivots.rows[0, :rank]), np.sort(columns[pivots.columns[0, :rank]])
    singular = singular_values(J[np.ix_(rows, taken)])
    depends = [names[k] for k in taken.tolist()]
    return Partitioning(
        opened=opened,
        method="given" if is_chosen else method,
        time=None if at is None else float(at.time[0]),
        value=value,
        independent=tuple(name for name in names if name not in held and name not in depends),
        dependent=tuple(depends),
        driven=tuple(name for name in names if name in held),
        prescribed=tuple(compress(opened.equations, opened.prescribed)),
        redundant=tuple(np.delete(np.array(opened.equations, dtype=np.str_), rows).tolist()),
        jacobian=J,
        rank=rank,
        condition=float(singular[-1] / singular[0]) if rank else 1.0,
        pivots=pivots.sizes[0],
        bound=int((singular_values(J) > limit).sum()) - rank if rank < len(J) else 0,
        tolerance=tolerance,
    )


def checked_tolerance(mechanism: Mechanism, frames: Frames, method: str, tolerance: float) -> float:
    """A valid tolerance, but no less than the digits of a model's numbers allow; refuse unknown methods."""
    if method not in METHODS:
        raise ValueError(f"no method {method!r}; write one of {', '.join(METHODS)}")
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance is {tolerance}; write a share of the largest entry, from 0 to below 1")
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


def _check(names: Strings, J: Floats, columns: Ints, given: Ints, method: Method, limit: float) -> None:
    """Refuse a choice of dependent columns ``given`` whose J_v is not square and regular; name another."""
    rank = int((singular_values(J[:, columns]) > limit).sum())
    left, singular, right = np.linalg.svd(J[:, given])
    reached = left[:, : int((singular > limit).sum())]  # of the equations, by these columns
    mine = reached.shape[1]
    if mine == rank == len(given):
        return
    faults = []
    if len(given) != rank:
        many = "too many" if len(given) > rank else "too few"
        faults.append(f"dependent coordinates: {len(given)}, independent equations: {rank}; that is {many}")
    free = right[mine:]
    pivots = pivots_of(free[None], "complete").columns[0, : len(free)]
    for motion in np.linalg.solve(free[:, pivots], free):  # of few coordinates each
        moving = ", ".join(names[given[np.abs(motion) > _CONCERNED * np.abs(motion).max()]])
        faults.append(f"J_v is singular: {moving} can move while the others stand still")
    others = np.setdiff1d(columns, given)
    rest = J[:, others] - reached @ (reached.T @ J[:, others])
    if mine < rank and len(given) <= rank:
        stiff = names[others[np.linalg.norm(rest, axis=0) > limit]]
        faults.append(f"the cuts bind what is independent: {', '.join(stiff)}")
    regular = [given[pivots_of(J[None][:, :, given], method).columns[0, :mine]]]
    regular.append(others[pivots_of(rest[None], method).columns[0, : rank - mine]])
    would_do = ", ".join(names[np.sort(np.concatenate(regular))])
    faults.append(f"regular would be dependent = {would_do or 'none'}")
    raise ValueError(BETWEEN.join(faults))


# --- linear algebra ----------------------------------------------------------------------------------


class Pivots(NamedTuple):
    """Pivots of T matrices (m, n): rows and columns in the order in which they were taken."""

    rows: Ints  # (T, m), the rest after those taken
    columns: Ints  # (T, n)
    sizes: Floats  # (T, min(m, n)); NaN of a matrix that is not finite


def singular_values(matrices: Floats) -> Floats:
    """Singular values (…, min(m, n)); NaN of a matrix that is not finite."""
    sound: Bools = np.isfinite(matrices.sum(axis=(-2, -1), keepdims=True))
    values = np.linalg.svd(np.where(sound, matrices, 0.0), compute_uv=False)
    return np.where(sound[..., 0], values, np.nan)


def pivots_of(matrices: Floats, method: Method) -> Pivots:
    """Pivots of T matrices (T, m, n)."""
    # `complete` eliminates with the largest entry of what is left; `qr` takes the column that is farthest
    # from those before, and then the rows of these columns in the same way.
    sound: Bools = np.isfinite(matrices.sum(axis=(1, 2)))
    (count, m, n), left = matrices.shape, np.where(sound[:, None, None], matrices, 0.0)
    sizes, at = np.zeros((count, min(m, n))), range(count)
    if method == "complete":
        taken = [np.full((count, k), m + n) for k in (m, n)]  # by row and column, the pivot that took it
        for k in range(min(m, n)):
            size = np.abs(left).reshape(count, -1)
            sizes[:, k] = size.max(axis=1)
            place = np.divmod(np.argmax(size >= (1 - _EQUAL) * sizes[:, k, None], axis=1), n)
            for of, number in zip(taken, place, strict=True):
                of[at, number] = np.minimum(of[at, number], k)
            row, column = place
            along, pivots = left[at, row], left[at, row, column]
            shares = left[at, :, column] / np.where(pivots == 0, 1.0, pivots)[:, None]
            left -= shares[:, :, None] * along[:, None]
            left[at, row], left[at, :, column] = 0.0, 0.0
        rows, columns = (np.argsort(of, axis=1, kind="stable") for of in taken)
    else:
        from scipy.linalg import qr

        rows, columns = np.tile(np.arange(m), (count, 1)), np.tile(np.arange(n), (count, 1))
        for t in at if left.size else ():
            upper, columns[t] = qr(left[t], mode="r", pivoting=True)
            sizes[t] = np.abs(np.diag(upper))
            _, rows[t] = qr(left[t][:, columns[t, : sizes.shape[1]]].T, mode="r", pivoting=True)
    sizes[~sound] = np.nan
    return Pivots(rows, columns, sizes)
