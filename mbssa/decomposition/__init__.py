"""Module 4 of MBSSA3D, the search for structural groups: by a matching, or as the paper does it."""
