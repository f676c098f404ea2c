"""Cams: plane curves, follower laws, profiles made from them, and their curvature and pressure angles."""
