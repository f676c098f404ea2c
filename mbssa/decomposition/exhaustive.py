"""Search of the paper, function by function: chains of 1, 2, 3 … bodies until Eq. (5) holds."""

# Celdran, Saura and Dopico, Mechanism and Machine Theory 176 (2022) 104985, section 3.4: L_th = S_c - n_c = B
# (P - N_m). N x N matrices are lists of joints and bodies as bits here, so joints may be of several bodies. A
# joint without units adds B to S_c and 1 to P. Eq. (5) is necessary, not sufficient; the time is exponential.

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

from mbssa.arrays import Ints
from mbssa.decomposition.incidence import Incidence
from mbssa.decomposition.matching import match
from mbssa.decomposition.partition import Part, Partition

#: Bodies that a chain's bits can name within reasonable memory; the search would never end anyway.
MOST_BODIES = 10_000

#: Chains between two checks of the time.
_CHAINS_PER_LOOK = 1_024

#: Body numbers that a note names before it only counts the rest.
_NAMED = 12


class OutOfTime(Exception):
    """The time limit ran out; :func:`search` turns it into a note."""


@dataclass(slots=True, eq=False)
class State:
    """State of the search; the paper's name of each matrix in brackets."""

    freedom: int  # B [ProblemType]
    # joints: bodies as bits, grade and driven coordinates of each with units [matrix_GDL, KnownInputs]
    joints: list[tuple[int, int, int]]
    joints_of: list[list[int]]  # joints of each body, by place in ``joints``
    near: dict[int, int]  # by bit of a movable body, the bits of its neighbours [matrix_GDL ~= 0]
    label: list[int]  # group of each body as found, -1: none [vector_SG, first row of Results_SA]
    left: list[int]  # bodies in no group, ascending [vector_NSG]
    pairs: list[int]  # sums over the active external pairs of each body [vector_PAIR]
    grades: list[int]  # likewise [vector_GDL]
    driven: list[int]  # likewise [vector_BL]
    # inner: by body, (bodies, grade, driven) of joints whose lowest body in no group it is
    inner: list[list[tuple[int, int, int]]]
    known: int = 0  # bits of the frame and of the bodies of groups
    reached: int = 0  # bits of bodies to which a known body gave a pair [rows of Results_SA]
    n_groups: int = 0
    length: int = 1  # bodies of the chains being tried [BodiesNumber]
    deadline: float | None = None  # on the clock of time.monotonic


def search(
    incidence: Incidence,
    grade: Ints,
    n_driven_of_joint: Ints,
    time_limit: float | None = None,
) -> Partition:
    """Partition of a mechanism by the paper's search; ``grade`` (J,) is k of Table 3, ``time_limit`` in s."""
    # Bodies that the time limit left undecided are ``unresolved``. Where Eq. (5) holds for no further chain,
    # the parts are those of the matching for what is left, with every group found as known.
    if incidence.n_bodies > MOST_BODIES:
        raise ValueError(
            f"{incidence.n_bodies} bodies; the exhaustive search takes at most {MOST_BODIES}, "
            "use method='matching'"
        )
    started = time.monotonic()
    state = prepare(incidence, grade, n_driven_of_joint)
    state.deadline = None if time_limit is None else started + time_limit
    isolate_frame(state)
    try:
        decompose_groups(state)
    except OutOfTime:
        note = (
            f"the exhaustive search stopped after {time_limit:g} s at chains of length {state.length}, "
            f"undecided: {_bodies(state.left)}"
        )
        label = np.array(state.label, dtype=np.int64)
        return Partition(label, state.n_groups, note=note, unresolved=tuple(state.left))
    parts = _parts_of_rest(incidence, state.left) if state.left else ()
    named = {body for part in parts for body in part.bodies}
    return Partition(
        np.array(state.label, dtype=np.int64),
        state.n_groups,
        parts,
        f"Eq. (5) holds for no further chain, left over: {_bodies(state.left)}" if state.left else "",
        tuple(body for body in state.left if body not in named),
    )


