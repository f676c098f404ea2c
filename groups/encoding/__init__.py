"""Data of groups for the kernels: a group opened into a tree, its chains and steps, and its equations."""
