"""Coordinates that joints of a mechanism couple: ids of their joints, order of bodies, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from mbssa.faults import Faults
from mbssa.mechanism import Joint, Mechanism


def with_couplings(mechanism: Mechanism, where: Callable[[int], str], faults: Faults) -> Mechanism:
    """Mechanism whose couplings name joints by id, and whose bodies begin with one of each joint."""
    # The first is the second body of the first joint, the second that of the second joint, or its other one,
    # so that pictures draw a line from joint to joint. Faults: joints or coordinates that there are not, and
    # bodies that are not theirs.
    geometry, bodies = dict(mechanism.joint_geometry), mechanism.joint_body.copy()
    for j, given in sorted(mechanism.joint_geometry.items()):
        names, before = given.couples or (), len(faults)
        views = list(_coupled(mechanism, names, f"{where(j)} couples", faults))
        if len(faults) > before or not names:
            continue
        if names[0] == names[1]:
            faults.add(f"{where(j)} couples", f"{names[0]!r} with itself; name two coordinates")
        first, second = (view.bodies for view in views)
        wanted = [first[1], second[1] if second[1] != first[1] else second[0], *first, *second]
        order = [body - 1 for body in dict.fromkeys(wanted)]
        if set(order) != set(mechanism.joint_bodies(j)):
            shown = (mechanism.body_name(body - 1) for body in dict.fromkeys([*first, *second]))
            listed = ", ".join(name if name.isdigit() else f'"{name}"' for name in shown)
            what = f"are not those of {names[0]} and {names[1]}; write bodies = [{listed}]"
            faults.add(f"{where(j)} bodies", what, "conflict")
            continue
        # By id, with ``#1`` where the bodies have more joints.
        coordinates = (name.rpartition(".")[2] for name in names)
        couples = tuple(f"{view.text}.{name}" for view, name in zip(views, coordinates, strict=True))
        geometry[j] = replace(given, couples=couples)
        bodies[mechanism.joint_start[j] : mechanism.joint_start[j + 1]] = order
    return replace(mechanism, joint_geometry=geometry, joint_body=bodies)


def _coupled(mechanism: Mechanism, names: Iterable[str], where: str, faults: Faults) -> Iterator[Joint]:
    """Joints of coordinates that a coupling names, and what is wrong with them."""
    for name in names:
        joint, _, coordinate = name.rpartition(".")
        try:
            view = mechanism.joint(joint)
        except KeyError as error:
            what = 'names no coordinate of a joint; write joint and coordinate, "2-3.angle"'
            faults.add(where, f"{name!r}: {error.args[0]}" if joint else f"{name!r} {what}", "unknown")
            continue
        can = view.type.couplable
        if coordinate not in can:
            has = f"is coupled in {', '.join(can)}" if can else "has none that can be coupled"
            what = f"coordinate {coordinate!r}: {view.id} ({view.type.code}) {has}"
            faults.add(where, what, "unknown")
        yield view
