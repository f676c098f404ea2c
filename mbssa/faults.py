"""Faults of an input, all at once, each with its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mbssa.texts import printable

#: Between two faults of one message.
BETWEEN = "\n  "

#: Faults that a message lists before it only counts the rest.
_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: where in the input, and a sentence that says what to write instead.

    >>> print(Fault("[[joint]] 2 (2-3) axis", "is a zero vector; write a direction"))
    [[joint]] 2 (2-3) axis: is a zero vector; write a direction
    """

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


class ModelError(ValueError):
    """An input that is no mechanism; ``faults`` has all that is wrong with it.

    >>> import mbssa
    >>> try:
    ...     mbssa.from_pairs(3, [(1, 2, "R", 2), (2, 4, "Q", 0)], "planar")
    ... except mbssa.ModelError as error:
    ...     print(str(error).replace("L, EO, EPI, RP, RD, FP, SLOT, ROD, DIST, COUPLING, USER", "…"))
    pairs: 3 faults
      pair 1 (1, 2): 2 driven coordinates; an R has 1 free coordinate (angle), so write 0 to 1
      pair 2 (2, 4): 'Q' is not a joint type; planar types are R, P, …
      pair 2 (2, 4): body 4 does not exist; the bodies are 1 (frame) to 3
    """

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__(str(self))

    def __str__(self) -> str:
        lines = [str(fault) for fault in self.faults[:_SHOWN]]
        if len(lines) == 1:
            return printable(f"{self.source}: {lines[0]}")
        head = f"{self.source}: {len(self.faults)} faults"
        more = len(self.faults) - _SHOWN
        if more > 0:
            lines.append(f"… and {more} more")
        return printable("\n  ".join([head, *lines]))
