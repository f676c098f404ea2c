"""Names of :mod:`mbssa.bounds`, by which readers call them."""

from mbssa.bounds import LARGEST as LARGEST
from mbssa.bounds import SMALLEST as SMALLEST
from mbssa.bounds import body_faults as body_faults
from mbssa.bounds import joint_faults as joint_faults
from mbssa.bounds import range_fault as range_fault
