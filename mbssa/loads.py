"""Masses and forces that a model carries, as plain data in SI units."""

# This package only keeps and checks them; the package ``groups`` makes dynamics of them.

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mbssa.arrays import Floats
from mbssa.joints.geometry import Vector
from mbssa.joints.user_sources import pickled
from mbssa.motion import InputLaw

#: Share of the largest principal moment by which rounded digits may miss the triangle inequality.
_ROUNDED = 1e-6


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass properties of a rigid body.

    Attributes
    ----------
    mass : kg, positive
    centre : centre of mass, m, world coordinates at the reference; planar: two numbers
    moment : planar, about the centre of mass, kg m²
    moments : spatial, Ixx, Iyy, Izz about the centre of mass in the body's axes, kg m²
    products : spatial, Ixy, Ixz, Iyz: entries of the inertia matrix (Ixy = -∫ x y dm), kg m²

    Examples
    --------
    >>> import mbssa
    >>> mbssa.Inertia(2.0, (0.5, 0.0), moment=0.1).mass
    2.0
    """

    mass: float
    centre: Vector
    moment: float | None = None
    moments: Vector | None = None
    products: Vector | None = None

    @property
    def matrix(self) -> Floats:
        """(3, 3) inertia matrix about the centre of mass in the body's axes, kg m²; planar: about z alone."""
        return inertia_matrix(self.moments or (0.0, 0.0, self.moment or 0.0), self.products)


def inertia_matrix(moments: Sequence[float], products: Sequence[float] | None = None) -> Floats:
    """Symmetric matrix (3, 3) of Ixx, Iyy, Izz and Ixy, Ixz, Iyz."""
    xx, yy, zz = moments
    xy, xz, yz = products or (0.0, 0.0, 0.0)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def principal_moments(matrix: Floats) -> tuple[str, str]:
    """Principal moments of an inertia matrix as in a message, and the reason why no body has them, if so."""
    # Rounded digits may miss the triangle inequality by a millionth of the largest moment.
    if not np.isfinite(matrix).all():  # of numbers whose products overflow
        return "nan", "write smaller numbers"
    principal = np.linalg.eigvalsh(matrix)
    slack = _ROUNDED * float(np.abs(principal).max())
    wrong = ""
    if principal[0] < -slack:
        wrong = "none may be negative"
    elif principal[2] > principal[0] + principal[1] + slack:
        wrong = "the largest may not exceed the sum of the others"
    return ", ".join(f"{value:.4g}" for value in principal), wrong


