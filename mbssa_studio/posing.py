"""Poses of the bodies at values of the inputs, while a person drags one, and the page that plays a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import groups
from groups.motion.laws import usual_motion
from groups.pictures.page import page_text
from mbssa import Fault, ModelError
from mbssa.joints.catalogue import is_length
from mbssa.joints.frames import joint_frames
from mbssa_studio.session import State
from mbssa_studio.view import unit_of

#: Share of the way to where an input ends that is played: at a dead point speeds are unbounded.
_INSIDE = 0.98


class Posing:
    """Solvable model of one state, whose inputs take any values."""

    # Each pose is solved from the reference, so that it depends on the values alone and not on the way there.

    def __init__(self, state: State) -> None:
        if state.mechanism is None or state.structure is None:
            raise ModelError(state.name, state.faults)
        if not state.structure.determined:
            what = "not determined by the mobility count; look at the findings, drive or change joints"
            raise ModelError(state.name, [Fault("", what, "structure")])
        try:
            self.model = groups.build(state.structure)
        except ValueError as error:
            raise ModelError(state.name, [Fault("", str(error))]) from None
        self.mechanism = self.model.mechanism
        self.scale = unit_of(state)[1]
        self.inputs = dict(self.model.reference_inputs)
        self.modes: dict[int, int] = {}
        self.rest = self._solved(self.inputs)

    def pose(self, values: Mapping[str, float], modes: dict[int, int] | None = None) -> dict[str, Any]:
        """Poses of all bodies at inputs in m and rad (the reference's if not named), and what failed."""
        # Planar poses are displacements from the reference: x, y in the file's unit, angle in rad. Spatial
        # ones (``placed``) are positions, m, and quaternions w, x, y, z.
        unknown = sorted(set(values) - set(self.inputs))
        if unknown:
            raise ModelError("inputs", [Fault(name, "is not driven", "unknown") for name in unknown])
        wanted = {**self.inputs, **values}
        if not all(np.isfinite(value) for value in wanted.values()):
            raise ModelError("inputs", [Fault("", "are not finite; write numbers")])
        found = self._solved(wanted, modes)
        if not found.ok:
            return {
                "failed": found.faults(self._still(wanted))[:1] or ["not assemblable (out of reach)"],
                "values": wanted,
            }
        if self.mechanism.space != "planar":
            placed = np.concatenate([found.position[0], found.orientation[0]], axis=1)
            return {"placed": placed.round(9).tolist(), "values": wanted, "reference": self.inputs}
        moved = np.column_stack([found.position[0] - self.rest.position[0], found.orientation[0]])
        moved[:, 2] -= self.rest.orientation[0]
        turned = self._about_world(moved)
        return {"poses": turned.round(12).tolist(), "values": wanted, "reference": self.inputs}

    def reach(self, name: str) -> dict[str, float]:
        """Range of an input (m or rad from the reference) to each side while the others are fixed."""
        # A turn or the size of the mechanism to each side, in 180 steps: ``low`` and ``high`` are the last up
        # to which every group was solved, ``least`` and ``most`` likewise for the limits that the model gives
        # its coordinates.
        if name not in self.inputs:
            raise ModelError("inputs", [Fault(name, "is not driven", "unknown")])
        far = joint_frames(self.mechanism).size / 2 if is_length(name) else np.pi
        limits = self.mechanism.coordinate_limits
        ends, kept = [], []
        for side in (-1, 1):
            share = np.linspace(0.0, 1.0, 181)
            values = {
                each: np.full(181, value) + (side * far * share if each == name else 0.0)
                for each, value in self.inputs.items()
            }
            motion = groups.from_arrays(self.mechanism, share, values)
            found = self.model.solve(motion, level="position", modes=self.modes or None)
            solved = (found.status == 0).all(axis=1)
            ends.append(side * far * _last(solved) / 180)
            for coordinate, (low, high) in limits.items():
                joint, own = self.mechanism.place_of(coordinate)
                value = found.joint(joint)[own].value
                solved &= (value >= low) & (value <= high)
            kept.append(side * far * _last(solved) / 180)
        return {"low": ends[0], "high": ends[1], "least": kept[0], "most": kept[1]}

    def switch(self, group: int, mode: int) -> dict[str, Any]:
        """Put a group into another assembly mode, if it can be solved there; its :meth:`pose`."""
        modes = {**self.modes, group: mode}
        answer = self.pose({}, modes)
        if "failed" not in answer:
            self.modes = modes
        return answer

    def _still(self, values: Mapping[str, float]) -> groups.Motion:
        still = {name: [0.0] for name in values}
        return groups.from_arrays(
            self.mechanism, [0.0], {name: [value] for name, value in values.items()}, still, still
        )

    def _solved(self, values: Mapping[str, float], modes: dict[int, int] | None = None) -> Any:
        chosen = modes or self.modes or None
        return self.model.solve(self._still(values), level="position", modes=chosen, compiled=False)

    def _about_world(self, moved: Any) -> Any:
        """Displacements as a rotation about the world's origin and a shift, as a drawing applies them."""
        at = self.rest.position[0]
        cosine, sine = np.cos(moved[:, 2]), np.sin(moved[:, 2])
        turned = np.column_stack([cosine * at[:, 0] - sine * at[:, 1], sine * at[:, 0] + cosine * at[:, 1]])
        moved[:, :2] = (at + moved[:, :2] - turned) / self.scale
        return moved + 0.0

    def page(self) -> str:
        """Page that plays the motion of the model, its own or the usual one as far as its input goes."""
        try:
            played = self.mechanism
            if played.motion is None:
                played = replace(played, motion=usual_motion(played, self._range()))
            motion = groups.default_motion(played, at_reference=self.inputs)
            return page_text(self.model.solve(motion, modes=self.modes or None))
        except ValueError as error:
            raise ModelError(self.mechanism.name, [Fault("", str(error))]) from None

    def _range(self) -> tuple[float, float] | None:
        """Range of a single input, m or rad, a little less than it reaches; None if it turns all round."""
        if len(self.inputs) != 1:
            return None
        ((name, value),) = self.inputs.items()
        reach = self.reach(name)
        low, high = (_INSIDE * reach[side] for side in ("least", "most"))
        if low == high or (not is_length(name) and high - low >= _INSIDE * 2 * np.pi):
            return None
        return value + low, value + high


def _last(good: Any) -> int:
    """Index of the last time step up to which all are good; 0 where none is."""
    return len(good) - 1 if good.all() else max(int(good.argmin()) - 1, 0)
