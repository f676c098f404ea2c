"""Driving forces, reactions, shaking force and powers of a solved motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from groups.dynamics.gears import teeth
from groups.dynamics.inverse import LATER_FAILED, STATUS, UNSOLVED, Acting, Solution, solve_backwards
from groups.dynamics.state import State, Wrench, bodies_with_mass, inertia_times
from groups.joint_jacobian import joint_rows, row_names
from groups.results.faults import inputs_text, instants_text
from groups.results.joints import joint_of
from groups.setting import locked_rotations
from groups.trajectory import body_index, names_of_groups
from mbssa.arrays import Bools, Floats
from mbssa.graph.frames import cross, dot, plus
from mbssa.joints.catalogue import is_length

if TYPE_CHECKING:
    from groups.motion import Motion
    from groups.results.table import Column
    from groups.trajectory import Trajectory
    from mbssa import Structure


#: Components of a load, and those of a planar one.
COMPONENTS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
PLANAR = (0, 1, 5)

#: Share of a self-stress below which a component does not take part in it, of exact geometry.
_OPEN = 1e-7

#: Moment of inertia about a line, over that about the body's origin, below which there is none.
_SLENDER = 1e-12

#: Share of the largest reaction, or of the largest force of a contact, below which a change is rounding.
_NO_EFFECT = 1e-9


@dataclass(frozen=True, eq=False)
class Joint:
    """Loads of one joint of a solution, evaluated when they are read."""

    solution: Solution
    index: int
    unknown: bool = False  # no component is known

    @property
    def bodies(self) -> tuple[int, ...]:
        return self.solution.joints[self.index].bodies

    @cached_property
    def columns(self) -> Floats:
        """Wrenches (S, 6, P, T) of the constraints on its bodies about its point, N and N m, world axes."""
        state, (_, loads, driving) = self.solution.state, self.solution.joints[self.index]
        if len(driving):
            loads = loads - np.einsum("sadt,dpt->sapt", self._driven, driving)
        place = self.frame[0].T
        return np.stack([state.about(place, each, -1.0) for each in loads]) / state.scale[:, None]

    def seen(self, local: bool = False) -> tuple[Floats, Bools]:
        """Wrenches (S, 6, T) in world axes, or of :attr:`frame`, NaN where unknown; open parts (S, 6)."""
        columns, of = self.columns, self.solution
        if local:
            parts = columns.reshape(len(columns), 2, 3, -1, columns.shape[-1])
            columns = np.einsum("tab,skapt->skbpt", self.frame[1], parts).reshape(columns.shape)
        is_open = of.is_open(columns * of.state.scale[:, None])
        return np.where((is_open | self.unknown)[..., None], np.nan, of.value(columns)), is_open

    @cached_property
    def frame(self) -> tuple[Floats, Floats]:
        """Point (T, 3) m, the origin of the joint's frame on the second body; axes (T, 3, 3) of the first."""
        state, frames, j = self.solution.state, self.solution.state.frames, self.index
        first, second = state.mechanism.joint_bodies(j)[:2]
        turned = np.einsum("tab,b->ta", state.rotation[second], frames.origin[j, 1])
        axes = np.einsum("tab,bc->tac", state.rotation[first], frames.axes[j, 0], order="F")
        return state.position[second] + turned, axes

    @cached_property
    def _driven(self) -> Floats:
        """Loads (S, 6, D, T) of its driven coordinates alone."""
        state, driven = self.solution.state, self.solution.state.mechanism.joints[self.index].driven
        loads = joint_rows(state, self.index, driven)[1]
        return loads[:, :, loads.shape[2] - len(driven) :]

    @property
    def rates(self) -> Floats:
        """Rates (D, T) of its driven coordinates, m/s over the size, or rad/s."""
        motion = np.array([self.solution.state.motion(body) for body in self.bodies])
        return np.asarray(np.einsum("sadt,sat->dt", self._driven, motion))

    @property
    def multipliers(self) -> Floats:
        """Multipliers (e, T) of its constraints, N; NaN where they are not determined."""
        state, loads = self.solution.state, joint_rows(self.solution.state, self.index)[1][1]
        load = state.about(self.frame[0].T, self.seen()[0][1] * state.scale)
        known = np.isfinite(loads).all(axis=(0, 1)) & np.isfinite(load).all(axis=0)
        found = np.full(loads.shape[1:], np.nan)
        inverse = np.linalg.pinv(np.moveaxis(loads[..., known], -1, 0))
        found[:, known] = np.einsum("tma,at->mt", inverse, load[:, known]) / state.frames.size
        return found


