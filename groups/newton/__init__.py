"""Newton for any structural group on the poses of its own bodies, compiled."""
