"""Style of pictures of a motion; sizes in millimetres and texts in points, as in ``mbssa.pictures``."""

from __future__ import annotations

from mbssa.pictures.style import OVER_EDGE

#: Colours of the bodies in turn, Okabe and Ito's without the yellow, which white paper swallows.
BODY_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7A6BB0", "#8C6D4F")
FRAME_COLOUR = "#7A7A7A"
PATH_COLOUR = "#444444"
DRIVEN = OVER_EDGE
GRID = "#E4E4E4"
FAILED = "#FBE0CD"

WIDTH = 120.0
TALLEST = 130.0
LEAST = 42.0

LINK, EDGE, FINE = 2.6, 1.5, 0.8
MARK = 5.2


def body_colour(body: int) -> str:
    """Colour of a body by its index; the frame is grey."""
    return BODY_COLOURS[(body - 1) % len(BODY_COLOURS)] if body else FRAME_COLOUR
