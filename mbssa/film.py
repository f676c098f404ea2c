"""Kinds of films, their sizes and rates."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

#: Files that an animation is written as, and the encoder of each video.
ENCODERS = {".mp4": "libx264", ".webm": "libvpx-vp9"}
ANIMATIONS = (".gif", *ENCODERS)

#: Frames and frames per second by default and at most, of a GIF and of a video.
FRAMES, FPS = {True: (60, 600), False: (180, 20_000)}, {True: (20.0, 50.0), False: (30.0, 120.0)}

#: Pixels from the left to the right by default, at least and at most.
WIDTH, _NARROWEST, _WIDEST = 758, 100, 3840


@dataclass(frozen=True)
class Film:
    """Size and rate of an animation; what is None is chosen by the kind of file.

    Attributes
    ----------
    frames : at most this many instants, evenly chosen; 60 of a GIF (600 at most), 180 of a video
    fps : frames per second; 20 of a GIF (50 at most), 30 of a video (120 at most)
    width : pixels from the left to the right, 100 to 3840; 758
    """

    frames: int | None = None
    fps: float | None = None
    width: int | None = None

    def faults(self, path: str | os.PathLike[str]) -> list[str]:
        """What keeps the file from being written with these numbers.

        >>> Film(frames=0).faults("a.gif")
        ['frames = 0: give 1 to 600']
        """
        ending = Path(path).suffix.lower()
        if ending not in ANIMATIONS:
            return [f"{os.fspath(path)}: an animation is written as .gif, .mp4 or .webm"]
        faults = []
        _, frames = FRAMES[ending == ".gif"]
        _, fps = FPS[ending == ".gif"]
        if self.frames is not None and not 1 <= self.frames <= frames:
            faults.append(f"frames = {self.frames}: give 1 to {frames:,}")
        if self.fps is not None and not 0 < self.fps <= fps:
            faults.append(f"fps = {self.fps:g}: give more than 0 and at most {fps:g}")
        if self.width is not None and not _NARROWEST <= self.width <= _WIDEST:
            faults.append(f"width = {self.width}: give {_NARROWEST} to {_WIDEST} pixels")
        return faults


def require_video() -> None:
    """Refuse without PyAV, which encodes videos."""
    try:
        import av  # noqa: F401
    except ImportError as error:
        raise ModuleNotFoundError("videos need PyAV: pip install 'mbssa[video]'") from error
