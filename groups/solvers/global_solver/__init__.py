"""All constraints of all bodies of a group, or of a mechanism, at once: dense or sparse elimination."""
