"""Coordinates that gears and rolling prescribe: sums of the inputs, each times a ratio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from groups.tree import GroupTree, Link
from mbssa.arrays import Floats
from mbssa.joints.catalogue import CATALOGUE, coordinate_unit, type_of_joint
from mbssa.joints.equations import pose
from mbssa.joints.poses import Poses
from mbssa.joints.relations import value_and_rates

if TYPE_CHECKING:
    from groups.setting import Setting


@dataclass(frozen=True, slots=True)
class GearRatio:
    """A coordinate that is ``constant`` plus inputs times ratios: (row of the motion, ratio); m and rad."""

    constant: float
    shares: tuple[tuple[int, float], ...]


#: Gear ratios by (joint index, name of the coordinate).
Gearing = Mapping[tuple[int, str], GearRatio]
#: Poses at which derivatives are compared, how alike they must be, and the condition of a system that counts.
POSES, ALIKE, SOUND = 4, 1e-9, 1e7


def gearing(setting: Setting) -> dict[int, Gearing]:
    """By number of the group, the gear ratios of its coordinates, for groups that gears alone close."""
    if not any(_may_be_linear(index) for index in np.unique(setting.mechanism.joint_type).tolist()):
        return {}
    train = _Train(setting)
    found: dict[int, Gearing] = {}
    for tree in setting.forest.trees:
        ratios = train.take(tree)
        if ratios:
            found[tree.number] = ratios
    return found


def _may_be_linear(row: int) -> bool:
    """Whether the equations of a catalogue row may be linear in angles and slides."""
    kind = CATALOGUE[row]
    return kind.is_gear or kind.rolls or kind.is_coupling


@dataclass(frozen=True, slots=True)
class _Body:
    """A body at some pose of the train, ``twist`` (6, n) by the unit rate of each of the n coordinates."""

    position: Floats
    rotation: Floats
    twist: Floats


class _Train:
    """Bodies whose coordinates the inputs prescribe, at random poses; the first is the reference."""

    def __init__(self, setting: Setting) -> None:
        self.mechanism, self.frames, self.reference = setting.mechanism, setting.frames, setting.reference
        self.drives, self.inputs, self.coordinates = setting.drives, setting.inputs, setting.coordinates
        drives, inputs, reference = self.drives, self.inputs, self.reference
        self.dice = np.random.default_rng(7)
        scale = np.ones(len(inputs))
        for (_, name), row in drives.items():
            scale[row] = self._scale(name)
        away = self.dice.normal(size=(POSES, len(inputs))) * scale
        away[0] = 0.0
        self.away = away
        ground = _Body(reference.position[0], reference.rotation[0], np.zeros((6, len(inputs))))
        self.bodies: dict[int, list[_Body]] = {0: [ground] * POSES}

    def _scale(self, name: str) -> float:
        return self.frames.size if coordinate_unit(name) == "m" else 1.0

    def take(self, tree: GroupTree) -> dict[tuple[int, str], GearRatio]:
        """Add a group's bodies if the inputs prescribe them; the ratios of its undriven coordinates."""
        if tree.struts or not set(tree.known) <= self.bodies.keys():
            return {}
        if any(link.joint < 0 or link.joint in self.frames.relations for link in tree.links):
            return {}
        unknown = [
            (link.joint, name)
            for link in tree.links
            for name in type_of_joint(self.mechanism, link.joint).coordinates
            if (link.joint, name) not in self.drives
        ]
        if not all(_may_be_linear(int(self.mechanism.joint_type[j])) for j in tree.cuts):
            return {}
        scale = np.array([self._scale(name) for _, name in unknown])
        # Unknowns first, then inputs.
        away = [self.dice.normal(size=len(unknown)) * scale * (s > 0) for s in range(POSES)]
        placed = [self._placed(tree, unknown, s, away[s]) for s in range(POSES)]
        rows = [self._rows(tree, bodies, s, len(unknown)) for s, bodies in enumerate(placed)]
        if len(rows[0]) != len(unknown):
            return {}
        if not unknown:
            self.bodies |= {body: [bodies[body] for bodies in placed] for body in placed[0]}
            return {}
        size = np.abs(rows[0]).max(axis=1, initial=0.0)
        if any((np.abs(other - rows[0]) > ALIKE * size[:, None]).any() for other in rows[1:]):
            return {}
        n = len(unknown)
        by_unknown, by_input = rows[0][:, :n] * scale, rows[0][:, n:]
        over = np.abs(by_unknown).max(axis=1, keepdims=True)
        if (over == 0.0).any() or np.linalg.cond(by_unknown / over) > SOUND:
            return {}
        ratios = -scale[:, None] * np.linalg.solve(by_unknown / over, by_input / over)
        ratios[np.abs(ratios) < 1e-13 * np.abs(ratios).max(initial=0.0)] = 0.0
        for s in range(POSES):
            for body, one in self._placed(tree, unknown, s, ratios @ self.away[s]).items():
                twist = one.twist[:, n:] + one.twist[:, :n] @ ratios
                self.bodies.setdefault(body, []).append(replace(one, twist=twist))
        start = [self.coordinates[joint][name] for joint, name in unknown]
        return {
            key: GearRatio(
                float(start[k] - ratios[k] @ self.inputs),
                tuple((row, float(ratios[k, row])) for row in np.flatnonzero(ratios[k]).tolist()),
            )
            for k, key in enumerate(unknown)
        }

    def _placed(
        self, tree: GroupTree, unknown: Sequence[tuple[int, str]], s: int, away: Floats
    ) -> dict[int, _Body]:
        """The group's bodies at one pose; ``away`` (n,) are its unknowns less those at the reference."""
        n = len(unknown)
        placed: dict[int, _Body] = {}
        for link in tree.links:
            parent = placed.get(link.parent)
            if parent is None:
                parent = self._beside(self.bodies[link.parent][s], n)
            placed[link.body] = self._hung(link, parent, unknown, s, away)
        return placed

    def _hung(
        self, link: Link, parent: _Body, unknown: Sequence[tuple[int, str]], s: int, away: Floats
    ) -> _Body:
        """A body on its parent."""
        frames, joint, n = self.frames, link.joint, len(unknown)
        kind = type_of_joint(self.mechanism, joint)
        equations = kind.pair
        assert equations is not None
        q, column = [], []
        for name, value in self.coordinates[joint].items():
            row = self.drives.get((joint, name), -1)
            k = n + row if row >= 0 else unknown.index((joint, name))
            q.append(self.inputs[row] + self.away[s, row] if row >= 0 else value + away[k])
            column.append(k)
        given = {key: values[[joint]] for key, values in frames.parameters.items()}
        d, C, twists = pose(equations, np.array([q]), given)
        near, far = (0, 1) if link.forward else (1, 0)
        arm = parent.rotation @ frames.origin[joint, near]
        axes = parent.rotation @ frames.axes[joint, near]
        if link.forward:
            step, end, seen = axes @ d[0], axes @ C[0], axes
        else:
            end = axes @ C[0].T
            step, seen = -end @ d[0], end
        rotation = end @ frames.axes[joint, far].T
        back = rotation @ frames.origin[joint, far]
        position = parent.position + arm + step - back
        # Rates of B's origin and of B against A, in A's axes; backward it is A that moves.
        sense = 1.0 if link.forward else -1.0
        slip, spin = sense * (seen @ twists[0, :3]), sense * (seen @ twists[0, 3:])
        twist = parent.twist.copy()
        twist[:3] += np.cross(parent.twist[3:].T, position - parent.position).T
        for c, k in enumerate(column):
            # The point whose rate is slip is B's origin: the body's own side or its parent's.
            lever = -back if link.forward else position - parent.position - arm
            twist[:3, k] += slip[:, c] + np.cross(spin[:, c], lever)
            twist[3:, k] += spin[:, c]
        return _Body(position, rotation, twist)

    def _rows(self, tree: GroupTree, placed: Mapping[int, _Body], s: int, n: int) -> Floats:
        """(rows, n + D) derivatives of what closes the group by its n unknowns and the inputs."""
        count = self.mechanism.n_bodies
        position, rotation = np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1))
        rows = []
        for joint in tree.cuts:
            relations = self.frames.relations[joint]
            twists = []
            for body in relations.bodies:
                one = placed.get(body)
                if one is None:
                    one = self._beside(self.bodies[body][s], n)
                position[body], rotation[body] = one.position, one.rotation
                twists.append(one.twist)
            poses = Poses(position, rotation, np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0]))
            chosen = [(relation, -1) for relation in relations.constraints]
            chosen += [
                (relation, self.drives[joint, name])
                for name, relation in relations.coordinates.items()
                if (joint, name) in self.drives
            ]
            for relation, drive in chosen:
                _, rates = value_and_rates(relations, relation, poses, 1.0)
                row = np.einsum("bm,bmk->k", rates, np.array(twists))
                if drive >= 0:
                    row[n + drive] -= 1.0
                rows.append(row)
        return np.array(rows).reshape(-1, n + len(self.inputs))

    @staticmethod
    def _beside(known: _Body, n: int) -> _Body:
        """A body of an earlier group, which this one's n unknowns do not move."""
        return replace(known, twist=np.hstack([np.zeros((6, n)), known.twist]))
