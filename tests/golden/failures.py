"""Motions of which some instants have no answer.

No built-in model fails in its own motion, so these are made to. A name says which solver fails, and why;
after its last comma come the solver, if it was asked for, and the branch. Instants keep away from the borders
of what can be solved, so that inputs that are off by 1e-8 change no status.

Left out because today's answer is wrong:

- ``proven`` where two groups fail that do not hang on each other: the sound one has ``passed singular`` at
  the instant at which the other fails first;
- ``checked`` beside a gap: at some amplitudes a ``branch jump`` at an instant that ``proven`` has;
- ``checked`` and ``proven`` beyond the instant at which a crossing of branches is said: the answers there are
  those of the other branch, as ok. At steps of half a radian ``checked`` does not say it at all. Motions of
  closed forms end there;
- ``solve_globally`` without a proof beyond a gap: it comes back in another mode, as ok. Platforms may, and so
  their motions end in the gap;
- a double parallelogram beyond its flat pose, where a group jumps and the redundant one has no answer again;
- a roller's arm that swings to both sides, which does not find its cam again;
- over-constrained groups that close at the reference only: ``proven`` says there is a singular position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import cos, pi, sin
from typing import Any

import numpy as np

import groups
import mbssa


@dataclass(frozen=True)
class Failure:
    """A motion of which some instants have no answer.

    Attributes
    ----------
    model : makes the model
    motion : makes the motion of that model
    keywords : of :meth:`groups.Model.solve` or :func:`groups.solve_globally`; ``compiled`` is the caller's
    globally : :func:`groups.solve_globally` solves ``model().structure`` instead
    """

    model: Callable[[], groups.Model]
    motion: Callable[[groups.Model], groups.Motion]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    globally: bool = False

    def solve(self, compiled: bool | None = False) -> groups.Trajectory:
        """The trajectory."""
        model = self.model()
        motion = self.motion(model)
        if self.globally:
            return groups.solve_globally(model.structure, motion, compiled=compiled, **self.keywords)
        return model.solve(motion, compiled=compiled, **self.keywords)


# --- mechanisms --------------------------------------------------------------------------------------

#: By joint, "bodies TYPE driven…", bodies from 1, the frame: its point, or its keys in a model file.
Joints = Mapping[str, Any]
#: A built-in model, planar joints, or what makes a structure.
Source = str | Joints | Callable[[], mbssa.Structure]


def linkage(joints: Joints, space: Any = "planar") -> mbssa.Structure:
    """The structure of a mechanism of joints."""
    rows = [(*text.split(), place) for text, place in joints.items()]
    bodies = sorted({int(end) for ends, *_ in rows for end in ends.split("-")} - {1})
    made = mbssa.Builder(space).bodies(*(f"b{body}" for body in bodies))
    for ends, kind, *driven, place in rows:
        names = ["frame" if end == "1" else f"b{end}" for end in ends.split("-")]
        made.joint(kind, *names, driven=driven, **(place if isinstance(place, dict) else {"point": place}))
    return mbssa.decompose(made.build())


def spatial(joints: Joints) -> Callable[[], mbssa.Structure]:
    """Function that makes the structure of joints in space."""
    return lambda: linkage(joints, "spatial")


def structure_of(source: Source) -> mbssa.Structure:
    """The structure of a mechanism."""
    if isinstance(source, str):
        return mbssa.decompose(mbssa.load(source))
    return source() if callable(source) else linkage(source)


def on(axis: tuple[float, ...], point: tuple[float, ...] = (0.0, 0.0, 0.0), **more: Any) -> dict[str, Any]:
    """Keys of a joint with one axis."""
    return {"point": point, "axis": axis, **more}


X, Y, Z, ZERO = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)

#: The crank's pin may be 0.35 to 2.58 from the rocker's hinge, and is 0.5 to 3.5: no answer from 94° to 266°.
BAR = {"1-2 R angle": (0.0, 0.0), "2-3 R": (0.75, 1.3), "3-4 R": (2.2, 1.1), "1-4 R": (2.0, 0.0)}
#: A second rocker on the same crank, on the other side.
TWO = BAR | {"2-5 R": (0.3, 1.0), "5-6 R": (-0.9, 1.2), "1-6 R": (-1.6, 0.0)}
ROD = {"1-2 R angle": (0.0, 0.0), "1-3 R": (2.0, 0.0), "2-3 ROD": {"points": ((0.75, 1.3), (2.2, 1.1))}}
#: The rod is shorter than the crank, and runs to a slide.
RAM = {
    "1-2 R angle": (0.0, 0.0),
    "2-3 R": (0.6, 0.8),
    "3-4 R": (1.2, 0.6),
    "1-4 P": on((1.0, 0.0), (1.2, 0.6)),
}
RAM_ROD = {
    "1-2 R angle": (0.0, 0.0), "1-3 P": on((1.0, 0.0), (1.2, 0.6)),
    "2-3 ROD": {"points": ((0.6, 0.8), (1.2, 0.6))},
}  # fmt: skip
#: The crank's pin comes nearer to the block's hinge than the guide's offset of 0.3.
BLOCK = {
    "1-2 R angle": (0.0, 0.0),
    "2-3 R": (1.0, 0.0),
    "3-4 P": on((1.0, 0.0), (1.0, 0.0)),
    "1-4 R": (1.2, 0.3),
}
SLOT = {"1-2 R angle": (0.0, 0.0), "1-3 R": (1.2, 0.3), "3-2 SLOT": on((1.0, 0.0), (1.0, 0.0))}
#: Two guides that are parallel where the driven angle is 0.
ALONG = on((cos(1.0), sin(1.0)), (1.0, 0.5))
HINGE = {"point": (0.0, 0.0), "at_reference": {"angle": 1.0}}
GUIDES = {"1-2 R angle": HINGE, "1-3 P": on((1.0, 0.0), (1.0, 0.5)), "3-4 R": (1.0, 0.5), "2-4 P": ALONG}
GUIDE_SLOT = {"1-2 R angle": HINGE, "1-3 P": on((1.0, 0.0), (1.0, 0.5)), "2-3 SLOT": ALONG}
CYLINDER = {
    "1-2 R": (0.0, 0.0),
    "2-3 P slide": on((1.2, 1.0), (0.0, 0.0)),
    "3-4 R": (1.2, 1.0),
    "1-4 R": (1.5, 0.0),
}
DISTANCE = {"1-2 DIST distance": {"points": ((0.0, 0.0), (0.5, 0.8))}, "1-2 R": (0.8, 0.0)}
#: Equal arms, whose hinges come to one place where the driven slide is 0.
MEETING = {
    "1-2 P slide": on((1.0, 0.0), (-1.0, 0.0), at_reference={"slide": -1.0}),
    "2-3 R": (-1.0, 0.0), "3-4 R": (-0.5, 1.0), "1-4 R": (0.0, 0.0),
}  # fmt: skip
PARALLELOGRAM = {"1-2 R angle": (0.0, 0.0), "2-3 R": (0.3, 0.4), "3-4 R": (1.3, 0.4), "1-4 R": (1.0, 0.0)}
TRIAD = {
    "1-2 R angle": (0.0, 0.0), "2-4 R": (0.6, 0.8), "4-3 R": (1.4, 1.5), "1-5 R": (2.0, 0.2),
    "5-3 R": (1.8, 1.5), "1-6 R": (1.6, 3.0), "6-3 R": (1.5, 2.1),
}  # fmt: skip
#: On the rocker of BAR: a driven hinge, two dyads, a slot, a wheel, a wheel that another drives, and a cam.
WAITING = BAR | {
    "4-5 R angle": (2.2, 1.1), "4-6 R": (2.3, 0.5), "6-7 R": (3.0, 1.0), "1-7 R": (3.2, 0.0),
    "1-8 R": (2.5, -1.0), "8-4 SLOT": on((-0.2, 1.6), (2.3, 0.6)), "1-9 R": (3.0, 0.0),
    "4-9-1 EPI": {"points": ((2.0, 0.0), (3.0, 0.0)), "ratio": 0.5},
    "4-10 R": (2.6, 1.1), "5-10-4 EPI": {"points": ((2.2, 1.1), (2.6, 1.1)), "ratio": 0.5},
    "4-12 P": on((1.0, 0.0), (2.4, 0.3)), "13-12 P": on((0.0, 1.0), (2.4, 0.3)), "1-13 R": (2.6, 0.0),
    "1-11 P": on((0.0, 1.0), (2.0, 0.4)),
    "4-11 L": {
        "points": ((2.0, 0.0), (2.0, 0.3)), "axes": ((1.0, 0.0), (1.0, 0.0)),
        "profile": {"circle": {"radius": 0.3, "centre": [0.1, 0.0]}, "follower": "flat"},
    },
}  # fmt: skip
#: An arm that lifts its roller's short link from the cam.
ROLLER = {
    "1-2 R angle": (0.0, 0.0), "1-4 R angle": (0.2, 0.1), "4-3 R": (0.015, 0.0366),
    "2-3 L": {
        "points": ((0.0, 0.0), (0.0, 0.0366606)), "axes": ((1.0, 0.0), (1.0, 0.0)),
        "profile": {"circle": {"radius": 0.03, "centre": [0.01, 0.0]}, "follower": "roller", "radius": 0.008},
    },
}  # fmt: skip
#: The four-bar in space, its coupler a rod; and the ram.
RSSR = {
    "1-2 R angle": on(Z), "1-3 R": on((0.3, 0.1, 1.0), (2.0, 0.0, 0.0)),
    "2-3 SPSP": {"points": ((0.75, 1.3, 0.1), (2.2, 1.1, 0.2))},
}  # fmt: skip
RSSP = {
    "1-2 R angle": on(Z), "1-3 P": on(X, (1.2, 0.6, 0.2)),
    "2-3 SPSP": {"points": ((0.6, 0.8, 0.1), (1.2, 0.6, 0.2))},
}  # fmt: skip
#: The coupler hangs on a universal joint that leans: near the end of its reach it stands along the first pin.
RUSR = {
    "1-2 R angle": on(Z), "2-3 U": {"point": (0.75, 1.3, 0.1), "axes": (Z, X)}, "3-4 S": (2.2, 1.1, 0.2),
    "1-4 R": on((0.3, 0.1, 1.0), (2.0, 0.0, 0.0)),
}  # fmt: skip
LOOP = {
    "1-2 R angle": on(Z), "2-3 R": on((0.0, 0.2, 1.0), (1.0, 0.0, 0.0)),
    "3-4 R": on((0.2, 1.0, 0.3), (2.0, 0.3, 0.4)),
    "4-5 R": on((1.0, 0.1, 0.3), (2.4, 0.5, -0.3)), "5-1 S": (2.6, 0.9, -0.2),
}  # fmt: skip
#: A leg whose ball passes over its first pin where the driven slide is 0.
LEG = {
    "1-2 U": {"point": ZERO, "axes": (X, Z)}, "2-3 P": on((1.0, -1.0, 0.0)), "3-4 S": (1.0, -1.0, 0.0),
    "1-4 P slide": on(Y, (1.0, -1.0, 0.0), at_reference={"slide": -1.0}),
}  # fmt: skip
#: A leg whose slide runs beside the universal joint, 0.5 away, where the ball comes nearer.
BESIDE = {
    "1-2 U": {"point": ZERO, "axes": (Y, X)}, "2-3 P": on(X, (0.0, 0.0, 0.5)), "3-4 S": (1.0, 0.0, 0.5),
    "1-4 P slide": on((1.0, 0.2, 0.5), (1.0, 0.0, 0.5)),
}  # fmt: skip
#: On the rocker of RSSR: a leg, a driven universal joint, a spherical loop, and a helix, which Newton solves.
WAITING_IN_SPACE = RSSR | {
    "1-4 U": {"point": (3.0, 0.0, 0.0), "axes": (X, Y)}, "4-5 P": on((-0.7, 0.5, 0.6), (3.0, 0.0, 0.0)),
    "5-3 S": (2.3, 0.5, 0.6), "3-6 U angle_1 angle_2": {"point": (2.0, 1.0, 0.0), "axes": (X, Y)},
    "3-7 R": on((0.2, 1.0, 0.3), (2.2, 0.9, 0.1)), "7-8 R": on((1.0, 0.0, 0.2), (3.0, 1.0, 1.0)),
    "8-9 R": on((0.0, 1.0, 0.1), (3.4, 1.2, 0.7)), "9-1 S": (4.0, 1.0, 0.5),
    "3-10 H": on((0.2, 0.1, 1.0), (2.0, 0.4, 0.1), pitch=0.2),
    "10-11 U": {"point": (2.5, 1.5, 1.0), "axes": (X, Y)}, "11-1 S": (3.0, 2.0, 0.5),
}  # fmt: skip
#: An arm whose ball rests on a plate that goes up and down, and a slide on the arm.
BALL = {
    "1-2 P slide": on(Z, (0.5, 0.0, 0.15)), "1-3 R": on((0.0, -1.0, 0.0)),
    "2-3 SP": on(Z, (0.5, 0.0, 0.2), radius=0.05), "3-4 P slide": on(Y, (0.5, 0.0, 0.2)),
}  # fmt: skip
SMALL_PLATE = BALL | {"2-3 SP": on(Z, (0.5, 0.0, 0.2), radius=0.05, limits={"slide_x": (-0.1, 0.02)})}


def sloping(slope: float) -> Callable[[], mbssa.Structure]:
    """A slide along a plane that has a slope, so that the contact, which is only checked, opens or closes."""
    return spatial({"1-2 P slide": on(X), "1-2 SP": on((slope, 0.0, 1.0), (0.4, 0.0, 0.2), radius=0.05)})


def tilted(name: str, joint: str, axis: tuple[float, ...]) -> Callable[[], mbssa.Structure]:
    """An over-constrained model, one axis of which is off, so that it closes at the reference only."""

    def structure() -> mbssa.Structure:
        found = structure_of(name)
        geometry, j = found.mechanism.joint_geometry, found.mechanism.joint_ids.index(joint)
        off = geometry | {j: replace(geometry[j], axis=axis)}
        return replace(found, mechanism=replace(found.mechanism, joint_geometry=off))

    return structure


def rod(q: Any) -> Any:
    """Distance from the crank's pin to the ram, less 0.3 m; not a number on the left."""
    known = 0.0 if q[0, 0].real > 0.05 else np.nan
    return np.sqrt((q[1, 0] - q[0, 0]) ** 2 + (q[1, 1] - q[0, 1]) ** 2) - 0.3 + known


