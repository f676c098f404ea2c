"""Options of the command ``mbssa sweep``: cases, limits and columns from texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mbssa.joints.catalogue import coordinate_unit
from mbssa.units import numbers_in_si
from routes.sweep.cases import Cases, Method, even_steps, grid, sample, table

#: Forms of a value after ``NAME=`` in each option.
_UNITS = "; in m and rad, or with units (90deg, 5mm)"
GRID_FORM = f"LOW:HIGH:NUMBER, or values with commas between{_UNITS}; a million of them at most"
SAMPLE_FORM = f"LOW:HIGH, or normal:MEAN:DEVIATION{_UNITS}"

#: SI units that the texts of an option give to numbers, by the name that they belong to.
Given = dict[str, str]


def read_cases(
    grids: Sequence[str],
    samples: Sequence[str],
    file: Path | None,
    number: int | None,
    method: Method,
    seed: int,
) -> Cases:
    """Cases from texts such as ``2-3.slide=0.9:1.4:50`` or ``1-2.angle=0:90deg:10``."""
    faults: list[str] = []
    ways = [name for name, given in (("--grid", grids), ("--sample", samples), ("--cases", file)) if given]
    if len(ways) != 1:
        given_by = " and ".join(ways) if ways else "no option"
        faults.append(f"cases: {given_by} defines them; write one of --grid, --sample and --cases")
    if samples and number is None:
        faults.append("--sample: how many cases? write --number N")
    if number is not None and not samples:
        faults.append("--number: is for --sample; a grid has as many cases as its values make")
    given: Given = {}
    axes = _named(grids, "--grid", GRID_FORM, _grid_values, given, faults)
    ranges = _named(samples, "--sample", SAMPLE_FORM, _range, given, faults)
    if faults:
        raise ValueError("\n  ".join(faults))
    try:
        if file is not None:
            return table(file)
        if samples:
            assert number is not None
            return replace(sample(ranges, number, method, seed), units=given)
        return replace(grid(axes), units=given)
    except OSError as error:
        raise ValueError(f"--cases {file}: {error.strerror or error}") from None


def read_limits(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Limits from texts such as ``2-3.slide=0.9:1.4`` or ``1-2.angle=-30deg:30deg``."""
    faults: list[str] = []
    given: Given = {}
    found = _named(texts, "--limit", f"LOW:HIGH{_UNITS}", _ends, given, faults)
    faults += [
        f"--limit {name}: is in {coordinate_unit(name)}, not in {unit}"
        for name, unit in given.items()
        if unit != coordinate_unit(name)
    ]
    if faults:
        raise ValueError("\n  ".join(faults))
    return found


def _named(
    texts: Sequence[str],
    option: str,
    form: str,
    read: Callable[[str], tuple[Any, str]],
    given: Given,
    faults: list[str],
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, values = text.rpartition("=")
        name = name.strip()
        try:
            if not equals or not name:
                raise ValueError
            value, unit = read(values.strip())
        except ValueError:
            faults.append(f"{option} {text}: write NAME={form}")
            continue
        if name in found:
            faults.append(f"{option} {text}: {name} stands twice")
        found[name] = value
        if unit:
            given[name] = unit
    return found


def _grid_values(text: str) -> tuple[list[float], str]:
    if ":" not in text:
        return numbers_in_si(text.split(","))
    low, high, number = text.split(":")
    ends, unit = numbers_in_si([low, high])
    return even_steps(ends[0], ends[1], int(number)), unit


def _range(text: str) -> tuple[Any, str]:
    if text.startswith("normal:"):
        from scipy.stats import norm

        (mean, deviation), unit = numbers_in_si(text.split(":")[1:])
        if not deviation > 0:
            raise ValueError
        return norm(mean, deviation), unit
    return _ends(text)


def _ends(text: str) -> tuple[tuple[float, float], str]:
    (low, high), unit = numbers_in_si(text.split(":"))
    return (low, high), unit
