"""Pictures of a solved motion: coordinates over time, paths, the mechanism, an animation, a page in 3D.

Matplotlib is imported when a picture is drawn, not before; the extra ``pictures`` brings it, and ``video``
brings PyAV for films. A ModuleNotFoundError says how to install what is missing; the page needs neither.
"""

from groups.pictures.animation import animate, write
from groups.pictures.coordinates import coordinates, forces_over_time
from groups.pictures.drawing import at_reference, mechanism_at
from groups.pictures.findings import findings_at_reference
from groups.pictures.modes import mode_pictures
from groups.pictures.page import Player, page, show
from groups.pictures.paths import paths

__all__ = [
    "Player",
    "animate",
    "at_reference",
    "coordinates",
    "findings_at_reference",
    "forces_over_time",
    "mechanism_at",
    "mode_pictures",
    "page",
    "paths",
    "show",
    "write",
]
