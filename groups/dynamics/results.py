"""Driving forces, reactions, shaking force and powers of a solved motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from groups.dynamics.block import JointLoads
from groups.dynamics.gears import open_joints, with_teeth
from groups.dynamics.inverse import STATUS, Acting, Solution
from groups.dynamics.locks import effect_of_locks
from groups.dynamics.state import State
from groups.results.faults import inputs_text, instants_text
from groups.trajectory import body_index, names_of_groups
from mbssa.arrays import Bools, Floats
from mbssa.joints.axes import cross
from mbssa.joints.catalogue import is_length

if TYPE_CHECKING:
    from groups.motion import Motion
    from groups.results.table import Column
    from groups.trajectory import Trajectory
    from mbssa import Structure


#: Components of a load, and those of a planar one.
COMPONENTS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
PLANAR = (0, 1, 5)

#: Share of the largest reaction below which a change is rounding.
_NO_EFFECT = 1e-9

#: Share of a self-stress below which a component does not take part in it.
_OPEN = 1e-7


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
    >>> forces.joint("1-2").body, forces.joint("1-2").force.round(2).tolist()
    ('arm', [[0.0, 19.62], [0.0, 19.62]])
    """

    joint: str
    body: str
    point: Floats
    force: Floats
    moment: Floats
    local_force: Floats
    local_moment: Floats
    indeterminate: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Joint:
    """Wrenches of one joint of a solution, and their components (S, 6) that are not determined."""

    state: State
    index: int
    bodies: tuple[int, ...]
    wrench: Floats  # (T, S, 6) on each of its bodies about the point, world axes
    open: Bools
    local_open: Bools

    @cached_property
    def frame(self) -> tuple[Floats, Floats]:
        """Point (T, 3) m, the origin of the joint's frame on the second body; axes (T, 3, 3) of the first."""
        return self.state.frame_of(self.index)


