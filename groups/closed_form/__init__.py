"""Closed forms: the data that their kernels take, and the assembly modes of each."""
