"""Groups of a structure; twins, which have one labelled topology, are found before anything is evaluated."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy

import numpy as np

from groups.engine.kinematics import Group, Twins, Uses
from groups.setting import Setting
from groups.tree import GroupTree
from mbssa import Mechanism

#: Twins from which on they are evaluated at once, on arrays.
_MANY = 8


def groups_of(setting: Setting, by_newton: Collection[int] = ()) -> list[Group]:
    """All groups of a structure; those of one labelled topology are twins, which are recognised first."""
    trees, labels = setting.forest
    alike: dict[object, list[int]] = {}
    for g, label in enumerate(labels):
        alike.setdefault(g if g in by_newton else label or g, []).append(g)
    found: dict[int, Group] = {}
    for key, twins in alike.items():
        label, tree = None if isinstance(key, int) else key, trees[twins[0]]
        is_plain = not tree.struts and all(link.joint >= 0 for link in tree.links)
        if len(twins) >= _MANY and is_plain and not setting.spins:
            found |= zip(twins, _at_once(setting, [trees[g] for g in twins], label), strict=True)
            continue
        for g in twins:
            found[g] = Group(setting, trees[g], label)
            found[g].find_reference(closed_forms=g not in by_newton)
    return [found[g] for g in range(len(trees))]


def _at_once(setting: Setting, trees: Sequence[GroupTree], label: object) -> list[Group]:
    """Twins, whose references are found on arrays."""
    group, count = Group(setting, trees[0], label), len(trees)
    joints, bodies = [tree.joints for tree in trees], [_bodies_of(setting.mechanism, tree) for tree in trees]
    group.twins = twins = Twins(count)
    twins.joints = dict(zip(joints[0], np.array(joints).T, strict=True))
    twins.bodies = dict(zip(bodies[0], np.array(bodies).T, strict=True))
    drives = setting.drives
    for j, every in twins.joints.items():
        for name in group.drives_of(j):
            twins.drives[drives[j, name]] = np.array([drives[twin, name] for twin in every.tolist()])
    group.zero = {b: np.zeros(count) for b in group.own}
    with np.errstate(all="ignore"):
        every_regular = group.find_reference()
    group.twins = Twins()
    starts, zeros, modes, regular = (
        np.array([np.broadcast_to(x, count) for x in every]).reshape(-1, count).T.tolist()
        for every in (group.start, group.zero.values(), [group.mode], [every_regular])
    )
    found = []
    for k, tree in enumerate(trees):
        twin = copy(group)
        twin.open(tree)
        if group.form is not None and not regular[k][0]:
            twin.forget()
            twin.find_reference()
        else:
            joint, body = (dict(zip(x[0], x[k], strict=True)) for x in (joints, bodies))
            (twin.mode,), twin.geometry, twin.start = modes[k], group.geometry[:, k].copy(), starts[k]
            twin.uses = Uses()  # without the geometry
            twin.uses.bodies = {body[b]: i for b, i in group.uses.bodies.items()}
            twin.uses.drives = {int(twins.drives[row][k]): i for row, i in group.uses.drives.items()}
            twin.names = [(joint[j], name) for j, name in group.names]
            twin.zero = dict(zip(twin.own, zeros[k], strict=True))
        found.append(twin)
    return found


def _bodies_of(mechanism: Mechanism, tree: GroupTree) -> list[int]:
    """Own bodies of a tree of links and cuts, and the known ones beside the frame, in order of its joints."""
    ends = [b for j in tree.cuts for b in mechanism.joint_bodies(j)[:2]]
    own = dict.fromkeys(link.body for link in tree.links)
    return [b for b in own | dict.fromkeys([*(link.parent for link in tree.links), *ends]) if b]
