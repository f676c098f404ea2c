"""Pictures of publication quality: the structural graph and the structural diagram of a mechanism.

Matplotlib is imported when a picture is drawn, not before; the extra ``pictures`` brings it.

>>> import mbssa
>>> from mbssa.pictures import structural_graph
>>> figure = structural_graph(mbssa.decompose(mbssa.load("spatial_four_bar")))
>>> round(figure.get_figwidth() * 25.4)
85
"""

from mbssa.pictures.diagram import structural_diagram
from mbssa.pictures.files import ending_of, save
from mbssa.pictures.graph import structural_graph

__all__ = ["ending_of", "save", "structural_diagram", "structural_graph"]
