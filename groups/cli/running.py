"""Interactive runs: a model that can be solved and its motion, machine code, plans, progress, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from time import perf_counter, process_time
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from groups.cli.options import at_reference, by_option
from groups.engine.solve import plan_of
from groups.model import Model, build
from groups.motion import Motion, default_motion, driven_coordinates, read_motion
from groups.motion.columns import header_of
from groups.motion.laws import usual_motion
from groups.results.faults import excesses
from groups.status import NOT_COMPUTED, OUTPUTS, QUALITY
from groups.trajectory import Level, Trajectory
from mbssa import Mechanism, ModelError, decompose
from mbssa.analysis.check import check
from mbssa.cli import RUNNER, on_interrupt
from mbssa.cli.console import NOT_DETERMINED, fail
from mbssa.cli.options import flag, option
from mbssa.joints.catalogue import is_length
from mbssa.progress import bar
from mbssa.texts import counted, listed
from mbssa.trust import REMEDY
from mbssa.units import given_in

#: Joints, findings and proposals that a message lists before it only counts the rest.
_LISTED = 40
#: Instants of a motion that is examined, at most: what lies between them is proven, or found.
INSTANTS = 73
#: Seconds of plain Python at which the examination of a motion ends; a longer one does not begin.
LONGEST = 10.0
#: Shortest compilation, and shortest proof that an option requests, that are announced (s).
ANNOUNCED, ANNOUNCED_PROOF = 1.0, 3.0


# --- models and motions ------------------------------------------------------------------------------


def solvable_model(mechanism: Mechanism, name: str) -> Model:
    """Model of a mechanism with geometry that is determined by its inputs; else exit 1 with all reasons."""
    report = check(mechanism)
    reasons = [finding.text for finding in report.findings if finding.fatal]
    reasons = reasons[:_LISTED] + [f"… and {len(reasons) - _LISTED} more"] * (len(reasons) > _LISTED)
    if untrusted := mechanism.untrusted_said:
        reasons.insert(0, f"code that the file names is not run, at {untrusted}; {REMEDY}")
    if mechanism.without_geometry:
        joints = [mechanism.joints[j] for j in mechanism.without_geometry]
        bare = [f"{one.id} {one.type.code} ({', '.join(one.type.required)})" for one in joints]
        reasons.insert(0, f"no geometry at {listed(bare, _LISTED)}: write these keys at the joints")
    lines = [f"{name} cannot be solved as given", *(f"  - {reason}" for reason in reasons)]
    if not report.solvable:
        lines += ["what would help, each verified"] * bool(report.proposals)
        for proposal in report.proposals[:_LISTED]:
            driven = driven_coordinates(proposal.apply(mechanism)) if proposal.kind == "inputs" else ()
            then = f"; then driven: {listed(driven, _LISTED)}" if driven else ""
            lines.append(f"  - {proposal.text}{then}")
        lines.append(f"mbssa check {name} says more")
    if reasons or not report.solvable:
        fail("\n".join(lines), NOT_DETERMINED)
    try:
        return build(report.structure)
    except ValueError as error:
        fail(f"{lines[0]}\n  - {error}", NOT_DETERMINED)


def motion_to_solve(
    model: Model,
    name: str,
    path: Path | None,
    steps: int | None,
    duration: float | None,
    kept: Sequence[int] | None = None,
    level: Level = "acceleration",
) -> Motion:
    """Motion of the options, or the model's own; else exit 2."""
    # The bodies `kept` and the `level` of the solution decide how much memory it needs.
    held = None if kept is None else model.held_bodies(np.array(kept, dtype=np.int64)).tolist()
    mechanism, still = model.mechanism, at_reference(model, held, level)
    arrays = [getattr(still, name) for name in (*OUTPUTS, *QUALITY)]
    numbers = 24 * mechanism.n_driven + sum(array.nbytes for array in arrays if array is not None)

    def check_memory(instants: int) -> None:
        try:
            memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (AttributeError, ValueError, OSError):  # not available on this system
            return
        if (needed := instants * numbers) >= 0.9 * memory:
            what = f"{instants:,} instants of {counted(len(still.kept), 'body')} need {needed / 1e9:,.0f} GB"
            remedy = "write fewer --steps, name bodies with --keep, or a lower --level"
            fail(f"{what}, and this machine has {memory / 1e9:,.0f}; {remedy}")

    if path is None:
        own = mechanism.motion or usual_motion(mechanism)
        if own is None:
            fail(f"{name} carries no motion. Write one into its file, or into {_motion_to_write(mechanism)}")
        if mechanism.motion is None:
            ((coordinate, law),) = own.inputs.items()
            range_ = "one turn" if law.name == "speed" else "the range of its limits"
            print(f"{name} carries no motion: {coordinate} goes through {range_} in 1 s", file=sys.stderr)
        steps = steps or own.steps
    check_memory(steps or 1)
    try:
        if path is None:
            motion = default_motion(mechanism, steps=steps, duration=duration)
        else:
            motion = read_motion(mechanism, path, steps=steps, duration=duration)
    except ModelError:
        raise  # names its place itself
    except ValueError as error:
        named = by_option(str(error))
        fail(named if named.startswith("--") else f"{path or name}: {error}")
    check_memory(len(motion.time))
    return motion


