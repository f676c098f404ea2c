"""Layout of one group in relative coordinates: its numbers, and their places in four flat arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np
import numpy.typing as npt

from groups.kernels import jets, strut, vectors
from mbssa.arrays import Floats, Ints

#: Methods for the unknowns: iteration, one rod and one unknown, three joints that meet in a point.
NEWTON, REACH, MEET = range(3)

#: Kinds of step: a constant transform, a turn, a slide, and the three turns of a ball.
STILL, TURN, SLIDE, BALL_X, BALL_Y, BALL_Z = range(6)

#: Places in :attr:`Memory.head`: sign of the Jacobian's determinant in the assembly mode; time steps solved
#: in a row; the time step that led to the last; points at which three joints met at the last, fewest since,
#: and the condition there.
SIGN, RUN, PACE, POINTS, FEWEST, LAST_MEASURE, HEAD_OF_MEMORY = range(7)

#: Places in :attr:`Equations.flags`: whether the jets are those of the present pose; whether the Jacobian has
#: been factorised; whether at the present pose; its condition.
LOOKED, FACTORS, FRESH, MEASURE, FLAGS = range(5)

STATE, JET, JETS = vectors.STATE, jets.SIZE, jets.WORK
STRUT_INTS, STRUT_FLOATS, STRUT_SIGNS = strut.INTS, strut.FLOATS, strut.SIGNS


class Tree(NamedTuple):
    """The group's bodies on a tree of joints that hangs from known bodies."""

    #: Indices of the bodies in the mechanism.
    known: Annotated[Ints, "ints", "K"]
    own: Annotated[Ints, "ints", "L"]
    #: Place on the stage of each link's parent, and its first step.
    parent: Annotated[Ints, "ints", "L"]
    first_step: Annotated[Ints, "ints", "L + 1"]
    #: Kind of step, axis 0 … 2, unknown or -1, input or -1, row of ``transform`` or -1, factor.
    kind: Annotated[Ints, "ints", "S"]
    axis: Annotated[Ints, "ints", "S"]
    unknown: Annotated[Ints, "ints", "S"]
    drive: Annotated[Ints, "ints", "S"]
    constant: Annotated[Ints, "ints", "S"]
    factor: Annotated[Floats, "floats", "S"]
    #: Translation (m), then rotation row by row.
    transform: Annotated[Floats, "floats", "C, 12"]
    #: 1 where an unknown moves a body.
    influence: Annotated[Ints, "ints", "M, n"]
    #: 1 for an angle, the mechanism's size (m) for a slide.
    scale: Annotated[Floats, "floats", "n"]
    #: In the plane: angle of a link less its parent's and that of its steps, rad.
    turn_zero: Annotated[Floats, "floats", "planar * L"]
    #: A point of the world near the group, at which twists are taken, m.
    centre: Annotated[Floats, "floats", "3"]
    #: 1 in the plane, 0 in space.
    planar: Annotated[int, "planar"]


class Cuts(NamedTuple):
    """Closures other than joint equations: pins (points coincide) and rods (points at a distance)."""

    #: Places of the two bodies on the stage, and the points in their frames, m.
    pin: Annotated[Ints, "ints", "P, 2"]
    pin_point: Annotated[Floats, "floats", "P, 6"]
    #: Places of the two bodies and an input or -1; points, then the squared length as a polynomial of the
    #: input: constant, linear, quadratic.
    rod: Annotated[Ints, "ints", "Q, 3"]
    rod_point: Annotated[Floats, "floats", "Q, 9"]
    #: Size of the mechanism, largest residual of solved equations and of those that are only checked, m.
    limit: Annotated[Floats, "floats", "3"]
    #: Equations of pins, rods and joints together.
    number: Annotated[int, "(3 - planar) * P + Q + E"]


class Pose(NamedTuple):
    """The stage at one time step."""

    #: States of the bodies, see :mod:`groups.kernels`.
    stage: Annotated[Floats, "work", "M, STATE"]
    #: Unknowns, m and rad; those of a ball sum its small turns; rotations of the balls.
    x: Annotated[Floats, "work", "n"]
    ball: Annotated[Floats, "work", "B, 9"]
    #: Axis of each step times its factor, and a point of it, world, m.
    along: Annotated[Floats, "work", "S, 3"]
    point: Annotated[Floats, "work", "S, 3"]
    #: Inputs, m and rad; angles in the plane, which count turns.
    u: Annotated[Floats, "work", "D"]
    turned: Annotated[Floats, "work", "M"]


