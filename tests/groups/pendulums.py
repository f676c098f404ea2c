"""Planar pendulums under gravity."""

import mbssa


def pendulum():
    """2 kg at 0.5 m below a pin, 0.1 kg m² about the centre of mass."""
    m = mbssa.Builder("planar", name="pendulum")
    m.body("arm", inertia={"mass": 2.0, "centre": (0.0, -0.5), "moment": 0.1})
    return m.gravity(0.0, -9.81).revolute("frame", "arm", point=(0, 0), driven=True).build()


def double_pendulum(driven=True):
    """Two bars of 1 m and 1 kg that begin level."""
    m = mbssa.Builder("planar", name="double pendulum").gravity(0.0, -9.81)
    for place, (before, name) in enumerate((("frame", "upper"), ("upper", "lower"))):
        m.body(name, inertia={"mass": 1.0, "centre": (place + 0.5, 0.0), "moment": 0.08})
        m.revolute(before, name, point=(place, 0), driven=driven)
    return m.build()
