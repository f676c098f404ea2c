"""The solved motion: every body at every instant, and how sure each answer is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from groups.results import files
from groups.results.expressions import derived
from groups.results.faults import SingularPosition, sentences
from groups.results.joints import BodyMotion, CoordinateMotion, JointMotion, joint_motion
from groups.results.table import Choice, check_target, chosen_columns, required, write_table
from groups.rotations import plane_quaternion, plane_rotation, quaternion_of, rotation_of, twist_in_space
from groups.status import OUTPUTS, PROVEN, QUALITY
from groups.status import STATUS as STATUS
from mbssa import Mechanism, Structure, decompose
from mbssa.arrays import Floats, Ints
from mbssa.joints.axes import in_space
from mbssa.joints.frames import Frames, joint_frames
from mbssa.joints.poses import Poses
from mbssa.texts import listed

if TYPE_CHECKING:
    import pandas

    from groups.pictures.page import Player
    from groups.pictures.paths import PointName


#: Called with the share that is done; False from it stops the work.
Progress = Callable[[float], object]

#: Levels of answer, each with those before it.
Level = Literal["position", "velocity", "acceleration"]
LEVELS: tuple[Level, ...] = ("position", "velocity", "acceleration")

#: Requested treatment of the branch, and its certainty by the number in :attr:`Trajectory.proof`.
Branch = Literal["checked", "proven", "smooth"]
PROOF = ("none", "checked", "proven", "continued")

#: Names in a message, bodies in a group's name and faults in a representation, before the rest is counted.
_LISTED, _NAMED, _SHOWN = 40, 6, 3


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Poses, velocities and accelerations of bodies, SI units, world axes.

    Stored body by body; the public arrays are views with the time first.

    Attributes
    ----------
    time : (T,) s
    position : (T, K, 3) m, of each body's own origin; planar: (T, K, 2)
    orientation : (T, K, 4) unit quaternion w, x, y, z, continuous in sign; planar: (T, K) rad, unwrapped
    velocity, acceleration : (T, K, 6) linear of the body's origin, then angular; planar: (T, K, 3);
        None where that level was not kept
    status : (T, G) int8 by group: 0 ok, else see :data:`STATUS`
    residual : (T, G) largest residual of the group's equations, m; angles as arcs at the mechanism's size
    iterations : (T, G) Newton steps; 0 for closed forms
    condition : (T, G) smallest over largest pivot: 1 well conditioned, 0 singular
    kept : (K,) indices of the bodies that the arrays hold, ascending; K = N where all were kept
    causes : by group, the joint that closes it where it fails; empty texts where it does not, None: not known
    contacts : by group, the first contact that ended; empty texts where none did, None where there is none
    group_names : by group, its bodies and its type; None: from the mechanism's own decomposition
    proven : (T, G) int8, 1 where the branch is proven up to that instant, 2 where it is but for places where
        two branches cross, gone through by ``branch="smooth"``; None with ``branch="checked"``
    singular : singular positions at which the proof of a group ends

    Bodies that a group could not place are NaN at that instant, and its status is not 0.

    Examples
    --------
    >>> import groups, mbssa
    >>> bar = mbssa.load("planar_four_bar")
    >>> trajectory = groups.build(mbssa.decompose(bar)).solve(groups.constant_speed(bar, steps=5))
    >>> trajectory.position.shape, trajectory.orientation.shape, trajectory.status.shape
    ((5, 4, 2), (5, 4), (5, 2))
    >>> trajectory.faults(), PROOF[trajectory.proof.min()]
    ([], 'proven')
    >>> trajectory.body("coupler").point("tracer").shape, trajectory.spatial().velocity.shape
    ((5, 2), (5, 4, 6))
    >>> trajectory.quantity("angle(crank.x, world.x, world.z)").rate[0].round(6)
    np.float64(-6.283185)
    >>> trajectory.to_pandas(joints="1-4", quantities=["joints"]).columns.tolist()
    ['1-4.angle [rad]', '1-4.angle.rate [rad/s]', '1-4.angle.acceleration [rad/s^2]']
    """

    mechanism: Mechanism
    time: Floats
    position: Floats
    orientation: Floats
    velocity: Floats | None
    acceleration: Floats | None
    status: npt.NDArray[np.int8]
    residual: Floats
    iterations: Ints
    condition: Floats
    kept: Ints
    causes: tuple[str, ...] | None = field(default=None, kw_only=True)
    contacts: tuple[str, ...] | None = field(default=None, kw_only=True)
    group_names: tuple[str, ...] | None = field(default=None, kw_only=True)
    proven: npt.NDArray[np.int8] | None = field(default=None, kw_only=True)
    singular: tuple[SingularPosition, ...] = field(default=(), kw_only=True)

    def __repr__(self) -> str:
        said = self.faults()
        more = [f"and {len(said) - _SHOWN} more"] * (len(said) > _SHOWN)
        state = "; ".join([*said[:_SHOWN], *more]) or "ok"
        return f"<Trajectory of {self.mechanism.name}: {len(self.time)} instants, {state}>"

    def _repr_html_(self) -> str:
        from mbssa.reports.html import DRAWN, html_of

        picture = "groups.pictures:mechanism_at" if len(self.kept) <= DRAWN else None
        return html_of(self, "groups.reports.solution:trajectory_report", picture)

    def show(self, points: Sequence[PointName] | None = None, *, height: int = 480) -> Player:
        """Play the motion: in place in a notebook, else in the browser; see :func:`groups.pictures.show`."""
        player: Player = resolve_name("groups.pictures:show")(self, points, height=height)
        return player

    @property
    def ok(self) -> bool:
        """Whether every group was solved at every instant."""
        return not self.status.any()

    @property
    def proof(self) -> npt.NDArray[np.int8]:
        """(T, G) how sure the branch is, by index of :data:`PROOF`; ``none`` where the status is not ok.

        *Checked* is a branch that a determinant's sign and steps of two lengths do not contradict; *proven*
        one of which it is certain that it leads from the reference, along the cubics through the inputs'
        values and rates, to that instant. *Continued* went straight on through places where branches cross.
        """
        found: npt.NDArray[np.int8] = (self.status == 0) * np.int8(1)
        return found if self.proven is None else found * (1 + self.proven)

    @property
    def planar(self) -> bool:
        """Whether the arrays have the planar form; :meth:`spatial` lifts it."""
        return bool(self.position.shape[2] == 2)

    @cached_property
    def reference(self) -> Frames:
        """Geometry of the mechanism at its reference configuration, as the model file has it."""
        return joint_frames(self.mechanism)

    @cached_property
    def named_groups(self) -> tuple[str, ...]:
        """By group, its bodies and its type; empty texts where they are unknown."""
        if self.group_names is not None:
            return self.group_names
        structure, count = decompose(self.mechanism), self.status.shape[1]
        # Another number of groups: decomposed in another way. Nothing is said rather than something wrong.
        return names_of_groups(structure) if structure.n_groups == count else ("",) * count

    def body(self, name: str | int) -> BodyMotion:
        """Motion of one body, by name or number; a KeyError says which were kept where this one was not."""
        index = body_index(self.mechanism, name)
        place = int(np.searchsorted(self.kept, index))
        if place == len(self.kept) or self.kept[place] != index:
            kept = listed([self.mechanism.body_name(b) for b in self.kept.tolist()], _LISTED)
            raise KeyError(f"body {self.mechanism.bodies[index]} was not kept; kept are {kept}")
        return BodyMotion(self, index, place)

    def joint(self, name: str | int) -> JointMotion:
        """Free coordinates of one joint, with rates and accelerations, by its id or index.

        A KeyError where there is no such joint or a body of it was not kept; a ValueError where it has no
        geometry, or a type without equations on a relative pose.
        """
        return joint_motion(self, name)

    def instants(self, which: slice | npt.NDArray[np.intp]) -> Trajectory:
        """Some of the instants, as views: ``trajectory.instants(slice(0, None, 10))`` is every tenth."""
        return changed(self, ("time", *OUTPUTS, *QUALITY, *PROVEN), lambda array: array[which])

    def spatial(self) -> Trajectory:
        """The same motion with arrays of the spatial form; itself where they have it.

        Planar bodies lie in the plane z = 0 and turn about z. The mechanism stays as it is.
        """
        if not self.planar:
            return self
        lifts = zip(OUTPUTS, (in_space, plane_quaternion, twist_in_space, twist_in_space), strict=True)
        arrays = ((name, getattr(self, name), lift) for name, lift in lifts)
        found: dict[str, Any] = {  # contiguous per body in memory
            name: lift(of.swapaxes(0, 1)).swapaxes(0, 1) for name, of, lift in arrays if of is not None
        }
        return replace(self, **found)

    def quantity(self, expression: str) -> CoordinateMotion:
        """A number derived from joints, points and bodies: (T,) value, and the rates that were kept.

        Operands are coordinates of joints (``2-3.slide``), points of bodies (``hub.tip``, ``hub.origin``),
        centres of joints (``B``, ``2-3.centre``: the origin of the joint's frame on its second body), axes of
        bodies and of the world as directions (``hub.z``, ``world.x``), components of these (``hub.tip.x``),
        numbers, ``pi`` and ``e``. Functions: ``distance(point, point)``, ``angle(direction, direction)`` from
        0 to π, ``angle(direction, direction, about)`` with a sign and continuous, ``angle(A, B, C)`` from 0
        to π at the second of three points, ``dot``, ``cross``, ``norm``, ``sqrt``, ``sin``, ``cos``, ``tan``,
        ``asin``, ``acos``, ``atan``, ``atan2``, ``sinh``, ``cosh``, ``tanh``, ``exp``, ``log``, ``abs``. A
        number has the unit behind it (``90 deg``, ``5 mm``) or of its function (``rad(2 * pi)``); without one
        it is no length and no angle. A ValueError where an expression cannot be read, for names that there
        are not and units that do not fit.
        """
        return derived(self, {expression: expression})[0]

    def columns(self, **choice: Unpack[Choice]) -> tuple[list[str], Floats]:
        """Header and (T, columns) table: time, joints, points, bodies, and status and residual by group.

        Driven coordinates come first. Coordinates, points and bodies have those levels that were kept. A
        KeyError or ValueError for what there is not.

        Parameters
        ----------
        quantities : of ``driven``, ``joints``, ``points``, ``bodies`` and ``groups``; all by default
        joints : ``"all"``, ``"driven"``, or names of joints (``2-3``) and coordinates (``2-3.angle``)
        bodies : name, or names and numbers, of the bodies that have columns; by default all that were kept
        derived : expressions as :meth:`quantity` has them, by the name of their columns
        units : ``"si"``, or ``"file"`` for those of the model file
        """
        found = chosen_columns(self, **choice)
        return [column.name for column in found], np.stack([column.values for column in found], axis=1)

    def write(self, path: str | Path, *, force: bool = False, **choice: Unpack[Choice]) -> None:
        """Write a file whose ending says the format: ``.csv``, ``.parquet``, ``.npz`` or ``.nc`` (netCDF).

        A ValueError for another ending, or a choice that there is not; an OSError where the file exists or
        cannot be written, and is as it was before; a ModuleNotFoundError says what to install for ``.nc``
        (extra ``xarray``) and ``.parquet`` (``sweeps``).

        Parameters
        ----------
        force : replace a file that is there
        choice : of :meth:`columns`, for ``.csv`` and ``.parquet``, which are in the units of the model file
            if nothing is said; the others hold everything, in SI units
        """
        path = check_target(path, (".csv", ".parquet", ".npz", ".nc"), force)
        if (ending := path.suffix.lower()) in (".npz", ".nc"):
            (self.save if ending == ".npz" else self.write_netcdf)(path, force=force)
        else:
            choice.setdefault("units", "file")
            write_table(chosen_columns(self, **choice), path)

    def write_csv(self, path: str | Path, *, force: bool = False, **choice: Unpack[Choice]) -> None:
        """Write :meth:`columns` as :meth:`write` to text, a row per instant, units in brackets in the header.

        Numbers have as many digits as it takes to read the same ones back. Below 4e-15 of the largest with
        the same unit they are rounding, and written as 0.
        """
        self.write(check_target(path, (".csv",), force), force=True, **choice)

    def to_pandas(self, **choice: Unpack[Choice]) -> pandas.DataFrame:
        """:meth:`columns` as a data frame over time, units in the labels.

        Raises as :meth:`columns`, and a ModuleNotFoundError without pandas (extra ``xarray``).
        """
        time, *others = chosen_columns(self, **choice)
        required("pandas", "data frames need pandas", "xarray")
        import pandas

        index = pandas.Index(time.values, name=time.title)
        return pandas.DataFrame({column.title: column.values for column in others}, index)

    faults = sentences
    save = files.save
    to_xarray = files.to_xarray
    write_netcdf = files.write_netcdf


