"""Functions of the small models with constraints of one's own."""

import numpy as np


def rod(q):
    """A rod of 0.2 m from the crank's pin to the ram, which is at 0.3 m at the reference."""
    x = 0.3 + q[1, 0] - q[0, 0] - 0.1 * np.cos(q[0, 2])
    y = q[1, 1] - q[0, 1] - 0.1 * np.sin(q[0, 2])
    return np.sqrt(x**2 + y**2) - 0.2


def ledge(q):
    """The lifter goes down by the square of the ram's way from -0.05 m, and up behind it: not analytic."""
    x = q[1, 0] - q[0, 0] + 0.05
    return q[2, 1] - q[0, 1] - 3.0 * (0.05**2 - x * abs(x))


def ledge_by_pose(q):
    """Derivative of the ledge by the poses of the frame, the ram and the lifter."""
    slope = 6.0 * abs(q[1, 0] - q[0, 0] + 0.05)
    return np.array([[-slope, -1.0, 0.0], [slope, 0.0, 0.0], [0.0, 1.0, 0.0]])


def ball_on_saddle(p, R):
    """A point of the arm stays on the saddle z = 0.3 + x y of the carriage."""
    at = R[0].T @ (p[1] + R[1] @ np.array([0.4, 0.2, 0.38]) - p[0])
    return at[2] - 0.3 - at[0] * at[1]