#: SI units of the numbers under each key, along a length.
_UNITS = {
    "points": "m", "point": "m", "terrain": "m", "radius": "m", "rest": "m", "threshold": "m/s",
    "stiffness": "N/m", "damping": "N s/m", "friction": "N", "force": "N", "moment": "N m", "spin": "rad/s",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ForceType:
    """Keys of a ``[[force]]`` of one type besides ``type`` and ``id``, and traits of the type."""

    required: tuple[str, ...]  # keys
    optional: tuple[str, ...]  # keys
    n_bodies: int = 1  # entries of ``bodies``
    vector: bool = False  # ``force`` has components, in axes of the world or the body
    planar: bool = False  # for planar models alone
    limited: bool = False  # its coordinate must have limits
    on_masses: bool = False  # loads each body with mass
    units: Mapping[str, str] = field(default_factory=lambda: _UNITS)

    @property
    def takes(self) -> tuple[str, ...]:
        """All keys."""
        return (*self.required, *self.optional)

    def unit_of(self, key: str, turning: bool) -> str:
        """SI unit of the numbers under a key, "" for none; ``turning``: of a force on an angle, a torque."""
        unit = self.units.get(key, "")
        return re.sub("[Nm]", lambda name: "N m" if name[0] == "N" else "rad", unit) if turning else unit

    @property
    def exerting(self) -> tuple[str, ...]:
        """Keys of which one at least is needed for a load."""
        return tuple(key for key in self.takes if key in _EXERTING)


#: Arguments of a function of a force element.
ARGUMENTS = ("t", "value", "rate")
_EXERTING = ("stiffness", "damping", "friction", "force", "moment", "spin", "function")

#: Units of a Hertz contact: N/m^(3/2), s/m, and a coefficient of friction.
_CONTACT = _UNITS | {"stiffness": "N/m^1.5", "damping": "s/m", "friction": ""}
_FRICTION = ("damping", "friction", "threshold")

#: Types of ``[[force]]``; each is evaluated by its file of :mod:`groups.dynamics.forces`.
FORCE_TYPES = {
    "spring": ForceType(
        ("bodies", "points"), ("stiffness", "damping", "rest", "force", "factor", "function"), n_bodies=2
    ),
    "coordinate": ForceType(("coordinate",), ("stiffness", "damping", "rest", "force", "factor", "function")),
    "stop": ForceType(
        ("coordinate", "stiffness"), ("damping",), limited=True, units=_UNITS | {"damping": "s/m"}
    ),
    "friction": ForceType(("coordinate", "friction", "threshold"), ("damping",)),
    "point": ForceType(("bodies", "point"), ("force", "moment", "axes", "factor", "function"), vector=True),
    "terrain": ForceType(
        ("bodies", "point", "radius", "terrain", "stiffness"), _FRICTION, planar=True, units=_CONTACT
    ),
    "contact": ForceType(
        ("bodies", "points", "profile", "stiffness"), _FRICTION, n_bodies=2, planar=True, units=_CONTACT
    ),
    "rotating_frame": ForceType(("spin",), ("point", "factor"), on_masses=True),
}


@dataclass(frozen=True, slots=True)
class Force:
    """Force element of a model, SI units.

    Attributes
    ----------
    type : a key of :data:`FORCE_TYPES`
    id : unique; the type and its number if the file gives none
    bodies : indices of the bodies between which, or on which, it acts; of a coordinate's those of its joint
    coordinate : ``joint.coordinate`` on which it acts
    points : m, world coordinates at the reference, one on each body; ``contact``: origins of the profiles'
        frames, whose axes are the world's at the reference
    point : on the one body; ``rotating_frame``: on the axis, the world's origin if not given
    stiffness, damping : N/m and N s/m, or N m/rad and N m s/rad; ``terrain`` and ``contact``: of a Hertz
        contact, N/m^(3/2) and s/m; ``stop``: damping in s/m or s/rad
    rest : length or coordinate at which the spring is free of force, m or rad; None: that of the reference
    force : constant part, N or N m; of ``point`` a vector, N
    moment : of ``point``, N m: a vector, planar one number
    axes : "world" or "body": in which axes force and moment of ``point`` are given
    factor : law of time by which ``force``, ``moment`` and ``spin`` are multiplied; None: 1
    friction : of a coordinate, the Coulomb force, N or N m; of a contact, the coefficient of friction
    threshold : m/s or rad/s, at which the regularised friction has reached tanh(1) = 76 % of its value
    radius : of the wheel, m
    terrain : (x, y) of points of the terrain, m, with increasing x
    profile : ``contact``: the table of both profiles in SI, as
        :func:`mbssa.joints.cams.profiles.profile_from` takes it
    spin : ``rotating_frame``: angular velocity of the model's frame, rad/s; planar one number
    function : called as ``function(t, value, rate)`` with the length or coordinate, for a further N or N m,
        or an expression of these in SI, ``"-2e7 * value^3"``; of ``point`` with position and velocity of the
        point, for a further vector, N

    Examples
    --------
    >>> import mbssa
    >>> mbssa.Force("coordinate", "gas", (0, 3), coordinate="1-4.slide", force=-500.0).force
    -500.0
    """

    type: str
    id: str
    bodies: tuple[int, ...]
    coordinate: str | None = None
    points: tuple[Vector, ...] | None = None
    point: Vector | None = None
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float | None = None
    force: float | Vector | None = None
    moment: float | Vector | None = None
    axes: str = "world"
    factor: InputLaw | None = None
    friction: float = 0.0
    threshold: float | None = None
    radius: float | None = None
    terrain: tuple[Vector, ...] | None = None
    profile: Mapping[str, Any] | None = None
    spin: float | Vector | None = None
    function: str | Callable[..., Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(self)
