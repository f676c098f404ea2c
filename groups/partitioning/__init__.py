"""Coordinate partitioning of a mechanism that is cut open, to compare with structural groups."""

from groups.partitioning.choice import Partitioning, partition
from groups.partitioning.sweep import PartitionSweep, sweep_partition

__all__ = ["PartitionSweep", "Partitioning", "partition", "sweep_partition"]
