"""Groups of a structure; twins, which have one labelled topology, are found before anything is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from groups.engine.kinematics import Group
from groups.engine.numbers import Twins, Uses
from groups.tree import GroupTree, open_group

if TYPE_CHECKING:
    from groups.setting import Setting
    from mbssa import Mechanism

#: Twins from which on they are evaluated at once, on arrays.
_MANY = 8


def groups_of(setting: Setting, by_newton: Collection[int] = ()) -> list[Group]:
    """All groups of a structure; those of one labelled topology are twins, which are recognised first."""
    trees = [open_group(group, setting.frames) for group in setting.structure.groups]
    carriers = {link.joint: g for g, tree in enumerate(trees) for link in tree.links if link.joint >= 0}
    label, alike = _labels(setting), dict[object, list[int]]()
    for g, tree in enumerate(trees):
        alike.setdefault(g if g in by_newton else label(tree) or g, []).append(g)
    found: dict[int, Group] = {}
    for key, twins in alike.items():
        own = None if isinstance(key, int) else key
        tree = trees[twins[0]]
        is_plain = not tree.struts and all(link.joint >= 0 for link in tree.links)
        at_once = len(twins) >= _MANY and is_plain and not setting.spins
        for g in twins[: 1 if at_once else None]:
            group = Group(setting, trees[g], own, carriers, g)
            if at_once:
                found |= zip(twins, _spread(group, [trees[k] for k in twins], twins), strict=True)
            else:
                group.find_reference(closed_forms=g not in by_newton)
                found[g] = group
    return [found[g] for g in range(len(trees))]


def _labels(setting: Setting) -> Callable[[GroupTree], object]:
    """The labelled topology of a tree; None where it shares with none."""
    mechanism, relations = setting.mechanism, setting.frames.relations
    kinds, driven = mechanism.joint_type.tolist(), dict[int, tuple[str, ...]]()
    for j, name in setting.drives:
        driven[j] = (*driven.get(j, ()), name)
    spins = [spin.body for spin in setting.spins]

    def label(tree: GroupTree) -> object:
        if any(j in relations for j in tree.cuts):
            return None
        number = {0: 0}

        def at(*bodies: int) -> tuple[int, ...]:
            return tuple(number.setdefault(b, len(number)) for b in bodies)

        def kind(j: int) -> object:
            return (kinds[j], driven.get(j, ()), at(*mechanism.joint_bodies(j)[:2])) if j >= 0 else ()

        links = tuple((at(n.parent, n.body), n.forward, kind(n.joint)) for n in tree.links)
        struts = tuple(
            (at(s.base, s.tip, *s.bodies), s.held, s.slide_driven, kind(s.pin), kind(s.ball), kind(s.slide))
            for s in tree.struts
        )
        cuts = tuple(map(kind, tree.cuts))
        own = [n.body for n in tree.links] + [b for s in tree.struts for b in s.bodies]
        turned = tuple(at(b)[0] for b in spins if b in own) if spins else ()
        return links, struts, cuts, turned

    return label


def _spread(group: Group, trees: Sequence[GroupTree], indices: Sequence[int]) -> list[Group]:
    """The group and its twins; all references are found at once, on arrays."""
    joints = [[*(link.joint for link in tree.links), *tree.cuts] for tree in trees]
    bodies = [_bodies_of(group.mechanism, tree) for tree in trees]
    group.twins = twins = Twins(len(trees))
    twins.joints = dict(zip(joints[0], np.array(joints).T, strict=True))
    twins.bodies = dict(zip(bodies[0], np.array(bodies).T, strict=True))
    drives = group.setting.drives
    for j, every in twins.joints.items():
        for name in group._driven(j):
            twins.drives[drives[j, name]] = np.array([drives[twin, name] for twin in every.tolist()])
    group.zero = {b: np.zeros(len(trees)) for b in group.own}
    with np.errstate(all="ignore"):
        group.find_reference()
    group.twins = Twins()
    geometry = group.geometry.T.copy()
    starts, zeros, modes, regular = (
        np.array([np.broadcast_to(x, len(trees)) for x in every]).reshape(-1, len(trees)).T.tolist()
        for every in (group.start, group.zero.values(), [group.mode], [group.regular])
    )
    found = []
    for k, tree in enumerate(trees):
        twin = copy(group)
        twin.index, (twin.mode,), twin.geometry, twin.start = indices[k], modes[k], geometry[k], starts[k]
        twin._open(tree)
        if group.form is not None and not regular[k][0]:
            twin.uses, twin.names, twin.start = Uses(), [], []
            twin.zero = dict.fromkeys(twin.own, 0.0)
            twin.find_reference()
        else:
            joint, body = (dict(zip(x[0], x[k], strict=True)) for x in (joints, bodies))
            twin.uses = group.uses.of_twin(body, {row: int(x[k]) for row, x in twins.drives.items()})
            twin.names = [(joint[j], name) for j, name in group.names]
            twin.zero = dict(zip(twin.own, zeros[k], strict=True))
        found.append(twin)
    return found


def _bodies_of(mechanism: Mechanism, tree: GroupTree) -> list[int]:
    """Own bodies of a tree of links and cuts, and the known ones beside the frame, in order of its joints."""
    ends = [b for j in tree.cuts for b in mechanism.joint_bodies(j)[:2]]
    own = dict.fromkeys(link.body for link in tree.links)
    return [b for b in own | dict.fromkeys([*(link.parent for link in tree.links), *ends]) if b]
