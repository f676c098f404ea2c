"""In what order, how parallel and where the groups of a model are solved: kinematic routes."""

from routes.calibration import costs
from routes.cost import Costs
from routes.dag import Dag
from routes.enumeration import TooLarge, best_first, count, tree
from routes.enumeration import enumerate_routes as enumerate
from routes.event_log import EventLog
from routes.job import TaskError
from routes.plan import Plan, parallel_route, plan_of, sequential_route
from routes.predict import Prediction, predict
from routes.run import Outcome, logged_run, run
from routes.scaling import Scaling
from routes.simulate import Schedule
from routes.study import Study, Trial, best_plan, predicted_scaling, study
from routes.sweep import Cases, Sweep, SweepError, grid, open_sweep, sample, sweep, table

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
    "enumerate",
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
    "study",
    "sweep",
    "table",
    "tree",
]