def prepare(incidence: Incidence, grade: Ints, n_driven_of_joint: Ints) -> State:
    """The state before anything is assigned: the paper's Algorithm 1 and its initial matrices."""
    n = incidence.n_bodies
    start, slot_body = incidence.joint_start.tolist(), incidence.slot_body.tolist()
    units, k, w = incidence.units.tolist(), grade.tolist(), n_driven_of_joint.tolist()
    joints: list[tuple[int, int, int]] = []
    joints_of: list[list[int]] = [[] for _ in range(n)]
    inner: list[list[tuple[int, int, int]]] = [[] for _ in range(n)]
    near = {1 << body: 0 for body in range(1, n)}
    for j in range(len(units)):
        if units[j] == 0:
            continue
        bodies = slot_body[start[j] : start[j + 1]]
        mask = sum(1 << body for body in bodies)
        for body in bodies:
            joints_of[body].append(len(joints))
            if body:
                near[1 << body] |= mask & ~(1 << body) & ~1
        joints.append((mask, k[j], w[j]))
        inner[min(bodies)].append(joints[-1])
    return State(
        freedom=incidence.freedom,
        joints=joints,
        joints_of=joints_of,
        near=near,
        label=[-1] * n,
        left=list(range(1, n)),
        pairs=[0] * n,
        grades=[0] * n,
        driven=[0] * n,
        inner=inner,
    )


def isolate_frame(state: State) -> None:
    """Algorithm 2, frame isolation: the frame gives its pairs to the bodies next to it."""
    state.known = 1
    _assign(state, (0,))


def decompose_groups(state: State) -> None:
    """Decompose into structural groups (Algorithm 3)."""
    # After every find the search starts again at chains of one body, else the chains grow by one: the paper's
    # flag1 and flag2 compare the bodies left before and after.
    state.length = 1
    while state.length <= len(state.left):
        found = candidates(state)
        if not found:
            return
        before = len(state.left)
        if state.length == 1:
            individuals(state, found)
        else:
            for chain in seeker(state, found, state.length):
                if groups(state, chain):
                    break
        state.length = 1 if len(state.left) < before else state.length + 1


def candidates(state: State) -> tuple[int, ...]:
    """CANDIDATES_3D: the bodies in no group that have an active external pair, ascending."""
    _look_at_the_clock(state)
    waiting = state.reached & ~state.known
    return tuple(body for body in state.left if waiting >> body & 1)


def individuals(state: State, found: Sequence[int]) -> None:
    """Make every candidate that satisfies Eq. (5) alone a group (INDIVIDUALS_SG_3D)."""
    # A candidate later in the row already sees the pairs that an earlier one has given it.
    for body in found:
        _look_at_the_clock(state)
        if satisfies_eq_5(state, (body,)):
            _become_group(state, (body,))


def seeker(state: State, found: Sequence[int], length: int) -> Iterator[tuple[int, ...]]:
    """Connected chains of ``length`` bodies in no group with a candidate among them (SEEKER_3D)."""
    # Lexicographic, the paper's order. The paper combines all movable bodies and then drops chains with a
    # body of a group; here those are not combined in the first place. Both give the same chains in the same
    # order.
    near = state.near
    has_candidate = sum(1 << body for body in found)
    chains = combinations([1 << body for body in state.left], length)
    while block := tuple(islice(chains, _CHAINS_PER_LOOK)):
        _look_at_the_clock(state)
        for bits in block:
            rest = sum(bits)
            if not rest & has_candidate:
                continue
            front = bits[0]
            rest ^= front
            while front and rest:
                bit = front & -front
                reached = near[bit] & rest
                rest ^= reached
                front ^= bit | reached
            if not rest:
                yield tuple(bit.bit_length() - 1 for bit in bits)


def groups(state: State, chain: tuple[int, ...]) -> bool:
    """GROUPS_SG_3D: whether the chain satisfies Eq. (5); if so it is a group from now on."""
    if not satisfies_eq_5(state, chain):
        return False
    _become_group(state, chain)
    return True


