"""Query of an input search, with its names resolved; and a mechanism with given inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mbssa.faults import Faults, meant
from mbssa.io.motion import coordinate_faults
from mbssa.io.multiple import spanning_tree, with_pairs
from mbssa.joints.catalogue import type_of_joint, types_of
from mbssa.mechanism import ByteArray, Joint, Mechanism, MultipleJoint


@dataclass(frozen=True, slots=True)
class Query:
    """Constraints on the inputs that a search may choose, as plain data."""

    inputs: int | None = None  # driven coordinates; None: as many as the mechanism needs
    allow: tuple[str, ...] = ()  # joints ("1-2") or coordinates ("1-2.slide") that may be inputs; empty: all
    forbid: tuple[str, ...] = ()
    # require: joints of which one coordinate, or coordinates, that every set of inputs has
    require: tuple[str, ...] = ()
    per_joint: int | None = None  # most inputs on one joint; None: as many as the joint has coordinates
    # terminals: body numbers that get a fictitious F pair (planar FP), drivable too, with the frame
    terminals: tuple[int, ...] = ()
    precision: float | None = None  # of the geometry's numbers, m; None: found from their digits
    spanning: bool = True  # whether other pairs may replace those of the multiple joints


def make_query(mechanism: Mechanism, **given: Any) -> Query:
    """Query of these fields, names checked and written as in the mechanism; ModelError with all faults."""
    faults = Faults()
    numbers = _bodies(mechanism, given.get("terminals", ()), faults)
    extended = with_terminals(mechanism, numbers)
    named: dict[str, tuple[str, ...]] = {
        key: _canonical(extended, _texts(given.get(key, ()), key, faults), key, faults)
        for key in ("allow", "forbid", "require")
    }
    for key, least in (("inputs", 1), ("per_joint", 1), ("precision", 0.0)):
        check_number(key, given.get(key), least, faults)
    allowed, forbidden = (
        {each for name in named[key] for each in coordinates_of(extended, name)}
        for key in ("allow", "forbid")
    )
    for name in named["require"]:
        wanted = set(coordinates_of(extended, name))
        if wanted and wanted <= forbidden:
            faults.add("require", f"{name} is forbidden too; take it out of one of the lists", "conflict")
        elif wanted and named["allow"] and not wanted & (allowed - forbidden):
            faults.add("require", f"{name} is not among the allowed; add it there", "conflict")
    faults.raise_if_any(mechanism.name or "mechanism")
    return Query(**given | named | {"terminals": numbers})


def check_number(key: str, value: float | None, least: float, faults: Faults) -> None:
    """Add a fault of a number below ``least``, infinite, or not whole where that is whole."""
    whole = isinstance(least, int)
    fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if value is not None and not (fits and least <= value < np.inf):
        faults.add(key, f"{value!r} is out of range; write a {'whole ' * whole}number, {least:g} or more")


def with_inputs(
    mechanism: Mechanism,
    names: Sequence[str] | str,
    terminals: Iterable[str | int] = (),
    pairs: Sequence[str] | str = (),
) -> Mechanism:
    """The mechanism driven in exactly these coordinates.

    Parameters
    ----------
    names : ``1-2.slide`` each, ``1-14.*`` for all coordinates of a joint, or ``1-2`` alone where it has
        one; or one text with commas between them
    terminals : bodies, by name or number, that get a fictitious F pair (planar FP) with the frame first
    pairs : ``3-4`` each, or one text such as :attr:`Transformation.pairs`: pairs that replace those of the
        multiple joints, as those in ``names`` do; the others stay as they are, as far as they can

    Returns
    -------
    Mechanism. A motion that the model carries stays if it moves exactly these coordinates.

    Raises
    ------
    ModelError
        Every name that is no joint or coordinate, is written twice, or leaves open which one is meant.

    Examples
    --------
    >>> import mbssa
    >>> rotor = with_inputs(mbssa.load("rotor"), ["1-2.slide", "1-13.slide", "13-15"])
    >>> mbssa.decompose(rotor).n_groups
    9
    """
    faults = Faults()
    numbers = _bodies(mechanism, terminals, faults)
    given = _texts(names, "inputs", faults)
    extended = with_terminals(_with_pairs(mechanism, given, pairs, faults), numbers)
    driven = np.zeros(extended.n_joints, dtype=np.uint8)
    for text in given:
        name = text.removesuffix(".*")
        _canonical(extended, [name], "inputs", faults)
        meant = coordinates_of(extended, name)  # none of a pair that closes a ring, which is said
        if len(meant) > 1 and name == text:
            one = extended.joints[meant[0][0]]
            choices = " or ".join(f"{one.text}.{each}" for each in (*one.type.coordinates, "*"))
            what = f"a {one.type.code} has {one.type.grade} coordinates; write {choices}"
            faults.add("inputs", f"{text!r}: {what}")
        elif any(driven[joint] >> bit & 1 for joint, bit in meant):
            faults.add("inputs", f"{text!r} is written twice", "duplicate")
        for joint, bit in meant:
            driven[joint] |= np.uint8(1 << bit)
    faults.raise_if_any(mechanism.name or "mechanism")
    return _driven(extended, driven)


def driven_by(mechanism: Mechanism, coordinates: Iterable[str]) -> Mechanism:
    """The mechanism driven in these coordinates, named as ``driven_coordinates`` names them."""
    driven = np.zeros(mechanism.n_joints, dtype=np.uint8)
    for joint, name in map(mechanism.place_of, coordinates):
        driven[joint] |= np.uint8(1 << type_of_joint(mechanism, joint).coordinates.index(name))
    return _driven(mechanism, driven)


def _driven(mechanism: Mechanism, driven: ByteArray) -> Mechanism:
    changed = replace(mechanism, driven=driven)
    if changed.motion is not None and coordinate_faults(changed, changed.motion):
        changed = replace(changed, motion=None)
    return changed


def _with_pairs(
    mechanism: Mechanism, names: list[str], pairs: Sequence[str] | str, faults: Faults
) -> Mechanism:
    """The mechanism with the pairs for its multiple joints that are named, or belong to named coordinates."""
    given = re.split("[;, ]+", pairs) if isinstance(pairs, str) else pairs
    pair_of = {text: _pair(text) for text in [*given, *names] if text}
    known, trees = {""}, []
    for several in mechanism.multiple_joints:
        here = {text: pair for text, pair in pair_of.items() if _is_of(pair, several)}
        known.update(here)
        wanted = dict.fromkeys(
            (pair[0], pair[1])
            for text, pair in here.items()
            if {j for j, _ in coordinates_of(mechanism, text)} <= set(several.joints)
        )
        now = (mechanism.joint_bodies(j) for j in several.joints)
        tree = spanning_tree(several.bodies, list(wanted), [(min(ends), max(ends)) for ends in now])
        if tree is None:
            ring = ", ".join(f"{a + 1}-{b + 1}" for a, b in wanted)
            shared = ", ".join(str(body + 1) for body in several.bodies)
            faults.add("pairs", f"{ring}: close a ring of {shared}, which share one joint")
            return mechanism
        trees.append(tree)
    for text in given:
        if text not in known:
            faults.add("pairs", f"{text!r} is no pair of bodies of one multiple joint", "unknown")
    return with_pairs(mechanism, trees) if len(known) > 1 else mechanism


def _pair(text: str) -> tuple[int, ...]:
    """Indices, ascending, of the two bodies of a name such as ``3-4.angle``; none of another name."""
    ends = re.fullmatch(r"(\d{1,18})-(\d{1,18})(?:[.#].*)?", text)
    return tuple(sorted({int(ends[1]) - 1, int(ends[2]) - 1})) if ends else ()


def with_terminals(mechanism: Mechanism, bodies: Iterable[int]) -> Mechanism:
    """Mechanism with an undriven F pair (planar FP) from the frame to each of these body numbers."""
    # A body that has such a pair already gets no second one. An undriven F binds nothing.
    kind = next(row for row in types_of(mechanism.space) if row.is_free)
    there = {mechanism.joint_bodies(j) for j in np.flatnonzero(mechanism.joint_type == kind.index).tolist()}
    new = [b - 1 for b in bodies if (0, b - 1) not in there and (b - 1, 0) not in there]
    if not new:
        return mechanism
    start = mechanism.joint_start
    return replace(
        mechanism,
        joint_start=np.append(start, start[-1] + 2 * np.arange(1, len(new) + 1)),
        joint_body=np.append(mechanism.joint_body, [[0, body] for body in new]),
        joint_type=np.append(mechanism.joint_type, [kind.index] * len(new)),
        driven=np.append(mechanism.driven, np.zeros(len(new), dtype=np.uint8)),
    )


def coordinates_of(mechanism: Mechanism, name: str) -> list[tuple[int, int]]:
    """Indices (joint, coordinate) of each coordinate that a joint's or a coordinate's name means."""
    # Empty where the mechanism has no such joint: another choice of pairs for a multiple joint may have it.
    try:
        joint, coordinate = _parsed(mechanism, name)
    except KeyError:
        return []
    return [(joint.index, k) for k, each in enumerate(joint.type.coordinates) if coordinate in (each, "")]


def _texts(given: Iterable[str] | str, key: str, faults: Faults) -> list[str]:
    """Names, each stripped; a text is split at its commas."""
    found = []
    for each in ([given] if given else []) if isinstance(given, str) else given:
        if not isinstance(each, str):
            faults.add(key, f"{each!r} is no name; write a joint such as '1-2' or a coordinate '1-2.slide'")
        elif names := [text.strip() for text in each.split(",") if text.strip()]:
            found += names
        else:
            faults.add(key, "names nothing")
    return found


def _canonical(mechanism: Mechanism, texts: Iterable[str], key: str, faults: Faults) -> tuple[str, ...]:
    """Names as the mechanism writes them, each once, and a fault of each that is none."""
    found: dict[str, None] = {}
    for text in texts:
        try:
            joint, coordinate = _parsed(mechanism, text)
            found[joint.text + (coordinate and f".{coordinate}")] = None
        except KeyError as error:
            # A pair of a multiple joint that other pairs represent now.
            pair, coordinate = _pair(text), text.partition(".")[2]
            pinned = (one for one in mechanism.multiple_joints if _is_of(pair, one))
            if any(
                coordinate in ("", *type_of_joint(mechanism, one.joints[0]).coordinates) for one in pinned
            ):
                found[text] = None
            else:
                faults.add(key, error.args[0], "unknown")
    return tuple(found)


def _parsed(mechanism: Mechanism, text: str) -> tuple[Joint, str]:
    """Joint and coordinate of a name, "" for the whole joint; KeyError with the existing names."""
    name, dot, coordinate = text.rpartition(".")
    try:
        return mechanism.joint(text), ""
    except KeyError:
        if not dot:
            raise
    joint = mechanism.joint(name)
    if coordinate not in joint.type.coordinates:
        choices = ", ".join(f"{joint.id}.{each}" for each in joint.type.coordinates)
        raise KeyError(f"{text!r}: a {joint.type.code} has no coordinate {coordinate!r}; write {choices}")
    return joint, coordinate


def _is_of(pair: tuple[int, ...], joint: MultipleJoint) -> bool:
    return len(pair) == 2 and set(pair) <= set(joint.bodies)


def _bodies(mechanism: Mechanism, names: Iterable[str | int], faults: Faults) -> tuple[int, ...]:
    """Numbers of terminals, ascending, by their names or numbers."""
    numbers = {str(body.number): body.number for body in mechanism.bodies[1:]}
    named = numbers | {body.name: body.number for body in mechanism.bodies[1:]}
    found = set()
    for name in names:
        known = named if isinstance(name, str) else numbers
        if (text := str(name).strip()) in known:
            found.add(known[text])
            continue
        hint = meant(text, known, most=2)
        what = f"no body {name!r} that moves; {hint}these are 2 to {mechanism.n_bodies}, and 1 is the frame"
        faults.add("terminals", what, "unknown")
    return tuple(sorted(found))