def load_trajectory(path: str | Path, mechanism: Mechanism | None = None) -> Trajectory:
    """Read a trajectory that :meth:`groups.Trajectory.save` wrote.

    Its mechanism is the one in the file, or ``mechanism``. A ValueError where it is no such archive, damaged,
    pickled, or its arrays do not fit together or to the mechanism; an OSError where it cannot be read.

    >>> import groups, mbssa, pathlib, tempfile
    >>> bar = mbssa.load("planar_four_bar")
    >>> trajectory = groups.build(mbssa.decompose(bar)).solve(groups.constant_speed(bar, steps=5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trajectory.save(pathlib.Path(folder) / "run.npz")
    ...     groups.load_trajectory(pathlib.Path(folder) / "run.npz")
    <Trajectory of planar_four_bar: 5 instants, ok>
    """
    return Trajectory(**files.read(path, mechanism))


def changed(
    trajectory: Trajectory, names: Iterable[str], change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
) -> Trajectory:
    """The trajectory with other arrays of these names, of those that it has."""
    arrays = ((name, getattr(trajectory, name)) for name in names)
    found: dict[str, Any] = {name: change(of) for name, of in arrays if of is not None}
    return replace(trajectory, **found)


def unfilled(
    mechanism: Mechanism, time: Floats, kept: Ints, level: int, names: tuple[str, ...]
) -> Trajectory:
    """A trajectory of groups of these names, contiguous per body and group, to be written; level 0 to 2."""
    planar, arrays = mechanism.space == "planar", dict[str, Any]()
    for name, of in (OUTPUTS | QUALITY).items():
        shape = len(kept if of.by == "body" else names), *of.entry[planar], len(time)
        arrays[name] = np.moveaxis(np.zeros(shape, of.dtype), -1, 0) if of.level <= level else None
    return Trajectory(mechanism, time, kept=kept, group_names=names, **arrays)


