"""Commented models to begin with: what ``mbssa new`` writes."""
