"""Solvers of structural groups: which group gets which, and its data for the kernels."""
