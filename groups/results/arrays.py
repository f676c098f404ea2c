"""Arrays of an answer: bodies and quality by instants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from groups.results.schema import OUTPUTS, QUALITY
from groups.status import OK
from mbssa.arrays import Floats, Ints

if TYPE_CHECKING:
    from groups.model import Model

Outputs = tuple[Floats, Floats, Floats, Floats]
Quality = tuple[npt.NDArray[np.int8], Floats, Ints, Floats]


@dataclass(frozen=True, eq=False)
class Arrays:
    """Arrays that take the answer."""

    # Position, orientation, velocity, acceleration, (rows, T, ...), in memory (rows, ..., T) as the engine
    # has them; no instants beyond the level.
    outputs: Outputs
    quality: Quality  # status, residual, iterations, condition, (G, T)

    @staticmethod
    def empty(model: Model, instants: int, rows: int, level: int) -> Arrays:
        """Arrays in memory for so many bodies as ``rows``, before anything is solved; level 0 to 2."""
        planar, groups, made = model.mechanism.space == "planar", model.structure.n_groups, dict[str, Any]()
        for name, of in (OUTPUTS | QUALITY).items():
            begun = instants if of.level <= level else 0
            shape = rows if of.by == "body" else groups, *of.entry(planar), begun
            made[name] = np.empty(shape, of.dtype).swapaxes(1, -1)
        made["status"][:] = OK  # the rest is written at every instant that is solved
        outputs, quality = (tuple(made[name] for name in names) for names in (OUTPUTS, QUALITY))
        return Arrays(cast(Outputs, outputs), cast(Quality, quality))

    def by_name(self) -> dict[str, Any]:
        """The arrays by their names."""
        return dict(zip((*OUTPUTS, *QUALITY), (*self.outputs, *self.quality), strict=True))

    def seal(self) -> None:
        """Make them read-only."""
        for array in (*self.outputs, *self.quality):
            array.flags.writeable = False

    def put(self, span: slice, part: Arrays, first: int = 0) -> None:
        """Take the instants of a span from another answer, there from one on."""
        others = part.by_name()
        for name, mine in self.by_name().items():
            if mine.shape[1]:
                mine[:, span] = others[name][:, first:]
