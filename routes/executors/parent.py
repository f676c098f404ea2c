"""What a worker process owes the process that started it."""

from __future__ import annotations

import os
import signal
import threading
import time
from functools import cache

#: Seconds between two looks for the parent.
LOOK = 0.5


@cache
def follow(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it is gone; said twice it is done once."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK)
        os._exit(1)

    if hasattr(os, "getppid") and os.getppid() == parent:
        threading.Thread(target=look, daemon=True).start()
