"""Ranges of quantities over time among many designs of one motion."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from mbssa.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Envelope:
    """Statistics of one quantity over designs, at each instant."""

    number: Ints  # (T,) designs that were solved at the instant
    low: Floats  # (T,) NaN where no design was solved
    high: Floats  # (T,)
    mean: Floats  # (T,)
    squares: Floats  # (T,) sum of the squares of the deviations from the mean

    @property
    def deviation(self) -> Floats:
        """Standard deviation (T,) over the designs."""
        found: Floats = np.sqrt(self.squares / np.maximum(self.number, 1))
        return found

    def over(self, scale: float) -> Envelope:
        """The statistics of the quantity divided by a scale."""
        return Envelope(
            self.number, self.low / scale, self.high / scale, self.mean / scale, self.squares / scale**2
        )

    @classmethod
    def of(cls, value: Floats) -> Envelope:
        """Statistics of one design's values (T,); NaN where it was not solved."""
        solved = np.isfinite(value)
        return cls(solved.astype(np.int64), value, value, np.where(solved, value, 0.0), np.zeros(len(value)))

    def joined(self, other: Envelope) -> Envelope:
        """Statistics of the designs of both (Chan, Golub and LeVeque, 1983)."""
        number = self.number + other.number
        share = other.number / np.maximum(number, 1)
        away = np.where(self.number > 0, other.mean - self.mean, 0.0)
        return Envelope(
            number,
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
            np.where(self.number > 0, self.mean + away * share, other.mean),
            self.squares + other.squares + away**2 * self.number * share,
        )


def packed(time: Floats | None, envelopes: Mapping[str, Envelope]) -> bytes:
    """Bytes for a file: time, names, and of each quantity a row of the arrays."""
    if time is None or not envelopes:
        return b""
    rows = [np.stack([e.number, e.low, e.high, e.mean, e.squares]) for e in envelopes.values()]
    stream = io.BytesIO()
    np.savez_compressed(stream, time=time, names=np.array(list(envelopes)), rows=np.stack(rows))
    return stream.getvalue()


def unpacked(parts: Iterable[bytes]) -> tuple[Floats, dict[str, Envelope]]:
    """Time (T,) and the envelopes over all parts; none where a part has none or has other instants."""
    time: Floats = np.zeros(0)
    found: dict[str, Envelope] = {}
    for part in parts:
        if not part:
            return np.zeros(0), {}
        with np.load(io.BytesIO(part), allow_pickle=False) as stored:
            rows = {
                str(name): Envelope(row[0].astype(np.int64), *row[1:])
                for name, row in zip(stored["names"], stored["rows"], strict=True)
            }
            if found and not np.array_equal(time, stored["time"]):
                return np.zeros(0), {}
            time = stored["time"]
        found = {name: found[name].joined(row) if found else row for name, row in rows.items()}
    return time, found
