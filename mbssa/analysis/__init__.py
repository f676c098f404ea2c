"""Analyses of a whole mechanism: structural groups, and diagnosis."""
