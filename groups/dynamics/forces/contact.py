"""Contact of a profile of one body with a roller, knife, face or profile of another, in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from groups.dynamics.forces.at import At
from groups.dynamics.forces.hertz import contact_loads, pressure_energy
from mbssa.arrays import Floats
from mbssa.graph.frames import ZERO
from mbssa.graph.nodes import Number
from mbssa.joints.cams.contact import contacts
from mbssa.joints.cams.profiles import Profile, profile_from
from mbssa.loads import Force


def exert(force: Force, at: At) -> None:
    """Equal and opposite forces on both bodies, none while the profiles are apart."""
    *place, x, y, depth = _touch(force, at)
    first, second = force.bodies
    contact_loads(force, at, (first, second), [*place, 0.0], [x, y], depth)


def energy(force: Force, at: At) -> Number:
    """Energy of the compressed contact, J."""
    return pressure_energy(force, _touch(force, at)[-1])


def _touch(force: Force, at: At) -> list[Number]:
    """Contact point of the second body, outward normal of the first, penetration, m."""
    assert force.points is not None
    numbers = []
    for body, point in zip(force.bodies, force.points, strict=True):
        frame = at.body(body).end(ZERO, at.frames.rotation[body].T.tolist())
        numbers += [*at.point(body, point)[:2], *frame.axes[0][:2]]
    return at.called(partial(_search, force), 5, at.time, *numbers)


def _search(force: Force, time: Floats, *numbers: Floats) -> Sequence[Floats]:
    """The same of arrays (T,): places of the profiles' frames and their first axes in the plane."""
    assert force.profile is not None
    profile, count = profile_from(force.profile), len(time)
    origins, axes = [], []
    for x, y, c, s in (numbers[:4], numbers[4:]):
        zero = np.zeros(count)
        origins.append(np.stack([x, y, zero], axis=1))
        rows = [[c, -s, zero], [s, c, zero], [zero, zero, zero + 1.0]]
        axes.append(np.moveaxis(np.array(rows), 2, 0))
    back = axes[0].swapaxes(1, 2)
    across = (back @ (origins[1] - origins[0])[:, :, None])[:, :, 0]
    turned = back @ axes[1]
    place, normal = np.full((2, count, 2), np.nan)
    gap = np.full(count, np.nan)
    known = np.isfinite(across).all(axis=1) & np.isfinite(turned).all(axis=(1, 2))
    far = _distance(profile, across, turned)
    away = known & (far > 0.0)
    gap[away], normal[away], place[away] = far[away], 0.0, origins[0][away, :2]
    near = np.flatnonzero(known & ~away)
    found = contacts(profile.curve, profile.follower_curve, profile.kind, across[near], turned[near])
    lost = near[np.isnan(found.gap)]
    if len(lost):
        raise ValueError(
            f"force {force.id} profile: at t = {time[lost[0]]:.6g} s the curves have no pair of points with "
            "opposed normals; write curves that are smooth and convex where they come near"
        )
    gap[near] = found.gap - profile.radius
    flat, touched = axes[0][near, :2, :2], found.point - profile.radius * found.normal
    normal[near] = (flat @ found.normal[:, :, None])[:, :, 0]
    place[near] = origins[0][near, :2] + (flat @ touched[:, :, None])[:, :, 0]
    return [*place.T, *normal.T, -gap]


def _distance(profile: Profile, across: Floats, turned: Floats) -> Floats:
    """Distance (T,) of circles around both closed profiles, m; 0 where a search is needed."""
    if not all(curve.closed for curve in profile.curves) or profile.follower == "flat":
        return np.zeros(len(across))
    centre, radius = profile.curve.around
    out, other = across[:, :2] - centre, profile.radius
    if profile.follower_curve is not None:
        centre, other = profile.follower_curve.around
        out = out + turned[:, :2, :2] @ centre
    found: Floats = np.maximum(np.hypot(*out.T) - radius - other, 0.0)
    return found
