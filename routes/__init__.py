"""In what order, how parallel and where the groups of a model are solved: kinematic routes."""

from routes.job import TaskError
from routes.plan import Plan, parallel_route, plan_of, sequential_route
from routes.run import run

__all__ = [
    "Plan",
    "TaskError",
    "parallel_route",
    "plan_of",
    "run",
    "sequential_route",
]
