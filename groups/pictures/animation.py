"""An animated GIF of a motion."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groups.pictures.canvas import Canvas, canvas_for
from groups.pictures.drawing import MOST_BODIES, draw_bodies, draw_ground, draw_key, title_of
from groups.pictures.paths import PATH_INSTANTS, draw_path, path_of
from groups.pictures.points import PointName, points_of
from groups.pictures.scene import scene_of
from groups.pictures.style import FINE, GRID, PATH_COLOUR
from mbssa.gathering.files import write_whole
from mbssa.pictures.limits import refuse_beyond, require_matplotlib

if TYPE_CHECKING:
    from groups.trajectory import Trajectory

#: Frames of a GIF beyond which it is a film, which other tools make.
MOST_FRAMES = 600

_RESOLUTION = 110

#: Colours of a palette from here on are paper.
_PAPER = 248


def animate(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    points: Sequence[PointName] | None = None,
    frames: int = 60,
    fps: float = 20.0,
    loop: bool = True,
) -> None:
    """Write an animated GIF of the motion at evenly chosen instants, with the paths of points.

    The title of each frame has its time, and the groups that failed there. The file is either whole or
    not there, and the same motion gives the same bytes.

    Parameters
    ----------
    trajectory : a solved motion
    path : a ``.gif`` file
    points : whose paths are drawn, as in :func:`paths`; ``()`` for none
    frames : at most this many instants, 1 to 600
    fps : frames per second, at most 50, which is what viewers can show
    loop : whether it begins again at its end

    Raises
    ------
    ValueError
        Another ending, numbers out of range, points that are not there, or more than 60 bodies.
    ModuleNotFoundError
        Matplotlib is missing; the message says how to install it.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import groups, mbssa, pathlib, tempfile
    >>> from groups.pictures import animate
    >>> crank = mbssa.load("slider_crank")
    >>> trajectory = groups.build(mbssa.decompose(crank)).solve(groups.constant_speed(crank, steps=9))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "crank.gif")
    ...     animate(trajectory, path, frames=3)
    ...     path.read_bytes()[:6]
    b'GIF89a'
    """
    require_matplotlib()
    faults = []
    if Path(path).suffix.lower() != ".gif":
        faults.append(f"{os.fspath(path)}: an animation is written as .gif")
    if not 1 <= frames <= MOST_FRAMES:
        faults.append(f"frames = {frames}: give 1 to {MOST_FRAMES}")
    if not 0 < fps <= 50:
        faults.append(f"fps = {fps:g}: give more than 0 and at most 50")
    if faults:
        raise ValueError("; ".join(faults))
    scene, traced = scene_of(trajectory, frames), scene_of(trajectory, PATH_INSTANTS)
    refuse_beyond(MOST_BODIES, len(scene.bodies), "bodies", "one picture", "keep fewer when solving")
    canvas = canvas_for(scene)
    lines = [path_of(traced, point) for point in points_of(traced, points)]
    for line in lines:
        draw_path(canvas, line, GRID, 2 * FINE)
    draw_ground(canvas, scene)
    draw_key(canvas, scene)
    images = []
    for f, instant in enumerate(scene.instants.tolist()):
        canvas.title(title_of(trajectory, scene, f))
        drawn = draw_bodies(canvas, scene, f)
        for line in lines:
            drawn += draw_path(canvas, line[traced.instants <= instant], PATH_COLOUR, FINE)
        images.append(_image(canvas))
        for artist in drawn:
            artist.remove()
    write_whole(Path(path), _gif(images, fps, loop))


def _image(canvas: Canvas) -> Any:
    from PIL import Image

    canvas.figure.set_dpi(_RESOLUTION)
    canvas.figure.canvas.draw()
    pixels = np.asarray(canvas.figure.canvas.buffer_rgba())  # type: ignore[attr-defined]
    return Image.fromarray(pixels).convert("RGB")


def _gif(images: list[Any], fps: float, loop: bool) -> bytes:
    """One palette for all frames, or colours flicker; the paper, averaged with its grid, white again."""
    from PIL import Image

    colours = np.array(images[len(images) // 2].quantize(128, dither=0).getpalette()).reshape(-1, 3)
    colours[(colours >= _PAPER).all(axis=1)] = 255
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours.ravel().tolist())
    frames = [image.quantize(palette=palette, dither=0) for image in images]
    stream = io.BytesIO()
    again = {"loop": 0} if loop else {}
    frames[0].save(
        stream,
        format="GIF",
        save_all=True,
        append_images=frames[1:],
        duration=round(1000 / fps),
        optimize=False,
        **again,
    )
    return stream.getvalue()
