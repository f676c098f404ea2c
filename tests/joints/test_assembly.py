"""Closing a mechanism whose reference is a little off."""

import numpy as np
import pytest

from mbssa.joints.assembly import assemble
from mbssa.joints.frames import joint_frames

CAM = """
format = 1
space = "planar"
bodies = 3

[[joint]]
bodies = [1, 2]
type = "R"
driven = true
point = [0.0, 0.0]

[[joint]]
bodies = [1, 3]
type = "P"
axis = [0.0, 1.0]

[[joint]]
bodies = [2, 3]
type = "L"
profile = {{ circle = {{ radius = 0.02, centre = [0.005, 0.0] }}, follower = "roller", radius = 0.008 }}
points = [[0.0, 0.0], [0.0, {height}]]
"""

#: Where the roller of an eccentric stands above its axis.
HEIGHT = np.sqrt(0.028**2 - 0.005**2)


@pytest.mark.parametrize("off", [0.0, 1e-5, 0.002, -0.004])
def test_what_is_driven_stays_and_the_rest_closes(read, off):
    mechanism = read(CAM.format(height=HEIGHT + off))
    found = assemble(mechanism, joint_frames(mechanism), hold=True)
    assert found.closed
    assert abs(found.configuration.angle[1]) < 1e-12
    assert abs(found.configuration.position[2, 1] + off) < 1e-12


def test_what_is_driven_is_moved_where_it_has_to(read):
    """The slider is driven too: two drives for one freedom cannot both stay."""
    mechanism = read(CAM.format(height=HEIGHT + 0.002).replace("axis =", "driven = true\naxis ="))
    found = assemble(mechanism, joint_frames(mechanism), hold=True)
    assert found.closed
    assert abs(found.configuration.angle[1]) > 1e-3
