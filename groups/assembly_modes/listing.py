"""The assembly modes of a model's groups where its reference stands, numbered, and poses in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

import numpy as np

from groups.assembly_modes.search import SAME, SCATTER, STARTS, Assembly, Placement, searched
from groups.engine.solve import plan_of
from groups.joint_jacobian import PosesOverTime, pair_pose
from groups.truss import Truss, truss_of
from mbssa.arrays import Floats, Ints
from mbssa.joints.axes import whole_turns
from mbssa.joints.catalogue import type_of_joint
from mbssa.joints.poses import Poses
from mbssa.progress import Progress

if TYPE_CHECKING:
    from groups.model import Model


#: Digits of a key, over the size, by which modes are sorted.
DIGITS = 6
#: A mode that is no farther from the reference, rad or of the size, is the reference's.
AT_REFERENCE = 1e-5


@dataclass(frozen=True, eq=False)
class AssemblyMode:
    """One assembly mode of a group.

    Attributes
    ----------
    number : from 1
    bodies : (n,) indices of the group's own bodies
    position : (n, 3) of the bodies' origins in the world, m; z = 0 in the plane
    rotation : (n, 3, 3) whose columns are the bodies' axes in the world
    coordinates : the joints' coordinates that no input gives, ``joint.coordinate``; m, and rad in (-π, π]
    signs : of the mode: the sign of the root or of the determinant, where anything is unknown, then
        those of each strut's slide, if it is unknown, and of its turn about its own line
    residual : largest residual of the equations that close the group, m; of angles a sine
    proven : whether Krawczyk's test certifies one regular solution near it, and no other; never of a singular
        mode, below one, of a group of many unknowns, or with a function that is not traced

    Examples
    --------
    >>> import groups, mbssa
    >>> other = groups.modes(groups.build(mbssa.decompose(mbssa.load("planar_four_bar"))), 2)[1]
    >>> other.number, other.signs, other.position.shape, other.residual < 1e-12
    (1, (-1,), (2, 3), True)
    """

    number: int
    bodies: Ints
    position: Floats
    rotation: Floats
    coordinates: dict[str, float]
    signs: tuple[int, ...]
    residual: float
    proven: bool
    _placement: Placement = field(repr=False)


@dataclass(frozen=True, eq=False)
class GroupModes:
    """All modes of one group that were found, with earlier groups and inputs as at the reference.

    ``len``, a loop and ``[number]`` give its :class:`AssemblyMode`.

    Attributes
    ----------
    group : its number; ``type_name`` as ``3R2D``; ``solver`` its name
    modes : in the order of their numbers
    reference : number of the mode in which the reference stands
    complete : whether it is proven that there are no others that are regular: a closed form gives them, or as
        many positions, real or complex, were found as the degree of this kind of group allows, or they pass
        a trace test; a singular reference is a mode that no search finds
    missing : how many are estimated to be missing; 0 where ``complete``, and where all complex positions that
        could be found were followed; else from how often Newton met each mode
    search : how they were found, in words
    most : most modes, real or not, that a group of this kind can have; None where that is not known
    truss : the Baranov truss from which a planar group of hinges is cut; groups of one truss with the same
        lengths have the same modes

    Examples
    --------
    >>> import groups, mbssa
    >>> dyad = groups.modes(groups.build(mbssa.decompose(mbssa.load("planar_four_bar"))), 2)
    >>> len(dyad), dyad.reference, dyad.complete, dyad.most, str(dyad.truss)
    (2, 2, True, 2, '3-link Baranov truss')
    """

    group: int
    type_name: str
    solver: str
    modes: tuple[AssemblyMode, ...]
    reference: int
    complete: bool
    missing: float
    search: str
    most: int | None
    truss: Truss | None

    def __len__(self) -> int:
        return len(self.modes)

    def __iter__(self) -> Iterator[AssemblyMode]:
        return iter(self.modes)

    def __getitem__(self, number: int) -> AssemblyMode:
        """The mode with this number; IndexError if there is none."""
        if not 1 <= number <= len(self.modes):
            raise IndexError(f"SG-{self.group} has modes 1 to {len(self.modes)}, not {number}")
        return self.modes[number - 1]


@overload
def modes(
    model: Model, group: None = None, *, starts: int = STARTS, told: Progress = ...
) -> tuple[GroupModes, ...]: ...


@overload
def modes(model: Model, group: int, *, starts: int = STARTS, told: Progress = ...) -> GroupModes: ...


def modes(
    model: Model, group: int | None = None, *, starts: int = STARTS, told: Progress = lambda what, share: None
) -> GroupModes | tuple[GroupModes, ...]:
    """The assembly modes of one group, or of all, where earlier groups and inputs are at the reference.

    Closed forms give all real modes. Of other groups that are closed by points that coincide and by distances
    (platforms on legs, planar groups of hinges) all complex positions are followed by homotopy, and the real
    ones are the modes, as of those that pass a trace test: few unknowns and algebraic equations. The rest
    give those that Newton finds from the reference and from random places, the
    same ones in every run, until as many are found as there can be or ``starts`` in a row find no new one.
    Every mode closes all joints of its group with their axes in the right sense. The legs of a platform are
    turned about their own lines as they are at the reference: other turns are not modes of their own. A leg
    that is a group by itself has a mode for each of its turns.

    Modes are numbered by where things are in the world: by the points of the group's joints on its own
    bodies, in the order of the joints, x before y before z, rounded to 1e-6 of the size; then by the joints'
    axes; then by the bodies' rotations. Which of the modes is the reference makes no difference to that.

    Parameters
    ----------
    group : number of a group; all by default
    starts : of Newton in a row that find no new mode, after which it ends
    told : called with the present task and the share of it that is done

    Raises
    ------
    ValueError
        A group that does not exist; fewer than one start.

    Examples
    --------
    >>> import groups, mbssa
    >>> rotor = groups.build(mbssa.decompose(mbssa.load("rotor")))
    >>> [(len(found), found.reference, found.complete) for found in groups.modes(rotor)][:3]
    [(2, 2, True), (1, 1, True), (2, 1, True)]
    """
    if starts < 1:
        raise ValueError(f"starts: {starts}; ask for 1 or more")
    if not hasattr(model, "solvers"):
        raise TypeError(f"modes takes what groups.build gives, not a {type(model).__name__}")
    if group is None:
        return tuple(_listed(model, Assembly(model, each, starts, told)) for each in model.structure.groups)
    return _listed(model, Assembly(model, model.structure.group(group), starts, told))


def _listed(model: Model, assembly: Assembly) -> GroupModes:
    group, (search, complete, missing), found = assembly.group, searched(assembly), assembly.found
    regular = bool(found) and float(assembly.from_reference(found).min()) < AT_REFERENCE
    if not regular:  # it is singular, so that no solver finds it, but places around it: it has no sign
        far = assembly.from_reference(found) > SCATTER
        found[:] = [
            each for each, is_far in zip(found, far, strict=True) if is_far or assembly.proven([each])[0]
        ]
        found.append(Placement(assembly.plan.start, (0,)))
    found = _without_flips(assembly)
    placed, own = assembly.poses(found), group.body_indices
    _, points, axes = zip(*_ends(assembly, placed), strict=True)
    keys = np.concatenate([*points, *axes, placed.rotation[:, own].reshape(len(found), -1)], axis=1)
    # Adding zero makes one number of 0 and -0.
    order = np.lexsort((np.round(keys, DIGITS) + 0.0).T[::-1])
    found, poses = [found[k] for k in order.tolist()], placed[order]
    setting, coordinates = assembly.plan.setting, dict[str, Floats]()
    at = PosesOverTime.over(setting.mechanism, setting.frames, poses)
    for joint in group.joint_indices.tolist():
        kind, of = type_of_joint(setting.mechanism, joint), setting.mechanism.joint_ids[joint]
        if kind.pair is not None:
            columns = zip(kind.coordinates, pair_pose(at, joint).coordinates(at.frames.size).T, strict=True)
            coordinates |= {f"{of}.{name}": x for name, x in columns if (joint, name) not in setting.drives}
    proven = assembly.proven(found).tolist()
    listed = [
        AssemblyMode(
            k + 1,
            own,
            poses.position[k, own],
            poses.rotation[k, own],
            {name: float(column[k]) for name, column in coordinates.items()},
            placement.signs,
            placement.residual,
            proven[k],
            placement,
        )
        for k, placement in enumerate(found)
    ]
    return GroupModes(
        group.number,
        group.type_name,
        model.solvers[group.number - 1].name,
        tuple(listed),
        1 + int(np.argmin(assembly.from_reference(found))),
        complete and regular,
        missing,
        search if regular else f"{search}; the reference is singular, a mode that no search finds",
        assembly.most,
        truss_of(group),
    )


def _ends(assembly: Assembly, poses: Poses) -> list[tuple[int, Floats, Floats]]:
    """Own bodies, joint by joint, each with its point there (M, 3), over the size, and its axis (M, 3)."""
    frames, found = assembly.plan.setting.frames, []
    for joint in assembly.group.joint_indices.tolist():
        for side, body in enumerate(assembly.plan.mechanism.joint_bodies(joint)[:2]):
            if body in assembly.group.body_indices:
                turned = poses.rotation[:, body]
                point = (poses.position[:, body] + turned @ frames.origin[joint, side]) / frames.size
                found.append((body, point, turned @ frames.axes[joint, side][:, 2]))
    return found


def _without_flips(assembly: Assembly) -> list[Placement]:
    """One placement of those that differ by turns of rods about their own lines: the reference's, if any."""
    # A rod is a body between two balls or universal joints. The latter let it stand turned by half a turn,
    # which moves no other body.
    mechanism, found = assembly.plan.mechanism, assembly.found
    at, joints = assembly.poses(found), assembly.group.joint_indices.tolist()
    ends, columns = _ends(assembly, at), list[Floats]()
    for body in assembly.group.body_indices.tolist():
        types = [mechanism.joints[j].type for j in joints if body in mechanism.joint_bodies(j)]
        points = [point for b, point, _ in ends if b == body]
        rod = len(types) == 2 == len(points) and all(type.is_ball or type.is_universal for type in types)
        if rod and np.linalg.norm(points[1][0] - points[0][0]) > SAME:
            columns += points
        else:
            columns += [at.position[:, body] / assembly.size, at.rotation[:, body].reshape(len(found), 9)]
    keys = np.concatenate(columns, axis=1)
    kept: list[int] = []
    for k in np.argsort(assembly.from_reference(found), kind="stable").tolist():
        if not kept or np.abs(keys[kept] - keys[k]).max(axis=1).min() > SAME:
            kept.append(k)
    return [found[k] for k in sorted(kept)]


