"""Arrays of an answer: bodies and quality by instants, side by side in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
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
#: Shapes and kinds of arrays by their names.
Shapes = dict[str, tuple[tuple[int, ...], type[np.generic]]]

#: Bytes of a huge page, from which on one block of memory pays, and of a cache line.
HUGE, LINE = 2 * 1024 * 1024, 64
#: Most bytes that a body, or a group, has in an answer at one instant.
MOST = 152


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
        planar, groups = model.mechanism.space == "planar", model.structure.n_groups
        wanted: Shapes = {}
        for name, of in (OUTPUTS | QUALITY).items():
            begun = instants if of.level <= level else 0
            shape = rows if of.by == "body" else groups, *of.entry(planar), begun
            wanted[name] = shape, of.dtype
        small = instants * (rows + groups) * MOST < HUGE
        made = {name: np.empty(*shape) for name, shape in wanted.items()} if small else _in_one_block(wanted)
        made["status"][:] = OK  # the rest is written at every instant that is solved
        return Arrays.named({name: array.swapaxes(1, -1) for name, array in made.items()})

    @staticmethod
    def named(arrays: dict[str, Any]) -> Arrays:
        """From arrays by :data:`OUTPUTS` and :data:`QUALITY`."""
        outputs, quality = (tuple(arrays[name] for name in names) for names in (OUTPUTS, QUALITY))
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

    def copy(self) -> Arrays:
        """The same numbers in memory of their own."""
        return Arrays.named({name: array.copy() for name, array in self.by_name().items()})


def _in_one_block(shapes: Shapes) -> dict[str, Any]:
    """Empty arrays, contiguous each, side by side in one block of memory."""
    # NumPy asks for huge pages for a block of 4 MiB and more. The system then hands out 2 MiB at a time, and
    # not 512 times 4 KiB, which takes longer than a closed form does.
    sizes = [math.prod(shape) * np.dtype(kind).itemsize for shape, kind in shapes.values()]
    starts = list(accumulate((-(-size // LINE) * LINE for size in sizes), initial=0))
    # A huge page begins at a multiple of its size, and the last one has to fit too.
    block = np.empty(max(-(-starts[-1] // HUGE) + 1, 2) * HUGE, np.uint8)
    first = -block.ctypes.data % HUGE
    return {
        name: block[first + start : first + start + size].view(kind).reshape(shape)
        for (name, (shape, kind)), start, size in zip(shapes.items(), starts, sizes, strict=False)
    }
