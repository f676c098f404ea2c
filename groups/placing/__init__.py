"""Placings of the bodies of one group: all its assembly modes where earlier bodies and inputs are given."""
