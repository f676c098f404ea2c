"""Query of an input search, with its names resolved; and a mechanism with given inputs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbssa.faults import Fault, Faults
from mbssa.io.motion import coordinate_faults
from mbssa.io.multiple import grown_tree, with_pairs
from mbssa.joints.catalogue import type_of_joint, types_of
from mbssa.mechanism import ByteArray, Mechanism

#: Names that a fault lists before it only counts the rest.
_SHOWN = 20


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


def make_query(
    mechanism: Mechanism,
    *,
    inputs: int | None = None,
    allow: Iterable[str] = (),
    forbid: Iterable[str] = (),
    require: Iterable[str] = (),
    per_joint: int | None = None,
    terminals: Iterable[str | int] = (),
    precision: float | None = None,
    spanning: bool = True,
) -> Query:
    """Query with its names checked and written as in the mechanism; ModelError with all faults."""
    faults = Faults()
    numbers = tuple(sorted({_body(mechanism, name, faults) for name in terminals} - {0}))
    extended = with_terminals(mechanism, numbers)
    lists = {
        key: tuple(
            dict.fromkeys(
                name
                for text in _texts(value, key, faults)
                for name in [_canonical(extended, text, key, faults)]
                if name is not None
            )
        )
        for key, value in (("allow", allow), ("forbid", forbid), ("require", require))
    }
    for key, number in (("inputs", inputs), ("per_joint", per_joint)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            faults.add(key, f"{number!r} is not a number of coordinates; write 1 or more")
    if precision is not None and not (0 <= precision < np.inf):
        faults.add("precision", f"{precision!r} is not a length; write metres, such as 1e-6")
    faults += _contradictions(lists, extended)
    faults.raise_if_any(mechanism.name or "mechanism")
    return Query(
        inputs=inputs, per_joint=per_joint, terminals=numbers, precision=precision, spanning=spanning, **lists
    )


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
    numbers = tuple(sorted({_body(mechanism, name, faults) for name in terminals} - {0}))
    extended = with_terminals(_with_pairs(mechanism, names, pairs, faults), numbers)
    driven = np.zeros(extended.n_joints, dtype=np.uint8)
    for text in _every_coordinate(extended, _texts(names, "inputs", faults)):
        name = _canonical(extended, text, "inputs", faults)
        if name is None or not coordinates_of(extended, name):  # a pair that closes a ring, which is said
            continue
        joint, bit = _parsed(extended, name)
        kind = type_of_joint(extended, joint)
        if bit is None and kind.grade > 1:
            choices = " or ".join(f"{name}.{each}" for each in (*kind.coordinates, "*"))
            faults.add("inputs", f"{text!r}: a {kind.code} has {kind.grade} coordinates; write {choices}")
        elif driven[joint] >> (bit or 0) & 1:
            faults.add("inputs", f"{text!r} is written twice", "duplicate")
        else:
            driven[joint] |= np.uint8(1 << (bit or 0))
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
    mechanism: Mechanism, names: Sequence[str] | str, pairs: Sequence[str] | str, faults: Faults
) -> Mechanism:
    """The mechanism with the pairs for its multiple joints that are named, or belong to named coordinates."""
    several = mechanism.multiple_joints
    wanted: list[list[tuple[int, int]]] = [[] for _ in several]
    given = _texts(
        pairs.replace(";", ",").replace(" ", ",") if isinstance(pairs, str) else pairs, "pairs", Faults()
    )
    for text in [*given, *_texts(names, "inputs", Faults())]:
        ends = tuple(sorted(_pair(text)))
        joint = next((k for k, joint in enumerate(several) if ends and set(ends) <= set(joint.bodies)), None)
        if joint is None:
            if text in given:
                faults.add("pairs", f"{text!r} is no pair of bodies of one multiple joint", "unknown")
            continue
        named = {j for j, _ in coordinates_of(mechanism, text)}
        if named <= set(several[joint].joints) and ends not in wanted[joint]:
            wanted[joint].append((ends[0], ends[1]))
    if not any(wanted):
        return mechanism
    trees = []
    for several_bodies, mine in zip(several, wanted, strict=True):
        bodies = several_bodies.bodies
        ends_there = (mechanism.joint_bodies(j) for j in several_bodies.joints)
        tree = grown_tree(bodies, mine, [(min(ends), max(ends)) for ends in ends_there])
        if tree is None:
            ring = ", ".join(f"{a + 1}-{b + 1}" for a, b in mine)
            shared = ", ".join(str(body + 1) for body in bodies)
            faults.add("pairs", f"{ring}: close a ring of {shared}, which share one joint")
            return mechanism
        trees.append(tree)
    return with_pairs(mechanism, trees)


def _pair(text: str) -> set[int]:
    """Indices of the two bodies of a name such as ``3-4.angle``; none where it is no such name."""
    ends = text.partition(".")[0].partition("#")[0].split("-")
    return (
        {int(end) - 1 for end in ends}
        if len(ends) == 2 and all(end.isdecimal() and len(end) < 19 for end in ends)
        else set()
    )


def with_terminals(mechanism: Mechanism, bodies: Iterable[int]) -> Mechanism:
    """Mechanism with an undriven F pair (planar FP) from the frame to each of these body numbers."""
    # A body that has such a pair already gets no second one. An undriven F binds nothing.
    kind = next(row for row in types_of(mechanism.space) if row.is_free)
    there = {mechanism.joint_bodies(j) for j in np.flatnonzero(mechanism.joint_type == kind.index).tolist()}
    new = [b - 1 for b in bodies if (0, b - 1) not in there and (b - 1, 0) not in there]
    if not new:
        return mechanism
    ends = np.array([[0, body] for body in new], dtype=np.int64)
    return replace(
        mechanism,
        joint_start=np.concatenate(
            [mechanism.joint_start, mechanism.joint_start[-1] + 2 * np.arange(1, len(new) + 1)]
        ),
        joint_body=np.concatenate([mechanism.joint_body, ends.ravel()]),
        joint_type=np.concatenate([mechanism.joint_type, np.full(len(new), kind.index, dtype=np.int64)]),
        driven=np.concatenate([mechanism.driven, np.zeros(len(new), dtype=np.uint8)]),
    )


def coordinates_of(mechanism: Mechanism, name: str) -> list[tuple[int, int]]:
    """Indices (joint, coordinate) of each coordinate that a joint's or a coordinate's name means."""
    # Empty where the mechanism has no such joint: another choice of pairs for a multiple joint may have it.
    try:
        joint, bit = _parsed(mechanism, name)
    except KeyError:
        return []
    grade = type_of_joint(mechanism, joint).grade
    return [(joint, k) for k in range(grade)] if bit is None else [(joint, bit)]


def _texts(given: Iterable[str] | str, key: str, faults: Faults) -> list[str]:
    """Names, each stripped; a text is split at its commas."""
    found = []
    for each in [given] if isinstance(given, str) else given:
        if not isinstance(each, str):
            faults.add(key, f"{each!r} is no name; write a joint such as '1-2' or a coordinate '1-2.slide'")
            continue
        found += [text.strip() for text in each.split(",") if text.strip()]
    return found


def _every_coordinate(mechanism: Mechanism, texts: list[str]) -> list[str]:
    """The names with ``1-14.*`` written out."""
    found = []
    for text in texts:
        joint, _, star = text.rpartition(".")
        pairs = coordinates_of(mechanism, joint) if star == "*" else []
        names = [f"{joint}.{type_of_joint(mechanism, j).coordinates[bit]}" for j, bit in pairs]
        found += names or [text]
    return found


def _canonical(mechanism: Mechanism, text: str, key: str, faults: Faults) -> str | None:
    """The name as the mechanism writes it; None with a fault where it is none."""
    try:
        joint, bit = _parsed(mechanism, text)
    except KeyError as error:
        if _of_multiple_joint(mechanism, text):
            return text
        faults.add(key, f"{text!r}: {error.args[0]}", "unknown")
        return None
    name = mechanism.joints[joint].text
    return name if bit is None else f"{name}.{type_of_joint(mechanism, joint).coordinates[bit]}"


def _parsed(mechanism: Mechanism, text: str) -> tuple[int, int | None]:
    """Joint index and coordinate number, None for the whole joint; KeyError with the existing names."""
    try:
        return mechanism.joint(text).index, None
    except KeyError as error:
        name, dot, coordinate = text.rpartition(".")
        if not dot:
            raise _unknown(mechanism, text, error) from None
    try:
        joint = mechanism.joint(name)
    except KeyError as error:
        raise _unknown(mechanism, name, error) from None
    if coordinate not in joint.type.coordinates:
        choices = ", ".join(f"{joint.id}.{each}" for each in joint.type.coordinates)
        raise KeyError(f"a {joint.type.code} has no coordinate {coordinate!r}; write {choices}")
    return joint.index, joint.type.coordinates.index(coordinate)


def _unknown(mechanism: Mechanism, name: str, error: KeyError) -> KeyError:
    if "ambiguous" in error.args[0]:
        return error
    near = difflib.get_close_matches(name, mechanism.joint_ids, n=2)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    shown = ", ".join(mechanism.joint_ids[:_SHOWN])
    more = mechanism.n_joints - _SHOWN
    return KeyError(
        f"no such joint; {hint}the joints are {shown}" + (f" and {more} more" if more > 0 else "")
    )


def _of_multiple_joint(mechanism: Mechanism, text: str) -> bool:
    """Return whether a name is that of a pair of a multiple joint represented by other pairs now."""
    bodies, coordinate = _pair(text), text.partition(".")[2]
    return len(bodies) == 2 and any(
        bodies <= set(joint.bodies)
        and (not coordinate or coordinate in mechanism.joints[joint.joints[0]].type.coordinates)
        for joint in mechanism.multiple_joints
    )


def _body(mechanism: Mechanism, name: str | int, faults: Faults) -> int:
    """Number of a terminal, 0 with a fault where it cannot be one."""
    names = (
        {mechanism.body_name(b): b + 1 for b in range(mechanism.n_bodies)} if isinstance(name, str) else {}
    )
    number = names.get(str(name).strip())
    if number is None and str(name).strip().isdecimal() and len(str(name)) < 19:
        number = int(str(name))
    if number == 1:
        faults.add("terminals", f"{name!r} is the frame; name a body that moves")
        return 0
    if number is None or not 1 < number <= mechanism.n_bodies:
        named = [mechanism.body_name(b) for b in range(1, mechanism.n_bodies)]
        near = difflib.get_close_matches(str(name), named, n=2)
        hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        what = f"no body {name!r}; {hint}the bodies that move are 2 to {mechanism.n_bodies}"
        faults.add("terminals", what, "unknown")
        return 0
    return number


def _contradictions(lists: dict[str, tuple[str, ...]], mechanism: Mechanism) -> list[Fault]:
    """Faults of required coordinates that are forbidden or not allowed."""

    def meant(key: str) -> set[tuple[int, int]]:
        return {each for name in lists[key] for each in coordinates_of(mechanism, name)}

    forbidden, allowed = meant("forbid"), meant("allow")
    faults = Faults()
    for name in lists["require"]:
        wanted = set(coordinates_of(mechanism, name))
        if wanted and wanted <= forbidden:
            faults.add("require", f"{name} is forbidden too; take it out of one of the lists", "conflict")
        elif wanted and lists["allow"] and not wanted & (allowed - forbidden):
            faults.add("require", f"{name} is not among the allowed; add it there", "conflict")
    return faults
