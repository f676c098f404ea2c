"""Quantities of a solved motion, and the files that it is written to."""
