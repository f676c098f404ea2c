"""Catalogue of joint types, one file each; a file may hold a type of both spaces, or several alike."""

# To add a type, write its file and name it in TYPES; tests/contracts/test_joint_types.py then holds it to the
# contract of every type. mbssa.joints.register adds one from outside.

from __future__ import annotations

from mbssa.joints.joint_type import JointType
from mbssa.joints.types import (
    bevel_gear,
    cam,
    coupling,
    cylindrical,
    distance,
    free_body,
    gear,
    helical,
    pin_in_slot,
    planar,
    plane_cylinder,
    point_contacts,
    prismatic,
    revolute,
    rod,
    rolling,
    slotted_cylindrical,
    sphere_cylinder,
    sphere_plane,
    spherical,
    universal,
    user,
)

#: Table 3 in its order, then additions: the order in which a group's type name lists its pairs (1R1P1U1S3D).
TYPES: tuple[JointType, ...] = (
    revolute.SPATIAL,
    revolute.PLANAR,
    prismatic.SPATIAL,
    prismatic.PLANAR,
    helical.SPATIAL,
    point_contacts.FIVE,
    cylindrical.SPATIAL,
    universal.SLOTTED_SPHERICAL,
    universal.SPATIAL,
    cam.PLANAR,
    gear.ORDINARY,
    gear.EPICYCLIC,
    point_contacts.FOUR,
    rolling.ROLLING,
    rolling.WITH_SLIP,
    spherical.SPATIAL,
    planar.SPATIAL,
    slotted_cylindrical.SPATIAL,
    point_contacts.THREE,
    free_body.PLANAR,
    sphere_cylinder.SPATIAL,
    plane_cylinder.SPATIAL,
    point_contacts.TWO,
    sphere_plane.SPATIAL,
    rod.SPATIAL,
    free_body.SPATIAL,
    pin_in_slot.PLANAR,
    rod.PLANAR,
    distance.SPATIAL,
    distance.PLANAR,
    bevel_gear.SPATIAL,
    coupling.SPATIAL,
    coupling.PLANAR,
    user.SPATIAL,
    user.PLANAR,
)
