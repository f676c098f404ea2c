"""Shape of a model file, ``format = 1``: printed by :command:`mbssa schema`, checked by the reader."""

# Only shapes and types: the catalogue and mbssa.io.toml_file check the needs of a joint type, mbssa.io.motion
# those of a motion.

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    GetJsonSchemaHandler,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from mbssa.faults import meant
from mbssa.io.table import Table
from mbssa.motion import LONGEST, MOST_STEPS, SHORTEST

Positive = Annotated[FiniteFloat, Field(gt=0)]
NotNegative = Annotated[FiniteFloat, Field(ge=0)]
Tuple = AfterValidator(tuple)
Floats = list[FiniteFloat]
Numbers = Annotated[Floats, Tuple]
BodyReference = int | str


def _placed(value: Any, info: ValidationInfo) -> Any:
    """Coordinates of a body's point that is given by its name, by the points of the context."""
    points = (info.context or {}).get("points", {})
    if not isinstance(value, str) or value in points:
        return points[value] if isinstance(value, str) else value
    shown = f"the points are {', '.join(list(points)[:20])}"
    hint = meant(value, points, most=2) + (shown if points else "give a body points = { tip = […] }")
    raise PydanticCustomError("unknown", "{what}", {"what": f"{value!r} is no point of a body; {hint}"})


