"""Assembly modes: in how many ways a group can be assembled, and how a motion starts in another than now."""

from groups.assembly_modes.listing import AssemblyMode, GroupModes, in_modes, modes, starting_pose
from groups.assembly_modes.search import STARTS

__all__ = ["STARTS", "AssemblyMode", "GroupModes", "in_modes", "modes", "starting_pose"]