def _motion_to_write(mechanism: Mechanism) -> str:
    """Suggested files of a motion: ``[motion]`` with the driven coordinates in units of the file; columns."""
    inputs = driven_coordinates(mechanism)
    lines = ["a file of its own for --motion FILE.toml:\n", "[motion]", "duration = 1.0", "steps = 101"]
    lines += ["\n[motion.inputs]"] * bool(inputs)
    for name in inputs:
        unit, usual = ("m", 0.01) if is_length(name) else ("rad", 0.1)
        amplitude = float(f"{usual / given_in(unit, mechanism.units)[1]:.1g}")
        lines.append(f'"{name}" = {{ law = "harmonic", amplitude = {amplitude}, frequency = 1.0 }}')
    columns = ["\nor give columns, --motion FILE.csv, with the header", f"\n{header_of(mechanism)}"]
    return "\n".join(lines + columns * bool(inputs))


def singular_positions(mechanism: Mechanism) -> list[str]:
    """A sentence for each singular position and passed limit of the model's own motion; none if too large."""
    try:
        model, motion = build(decompose(mechanism)), default_motion(mechanism)
    except (ValueError, np.linalg.LinAlgError):
        return []
    if len(motion.time) > INSTANTS:
        motion = default_motion(mechanism, steps=INSTANTS)
    if plan_of(model).seconds(len(motion.time)) > LONGEST:
        return []
    end = process_time() + LONGEST
    found = model.solve(
        motion, level="velocity", branch="proven", compiled=False, progress=lambda _: process_time() < end
    )
    said = [
        f"SG-{one.group} of {model.group_names[one.group - 1]} is singular {one}"
        for one in found.singular
        if one.kind != "unresolved"
    ]
    said += [one.text(mechanism.units) for one in excesses(found)]
    said = [f"in the model's motion {text}" for text in said]
    computed = int((found.status != NOT_COMPUTED).all(axis=1).sum())
    if computed < len(motion.time):
        last = f"{motion.time[max(computed - 1, 0)]:.5g} s"
        said.append(f"the model's motion was examined up to {last}; mbssa solve continues to its end")
    return said


# --- runs --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """Options of a run by a plan; true where one of them is given."""

    workers: int | None = option("N", "Solve on so many cores, by the plan predicted fastest.", min=1)
    executor: str | None = option("NAME", "threads, processes, mpi or cluster, for --workers.")
    plan: Path | None = option("FILE", "Solve by this plan, as mbssa routes --save wrote it.")
    checkpoint: Path | None = option("FOLDER", "Keep what is done, so that --resume can go on from it.")
    resume: bool = flag("--resume", "Go on from what --checkpoint keeps.")

    def __bool__(self) -> bool:
        return any(vars(self).values())


class TimedRun(NamedTuple):
    """A trajectory with the times (s) that it took."""

    trajectory: Trajectory
    compiling: float  # s of making machine code
    solving: float  # s for the motion itself
    stopped: bool  # by Ctrl-C before the last instant
    how: str  # the plan in words; empty for one group after another
    compiled: bool  # by machine code, not NumPy


def solve_interactively(
    model: Model,
    motion: Motion,
    level: Level = "acceleration",
    compiled: bool | None = None,
    request: Request | None = None,
    **chosen: Any,
) -> TimedRun:
    """Solve a motion with progress on standard error, until Ctrl-C or its end."""
    # Machine code is made first, so that this is not in the time of the motion. Ctrl-C before anything is
    # solved, and a second one, raise KeyboardInterrupt. Further keywords are those of Model.solve.
    planned = resolve_name(RUNNER)(request, model, motion, level) if request else None
    compiled = model.compiles(len(motion.time)) if compiled is None else compiled
    begin = perf_counter()
    if compiled:
        if (seconds := model.compile_seconds) > ANNOUNCED:
            print(f"compiling the model: about {seconds:.0f} s", file=sys.stderr, flush=True)
        compiled = model.compile()
    if chosen.get("branch") in ("proven", "smooth"):  # by default what takes long is checked alone
        seconds = model.proof_seconds(len(motion.time), compiled=compiled)
        if seconds > ANNOUNCED_PROOF:
            print(f"proving the branches: about {seconds:.0f} s", file=sys.stderr, flush=True)
    start = perf_counter()
    with stoppable_progress(f"solving {len(motion.time):,} instants") as progress:
        solve = planned or model.solve
        trajectory = solve(motion, level=level, compiled=compiled, progress=progress, **chosen)
    stopped = bool((trajectory.status == NOT_COMPUTED).any())
    how = planned.how if planned else ""
    return TimedRun(trajectory, start - begin, perf_counter() - start, stopped, how, compiled)


@contextmanager
def stoppable_progress(title: str) -> Iterator[Callable[[float], bool]]:
    """Bar that a share from 0 to 1 advances, with False as answer after the first Ctrl-C."""
    # The second Ctrl-C is a KeyboardInterrupt again; so is the first one before any share, as nothing is
    # lost.
    begun, stop = threading.Event(), threading.Event()
    before: Any = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        if stop.is_set() or not begun.is_set():
            if callable(before):  # that of the command does not raise within an import
                before(number, frame)
            raise KeyboardInterrupt
        stop.set()

    def progress(share: float) -> bool:
        begun.set()
        show(title, share)
        return not stop.is_set()

    on_interrupt(note)
    try:
        with bar() as show:
            yield progress
    finally:
        on_interrupt(before)