def at_rest(
    mechanism: Mechanism, poses: Poses, bodies: Ints, level: int = 0, n_groups: int = 0
) -> Trajectory:
    """Bodies (K,) that stand still in these poses, one instant or several, with so many solved groups."""
    position = poses.position[..., bodies, :].reshape(-1, len(bodies), 3)
    rotation = poses.rotation[..., bodies, :, :].reshape(-1, len(bodies), 3, 3)
    rest = unfilled(mechanism, np.arange(float(len(position))), bodies, level, ("",) * n_groups)
    rest.position[:], rest.condition[:] = position[..., : rest.position.shape[2]], 1.0
    angle = np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
    rest.orientation[:] = angle if rest.planar else quaternion_of(rotation)
    return rest


def configuration_at(position: Floats, orientation: Floats) -> Poses:
    """Poses of arrays of a trajectory, position (…, N, 2 or 3) and angle (…, N) or quaternion, copied."""
    planar = orientation.ndim < position.ndim
    rotation = plane_rotation(orientation) if planar else rotation_of(orientation)
    angle = orientation.copy() if planar else np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
    return Poses(in_space(position.copy()), rotation, angle)


def poses_of(trajectory: Trajectory) -> Poses:
    """Poses (T, N) of a motion of all bodies; NaN where one was not placed."""
    if len(trajectory.kept) < trajectory.mechanism.n_bodies:
        raise ValueError("the poses of all bodies are needed; solve without bodies=…")
    return configuration_at(trajectory.position, trajectory.orientation)


def level_number(level: str) -> int:
    """Number of a level: 0 for positions, 1 for velocities too, 2 for accelerations too."""
    if level not in LEVELS:
        raise ValueError(f"no level {level!r}; write one of {', '.join(LEVELS)}")
    return LEVELS.index(level)


def body_index(mechanism: Mechanism, name: str | int) -> int:
    """Index of a body by its name, number, or number as text."""
    names = mechanism.body_names or ()
    if isinstance(name, str) and name in names:
        return names.index(name)
    if str(name).isdecimal() and 1 <= int(name) <= mechanism.n_bodies:
        return int(name) - 1
    known = listed([mechanism.body_name(b) for b in range(mechanism.n_bodies)], _LISTED)
    raise KeyError(f"no body {name!r}; the bodies are {known}")


def names_of_groups(structure: Structure) -> tuple[str, ...]:
    """Bodies and type of each structural group, as ``coupler, rocker (3R2D)``."""
    name, members = structure.mechanism.body_name, [group.body_indices.tolist() for group in structure.groups]
    bodies = [listed([name(b) for b in each], _NAMED) for each in members]
    return tuple(f"{of} ({group.type_name})" for of, group in zip(bodies, structure.groups, strict=True))
