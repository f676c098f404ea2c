"""A mechanism, and what is made of it, goes to another process and comes back the same."""

import copy
import pickle

import numpy as np
import pytest

import groups
import mbssa
from mbssa.io.records import to_record

#: Models with every kind of joint.
MODELS = (
    "planar_four_bar", "theo_jansen", "cam_roller", "planetary", "rotor", "stewart", "bricard",
    "universal_shafts", "micromanipulator_driven",
)  # fmt: skip


def test_a_pickled_mechanism_is_the_same_and_still_frozen():
    for name in MODELS:
        mechanism = mbssa.load(name)
        assert mechanism.joint_ids, name  # derived, and so left behind
        for twin in (pickle.loads(pickle.dumps(mechanism)), copy.deepcopy(mechanism)):
            assert "joint_ids" not in vars(twin), name
            assert to_record(twin) == to_record(mechanism), name
            assert twin.multiple_joints == mechanism.multiple_joints, name
            assert (twin.name, twin.title) == (mechanism.name, mechanism.title), name
            assert not twin.driven.flags.writeable, name
            with pytest.raises(TypeError):
                twin.joint_geometry[0] = None


def test_a_pickled_model_gives_the_same_bits():
    for name in ("planar_four_bar", "stewart_inverse"):
        model = groups.build(mbssa.decompose(mbssa.load(name)))
        twin = pickle.loads(pickle.dumps(model))
        assert str(twin.structure) == str(model.structure), name
        motion = groups.default_motion(model.mechanism, steps=9)
        one, two = model.solve(motion), twin.solve(motion)
        for array in ("position", "orientation", "acceleration", "status"):
            assert np.array_equal(getattr(one, array), getattr(two, array)), name
