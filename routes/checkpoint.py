"""Checkpoints: a folder with the arrays of a run and the record that identifies it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from groups.engine.solve import plan_of
from mbssa.files import remove_temporaries, write_whole
from routes.job import Job
from routes.lock import NAME as LOCK
from routes.lock import file_at, locked
from routes.plan import Plan
from routes.workspace import Workspace, in_files, opened

FORMAT = 2
NAME = "run.json"


@contextmanager
def new(job: Job, folder: Path) -> Iterator[Workspace]:
    """Folder for a new run, locked until the run ends."""
    if (taken := file_at(folder)) is not None:
        raise ValueError(f"checkpoint {folder}: {taken} is a file; name a folder")
    if (folder / NAME).exists():
        raise ValueError(f"{folder} keeps a run already; resume it, or name another folder")
    if folder.exists() and not _has_no_record_yet(folder, job):
        raise ValueError(f"{folder} has other files; name a new folder")
    there = folder.exists()
    with locked(folder):
        try:
            remove_temporaries(folder / NAME)
            space = in_files(job.shapes, folder)
            write_whole(folder / NAME, (json.dumps(_record(job), indent=2) + "\n").encode())
        except BaseException:
            # An incomplete checkpoint would prevent the next run.
            shutil.rmtree(folder, ignore_errors=True)
            if there:
                folder.mkdir()
            raise
        yield space


def _has_no_record_yet(folder: Path, job: Job) -> bool:
    """Whether a folder is empty, or has only files of a run that was killed before it wrote its record."""
    names = {path.name for path in folder.iterdir()} - {LOCK}
    ours = {f"{name}.npy" for name in job.shapes} if (folder / LOCK).exists() else set()
    return all(name in ours or name.startswith(f".{NAME}.") for name in names)


@contextmanager
def existing(job: Job, folder: Path) -> Iterator[Workspace]:
    """Folder of an interrupted run, locked until this one ends; ValueError if it keeps another run."""
    if not (folder / NAME).exists():
        raise ValueError(f"{folder} keeps no run that could be resumed; name another folder")
    with locked(folder):
        remove_temporaries(folder / NAME)
        yield _opened(job, folder)


def _opened(job: Job, folder: Path) -> Workspace:
    try:
        stored, space = _stored(folder), opened(folder)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder} is damaged ({error}); begin anew in another folder") from None
    now = json.loads(json.dumps(_record(job)))
    other = [name for name in now if not isinstance(stored, dict) or stored.get(name) != now[name]]
    if other:
        raise ValueError(f"{folder} keeps another run (other {', '.join(other)}); name another folder")
    # Machine code does not check bounds.
    wrong = [
        f"{name}.npy"
        for name, (shape, kind) in job.shapes.items()
        if name not in space.arrays or (space.arrays[name].shape, space.arrays[name].dtype) != (shape, kind)
    ]
    if wrong:
        raise ValueError(
            f"{folder} is damaged ({', '.join(wrong)} of another shape); begin anew in another folder"
        )
    return space


def _stored(folder: Path) -> Any:
    return json.loads((folder / NAME).read_text(encoding="utf-8"))


def stored_plan(folder: Path, mechanism: str, instants: int) -> Plan:
    """Plan of the run in a folder, which is of this mechanism and has so many instants."""
    try:
        stored = _stored(folder)
        name, plan = stored["mechanism"], Plan.from_json(json.dumps(stored["plan"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(f"{folder} keeps no run that could be resumed; name another folder") from None
    if (name, plan.instants) != (mechanism, instants):
        raise ValueError(f"{folder} keeps a run of {name} at {plan.instants:,} instants; name another folder")
    return plan


def stored_life(folder: Path) -> bool | None:
    """Whether the run in a folder is solved by machine code; None where that cannot be read."""
    try:
        found = _stored(folder)["compiled"]
        return found if isinstance(found, bool) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _record(job: Job) -> dict[str, Any]:
    """Record that identifies a run."""
    of_model, motion = plan_of(job.model), job.motion
    plan = json.loads(job.plan.to_json())
    # The executor and the number of workers change no bit of the answer.
    del plan["executor"], plan["workers"]
    return {
        "format": FORMAT,
        "mechanism": job.model.mechanism.name,
        "version": version("mbssa"),
        "plan": plan,
        "model": digest(of_model.start, *(np.array(part.geometry) for part in of_model.parts))[:32],
        "solvers": [solver.choice for solver in job.model.solvers],
        "motion": digest(motion.time, motion.value, motion.rate, motion.acceleration)[:32],
        "bodies": job.bodies.tolist(),
        "level": job.level,
        "compiled": job.compiled,
    }


def digest(*arrays: Any) -> str:
    """SHA-256 of the bytes of arrays, in hexadecimal digits."""
    state = hashlib.sha256()
    for array in arrays:
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()
