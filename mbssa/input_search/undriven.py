"""Undriven mechanism: null space of its constraint Jacobian, projected on the joint coordinates."""

# With an orthonormal basis N of the free motions, coordinates are valid exactly if their rows times N are
# regular: of 78 equations only those of the inputs are new. Redundant equations stay so, as independent
# inputs change no dependence among constraints; a passive rotation stays so if no input moves with it.

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Literal

import numpy as np

from mbssa.analysis.decompose import decompose, worth_treating
from mbssa.arrays import Bools, Floats, Ints
from mbssa.decomposition.flow import assigned
from mbssa.decomposition.incidence import Incidence, initialise
from mbssa.decomposition.treatment import DENSE, Treatment
from mbssa.disjoint_set import DisjointSet
from mbssa.faults import Fault, ModelError
from mbssa.input_search.query import Query, coordinates_of, with_inputs, with_terminals
from mbssa.input_search.validity import Coordinates, SplitSystem, full_rank, regular_volume, split_system
from mbssa.io.multiple import spanning_choices
from mbssa.joints.catalogue import CATALOGUE
from mbssa.mechanism import Mechanism
from mbssa.singularities.passive_rotations import is_rotation
from mbssa.singularities.proposals import coordinate_rows
from mbssa.singularities.ranks import generic_rows
from mbssa.singularities.redundancy import Examined, examine_known, independent_rows

#: Choices of pairs for multiple joints that are evaluated.
MOST_VARIANTS = 1_000

#: Largest share of a unit motion of a coordinate in a passive rotation that it does not constrain.
_STILL = 1e-7


@dataclass(frozen=True, eq=False)
class Undriven:
    """Mechanism without inputs, prepared for the evaluation of any."""

    mechanism: Mechanism  # undriven, with the F pairs of its terminals
    bare: Mechanism  # the same without them
    query: Query
    variant: int  # number of its choice of pairs for the multiple joints
    n_inputs: int  # coordinates that a set of inputs has
    n_passive: int  # passive rotations that no input drives
    # basis: "numeric" (the given geometry) or "generic" (random geometry of the joint types)
    basis: Literal["numeric", "generic"]
    fault: str  # reason why no set of inputs can be valid; empty where some may
    incidence: Incidence  # of ``mechanism``, with the units and freedoms that the treatment leaves
    treatment: Treatment | None  # None where the count needs none
    # moves: (C, F) coordinates along the non-passive free motions; 0 where one would stop a passive one
    moves: Floats
    allowed: Bools  # (C,) coordinates that the query allows
    required: Bools  # (C,) those in every set
    least: Ints  # (J,) fewest inputs of a joint by the query
    most: Ints  # (J,) most, likewise
    locked: Ints  # (J,) inputs that a joint must have so that no passive rotation is driven, 0 for most
    systems: tuple[SplitSystem, ...]  # for each geometry that may decide: (E, B (N - 1)) and (C, B (N - 1))
    low: float  # length of a coordinate's row beyond the others up to which it counts as dependent

    @cached_property
    def start(self) -> Ints:
        """First coordinate of each joint (J + 1,), and the number of all."""
        return np.append(0, np.cumsum(self.mechanism.grade))

    @cached_property
    def joint(self) -> Ints:
        """Joint of each coordinate (C,)."""
        return np.repeat(np.arange(self.mechanism.n_joints), self.mechanism.grade)

    def by_joint(self, coordinates: Bools) -> Ints:
        """Numbers (J,) of the coordinates of each joint among these (C,)."""
        return np.bincount(self.joint, coordinates, self.mechanism.n_joints).astype(np.int64)

    @cached_property
    def _names(self) -> list[str]:
        return [f"{one.text}.{name}" for one in self.mechanism.joints for name in one.type.coordinates]

    def names(self, places: Sequence[int] | Ints, bits: Sequence[int] | Ints) -> tuple[str, ...]:
        """Coordinates by joint index and number, as ``1-2.slide``."""
        return tuple(self._names[self.start[j] + b] for j, b in zip(places, bits, strict=True))

    def driven_by(self, names: Sequence[str]) -> Mechanism:
        """The mechanism with these inputs; a terminal without an input gets no F pair."""
        names = list(names)
        joints = {name.rpartition(".")[0] for name in names}
        places = [j for j in self.fictitious if self.mechanism.joints[j].text in joints]
        return with_inputs(self.bare, names, self.driven_terminals(places))

    def driven_terminals(self, places: Iterable[int]) -> list[int]:
        """Numbers of the bodies whose fictitious F pairs are among these joints."""
        return [self.mechanism.joint_bodies(j)[1] + 1 for j in dict.fromkeys(places) if j in self.fictitious]

    @property
    def fictitious(self) -> range:
        """Joints that are there only while they are driven."""
        return range(self.bare.n_joints, self.mechanism.n_joints)

    @cached_property
    def given(self) -> Ints:
        """Units (S,) of each slot in an assignment without inputs."""
        return assigned(replace(self.incidence, units=np.maximum(self.incidence.units, 0)))

    @cached_property
    def coordinates(self) -> Coordinates:
        """The coordinates that the query allows."""
        row = np.flatnonzero(self.allowed)
        start = np.append(0, np.cumsum(self.by_joint(self.allowed)))
        return Coordinates(start, row, self.required[row], self.moves[row])

    @cached_property
    def usable(self) -> Ints:
        """Coordinates (J,) of each joint that stop no passive rotation."""
        return self.by_joint(np.any(self.moves, axis=1)) if self.n_passive else self.mechanism.grade

    @cached_property
    def volume(self) -> float:
        """Volume of rows of ``moves`` beyond which their coordinates have full rank."""
        return regular_volume(self.systems[0], self.moves)

    @property
    def pairs(self) -> str:
        """Pairs chosen for the multiple joints, as ``4-5 5-6``, a semicolon between joints."""
        trees = (map(self.bare.joint_bodies, several.joints) for several in self.bare.multiple_joints)
        return "; ".join(
            " ".join("-".join(str(b + 1) for b in sorted(pair)) for pair in tree) for tree in trees
        )

    def full_rank(self, sets: Ints) -> Bools:
        """Return whether coordinates (K, n) and all equations have full rank, passive rotations aside."""
        # The singular values of the whole matrix decide, as they do in :func:`mbssa.check`.
        valid = np.zeros(len(sets), dtype=bool)
        for system in self.systems:
            valid[~valid] = full_rank(system, sets[~valid], self.n_passive)
        return valid

    def reason(self, mechanism: Mechanism) -> str:
        """Reason for which inputs are not valid, from :func:`mbssa.check`; "valid" where there is none."""
        from mbssa.analysis.check import check

        fatal = [finding for finding in check(mechanism, self.query.precision).findings if finding.fatal]
        sharp = [finding.text for finding in fatal if finding.kind == "rank"]
        texts = sharp or [finding.text for finding in fatal]
        return "; ".join(texts) or self.fault or "valid"