@dataclass(frozen=True, eq=False)
class JointForces:
    """Force and moment that one body receives through a joint, by its constraints.

    The drive of a driven coordinate is not included: see :attr:`Forces.driving`. The moment is about
    ``point``. Components that are indeterminate because of redundant constraints are NaN, and named in
    ``indeterminate``.

    Attributes
    ----------
    joint : id; body : name of the body that receives them
    point : (T, 3) m, origin of the joint's frame on the second body; planar: (T, 2)
    force, moment : (T, 3) N and N m, world axes; planar: (T, 2) and (T,)
    local_force, local_moment : likewise in the axes of the joint's frame on the first body
    indeterminate : components of these axes, such as ``Fz``

    Examples
    --------
    >>> import groups, mbssa
    >>> arm = {"mass": 2.0, "centre": (0.5, 0.0), "moment": 0.1}
    >>> m = mbssa.Builder("planar").body("arm", inertia=arm).gravity(0.0, -9.81)
    >>> m = m.revolute("frame", "arm", point=(0, 0), driven=True)
    >>> mechanism = m.motion({"1-2.angle": {"law": "constant"}}, steps=2).build()
    >>> forces = groups.forces(groups.build(mbssa.decompose(mechanism)).solve())
    >>> forces.joint("1-2").body, forces.joint("1-2").force[:, 1].round(2).tolist()
    ('arm', [19.62, 19.62])
    """

    joint: str
    body: str
    point: Floats
    force: Floats
    moment: Floats
    local_force: Floats
    local_moment: Floats
    indeterminate: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Forces:
    """Driving forces, reactions and powers of a solved motion, SI units.

    Attributes
    ----------
    drives : the D driven coordinates
    driving : (T, D) N along a slide, N m about an angle: driving force or torque in the coordinate's positive
        direction
    drive_power : (T, D) W, of each drive; element_power : by id of the force element, W
    gravity_power, kinetic_energy, kinetic_power : (T,) W, J, W, the last d/dt of the energy
    balance : (T,) W, kinetic power less the powers of drives, gravity and force elements: zero but for
        rounding
    shaking_force : (T, 3) N, of the mechanism on the frame, drives and force elements included;
        planar: (T, 2)
    shaking_moment : (T, 3) N m about the world's origin; planar: (T,)
    status : (T, G) by structural group: 0 ok, else see :data:`STATUS`
    lock_effect : (T,) largest change of a joint's force, or moment over the mechanism's size, as a share of
        the largest in the motion, if passive rotations were free from that instant on: zero for bodies whose
        mass is on their line; evaluated when it is read
    held : by body, (T,) N m: the moment that locks its passive rotation to the convention, as a massless
        guide in the frame would
    indeterminate : ``joint.component`` in joint axes, and drives, indeterminate by redundant constraints

    Examples
    --------
    >>> import groups, mbssa
    >>> forces = groups.forces(groups.build(mbssa.decompose(mbssa.load("andrews"))).solve())
    >>> forces.drives, forces.driving.max().round(4).item(), bool(abs(forces.balance).max() < 1e-9)
    (('1-2.angle',), 0.5096, True)
    """

    trajectory: Trajectory
    drives: tuple[str, ...]
    driving: Floats
    drive_power: Floats
    element_power: Mapping[str, Floats]
    gravity_power: Floats
    kinetic_energy: Floats
    kinetic_power: Floats
    balance: Floats
    shaking_force: Floats
    shaking_moment: Floats
    status: npt.NDArray[np.int8]
    held: Mapping[str, Floats]
    indeterminate: tuple[str, ...]
    joints: Mapping[int, Joint]
    solution: Solution
    structure: Structure

    def __repr__(self) -> str:
        state = "; ".join(self.faults()) or "ok"
        return f"<Forces of {self.trajectory.mechanism.name}: {len(self.trajectory.time)} instants, {state}>"

    @property
    def ok(self) -> bool:
        """True if every group is balanced at every instant."""
        return not self.status.any()

    @property
    def group_names(self) -> tuple[str, ...]:
        """By structural group, its bodies and its type."""
        return names_of_groups(self.structure)

    @cached_property
    @np.errstate(invalid="ignore", divide="ignore")
    def lock_effect(self) -> Floats:
        """Largest change (T,) of a joint's load, as a share, if passive rotations were free from then on."""
        # Free, the bodies of a passive rotation would take the angular acceleration -M / I about their line
        # more: M is the lock's moment about the line, I their moment of inertia. The loads of this
        # acceleration, less the moment of the lock, change the reactions of all joints.
        solution, changes = self.solution, list[Wrench]()
        state, frames = solution.state, solution.state.frames
        if not solution.locks:
            return np.zeros(state.instants)
        for spin in locked_rotations(self.structure, frames):
            frame = state.frame(spin.body)
            line = np.array(frame.along(frames.rotation[spin.body].T @ spin.direction))
            place = np.array(plus(frame.place, frame.along(frames.on_body(spin.body, tuple(spin.point)))))
            inertia, whole, parts = np.zeros(state.instants), 0.0, list[Wrench]()  # at 1 rad/s²
            for body, mass, centre, moment in bodies_with_mass(state.mechanism, frames):
                if body in spin.bodies:
                    near = state.frame(body)
                    at = np.array(plus(near.place, near.along(centre)))
                    arm, turn = np.array(cross(line, at - place)), np.array(inertia_times(near, moment, line))
                    parts.append(Wrench(body, at, mass * arm, turn))
                    inertia += dot(line, turn) + mass * dot(arm, arm)
                    whole += np.trace(moment) + mass * frames.size**2
            lock = solution.locks[spin.body].loads[1, 3:, 0]
            faster = np.where(inertia > _SLENDER * whole, dot(lock, line) / inertia, 0.0)
            changes += [of._replace(force=faster * of.force, moment=faster * of.moment) for of in parts]
            changes.append(Wrench(spin.body, place, np.zeros_like(line), -lock))
        size = np.append([1.0] * 3, [frames.size] * 3)[:, None]

        def largest(of: Solution) -> Floats:
            wrenches = [Joint(of, j).columns[:, :, 0] / size for j in of.joints]
            found: Floats = np.max([np.abs(wrench).max(axis=(0, 1)) for wrench in wrenches], axis=0)
            return found

        change = largest(solve_backwards(state, changes, self.structure))
        most = np.nanmax(largest(solution), initial=0.0)
        return change / most if most > 0.0 else change

    def joint(self, name: str | int, on: str | int | None = None) -> JointForces:
        """Force and moment through a joint (id or index), on its second body or another that is named.

        Raises
        ------
        KeyError
            No such joint, or the body is none of the joint's.
        """
        mechanism = self.trajectory.mechanism
        found = joint_of(mechanism, name)
        of, planar = self.joints[found.index], mechanism.space == "planar"
        body = of.bodies[1] if on is None else body_index(mechanism, on)
        if body not in of.bodies:
            known = ", ".join(mechanism.body_name(each) for each in of.bodies)
            raise KeyError(f"joint {found.id} does not join body {on!r}; it joins {known}")
        slot, point = of.bodies.index(body), of.frame[0]
        (world, _), (local, is_open) = ([x[slot] for x in of.seen(axes)] for axes in (False, True))
        return JointForces(
            found.id,
            mechanism.body_name(body),
            point[:, :2] if planar else point,
            *_parts(world.T, planar),
            *_parts(local.T, planar),
            tuple(COMPONENTS[k] for k in (PLANAR if planar else range(6)) if of.unknown or is_open[k]),
        )

    def faults(self, motion: Motion | None = None) -> list[str]:
        """A sentence per group and kind of fault: at how many instants, when first, and the inputs then.

        Inputs are those of the motion that was solved, in the units of the model file.
        """
        found, trajectory = [], self.trajectory
        for g, codes in enumerate(self.status.T):
            for code in np.unique(codes[codes > 0]).tolist():
                first, *others = np.flatnonzero(codes == code).tolist()
                inputs = inputs_text(motion, first, trajectory.mechanism.units)
                when = instants_text(1 + len(others), trajectory.time, first) + f" ({inputs})" * bool(inputs)
                found.append(f"SG-{g + 1} of {self.group_names[g]}: {STATUS[code]} {when}")
        return found

    def without_place(self) -> list[str]:
        """A sentence for each gear whose tooth force acts at no known place: its bearings' loads are open."""
        mechanism = self.trajectory.mechanism
        return [
            f"gear {mechanism.joints[j]}: where its teeth touch is not known, nor are the loads of the "
            "joints of its wheels and carrier; give points: centres of both wheels, on their bearings, "
            "that fit the ratio"
            for j, tooth in teeth(mechanism, self.solution.state.frames).items()
            if tooth is None
        ]

    def contacts(self) -> dict[str, Floats]:
        """Normal forces (T,) N of contacts by ``joint.constraint``: positive pushes the bodies apart.

        A contact is an equation here, which holds on both sides; where the force is negative a real contact
        would part. NaN where it is not determined.

        Examples
        --------
        >>> import groups, mbssa
        >>> m = mbssa.Builder("planar").body("ball", inertia={"mass": 2.0, "centre": (0, 0.05)})
        >>> m = m.gravity(0, -9.81).rolling_with_slip("frame", "ball", point=(0, 0.05), axis=(1, 0),
        ...     radius=0.05, driven=True)
        >>> still = {name: {"law": "constant"} for name in ("1-2.roll", "1-2.slide")}
        >>> mechanism = m.motion(still, steps=2).build()
        >>> forces = groups.forces(groups.build(mbssa.decompose(mechanism)).solve())
        >>> {name: force.round(2).tolist() for name, force in forces.contacts().items()}
        {'1-2.height': [19.62, 19.62]}
        """
        mechanism, found = self.trajectory.mechanism, dict[str, Floats]()
        for j, of in self.joints.items():
            if gap := mechanism.joints[j].type.gap:
                names = row_names(mechanism, self.solution.state.frames, j)
                forces = zip(names, of.multipliers, strict=True)
                found |= {f"{mechanism.joint_ids[j]}.{n}": force for n, force in forces if n.startswith(gap)}
        return found

    def pulling(self) -> list[str]:
        """A sentence for each contact whose force pulls: since when, and at how many instants."""
        time, found = self.trajectory.time, []
        for name, force in self.contacts().items():
            known = np.nan_to_num(force)
            at = np.flatnonzero(known < -_NO_EFFECT * np.abs(known).max(initial=0.0))
            if len(at):
                found.append(
                    f"contact {name} pulls, first at t = {time[at[0]]:.6g} s, at {len(at)} of {len(time)} "
                    f"instants, by up to {-known.min():.4g} N; a contact that only pushes would part"
                )
        return found

    def acting_locks(self) -> list[str]:
        """A sentence where the locks of passive rotations act on other bodies: by how much at most."""
        largest = float(np.nanmax(self.lock_effect, initial=0.0))
        if largest <= _NO_EFFECT:
            return []
        return [
            "free from any instant on, passive rotations would change reactions by up to "
            f"{100 * largest:.2g} % of the largest; where that matters, drive a coordinate of the ball joint"
        ]

    def columns(self, units: Literal["si", "file"] = "si") -> list[Column]:
        """Columns of a table, time first: drives, joints in world axes, the frame, powers, status."""
        from groups.results.table import Column, shown_in

        found = [("time", "s", self.trajectory.time)]
        for name, driving, power in zip(self.drives, self.driving.T, self.drive_power.T, strict=True):
            found += [(f"{name}.driving", unit_of_drive(name), driving), (f"{name}.power", "W", power)]
        names = [COMPONENTS[k] for k in (PLANAR if self.trajectory.planar else range(6))]
        loads = [(of.joint, of.force, of.moment) for of in map(self.joint, self.joints)]
        for joint, force, moment in [*loads, ("frame", self.shaking_force, self.shaking_moment)]:
            for name, values in zip(names, np.column_stack([force, moment]).T, strict=True):
                found.append((f"{joint}.{name}", "N" if name[0] == "F" else "N m", values))
        powers = [*self.element_power.items(), ("gravity", self.gravity_power)]
        found += [(f"{name}.power", "W", power) for name, power in powers]
        found += [("kinetic_energy", "J", self.kinetic_energy), ("kinetic_power", "W", self.kinetic_power)]
        found.append(("balance", "W", self.balance))
        found += [(f"SG-{g + 1}.status", "", status) for g, status in enumerate(self.status.T)]
        return shown_in([Column(*each) for each in found], self.trajectory, units)

    def write(self, path: str | Path, *, force: bool = False, units: Literal["si", "file"] = "file") -> None:
        """Write :meth:`columns` to a ``.csv`` or ``.parquet`` file, in the units of the model file.

        Raises
        ------
        ValueError
            Another ending.
        OSError
            The file exists and there is no ``force``, or it cannot be written. It is then as it was before.
        """
        from groups.results.table import write_table

        write_table(self.columns(units), path, force)


