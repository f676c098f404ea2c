"""Faults of an input, all at once, each with its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from mbssa.texts import printable

#: Between two faults of one message.
BETWEEN = "\n  "

#: Kinds of faults.
Code = Literal[
    "value",
    "missing",
    "unknown",
    "duplicate",
    "conflict",
    "structure",
    "syntax",
    "unsupported",
    "size",
    "file",
    "function",
]

#: Faults that a message lists before it only counts the rest.
_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: its place in the input, a sentence with the remedy, and its kind for programs.

    Codes and places stay the same where sentences change. ``code`` is ``value`` for a value of another type,
    range or form than is read; ``missing``, ``duplicate``, or ``unknown`` for a name or number that refers to
    nothing; ``conflict`` between entries; ``structure`` where joints and bodies form no mechanism;
    ``syntax``; ``unsupported`` for a part of a format that is not read or written; ``size`` beyond a limit;
    ``file`` for one that cannot be read; ``function`` for a user's function that fails, or may not run.

    >>> fault = Fault("[[joint]] 2 (2-3) axis", "is a zero vector; write a direction")
    >>> print(fault)
    [[joint]] 2 (2-3) axis: is a zero vector; write a direction
    >>> fault.code
    'value'
    """

    place: str
    message: str
    code: Code = "value"

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message

    def at(self, place: str) -> Fault:
        """The same fault at another place."""
        return replace(self, place=place.strip())


class Faults(list[Fault]):
    """Faults found so far; reading goes on, so that all are reported at once."""

    def add(self, place: str, message: str, code: Code = "value") -> None:
        self.append(Fault(place, message, code))

    def raise_if_any(self, source: str) -> None:
        """Raise a `ModelError` of ``source`` with all of them, where there are some."""
        if self:
            raise ModelError(source, self)


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


def meant(name: str, known: Iterable[str], *, most: int = 1) -> str:
    """Question of a message that names what is like an unknown name, with a space behind it, or nothing."""
    import difflib  # for messages alone

    near = difflib.get_close_matches(str(name), list(known), n=most)
    return f"did you mean {' or '.join(map(repr, near))}? " if near else ""
