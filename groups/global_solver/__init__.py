"""The global approach: all bodies of a group, or of a mechanism, and all equations in one system."""
