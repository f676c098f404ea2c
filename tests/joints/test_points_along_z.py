"""Joints between two points may have their line along z."""

import warnings

import numpy as np

import mbssa
from mbssa.joints.frames import joint_frames


def test_a_vertical_line_has_axes_and_no_warning():
    m = mbssa.Builder("spatial").body("rocker")
    m.revolute("frame", "rocker", point=[0.1, 0.34, 0.45], axis=[-1, 0, 0], driven=True)
    m.joint("DIST", "frame", "rocker", points=[[0.0, 0.3, 0.3], [0.0, 0.3, 0.47]])
    mechanism = m.build()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = joint_frames(mechanism).axes[1, 0]
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(axes[:, 0], [0.0, 0.0, 1.0], atol=1e-15)
