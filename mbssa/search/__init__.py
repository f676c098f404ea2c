"""Module 4 of MBSSA3D, the structural analysis: :func:`decompose` and its two methods."""

from mbssa.search.decompose import decompose

__all__ = ["decompose"]
