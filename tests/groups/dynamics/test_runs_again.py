"""Runs of one mechanism, one after another."""

import groups
import mbssa


def test_methods_follow_one_another():
    """Equations in bodies' coordinates, with an unknown of a measured angle, serve several runs."""
    m = mbssa.Builder("planar").gravity(0, -9.81)
    m.body("bar", inertia={"mass": 1.0, "centre": (0.5, 0), "moment": 0.083})
    m.revolute("frame", "bar", point=(0, 0), driven=True)
    pendulum = m.force("coordinate", coordinate="1-2.angle", damping=10.0).build()
    runs = [groups.simulate(pendulum, 0.1, method=method) for method in ("lagrange", "lagrange", "penalty")]
    assert [run.status for run in runs] == ["finished"] * 3
