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
    cells: list[tuple[GroupModes, int, Scene]] = []
    for found in listed:  # the groups before it are at the reference, those after it left out
        numbers = [found.group, *networkx.ancestors(model.structure.dag, found.group)]
        bodies = np.flatnonzero(np.isin(model.structure.group_of_body, numbers))
        poses = model.reference[np.tile(np.arange(model.mechanism.n_bodies), (len(found), 1))]
        for f, mode in enumerate(found):
            poses.position[f, mode.bodies], poses.rotation[f, mode.bodies] = mode.position, mode.rotation
        scene = scene_of(at_rest(model.mechanism, poses, bodies), len(found))
        cells += [(found, f + 1, scene.at(f)) for f in range(len(found))]
    for cell, (found, f, scene) in enumerate(cells):
        row, column = divmod(cell, columns)
        place = _BETWEEN / 2 + column * wide, height - (row + 1) * tall, _SIDE, _SIDE
        axes: Any = axes_at(figure, *place, **({} if scene.planar else IN_SPACE))
        half = float(np.ptp(scene.box, axis=0).max()) / 2 * _SIDE / (_SIDE - 2 * _MARGIN) or 1.0
        x, y, z = (scene.box.mean(axis=0) + np.outer([-half, half], np.ones(3))).T
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
