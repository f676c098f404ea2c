"""Handing a run to the package above, which solves groups side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Protocol

from groups.model import Model
from groups.motion import Motion
from groups.trajectory import Level, Trajectory
from mbssa.cli import RUNNER


@dataclass(frozen=True)
class Request:
    """Request of a run.

    Attributes
    ----------
    workers : None leaves it to whoever runs
    executor : threads, processes, mpi or another; None leaves it to whoever runs
    plan : file of a plan
    checkpoint : folder that keeps what is done
    resume : whether to go on from what it keeps
    """

    workers: int | None = None
    executor: str | None = None
    plan: Path | None = None
    checkpoint: Path | None = None
    resume: bool = False

    def __bool__(self) -> bool:
        """Whether anything is wanted that :meth:`groups.Model.solve` has not."""
        return self != Request()


class Solve(Protocol):
    """Solver of a motion as :meth:`groups.Model.solve`; ``how`` names its plan."""

    how: str

    def __call__(self, motion: Motion, **chosen: object) -> Trajectory:
        """The trajectory; keywords as :meth:`groups.Model.solve` has them."""


def solver_by(request: Request, model: Model, motion: Motion, level: Level) -> Solve:
    """The solution of this model as requested, by a plan.

    Raises
    ------
    ValueError
        The request cannot be met: why.
    OSError
        The plan's file cannot be read.
    """
    make: Callable[[Request, Model, Motion, Level], Solve] = resolve_name(RUNNER)
    return make(request, model, motion, level)
