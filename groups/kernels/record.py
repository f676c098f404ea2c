"""Layout of one group in relative coordinates: a record of numbers that says itself where its parts are.

``ints`` begins with a head: counts, then the place at which every part begins, in ``ints``, in ``floats``, in
``work`` (room of one kernel call) and in ``memory`` (what is kept between instants). So a kernel needs four
flat arrays and no more: ``ints[ints[PARENT] + link]`` is the parent of a link. :func:`places` fills the head.

========================  ======================================================================
in ``ints``
``KNOWN``, ``OWN``        bodies in the mechanism; on the *stage* the known come first, then the own
``PARENT``                of each link, on the stage
``START``                 of each link: its first step (links + 1)
``KIND`` … ``CONSTANT``   of each step: what it is, along which axis of the moving frame, the unknown or the
                          input that moves it or -1, its constant transform or -1
``INFLUENCE``             (stage, unknowns) 1 where an unknown moves a body
``PIN``                   two bodies on the stage each: their points coincide
``ROD``                   two bodies on the stage and an input or -1 each: points at a distance
``PAIR``                  two bodies on the stage of each pair of frames of the rows
``CODE`` … ``NUMBER``     terms of rows as :mod:`groups.kernels.jets` has them
``NEAR_FROM``             of each term: the unknown k that counts its turns, the input r as -2 - r, or -1
``FIRST_TERM``            of each row: its first term (rows + 1); ``ROW_DRIVE``: its input or -1
``ROW_CONTACT``           1 where a row is the gap of a contact, m, positive where the bodies are apart
``MEETING``               steps of three joints that meet, J1, J2, J3, the end of the pin that J3 carries, and
                          their kinds
``STRUT``                 data of struts, :mod:`groups.kernels.strut`
in ``floats``
``FACTOR``                of each step: what its unknown or input is multiplied by
``TRANSFORM``             12 each: translation, rotation
``CENTRE``                a point of the world near the group, at which twists are taken
``SIZE``                  size of the mechanism, residual that counts as closed, that of rows left out
``SCALE``                 of each unknown: 1 for a turn, the size for a slide
``PIN_POINT``             6 each, in the bodies' axes
``ROD_POINT``             9 each: points, and coefficients of the squared length by powers of the input
``ORIGIN`` … ``WEIGHT``   frames of pairs; signs, parameters and factors of terms
``NEAR_FACTOR``           of each term: factor of what counts its turns; ``NEAR_ZERO``: what that is less
``CURVES``                data of the curves of cams
``ROW_SCALE``             of each row: 1 for an angle, 1 / size for a length; ``ROW_ZERO``: what it is
``TURN_ZERO``             of each link in the plane: angle less the parent's and what its steps turn
``STRUT_NUMBER``          data of struts
in ``work``
``STAGE``                 24 each: states as in ``S``
``X``, ``BALL``           unknowns; a ball's x sums its small turns so far, its rotation (9) is in ``BALL``
``STEP_AXIS``             of each step: axis times factor, world; ``STEP_POINT``: a point of it
``U``                     inputs of the instant
``TURNED``                angles on the stage, which count turns, in the plane
``RIGHT``, ``MATRIX``     misses; Jacobian and its factors, both over the scales; ``ORDER`` of its rows
``UNIT``                  6 each: twist of a unit rate of each unknown: turning, then velocity of the centre
``TWIST``, ``RISE``       6 each on the stage: twists and their rates
``FIRST``, ``SECOND``     rates and accelerations of x
``GOAL`` … ``GOAL_U``     where known bodies (12) and inputs are led to, by what rotation vector (3)
``OTHER`` …               unknowns and balls found by another way
``GUESS``                 where the unknowns were led to; ``CHANGE``: their last change
``LINES``, ``FOUND``      joints and points that meet (9, 3), where they do (4, 3), which were looked at
``P`` … ``TABLE``         the stage as jets read it, their room, and those of all terms
``NEAR``, ``FOREIGN``     angles that say how many turns terms have; room for calls of users' functions
``GOAL_TURNED``           angles that known bodies are led to
``LOOKED``                whether TABLE has the jets of the present pose
``FACTORS``, ``FRESH``    whether MATRIX has factors; whether they are those of the present pose
``MEASURE``               its condition
in ``memory``
``SIGN``                  of the determinant in the mode that is held
``RUN``, ``PACE``         instants solved in a row, and the step of time that led to the last
``POINTS``                points at which three joints met at the last, fewest since, and its condition
``LAST_X`` …              unknowns at the last instant solved, and their last two changes
``LAST_BALL`` …           balls, poses of known bodies (12), inputs, angles of known bodies in the plane
``HELD``, ``HELD_RATE``   of each term: its angle at the last instant solved, and its rate if that is known
``SOLVED``                of each row: 1 solved, 0 only checked
``STRUT_SIGN``            two each
========================  ======================================================================
"""

from __future__ import annotations

from groups.kernels.jets import SIZE as JET
from groups.kernels.jets import WORK as JETS
from groups.kernels.strut import FLOATS as STRUT_FLOATS
from groups.kernels.strut import INTS as STRUT_INTS
from groups.kernels.strut import SIGNS as STRUT_SIGNS
from groups.kernels.vectors import STATE

