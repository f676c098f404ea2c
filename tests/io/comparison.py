"""Comparisons of mechanisms that went through files, and faults of files."""

import dataclasses

import numpy as np
import pytest

import mbssa

COLUMNS = ("joint_start", "joint_body", "joint_type", "driven")
#: All but the ``folder`` of the file.
OF_THE_FILE = (*COLUMNS, "folder")
RECORDS = tuple(f.name for f in dataclasses.fields(mbssa.Mechanism) if f.name not in OF_THE_FILE)

#: All kinds of joint, laws, profiles, functions and notes that a model file may have.
MODELS = (
    "planar_four_bar", "theo_jansen", "cam_roller", "involute_teeth", "geneva", "planetary", "differential",
    "rack_steering", "rope_hoist", "rotor", "stewart", "bricard", "universal_shafts", "fixture",
    "double_banana", "kinematic_coupling", "suspension",
)  # fmt: skip

#: A spatial four-bar linkage as a sheet.
SHEET = """spatial,frame,crank,coupler,slider
frame,-,R,-,P
crank,R,-,S,-
coupler,-,S,-,C
slider,P,-,C,-

driven,frame,crank,coupler,slider
frame,0,1,0,0
crank,1,0,0,0
coupler,0,0,0,0
slider,0,0,0,0
"""


def same_mechanism(one, other, *, except_for=()):
    """Every column and record is equal; geometry to the last bit."""
    for name in COLUMNS:
        column, same = getattr(one, name), getattr(other, name)
        assert column.dtype == same.dtype, name
        np.testing.assert_array_equal(column, same, err_msg=name)
    for name in RECORDS:
        if name not in except_for:
            assert getattr(one, name) == getattr(other, name), name
            assert type(getattr(one, name)) is type(getattr(other, name)), name


def topology(mechanism):
    """Pairs with their types and numbers of driven coordinates, in no order."""
    return mechanism.space, sorted(
        (sorted(joint.bodies), joint.type.code, len(joint.driven)) for joint in mechanism.joints
    )


def groups(mechanism):
    return [(group.bodies, group.type_name) for group in mbssa.decompose(mechanism).groups]


def says(path, *parts):
    """The faults of a file, of which one has all these parts."""
    with pytest.raises(mbssa.ModelError) as caught:
        mbssa.load(path)
    assert str(path) in str(caught.value)
    faults = [str(fault) for fault in caught.value.faults]
    assert any(all(part in fault for part in parts) for fault in faults), (parts, faults)
    return faults
