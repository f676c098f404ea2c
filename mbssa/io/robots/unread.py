"""Content of robot descriptions: the one list of what is read, what is only named, and what answers need."""

# Elements that :data:`READ` has are read. All others are named in a note; those that :data:`EFFECTS` has, and
# those that name two links, change answers: the mechanism keeps them as ``unread``, and ``check`` fails.

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mbssa.io.robots.xml_tree import Element


class Effect(StrEnum):
    """Effects on a mechanism that no answer is right without."""

    TIE = "ties links"
    COUPLING = "couples joints"
    SPRING = "is a spring"
    GRAVITY = "changes gravity"
    LIMIT = "limits a joint"
    FORCE = "changes forces"


#: Effects between links that may close a loop.
TIES = (Effect.TIE, Effect.COUPLING, Effect.SPRING)


@dataclass(frozen=True, slots=True)
class Unread:
    """Part of a description that changes answers and is not read."""

    effect: Effect
    text: str

    def __str__(self) -> str:
        return f"not read, though it {self.effect}: {self.text}"


#: Elements that are read, under their parents. MJCF is read by MuJoCo, which gives all that it compiles.
READ = {
    "urdf": {
        "robot": (
            "link", "joint", "constraint", "loop_joint", "drake:ball_constraint", "transmission",
            "ros2_control",
        ),
        "model": ("joint",),
        "link": ("inertial", "visual"),
        "joint": ("origin", "parent", "child", "axis", "limit", "mimic", "dynamics"),
    },
    "sdf": {
        "physics": (),
        "world": ("model", "gravity"),
        "model": ("pose", "link", "joint", "frame", "model", "drake:ball_constraint"),
        "link": ("pose", "inertial", "visual"),
        "joint": (
            "pose", "parent", "child", "axis", "axis2", "gearbox_ratio", "gearbox_reference_body",
            "screw_thread_pitch", "thread_pitch",
        ),
        "axis": ("xyz", "limit", "mimic", "dynamics", "use_parent_model_frame"),
        "axis2": ("xyz", "use_parent_model_frame"),
        "dynamics": ("damping", "spring_stiffness", "spring_reference"),
        "frame": ("pose",),
    },
}  # fmt: skip

#: Elements of MJCF of which nothing is read; what changes answers is named as MuJoCo compiles it.
NOT_READ_OF_MJCF = ("sensor", "tendon", "contact", "custom", "composite")


def _never(_: Element) -> bool:
    return False


def _off(element: Element) -> bool:
    return element.text.lower() in ("", "0", "false")


def _on(element: Element) -> bool:
    return element.text.lower() in ("", "1", "true")


def _zero(element: Element) -> bool:
    return all(is_zero(each.text) for each in everything(element))


def _endless(limit: Element) -> bool:
    return all(_number(end.text) >= 1e9 for tag in ("lower", "upper") for end in limit.all(tag))


#: Effects of elements that are not read, by name, or by their parent's name and theirs; when they are idle.
EFFECTS: dict[str, tuple[Effect, Callable[[Element], bool]]] = {
    "drake:joint": (Effect.TIE, _never),
    "drake:distance_constraint": (Effect.TIE, _never),
    "drake:weld_constraint": (Effect.TIE, _never),
    "drake:tendon_constraint": (Effect.COUPLING, _never),
    "drake:mimic": (Effect.COUPLING, _never),
    "drake:linear_bushing_rpy": (Effect.SPRING, _never),
    "drake:linear_spring_damper": (Effect.SPRING, _never),
    "drake:prismatic_spring": (Effect.SPRING, _never),
    "world/joint": (Effect.TIE, _never),
    "model/static": (Effect.TIE, _off),
    "link/kinematic": (Effect.TIE, _off),
    "axis2/limit": (Effect.LIMIT, _endless),
    "axis2/dynamics": (Effect.FORCE, _zero),
    "dynamics/friction": (Effect.FORCE, _zero),
    "link/velocity_decay": (Effect.FORCE, _zero),
    "dampingFactor": (Effect.FORCE, _zero),
    "link/enable_wind": (Effect.FORCE, _off),
    "model/enable_wind": (Effect.FORCE, _off),
    "axis2/mimic": (Effect.COUPLING, _never),
    "physics/gravity": (Effect.GRAVITY, _never),
    "model/gravity": (Effect.GRAVITY, _on),
    "link/gravity": (Effect.GRAVITY, _on),
    "turnGravityOff": (Effect.GRAVITY, _off),
    "springStiffness": (Effect.SPRING, _zero),
}

#: Effects of plugins, by words that their file's name and the elements in them have together.
_PLUGINS = {
    ("mimic",): Effect.COUPLING,
    ("spring",): Effect.SPRING,
    ("detachable",): Effect.TIE,
    ("buoyancy",): Effect.FORCE,
    ("hydrodynamics",): Effect.FORCE,
    ("lift", "drag"): Effect.FORCE,
    ("parent", "child"): Effect.TIE,
}

#: Elements whose children may tie links.
_WHOLES = ("robot", "world", "model")

#: Elements that may name any number of links, and tie none.
_LISTS = (
    "drake:collision_filter_group",
    "disable_collisions",
    "sensor",
    "gripper",
    "light",
    "state",
    "frame",
)


def unread(parents: Iterable[Element], form: str, links: Collection[str]) -> tuple[list[str], list[Unread]]:
    """Notes on children of elements that are not read, and those that change answers."""
    found: dict[tuple[Effect | None, str], list[int]] = {}
    for parent in parents:
        for child in parent.children if parent.tag in READ[form] else ():
            if child.tag not in READ[form][parent.tag]:
                found.setdefault((_effect(parent, child, links), child.tag), []).append(child.line)
    texts = [(effect, f"{tag}, {lines_of(lines)}") for (effect, tag), lines in found.items()]
    return (
        [f"not read: {text}" for effect, text in texts if effect is None],
        [Unread(effect, text) for effect, text in texts if effect is not None],
    )


def _effect(parent: Element, child: Element, links: Collection[str]) -> Effect | None:
    if child.tag == "param" and child.name() == "mimic":
        return Effect.COUPLING
    if child.tag == "plugin":
        tags = [each.tag for each in everything(child)]
        said = " ".join([child.attributes.get("filename", ""), *tags]).lower()
        return next((_PLUGINS[key] for key in _PLUGINS if all(word in said for word in key)), None)
    for key in (f"{parent.tag}/{child.tag}", child.tag):
        if key in EFFECTS:
            effect, idle = EFFECTS[key]
            return None if idle(child) else effect
    if parent.tag not in _WHOLES or child.tag in _LISTS:
        return None
    return Effect.TIE if len({name for name in _words(child) if name in links}) > 1 else None


def is_zero(text: str) -> bool:
    """Return whether a text is empty or zero."""
    return not text.strip() or _number(text) == 0.0


def _number(text: str) -> float:
    """Magnitude of a number; not a number for another text."""
    try:
        return abs(float(text))
    except ValueError:
        return math.nan


def _words(element: Element) -> Iterator[str]:
    """Values of attributes and texts of an element and all in it."""
    for each in everything(element):
        yield from (value.strip() for value in each.attributes.values())
        yield each.text


def everything(element: Element) -> Iterator[Element]:
    """An element and all that it contains, in their order."""
    waiting = [element]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += reversed(each.children)


def lines_of(lines: Sequence[int | str]) -> str:
    """Lines of a file, the first eight of them."""
    shown = ", ".join(map(str, lines[:8]))
    return f"line {shown}" if len(lines) == 1 else f"lines {shown}{' …' if len(lines) > 8 else ''}"
