"""Base of the tables of model files and cam profiles: strictness, and words for their faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from mbssa.faults import Fault, meant

#: Remedy by the type of pydantic's error, with what its context holds.
_WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a text in quotes",
    "bool_type": "true or false",
    "list_type": "a list […]",
    "tuple_type": "a list […]",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "literal_error": "{expected}",
    "too_short": "at least {min_length} entries",
    "too_long": "at most {max_length} entries",
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than_equal": "{le:g} at most",
}

#: What to write for keys of a model file that must be there.
_EXAMPLES = {
    "format": "format = 1",
    "space": 'space = "spatial"',
    "type": 'type = "R"',
    "bodies": "bodies = [1, 2]",
    "origin": "origin = [0, 0, 0]",
    "mass": "mass = 1.0",
}


def place_in(loc: tuple[int | str, ...], raw: Any) -> tuple[int | str, ...]:
    """Part of a validation error's location that stands in the file, with a missing key at its end."""
    # Pydantic puts the names of a union's alternatives into it, which the file's author never wrote.
    place: list[int | str] = []
    here = raw
    for step in loc:
        if isinstance(here, dict) and isinstance(step, str) and (step in here or step == loc[-1]):
            place.append(step)
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            place.append(step)
            here = here[step]
    return tuple(place)


def by_places(error: ValidationError, raw: Any) -> dict[tuple[int | str, ...], list[Any]]:
    """Errors of pydantic by their places in the file."""
    found: dict[tuple[int | str, ...], list[Any]] = {}
    for problem in error.errors():
        found.setdefault(place_in(problem["loc"], raw), []).append(problem)
    return found


def place_text(place: tuple[int | str, ...]) -> str:
    """Keys and numbers, from 1: ``law[2].over``."""
    return "".join(f"[{k + 1}]" if isinstance(k, int) else f".{k}" for k in place).removeprefix(".")


def table_at(table: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel]:
    """The table in which the last key of a location stands; a law's name chooses among those of laws."""
    laws: list[type[BaseModel]] = []
    for step in loc[:-1]:
        field = keys_of(table).get(str(step))
        if field is None:
            table = next((one for one in laws if step in get_args(one.model_fields["law"].annotation)), table)
            continue
        inner = list(_tables(field.annotation))
        table, laws = (inner[0], []) if len(inner) == 1 else (table, inner)
    return table


def keys_of(table: type[BaseModel]) -> dict[str, FieldInfo]:
    """Fields of a table by the keys of a file."""
    return {field.alias or name: field for name, field in table.model_fields.items()}


def _tables(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _tables(inner)


def shape_fault(place: str, problems: list[Any], table: type[BaseModel], about: str = "") -> Fault:
    """Fault of what pydantic found at one place; ``about`` stands behind the remedy."""
    kind, key = problems[0]["type"], str(problems[0]["loc"][-1]) if problems[0]["loc"] else ""
    fields = keys_of(table)
    if kind == "json_invalid":
        return Fault(place, f"is no JSON: {problems[0]['ctx']['error']}", "syntax")
    if kind in ("value_error", "unknown", "unsupported"):
        message = str(problems[0]["msg"]).removeprefix("Value error, ")
        return Fault(place, message, "value" if kind == "value_error" else kind)
    if kind == "extra_forbidden":
        hint = meant(key, fields)
        return Fault(place, f"unknown key; {hint}the keys here are {', '.join(fields)}", "unknown")
    if kind == "missing":
        about = f" ({fields[key].description})" if key in fields and fields[key].description else ""
        return Fault(place, f"is missing; write {_EXAMPLES.get(key, f'{key} = …')}{about}", "missing")
    wanted = " or ".join(dict.fromkeys(map(_wanted, problems)))
    return Fault(place, f"is {shown(problems[0]['input'])}; write {wanted}{about}")


def _wanted(problem: Any) -> str:
    known = _WANTED.get(problem["type"])
    return str(problem["msg"]) if known is None else known.format(**problem.get("ctx", {}))


def shown(value: object) -> str:
    """A value of the file as a message shows it, 60 characters at most."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


class Table(BaseModel):
    """A TOML table: no unknown keys, no conversion of types."""

    model_config = ConfigDict(extra="forbid", strict=True)
