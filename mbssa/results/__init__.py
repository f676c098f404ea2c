"""The answer as tables, exchange formats and library look-ups (module 5 of MBSSA3D)."""
