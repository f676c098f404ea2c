"""Assembly modes of structural groups as thumbnails, all to one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import networkx
import numpy as np

from groups.pictures.canvas import Canvas, box_at
from groups.pictures.drawing import draw_bodies, draw_ground
from groups.pictures.scene import Scene, scene_of
from groups.posed import at_rest
from mbssa.joints.poses import Poses
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.style import FONT, SMALL_TEXT, axes_at, figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from groups.assembly_modes import GroupModes
    from groups.model import Model

#: Thumbnails of one picture, and of one row of it.
MOST_MODES, _ROW = 60, 5

# Millimetres: a side of a thumbnail, what is over it for its name, and between thumbnails.
_SIDE, _NAME, _BETWEEN = 38.0, 5.0, 3.0


def mode_pictures(model: Model, listed: Sequence[GroupModes]) -> Figure:
    """Thumbnails of the assembly modes of groups: the bodies of a group and of those that it depends on.

    Raises
    ------
    ValueError
        More than 60 modes.

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
    number = sum(len(found) for found in listed)
    refuse_beyond(MOST_MODES, number, "assembly modes", "one picture", "name a group with --group")
    columns = min(_ROW, number)
    wide, tall = _SIDE + _BETWEEN, _SIDE + _NAME + _BETWEEN
    height = -(-number // columns) * tall
    figure = figure_of(columns * wide, height)
    cells = [
        (found, scene, f) for found in listed for scene in [_scene(model, found)] for f in range(len(found))
    ]
    for cell, (found, scene, f) in enumerate(cells):
        row, column = divmod(cell, columns)
        canvas = _canvas(figure, _BETWEEN / 2 + column * wide, height - (row + 1) * tall, scene)
        draw_ground(canvas, scene.at(f))
        draw_bodies(canvas, scene.at(f))
        name = f"SG-{found.group}, mode {f + 1}" + (", the reference" if f + 1 == found.reference else "")
        canvas.axes.set_title(name, fontsize=SMALL_TEXT, family=FONT, pad=2.0)
    return figure


def _scene(model: Model, found: GroupModes) -> Scene:
    """The modes of a group as instants; the groups before it at the reference, those after it left out."""
    structure, reference = model.structure, model.reference
    numbers = {found.group, *networkx.ancestors(structure.dag, found.group)}
    bodies = np.flatnonzero(np.isin(structure.group_of_body, sorted(numbers)))
    position, rotation, angle = (
        np.repeat(array[None], len(found), axis=0)
        for array in (reference.position, reference.rotation, reference.angle)
    )
    for f, mode in enumerate(found):
        position[f, mode.bodies], rotation[f, mode.bodies] = mode.position, mode.rotation
    rest = at_rest(structure.mechanism, Poses(position, rotation, angle), bodies)
    return scene_of(rest, np.arange(len(found)))


def _canvas(figure: Figure, left: float, bottom: float, scene: Scene) -> Canvas:
    """Axes without ticks that show the whole scene."""
    middle, half = (scene.low + scene.high) / 2, 0.56 * float((scene.high - scene.low).max()) or 1.0
    x, y, z = np.stack([middle - half, middle + half], axis=1)
    axes: Any = (axes_at if scene.planar else box_at)(figure, left, bottom, _SIDE, _SIDE)
    axes.set(xlim=x, ylim=y, xticks=[], yticks=[])
    if scene.planar:
        axes.spines[:].set(linewidth=0.4, color="#BBBBBB")
    else:
        axes.set_zlim(z)
        axes.view_init(elev=20, azim=-60)
        axes.set_box_aspect((1, 1, 1), zoom=1.35)
        axes.set_axis_off()
    return Canvas(figure, axes, not scene.planar, 2 * half / _SIDE)
