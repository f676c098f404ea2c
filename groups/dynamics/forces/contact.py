"""Contact of a profile of one body with a roller, knife, face or profile of another, in the plane."""

from __future__ import annotations

import numpy as np

from groups.dynamics.forces.hertz import contact_wrenches, pressure_energy
from groups.dynamics.masses import Wrench
from groups.dynamics.state import State
from mbssa.arrays import Floats
from mbssa.joints.cams.contact import contacts
from mbssa.joints.cams.profiles import Profile, profile_from
from mbssa.loads import Force


def wrenches(force: Force, state: State) -> list[Wrench]:
    """Equal and opposite forces on both bodies, none while the profiles are apart."""
    first, second = force.bodies
    return contact_wrenches(force, state, (first, second), *_touch(force, state))


def energy(force: Force, state: State) -> Floats:
    """Energy (T,) of the compressed contact, J."""
    return pressure_energy(force, _touch(force, state)[2])


def _touch(force: Force, state: State) -> tuple[Floats, Floats, Floats]:
    """Contact points (T, 2) of the second body, outward normals of the first, penetrations (T,), m."""
    assert force.points is not None
    assert force.profile is not None
    profile = profile_from(force.profile)
    origins, axes = [], []
    for body, point in zip(force.bodies, force.points, strict=True):
        origins.append(state.position[body] + state.arm(body, np.array(point)))
        axes.append(state.rotation[body] @ state.frames.rotation[body].T)
    back = axes[0].swapaxes(1, 2)
    across = (back @ (origins[1] - origins[0])[:, :, None])[:, :, 0]
    turned = back @ axes[1]
    place, normal = np.full((2, state.instants, 2), np.nan)
    gap = np.full(state.instants, np.nan)
    known = np.isfinite(across).all(axis=1) & np.isfinite(turned).all(axis=(1, 2))
    far = _distance(profile, across, turned)
    away = known & (far > 0.0)
    gap[away], normal[away], place[away] = far[away], 0.0, origins[0][away, :2]
    near = np.flatnonzero(known & ~away)
    found = contacts(profile.curve, profile.follower_curve, profile.kind, across[near], turned[near])
    lost = near[np.isnan(found.gap)]
    if len(lost):
        time = state.trajectory.time[lost[0]]
        raise ValueError(
            f"force {force.id} profile: at t = {time:.6g} s the curves have no pair of points with opposed "
            "normals; write curves that are smooth and convex where they come near"
        )
    gap[near] = found.gap - profile.radius
    flat, touched = axes[0][near, :2, :2], found.point - profile.radius * found.normal
    normal[near] = (flat @ found.normal[:, :, None])[:, :, 0]
    place[near] = origins[0][near, :2] + (flat @ touched[:, :, None])[:, :, 0]
    return place, normal, -gap


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
