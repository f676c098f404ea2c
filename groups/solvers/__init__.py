"""Solvers of structural groups: which group gets which, and its unknowns."""
