"""Many motions or poses at once: workspaces, variations of a design, tolerances."""

from routes.sweep.cases import Cases, grid, sample, table
from routes.sweep.result import Sweep, open_sweep
from routes.sweep.run import sweep
from routes.sweep.store import SweepError

__all__ = ["Cases", "Sweep", "SweepError", "grid", "open_sweep", "sample", "sweep", "table"]
