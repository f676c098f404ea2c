"""In what order, how parallel and where the groups of a model are solved: kinematic routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbssa.lazy import lazy as _lazy
from routes.calibration import costs
from routes.cost import Costs
from routes.dag import Dag
from routes.enumeration import TooLarge, best_first, count, tree
from routes.enumeration import enumerate_routes as enumerate
from routes.event_log import EventLog
from routes.job import TaskError
from routes.plan import Plan, parallel_route, plan_of, sequential_route, sequential_with_reactions
from routes.predict import Prediction, predict
from routes.reverse import dag_with_reactions, signed
from routes.run import Outcome, forces, logged_run, run
from routes.scaling import Scaling
from routes.simulate import Schedule
from routes.study import Study, Trial, best_plan, predicted_scaling, study
from routes.sweep import Cases, Sweep, SweepError, grid, open_sweep, sample, sweep, table

if TYPE_CHECKING:
    from routes import plots as plots

__all__ = [
    "Cases",
    "Costs",
    "Dag",
    "EventLog",
    "Outcome",
    "Plan",
    "Prediction",
    "Scaling",
    "Schedule",
    "Study",
    "Sweep",
    "SweepError",
    "TaskError",
    "TooLarge",
    "Trial",
    "best_first",
    "best_plan",
    "costs",
    "count",
    "dag_with_reactions",
    "enumerate",
    "forces",
    "grid",
    "logged_run",
    "open_sweep",
    "parallel_route",
    "plan_of",
    "predict",
    "predicted_scaling",
    "run",
    "sample",
    "sequential_route",
    "sequential_with_reactions",
    "signed",
    "study",
    "sweep",
    "table",
    "tree",
]

__getattr__, __dir__ = _lazy(__name__, {}, ("plots",))
