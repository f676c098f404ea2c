"""Expression graph: numbers that are not known yet, their derivatives, and their Python source."""
