"""Joint types: degrees of freedom, equations, geometry and names."""

from mbssa.joints.catalogue import CATALOGUE, JointType, Space, joint_type, register, types_of

__all__ = ["CATALOGUE", "JointType", "Space", "joint_type", "register", "types_of"]