def _in_space(values: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
    space = str((info.context or {}).get("space"))
    size = {"planar": 2, "spatial": 3}.get(space, len(values))
    if len(values) != size:
        raise ValueError(f"{len(values)} numbers; a {space} mechanism has {size}")
    return values


def _directed(values: tuple[float, ...]) -> tuple[float, ...]:
    norm = math.hypot(*values)
    if 1e-9 <= norm <= 1e9:
        return values
    has = f"has the length {norm:.3g}; write a direction with numbers near 1"
    raise ValueError(has if norm else "is a zero vector; write a direction")


def _in_space_alone(values: Any, info: ValidationInfo) -> Any:
    if (info.context or {}).get("space") == "planar":
        what = "a planar joint's axis is the normal of the plane; leave z out"
        raise PydanticCustomError("unsupported", "{what}", {"what": what})
    return values


Vector = Annotated[Numbers, AfterValidator(_in_space)]
Direction = Annotated[Vector, AfterValidator(_directed)]

#: Coordinates, or the name of a body's point: ``crank.tip``.
Point = Annotated[
    Vector,
    BeforeValidator(_placed),
    WithJsonSchema({"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "string"}]}),
]


def _written(name: str) -> str:
    if not name.strip():
        raise ValueError("is empty; leave it out or write one")
    return name


def _rising(limits: tuple[float, ...]) -> tuple[float, ...]:
    if limits[0] > limits[1]:
        raise ValueError(f"{limits[0]} is above {limits[1]}; write [lowest, highest]")
    return limits


Name = Annotated[str, AfterValidator(_written)]
Two = Field(min_length=2, max_length=2)
Limits = Annotated[Floats, Two, Tuple, AfterValidator(_rising)]

#: Longest duration of a motion or a step.
Seconds = Annotated[FiniteFloat, Field(ge=SHORTEST, le=LONGEST)]


class Units(Table):
    """Units of every number in the file; stored in SI."""

    length: Literal["m", "mm", "cm", "in", "ft"] = "m"
    angle: Literal["rad", "deg"] = "rad"


class FrameEntry(Table):
    """A joint's frame on one body, in that body's own frame."""

    origin: Vector = Field(description="position, length units")
    z: Annotated[Direction, BeforeValidator(_in_space_alone)] | None = Field(
        None, description="the joint's axis; spatial only"
    )
    x: Direction | None = Field(
        None, description="direction from which coordinates are measured; planar: the sliding direction"
    )


class InertiaEntry(Table):
    """Mass properties of a body."""

    mass: Positive = Field(description="kg")
    centre: Point | None = Field(
        None,
        description="centre of mass, world coordinates at the reference, or a body's point; the body's "
        "origin if not given",
    )
    moment: NotNegative | None = Field(
        None, description="planar: about the centre of mass, kg times square of the length unit"
    )
    moments: Numbers | None = Field(
        None, description="spatial: Ixx, Iyy, Izz about the centre of mass, in the body's axes"
    )
    products: Numbers | None = Field(
        None, description="spatial: Ixy, Ixz, Iyz, entries of the inertia matrix (Ixy = -∫ x y dm)"
    )


class BodyEntry(Table):
    """A movable body; the first ``[[body]]`` has number 2, the frame is number 1."""

    name: Name | None = Field(None, description="unique; its number if not given")
    origin: Vector | None = Field(
        None, description="world position of the body's frame at the reference; 0 if not given"
    )
    orientation: FiniteFloat | Numbers | None = Field(
        None, description="of the body's frame at the reference: quaternion w, x, y, z; planar: an angle"
    )
    points: dict[str, Vector] = Field(
        default_factory=dict, description="named points, world coordinates at the reference"
    )
    inertia: InertiaEntry | None = Field(None, description="mass properties; massless if not given")
    visual: dict[str, Any] | None = Field(
        None,
        description="looks in pictures: outline, points of a polygon in world coordinates at the reference; "
        "mesh, an .stl or .obj file in the model's folder, in the body's frame, and scale, metres per unit "
        "of it (the file's unit of length if not given); other keys are kept, not interpreted",
    )


class _ProfileKeys:
    """The keys of a profile, for the schema alone: :mod:`mbssa.io.profile` checks the table itself."""

    @staticmethod
    def __get_pydantic_json_schema__(_: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        # Whoever has no cams does not wait for what makes them.
        from mbssa.io.profile import ProfileEntry

        return handler(ProfileEntry.__pydantic_core_schema__)


class JointEntry(Table):
    """A kinematic pair; positions and directions are in world axes at the reference."""

    bodies: list[BodyReference] = Field(
        min_length=2,
        description='numbers or names; 1, "frame" or "ground" is the fixed body; R, P, C, S, PL may join '
        "three or more",
    )
    type: str = Field(description="code of the catalogue: R, P, C, U, S, …")
    id: Name | None = Field(None, description="unique; 2-3 (2-3#2 for the second) if not given")
    driven: bool | int | list[str] = Field(
        0, description="driven coordinates: names, how many (in the catalogue's order), or true for all"
    )
    driven_pairs: list[Annotated[list[BodyReference], Two]] = Field(
        default_factory=list,
        description="R or P of three or more bodies: the pairs of bodies whose motion is driven",
    )
    point: Point | None = Field(
        None, description='a point on the joint\'s axis, or its centre; "crank.tip" is a point of a body'
    )
    points: Annotated[list[Point], Tuple] | None = Field(
        None, description="one point per body (gears: wheel centres), or per contact"
    )
    axis: Direction | None = Field(None, description="direction of the axis, guide or normal")
    axes: Annotated[list[Direction], Tuple] | None = Field(
        None,
        description="one direction per body (U: the two pins; where its rod gives them, the first or none), "
        "or one normal per contact",
    )
    frames: list[FrameEntry] | None = Field(
        None, description="one local frame per body, instead of point, points, axis and axes"
    )
    pitch: FiniteFloat | None = Field(None, description="H: advance per angle unit")
    ratio: FiniteFloat | None = Field(
        None, description="gears: radius of the second over the first; negative: internal"
    )
    radius: Positive | None = Field(None, description="of the sphere, cylinder or wheel")
    length: Positive | None = Field(None, description="of the rod; the points' distance if not given")
    offsets: Numbers | None = Field(None, description="U: distance between its two axes")
    profile: Annotated[Any, _ProfileKeys] | None = Field(
        None, description="L: the cam's curve and its follower"
    )
    function: Any = Field(
        None, description='USER: "module:name" or "file.py:name" of a Python function, zero where it holds'
    )
    derivative: Any = Field(None, description="USER: its derivatives; by complex step if not given")
    unit: Literal["m", "rad", "1"] | None = Field(None, description="USER: unit of the function's value")
    couples: Annotated[list[str], Two, Tuple] | None = Field(
        None, description='COUPLING: two coordinates, by joint and name: ["1-2.angle", "1-3.slide"]'
    )
    multiplier: FiniteFloat | None = Field(
        None, description="COUPLING: second coordinate per first, in the file's units"
    )
    offset: FiniteFloat | None = Field(
        None, description="COUPLING: second coordinate where the first is zero; 0 if not given"
    )
    limits: dict[str, Limits] = Field(default_factory=dict, description="coordinate = [lowest, highest]")
    at_reference: dict[str, FiniteFloat] = Field(
        default_factory=dict,
        description="coordinate = its value in the reference configuration; 0 if not given",
    )


class ConstantLaw(Table):
    """The coordinate stands still."""

    law: Literal["constant"] = Field(description="stands still")
    value: FiniteFloat | None = Field(None, description="the reference value if not given")


class SpeedLaw(Table):
    """start + rate t."""

    law: Literal["speed"] = Field(description="constant speed")
    rate: FiniteFloat = Field(description="length or angle units per second")
    start: FiniteFloat | None = Field(None, description="at t = 0; the reference value if not given")


class PolynomialLaw(Table):
    """start + c1 t + c2 t² + …"""

    law: Literal["polynomial"] = Field(description="a polynomial of t")
    coefficients: Annotated[Floats, Field(min_length=1), Tuple] = Field(
        description="of t, t², t³, …: length or angle units per s, s², s³, …"
    )
    start: FiniteFloat | None = Field(None, description="at t = 0; the reference value if not given")


class HarmonicLaw(Table):
    """mean + amplitude sin(2π frequency t + phase)."""

    law: Literal["harmonic"] = Field(description="swings")
    amplitude: FiniteFloat = Field(description="length or angle units")
    frequency: FiniteFloat = Field(description="Hz")
    phase: FiniteFloat = Field(0.0, description="at t = 0, angle units")
    mean: FiniteFloat | None = Field(
        None, description="if not given, such that the motion starts at the reference value"
    )


class RampLaw(Table):
    """A smooth step: the quintic without rate or acceleration at its two ends."""

    law: Literal["ramp"] = Field(description="a smooth step from start to end")
    end: FiniteFloat = Field(description="value after the step, length or angle units")
    start: FiniteFloat | None = Field(
        None, description="value before the step; the reference value if not given"
    )
    begin: FiniteFloat = Field(0.0, description="when the step begins, s")
    duration: Seconds | None = Field(
        None, description="of the step, s; to the end of the motion if not given"
    )


class SplineLaw(Table):
    """The natural cubic spline through points."""

    law: Literal["spline"] = Field(description="a natural cubic spline through points")
    times: Annotated[Floats, Field(min_length=2), Tuple] = Field(
        description="s, increasing, from 0 or before to the end of the motion or after"
    )
    values: Annotated[Floats, Field(min_length=2), Tuple] = Field(
        description="length or angle units, one for each time"
    )


class FormulaLaw(Table):
    """An expression of the time, with the rates of its derivatives."""

    law: Literal["formula"] = Field(description="an expression of the time")
    formula: str = Field(description='of t, s: "30 deg * sin(2*pi*t)"')
    unit: Positive | None = Field(
        None, description="length or angle units that the number 1 of the formula stands for; 1 if not given"
    )


AnyLaw = Annotated[
    ConstantLaw | SpeedLaw | PolynomialLaw | HarmonicLaw | RampLaw | SplineLaw | FormulaLaw,
    Field(discriminator="law"),
]

#: Tables of the laws by the name that ``law`` gives them.
LAWS: dict[str, type[Table]] = {
    get_args(law.model_fields["law"].annotation)[0]: law for law in get_args(get_args(AnyLaw)[0])
}


class ForceEntry(Table):
    """A force element; forces in N, moments in N times the length unit."""

    type: str = Field(
        description="spring, coordinate, stop, friction, point, terrain, contact or rotating_frame"
    )
    id: str | None = Field(None, description="unique; type and number if not given")
    bodies: list[BodyReference] | None = Field(
        None, description="spring, contact: the two bodies; point, terrain: the one body on which it acts"
    )
    points: Annotated[list[Point], Two, Tuple] | None = Field(
        None,
        description="spring: one point per body; contact: origins of both profiles' frames, whose axes are "
        "the world's at the reference; world coordinates at the reference",
    )
    point: Point | None = Field(
        None,
        description="point: where it acts; terrain: the wheel's centre; rotating_frame: on the axis, the "
        "world's origin if not given; world coordinates at the reference",
    )
    coordinate: str | None = Field(
        None, description='coordinate, stop, friction: the coordinate it acts on, "1-4.slide"'
    )
    stiffness: NotNegative | None = Field(
        None,
        description="force or torque per length or angle unit; terrain, contact: per length unit to the "
        "power 3/2",
    )
    damping: NotNegative | None = Field(
        None,
        description="force or torque per length or angle unit and s; stop, terrain, contact: c of "
        "1 + c d/dt penetration, s per length or angle unit",
    )
    rest: FiniteFloat | None = Field(
        None, description="length or coordinate without spring force; that of the reference if not given"
    )
    force: FiniteFloat | Numbers | None = Field(
        None, description="spring, pushing apart; coordinate, along it; point, a vector"
    )
    moment: FiniteFloat | Numbers | None = Field(None, description="point: a vector; planar: a number")
    axes: Literal["world", "body"] | None = Field(
        None, description="point: axes in which force and moment are given; world if not given"
    )
    factor: AnyLaw | None = Field(
        None,
        description="law of time, without unit, by which force, moment and spin are multiplied; start, mean "
        "and value are 0 if not given",
    )
    friction: NotNegative | None = Field(
        None, description="friction: the Coulomb force or torque; terrain, contact: the coefficient"
    )
    threshold: Positive | None = Field(
        None,
        description="length or angle units per s: friction is proportional to tanh(velocity / threshold)",
    )
    radius: Positive | None = Field(None, description="terrain: of the wheel")
    terrain: Annotated[list[Annotated[Floats, Two, Tuple]], Field(min_length=2), Tuple] | None = Field(
        None,
        description="terrain: points [x, y] with increasing x, world axes; a natural cubic spline joins them",
    )
    profile: dict[str, Any] | None = Field(
        None, description="contact: the first body's profile and its follower on the second, as of an L joint"
    )
    spin: FiniteFloat | Numbers | None = Field(
        None,
        description="rotating_frame: angular velocity of the frame, angle units per s; a vector; planar: "
        "a number",
    )
    function: Any = Field(
        None,
        description='"module:name" or "file.py:name" of a function (t, value, rate), in SI units: spring, '
        'coordinate: a further force or torque, which may be an expression of these: "-2e7*value^3"; '
        "point: of its position and velocity, a further force",
    )


class MotionEntry(Table):
    """The motion that a model carries: what ``mbssa solve`` runs if it is given no other."""

    duration: Seconds = Field(1.0, description="s, from t = 0")
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] = Field(101, description="instants, both ends included")
    inputs: dict[str, AnyLaw] = Field(
        {}, description='a law for each driven coordinate: "2-3.slide" = { law = "speed", rate = 0.1 }'
    )


class ModelFile(Table):
    """A mechanism as a TOML file of mbssa."""

    model_config = ConfigDict(
        extra="forbid", strict=True, title="mbssa model file, format 1", populate_by_name=True
    )

    format: Literal[1] = Field(description="version of this format")
    space: Literal["planar", "spatial"]
    title: str = ""
    source: str = Field("", description="where topology and geometry come from")
    notes: list[str] = Field([])
    unread: list[str] = Field(
        [], description="parts of the file converted that are missing here and change answers"
    )
    units: Units = Units()
    bodies: Annotated[int, Field(ge=2)] | None = Field(
        None, description="N with the frame, for bodies without names, instead of [[body]]"
    )
    body: list[BodyEntry] = Field([])
    joint: list[JointEntry] = Field([])
    gravity: Vector | None = Field(None, description="acceleration, length units per s²; none if not given")
    force: list[ForceEntry] = Field([])
    motion: MotionEntry | None = Field(None, description="the motion that the model carries")
