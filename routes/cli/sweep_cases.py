"""Options of the command ``mbssa sweep``: cases, limits and columns from texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from routes.sweep.cases import Cases, Method, even_steps, grid, sample, table

#: What may follow ``NAME=`` in each option.
GRID_FORM = "LOW:HIGH:NUMBER, or values with commas between; a million of them at most"
SAMPLE_FORM = "LOW:HIGH, or normal:MEAN:DEVIATION"


def cases_asked(
    grids: Sequence[str],
    samples: Sequence[str],
    file: Path | None,
    number: int | None,
    method: Method,
    seed: int,
) -> Cases:
    """Cases from texts such as ``2-3.slide=0.9:1.4:50``.

    Raises
    ------
    ValueError
        None of the three ways, or several; texts that are none of the forms: all of them.
    """
    faults: list[str] = []
    ways = [name for name, given in (("--grid", grids), ("--sample", samples), ("--cases", file)) if given]
    if len(ways) != 1:
        said = " and ".join(ways) if ways else "nothing"
        faults.append(f"cases: {said} says what they are; write one of --grid, --sample and --cases")
    if samples and number is None:
        faults.append("--sample: how many cases? write --number N")
    if number is not None and not samples:
        faults.append("--number: is for --sample; a grid has as many cases as its values make")
    axes = _named(grids, "--grid", GRID_FORM, _grid_values, faults)
    ranges = _named(samples, "--sample", SAMPLE_FORM, _range, faults)
    if faults:
        raise ValueError("\n  ".join(faults))
    try:
        if file is not None:
            return table(file)
        if samples:
            assert number is not None
            return sample(ranges, number, method, seed)
        return grid(axes)
    except OSError as error:
        raise ValueError(f"--cases {file}: {error.strerror or error}") from None


def limits_asked(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Limits from texts such as ``2-3.slide=0.9:1.4``.

    Raises
    ------
    ValueError
        Other texts: all of them.
    """
    faults: list[str] = []
    found = _named(texts, "--limit", "LOW:HIGH", _ends, faults)
    if faults:
        raise ValueError("\n  ".join(faults))
    return found


def _named(
    texts: Sequence[str], option: str, form: str, read: Callable[[str], Any], faults: list[str]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, values = text.rpartition("=")
        name = name.strip()
        try:
            if not equals or not name:
                raise ValueError
            value = read(values.strip())
        except ValueError:
            faults.append(f"{option} {text}: write NAME={form}")
            continue
        if name in found:
            faults.append(f"{option} {text}: {name} stands twice")
        found[name] = value
    return found


def _grid_values(text: str) -> list[float]:
    if ":" not in text:
        return [float(part) for part in text.split(",")]
    low, high, number = text.split(":")
    return even_steps(float(low), float(high), int(number))


def _range(text: str) -> Any:
    if text.startswith("normal:"):
        from scipy.stats import norm

        _, mean, deviation = text.split(":")
        if not float(deviation) > 0:
            raise ValueError
        return norm(float(mean), float(deviation))
    return _ends(text)


def _ends(text: str) -> tuple[float, float]:
    low, high = text.split(":")
    return float(low), float(high)
