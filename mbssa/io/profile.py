"""Shape of ``profile`` of an L joint in a model file, and its conversion to SI units."""

# mbssa.joints.cams.profiles checks whether the numbers make a cam; it sees tables of the right shape only.

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Discriminator, Field, FiniteFloat, Tag, ValidationError

from mbssa.faults import Fault, Faults
from mbssa.io.table import Table, by_places, keys_of, place_text, shape_fault, table_at
from mbssa.joints.cams.follower_laws import Kind
from mbssa.joints.cams.profiles import Profile, ProfileError, profile_from
from mbssa.units import unscaled

Point = Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)]


class FormulaEntry(Table):
    """A curve by formula: r of the angle s from x (rad), or x and y of a parameter s.

    Formulas know + - * / **, brackets, pi, e, and sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh,
    exp, log, sqrt, abs; angles in rad whatever the units of the file. Lengths may have a unit behind them.
    """

    r: str | None = Field(None, description='distance from the origin: "0.05 + 0.01*cos(3*s)"')
    x: str | None = Field(None, description='"0.03*cos(s)"')
    y: str | None = Field(None, description='"0.02*sin(s)"')
    range: (
        Annotated[
            list[Annotated[FiniteFloat, Tag("number")] | Annotated[str, Tag("text")]],
            Field(min_length=2, max_length=2),
        ]
        | None
    ) = Field(None, description='of s, numbers or formulas; [0, "2*pi"] if not given')
    unit: Annotated[FiniteFloat, Field(gt=0)] | None = Field(
        None, description="length units that the number 1 of a formula stands for; 1 if not given"
    )


class CircleEntry(Table):
    """A circle; beside the origin it is an eccentric cam."""

    radius: FiniteFloat = Field(description="length units")
    centre: Point | None = Field(None, description="[0, 0] if not given")


class EllipseEntry(Table):
    """An ellipse."""

    semi_axes: Point = Field(description="both half axes, length units")
    centre: Point | None = Field(None, description="[0, 0] if not given")
    angle: FiniteFloat | None = Field(None, description="of the first half axis from x, angle units")


class SegmentEntry(Table):
    """A stretch of a law: a rise or return over an angle of the cam, or a dwell."""

    rise: FiniteFloat | None = Field(None, description="length units; angle units with a swing")
    dwell: FiniteFloat | None = Field(None, description="angle of the cam, angle units")
    back: FiniteFloat | None = Field(
        None, alias="return", description="length units; angle units with a swing"
    )
    over: FiniteFloat | None = Field(None, description="angle of the cam, angle units")
    kind: Kind | None = Field(None, description="law of a rise or return")


class SwingEntry(Table):
    """A swinging follower; at the law's angle 0 its pivot lies on x of the cam's frame."""

    pivot: FiniteFloat = Field(description="distance of the pivot from the cam's axis, length units")
    arm: FiniteFloat = Field(
        description="length units, from the pivot to the roller's centre or the knife's tip; "
        "flat: how far the face lies beyond the pivot"
    )
    side: Literal["left", "right"] | None = Field(
        None, description="on which the arm is, seen from the cam's axis to the pivot; left if not given"
    )


class CurveEntry(Table):
    """A curve, by one of these; the material is on the left of its direction, inside of a closed one."""

    formula: FormulaEntry | None = None
    points: list[Point] | None = Field(
        None, description="[[x1, y1], [x2, y2], …], a cubic spline runs through them"
    )
    circle: CircleEntry | None = None
    ellipse: EllipseEntry | None = None
    line: Annotated[list[Point], Field(min_length=2, max_length=2)] | None = Field(
        None, description="[[x1, y1], [x2, y2]], from one point to another"
    )
    closed: bool | None = Field(
        None, description="of points: true if not given; of a formula: found out if not given"
    )


class FollowerEntry(Table):
    """A follower with a profile of its own."""

    curve: CurveEntry = Field(description="in the frame of the second body")


def _which(value: Any) -> str:
    return "table" if isinstance(value, Mapping | BaseModel) else "name"


