"""The engine: one traced description of every group, solved as NumPy source."""
