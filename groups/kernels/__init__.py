"""Compiled solvers of one group over a block of instants, and the small vector kernels that they share."""
