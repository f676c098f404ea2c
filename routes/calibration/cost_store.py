"""Costs in the store: by machine, model, level of answer, and number of instants to a power of two."""

from __future__ import annotations

import hashlib

import numpy as np

from groups.engine.solve import plan_of
from groups.model import Model
from mbssa.store import transaction
from routes.calibration.machine import Machine
from routes.cost import Costs

_TABLE = """CREATE TABLE IF NOT EXISTS calibrations_1 (
    machine TEXT, model TEXT, level INTEGER, doublings INTEGER, made TEXT, costs TEXT,
    PRIMARY KEY (machine, model, level, doublings)
) STRICT"""

#: Key of a calibration: machine, model, level, instants as a power of two.
Key = tuple[str, str, int, int]


def key_of(machine: Machine, model: Model, level: int, instants: int) -> Key:
    """Key of the costs of a model."""
    # The number of time steps is part of it, since iterations of Newton depend on the step, and memory on the
    # number. Lengths and angles are not: they hardly change the costs.
    return machine.fingerprint, signature(model), level, round(np.log2(max(instants, 1)))


def signature(model: Model) -> str:
    """Hash of the properties that decide a model's costs: groups, dependencies and solvers."""
    structure = model.structure
    state = hashlib.sha256(model.mechanism.space.encode())
    work = np.array([part.routine.operations for part in plan_of(model).parts])
    for array in (work, structure.group_of_body, *structure.members):
        state.update(str(len(array)).encode())
        state.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
    for group, solver in zip(structure.groups, model.solvers, strict=True):
        state.update(
            repr((group.number, tuple(group.depends_on), solver.choice, type(solver).__name__)).encode()
        )
    return state.hexdigest()[:16]


#: SQL of the number of instants of a key, exactly or as near as there is one.
_WHICH = {False: "doublings = ?", True: "TRUE ORDER BY abs(doublings - ?), doublings DESC LIMIT 1"}


def stored(key: Key, near: bool = False) -> Costs | None:
    """Costs stored for a key, or for the nearest number of instants; None without any."""
    with transaction([_TABLE]) as database:
        row = database.execute(
            f"SELECT costs FROM calibrations_1 WHERE (machine, model, level) = (?, ?, ?) AND {_WHICH[near]}",
            key,
        ).fetchone()
    if row is None:
        return None
    try:
        return Costs.from_json(row[0])
    except (
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ):  # damaged, or of another version
        return None


def store(key: Key, costs: Costs) -> None:
    """Store costs in place of earlier ones."""
    with transaction([_TABLE]) as database:
        database.execute(
            "INSERT OR REPLACE INTO calibrations_1 VALUES (?, ?, ?, ?, ?, ?)",
            (*key, costs.made, costs.to_json()),
        )
