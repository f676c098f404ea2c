"""The joints that a mechanism may have: what they allow, what they need, what they are called."""

from mbssa.joints.catalogue import CATALOGUE, JointType, Space, joint_type, register, types_of

__all__ = ["CATALOGUE", "JointType", "Space", "joint_type", "register", "types_of"]
