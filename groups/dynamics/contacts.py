"""Normal forces of contacts, and faults where they pull although a contact can only push."""

# A contact is an equation for its gap, positive where the bodies are apart: its multiplier is the normal
# force, positive where it pushes.

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.joint_jacobian import joint_rows
from mbssa.arrays import Floats
from mbssa.joints.axes import cross

if TYPE_CHECKING:
    from groups.dynamics.results import Forces


#: Share of the largest normal force of a contact below which a pull is rounding.
_ROUNDING = 1e-9


def contact_forces(forces: Forces) -> dict[str, Floats]:
    """Normal forces (T,) N of contacts by ``joint.constraint``; see :meth:`Forces.contacts`."""
    mechanism = forces.trajectory.mechanism
    joints = [joint for joint in forces.joints if mechanism.joints[joint].type.gap]
    found = {}
    for joint in sorted(joints):
        kind, of = mechanism.joints[joint].type, forces.joints[joint]
        state, (point, _) = of.state, of.frame
        rows = joint_rows(state, joint)
        names = rows.names[: rows.constraints]
        second = rows.bodies[1]
        force = np.where(of.open[1], np.nan, of.wrench[:, 1])
        arm = point - state.centre[second]
        load = np.concatenate(
            [force[:, :3] * state.frames.size, force[:, 3:] + cross(arm, force[:, :3])], axis=1
        )
        multipliers = _multipliers(rows.jacobian[:, : rows.constraints, 1], load) / state.frames.size
        for row, name in enumerate(names):
            if name.startswith(kind.gap):
                found[f"{mechanism.joint_ids[joint]}.{name}"] = multipliers[:, row]
    return found


def pulling(forces: Forces) -> list[str]:
    """A sentence for each contact whose force pulls: since when, and at how many instants."""
    time, found = forces.trajectory.time, []
    for name, force in contact_forces(forces).items():
        largest = float(np.nanmax(np.abs(force), initial=0.0))
        with np.errstate(invalid="ignore"):
            at = np.flatnonzero(force < -_ROUNDING * largest)
        if len(at):
            found.append(
                f"contact {name} pulls, first at t = {time[at[0]]:.6g} s, at {len(at)} of {len(time)} "
                f"instants, by up to {-float(np.nanmin(force)):.4g} N; a contact that only pushes would part"
            )
    return found


def _multipliers(jacobian: Floats, load: Floats) -> Floats:
    """Multipliers (T, m) of equations (T, m, 6) that load a body by (T, 6); NaN where either is."""
    found = np.full(jacobian.shape[:2], np.nan)
    known = np.isfinite(jacobian).all(axis=(1, 2)) & np.isfinite(load).all(axis=1)
    inverse = np.linalg.pinv(jacobian[known].swapaxes(1, 2))
    found[known] = (inverse @ load[known][:, :, None])[:, :, 0]
    return found
