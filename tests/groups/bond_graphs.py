"""Pendulum and slider-crank of the bond-graph paper with the parameters of its Tables 6 and 7.

The paper gives neither the start nor gravity: at rest, the pendulum level under gravity, the crank at 45
degrees without. Its joint "C" with rotational damping is taken to be the crank's bearing, centres of mass lie
in the middle, and moments of inertia are the same about all axes.
"""

from __future__ import annotations

import dataclasses

import mbssa
from mbssa.loads import Force
from mbssa.mechanism import Inertia


def pendulum():
    """Table 6: 1 m, 1 kg, 0.083 kg m², damping 10 N m s/rad."""
    m = mbssa.Builder("planar", name="pendulum")
    m.body("bar", inertia={"mass": 1.0, "centre": (0.5, 0.0), "moment": 0.083})
    m.gravity(0.0, -9.81).revolute("frame", "bar", point=(0, 0), driven=True)
    return m.force("coordinate", coordinate="1-2.angle", damping=10.0).build()


def slider_crank(name):
    """Table 7, hyperstatic (``slider_crank``) or isostatic (``slider_crank_isostatic``)."""
    mechanism = mbssa.load(name)
    root = 0.1 * 2**0.5
    ends = [(0.0, 0.0), (root, root), (8 * root, 0.0)]
    centres = [(root / 2, root / 2, 0.0), ((root + 8 * root) / 2, root / 2, 0.0), (*ends[2], 0.0)]
    geometry = dict(mechanism.body_geometry)
    for body, centre in enumerate(centres, start=1):
        kept = geometry.get(body, mbssa.BodyGeometry())
        geometry[body] = dataclasses.replace(
            kept, inertia=Inertia(1.0, centre, None, (1.0, 1.0, 1.0), (0.0, 0.0, 0.0))
        )
    forces = (
        Force("coordinate", "crank", (0, 1), coordinate="1-2.angle", damping=2.0, force=10.0),
        Force("coordinate", "guide", (0, 3), coordinate="1-4.slide", damping=5.0),
    )
    return dataclasses.replace(mechanism, body_geometry=geometry, forces=forces, gravity=None)
