"""The studio: draw a mechanism in the browser, see its structural groups at every edit, and move it.

All state is in :class:`Session`, which needs no browser; ``mbssa studio`` serves it on 127.0.0.1.
"""

from mbssa_studio.session import Session

__all__ = ["Session"]