def undriven_mechanisms(mechanism: Mechanism, query: Query) -> tuple[list[Undriven], bool]:
    """Undriven mechanisms of each choice of pairs for the multiple joints; and whether these are all."""
    bare = replace(mechanism, driven=np.zeros_like(mechanism.driven), motion=None)
    several = bare.multiple_joints and query.spanning
    every = list(islice(spanning_choices(bare), MOST_VARIANTS + 1)) if several else [bare]
    some = enumerate(every[:MOST_VARIANTS])
    made = [undriven_mechanism(one, query, k, mechanism.n_driven) for k, one in some]
    return made, len(every) <= MOST_VARIANTS


def undriven_mechanism(bare: Mechanism, query: Query, variant: int = 0, own: int = 0) -> Undriven:
    """Free motions of a mechanism without inputs, and the coordinates along them."""
    # ``own`` is the number of inputs that the mechanism has now. Where the query names no number there are as
    # many, if so many can do; else one for each free motion that is no passive rotation.
    whole = with_terminals(bare, query.terminals)
    if not worth_treating(whole):
        size = whole.freedom * (whole.n_bodies - 1)
        hint = "mbssa decompose MODEL --inputs … evaluates one set of inputs by count"
        raise _refused(whole, f"has {size:,} units of freedom, and ranks are taken up to {DENSE:,}; {hint}")
    found = examine_known(whole, query.precision)
    if found.fault:
        raise _refused(whole, f"cannot be assembled: {found.fault}")
    if found.mobility == 0:
        raise _refused(whole, "has no free motion, so nothing can be driven; mbssa check says what holds it")
    start, joint = np.append(0, np.cumsum(whole.grade)), np.repeat(np.arange(whole.n_joints), whole.grade)
    systems = tuple(_systems(found, start))
    free, sees = systems[0].motions, systems[0].free.copy()
    low = found.tolerance * float(systems[0].values.max(initial=0.0))
    # Rows of coordinates at rest are rounding errors, and must not be normalised.
    sees[np.linalg.norm(sees, axis=1) <= low] = 0.0
    idle, locks, turning = _passive_rotations(whole, sees, free, start, bare.n_joints, found.tolerance)
    n_passive = _undriven_rotations(query.inputs, own, found.mobility, len(idle), whole)
    if not n_passive:
        idle, locks, turning = idle[:0], [], []
    stops: Bools = np.asarray((np.abs(sees @ idle.T) > _STILL).any(axis=1))
    moves = sees @ np.linalg.svd(idle)[2][n_passive:].T
    for j in range(bare.n_joints, whole.n_joints):
        # A body with other joints than spherical ones has no passive rotation.
        stops[start[j] : start[j + 1]] |= whole.joint_bodies(j)[1] in turning
    moves[stops] = 0.0
    locked = np.zeros(whole.n_joints, dtype=np.int64)
    locked[locks] = whole.grade[locks]
    allowed, required, least, most = _by_joint(whole, query, start, joint)
    incidence = initialise(whole)
    # Treatment of the mechanism with some independent inputs, less the units of these.
    treatment, real = None, np.flatnonzero(joint < bare.n_joints)
    order = real[np.argsort(~np.isin(joint[real], locks), kind="stable")]
    chosen = order[independent_rows(moves[order], 1e-7)]
    if len(chosen) == moves.shape[1]:
        bits = 1 << chosen - start[joint[chosen]]
        driven = np.bincount(joint[chosen], bits, bare.n_joints).astype(np.uint8)
        treatment = decompose(replace(bare, driven=driven), precision=query.precision).treatment
    fault = ""
    if found.singular_pose or found.stuck:
        fault = "the reference is a singular pose: what holds there says nothing of the mechanism"
    elif n_passive and treatment is None:
        fault = "the count does not show the passive rotations, so none can be locked"
    if treatment is not None:
        kept = treatment.units - np.bitwise_count(driven)
        units = np.append(kept, np.zeros(whole.n_joints - bare.n_joints, dtype=np.int64))
        incidence = replace(incidence, units=units, freedom_of_body=treatment.freedom_of_body)
    return Undriven(
        mechanism=whole,
        bare=bare,
        query=query,
        variant=variant,
        n_inputs=found.mobility - n_passive,
        n_passive=n_passive,
        basis=found.basis,
        fault=fault,
        incidence=incidence,
        treatment=treatment,
        moves=moves,
        allowed=allowed,
        required=required,
        least=least,
        most=most,
        locked=locked,
        systems=systems,
        low=low,
    )


