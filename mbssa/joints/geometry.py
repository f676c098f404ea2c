"""The geometry of a joint as a model file gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mbssa.joints.user_sources import pickled

Vector = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class JointFrame:
    """A joint's local frame on one body, in that body's own frame; z is the joint's axis.

    ``origin`` (3,) or (2,), metres. Spatial: ``z`` and ``x`` (3,), unit after normalisation.
    Planar: ``x`` (2,) is the direction from which the joint's coordinates are measured.

    >>> JointFrame(origin=(0.0, 0.0, 0.1), z=(0.0, 0.0, 1.0)).z
    (0.0, 0.0, 1.0)
    """

    origin: Vector
    z: Vector | None = None
    x: Vector | None = None


@dataclass(frozen=True, slots=True)
class JointGeometry:
    """Geometry of a joint in a model file; SI units, world axes at the reference.

    Either ``frames`` (one per body, canonical) or the world shorthand (``point`` … ``axes``).
    ``at_reference`` is the value of a coordinate in the reference configuration (0 if not given).
    ``couples`` names two coordinates, ``joint.coordinate``; ``multiplier`` and ``offset`` are the second's by
    the first's, m or rad.

    >>> import mbssa
    >>> mbssa.load("spatial_4r").joint("2-3").geometry.point
    (0.18, 0.24, 0.0)
    """

    point: Vector | None = None
    points: tuple[Vector, ...] | None = None
    axis: Vector | None = None
    axes: tuple[Vector, ...] | None = None
    frames: tuple[JointFrame, ...] | None = None
    pitch: float | None = None
    ratio: float | None = None
    radius: float | None = None
    length: float | None = None
    offsets: Vector | None = None
    profile: Mapping[str, Any] | None = None
    function: str | Callable[..., Any] | None = None
    derivative: str | Callable[..., Any] | None = None
    unit: str | None = None
    couples: tuple[str, ...] | None = None
    multiplier: float | None = None
    offset: float | None = None
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    at_reference: Mapping[str, float] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(self)