def unit_of_drive(name: str) -> str:
    """Unit of a driving force: N along a slide, N m about an angle."""
    return "N" if is_length(name) else "N m"


def results_of(
    state: State, acting: Acting, solution: Solution, structure: Structure, minimum_norm: bool
) -> Forces:
    """The public form of a solution; indeterminate components are NaN, or those of minimum norm."""
    mechanism, size, trajectory = state.mechanism, state.frames.size, state.trajectory
    of_joint, named = partial(state.frames.bodies_of, mechanism), list[str]()
    # Loads of the joints of wheels and carriers are open where the place of a tooth force is not known.
    places = teeth(mechanism, state.frames)
    touched = {body for j, tooth in places.items() if tooth is None for body in of_joint(j)} - {0}
    joints = {j: Joint(solution, j, not touched.isdisjoint(of_joint(j))) for j in sorted(solution.joints)}
    if solution.loads.shape[2] > 1:  # the balance leaves reactions indeterminate
        columns = [of.columns * state.scale[:, None] for of in joints.values()]
        largest = max(np.nanmax(np.abs(each[:, :, 1:]), initial=0.0) for each in columns)
        precision = 0.0 if structure.treatment is None else structure.treatment.precision
        solution.least = max(_OPEN, 10.0 * precision) * largest
        for j, of in joints.items():
            efforts = zip(mechanism.joints[j].driven, solution.joints[j].driving, strict=True)
            open_parts = [COMPONENTS[k] for k in np.flatnonzero(of.seen(local=True)[1][1])]
            open_parts += [coordinate for coordinate, effort in efforts if solution.is_open(effort)]
            named += [f"{mechanism.joint_ids[j]}.{part}" for part in open_parts]
        if minimum_norm:
            solution.chosen = _least(columns, solution.loads.shape[2] - 1)
    driving, power = np.zeros((2, len(mechanism.driven_coordinates), state.instants))
    drivers = ((solution.joints[j].driving, joints[j]) for j in np.flatnonzero(mechanism.driven).tolist())
    driven = (each for of, joint in drivers for each in zip(of, joint.rates, strict=True))
    for row, (name, (effort, rate)) in enumerate(zip(mechanism.driven_coordinates, driven, strict=True)):
        value = np.where(solution.is_open(effort), np.nan, solution.value(effort))
        driving[row], power[row] = value / (size if is_length(name) else 1.0), value * rate
    (kinetic, change, gravity), still = acting.energies, np.zeros(state.instants)
    elements = {id_: sum((of.power(state) for of in loads), still) for id_, loads in acting.elements.items()}
    frame = state.about(np.zeros((3, 1)), solution.loads[0, :, 0], -1.0) / state.scale
    failed = (trajectory.status != 0).any(axis=1)[:, None] & (solution.status == LATER_FAILED)
    held = {
        mechanism.body_name(body): np.linalg.norm(solution.value(lock.loads[1, 3:]), axis=0)
        for body, lock in solution.locks.items()
    }
    return Forces(
        trajectory,
        mechanism.driven_coordinates,
        driving.T,
        power.T,
        elements,
        gravity,
        kinetic,
        change,
        change - (gravity + power.sum(axis=0) + sum(elements.values(), start=0.0)),
        *_parts(frame.T, trajectory.planar),
        np.where(failed, UNSOLVED, solution.status).astype(np.int8),
        held,
        tuple(named),
        joints,
        solution,
        structure,
    )


def _parts(wrench: Floats, planar: bool) -> tuple[Floats, Floats]:
    return (wrench[:, :2], wrench[:, 5]) if planar else (wrench[:, :3], wrench[:, 3:])


def _least(columns: Sequence[Floats], parameters: int) -> Floats:
    """Parameters (P - 1, T) with the least sum of squares of all reactions, moments over the size."""
    wide = [np.pad(c, ((0, 0), (0, 0), (0, parameters + 1 - c.shape[2]), (0, 0))) for c in columns]
    rows = np.concatenate(wide).reshape(-1, parameters + 1, wide[0].shape[-1]).transpose(2, 0, 1)
    found, sound = np.full((parameters, len(rows)), np.nan), np.isfinite(rows).all(axis=(1, 2))
    found[:, sound] = -(np.linalg.pinv(rows[sound, :, 1:]) @ rows[sound, :, :1])[:, :, 0].T
    return found