def _refused(mechanism: Mechanism, what: str) -> ModelError:
    return ModelError(mechanism.name or "mechanism", [Fault("", what)])


def _systems(found: Examined, start: Ints) -> Iterator[SplitSystem]:
    """Equations and coordinates, at the given geometry or at both random ones that decide."""
    # Rows of a coordinate without an equation, such as most of a bevel gear's, are zero: it cannot be driven.
    mechanism = found.mechanism
    for seed in (found.seed,) if found.basis == "numeric" else (found.seed, 3 - found.seed):
        if seed != found.seed:
            other = Examined(mechanism, generic_rows(mechanism, seed), seed=seed)
            if other.constraints.rank != found.constraints.rank:
                return
            found = other
        rows = coordinate_rows(found)
        coordinates = np.zeros((int(start[-1]), found.matrix.shape[1]))
        names = [CATALOGUE[mechanism.joint_type[j]].coordinates for j in rows.joint.tolist()]
        bit = [each.index(name) for each, name in zip(names, rows.name, strict=True)]
        coordinates[start[rows.joint] + np.array(bit, dtype=np.int64)] = rows.matrix(
            np.arange(1, mechanism.n_bodies)
        )
        yield split_system(found.matrix, coordinates, found.constraints.rank, found.tolerance)


def _passive_rotations(
    mechanism: Mechanism, sees: Floats, free: Floats, start: Ints, n_real: int, tolerance: float
) -> tuple[Floats, list[int], list[int]]:
    """Passive rotations (S, F) as unit mixes of free motions, joints to drive for them, and their bodies."""
    # Bodies between spherical joints, connected by driven revolute and prismatic joints, rotate as one.
    if mechanism.space == "planar":
        return np.zeros((0, free.shape[1])), [], []
    types = [CATALOGUE[row] for row in mechanism.joint_type.tolist()]
    ends = [mechanism.joint_bodies(j) for j in range(n_real)]
    spins: list[Floats] = []
    locks: list[int] = []
    turning: list[int] = []
    clusters = DisjointSet(mechanism.n_bodies)
    for j, (first, *others) in enumerate(ends):
        for body in others if not types[j].spin else ():
            clusters.merge(first, body)
    for bodies in map(tuple, clusters.subsets()[1:]):
        inner = [j for j in range(n_real) if set(ends[j]) <= set(bodies)]
        outer = [j for j in range(n_real) if set(ends[j]) & set(bodies) and j not in inner]
        if len(outer) < 2 or len(inner) != len(bodies) - 1 or all(types[j].spin == "axis" for j in outer):
            continue
        # A slide leaves a leg one body as far as turning goes; other joints must be driven for that.
        hinges = [j for j in inner if not types[j].is_slider]
        for held in dict.fromkeys((tuple(hinges), tuple(inner))):
            rows = [row for j in held for row in range(start[j], start[j + 1])]
            spin = _spin(bodies, free, sees[rows], tolerance)
            if spin is not None:
                spins.append(spin)
                locks += held
                turning += bodies
                break
    return np.array(spins).reshape(-1, free.shape[1]), locks, turning