#: Counts, at the head of ``ints``.
(
    N_KNOWN, N_LINKS, N_STEPS, N_UNKNOWNS, N_BALLS, N_PINS, N_RODS, N_PAIRS, N_ROWS, N_TERMS, N_CURVES,
    N_FOREIGN, N_STRUTS, N_CONSTANTS, N_INPUTS, METHOD, PLANAR, N_WORK,
) = range(18)  # fmt: skip
#: Places of the parts of ``ints``.
(
    KNOWN, OWN, PARENT, START, KIND, AXIS, UNKNOWN, DRIVE, CONSTANT, INFLUENCE, PIN, ROD, PAIR, CODE, JOINT,
    NUMBER, NEAR_FROM, FIRST_TERM, ROW_DRIVE, ROW_CONTACT, MEETING, STRUT,
) = range(18, 40)  # fmt: skip
#: Places of the parts of ``floats``.
(
    FACTOR, TRANSFORM, CENTRE, SIZE, SCALE, PIN_POINT, ROD_POINT, ORIGIN, AXES, ROW_SIGN, VALUE, WEIGHT,
    NEAR_FACTOR, NEAR_ZERO, CURVES, ROW_SCALE, ROW_ZERO, TURN_ZERO, STRUT_NUMBER,
) = range(40, 59)  # fmt: skip
#: Places of the parts of ``work``.
(
    STAGE, X, BALL, STEP_AXIS, STEP_POINT, U, TURNED, RIGHT, MATRIX, ORDER, UNIT, TWIST, RISE, FIRST,
    SECOND, GOAL, GOAL_TURN, GOAL_U, GOAL_TURNED, OTHER, OTHER_BALL, GUESS, CHANGE, LINES, FOUND, P, R, V,
    ROOM, TABLE, NEAR, FOREIGN, LOOKED, FACTORS, FRESH, MEASURE,
) = range(59, 95)  # fmt: skip
#: Places of the parts of ``memory``, after SIGN, RUN and PACE.
(
    LAST_X, LAST_CHANGE, CHANGE_BEFORE, LAST_BALL, LAST_KNOWN, LAST_U, LAST_TURNED, HELD, HELD_RATE, SOLVED,
    STRUT_SIGN,
) = range(95, 106)  # fmt: skip
HEAD = 106

#: The first places of ``memory``.
SIGN, RUN, PACE, POINTS, FEWEST, LAST_MEASURE, FREE = range(7)

#: Methods for the unknowns.
NEWTON, REACH, MEET = range(3)

#: Kinds of step: a constant transform, a turn, a slide, and the three turns of a ball.
STILL, TURN, SLIDE, BALL_X, BALL_Y, BALL_Z = range(6)


def places(counts: dict[int, int]) -> tuple[list[int], int]:
    """The head of ``ints`` for these counts (without N_WORK), and the length of ``memory``."""
    head = [0] * HEAD
    for key, count in counts.items():
        head[key] = count
    known, links, steps, n = (counts[k] for k in (N_KNOWN, N_LINKS, N_STEPS, N_UNKNOWNS))
    balls, pins, rods, pairs, rows = (counts[k] for k in (N_BALLS, N_PINS, N_RODS, N_PAIRS, N_ROWS))
    struts, constants, inputs, terms = (counts[k] for k in (N_STRUTS, N_CONSTANTS, N_INPUTS, N_TERMS))
    stage = known + links
    staged = stage if rows else 0
    planar = counts[PLANAR]
    parts = [
        (HEAD, {
            KNOWN: known, OWN: links, PARENT: links, START: links + 1, KIND: steps, AXIS: steps,
            UNKNOWN: steps, DRIVE: steps, CONSTANT: steps, INFLUENCE: stage * n, PIN: 2 * pins, ROD: 3 * rods,
            PAIR: 2 * pairs, CODE: terms, JOINT: terms, NUMBER: 4 * terms, NEAR_FROM: terms,
            FIRST_TERM: rows + 1, ROW_DRIVE: rows, ROW_CONTACT: rows, MEETING: 7, STRUT: STRUT_INTS * struts,
        }),
        (0, {
            FACTOR: steps, TRANSFORM: 12 * constants, CENTRE: 3, SIZE: 3, SCALE: n, PIN_POINT: 6 * pins,
            ROD_POINT: 9 * rods, ORIGIN: 6 * pairs, AXES: 18 * pairs, ROW_SIGN: terms, VALUE: terms,
            WEIGHT: terms, NEAR_FACTOR: terms, NEAR_ZERO: terms, CURVES: counts[N_CURVES], ROW_SCALE: rows,
            ROW_ZERO: rows, TURN_ZERO: planar * links, STRUT_NUMBER: STRUT_FLOATS * struts,
        }),
        (0, {
            STAGE: STATE * stage, X: n, BALL: 9 * balls, STEP_AXIS: 3 * steps, STEP_POINT: 3 * steps,
            U: inputs, TURNED: stage, RIGHT: n, MATRIX: n * n, ORDER: n, UNIT: 6 * n, TWIST: 6 * stage,
            RISE: 6 * stage, FIRST: n, SECOND: n, GOAL: 12 * known, GOAL_TURN: 3 * known, GOAL_U: inputs,
            GOAL_TURNED: known, OTHER: n, OTHER_BALL: 9 * balls, GUESS: n, CHANGE: n, LINES: 27, FOUND: 16,
            P: 3 * staged, R: 9 * staged, V: 6 * staged, ROOM: JETS * JET, TABLE: JET * terms, NEAR: terms,
            FOREIGN: counts[N_FOREIGN], LOOKED: 1, FACTORS: 1, FRESH: 1, MEASURE: 1,
        }),
        (FREE, {
            LAST_X: n, LAST_CHANGE: n, CHANGE_BEFORE: n, LAST_BALL: 9 * balls, LAST_KNOWN: 12 * known,
            LAST_U: inputs, LAST_TURNED: planar * known, HELD: terms,
            HELD_RATE: terms, SOLVED: rows,
            STRUT_SIGN: STRUT_SIGNS * struts,
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
