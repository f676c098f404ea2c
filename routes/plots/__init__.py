"""Pictures of routes, schedules, their scaling, and sweeps.

Matplotlib is imported when a picture is drawn, not before; the extra ``pictures`` brings it.

>>> import mbssa
>>> from routes.enumeration import tree
>>> from routes.plots import routes_tree
>>> figure = routes_tree(tree(mbssa.decompose(mbssa.load("theo_jansen"))))
>>> [text.get_text() for text in figure.axes[0].texts][-2:]
['sequential', 'parallel']
"""

from routes.plots.gantt import Chart, draw_gantt, gantt
from routes.plots.scaling import draw_scaling, speed_ups
from routes.plots.sweep import draw_sweep, sweep_picture
from routes.plots.tree import draw_tree, routes_tree

__all__ = [
    "Chart",
    "draw_gantt",
    "draw_scaling",
    "draw_sweep",
    "draw_tree",
    "gantt",
    "routes_tree",
    "speed_ups",
    "sweep_picture",
]