class Equations(NamedTuple):
    """The closure equations at one pose, linearised."""

    #: Residuals over their scales, or a right side; Jacobian or its factors; the pivots' rows.
    right: Annotated[Floats, "work", "n"]
    matrix: Annotated[Floats, "work", "n, n"]
    order: Annotated[Floats, "work", "n"]
    #: Twist of a unit rate of each unknown: angular velocity, then velocity of the centre.
    unit: Annotated[Floats, "work", "n, 6"]
    #: See :data:`LOOKED`.
    flags: Annotated[Floats, "work", "FLAGS"]
    #: For damped least squares: normal matrix, the pivots' rows, right side, slope.
    normal: Annotated[Floats, "work", "n, n"]
    normal_order: Annotated[Floats, "work", "n"]
    by: Annotated[Floats, "work", "n"]
    slope: Annotated[Floats, "work", "n"]


class Rates(NamedTuple):
    """Velocities and accelerations on the stage."""

    #: Twists and their rates at the centre; rates and accelerations of the unknowns.
    twist: Annotated[Floats, "work", "M, 6"]
    rise: Annotated[Floats, "work", "M, 6"]
    first: Annotated[Floats, "work", "n"]
    second: Annotated[Floats, "work", "n"]


class Path(NamedTuple):
    """The way from the last time step to this one."""

    #: Poses, rotation vectors and angles of known bodies, and inputs, at this time step.
    goal: Annotated[Floats, "work", "K, 12"]
    goal_turn: Annotated[Floats, "work", "K, 3"]
    goal_turned: Annotated[Floats, "work", "K"]
    goal_u: Annotated[Floats, "work", "D"]
    #: Unknowns and balls found by another way; predicted unknowns, and their change.
    other: Annotated[Floats, "work", "n"]
    other_ball: Annotated[Floats, "work", "B, 9"]
    guess: Annotated[Floats, "work", "n"]
    change: Annotated[Floats, "work", "n"]


class Memory(NamedTuple):
    """State of a group at the last time step that was solved."""

    #: See :data:`SIGN`.
    head: Annotated[Floats, "memory", "HEAD_OF_MEMORY"]
    #: Unknowns and their last three changes; balls.
    x: Annotated[Floats, "memory", "n"]
    change: Annotated[Floats, "memory", "n"]
    change_before: Annotated[Floats, "memory", "n"]
    change_third: Annotated[Floats, "memory", "n"]
    ball: Annotated[Floats, "memory", "B, 9"]
    #: Poses of known bodies, inputs, angles of known bodies in the plane.
    known: Annotated[Floats, "memory", "K, 12"]
    u: Annotated[Floats, "memory", "D"]
    turned: Annotated[Floats, "memory", "planar * K"]
    #: Angle of each term, and its rate if that is known; places of each contact on both curves at the last
    #: and at three time steps before; 1 for an equation that is solved, 0 for one that is only checked.
    held: Annotated[Floats, "memory", "T"]
    held_rate: Annotated[Floats, "memory", "T"]
    place: Annotated[Floats, "memory", "T, 8"]
    solved: Annotated[Floats, "memory", "E"]