def user() -> mbssa.Structure:
    """A slider-crank whose rod is a function."""
    made = mbssa.Builder("planar").body("crank", origin=(0.1, 0.0)).body("ram", origin=(0.4, 0.0))
    made.joint("R", "frame", "crank", point=(0.0, 0.0), driven=True)
    made.joint("P", "frame", "ram", point=(0.4, 0.0), axis=(1.0, 0.0))
    return mbssa.decompose(made.joint("USER", "crank", "ram", function=rod, unit="m").build())


# --- motions -----------------------------------------------------------------------------------------

Moving = Callable[[groups.Model], groups.Motion]


def moved(law: Callable[[float], Any], of: str, steps: int) -> Moving:
    """A second of a law, made for an input's value at the reference, of all inputs or of those named."""

    def motion(model: groups.Model) -> groups.Motion:
        laws = {
            name: law(start) if not of or name in of.split() else groups.constant(start)
            for name, start in model.reference_inputs.items()
        }
        return groups.sample(model.mechanism, laws, np.linspace(0.0, 1.0, steps))

    return motion


def swing(
    amplitude: float, periods: float = 1.0, *, off: float = 0.0, of: str = "", steps: int = 41
) -> Moving:
    """Inputs swing about the reference, or ``off`` it."""
    return moved(lambda start: groups.harmonic(amplitude, periods, 0.0, start + off), of, steps)


