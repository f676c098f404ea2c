"""A motion as a file: an animated GIF, MP4 or WebM, or what else the ending of its name says."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from groups.pictures.canvas import FINE, GRID, PATH
from groups.pictures.coordinates import coordinates
from groups.pictures.drawing import draw, draw_key, mechanism_at, pictured, title_of
from groups.pictures.page import page
from groups.pictures.paths import PointName, paths, points_of
from groups.pictures.scene import chosen
from mbssa.files import write_whole
from mbssa.film import FILMS, WIDTH, Film, require_video
from mbssa.pictures.files import save
from mbssa.pictures.style import entitle

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


def write(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    picture: Literal["coordinates", "paths", "mechanism"] = "coordinates",
    points: Sequence[PointName] | None = None,
    curves: Sequence[str] | None = None,
    derived: Mapping[str, str] | None = None,
    units: Literal["file", "si"] = "si",
    film: Film | None = None,
) -> None:
    """Write a motion as a film (``.gif``, ``.mp4``, ``.webm``), a page in 3D (``.html``) or a still picture.

    A ValueError for another ending or picture, or what :func:`coordinates`, :func:`paths`,
    :func:`mechanism_at`, :func:`animate` or :func:`page` refuse; an OSError where the file cannot be written.

    Parameters
    ----------
    path : its ending says what is made; the file is either whole or not there afterwards
    picture : of a ``.png``, ``.svg`` or ``.pdf``: "coordinates" over time, "paths" of points, or the
        "mechanism" at the first instant
    points : whose paths are drawn, as in :func:`paths`; coordinates have none
    curves, derived, units : of coordinates over time, as in :func:`coordinates`
    film : size and rate of an animation

    Examples
    --------
    >>> import groups, mbssa, pathlib, tempfile
    >>> trajectory = groups.build(mbssa.decompose(mbssa.load("slider_crank"))).solve()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     groups.pictures.write(trajectory, pathlib.Path(folder, "crank.svg"), picture="mechanism")
    ...     groups.pictures.write(trajectory, pathlib.Path(folder, "crank.html"))
    ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
    ['crank.html', 'crank.svg']
    """
    ending = Path(path).suffix.lower()
    stills = {
        "coordinates": lambda: coordinates(trajectory, curves, derived=derived, units=units),
        "paths": lambda: paths(trajectory, points),
        "mechanism": lambda: mechanism_at(trajectory, 0, points=points),
    }
    wrong = ending not in (*FILMS, ".html", ".htm", ".png", ".svg", ".pdf")
    faults = [f"{os.fspath(path)}: a motion is drawn as .gif, .mp4, .webm, .html, .png, .svg or .pdf"] * wrong
    faults += [f"picture = {picture!r}: write one of {', '.join(stills)}"] * (picture not in stills)
    if faults:
        raise ValueError("; ".join(faults))
    if ending in FILMS:
        animate(trajectory, path, points=points, **vars(film or Film()))
    elif ending.startswith(".htm"):
        page(trajectory, path, points=points)
    else:
        save(stills[picture](), path)


def animate(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    points: Sequence[PointName] | None = None,
    frames: int | None = None,
    fps: float | None = None,
    width: int | None = None,
) -> None:
    """Write an animation of the motion at evenly chosen instants, with the paths of points.

    The title of each frame has its time, and the groups that failed there. The file is either whole or
    not there, and the same motion gives the same bytes of a GIF. A ValueError for another ending, numbers
    out of range, points that are not there, or more than 60 bodies; an OSError where it cannot be written.

    Parameters
    ----------
    path : a ``.gif``, ``.mp4`` (H.264) or ``.webm`` (VP9) file
    points : whose paths are drawn, as in :func:`paths`; ``()`` for none
    frames, fps, width : number of frames, frames per second and pixels, as :class:`Film` has them

    Examples
    --------
    >>> import groups, mbssa, pathlib, tempfile
    >>> trajectory = groups.build(mbssa.decompose(mbssa.load("slider_crank"))).solve()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "crank.gif")
    ...     groups.pictures.animate(trajectory, path, frames=3)
    ...     path.read_bytes()[:6]
    b'GIF89a'
    """
    if faults := Film(frames, fps, width).faults(path):
        raise ValueError("; ".join(faults))
    ending = Path(path).suffix.lower()
    kind = FILMS[ending]
    if kind.encoder:
        require_video()
    images = _images(trajectory, points, frames or kind.frames, width or WIDTH)
    rate = fps or kind.fps
    write_whole(Path(path), _video(images, rate, ending) if kind.encoder else _gif([*images], rate))


def _images(
    trajectory: Trajectory, points: Sequence[PointName] | None, frames: int, width: int
) -> Iterator[Any]:
    """Frames, one after another, as Pillow's images."""
    from PIL import Image

    instants = chosen(len(trajectory.time), frames)
    scene, canvas = pictured(trajectory, instants, named=False)
    lines = [point.path(scene) for point in points_of(scene, points)]
    for line in lines:
        canvas.line(line, GRID, 2 * FINE, zorder=1.4)
    draw_key(canvas, scene)
    canvas.figure.set_dpi(width / canvas.figure.get_figwidth())
    at_rest = set(canvas.axes.get_children())
    for instant in instants.tolist():
        still = scene.at(instant)
        entitle(canvas.figure, title_of(trajectory, still))
        draw(canvas, still)
        for line in lines:
            canvas.line(line[scene.instants <= instant], **PATH)
        canvas.figure.canvas.draw()
        pixels = np.asarray(canvas.figure.canvas.buffer_rgba())  # type: ignore[attr-defined]
        yield Image.fromarray(pixels).convert("RGB")
        for artist in set(canvas.axes.get_children()) - at_rest:
            artist.remove()


def _video(images: Iterator[Any], fps: float, ending: str) -> bytes:
    """Encoded as browsers and slides play it: YUV 4:2:0, which has even widths and heights."""
    import av

    buffer = io.BytesIO()
    with av.open(buffer, "w", format=ending[1:]) as film:
        stream: Any = film.add_stream(FILMS[ending].encoder, rate=Fraction(fps).limit_denominator(1000))
        stream.pix_fmt = "yuv420p"
        # At constant quality; VP9 takes ten times as long without cpu-used.
        stream.options = {"crf": "20", "b": "0"} | ({"cpu-used": "5"} if ending == ".webm" else {})
        for f, image in enumerate(images):
            if f == 0:
                stream.width, stream.height = image.width // 2 * 2, image.height // 2 * 2
            pixels = np.asarray(image)[: stream.height, : stream.width]
            film.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        film.mux(stream.encode())
    return buffer.getvalue()


def _gif(images: list[Any], fps: float) -> bytes:
    """One palette for all frames, or colours flicker; the paper, averaged with its grid, white again."""
    palette = images[len(images) // 2].quantize(128, dither=0)
    colours = np.array(palette.getpalette()).reshape(-1, 3)
    colours[(colours >= 248).all(axis=1)] = 255
    palette.putpalette(colours.ravel().tolist())
    first, *rest = (image.quantize(palette=palette, dither=0) for image in images)
    stream, each = io.BytesIO(), round(1000 / fps)
    first.save(stream, "GIF", save_all=True, append_images=rest, duration=each, optimize=False, loop=0)
    return stream.getvalue()
