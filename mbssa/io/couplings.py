"""Coordinates that joints of a mechanism couple: ids of their joints, order of bodies, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mbssa.faults import Fault, Faults
from mbssa.mechanism import Joint, Mechanism


def with_coupled_ids(mechanism: Mechanism) -> Mechanism:
    """Mechanism whose couplings name joints by id, and whose bodies begin with one of each joint."""
    # The first is the second body of the first joint, the second that of the second joint, or its other one,
    # so that pictures draw a line from joint to joint. What names no joint stays as it is.
    geometry, bodies = dict(mechanism.joint_geometry), mechanism.joint_body.copy()
    for j, given in mechanism.joint_geometry.items():
        views = [_view(mechanism, name) for name in given.couples or ()]
        if None in views or not views:
            continue
        couples = tuple(_by_id(mechanism, name) for name in given.couples or ())
        geometry[j] = replace(given, couples=couples)
        first, second = (view.bodies for view in views if view is not None)
        wanted = [first[1], second[1] if second[1] != first[1] else second[0], *first, *second]
        order = [body - 1 for body in dict.fromkeys(wanted)]
        if sorted(order) == sorted(mechanism.joint_bodies(j)):
            bodies[mechanism.joint_start[j] : mechanism.joint_start[j + 1]] = order
    return replace(mechanism, joint_geometry=geometry, joint_body=bodies)


def coupling_faults(mechanism: Mechanism, where: Callable[[int], str]) -> list[Fault]:
    """Couplings whose joints or coordinates there are not, or whose bodies are others than theirs."""
    faults = Faults()
    for j, given in sorted(mechanism.joint_geometry.items()):
        names, before = given.couples or (), len(faults)
        for name in names:
            wrong = _wrong(mechanism, name)
            faults += [Fault(f"{where(j)} couples", wrong, "unknown")] if wrong else []
        if len(faults) > before or not names:
            continue
        if names[0] == names[1]:
            faults.add(f"{where(j)} couples", f"{names[0]!r} with itself; name two coordinates")
        views = [_view(mechanism, name) for name in names]
        wanted = list(dict.fromkeys(body for view in views if view is not None for body in view.bodies))
        if {body - 1 for body in wanted} != set(mechanism.joint_bodies(j)):
            shown = ", ".join(_shown(mechanism, body) for body in wanted)
            what = f"are not those of {names[0]} and {names[1]}; write bodies = [{shown}]"
            faults.add(f"{where(j)} bodies", what, "conflict")
    return faults


def _wrong(mechanism: Mechanism, name: str) -> str:
    """Fault of one coupled coordinate; empty if there is none."""
    joint, _, coordinate = name.rpartition(".")
    if not joint:
        return f'{name!r} names no coordinate of a joint; write joint and coordinate, "2-3.angle"'
    try:
        view = mechanism.joint(joint)
    except KeyError as error:
        return f"{name!r}: {error.args[0]}"
    can = view.type.couplable
    if coordinate in can:
        return ""
    has = f"{view.id} ({view.type.code}) is coupled in {', '.join(can)}" if can else (
        f"{view.id} ({view.type.code}) has none that can be coupled"
    )  # fmt: skip
    return f"coordinate {coordinate!r}: {has}"


def _view(mechanism: Mechanism, name: str) -> Joint | None:
    try:
        return mechanism.joint(name.rpartition(".")[0])
    except KeyError:
        return None


def _by_id(mechanism: Mechanism, name: str) -> str:
    """A coordinate by its joint's id; with ``#1`` where the bodies have more joints."""
    joint, _, coordinate = name.rpartition(".")
    return f"{mechanism.joint(joint).text}.{coordinate}"


def _shown(mechanism: Mechanism, body: int) -> str:
    name = mechanism.body_name(body - 1)
    return name if name == str(body) else f'"{name}"'
