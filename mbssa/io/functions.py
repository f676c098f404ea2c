"""Users' functions given in Python, put into the joints of type USER of a mechanism."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from mbssa.faults import Faults
from mbssa.mechanism import JointGeometry, Mechanism

#: A function of the poses of a joint's bodies, or that and its derivative.
Given = Callable[..., Any] | tuple[Callable[..., Any], Callable[..., Any]]


def with_functions(mechanism: Mechanism, functions: Mapping[str, Given]) -> Mechanism:
    """Mechanism with other functions, by joint id, in joints of type USER; ModelError has all faults."""
    # A value is the function, or the function and its derivative; what the joint had of both is gone.
    geometry, faults = dict(mechanism.joint_geometry), Faults()
    for name, given in functions.items():
        where = f"functions {name}"
        try:
            joint = mechanism.joint(name)
        except KeyError as error:
            faults.add(where, error.args[0], "unknown")
            continue
        if "function" not in joint.type.required:
            what = f"is a {joint.type.code}; functions belong to joints of type USER"
            faults.add(where, what, "unsupported")
            continue
        function, derivative = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        if not callable(function) or not (derivative is None or callable(derivative)):
            faults.add(where, f"is {given!r}; give a function, or a function and its derivative as a tuple")
            continue
        before = geometry.get(joint.index, JointGeometry())
        geometry[joint.index] = dataclasses.replace(before, function=function, derivative=derivative)
    faults.raise_if_any(mechanism.name or "mechanism")
    return dataclasses.replace(mechanism, joint_geometry=geometry)
