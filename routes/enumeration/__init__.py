"""Enumeration of kinematic routes: count, list, best predicted first, tree."""

from routes.enumeration.best_routes import BestFirst, best_first
from routes.enumeration.composition import TooLarge
from routes.enumeration.counting import count
from routes.enumeration.listing import Route, enumerate_routes
from routes.enumeration.route_tree import tree, tree_of

__all__ = ["BestFirst", "Route", "TooLarge", "best_first", "count", "enumerate_routes", "tree", "tree_of"]