@dataclass(frozen=True, eq=False, repr=False)
class Forces:
    """Driving forces, reactions and powers of a solved motion, SI units.

    Attributes
    ----------
    trajectory : the motion
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
    held : by body, (T,) N m: the moment that locks its passive rotation to the convention, as a massless
        guide in the frame would
    lock_effect : (T,) largest change of a joint's force, or moment over the mechanism's size, as a share of
        the largest in the motion, if passive rotations were free from that instant on: zero for bodies whose
        mass is on their line
    group_names : by structural group, its bodies and its type
    indeterminate : ``joint.component`` in joint axes, and drives, indeterminate by redundant constraints

    Examples
    --------
    >>> import groups, mbssa
    >>> arm = {"mass": 2.0, "centre": (0.5, 0.0), "moment": 0.1}
    >>> m = mbssa.Builder("planar").body("arm", inertia=arm).gravity(0.0, -9.81)
    >>> m = m.revolute("frame", "arm", point=(0, 0), driven=True)
    >>> mechanism = m.motion({"1-2.angle": {"law": "constant"}}, steps=2).build()
    >>> forces = groups.forces(groups.build(mbssa.decompose(mechanism)).solve())
    >>> forces.driving.round(2).tolist(), forces.shaking_force.round(2).tolist()
    ([[9.81], [9.81]], [[0.0, -19.62], [0.0, -19.62]])
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
    lock_effect: Floats
    group_names: tuple[str, ...]
    indeterminate: tuple[str, ...]
    joints: Mapping[int, Joint] = field(repr=False)

    def __repr__(self) -> str:
        state = "; ".join(self.faults()) or "ok"
        return f"<Forces of {self.trajectory.mechanism.name}: {len(self.trajectory.time)} instants, {state}>"

    @property
    def ok(self) -> bool:
        """True if every group is balanced at every instant."""
        return not self.status.any()

    def joint(self, name: str | int, on: str | int | None = None) -> JointForces:
        """Force and moment through a joint (id or index), on its second body or another that is named.

        Raises
        ------
        KeyError
            No such joint, or the body is none of the joint's.
        """
        mechanism = self.trajectory.mechanism
        found = mechanism.joint(name) if isinstance(name, str) else mechanism.joints[name]
        of = self.joints[found.index]
        body = of.bodies[1] if on is None else body_index(mechanism, on)
        if body not in of.bodies:
            known = ", ".join(mechanism.body_name(each) for each in of.bodies)
            raise KeyError(f"joint {found.id} does not join body {on!r}; it joins {known}")
        slot = of.bodies.index(body)
        point, axes = of.frame
        world = np.where(of.open[slot], np.nan, of.wrench[:, slot])
        local = np.where(of.local_open[slot], np.nan, _turned(of.wrench[:, slot], axes))
        planar = mechanism.space == "planar"
        of_plane = PLANAR if planar else range(6)
        return JointForces(
            found.id,
            mechanism.body_name(body),
            point[:, :2] if planar else point,
            *_parts(world, planar),
            *_parts(local, planar),
            tuple(COMPONENTS[k] for k in of_plane if of.local_open[slot, k]),
        )

    def faults(self, motion: Motion | None = None) -> list[str]:
        """A sentence per group and kind of fault: at how many instants, when first, and the inputs then.

        Inputs are those of the motion that was solved, in the units of the model file.
        """
        found, units = [], self.trajectory.mechanism.units
        for g in range(self.status.shape[1]):
            for code in np.unique(self.status[:, g][self.status[:, g] > 0]).tolist():
                at = np.flatnonzero(self.status[:, g] == code)
                inputs = inputs_text(motion, int(at[0]), units)
                found.append(
                    f"SG-{g + 1} of {self.group_names[g]}: {STATUS[code]} "
                    f"{instants_text(len(at), self.trajectory.time, int(at[0]))}"
                    + (f" ({inputs})" if inputs else "")
                )
        return found

    def without_place(self) -> list[str]:
        """A sentence for each gear whose tooth force acts at no known place: its bearings' loads are open."""
        mechanism = self.trajectory.mechanism
        return [
            f"gear {mechanism.joints[j]}: where its teeth touch is not known, nor are the loads of the "
            "joints of its wheels and carrier; give points: centres of both wheels, on their bearings, "
            "that fit the ratio"
            for j in with_teeth(mechanism, self.trajectory.reference)[1]
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
        from groups.dynamics.contacts import contact_forces

        return contact_forces(self)

    def pulling(self) -> list[str]:
        """A sentence for each contact whose force pulls: since when, and at how many instants."""
        from groups.dynamics.contacts import pulling

        return pulling(self)

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
        from groups.dynamics.table import columns_of

        return columns_of(self, units)

    def write(self, path: str | Path, *, force: bool = False, units: Literal["si", "file"] = "file") -> None:
        """Write :meth:`columns` to a ``.csv`` or ``.parquet`` file, in the units of the model file.

        Raises
        ------
        ValueError
            Another ending.
        OSError
            The file exists and there is no ``force``, or it cannot be written. It is then as it was before.
        """
        from groups.results.table import check_target, write_table

        write_table(self.columns(units), check_target(path, (".csv", ".parquet"), force))


# --- from a solution ---------------------------------------------------------------------------------


def results_of(
    state: State, acting: Acting, solution: Solution, structure: Structure, minimum_norm: bool
) -> Forces:
    """The public form of a solution; indeterminate components are NaN, or those of minimum norm."""
    mechanism = state.trajectory.mechanism
    chosen = _least(solution) if minimum_norm else np.zeros((state.instants, solution.parameters))
    largest = _largest_self_stress(solution)
    joints: dict[int, Joint] = {}
    touched = open_joints(mechanism, state.trajectory.reference)
    drives: dict[str, tuple[Floats, Floats]] = {}
    named: list[str] = []
    for index in sorted(solution.joints):
        loads = solution.joints[index]
        joints[index] = of = _joint(state, index, loads, chosen, largest)
        name = mechanism.joint_ids[index]
        named += [f"{name}.{COMPONENTS[k]}" for k in range(6) if of.local_open[1, k]]
        for d, coordinate in enumerate(mechanism.joints[index].driven):
            called = f"{name}.{coordinate}"
            scale = state.frames.size if is_length(coordinate) else 1.0
            effort = _with(loads.driving[:, d], chosen)
            if _taking_part(loads.driving[:, d : d + 1], largest)[0]:
                named.append(called)
                effort = effort if minimum_norm else effort * np.nan
            drives[called] = effort / scale, effort * loads.rate[:, d]
        if minimum_norm or index in touched:
            unknown = np.full_like(of.open, index in touched)
            joints[index] = replace(of, open=unknown, local_open=unknown)
    names = mechanism.driven_coordinates
    driving, power = (
        np.reshape([drives[name][k] for name in names], (len(names), state.instants)).T for k in (0, 1)
    )
    elements = {
        name: sum((each.power(state) for each in several), start=np.zeros(state.instants))
        for name, several in acting.elements.items()
    }
    energy = acting.masses[1]
    given = energy.gravity_power + power.sum(axis=1) + sum(elements.values(), start=0.0)
    force, moment = _on_frame(state, solution)
    return Forces(
        state.trajectory,
        names,
        driving,
        power,
        elements,
        energy.gravity_power,
        energy.kinetic,
        energy.kinetic_power,
        energy.kinetic_power - given,
        force,
        moment,
        solution.status,
        {mechanism.body_name(body): _moment(loads, chosen) for body, loads in solution.locks.items()},
        effect_of_locks(solution, structure),
        names_of_groups(structure),
        tuple(named),
        joints,
    )


def _parts(wrench: Floats, planar: bool) -> tuple[Floats, Floats]:
    return (wrench[:, :2], wrench[:, 5]) if planar else (wrench[:, :3], wrench[:, 3:])


def _turned(wrench: Floats, axes: Floats) -> Floats:
    """Wrenches (T, 6, …) in a joint's axes."""
    back = axes.transpose(0, 2, 1)
    rest = wrench.reshape(*wrench.shape[:2], -1)
    found = np.concatenate([back @ rest[:, :3], back @ rest[:, 3:]], axis=1)
    return found.reshape(wrench.shape)


def _with(columns: Floats, chosen: Floats) -> Floats:
    """Values (T, …) of columns (T, …, P) at the chosen parameters (T, P - 1 at most)."""
    extra = columns.shape[-1] - 1
    if extra == 0:
        return columns[..., 0]
    found: Floats = columns[..., 0] + np.einsum("t...p,tp->t...", columns[..., 1:], chosen[:, :extra])
    return found


def _largest_self_stress(solution: Solution) -> float:
    """N m, forces times the size: the largest component of any self-stress."""
    size = np.array([solution.state.frames.size] * 3 + [1.0] * 3)[:, None]
    found = [np.nanmax(np.abs(each.wrench[..., 1:] * size), initial=0.0) for each in solution.joints.values()]
    return float(max(found, default=0.0))


def _taking_part(columns: Floats, largest: float) -> Bools:
    """Components (n,) of columns (T, n, P) that depend on parameters at any instant."""
    if columns.shape[-1] == 1 or largest == 0.0:
        return np.zeros(columns.shape[1], dtype=bool)
    with np.errstate(invalid="ignore"):
        found: Bools = np.nanmax(np.abs(columns[..., 1:]), axis=(0, 2), initial=0.0) > _OPEN * largest
    return found


def _joint(state: State, index: int, loads: JointLoads, chosen: Floats, largest: float) -> Joint:
    bodies, scale = loads.bodies, np.array([state.frames.size] * 3 + [1.0] * 3)[:, None]
    if loads.wrench.shape[3] == 1:
        none = np.zeros((len(bodies), 6), dtype=bool)
        return Joint(state, index, bodies, loads.wrench[..., 0], none, none)
    axes = state.frame_of(index)[1]
    world, local = [], []
    for slot in range(len(bodies)):
        world.append(_taking_part(loads.wrench[:, slot] * scale, largest))
        local.append(_taking_part(_turned(loads.wrench[:, slot], axes) * scale, largest))
    found = np.stack([_with(loads.wrench[:, s], chosen) for s in range(len(bodies))], axis=1)
    return Joint(state, index, bodies, found, np.array(world), np.array(local))


def _least(solution: Solution) -> Floats:
    """Parameters (T, P - 1) with the least sum of squares of all reactions, moments over the size."""
    scale = np.array([solution.state.frames.size] * 3 + [1.0] * 3)[:, None]
    columns = solution.parameters + 1
    stacked = []
    for each in solution.joints.values():
        whole = np.zeros((*each.wrench.shape[:3], columns))
        whole[..., : each.wrench.shape[3]] = each.wrench * scale
        stacked.append(whole.reshape(len(whole), -1, columns))
    everything = np.concatenate(stacked, axis=1)
    found = np.full((len(everything), columns - 1), np.nan)
    sound = np.isfinite(everything).all(axis=(1, 2))
    part = everything[sound]
    found[sound] = -(np.linalg.pinv(part[:, :, 1:]) @ part[:, :, :1])[:, :, 0]
    return found


def _moment(loads: JointLoads, chosen: Floats) -> Floats:
    """Moment (T,) on the second body."""
    found: Floats = np.linalg.norm(_with(loads.wrench[:, 1], chosen)[:, 3:], axis=1)
    return found


def _on_frame(state: State, solution: Solution) -> tuple[Floats, Floats]:
    """Force on the frame, and moment about the world's origin."""
    load = solution.loads[0, :, :, 0]
    force = load[:, :3] / state.frames.size
    moment = load[:, 3:] + cross(state.centre[0], force)
    return _parts(np.concatenate([force, moment], axis=1), state.trajectory.planar)