class ProfileEntry(CurveEntry):
    """The cam of an L joint, in the frame of its first body, and what follows it."""

    law: list[SegmentEntry] | None = Field(
        None, description="the cam that moves its follower so; from the angle 0, over the whole turn"
    )
    base: FiniteFloat | None = Field(None, description="law: radius of the base circle")
    offset: FiniteFloat | None = Field(
        None, description="law: of a roller's or knife's line, to the left of its rise; 0 if not given"
    )
    swing: SwingEntry | None = Field(
        None, description="law: the follower swings about a pivot; { pivot = …, arm = …, side = … }"
    )
    turns: Literal["counter-clockwise", "clockwise"] | None = Field(
        None, description="law: how the cam turns; counter-clockwise if not given"
    )
    follower: (
        Annotated[
            Annotated[Literal["roller", "knife", "flat"], Tag("name")]
            | Annotated[FollowerEntry, Tag("table")],
            Discriminator(_which),
        ]
        | None
    ) = Field(None, description='"roller", "knife", "flat", or { curve = { … } }')
    radius: FiniteFloat | None = Field(None, description="of the roller, length units")
    title: str | None = None


#: Keys in length units and in angle units, wherever they stand in the table; ``rise`` and ``return`` are
#: lengths, or angles with a swing.
_LENGTHS = ("points", "radius", "centre", "semi_axes", "line", "base", "offset", "pivot", "arm", "unit")
_ANGLES = ("angle", "dwell", "over")
_HEIGHTS = ("rise", "return")


def profile_of(
    table: Mapping[str, Any], length: float, angle: float, where: str, faults: Faults
) -> Profile | None:
    """Profile of a model file's table, whose ``table`` is the same in SI; None after a fault."""
    # ``length`` and ``angle`` are m and rad in a unit of the file; ``where`` stands before the places of
    # faults.
    if not isinstance(table, Mapping):
        faults.add(where, f"is {table!r}; write a table: profile = {{ circle = {{ radius = … }}, … }}")
        return None
    given = _copied(table)
    try:
        ProfileEntry.model_validate(given)
    except ValidationError as error:
        faults += _faults_of_shape(error, given, where)
        return None
    try:
        return profile_from(profile_in(given, length, angle, lambda value, scale: value * scale))
    except ProfileError as error:
        faults += [Fault(f"{where}.{place}" if place else where, what) for place, what in error.faults]
        return None


def _copied(value: Any) -> Any:
    """Plain dicts and lists, without keys of None: what a document or an archive gives may be neither."""
    if isinstance(value, Mapping):
        return {str(key): _copied(entry) for key, entry in value.items() if entry is not None}
    return [_copied(entry) for entry in value] if isinstance(value, list | tuple) else value


def profile_in(
    table: Mapping[str, Any], length: float, angle: float, by: Callable[[Any, float], Any] = unscaled
) -> dict[str, Any]:
    """A table in SI in units of so many m and rad, in which a file has it; ``by``: number and scale."""
    table = _copied(table)
    for curves in (table, table.get("follower")):
        curve = curves.get("curve", curves) if isinstance(curves, dict) else {}
        if length != 1.0 and "formula" in curve:
            curve["formula"].setdefault("unit", 1.0)  # 1 of a formula is one unit of the file
    height = angle if "swing" in table else length
    scale = dict.fromkeys(_LENGTHS, length) | dict.fromkeys(_ANGLES, angle) | dict.fromkeys(_HEIGHTS, height)

    def convert(value: Any, factor: float | None) -> Any:
        if isinstance(value, dict):
            return {key: convert(entry, scale.get(key)) for key, entry in value.items()}
        if isinstance(value, list):
            return [convert(entry, factor) for entry in value]
        return value if factor is None else by(value, factor)

    converted: dict[str, Any] = convert(table, None)
    return converted


# --- faults of shape -------------------------------------------------------------------------------


def _faults_of_shape(error: ValidationError, table: dict[str, Any], where: str) -> Iterator[Fault]:
    for place, several in by_places(error, table).items():
        at, loc = ".".join(filter(None, (where, place_text(place)))), several[0]["loc"]
        yield shape_fault(at, several, table_at(ProfileEntry, loc), _about(loc))


def _about(loc: tuple[int | str, ...]) -> str:
    """Meaning of the last key of a location, in brackets; numbers and alternatives behind it are no keys."""
    if loc[-1:] == ("name",):  # the alternative of a follower that is a text
        return ", or { curve = { … } }"
    for end in range(len(loc), 0, -1):
        field = keys_of(table_at(ProfileEntry, loc[:end])).get(str(loc[end - 1]))
        if field is not None:
            return f" ({field.description})" if field.description else ""
    return ""