def turn(way: float, *, of: str = "", steps: int = 41) -> Moving:
    """Inputs at constant speed."""
    return moved(lambda start: groups.speed(way, start), of, steps)


def stop(way: float, *, steps: int = 21) -> Moving:
    """Inputs go somewhere and stay there."""
    return moved(lambda start: groups.ramp(start, start + way, 0.0, 0.6), "", steps)


# --- failures ----------------------------------------------------------------------------------------

SOLVERS = ("Newton", "global dense", "global sparse")


def each(
    name: str, source: Source, motion: Moving, ways: str = "checked", *, group: int = 2, **keywords: Any
) -> dict[str, Failure]:
    """A motion solved in several ways, by name.

    Parameters
    ----------
    ways : each a solver of the group, or ``globally`` (``globally sparse``), and a branch that is not checked
    """
    found = {}
    for way in ways.split(", "):
        solver = next((word for word in SOLVERS if word in way), None)
        solvers = {} if solver is None else {group: solver}
        branch = next((word for word in ("proven", "smooth") if word in way), "checked")
        globally = "globally" in way
        given = {"branch": branch, **keywords}
        if globally:
            given["method"] = "sparse" if "sparse" in way else "dense"
        found[f"{name}, {way}"] = Failure(
            lambda solvers=solvers: groups.build(structure_of(source), solvers),
            motion, given, globally,
        )  # fmt: skip
    return found


