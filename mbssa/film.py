"""Kinds of films, their sizes and rates."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True)
class Kind:
    """A kind of film: frames and frames per second by default and at most, and the encoder of a video."""

    frames: int
    most_frames: int
    fps: float
    most_fps: float
    encoder: str = ""


#: Kinds of films by the endings of their files.
FILMS = {
    ".gif": Kind(60, 600, 20.0, 50.0),
    ".mp4": Kind(180, 20_000, 30.0, 120.0, "libx264"),
    ".webm": Kind(180, 20_000, 30.0, 120.0, "libvpx-vp9"),
}

#: Pixels from the left to the right by default, at least and at most.
WIDTH, _NARROWEST, _WIDEST = 758, 100, 3840


@dataclass(frozen=True)
class Film:
    """Size and rate of an animation; what is None is chosen by the kind of file."""

    # frames: at most this many time steps, evenly chosen; 60 of a GIF (600 at most), 180 of a video
    frames: int | None = None
    fps: float | None = None  # frames per second; 20 of a GIF (50 at most), 30 of a video (120 at most)
    width: int | None = None  # pixels from left to right, 100 to 3840; 758

    def faults(self, path: str | os.PathLike[str]) -> list[str]:
        """Reasons why a film of this name cannot have these numbers."""
        kind = FILMS.get(Path(path).suffix.lower())
        if kind is None:
            return [f"{os.fspath(path)}: an animation is written as .gif, .mp4 or .webm"]
        faults = []
        if self.frames is not None and not 1 <= self.frames <= kind.most_frames:
            faults.append(f"frames = {self.frames}: give 1 to {kind.most_frames:,}")
        if self.fps is not None and not 0 < self.fps <= kind.most_fps:
            faults.append(f"fps = {self.fps:g}: give more than 0 and at most {kind.most_fps:g}")
        if self.width is not None and not _NARROWEST <= self.width <= _WIDEST:
            faults.append(f"width = {self.width}: give {_NARROWEST} to {_WIDEST} pixels")
        return faults


def require_video() -> None:
    """Raise a ModuleNotFoundError that says what to install, unless PyAV, which encodes videos, is there."""
    if find_spec("av") is None:
        raise ModuleNotFoundError("videos need PyAV: pip install -e '.[video]' in the clone", name="av")
