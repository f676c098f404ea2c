"""Module 3 of MBSSA3D: what the count cannot see, and what to do about it."""
