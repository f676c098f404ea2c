"""Layout of one group in relative coordinates: which numbers it has, and where they lie in four flat arrays.

``ints`` and ``floats`` are the group's constants, ``memory`` is what it keeps from one time step to the next,
``work`` is room for one call. ``ints`` begins with a head: counts, then the place at which each part begins.
:func:`places` fills the head; :func:`group_of`, :func:`rows_of`, :func:`meeting_of` and :func:`legs_of` give
the parts as named arrays, views that cost nothing to keep. Nothing else knows an offset.

Bodies stand on a *stage*: first the K known bodies, which other groups have solved, then the L bodies of the
group itself, its *links*, M = K + L. Sizes: n unknowns, S steps, B balls, P pins, Q rods, J pairs of frames,
T terms, E equations (rows), D inputs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from groups.kernels.jets import SIZE as JET
from groups.kernels.jets import WORK as JETS
from groups.kernels.strut import FLOATS as STRUT_FLOATS
from groups.kernels.strut import INTS as STRUT_INTS
from groups.kernels.strut import SIGNS as STRUT_SIGNS
from groups.kernels.vectors import STATE

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Methods for the unknowns: iteration, one rod and one unknown, three joints that meet in a point.
NEWTON, REACH, MEET = range(3)

#: Kinds of step: a constant transform, a turn, a slide, and the three turns of a ball.
STILL, TURN, SLIDE, BALL_X, BALL_Y, BALL_Z = range(6)

#: Places in :attr:`Memory.head`: sign of the Jacobian's determinant in the mode that is held; time steps
#: solved in a row; the time step that led to the last; points at which three joints met at the last, fewest
#: since, and the condition there.
SIGN, RUN, PACE, POINTS, FEWEST, LAST_MEASURE, HEAD_OF_MEMORY = range(7)

#: Places in :attr:`Equations.flags`: whether the jets are those of the present pose; whether the Jacobian has
#: been factorised; whether at the present pose; its condition.
LOOKED, FACTORS, FRESH, MEASURE, FLAGS = range(5)


class Tree(NamedTuple):
    """The group's bodies on a tree of joints that hangs from known bodies.

    Each joint of the tree is a sequence of steps from the parent's frame to the body's: a constant transform,
    a turn or slide along an axis of the moving frame, or one of the three turns of a ball. The amount of a
    step is a factor times an unknown or an input.
    """

    #: (K,) and (L,): indices of the bodies in the mechanism.
    known: Ints
    own: Ints
    #: (L,) place on the stage of each link's parent, and (L + 1,) its first step.
    parent: Ints
    first_step: Ints
    #: (S,) kind of step, axis 0 … 2, unknown or -1, input or -1, row of ``transform`` or -1, factor.
    kind: Ints
    axis: Ints
    unknown: Ints
    drive: Ints
    constant: Ints
    factor: Floats
    #: (C, 12) translation (m), then rotation row by row.
    transform: Floats
    #: (M, n) 1 where an unknown moves a body.
    influence: Ints
    #: (n,) 1 for an angle, the mechanism's size (m) for a slide.
    scale: Floats
    #: (L,) in the plane: angle of a link less its parent's and what its steps turn, rad.
    turn_zero: Floats
    #: (3,) a point of the world near the group, at which twists are taken, m.
    centre: Floats
    #: 1 in the plane, 0 in space.
    planar: int


class Cuts(NamedTuple):
    """Closures other than joint equations: pins (points coincide) and rods (points at a distance)."""

    #: (P, 2) places of the two bodies on the stage, (P, 6) the points in their frames, m.
    pin: Ints
    pin_point: Floats
    #: (Q, 3) places of the two bodies and an input or -1; (Q, 9) points, then the squared length as a
    #: polynomial of the input: constant, linear, quadratic.
    rod: Ints
    rod_point: Floats
    #: (3,) size of the mechanism, largest residual of what is solved and of what is only checked, m.
    limit: Floats
    #: Equations of pins, rods and joints together.
    number: int


class Pose(NamedTuple):
    """The stage at one time step."""

    #: (M, 24) states of the bodies, see :mod:`groups.kernels`.
    stage: Floats
    #: (n,) unknowns, m and rad; those of a ball sum its small turns; (B, 9) rotations of the balls.
    x: Floats
    ball: Floats
    #: (S, 3) axis of each step times its factor, and a point of it, world, m.
    along: Floats
    point: Floats
    #: (D,) inputs, m and rad; (M,) angles in the plane, which count turns.
    u: Floats
    turned: Floats


class Equations(NamedTuple):
    """The closure equations at one pose, linearised."""

    #: (n,) residuals over their scales, or a right side; (n, n) Jacobian or its factors; (n,) pivots' rows.
    right: Floats
    matrix: Floats
    order: Floats
    #: (n, 6) twist of a unit rate of each unknown: angular velocity, then velocity of the centre.
    unit: Floats
    #: (4,) see :data:`LOOKED`.
    flags: Floats
    #: For damped least squares: (n, n) normal matrix, (n,) pivots' rows, right side, slope.
    normal: Floats
    normal_order: Floats
    by: Floats
    slope: Floats


class Rates(NamedTuple):
    """Velocities and accelerations on the stage."""

    #: (M, 6) twists and their rates at the centre; (n,) rates and accelerations of the unknowns.
    twist: Floats
    rise: Floats
    first: Floats
    second: Floats


class Path(NamedTuple):
    """The way from the last time step to this one."""

    #: (K, 12) poses, (K, 3) rotation vectors, (K,) angles and (D,) inputs to which known bodies are led.
    goal: Floats
    goal_turn: Floats
    goal_turned: Floats
    goal_u: Floats
    #: (n,) and (B, 9) unknowns and balls found by another way; (n,) predicted unknowns, and their change.
    other: Floats
    other_ball: Floats
    guess: Floats
    change: Floats


class Memory(NamedTuple):
    """State of a group at the last time step that was solved."""

    #: (6,) see :data:`SIGN`.
    head: Floats
    #: (n,) unknowns and their last three changes; (B, 9) balls.
    x: Floats
    change: Floats
    change_before: Floats
    change_third: Floats
    ball: Floats
    #: (K, 12) poses, (D,) inputs, (K,) angles in the plane of known bodies.
    known: Floats
    u: Floats
    turned: Floats
    #: (T,) angle of each term, and its rate if that is known; (T, 8) where each contact was found last and
    #: at the last three time steps, on both curves; (E,) 1 for a row that is solved, 0 for one that is only
    #: checked.
    held: Floats
    held_rate: Floats
    place: Floats
    solved: Floats


class Rows(NamedTuple):
    """Joint equations of the group: constraints and drives that are neither pins nor rods.

    An equation is a sum of terms, each a jet of :mod:`groups.kernels.jets` between the two frames of a pair.
    """

    #: (J, 2) places on the stage; (J, 2, 3) origins and (J, 2, 3, 3) axes of the frames on their bodies.
    pair: Ints
    origin: Floats
    axes: Floats
    #: (T,) code, pair, (T, 4) numbers, sign, parameter and factor of each term.
    code: Ints
    joint: Ints
    number: Ints
    sign: Floats
    parameter: Floats
    weight: Floats
    #: (T,) unknown k that counts the turns of a term, input r as -2 - r, or -1; its factor, and an offset.
    near_from: Ints
    near_factor: Floats
    near_zero: Floats
    #: (E + 1,) first term of each equation; (E,) its input or -1; 1 where it is the gap of a contact.
    first_term: Ints
    drive: Ints
    contact: Ints
    #: (E,) 1 for an angle, 1 / size for a length; what its terms come to where it holds.
    scale: Floats
    zero: Floats
    #: Data of the curves of cams; room for calls of users' functions.
    curves: Floats
    foreign: Floats
    #: (M, 3), (M, 3, 3), (M, 6) the stage as jets read it; their room; (T, 15) jets; (T,) angles of terms.
    position: Floats
    rotation: Floats
    velocity: Floats
    room: Floats
    table: Floats
    near: Floats
    #: (Q + E, n) Jacobian of all rods and equations; (Q + E,) 1 for those that are chosen.
    every: Floats
    chosen: Floats


class Group(NamedTuple):
    """A group without its joint equations."""

    tree: Tree
    cuts: Cuts
    pose: Pose
    equations: Equations
    rates: Rates
    path: Path
    memory: Memory


class Meeting(NamedTuple):
    """Three joints, each one step, that bring two points together."""

    #: (3,) steps of the joints; which end of the pin the second and third carry; (3,) 1 for a slide.
    step: Ints
    far: int
    slides: Ints
    #: (9, 3) joints, axes, points, and where the unknowns were; (4, 3) solutions; (4,) 1 for one looked at.
    lines: Floats
    found: Floats
    done: Floats


class Legs(NamedTuple):
    """Struts between bodies that stand: where their data begin, for :mod:`groups.kernels.strut`."""

    number: int
    ints: Ints
    floats: Floats
    signs: Floats


#: Counts, at the head of ``ints``.
(
    N_KNOWN, N_LINKS, N_STEPS, N_UNKNOWNS, N_BALLS, N_PINS, N_RODS, N_PAIRS, N_ROWS, N_TERMS, N_CURVES,
    N_FOREIGN, N_STRUTS, N_CONSTANTS, N_INPUTS, METHOD, PLANAR, N_WORK,
) = range(18)  # fmt: skip
#: Places of the parts of ``ints``.
(
    _KNOWN, _OWN, _PARENT, _START, _KIND, _AXIS, _UNKNOWN, _DRIVE, _CONSTANT, _INFLUENCE, _PIN, _ROD, _PAIR,
    _CODE, _JOINT, _NUMBER, _NEAR_FROM, _FIRST_TERM, _ROW_DRIVE, _ROW_CONTACT, _MEETING, _STRUT,
) = range(18, 40)  # fmt: skip
#: Places of the parts of ``floats``.
(
    _FACTOR, _TRANSFORM, _CENTRE, _LIMIT, _SCALE, _PIN_POINT, _ROD_POINT, _ORIGIN, _AXES, _ROW_SIGN, _VALUE,
    _WEIGHT, _NEAR_FACTOR, _NEAR_ZERO, _CURVES, _ROW_SCALE, _ROW_ZERO, _TURN_ZERO, _STRUT_NUMBER,
) = range(40, 59)  # fmt: skip
#: Places of the parts of ``work``.
(
    _STAGE, _X, _BALL, _ALONG, _POINT, _U, _TURNED, _RIGHT, _MATRIX, _ORDER, _UNIT, _TWIST, _RISE, _FIRST,
    _SECOND, _GOAL, _GOAL_TURN, _GOAL_U, _GOAL_TURNED, _OTHER, _OTHER_BALL, _GUESS, _CHANGE, _LINES, _FOUND,
    _POSITION, _ROTATION, _VELOCITY, _ROOM, _TABLE, _NEAR, _FOREIGN, _FLAGS, _NORMAL, _NORMAL_ORDER, _BY,
    _SLOPE, _EVERY, _CHOSEN,
) = range(59, 98)  # fmt: skip
#: Places of the parts of ``memory``, after its head.
(
    _LAST_X, _LAST_CHANGE, _CHANGE_BEFORE, _CHANGE_THIRD, _LAST_BALL, _LAST_KNOWN, _LAST_U, _LAST_TURNED,
    _HELD, _HELD_RATE, _PLACE, _SOLVED, _STRUT_SIGN,
) = range(98, 111)  # fmt: skip
_HEAD = 111


def places(counts: dict[int, int]) -> tuple[list[int], int]:
    """The head of ``ints`` for these counts (without N_WORK), and the length of ``memory``."""
    head = [0] * _HEAD
    for key, count in counts.items():
        head[key] = count
    known, links, steps, n = (counts[k] for k in (N_KNOWN, N_LINKS, N_STEPS, N_UNKNOWNS))
    balls, pins, rods, pairs, rows = (counts[k] for k in (N_BALLS, N_PINS, N_RODS, N_PAIRS, N_ROWS))
    struts, constants, inputs, terms = (counts[k] for k in (N_STRUTS, N_CONSTANTS, N_INPUTS, N_TERMS))
    stage, planar = known + links, counts[PLANAR]
    staged, every = (stage, rods + rows) if rows else (0, 0)
    parts = [
        (_HEAD, {
            _KNOWN: known, _OWN: links, _PARENT: links, _START: links + 1, _KIND: steps, _AXIS: steps,
            _UNKNOWN: steps, _DRIVE: steps, _CONSTANT: steps, _INFLUENCE: stage * n, _PIN: 2 * pins,
            _ROD: 3 * rods, _PAIR: 2 * pairs, _CODE: terms, _JOINT: terms, _NUMBER: 4 * terms,
            _NEAR_FROM: terms, _FIRST_TERM: rows + 1, _ROW_DRIVE: rows, _ROW_CONTACT: rows, _MEETING: 7,
            _STRUT: STRUT_INTS * struts,
        }),
        (0, {
            _FACTOR: steps, _TRANSFORM: 12 * constants, _CENTRE: 3, _LIMIT: 3, _SCALE: n,
            _PIN_POINT: 6 * pins, _ROD_POINT: 9 * rods, _ORIGIN: 6 * pairs, _AXES: 18 * pairs,
            _ROW_SIGN: terms, _VALUE: terms, _WEIGHT: terms, _NEAR_FACTOR: terms, _NEAR_ZERO: terms,
            _CURVES: counts[N_CURVES], _ROW_SCALE: rows, _ROW_ZERO: rows, _TURN_ZERO: planar * links,
            _STRUT_NUMBER: STRUT_FLOATS * struts,
        }),
        (0, {
            _STAGE: STATE * stage, _X: n, _BALL: 9 * balls, _ALONG: 3 * steps, _POINT: 3 * steps, _U: inputs,
            _TURNED: stage, _RIGHT: n, _MATRIX: n * n, _ORDER: n, _UNIT: 6 * n, _TWIST: 6 * stage,
            _RISE: 6 * stage, _FIRST: n, _SECOND: n, _GOAL: 12 * known, _GOAL_TURN: 3 * known,
            _GOAL_U: inputs, _GOAL_TURNED: known, _OTHER: n, _OTHER_BALL: 9 * balls, _GUESS: n, _CHANGE: n,
            _LINES: 27, _FOUND: 16, _POSITION: 3 * staged, _ROTATION: 9 * staged, _VELOCITY: 6 * staged,
            _ROOM: JETS * JET, _TABLE: JET * terms, _NEAR: terms, _FOREIGN: counts[N_FOREIGN], _FLAGS: FLAGS,
            _NORMAL: n * n, _NORMAL_ORDER: n, _BY: n, _SLOPE: n, _EVERY: every * n, _CHOSEN: every,
        }),
        (HEAD_OF_MEMORY, {
            _LAST_X: n, _LAST_CHANGE: n, _CHANGE_BEFORE: n, _CHANGE_THIRD: n, _LAST_BALL: 9 * balls,
            _LAST_KNOWN: 12 * known, _LAST_U: inputs, _LAST_TURNED: planar * known, _HELD: terms,
            _HELD_RATE: terms, _PLACE: 8 * terms, _SOLVED: rows, _STRUT_SIGN: STRUT_SIGNS * struts,
        }),
    ]  # fmt: skip
    ends = []
    for at, lengths in parts:
        for key, length in lengths.items():
            head[key] = at
            at += length
        ends.append(at)
    head[N_WORK] = ends[2]
    return head, ends[3]


def is_redundant(ints: Ints) -> bool:
    """Whether a group has more equations than unknowns."""
    return bool((3 - ints[PLANAR]) * ints[N_PINS] + ints[N_RODS] + ints[N_ROWS] > ints[N_UNKNOWNS])


def place_of_users(ints: Ints) -> int:
    """Place in ``floats`` of the terms' parameters, which hold the addresses of users' functions."""
    return int(ints[_VALUE])


def group_of(ints: Ints, floats: Floats, memory: Floats, work: Floats) -> Group:
    """The parts of a group."""
    return Group(
        tree_of(ints, floats), cuts_of(ints, floats), pose_of(ints, work), equations_of(ints, work),
        rates_of(ints, work), path_of(ints, work), memory_of(ints, memory),
    )  # fmt: skip


def tree_of(ints: Ints, floats: Floats) -> Tree:
    """The tree of a group."""
    links, steps, n = ints[N_LINKS], ints[N_STEPS], ints[N_UNKNOWNS]
    stage, constants = ints[N_KNOWN] + links, ints[N_CONSTANTS]
    return Tree(
        ints[ints[_KNOWN] : ints[_KNOWN] + ints[N_KNOWN]],
        ints[ints[_OWN] : ints[_OWN] + links],
        ints[ints[_PARENT] : ints[_PARENT] + links],
        ints[ints[_START] : ints[_START] + links + 1],
        ints[ints[_KIND] : ints[_KIND] + steps],
        ints[ints[_AXIS] : ints[_AXIS] + steps],
        ints[ints[_UNKNOWN] : ints[_UNKNOWN] + steps],
        ints[ints[_DRIVE] : ints[_DRIVE] + steps],
        ints[ints[_CONSTANT] : ints[_CONSTANT] + steps],
        floats[ints[_FACTOR] : ints[_FACTOR] + steps],
        floats[ints[_TRANSFORM] : ints[_TRANSFORM] + 12 * constants].reshape(constants, 12),
        ints[ints[_INFLUENCE] : ints[_INFLUENCE] + stage * n].reshape(stage, n),
        floats[ints[_SCALE] : ints[_SCALE] + n],
        floats[ints[_TURN_ZERO] : ints[_TURN_ZERO] + ints[PLANAR] * links],
        floats[ints[_CENTRE] : ints[_CENTRE] + 3],
        ints[PLANAR],
    )


def cuts_of(ints: Ints, floats: Floats) -> Cuts:
    """The pins and rods of a group."""
    pins, rods = ints[N_PINS], ints[N_RODS]
    return Cuts(
        ints[ints[_PIN] : ints[_PIN] + 2 * pins].reshape(pins, 2),
        floats[ints[_PIN_POINT] : ints[_PIN_POINT] + 6 * pins].reshape(pins, 6),
        ints[ints[_ROD] : ints[_ROD] + 3 * rods].reshape(rods, 3),
        floats[ints[_ROD_POINT] : ints[_ROD_POINT] + 9 * rods].reshape(rods, 9),
        floats[ints[_LIMIT] : ints[_LIMIT] + 3],
        (3 - ints[PLANAR]) * pins + rods + ints[N_ROWS],
    )


def pose_of(ints: Ints, work: Floats) -> Pose:
    """The stage."""
    stage, steps, balls = ints[N_KNOWN] + ints[N_LINKS], ints[N_STEPS], ints[N_BALLS]
    return Pose(
        work[ints[_STAGE] : ints[_STAGE] + STATE * stage].reshape(stage, STATE),
        work[ints[_X] : ints[_X] + ints[N_UNKNOWNS]],
        work[ints[_BALL] : ints[_BALL] + 9 * balls].reshape(balls, 9),
        work[ints[_ALONG] : ints[_ALONG] + 3 * steps].reshape(steps, 3),
        work[ints[_POINT] : ints[_POINT] + 3 * steps].reshape(steps, 3),
        work[ints[_U] : ints[_U] + ints[N_INPUTS]],
        work[ints[_TURNED] : ints[_TURNED] + stage],
    )


def equations_of(ints: Ints, work: Floats) -> Equations:
    """Room for the closure equations."""
    n = ints[N_UNKNOWNS]
    return Equations(
        work[ints[_RIGHT] : ints[_RIGHT] + n],
        work[ints[_MATRIX] : ints[_MATRIX] + n * n].reshape(n, n),
        work[ints[_ORDER] : ints[_ORDER] + n],
        work[ints[_UNIT] : ints[_UNIT] + 6 * n].reshape(n, 6),
        work[ints[_FLAGS] : ints[_FLAGS] + FLAGS],
        work[ints[_NORMAL] : ints[_NORMAL] + n * n].reshape(n, n),
        work[ints[_NORMAL_ORDER] : ints[_NORMAL_ORDER] + n],
        work[ints[_BY] : ints[_BY] + n],
        work[ints[_SLOPE] : ints[_SLOPE] + n],
    )


def rates_of(ints: Ints, work: Floats) -> Rates:
    """Room for velocities and accelerations."""
    stage, n = ints[N_KNOWN] + ints[N_LINKS], ints[N_UNKNOWNS]
    return Rates(
        work[ints[_TWIST] : ints[_TWIST] + 6 * stage].reshape(stage, 6),
        work[ints[_RISE] : ints[_RISE] + 6 * stage].reshape(stage, 6),
        work[ints[_FIRST] : ints[_FIRST] + n],
        work[ints[_SECOND] : ints[_SECOND] + n],
    )


def path_of(ints: Ints, work: Floats) -> Path:
    """Room for the way between two time steps."""
    known, n, balls = ints[N_KNOWN], ints[N_UNKNOWNS], ints[N_BALLS]
    return Path(
        work[ints[_GOAL] : ints[_GOAL] + 12 * known].reshape(known, 12),
        work[ints[_GOAL_TURN] : ints[_GOAL_TURN] + 3 * known].reshape(known, 3),
        work[ints[_GOAL_TURNED] : ints[_GOAL_TURNED] + known],
        work[ints[_GOAL_U] : ints[_GOAL_U] + ints[N_INPUTS]],
        work[ints[_OTHER] : ints[_OTHER] + n],
        work[ints[_OTHER_BALL] : ints[_OTHER_BALL] + 9 * balls].reshape(balls, 9),
        work[ints[_GUESS] : ints[_GUESS] + n],
        work[ints[_CHANGE] : ints[_CHANGE] + n],
    )


def memory_of(ints: Ints, memory: Floats) -> Memory:
    """State that a group keeps between time steps."""
    known, n, balls, terms = ints[N_KNOWN], ints[N_UNKNOWNS], ints[N_BALLS], ints[N_TERMS]
    return Memory(
        memory[0:HEAD_OF_MEMORY],
        memory[ints[_LAST_X] : ints[_LAST_X] + n],
        memory[ints[_LAST_CHANGE] : ints[_LAST_CHANGE] + n],
        memory[ints[_CHANGE_BEFORE] : ints[_CHANGE_BEFORE] + n],
        memory[ints[_CHANGE_THIRD] : ints[_CHANGE_THIRD] + n],
        memory[ints[_LAST_BALL] : ints[_LAST_BALL] + 9 * balls].reshape(balls, 9),
        memory[ints[_LAST_KNOWN] : ints[_LAST_KNOWN] + 12 * known].reshape(known, 12),
        memory[ints[_LAST_U] : ints[_LAST_U] + ints[N_INPUTS]],
        memory[ints[_LAST_TURNED] : ints[_LAST_TURNED] + ints[PLANAR] * known],
        memory[ints[_HELD] : ints[_HELD] + terms],
        memory[ints[_HELD_RATE] : ints[_HELD_RATE] + terms],
        memory[ints[_PLACE] : ints[_PLACE] + 8 * terms].reshape(terms, 8),
        memory[ints[_SOLVED] : ints[_SOLVED] + ints[N_ROWS]],
    )


def rows_of(ints: Ints, floats: Floats, work: Floats) -> Rows:
    """The joint equations of a group."""
    pairs, terms, rows = ints[N_PAIRS], ints[N_TERMS], ints[N_ROWS]
    stage = ints[N_KNOWN] + ints[N_LINKS] if rows > 0 else 0
    every, n = ints[N_RODS] + rows if rows > 0 else 0, ints[N_UNKNOWNS]
    return Rows(
        ints[ints[_PAIR] : ints[_PAIR] + 2 * pairs].reshape(pairs, 2),
        floats[ints[_ORIGIN] : ints[_ORIGIN] + 6 * pairs].reshape(pairs, 2, 3),
        floats[ints[_AXES] : ints[_AXES] + 18 * pairs].reshape(pairs, 2, 3, 3),
        ints[ints[_CODE] : ints[_CODE] + terms],
        ints[ints[_JOINT] : ints[_JOINT] + terms],
        ints[ints[_NUMBER] : ints[_NUMBER] + 4 * terms].reshape(terms, 4),
        floats[ints[_ROW_SIGN] : ints[_ROW_SIGN] + terms],
        floats[ints[_VALUE] : ints[_VALUE] + terms],
        floats[ints[_WEIGHT] : ints[_WEIGHT] + terms],
        ints[ints[_NEAR_FROM] : ints[_NEAR_FROM] + terms],
        floats[ints[_NEAR_FACTOR] : ints[_NEAR_FACTOR] + terms],
        floats[ints[_NEAR_ZERO] : ints[_NEAR_ZERO] + terms],
        ints[ints[_FIRST_TERM] : ints[_FIRST_TERM] + rows + 1],
        ints[ints[_ROW_DRIVE] : ints[_ROW_DRIVE] + rows],
        ints[ints[_ROW_CONTACT] : ints[_ROW_CONTACT] + rows],
        floats[ints[_ROW_SCALE] : ints[_ROW_SCALE] + rows],
        floats[ints[_ROW_ZERO] : ints[_ROW_ZERO] + rows],
        floats[ints[_CURVES] : ints[_CURVES] + ints[N_CURVES]],
        work[ints[_FOREIGN] : ints[_FOREIGN] + ints[N_FOREIGN]],
        work[ints[_POSITION] : ints[_POSITION] + 3 * stage].reshape(stage, 3),
        work[ints[_ROTATION] : ints[_ROTATION] + 9 * stage].reshape(stage, 3, 3),
        work[ints[_VELOCITY] : ints[_VELOCITY] + 6 * stage].reshape(stage, 6),
        work[ints[_ROOM] : ints[_ROOM] + JETS * JET].reshape(JETS, JET),
        work[ints[_TABLE] : ints[_TABLE] + JET * terms].reshape(terms, JET),
        work[ints[_NEAR] : ints[_NEAR] + terms],
        work[ints[_EVERY] : ints[_EVERY] + every * n].reshape(every, n),
        work[ints[_CHOSEN] : ints[_CHOSEN] + every],
    )


def meeting_of(ints: Ints, work: Floats) -> Meeting:
    """The three joints of a group that meet in a point."""
    m = ints[_MEETING]
    return Meeting(
        ints[m : m + 3],
        ints[m + 3],
        ints[m + 4 : m + 7],
        work[ints[_LINES] : ints[_LINES] + 27].reshape(9, 3),
        work[ints[_FOUND] : ints[_FOUND] + 12].reshape(4, 3),
        work[ints[_FOUND] + 12 : ints[_FOUND] + 16],
    )


def legs_of(ints: Ints, floats: Floats, memory: Floats) -> Legs:
    """The struts of a group that stand between bodies that are solved before them."""
    number = ints[N_STRUTS]
    return Legs(
        number,
        ints[ints[_STRUT] : ints[_STRUT] + STRUT_INTS * number],
        floats[ints[_STRUT_NUMBER] : ints[_STRUT_NUMBER] + STRUT_FLOATS * number],
        memory[ints[_STRUT_SIGN] : ints[_STRUT_SIGN] + STRUT_SIGNS * number],
    )
