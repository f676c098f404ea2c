"""Structural transformations: the inputs that give a mechanism its best kinematic structure."""
