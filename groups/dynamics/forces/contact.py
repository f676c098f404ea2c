"""Contact of a profile of one body with a roller, knife, face or profile of another, in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from groups.dynamics.forces.at import At
from groups.dynamics.forces.formulas import contact_loads
from groups.rotations import plane_rotation
from mbssa.arrays import Floats
from mbssa.graph.nodes import Number
from mbssa.joints.axes import in_space
from mbssa.joints.cams.contact import contacts
from mbssa.joints.cams.profiles import Profile, profile_from
from mbssa.loads import Force


def exert(force: Force, at: At) -> Number:
    """Equal and opposite forces on both bodies, none while the profiles are apart."""
    assert force.profile is not None
    profile = profile_from(force.profile)
    search = partial(_search, force, profile)
    return contact_loads(force, at, force.bodies, force.points or (), profile.radius, search)


def _search(
    force: Force, profile: Profile, time: Floats, x: Floats, y: Floats, cosine: Floats, sine: Floats
) -> Sequence[Floats]:
    """Place of contact, normal and gap (T,) of the curves by the pose of the second one's frame."""
    d, C = in_space(np.stack([x, y], axis=1)), plane_rotation(np.arctan2(sine, cosine))
    far = _distance(profile, d, C)
    numbers = np.array([*[0.0 * far] * 4, far + profile.radius])
    near = np.flatnonzero(far <= 0.0)
    found = contacts(profile.curve, profile.follower_curve, profile.kind, d[near], C[near])
    lost = near[np.isnan(found.gap)]
    if len(lost):
        raise ValueError(
            f"force {force.id} profile: at t = {time[lost[0]]:.6g} s the curves have no pair of points with "
            "opposed normals; write curves that are smooth and convex where they come near"
        )
    place = found.point - profile.radius * found.normal
    numbers[:, near] = [*place.T, *found.normal.T, found.gap]
    return list(numbers)


def _distance(profile: Profile, d: Floats, C: Floats) -> Floats:
    """Distance (T,) of circles around both closed profiles, m; 0 where a search is needed."""
    if not all(curve.closed for curve in profile.curves) or profile.follower == "flat":
        return 0.0 * d[:, 0]
    centre, radius = profile.curve.around
    out, other = d[:, :2] - centre, profile.radius
    if profile.follower_curve is not None:
        centre, other = profile.follower_curve.around
        out = out + C[:, :2, :2] @ centre
    found: Floats = np.maximum(np.hypot(*out.T) - radius - other, 0.0)
    return found
