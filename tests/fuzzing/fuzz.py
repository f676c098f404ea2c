"""Random damage to files and options, and what the command line makes of it.

A case is a command with its files: those of a built-in model or of an answer of ours, damaged at random, and
options with values that nobody would write. Its number is its seed. The command runs in this process; it may
say what it likes and exit with one of its codes. Another exception, more than 20 s of processor time or more
than 2 GB of memory are faults.

By hand: ``python tests/fuzzing/fuzz.py NUMBER [FIRST]``, in a worker process. One that a case kills, or that
hangs where no signal reaches it, is a fault too, and another goes on with the next case.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from damage import (
    CODES_OF_JOINTS,
    COUNTS,
    NUMBERS,
    WORDS,
    damaged_store,
    damaged_text,
    model_file,
    motion_file,
    robot_file,
    sound_store,
)

import mbssa
from mbssa import cli

#: Processor seconds and bytes that a case may take.
SECONDS, BYTES = 20.0, 2e9

#: Seconds after which a worker that sends nothing is ended.
HANGING = 300.0

#: Exit codes of the command line.
CODES = (0, 1, 2, 130)

MODELS = (
    "planar_four_bar", "slider_crank", "spatial_4r", "rssr", "cam_roller", "cam_flat", "cam_swing", "bennett",
    "involute_teeth", "planetary", "differential", "rack_steering", "universal_shafts", "kinematic_coupling",
    "triad", "quick_return", "geneva", "oldham", "sarrus", "nine_bar", "spatial_four_bar", "stewart_inverse",
)  # fmt: skip


@dataclass
class Case:
    """A command line with the files that it finds in its folder."""

    arguments: list[str]
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What came of a case; ``fault`` is empty where nothing is wrong."""

    fault: str
    seconds: float
    peak: float


# --- commands --------------------------------------------------------------------------------------


def case_of(number: int, folder: Path) -> Case:
    """The case with this number."""
    dice = random.Random(number)
    name = dice.choice(tuple(_COMMANDS))
    cams = ("cam_roller", "cam_flat", "cam_swing", "involute_teeth", "geneva")
    model = dice.choice(cams if name == "cams" else MODELS)
    case = Case([name])
    if name not in ("transformations", "joints"):
        if dice.random() < 0.75:
            file, data = model_file(dice, model)
            case.files[file] = data
            case.arguments.append(file)
        else:
            case.arguments.append(model)
    _COMMANDS[name](dice, case, model, folder)
    if dice.random() < 0.02:
        case.arguments.insert(dice.randrange(1, len(case.arguments) + 1), dice.choice(WORDS))
    if dice.random() < 0.3 and name != "convert":
        case.arguments += ["--format", dice.choice(("json", "json", "table", "csv", "x"))]
    return case


def options(dice: random.Random, case: Case, most: int, **values: tuple[str, ...]) -> None:
    number = dice.choice((0, 0, 0, 1, 1, *range(most + 1)))
    for option in dice.sample(sorted(values), min(number, len(values))):
        value = dice.choice(values[option])
        case.arguments.append("--" + option.replace("_", "-"))
        if value != "FLAG":
            case.arguments.append(value)


def quantity(dice: random.Random) -> str:
    """A number, at times with a unit."""
    units = ("deg", "rad", "mm", "m", "in", "rpm", "N m", "kg", "°", " deg", "deg/s", "mm²", "/", "x")
    return dice.choice((dice.choice(NUMBERS), f"{dice.uniform(-1, 1):.3f}")) + dice.choice(("", *units))


