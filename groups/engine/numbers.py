"""Numbers of a group: what it reads of others and of its geometry, and their values at the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from mbssa.graph.frames import Frame, clean

if TYPE_CHECKING:
    from groups.engine.kinematics import Group
    from mbssa.arrays import Floats, Ints
    from mbssa.graph.nodes import Number

#: Joint and coordinate; of an auxiliary unknown joint, relation, term and perhaps curve.
Name: TypeAlias = tuple[Any, ...]


class Uses:
    """Numbers of others that a group reads, in the order of first use: the numbering that twins share."""

    def __init__(self) -> None:
        self.bodies: dict[int, int] = {}
        self.drives: dict[int, int] = {}
        self.solved: dict[tuple[int, str], int] = {}
        self.given: dict[Name, Any] = {}

    def of_twin(self, body: Mapping[int, int], drive: Mapping[int, int]) -> Uses:
        """The same of a twin, by its bodies and inputs; its geometry is left out."""
        uses = Uses()
        uses.bodies = {body[b]: k for b, k in self.bodies.items()}
        uses.drives = {drive[row]: k for row, k in self.drives.items()}
        return uses


class Numbers(Protocol):
    """Source of the numbers of a group: its unknowns, inputs, geometry and the bodies solved before."""

    def unknown(self, k: int) -> Number: ...
    def drive(self, row: int) -> Number: ...
    def solved(self, j: int, name: str) -> Number: ...
    def given(self, key: Name, numbers: Any) -> Any: ...
    def body(self, b: int) -> Frame: ...


class Reference:
    """Numbers of the reference, floats, or arrays over twins; notes what is used."""

    def __init__(self, group: Group) -> None:
        self.group, self.setting, self.uses = group, group.setting, group.uses

    def unknown(self, k: int) -> Number:
        return self.group.start[k]

    def drive(self, row: int) -> Number:
        self.uses.drives.setdefault(row, len(self.uses.drives))
        x: Any = self.setting.inputs[self.group.twins.drives.get(row, row)]
        return x if isinstance(x, np.ndarray) else float(x)

    def solved(self, j: int, name: str) -> Number:
        self.uses.solved.setdefault((j, name), len(self.uses.solved))
        return float(self.setting.coordinates[j][name])

    def given(self, key: Name, numbers: Any) -> Any:
        if key not in self.uses.given:
            cleaned = clean(numbers)
            self.uses.given[key] = _last_as_arrays(np.array(cleaned)) if self.group.twins.count else cleaned
        return self.uses.given[key]

    def body(self, b: int) -> Frame:
        self.uses.bodies.setdefault(b, len(self.uses.bodies))
        which, poses = self.group.twins.bodies.get(b, b), self.setting.reference
        place, axes = poses.position[which], np.swapaxes(poses.rotation[which], -1, -2)
        if isinstance(which, np.ndarray):
            place, axes = (_last_as_arrays(np.moveaxis(x, 0, -1)) for x in (place, axes))
            return Frame(place, axes, poses.angle[which])
        return Frame(place.tolist(), axes.tolist(), float(poses.angle[which]))


def _last_as_arrays(numbers: Floats) -> Any:
    """Nested lists of arrays along the last axis, which is that of twins."""
    return [list(x) for x in numbers] if numbers.ndim > 2 else list(numbers)


class Twins:
    """Joints, bodies and inputs of all twins (twins,) by those of the group that stands for them."""

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.joints: dict[int, Ints] = {}
        self.bodies: dict[int, Ints] = {}
        self.drives: dict[int, Ints] = {}


class Known(dict[int, Frame]):
    """Frames of bodies; those of earlier groups are read where they are met first."""

    def __init__(self, numbers: Numbers, ground: Frame) -> None:
        super().__init__({0: ground})
        self.numbers = numbers

    def __missing__(self, b: int) -> Frame:
        self[b] = self.numbers.body(b)
        return self[b]