# --- poses in other modes ------------------------------------------------------------------------------


def in_modes(model: Model, modes: Mapping[int, int] | None) -> Model:
    """The model with its reference in other assembly modes, by number of the group, at the same inputs."""
    if not modes:
        return model
    return model.posed(starting_pose(model, modes), model.inputs)


def starting_pose(model: Model, wanted: Mapping[int, int], *, starts: int = STARTS) -> Poses:
    """Pose at the reference inputs with ``wanted`` modes by group number."""
    # A group below a changed one finds its known bodies elsewhere than in the list of `modes`. It takes the
    # mode with the same signs as the one wanted, else as the reference's; of several, the one with the
    # nearest unknowns.
    known = _known_modes(model, wanted, starts)
    plan, moved = plan_of(model), set[int]()
    column = plan.start.copy()
    for group, part in zip(model.structure.groups, plan.parts, strict=True):
        touched = {
            body for j in group.joint_indices.tolist() for body in model.mechanism.joint_bodies(j)
        } & moved
        if group.number not in wanted and not touched:
            continue
        listed = known.get(group.number) or modes(model, group.number, starts=starts)
        number = wanted.get(group.number, listed.reference)
        if number == listed.reference and not touched:
            continue
        chosen = listed[number]._placement
        if touched:
            chosen = _again(Assembly(model, group, starts, column=column.copy()), chosen, wanted)
        rows = plan.rows_of_part(part)
        column[rows] = chosen.column[rows]
        turn = [plan.body(body) + plan.record.turn for body in group.body_indices.tolist()]
        if part.group.direct and plan.record.planar:
            column[turn] += whole_turns(plan.start[turn] - column[turn])
        rows_of = {body: plan.rows_of_body(body) for body in group.body_indices.tolist()}
        moved |= {body for body, of in rows_of.items() if not np.array_equal(column[of], plan.start[of])}
    return plan.poses(column[:, None])[0] if moved else model.reference