def _decompose(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del model, folder
    case.arguments += ["--time-limit", "1"]
    options(
        dice, case, 3, method=("matching", "exhaustive", "x"), inputs=WORDS, terminal=WORDS, pairs=WORDS,
        output=("out.txt", "no/where", "m.toml"), picture=("p.svg", "p.x"), time_limit=(*COUNTS, *NUMBERS),
    )  # fmt: skip


def _check(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del model, folder
    options(dice, case, 2, inputs=WORDS, terminal=WORDS, pairs=WORDS, precision=NUMBERS, output=("out.txt",))


def _convert(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del model, folder
    case.arguments.append(dice.choice(("to.toml", "to.m", "to.csv", "to.npz", "to.x", "to")))


def _cams(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del model, folder
    options(dice, case, 1, picture=("c.svg",))


def _loops(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del folder
    if dice.random() < 0.3:
        n = mbssa.load(model).n_bodies
        tree = {"parents": [0] + [dice.randrange(n + 2) for _ in range(n - 1)], "terminators": [[1, 2]]}
        case.files["tree.json"] = damaged_text(dice, json.dumps(tree)).encode()
        case.arguments += ["--tree", "tree.json"]
    options(dice, case, 2, method=("basis", "wehage", "x"), cut=WORDS, compare=("FLAG",))


def _modes(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del model, folder
    options(dice, case, 1, group=COUNTS)


def _solvers(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del model, folder
    options(dice, case, 1, all=("FLAG",))


def _solve(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del folder
    case.arguments += ["--no-compiled", "--steps", "3"]
    if dice.random() < 0.5:
        file, data = motion_file(dice, mbssa.load(model))
        case.files[file] = data
        case.arguments += ["--motion", file]
    if dice.random() < 0.2:
        plan = {"stages": [[[1]], [[2]]], "workers": 1, "chunks": 1, "choices": {}}
        case.files["plan.json"] = damaged_text(dice, json.dumps(plan)).encode()
        case.arguments += ["--plan", "plan.json"]
    options(
        dice, case, 3, steps=COUNTS, duration=(*NUMBERS, *COUNTS), mode=("1=1", "2=99", "x=1", "2=1", *WORDS),
        solver=("2=newton", "2=global-dense", *WORDS), keep=WORDS, points=WORDS,
        output=("out.csv", "out.npz", "out.x"), level=("position", "velocity", "x"), plot=("p.svg",),
    )  # fmt: skip


def _others(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    """One of the commands that came later, at times of a robot's description."""
    del folder
    name = case.arguments[0] = dice.choice(
        ("partition", "forces", "simulate", "linearise", "draw", "convert")
    )
    if name == "convert" or dice.random() < 0.2:
        file, data = robot_file(dice, model)
        case.files, case.arguments[1] = {file: data}, file
    inputs = (*mbssa.load(model).driven_coordinates, *mbssa.load(model).joint_ids, *WORDS)
    given = tuple(f"{dice.choice(inputs)}={quantity(dice)}" for _ in range(9))
    some = tuple(dice.choice(inputs) for _ in range(9))
    files = {"output": ("o.csv", "o.npz", "o.x"), "units": ("si", "file", "x"), "steps": ("3", *COUNTS)}
    short = {"duration": ("0.01", "1ms", quantity(dice), *NUMBERS)}
    match name:
        case "partition":
            options(
                dice, case, 4, method=("qr", "complete", "x"), cut=some, independent=(*some, "all"),
                dependent=some, driven=(*some, "none"), tolerance=NUMBERS, sweep=("FLAG",), steps=("3",),
                drive=some, at=NUMBERS, **short,
            )  # fmt: skip
        case "forces":
            case.arguments += ["--steps", "3"]
            options(dice, case, 3, minimum_norm=("FLAG",), curves=some, plot=("f.svg",), **files, **short)
        case "simulate":
            case.arguments += ["--no-compiled", "--steps", "3", "--duration", "0.01", "--most-steps", "50"]
            options(
                dice, case, 4, method=("groups", "partitioning", "lagrange", "penalty", "dae", "x"),
                initial=given, rate=given, apply=given, until=given, drive=some, stiffness=NUMBERS,
                damping=NUMBERS, tolerance=NUMBERS, largest_step=NUMBERS, limits=("stop", "note"),
                integrator=("LSODA", "Radau", "x"), restart=("m.npz", "none.npz"), energies=("e.csv",),
                reactions=("r.csv",), quantity=tuple(f"a={word}" for word in some), **files, **short,
            )  # fmt: skip
        case "linearise":
            options(
                dice,
                case,
                3,
                here=("FLAG",),
                initial=given,
                apply=given,
                mode=COUNTS,
                amplitude=NUMBERS,
                **files,
            )
        case "draw":
            case.arguments += ["--output", dice.choice(("d.svg", "d.x"))]
        case _:
            endings = ("toml", "npz", "m", "csv", "urdf", "sdf", "xml")
            case.arguments.append("to." + dice.choice(endings))


def _sweep(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del folder
    mechanism = mbssa.load(model)
    name = dice.choice((*mechanism.driven_coordinates, "2-3.point.x", "2-3.length+", "mode 2", *WORDS))
    case.arguments += ["--store", "cases", "--executor", "sequential", "--workers", "1"]
    ends = f"{quantity(dice)}:{quantity(dice)}"
    near = f"{dice.uniform(-1, 1):.3f}:{dice.uniform(-1, 1):.3f}"
    many = dice.choice(("2", "3", "5", *COUNTS, "100000000000"))
    if dice.random() < 0.5 and mechanism.driven_coordinates:
        name, ends, many = dice.choice((*mechanism.driven_coordinates, name)), near, dice.choice("123")
    match dice.randrange(4):
        case 0:
            case.arguments += ["--grid", f"{name}={dice.choice((ends, near))}:{many}"]
        case 1:
            case.arguments += ["--sample", f"{name}={dice.choice((ends, near, 'normal:0:' + NUMBERS[0]))}"]
            case.arguments += ["--number", many, "--method", dice.choice(("sobol", "halton", "latin", "x"))]
        case 2:
            case.files["t.csv"] = damaged_text(dice, f"{name},mode 2\n0.1,1\n0.2,1\n").encode(
                "utf-8", "replace"
            )
            case.arguments += ["--cases", "t.csv"]
        case _:
            for other in dice.sample(WORDS, 2):
                case.arguments += ["--grid", f"{other}=0:1:1000000"]
    options(
        dice, case, 2, record=WORDS, limit=("1-2.angle=0:1", *WORDS), mode=("2=1", *WORDS), seed=COUNTS,
        block=("1", "0", "x"), steps=("3", "0", "x", "9" * 30), duration=NUMBERS, motion=("own", "none.csv"),
    )  # fmt: skip


def _transform(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del model, folder
    case.arguments += ["--most", "30", "--time-limit", "2"]
    options(
        dice, case, 3, inputs=COUNTS, allow=WORDS, forbid=WORDS, require=WORDS, per_joint=COUNTS, top=COUNTS,
        terminal=WORDS, precision=NUMBERS, pareto=("groups,cost", *WORDS), store=("s.sqlite",),
        criterion=("groups", "1e400*groups", "2*groups-1*largest", "+".join(["groups"] * 5001), *WORDS),
    )  # fmt: skip


def _transformations(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    case.files["s.sqlite"] = damaged_store(dice, folder) if dice.random() < 0.8 else sound_store()
    case.arguments.append("s.sqlite")
    signs, names = (">=", "<", "=", "!=", "<>"), ("groups", "open", "margin", "x")
    where = tuple(f"{dice.choice(names)}{dice.choice(signs)}{number}" for number in NUMBERS)
    sums = ("groups", "cost,margin", "1e400*groups", "-1e308*groups+1e308*cost", "+".join(["groups"] * 5001))
    options(
        dice, case, 3, where=(*where, " and ".join(["groups>=0"] * 5001), *WORDS), sort=(*sums, *WORDS),
        search=COUNTS, model=(model, "triad", *WORDS), top=COUNTS, all=("FLAG",),
    )  # fmt: skip
    if dice.random() < 0.4:
        case.arguments += ["--search", "1", "--row", "1", "--save", "best.toml", "--force"]


def _plain(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del model, folder
    if case.arguments[0] == "joints" and dice.random() < 0.7:
        case.arguments.append(dice.choice((*CODES_OF_JOINTS, *WORDS)))


_COMMANDS: dict[str, Callable[[random.Random, Case, str, Path], None]] = {
    "decompose": _decompose, "check": _check, "convert": _convert, "cams": _cams, "loops": _loops,
    "modes": _modes, "solvers": _solvers, "solve": _solve, "sweep": _sweep, "transform": _transform,
    "transformations": _transformations, "partition": _others, "joints": _plain,
}  # fmt: skip


# --- running ---------------------------------------------------------------------------------------


class TooLong(BaseException):
    """More than :data:`SECONDS` of processor time; nothing catches it on the way."""


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + int(BYTES), limits[1]))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, limits)


def run(number: int) -> Outcome:
    """Run a case in a folder of its own, which is removed."""
    at, arguments, output = os.getcwd(), sys.argv, io.StringIO()
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    store, os.environ["MBSSA_STORE"] = os.environ.get("MBSSA_STORE"), str(folder / "own.sqlite")
    fault, begin = "", time.process_time()
    try:
        case = case_of(number, folder)
        for name, data in case.files.items():
            (folder / name).write_bytes(data)
        os.chdir(folder)
        sys.argv = ["mbssa", *case.arguments]
        begin = time.process_time()
        with (
            _limited(), warnings.catch_warnings(), contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(output),
        ):  # fmt: skip
            warnings.simplefilter("ignore")
            cli.main()
    except SystemExit as ended:
        if ended.code not in (*CODES, None):
            fault = f"exit code {ended.code}"
        elif "out of memory" in output.getvalue():
            fault = "out of memory"
    except TooLong:
        fault = f"more than {SECONDS:g} s: {_last_lines()}"
    except BaseException:
        fault = _last_lines()
    finally:
        os.chdir(at)
        sys.argv = arguments
        shutil.rmtree(folder, ignore_errors=True)
        if store is None:
            del os.environ["MBSSA_STORE"]
        else:
            os.environ["MBSSA_STORE"] = store
    return Outcome(fault, time.process_time() - begin, _peak())


def _peak() -> float:
    """Largest memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _last_lines() -> str:
    """Where an exception came from, and what it says."""
    kind, error, trace = sys.exc_info()
    frames = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(trace)[-4:]]
    return f"{' > '.join(frames)}: {kind.__name__ if kind else ''}: {str(error)[:200]}"


def faults(first: int, number: int, told: Callable[[int, Outcome], None] | None = None) -> dict[int, str]:
    """Faults of the cases ``first`` … by their number."""
    found = {}
    for k in range(first, first + number):
        outcome = run(k)
        if outcome.fault:
            found[k] = outcome.fault
        if told is not None:
            told(k, outcome)
    return found


# --- by hand ---------------------------------------------------------------------------------------


def _work(first: int, number: int, pipe: Connection) -> None:
    faults(first, number, lambda k, outcome: pipe.send((k, outcome)))


def outcomes(first: int, number: int) -> Iterator[tuple[int, Outcome]]:
    """Outcomes of cases that run in a worker process, and in another after one that does not come back."""
    k, stop, spawn = first, first + number, multiprocessing.get_context("spawn")
    while k < stop:
        here, there = spawn.Pipe(duplex=False)
        worker = spawn.Process(target=_work, args=(k, stop - k, there))
        worker.start()
        there.close()
        try:
            while k < stop and here.poll(HANGING):
                yield here.recv()
                k += 1
            why = f"no answer in {HANGING:g} s"
        except EOFError:
            worker.join()
            why = f"the process ended with {worker.exitcode}"
        if k < stop:
            yield k, Outcome(why, HANGING, np.nan)
            k += 1
        worker.kill()
        worker.join()


def _by_hand(number: int, first: int = 0) -> None:
    begin, slowest, spent, n_faults = time.time(), 0.0, 0.0, 0
    for done, (k, outcome) in enumerate(outcomes(first, number), 1):
        slowest, spent = max(slowest, outcome.seconds), spent + outcome.seconds
        if outcome.fault:
            n_faults += 1
            print(k, outcome.fault, flush=True)
        if done % 500 == 0 or done == number:
            print(
                f"{done} cases, {n_faults} faults, slowest {slowest:.1f} s, "
                f"peak {outcome.peak / 1e9:.2f} GB, {spent:.0f} s of processor time, "
                f"{time.time() - begin:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    _by_hand(*map(int, sys.argv[1:3]))
