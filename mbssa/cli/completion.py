"""Shell completion: model names and files, and names in the model on the command line."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from mbssa.mechanism import Mechanism

#: Names with their descriptions.
Names = Iterator[tuple[str, str]]


def models(incomplete: str) -> list[str]:
    """Built-in models, and model files; a shell completes other paths itself."""
    from mbssa.io import builtin_names
    from mbssa.io.formats import ALL_ENDINGS

    names = [name for name in builtin_names() if name.startswith(incomplete)]
    return names + _files(incomplete, ALL_ENDINGS)


def motions(incomplete: str) -> list[str]:
    """Files that a motion may be in."""
    return _files(incomplete, (".toml", ".csv"))


def _files(incomplete: str, endings: Sequence[str]) -> list[str]:
    folder, _, start = incomplete.rpartition("/")
    try:
        entries = sorted(Path(folder or ("/" if incomplete[:1] == "/" else ".")).iterdir())
    except OSError:
        return []
    prefix = incomplete[: len(incomplete) - len(start)]
    names = [path.name for path in entries if path.suffix in endings and path.is_file()]
    return [prefix + name for name in names if name.startswith(start)]


def words(*known: str) -> Callable[[str], list[str]]:
    """Completion by these words, after a comma too."""

    def complete(incomplete: str) -> list[str]:
        before, comma, start = incomplete.rpartition(",")
        return [f"{before}{comma}{word}" for word in known if word.startswith(start)]

    return complete


def _of_the_model(*kinds: Callable[[Mechanism], Names], after: str = "") -> Callable[..., Names]:
    """A completion by names of the model, after a comma too; ``after`` them stands a sign such as "="."""

    def complete(context: typer.Context, incomplete: str) -> Names:
        from mbssa.io import load

        # Where the option's value is still missing, the parser leaves the arguments as they are.
        model = context.params.get("model") or next(iter(context.args), None)
        before, comma, start = incomplete.rpartition(",")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                mechanism = load(model) if model else None
            except (ValueError, OSError):  # completion shows no faults of the model
                mechanism = None
        found = dict(chain(*(kind(mechanism) for kind in kinds)) if mechanism is not None else ())
        for name, description in found.items():
            if name.startswith(start):
                yield f"{before}{comma}{name}{after}", description

    return complete


def _joints(mechanism: Mechanism) -> Names:
    for joint in mechanism.joints:
        yield joint.id, f"{joint.type.code}, {_between(mechanism, joint.index)}"


def _coordinates(mechanism: Mechanism) -> Names:
    for joint in mechanism.joints:
        for name in joint.type.coordinates:
            driven = ", driven" if name in joint.driven else ""
            yield f"{joint.id}.{name}", f"{_between(mechanism, joint.index)}{driven}"


def _bodies(mechanism: Mechanism) -> Names:
    for body in mechanism.bodies:
        yield body.name, f"body {body.number}"


def _points(mechanism: Mechanism) -> Names:
    for index, geometry in sorted(mechanism.body_geometry.items()):
        for point in geometry.points:
            yield f"{mechanism.body_name(index)}.{point}", "point"


def _groups(mechanism: Mechanism) -> Names:
    from mbssa.analysis.decompose import decompose

    for group in decompose(mechanism).groups:
        yield str(group.number), group.type_name


def _between(mechanism: Mechanism, joint: int) -> str:
    return " and ".join(mechanism.body_name(body) for body in mechanism.joint_bodies(joint))


joints, coordinates, bodies, groups = map(_of_the_model, (_joints, _coordinates, _bodies, _groups))
points, names = _of_the_model(_points, _joints), _of_the_model(_joints, _coordinates)
recorded = _of_the_model(_joints, _coordinates, _bodies, _points)
coordinate_values, group_values = _of_the_model(_coordinates, after="="), _of_the_model(_groups, after="=")
