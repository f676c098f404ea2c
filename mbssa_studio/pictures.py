"""Pictures of a mechanism by name, and its motion as a table, as the bytes of files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbssa import Mechanism, decompose

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from groups import Model, Trajectory

#: Endings of pictures, and of a motion's table.
STILL, TABLES = (".svg", ".png", ".pdf"), (".csv", ".parquet")


def figure(name: str, mechanism: Mechanism) -> Figure:
    """Picture of a mechanism with this name."""
    if name not in PICTURES:
        raise ValueError(f"{name!r} is no picture; the pictures are {', '.join(PICTURES)}")
    return PICTURES[name](mechanism)


def drawn(name: str, mechanism: Mechanism, ending: str) -> bytes:
    """A picture as a file with an ending of :data:`STILL`."""
    from mbssa.pictures import save

    return _bytes(ending, partial(save, figure(name, mechanism)))


def table(mechanism: Mechanism, ending: str) -> bytes:
    """The motion of a mechanism as a file with an ending of :data:`TABLES`, in the units of its file."""
    return _bytes(ending, lambda path: moved(mechanism).write(path, units="file"))


def modes(mechanism: Mechanism) -> list[dict[str, Any]]:
    """The assembly modes of groups that have several: number, those of the modes, thumbnails as SVG."""
    from groups.assembly_modes import modes as modes_of
    from groups.pictures import mode_pictures
    from mbssa.pictures import save

    model = _model(mechanism)
    several = [found for found in modes_of(model, starts=50) if len(found) > 1]
    pictures = [mode_pictures(model, [found]) for found in several]
    return [
        {
            "group": found.group,
            "reference": found.reference,
            "count": len(found),
            "picture": _bytes(".svg", partial(save, picture)).decode(),
        }
        for found, picture in zip(several, pictures, strict=True)
    ]


def moved(mechanism: Mechanism) -> Trajectory:
    """The mechanism over its own motion, or the usual one."""
    import groups

    model = _model(mechanism)
    return model.solve(groups.default_motion(model.mechanism, at_reference=model.reference_inputs))


def _model(mechanism: Mechanism) -> Model:
    import groups

    structure = decompose(mechanism)
    if not structure.determined:
        raise ValueError("not determined by the mobility count; look at the findings, drive or change joints")
    return groups.build(structure)


def _bytes(ending: str, write: Callable[[Path], None]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"file{ending}")
        write(path)
        return path.read_bytes()


def _mechanism(mechanism: Mechanism) -> Figure:
    from groups.pictures import mechanism_at
    from groups.pictures.drawing import resting

    return mechanism_at(resting(mechanism), -1, where="reference")


def _findings(mechanism: Mechanism) -> Figure:
    from groups.pictures import findings_at_reference

    return findings_at_reference(mechanism)


def _graph(mechanism: Mechanism) -> Figure:
    from mbssa.pictures import structural_graph

    return structural_graph(decompose(mechanism))


def _diagram(mechanism: Mechanism) -> Figure:
    from mbssa.pictures import structural_diagram

    return structural_diagram(decompose(mechanism))


def _coordinates(mechanism: Mechanism) -> Figure:
    from groups.pictures import coordinates

    return coordinates(moved(mechanism), units="file")


def _paths(mechanism: Mechanism) -> Figure:
    from groups.pictures import paths

    return paths(moved(mechanism))


def _routes(mechanism: Mechanism) -> Figure:
    from routes import tree
    from routes.dag import Dag
    from routes.plots import routes_tree

    return routes_tree(tree(Dag.of(_model(mechanism))), fold=True)


def _gantt(mechanism: Mechanism) -> Figure:
    import groups
    from routes import study
    from routes.plots.gantt import charts_of, gantt

    model = _model(mechanism)
    motion = groups.default_motion(model.mechanism, at_reference=model.reference_inputs)
    return gantt(charts_of(study(model, motion, executors=["threads"])))


def _workspace(mechanism: Mechanism) -> Figure:
    """400 poses with each input an eighth of a turn, or of the size, to both sides."""
    import numpy as np

    from mbssa.joints.catalogue import is_length
    from mbssa.joints.frames import joint_frames
    from routes import sample, sweep
    from routes.plots import sweep_picture

    model = _model(mechanism)
    if len(model.reference_inputs) < 2:
        raise ValueError("one input has no workspace; its coordinates over time show all positions")
    length = joint_frames(mechanism).size / 8
    ranges = {
        name: (value - far, value + far)
        for name, value in model.reference_inputs.items()
        for far in [length if is_length(name) else np.pi / 4]
    }
    with tempfile.TemporaryDirectory() as folder:
        found = sweep(model, sample(ranges, 400), store=Path(folder, "sweep"), workers=1, executor="threads")
        return sweep_picture(found)


#: Pictures by name, in the order in which a page lists them.
PICTURES: dict[str, Callable[[Mechanism], Figure]] = {
    "mechanism": _mechanism,
    "findings": _findings,
    "graph": _graph,
    "diagram": _diagram,
    "coordinates": _coordinates,
    "paths": _paths,
    "workspace": _workspace,
    "routes": _routes,
    "gantt": _gantt,
}