class Rows(NamedTuple):
    """Joint equations of the group: constraints and drives that are neither pins nor rods."""

    #: Places on the stage; origins and axes of the frames on their bodies.
    pair: Annotated[Ints, "ints", "J, 2"]
    origin: Annotated[Floats, "floats", "J, 2, 3"]
    axes: Annotated[Floats, "floats", "J, 2, 3, 3"]
    #: Code, pair, four numbers, sign, parameter (the address of a user's function) and factor of each term.
    code: Annotated[Ints, "ints", "T"]
    joint: Annotated[Ints, "ints", "T"]
    number: Annotated[Ints, "ints", "T, 4"]
    sign: Annotated[Floats, "floats", "T"]
    parameter: Annotated[Floats, "floats", "T"]
    weight: Annotated[Floats, "floats", "T"]
    #: Unknown k that counts the turns of a term, input r as -2 - r, or -1; its factor, and an offset.
    near_from: Annotated[Ints, "ints", "T"]
    near_factor: Annotated[Floats, "floats", "T"]
    near_zero: Annotated[Floats, "floats", "T"]
    #: First term of each equation; its input or -1; 1 where it is the gap of a contact.
    first_term: Annotated[Ints, "ints", "E + 1"]
    drive: Annotated[Ints, "ints", "E"]
    contact: Annotated[Ints, "ints", "E"]
    #: 1 for an angle, 1 / size for a length; sum of its terms where it holds.
    scale: Annotated[Floats, "floats", "E"]
    zero: Annotated[Floats, "floats", "E"]
    #: Data of the curves of cams; room for calls of users' functions.
    curves: Annotated[Floats, "floats", "curves"]
    foreign: Annotated[Floats, "work", "foreign"]
    #: The stage as jets read it; their room; jets and angles of the terms.
    position: Annotated[Floats, "work", "M, 3"]
    rotation: Annotated[Floats, "work", "M, 3, 3"]
    velocity: Annotated[Floats, "work", "M, 6"]
    room: Annotated[Floats, "work", "JETS, JET"]
    table: Annotated[Floats, "work", "T, JET"]
    near: Annotated[Floats, "work", "T"]
    #: Jacobian of all rods and equations; 1 for those that are chosen.
    every: Annotated[Floats, "work", "Q + E, n"]
    chosen: Annotated[Floats, "work", "Q + E"]


class Meeting(NamedTuple):
    """Three joints, each one step, that bring two points together."""

    #: Steps of the joints; the end of the pin that the second and third carry; 1 for a slide.
    step: Annotated[Ints, "ints", "3"]
    far: Annotated[Ints, "ints", "1"]
    slides: Annotated[Ints, "ints", "3"]
    #: Joints, axes, points, and the last unknowns; solutions; 1 for one that has been looked at.
    lines: Annotated[Floats, "work", "9, 3"]
    found: Annotated[Floats, "work", "4, 3"]
    done: Annotated[Floats, "work", "4"]


class Legs(NamedTuple):
    """Struts between bodies that stand: where their data begin, for :mod:`groups.kernels.strut`."""

    number: Annotated[int, "H"]
    ints: Annotated[Ints, "ints", "STRUT_INTS * H"]
    floats: Annotated[Floats, "floats", "STRUT_FLOATS * H"]
    signs: Annotated[Floats, "memory", "STRUT_SIGNS * H"]


class Group(NamedTuple):
    """A group without its joint equations."""

    tree: Tree
    cuts: Cuts
    pose: Pose
    equations: Equations
    rates: Rates
    path: Path
    memory: Memory


#: Counts, at the head of ``ints``, then the method, and the length of ``work``.
(
    N_KNOWN, N_LINKS, N_STEPS, N_UNKNOWNS, N_BALLS, N_PINS, N_RODS, N_PAIRS, N_ROWS, N_TERMS, N_CURVES,
    N_FOREIGN, N_STRUTS, N_CONSTANTS, N_INPUTS, PLANAR, METHOD, N_WORK, COUNTS,
) = range(19)  # fmt: skip
#: Names in shapes, by what they stand for.
_NAMES = ("K", "L", "S", "n", "B", "P", "Q", "J", "E", "T", "curves", "foreign", "H", "C", "D", "planar")
_SIZES = {name: f"ints[{place}]" for place, name in enumerate(_NAMES)}
_SIZES["M"] = f"{_SIZES['K']} + {_SIZES['L']}"

#: Arrays and shapes of all fields of the tuples, and the expressions of other numbers.
_HINTS: dict[type, dict[str, Any]] = {
    kind: {name: hint.__metadata__ for name, hint in get_type_hints(kind, include_extras=True).items()}
    for kind in (Tree, Cuts, Pose, Equations, Rates, Path, Memory, Rows, Meeting, Legs)
}
#: Class, name, array and shape of the fields in arrays: their places stand in this order after the counts.
_FIELDS = [
    (kind, name, *hint) for kind, hints in _HINTS.items() for name, hint in hints.items() if len(hint) == 2
]
_PLACES = {(kind, name): COUNTS + k for k, (kind, name, *_) in enumerate(_FIELDS)}
_HEAD = COUNTS + len(_FIELDS)


