"""Assembly modes of structural groups as thumbnails, all to one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import networkx
import numpy as np

from groups.pictures.canvas import IN_SPACE, Canvas
from groups.pictures.drawing import draw
from groups.pictures.scene import Scene, scene_of
from groups.trajectory import at_rest
from mbssa.joints.poses import Poses
from mbssa.pictures.limits import refuse_beyond, require_matplotlib
from mbssa.pictures.style import FONT, SMALL_TEXT, axes_at, figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from groups.assembly_modes import GroupModes
    from groups.model import Model

#: Thumbnails of one picture, and of one row of it.
MOST_MODES, _ROW = 60, 5

# Millimetres: a side of a thumbnail, what is over it for its name, between thumbnails, around what is shown.
_SIDE, _NAME, _BETWEEN, _MARGIN = 38.0, 5.0, 3.0, 4.5


def mode_pictures(model: Model, listed: Sequence[GroupModes]) -> Figure:
    """Thumbnails of the assembly modes of groups: the bodies of a group and of those that it depends on.

    A ValueError for more than 60 modes.

    >>> import groups, mbssa
    >>> model = groups.build(mbssa.decompose(mbssa.load("planar_four_bar")))
    >>> figure = groups.pictures.mode_pictures(model, [groups.modes(model, 2)])
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
    cells = [(found, *cell) for found in listed for cell in enumerate(_scenes(model, found), 1)]
    for cell, (found, f, scene) in enumerate(cells):
        row, column = divmod(cell, columns)
        place = _BETWEEN / 2 + column * wide, height - (row + 1) * tall, _SIDE, _SIDE
        axes: Any = axes_at(figure, *place, **({} if scene.planar else IN_SPACE))
        half = float((scene.high - scene.low).max()) / 2 * _SIDE / (_SIDE - 2 * _MARGIN) or 1.0
        x, y, z = ((scene.low + scene.high) / 2 + [[-half], [half]]).T
        axes.set(xlim=x, ylim=y, xticks=[], yticks=[])
        if scene.planar:
            axes.spines[:].set(linewidth=0.4, color="#BBBBBB")
        else:
            axes.set_zlim(z)
            axes.view_init(elev=20, azim=-60)
            axes.set_box_aspect((1, 1, 1), zoom=1.55)
            axes.set_axis_off()
        draw(Canvas(figure, axes, not scene.planar, 2 * half / _SIDE), scene)
        name = f"SG-{found.group}, mode {f}" + (", the reference" if f == found.reference else "")
        axes.set_title(name, fontsize=SMALL_TEXT, family=FONT, pad=2.0)
    return figure


def _scenes(model: Model, found: GroupModes) -> list[Scene]:
    """The modes of a group; the groups before it are at the reference, those after it left out."""
    structure, reference = model.structure, model.reference
    numbers = [found.group, *networkx.ancestors(structure.dag, found.group)]
    arrays = reference.position, reference.rotation, reference.angle
    poses = Poses(*(np.repeat(array[None], len(found), axis=0) for array in arrays))
    for f, mode in enumerate(found):
        poses.position[f, mode.bodies], poses.rotation[f, mode.bodies] = mode.position, mode.rotation
    bodies = np.flatnonzero(np.isin(structure.group_of_body, numbers))
    scene = scene_of(at_rest(structure.mechanism, poses, bodies), len(found))
    return [scene.at(f) for f in range(len(found))]