def satisfies_eq_5(state: State, chain: Sequence[int]) -> bool:
    """Return whether Eq. (5), ``S_c - n_c = B (P - N_m)``, holds over the active pairs of a chain."""
    # External pairs are summed per body when they become active; internal ones are added here. (The paper
    # gives each end one half of an internal pair and takes it back afterwards.)
    mask = sum(1 << body for body in chain)
    pairs = grades = driven = 0
    for body in chain:
        pairs += state.pairs[body]
        grades += state.grades[body]
        driven += state.driven[body]
        for bodies, k, w in state.inner[body]:
            if bodies & mask == bodies:
                pairs += 1
                grades += k
                driven += w
    return grades - driven == state.freedom * (pairs - len(chain))


def _become_group(state: State, chain: Sequence[int]) -> None:
    """Number a group and give its other pairs on: the updates in INDIVIDUALS_SG_3D and GROUPS_SG_3D."""
    for body in chain:
        state.label[body] = state.n_groups
        state.known |= 1 << body
    state.n_groups += 1
    state.left = [body for body in state.left if state.label[body] < 0]
    _assign(state, chain)


def _assign(state: State, chain: Sequence[int]) -> None:
    """Activate the external pairs that bodies, known from now on, give to those in no group."""
    for place in dict.fromkeys(place for body in chain for place in state.joints_of[body]):
        bodies, k, w = state.joints[place]
        waiting = bodies & ~state.known
        if not waiting:
            continue
        state.reached |= waiting
        first = (waiting & -waiting).bit_length() - 1
        if waiting == 1 << first:
            state.pairs[first] += 1
            state.grades[first] += k
            state.driven[first] += w
        else:
            # Several bodies of the joint are unassigned: it is active for a chain that contains them all.
            # Its earlier entry names a body that no chain can hold any more.
            state.inner[first].append((waiting, k, w))


def _parts_of_rest(incidence: Incidence, left: list[int]) -> tuple[Part, ...]:
    """Parts that the matching finds among the bodies left, all others being known like the frame."""
    first = incidence.joint_start[:-1]
    sizes = np.diff(incidence.joint_start)
    place = np.zeros(incidence.n_bodies, dtype=np.int64)
    place[left] = np.arange(1, len(left) + 1)
    kept = np.maximum.reduceat(place[incidence.slot_body], first) > 0
    joints = np.flatnonzero(kept)
    start = np.concatenate([[0], np.cumsum(sizes[kept])])
    slot_body = place[incidence.slot_body[np.repeat(kept, sizes)]]
    rest = Incidence(
        joint_start=start,
        slot_body=slot_body,
        slot_joint=np.repeat(np.arange(len(joints)), sizes[kept]),
        body_start=np.concatenate([[0], np.cumsum(np.bincount(slot_body, minlength=len(left) + 1))]),
        body_slot=np.argsort(slot_body, kind="stable"),
        units=incidence.units[kept],
        freedom_of_body=np.concatenate([[0], incidence.freedom_of_body[left]]),
        freedom=incidence.freedom,
        n_bodies=len(left) + 1,
    )
    return tuple(
        Part(
            part.kind,
            part.units,
            tuple(left[body - 1] for body in part.bodies),
            tuple(joints[list(part.joints)].tolist()),
            tuple(left[body - 1] for body in part.rigid),
        )
        for part in match(rest).parts
    )


def _look_at_the_clock(state: State) -> None:
    if state.deadline is not None and time.monotonic() > state.deadline:
        raise OutOfTime


def _bodies(indices: Sequence[int]) -> str:
    """Bodies by number, the first few named."""
    named = ", ".join(str(index + 1) for index in indices[:_NAMED])
    more = f" and {len(indices) - _NAMED} more" if len(indices) > _NAMED else ""
    return f"{'body' if len(indices) == 1 else 'bodies'} {named}{more}"