def _spin(bodies: tuple[int, ...], free: Floats, held: Floats, tolerance: float) -> Floats | None:
    """Motion (F,) that these bodies alone have, if it is a rotation of all of them about one line."""
    others = np.delete(free.reshape(-1, 6, free.shape[1]), np.array(bodies) - 1, axis=0)
    _, values, right = np.linalg.svd(np.vstack([others.reshape(-1, free.shape[1]), held]))
    if free.shape[1] - int((values > tolerance).sum()) != 1:
        return None
    motion = (free @ right[-1]).reshape(-1, 6)[np.array(bodies) - 1]
    return np.asarray(right[-1]) if is_rotation(motion) else None


def _undriven_rotations(wanted: int | None, own: int, mobility: int, idle: int, mechanism: Mechanism) -> int:
    """Number of passive rotations that the inputs leave: all, or none where so many inputs are wanted."""
    if wanted is None:
        return 0 if own == mobility or mobility == idle else idle
    if wanted == mobility:
        return 0
    if wanted == mobility - idle:
        return idle
    motions = "1 free motion" if mobility == 1 else f"{mobility} free motions"
    right = f"; write {mobility}"
    if 0 < idle < mobility:
        spins = "a passive rotation" if idle == 1 else "passive rotations"
        right = f", {idle} of them {spins}; write {mobility - idle}, or {mobility} to drive "
        right += "the passive rotation too" if idle == 1 else "all passive rotations too"
        if mobility - idle < wanted < mobility:
            right += "; inputs for some of the passive rotations are not searched for"
    raise _refused(mechanism, f"{wanted} inputs for {motions}{right}")


def _by_joint(
    mechanism: Mechanism, query: Query, start: Ints, joint: Ints
) -> tuple[Bools, Bools, Ints, Ints]:
    """Allowed and required coordinates (C,), fewest and most inputs (J,) of each joint."""

    def rows(name: str) -> list[int]:
        return [start[j] + bit for j, bit in coordinates_of(mechanism, name)]

    allowed, required = np.full(len(joint), not query.allow), np.zeros(len(joint), dtype=bool)
    n_joints, least = mechanism.n_joints, np.zeros(mechanism.n_joints, dtype=np.int64)
    for names, may in ((query.allow, True), (query.forbid, False)):
        for name in names:
            allowed[rows(name)] = may
    for name in query.require:
        if len(meant := rows(name)) == 1:
            required[meant] = True
        elif meant:
            least[joint[meant[0]]] = 1
        else:
            # With other pairs for a multiple joint, a required coordinate does not exist.
            allowed[:] = False
    allowed[np.isin(joint, joint[required & ~allowed])] = False
    least = np.maximum(least, np.bincount(joint, required, n_joints).astype(np.int64))
    most = np.bincount(joint, allowed, n_joints).astype(np.int64)
    most = most if query.per_joint is None else most.clip(max=min(query.per_joint, most.max(initial=0)))
    return allowed, required, least, most
