"""Module 4 of MBSSA3D, the structural analysis: ``mbssa.search.decompose`` and its two methods."""
