"""Assembly modes of structural groups as thumbnails, all to one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import networkx
import numpy as np

from groups.pictures.canvas import Canvas
from groups.pictures.drawing import draw_bodies, draw_ground
from groups.pictures.scene import Scene, at_rest, scene_of
from groups.trajectory import Trajectory
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.style import FONT, SMALL_TEXT, figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from groups.assembly_modes import GroupModes
    from groups.model import Model

#: Thumbnails of one picture, and of one row of it.
MOST_MODES, _ROW = 60, 5

# Millimetres: a side of a thumbnail, what is over it for its name, and between thumbnails.
_SIDE, _NAME, _BETWEEN = 38.0, 5.0, 3.0

#: Directions from which mechanisms in space are seen, as in other pictures.
_ELEVATION, _AZIMUTH = 20, -60


def mode_pictures(model: Model, listed: Sequence[GroupModes]) -> Figure:
    """Thumbnails of the assembly modes of groups: the bodies of a group and of those that it depends on.

    Raises
    ------
    ValueError
        More than 60 modes.
    ModuleNotFoundError
        Matplotlib is missing; the message says how to install it.

    Examples
    --------
    >>> import groups, mbssa
    >>> from groups.pictures import mode_pictures
    >>> model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    >>> figure = mode_pictures(model, [groups.modes(model, 2)])
    >>> [axes.get_title() for axes in figure.axes]
    ['SG-2, mode 1', 'SG-2, mode 2, the reference']
    """
    require_matplotlib()
    scenes = [(found, scene_of(_standing(model, found), np.arange(len(found)))) for found in listed]
    number = sum(len(found) for found in listed)
    refuse_beyond(MOST_MODES, number, "assembly modes", "one picture", "name a group with --group")
    columns = min(_ROW, number)
    rows = -(-number // columns)
    width, height = columns * (_SIDE + _BETWEEN), rows * (_SIDE + _NAME + _BETWEEN)
    figure = figure_of(width, height)
    cells = [(found, scene, f) for found, scene in scenes for f in range(len(found))]
    for cell, (found, scene, f) in enumerate(cells):
        row, column = divmod(cell, columns)
        left, bottom = (
            _BETWEEN / 2 + column * (_SIDE + _BETWEEN),
            height - (row + 1) * (_SIDE + _NAME + _BETWEEN),
        )
        place = (left / width, bottom / height, _SIDE / width, _SIDE / height)
        canvas = _canvas(figure, place, scene)
        draw_ground(canvas, scene)
        draw_bodies(canvas, scene, f)
        name = f"SG-{found.group}, mode {f + 1}" + (", the reference" if f + 1 == found.reference else "")
        canvas.axes.set_title(name, fontsize=SMALL_TEXT, family=FONT, pad=2.0)
    return figure


def _standing(model: Model, found: GroupModes) -> Trajectory:
    """The modes of a group as instants; the groups before it at the reference, those after it left out."""
    structure = model.structure
    numbers = {found.group, *networkx.ancestors(structure.dag, found.group)}
    bodies = np.flatnonzero(np.isin(structure.group_of_body, sorted(numbers)))
    stands = []
    for mode in found:
        position, rotation = model.reference.position.copy(), model.reference.rotation.copy()
        position[mode.bodies], rotation[mode.bodies] = mode.position, mode.rotation
        stands.append(
            at_rest(
                structure.mechanism, replace(model.reference, position=position, rotation=rotation), bodies
            )
        )
    status = np.zeros((len(stands), 0))
    return replace(
        stands[0],
        time=np.arange(len(stands), dtype=float),
        position=np.concatenate([stand.position for stand in stands]),
        orientation=np.concatenate([stand.orientation for stand in stands]),
        status=status.astype(np.int8),
        residual=status,
        iterations=status.astype(np.int64),
        condition=status,
    )


def _canvas(figure: Figure, place: tuple[float, float, float, float], scene: Scene) -> Canvas:
    """Axes without ticks that show the whole scene."""
    middle, half = (scene.low + scene.high) / 2, 0.56 * float((scene.high - scene.low).max()) or 1.0
    limits = np.stack([middle - half, middle + half], axis=1)
    axes: Any
    if scene.planar:
        axes = figure.add_axes(place)
        axes.set(xlim=limits[0], ylim=limits[1], xticks=[], yticks=[])
        for spine in axes.spines.values():
            spine.set(linewidth=0.4, color="#BBBBBB")
    else:
        from mpl_toolkits.mplot3d import Axes3D

        axes = Axes3D(figure, rect=place, proj_type="ortho")
        figure.add_axes(axes)
        axes.set(xlim=limits[0], ylim=limits[1], zlim=limits[2])
        axes.view_init(elev=_ELEVATION, azim=_AZIMUTH)
        axes.set_box_aspect((1, 1, 1), zoom=1.35)
        axes.set_axis_off()
    return Canvas(figure, axes, not scene.planar, 2 * half / _SIDE)
