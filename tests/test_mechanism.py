"""A mechanism, and what is made of it, goes to another process and comes back the same."""

import copy
import pickle

import numpy as np
import pytest

import groups
import mbssa
from mbssa.io.records import to_record


@pytest.mark.parametrize("name", mbssa.builtin_names())
def test_a_pickled_mechanism_is_the_same_and_still_frozen(name):
    mechanism = mbssa.load(name)
    assert mechanism.joint_ids  # derived, and so left behind
    for twin in (pickle.loads(pickle.dumps(mechanism)), copy.deepcopy(mechanism)):
        assert "joint_ids" not in vars(twin)
        assert to_record(twin) == to_record(mechanism)
        assert twin.multiple_joints == mechanism.multiple_joints
        assert (twin.name, twin.title) == (mechanism.name, mechanism.title)
        assert not twin.driven.flags.writeable
        with pytest.raises(TypeError):
            twin.joint_geometry[0] = None


@pytest.mark.parametrize("name", ["planar_four_bar", "spatial_4r", "stewart_inverse"])
def test_a_pickled_model_gives_the_same_bits(name):
    model = groups.build(mbssa.decompose(mbssa.load(name)))
    twin = pickle.loads(pickle.dumps(model))
    assert str(twin.structure) == str(model.structure)
    motion = groups.default_motion(model.mechanism, steps=9)
    one, two = model.solve(motion), twin.solve(motion)
    for array in ("position", "orientation", "acceleration", "status"):
        assert np.array_equal(getattr(one, array), getattr(two, array))
