"""Questions to a mechanism as a whole: its structural groups, and what is wrong with it."""
