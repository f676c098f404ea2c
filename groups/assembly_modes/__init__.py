"""Assembly modes: in how many ways a group can be assembled, and how a motion starts in another than now."""

from groups.assembly_modes.listing import AssemblyMode, GroupModes, modes
from groups.assembly_modes.search import STARTS
from groups.assembly_modes.start import in_modes, starting_pose

__all__ = ["STARTS", "AssemblyMode", "GroupModes", "in_modes", "modes", "starting_pose"]