def _known_modes(model: Model, wanted: Mapping[int, int], starts: int) -> dict[int, GroupModes]:
    """Modes of the groups that are wanted; refuses groups and modes that do not exist."""
    faults, known = [], {}
    for group, number in wanted.items():
        try:
            known[group] = listed = modes(model, model.structure.group(group).number, starts=starts)
        except ValueError as error:
            faults.append(str(error))
            continue
        if not (isinstance(number, int) and 1 <= number <= len(listed)):
            there = "mode 1 alone" if len(listed) == 1 else f"modes 1 to {len(listed)}"
            found = there if listed.complete else f"{there} that were found"
            faults.append(f"SG-{group} has {found} (the reference's is {listed.reference}), not {number!r}")
    if faults:
        raise ValueError("; ".join(faults))
    return known


def _again(assembly: Assembly, like: Placement, wanted: Mapping[int, int]) -> Placement:
    """The placement beside the present known bodies that is nearest to one of the list."""
    searched(assembly)
    found, any_sign = assembly.found, assembly.part.routine.redundant and not any(like.signs)
    alike = [p for p in found if p.signs == like.signs or any_sign]
    if alike:
        off = np.array([p.column[assembly.part.state] for p in alike]) - like.column[assembly.part.state]
        off -= whole_turns(off) * assembly.part.turns
        return alike[int(np.abs(off / assembly.scale).max(axis=1, initial=0.0).argmin())]
    others = f"; it can in {len(found)} modes with other signs" if found else ": out of reach"
    changed = ", ".join(f"SG-{group} in mode {number}" for group, number in wanted.items())
    bodies, number = ", ".join(map(str, assembly.group.bodies)), assembly.group.number
    raise ValueError(f"SG-{number} (bodies {bodies}) cannot be assembled with {changed}{others}")
