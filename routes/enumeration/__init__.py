"""Which routes there are: how many, one after another, best predicted first, and as a tree.

>>> from routes.dag import Dag
>>> from routes.enumeration import count, enumerate_routes
>>> legs = Dag(((), (0,), (0,)))
>>> count(legs), list(enumerate_routes(legs))
(2, [((1,), (2,), (3,)), ((1,), (2, 3))])
"""

from routes.enumeration.branches import tree, tree_of
from routes.enumeration.counting import count
from routes.enumeration.listing import Route, enumerate_routes
from routes.enumeration.ordered import BestFirst, best_first
from routes.enumeration.symmetry import TooLarge

__all__ = [
    "BestFirst",
    "Route",
    "TooLarge",
    "best_first",
    "count",
    "enumerate_routes",
    "tree",
    "tree_of",
]