def never(done: float) -> bool:
    """Stops a run at its first report."""
    return False


def half(done: float) -> bool:
    """Stops a run at its half."""
    return done < 0.5


FAILURES: dict[str, Failure] = {
    # planar dyads, out of reach
    **each("RRR dyad out of reach twice", BAR, swing(1.2, 2), "checked, proven, smooth, globally proven"),
    **each("RRR dyad out of reach", BAR, swing(1.2, steps=15), "Newton, global dense, global sparse"),
    **each("RRR dyad out of reach at the end", BAR, turn(0.9, steps=7), "globally, globally sparse"),
    **each("RRR dyad out of reach in its other mode", BAR, swing(1.2), "checked, proven", modes={2: 2}),
    **each(
        "RRR dyad begins out of reach",
        BAR,
        swing(1.0, off=1.0, steps=21),
        "checked, proven, Newton, globally",
    ),
    **each("RRR dyad in steps of 3.7 rad", BAR, turn(44.75, steps=13), "checked, proven, Newton"),
    **each("R and ROD out of reach", ROD, swing(1.2, 2), "checked, proven"),
    **each("RRP dyad, the crank longer than the rod", RAM, swing(1.5), "checked, proven"),
    **each("P and ROD, the crank longer than the rod", RAM_ROD, swing(1.5), "checked, proven"),
    **each("RPR dyad nearer than its offset", BLOCK, turn(0.55, steps=24), "checked, proven"),
    **each("R and SLOT nearer than its offset", SLOT, turn(0.55, steps=24), "checked, proven"),
    **each("RRR dyad with driven P, too long and too short", CYLINDER, swing(1.5), "checked, proven"),
    **each(
        "RRR dyad with driven P, too long", CYLINDER, swing(1.5, steps=9), "Newton, global dense", group=1
    ),
    **each("R and driven DIST, too long", DISTANCE, swing(0.8), "checked, proven"),
    # planar dyads, singular
    **each("PRP dyad stops where its guides are parallel", GUIDES, stop(-1.0), "checked, proven"),
    **each("PRP dyad steps over parallel guides", GUIDES, turn(-2.0, steps=30), "proven"),
    **each("P and SLOT stop where they are parallel", GUIDE_SLOT, stop(-1.0), "checked, proven"),
    **each(
        "RRR dyad stops with its hinges in one place",
        MEETING,
        stop(1.0, steps=13),
        "checked, proven, smooth, Newton, Newton proven, globally",
    ),
    **each("RRR dyad comes to its hinges in one place", MEETING, turn(1.0, steps=3), "Newton, global dense"),
    **each("parallelogram past its flat pose", PARALLELOGRAM, turn(2.3, steps=22), "checked, proven"),
    **each(
        "parallelogram far past its flat pose",
        PARALLELOGRAM,
        turn(3.0, steps=13),
        "Newton, Newton proven, global dense",
    ),
    # several groups
    **each("two dyads out of reach at different times", TWO, swing(1.35, steps=31)),
    **each("all kinds wait for a dyad", WAITING, swing(1.2, 2, of="1-2.angle", steps=31), "checked, proven"),
    **each("one dyad out of reach, then another, which waits between", "nine_bar", swing(0.95, steps=21)),
    **each("rack too far for one of its dyads", "rack_steering", turn(40.0, steps=21)),
    # stopped
    **each("stopped by its progress", BAR, swing(1.2, steps=281), progress=never),
    **each("stopped in its half", BAR, swing(0.2, steps=281), "proven", progress=half),
    **each("stopped in its half and out of reach", BAR, swing(1.2), "globally", progress=half),
    # other planar groups
    **each("triad out of reach", TRIAD, turn(0.6, steps=7), "checked, globally"),
    **each("planar 3-RRR out of reach", "planar_3rrr", turn(0.9, of="1-2.angle", steps=9)),
    **each(
        "Geneva pin leaves its slot and comes back twice",
        "geneva",
        turn(4 * pi, steps=21),
        "checked, proven, Newton, global dense, globally",
    ),
    **each("involute teeth part and meet again", "involute_teeth", swing(0.4, off=0.2618, steps=9)),
    **each("roller lifted from its cam", ROLLER, turn(-0.4, of="1-4.angle", steps=9), group=3),
    **each("user's function that gives NaN", user, turn(2 * pi, steps=16), "checked, globally"),
    # in space
    **each("point at distance, the rod too short, twice", spatial(RSSR), swing(1.2, 2), "checked, proven"),
    **each("point at distance, the rod too short", spatial(RSSR), swing(1.2, steps=15), "Newton"),
    **each(
        "point at distance, the rod too short at the end",
        spatial(RSSR),
        turn(1.0, steps=7),
        "globally, global dense",
    ),
    **each("point at distance in steps of 4 rad", spatial(RSSR), turn(47.5, steps=13), "checked, proven"),
    **each("point at distance on a slide", spatial(RSSP), swing(1.5), "checked, proven"),
    **each(
        "point at distance, its coupler along its pin",
        spatial(RUSR),
        swing(1.2, steps=21),
        "checked, proven, Newton",
    ),
    **each("leg stops over its pin", spatial(LEG), stop(1.0), "checked, proven, globally"),
    **each("leg steps over its pin", spatial(LEG), turn(1.04, steps=20), "checked, proven"),
    **each("leg nearer than its offset", spatial(BESIDE), swing(1.2, steps=21), "checked, proven"),
    **each("leg nearer than its offset in coarse steps", spatial(BESIDE), swing(1.2, 3.7, steps=9), "proven"),
    **each(
        "spherical loop out of reach",
        spatial(LOOP),
        swing(1.4, steps=15),
        "checked, proven, Newton, globally",
    ),
    **each(
        "spherical loop begins out of reach", spatial(LOOP), swing(1.4, off=-1.4, steps=15), "checked, proven"
    ),
    **each("spherical loop in coarse steps", spatial(LOOP), swing(0.6, 3.7, steps=14), "checked, proven"),
    **each(
        "spherical loop out of reach in its other mode", spatial(LOOP), swing(1.4, steps=15), modes={2: 2}
    ),
    **each(
        "all kinds in space wait for a rod", spatial(WAITING_IN_SPACE), swing(1.2, of="1-2.angle", steps=21)
    ),
    **each("rotor, most groups out of reach", "rotor", turn(4.0, steps=21)),
    **each("Stewart platform, a leg too long", "stewart", turn(1.0, of="2-3.slide", steps=7)),
    **each("six-SPS platform, a leg too long", "six_sps", turn(2.0, of="2-3.slide", steps=7)),
    **each("Bricard loop beyond its end", "bricard", turn(2.6, steps=7)),
    **each(
        "tilted four-bar in space closes at the reference only",
        tilted("spatial_4r", "1-4", (1e-3, 0.0, 1.0)),
        turn(5.0, steps=15),
        "checked, global sparse",
    ),
    **each(
        "tilted Bennett loop closes at the reference only",
        tilted("bennett", "1-4", (1e-3, 0.0, 1.0)),
        turn(2.5, steps=9),
    ),
    **each(
        "contact that is only checked opens", sloping(1e-5), turn(1.0, steps=11), "checked, globally", group=1
    ),
    **each(
        "contact that is only checked closes",
        sloping(-1e-5),
        turn(1.0, steps=11),
        "checked, globally",
        group=1,
    ),
    **each(
        "ball that its plate runs into",
        spatial(BALL),
        swing(0.6, of="1-2.slide", steps=15),
        "checked, global dense",
    ),
    **each(
        "ball that leaves its small plate",
        spatial(SMALL_PLATE),
        swing(0.3, of="1-2.slide", steps=21),
        "checked, globally",
    ),
    **each("kinematic coupling, a ball beside its plate", "kinematic_coupling", swing(0.075, steps=15)),
    **each("fixture, a pin beside its workpiece", "fixture", turn(0.4, steps=15)),
    **each(
        "micro-manipulator that its inputs cannot drive",
        "micromanipulator",
        turn(0.01, steps=4),
        "checked, globally",
    ),
}

#: Those that take longer, s each in plain Python.
SLOW_FAILURES: dict[str, Failure] = {
    **each("RRR dyad out of reach at the end", BAR, turn(0.9, steps=7), "Newton proven, global dense proven"),
    **each("triad out of reach", TRIAD, turn(0.6, steps=7), "proven"),
    **each("Sarrus table through its flat pose", "sarrus", turn(1.2, steps=20), "proven"),
}
