"""Module 3 of MBSSA3D: singularities, redundant constraints and their treatment."""
