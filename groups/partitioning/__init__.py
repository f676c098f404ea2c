"""Coordinate partitioning of a mechanism that is cut open: the numerical rival of the structural choice."""

from groups.partitioning.choice import Partitioning, partition
from groups.partitioning.sweep import PartitionSweep, sweep_partition

__all__ = ["PartitionSweep", "Partitioning", "partition", "sweep_partition"]