def _function(name: str, arguments: str, result: str) -> Any:
    """The function of ``ints`` and other arrays that returns the expression ``result``."""
    named = set(re.findall(r"\w+", result))
    sizes = "".join(f"    {size} = {value}\n" for size, value in _SIZES.items() if size in named)
    scope: dict[str, Any] = {}
    exec(f"def {name}({arguments}):\n{sizes}    return {result}\n", globals(), scope)
    return scope[name]


def _length(shape: str) -> str:
    return f"(({shape.replace(', ', ') * (')}))"


_lengths = _function("_lengths", "ints", f"[{', '.join(_length(shape) for *_, shape in _FIELDS)}]")


def places(counts: dict[int, int]) -> tuple[Ints, Floats, Floats]:
    """``ints`` with its head for these counts, ``floats`` and ``memory``, else zero."""
    ints = np.zeros(_HEAD, dtype=np.int64)
    ints[list(counts)] = list(counts.values())
    end = {"ints": _HEAD, "floats": 0, "memory": 0, "work": 0}
    for k, ((_, _, array, _), length) in enumerate(zip(_FIELDS, _lengths(ints), strict=True)):
        ints[COUNTS + k] = end[array]
        end[array] += length
    ints[N_WORK] = end["work"]
    ints = np.append(ints, np.zeros(end["ints"] - _HEAD, dtype=np.int64))
    return ints, np.zeros(end["floats"]), np.zeros(end["memory"])


def fill(part: NamedTuple, **values: npt.ArrayLike) -> None:
    """Write fields of a view, in their shapes or flat."""
    for name, value in values.items():
        field = getattr(part, name)
        field[...] = np.reshape(np.asarray(value, dtype=field.dtype), field.shape)


def place_of_users(ints: Ints) -> int:
    """Place in ``floats`` of the terms' parameters, which hold the addresses of users' functions."""
    return int(ints[_PLACES[Rows, "parameter"]])


def is_redundant(ints: Ints) -> bool:
    """Whether a group has more equations than unknowns."""
    return bool((3 - ints[PLANAR]) * ints[N_PINS] + ints[N_RODS] + ints[N_ROWS] > ints[N_UNKNOWNS])


def _reader(kind: type) -> Any:
    """The function of ``ints`` and of the other arrays of a tuple that gives it as views."""
    views, used = [], {"ints"}
    for name, (*array, shape) in _HINTS[kind].items():
        view = shape
        if array:
            used.update(array)
            place = f"ints[{_PLACES[kind, name]}]"
            view = f"{array[0]}[{place} : {place} + {_length(shape)}]"
            view += f".reshape({shape})" if "," in shape else ""
        views.append(view)
    arguments = [array for array in ("ints", "floats", "memory", "work") if array in used]
    return _function(
        f"{kind.__name__.lower()}_of", ", ".join(arguments), f"{kind.__name__}({', '.join(views)})"
    )


tree_of: Callable[[Ints, Floats], Tree] = _reader(Tree)
cuts_of: Callable[[Ints, Floats], Cuts] = _reader(Cuts)
pose_of: Callable[[Ints, Floats], Pose] = _reader(Pose)
equations_of: Callable[[Ints, Floats], Equations] = _reader(Equations)
rates_of: Callable[[Ints, Floats], Rates] = _reader(Rates)
path_of: Callable[[Ints, Floats], Path] = _reader(Path)
memory_of: Callable[[Ints, Floats], Memory] = _reader(Memory)
rows_of: Callable[[Ints, Floats, Floats], Rows] = _reader(Rows)
meeting_of: Callable[[Ints, Floats], Meeting] = _reader(Meeting)
legs_of: Callable[[Ints, Floats, Floats], Legs] = _reader(Legs)


def group_of(ints: Ints, floats: Floats, memory: Floats, work: Floats) -> Group:
    """The parts of a group."""
    return Group(
        tree_of(ints, floats), cuts_of(ints, floats), pose_of(ints, work), equations_of(ints, work),
        rates_of(ints, work), path_of(ints, work), memory_of(ints, memory),
    )  # fmt: skip
