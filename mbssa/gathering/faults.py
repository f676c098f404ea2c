"""Names of :mod:`mbssa.faults`, by which readers call them."""

from mbssa.faults import Fault as Fault
from mbssa.faults import ModelError as ModelError
