"""Options of the command ``mbssa sweep``: cases, limits and columns from texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from groups import Model
from mbssa.joints.catalogue import coordinate_unit
from mbssa.units import UnitError, numbers_in_si, one_in_si
from routes.sweep.cases import Cases, Method, even_steps, grid, sample, table
from routes.sweep.parameters import parameters_of, unit_of

#: Forms of a value after ``NAME=`` in each option.
_UNITS = "; in MODEL's units, or with their own (90deg, 5mm)"
GRID_FORM = f"LOW:HIGH:NUMBER, or values with commas between{_UNITS}; a million of them at most"
SAMPLE_FORM = f"LOW:HIGH, or normal:MEAN:DEVIATION{_UNITS}"

#: Numbers of one name in SI, from their texts: :func:`mbssa.units.numbers_in_si` with a unit.
Read = partial[list[float]]


def read_cases(
    model: Model,
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

    def unit(name: str) -> str:
        return unit_of(model.mechanism, *parameters_of(model.mechanism, [name], model.structure.n_groups))

    axes = _named(model, grids, "--grid", GRID_FORM, _grid_values, unit, faults)
    ranges = _named(model, samples, "--sample", SAMPLE_FORM, _range, unit, faults)
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


def read_limits(model: Model, texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Limits from texts such as ``2-3.slide=0.9:1.4`` or ``1-2.angle=-30deg:30deg``."""
    faults: list[str] = []
    found = _named(model, texts, "--limit", f"LOW:HIGH{_UNITS}", _ends, coordinate_unit, faults)
    if faults:
        raise ValueError("\n  ".join(faults))
    return found


def _named(
    model: Model,
    texts: Sequence[str],
    option: str,
    form: str,
    read: Callable[[str, Read], Any],
    unit_of_name: Callable[[str], str],
    faults: list[str],
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, values = text.rpartition("=")
        name = name.strip()
        if not equals or not name:
            faults.append(f"{option} {text}: write NAME={form}")
            continue
        try:
            unit = unit_of_name(name)
        except ValueError:  # said with the faults of all other names, by what takes the cases
            found[name] = (0.0, 1.0)
            continue
        try:
            value = read(values.strip(), partial(numbers_in_si, si=unit, units=model.mechanism.units))
        except UnitError as error:
            faults.append(f"{option} {text}: {name} {error}")
            continue
        except ValueError:
            faults.append(f"{option} {text}: write NAME={form}")
            continue
        if name in found:
            faults.append(f"{option} {text}: {name} stands twice")
        found[name] = value
    return found


def _grid_values(text: str, numbers: Read) -> list[float]:
    if ":" not in text:
        return numbers(text.split(","))
    low, high, number = text.split(":")
    ends = numbers([low, high])
    # Steps are round numbers in the unit in which the ends are given.
    one = one_in_si([low, high], **numbers.keywords)
    return [step * one for step in even_steps(ends[0] / one, ends[1] / one, int(number))]


def _range(text: str, numbers: Read) -> Any:
    if text.startswith("normal:"):
        from scipy.stats import norm

        mean, deviation = numbers(text.split(":")[1:])
        if not deviation > 0:
            raise ValueError
        return norm(mean, deviation)
    return _ends(text, numbers)


def _ends(text: str, numbers: Read) -> tuple[float, float]:
    low, high = numbers(text.split(":"))
    return low, high
