"""Search of the paper, function by function: chains of 1, 2, 3 … bodies until Eq. (5) holds."""

# Celdran, Saura and Dopico, Mechanism and Machine Theory 176 (2022) 104985, section 3.4. S_c - n_c = B (P -
# N_m) says that the units B - k + w of the active pairs of a chain are B for each of its bodies. Joints and
# bodies are bits here instead of N x N matrices, so joints may be of several bodies; a joint without units
# changes nothing. Eq. (5) is necessary, not sufficient; the time is exponential.

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

import numpy as np

from mbssa.decomposition.incidence import Incidence
from mbssa.decomposition.matching import match
from mbssa.decomposition.partition import Part, Partition
from mbssa.texts import listed

#: Bodies that a chain's bits can name within reasonable memory; the search would never end anyway.
MOST_BODIES = 10_000

#: Chains between two checks of the time.
_CHAINS_PER_LOOK = 1_024

#: Body numbers that a note names before it only counts the rest.
_NAMED = 12


@dataclass(slots=True, eq=False)
class State:
    """State of the search; the paper's name of each matrix in brackets."""

    freedom: int  # B [ProblemType]
    label: list[int]  # group of each body as found, -1: none [vector_SG, first row of Results_SA]
    left: list[int]  # bodies in no group, ascending [vector_NSG]
    # joints_of: by body, bodies as bits, units and number of its joints [matrix_GDL, KnownInputs]
    joints_of: list[list[tuple[int, int, int]]]
    # active: by their lowest body, what active joints have in no group [vector_PAIR, vector_GDL, vector_BL]
    active: list[list[tuple[int, int]]]
    near: dict[int, int]  # by bit of a movable body, the bits of its neighbours [matrix_GDL ~= 0]
    deadline: float | None = None  # on the clock of time.monotonic
    known: int = 1  # bits of the frame and of the bodies of groups
    reached: int = 0  # bits of bodies to which a known body gave a pair [rows of Results_SA]
    n_groups: int = 0
    length: int = 1  # bodies of the chains being tried [BodiesNumber]


def search(incidence: Incidence, time_limit: float | None = None) -> Partition:
    """Partition of a mechanism by the paper's search; ``time_limit`` in s."""
    # Bodies that the time limit left undecided are ``unresolved``. Where Eq. (5) holds for no further chain,
    # the parts are those of the matching for what is left, with every group found as known.
    if incidence.n_bodies > MOST_BODIES:
        raise ValueError(
            f"{incidence.n_bodies} bodies; the exhaustive search takes at most {MOST_BODIES}, "
            "use method='matching'"
        )
    deadline = None if time_limit is None else time.monotonic() + time_limit
    state = isolate_frame(incidence, deadline)
    parts: tuple[Part, ...] = ()
    note = "Eq. (5) holds for no further chain, left over"
    try:
        decompose_groups(state)
        if state.left:
            parts = _parts_of_rest(incidence, state.left)
    except TimeoutError:
        note = f"the exhaustive search stopped after {time_limit:g} s at chains of length {state.length}"
        note += ", undecided"
    bodies = "body" if len(state.left) == 1 else "bodies"
    left = listed([str(body + 1) for body in state.left], _NAMED)
    named = {body for part in parts for body in part.bodies}
    return Partition(
        np.array(state.label, dtype=np.int64),
        state.n_groups,
        parts,
        f"{note}: {bodies} {left}" if state.left else "",
        tuple(body for body in state.left if body not in named),
    )


def isolate_frame(incidence: Incidence, deadline: float | None = None) -> State:
    """Give the frame's pairs to the bodies next to it: the paper's Algorithms 1 and 2."""
    n = incidence.n_bodies
    near = {1 << body: 0 for body in range(1, n)}
    joints_of: list[list[tuple[int, int, int]]] = [[] for _ in range(n)]
    active: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    state = State(incidence.freedom, [-1] * n, list(range(1, n)), joints_of, active, near, deadline)
    start, slot_body = incidence.joint_start.tolist(), incidence.slot_body.tolist()
    for j, units in enumerate(incidence.units.tolist()):
        bodies = slot_body[start[j] : start[j + 1]] if units else []
        mask = sum(1 << body for body in bodies)
        for body in bodies:
            joints_of[body].append((mask, units, j))
            if body:
                near[1 << body] |= mask & ~(1 << body) & ~1
        _activate(state, mask, units)
    return state


def decompose_groups(state: State) -> None:
    """Decompose into structural groups (Algorithm 3)."""
    # After every find the search starts again at chains of one body, else the chains grow by one: the paper's
    # flag1 and flag2 compare the bodies left before and after.
    state.length = 1
    while state.length <= len(state.left) and (found := candidates(state)):
        before = len(state.left)
        for chain in seeker(state, found, state.length):
            # Of single bodies all are tried (INDIVIDUALS_SG_3D); later ones see the pairs given by earlier.
            if groups(state, chain) and state.length > 1:
                break
        state.length = 1 if len(state.left) < before else state.length + 1


def candidates(state: State) -> tuple[int, ...]:
    """CANDIDATES_3D: the bodies in no group that have an active external pair, ascending."""
    waiting = state.reached & ~state.known
    return tuple(body for body in state.left if waiting >> body & 1)


def seeker(state: State, found: Sequence[int], length: int) -> Iterator[tuple[int, ...]]:
    """Connected chains of ``length`` bodies in no group with a candidate among them (SEEKER_3D)."""
    # Lexicographic, the paper's order. The paper combines all movable bodies and then drops chains with a
    # body of a group; here those are not combined in the first place. Both give the same chains in the same
    # order.
    near = state.near
    has_candidate = sum(1 << body for body in found)
    chains = combinations([1 << body for body in state.left], length)
    while block := tuple(islice(chains, _CHAINS_PER_LOOK)):
        if state.deadline is not None and time.monotonic() > state.deadline:
            raise TimeoutError
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


def groups(state: State, chain: Sequence[int]) -> bool:
    """GROUPS_SG_3D: whether Eq. (5) holds for a chain; if so it is a group from now on."""
    # (The paper gives each end one half of an internal pair and takes it back afterwards.)
    mask = sum(1 << body for body in chain)
    units = sum(w for body in chain for bodies, w in state.active[body] if bodies & mask == bodies)
    if units != state.freedom * len(chain):
        return False
    state.known |= mask
    for body in chain:
        state.label[body] = state.n_groups
    state.n_groups += 1
    state.left = [body for body in state.left if state.label[body] < 0]
    for bodies, w, _ in dict.fromkeys(joint for body in chain for joint in state.joints_of[body]):
        _activate(state, bodies, w)
    return True


def _activate(state: State, bodies: int, units: int) -> None:
    """Activate a joint for the chains that contain all of its bodies in no group."""
    # An earlier entry names a body that no chain can hold any more.
    if waiting := bodies & ~state.known:
        if waiting != bodies:
            state.reached |= waiting
        state.active[(waiting & -waiting).bit_length() - 1].append((waiting, units))


def _parts_of_rest(incidence: Incidence, left: list[int]) -> tuple[Part, ...]:
    """Parts that the matching finds among the bodies left, all others being known like the frame."""
    place = np.zeros(incidence.n_bodies, dtype=np.int64)
    place[left] = np.arange(1, len(left) + 1)
    freedom = incidence.freedom_of_body[[0, *left]]
    rest = replace(incidence, slot_body=place[incidence.slot_body], freedom_of_body=freedom)
    named = (0, *left)
    return tuple(
        replace(part, bodies=tuple(named[b] for b in part.bodies), rigid=tuple(named[b] for b in part.rigid))
        for part in match(rest).parts
    )
