"""Gap between a profile and a point, a face or another profile, in the plane.

Frame A carries the profile, a :class:`~mbssa.joints.cams.curves.Curve` with its material on the left of the
tangent. On frame B it touches

- ``POINT``: B's origin, a knife's tip or the centre of a roller, whose radius the equation takes off;
- ``FLAT``: the line y = 0 of B, with the profile on its side -y;
- ``CURVE``: a second curve, where the outward normals are opposed.

The gap is the signed distance in metres, positive outside, of the contact that is nearest to touching. The
contact is sought on the whole of the profiles, so that the answer depends on the pose alone. Where profiles
are convex, of least radii of curvature r and s, kernels follow it from where it was last: there is but one
place where the gap is stationary and greater than -(r + s). Profiles set back by r and s are convex too
(Blaschke's rolling theorem), and the directions that part two convex sets are connected.

The place on the profile is no coordinate: the gap is stationary in it, so that its derivative is that of the
distance of two points fixed to the bodies. A point may be nearest to an end of an open curve or to a corner,
and either may be the highest below a face; two curves touch where both are smooth only. NaN where two curves
have no pair of points with opposed normals that the curvatures k and l allow, k + l + k l gap > 0 (arcs that
fit into each other have none: any pair would do), where a search does not end, and at a tangent of length
zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Floats
from mbssa.compiled import chosen
from mbssa.joints.cams.contact_kernels import CURVE, POINT, contacts_at
from mbssa.joints.cams.curves import Curve

#: Square of the cosine between normal and tangent from which a place is an end or a corner.
_UNEVEN = 1e-16

#: Seconds that plain Python takes to find a contact with one curve and with two, and that compiling takes.
_SECONDS, _COMPILING = (1e-4, 6e-3), 6.0


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contacts in n poses.

    Attributes
    ----------
    gap : (n,) m; normal : (n, 2) outward normal of A; point : (n, 2) of B, m; both in A's axes
    place : (n, 2) in pieces of both curves; only the first for ``POINT`` and ``FLAT``
    """

    gap: Floats
    normal: Floats
    point: Floats
    place: Floats


def contacts(curve_a: Curve, curve_b: Curve | None, kind: int, d: Floats, C: Floats) -> Contacts:
    """Search the contact in each of n poses.

    Parameters
    ----------
    curve_a, curve_b : the profile on A; that on B for ``CURVE``, else None
    kind : POINT, FLAT or CURVE
    d, C : relative poses (n, 3), (n, 3, 3) of B against A with parallel z axes, as in
        :mod:`mbssa.joints.equations`
    """
    if kind == CURVE and curve_b is None:
        raise ValueError("a contact of two curves takes two: give the follower's too")
    data = curve_a.data if curve_b is None else np.concatenate([curve_a.data, curve_b.data])
    found, place = np.full((len(d), 5), np.nan), np.full((len(d), 2), np.nan)
    pose = np.concatenate([d[:, :2], C[:, :2, 0], C[:, :2, 1]], axis=1)
    seek = chosen(contacts_at, _SECONDS[kind == CURVE] * len(d), compiling=_COMPILING)
    with np.errstate(all="ignore"):
        seek(data, len(curve_a.data), kind, pose, place, found)
    return Contacts(found[:, 4], found[:, :2], found[:, 2:4], place)


def gap(curve_a: Curve, curve_b: Curve | None, kind: int, d: Floats, C: Floats) -> tuple[Floats, Floats]:
    """Signed distance (n,), m, and its derivative (n, 6) by the relative twist of B against A.

    The parameters are those of :func:`contacts`.

    >>> import numpy as np
    >>> from mbssa.joints.cams.curves import circle
    >>> d, C = np.array([[0.0, 0.05, 0.0]]), np.eye(3)[None]
    >>> value, derivative = gap(circle(0.02), None, POINT, d, C)
    >>> print(value.round(12).tolist(), (derivative.round(9) + 0.0).tolist())
    [0.03] [[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]]
    """
    found = contacts(curve_a, curve_b, kind, d, C)
    arm, normal = found.point - d[:, :2], found.normal
    derivative = np.zeros((len(d), 6))
    derivative[:, :2] = normal
    derivative[:, 5] = arm[:, 0] * normal[:, 1] - arm[:, 1] * normal[:, 0]
    return found.gap, derivative


def touching(
    curve_a: Curve, curve_b: Curve | None, kind: int, d: Floats, C: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Place of the contact, ``s_a`` and ``s_b``, and the curvatures of A and B there; (n,) each.

    ``s_a`` and ``s_b`` are parameters of the curves, as in ``Curve.at``; for ``FLAT`` ``s_b`` is x along the
    face (m), for ``POINT`` 0. Curvatures (1/m) are positive where the material is convex; that of a face is
    0, that of a point, an end or a corner infinite.

    >>> import numpy as np
    >>> from mbssa.joints.cams.curves import circle
    >>> from mbssa.joints.cams.contact_kernels import FLAT
    >>> d, C = np.array([[0.01, 0.05, 0.0]]), np.eye(3)[None]
    >>> print([number.round(6).tolist() for number in touching(circle(0.02), None, FLAT, d, C)])
    [[1.570796], [-0.01], [50.0], [0.0]]
    """
    found = contacts(curve_a, curve_b, kind, d, C)
    s_a = curve_a.parameter(found.place[:, 0])
    curvature = curve_a.curvature(s_a)
    if curve_b is not None and kind == CURVE:
        s_b = curve_b.parameter(found.place[:, 1])
        return s_a, s_b, curvature, curve_b.curvature(s_b)
    c, rate, _ = curve_a.at(s_a)
    speed = (rate * rate).sum(axis=1)
    slope = (found.normal * rate).sum(axis=1)
    curvature = np.where(slope**2 > _UNEVEN * speed, np.inf, curvature)
    if kind == POINT:
        return s_a, np.zeros(len(d)), curvature, np.full(len(d), np.inf)
    return s_a, ((c - d[:, :2]) * C[:, :2, 0]).sum(axis=1), curvature, np.zeros(len(d))
