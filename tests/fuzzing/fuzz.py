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
import re
import resource
import shutil
import signal
import sqlite3
import string
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

import mbssa
from mbssa import cli, compiled
from mbssa.joints.catalogue import CATALOGUE

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

#: Numbers that a reader takes, those at the ends of the ranges among them several times.
VALUES = (
    "1e9", "-1e9", "9.9e8", "1e6", "-1e5", "1e3", "100.0", "10.0", "3", "2.5", "2", "1", "1.0", "0.5", "0.1",
    "0.01", "1e-3", "1e-5", "1e-8", "1e-9", "-1e-9", "1e-12", "1e-17", "1e-160", "1e-320", "0", "0.0", "-0.0",
    "-1", "-0.3", "3.141592653589793", "1.5707963267948966", "90.0", "180.0", "360.0",
)  # fmt: skip
NUMBERS = (
    *VALUES * 4, "1e308", "-1e308", "-1e-320", "1e200", "1e160", "1e16", "nan", "inf", "-inf", "9" * 400,
    "9" * 5000, "0x7fffffffffffffff", "-" + "9" * 19, "true", '"text"', "[]", "{}", "[[]]", "1e999",
    "1979-05-27",
)  # fmt: skip
COUNTS = ("0", "-1", "1", "2", "3", "400000000", "9" * 30, "1.5", "x", "", "1e3", "-" + "9" * 25)
WORDS = (
    "", " ", "x", "1-2", "1-2.angle", "2-3.slide", "1-99.angle", "#", "a" * 5000, "=", ",", ",,,", "..",
    "\u202e", "\x01", "²", "'", '"', "é", "🙂", "*", "1-2.*", "mode 2", "nan", "frame", "0", "-1",
    "9" * 5000, "(" * 300, "groups>=1e999", "$(x)", "%s%n", "\\", "[", "{",
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


# --- files -----------------------------------------------------------------------------------------


@cache
def text_of(name: str) -> str:
    return resources.files("mbssa.io.models").joinpath(f"{name}.toml").read_text("utf-8")


@cache
def written(name: str, ending: str) -> bytes:
    """A model in another format."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"m{ending}"
        mbssa.save(mbssa.load(name), path)
        return path.read_bytes()


def damaged_text(dice: random.Random, text: str) -> str:
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
        text = dice.choice(_TEXT)(dice, text)
    return text


def _number(dice: random.Random, text: str) -> str:
    found = list(re.finditer(r"(?<![\w.\"'-])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w\"'])", text))
    if not found:
        return text
    where = dice.choice(found)
    return text[: where.start()] + dice.choice(NUMBERS) + text[where.end() :]


def _line(dice: random.Random, text: str) -> str:
    lines = text.split("\n")
    k, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    match dice.randrange(4):
        case 0:
            del lines[k]
        case 1:
            lines.insert(other, lines[k])
        case 2:
            lines[k], lines[other] = lines[other], lines[k]
        case _:
            lines[k] = dice.choice(WORDS) + lines[k]
    return "\n".join(lines)


def _word(dice: random.Random, text: str) -> str:
    """A text in quotes, a code or a key becomes another one."""
    found = list(re.finditer(r'"[^"\n]*"|\b[A-Za-z_]{1,16}\b', text))
    if not found:
        return text
    where = dice.choice(found)
    new = dice.choice(
        (*WORDS, *(dice.choice(found)[0].strip('"') for _ in range(12)), dice.choice(CODES_OF_JOINTS))
    )
    quoted = where[0].startswith('"')
    return text[: where.start()] + (f'"{new}"' if quoted else new) + text[where.end() :]


def _type(dice: random.Random, text: str) -> str:
    found = list(re.finditer(r'type = "([A-Z]+)"', text))
    if not found:
        return _word(dice, text)
    where = dice.choice(found)
    return text[: where.start(1)] + dice.choice(CODES_OF_JOINTS) + text[where.end(1) :]


def _letter(dice: random.Random, text: str) -> str:
    k = dice.randrange(len(text) + 1)
    new = dice.choice((*string.printable, "\u202e", "é", "\x07", "[" * 3000, ".".join("a" * 300), "\ufeff"))
    return text[:k] + new + text[k + dice.randrange(3) :]


def _cut(dice: random.Random, text: str) -> str:
    return text[: dice.randrange(len(text) + 1)]


def _added(dice: random.Random, text: str) -> str:
    """Tables that models may have and these have not."""
    number, code = dice.choice(NUMBERS), dice.choice(CODES_OF_JOINTS)
    return text + "\n" + dice.choice((
        f'[[joint]]\nbodies = [2, 3]\ntype = "{code}"\npoint = [0.1, {number}]\n',
        f'[[joint]]\nbodies = [1, 2, 3]\ntype = "{code}"\npoint = [0.1, 0.2, {number}]\n',
        f"[[body]]\norigin = [0, {number}]\norientation = {number}\npoints = {{ a = [{number}, 1.0] }}\n",
        f"[units]\nlength = \"{dice.choice(('mm', 'in', 'x'))}\"\nangle = \"deg\"\n",
        f'[motion]\nduration = {number}\nsteps = 5\n[motion.inputs]\n'
        f'"1-2.angle" = {{ law = "ramp", end = {number}, begin = {dice.choice(NUMBERS)} }}\n',
        '[motion.inputs]\n"1-2.angle" = { law = "spline", times = [0.0, ' + number + "], values = [0, 1] }\n",
        "[joint.profile]\nfollower = \"knife\"\n[joint.profile.formula]\nr = \"0.05 + 0.01*" +
        dice.choice(("cos(s)", "s**s", "log(s)", "1/s", "tan(s)", "exp(exp(s))", "abs(sin(s))", "(" * 200)) +
        f"\"\nrange = [0, {number}]\n",
        "limits = { angle = [" + number + ", 1.0] }\n",
        "visual = " + "{ a = " * dice.choice((3, 60)) + "1" + " }" * dice.choice((3, 60)) + "\n",
    ))  # fmt: skip


_TEXT: tuple[Callable[[random.Random, str], str], ...] = (
    *(_number,) * 16, *(_type,) * 4, *(_word,) * 3, *(_line,) * 2, _letter, _cut, *(_added,) * 4,
)  # fmt: skip

CODES_OF_JOINTS = tuple(sorted({kind.code for kind in CATALOGUE} - {"USER"}))


def damaged_bytes(dice: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 8))):
        if not changed:
            break
        k = dice.randrange(len(changed))
        match dice.randrange(4):
            case 0:
                changed[k] = dice.randrange(256)
            case 1:
                del changed[k:]
            case 2:
                changed[k:k] = dice.randbytes(dice.choice((1, 4, 100)))
            case _:
                del changed[k : k + dice.choice((1, 2, 50))]
    return bytes(changed)


def damaged_archive(dice: random.Random, data: bytes) -> bytes:
    """Arrays of a sound ``.npz`` with other entries, kinds and shapes."""
    with np.load(io.BytesIO(data)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for _ in range(dice.choice((1, 1, 2))):
        name = dice.choice(sorted(arrays))
        array = arrays[name]
        match dice.randrange(6):
            case 0 if name == "about":
                text = damaged_text(dice, array.tobytes().decode(errors="replace"))
                arrays[name] = np.frombuffer(text.encode(errors="replace"), dtype=np.uint8)
            case 0 | 1 if array.size and array.dtype.kind in "iu":
                array = array.copy().reshape(-1)
                array[dice.randrange(array.size)] = dice.choice((0, 1, 2, 255, 7))
                arrays[name] = array.reshape(arrays[name].shape)
            case 2 if array.dtype.kind in "iu" and name != "driven":
                wild = np.array(array, dtype=np.int64).reshape(-1)
                if wild.size:
                    wild[dice.randrange(wild.size)] = dice.choice((-1, 2**62, -(2**62), 10**9))
                arrays[name] = wild.reshape(array.shape)
            case 3:
                arrays[name] = array.astype(dice.choice(("f8", "i1", "U3", "c16")), casting="unsafe") if (
                    array.dtype.kind != "U") else np.array("x")  # fmt: skip
            case 4:
                arrays[name] = np.tile(array, dice.choice((0, 2, 3)))
            case _:
                del arrays[name]
        if not arrays:
            break
    into = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.savez(into, **arrays)
    return into.getvalue()


def model_file(dice: random.Random, name: str) -> tuple[str, bytes]:
    """Name and content of a model, damaged."""
    match dice.randrange(16):
        case 0:
            return "m.npz", damaged_bytes(dice, written(name, ".npz"))
        case 1:
            return "m.npz", damaged_archive(dice, written(name, ".npz"))
        case 2 | 3:
            ending = dice.choice((".m", ".csv"))
            data = written(dice.choice(("planar_four_bar", "slider_crank", "rssr", "nine_bar")), ending)
            if dice.random() < 0.3:
                return f"m{ending}", damaged_bytes(dice, data)
            return f"m{ending}", damaged_text(dice, data.decode()).encode("utf-8", "replace")
        case 4:
            return "m.toml", damaged_bytes(dice, text_of(name).encode())
        case _:
            return "m.toml", damaged_text(dice, text_of(name)).encode("utf-8", "replace")


def motion_file(dice: random.Random, mechanism: mbssa.Mechanism) -> tuple[str, bytes]:
    names = mechanism.driven_coordinates or ("1-2.angle",)
    if dice.random() < 0.5:
        laws = "\n".join(f'"{name}" = {{ law = "speed", rate = 0.1 }}' for name in names)
        return "v.toml", damaged_text(dice, f"duration = 1.0\nsteps = 5\n[inputs]\n{laws}\n").encode()
    rows = [",".join(["time", *names, f"{names[0]}.rate"])]
    rows += [",".join(map(str, [k / 10, *[k / 100] * len(names), 0.1])) for k in range(9)]
    return "v.csv", damaged_text(dice, "\n".join(rows)).encode()


@cache
def sound_store() -> bytes:
    from mbssa.input_search.search import transform

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "s.sqlite"
        for name in ("planar_four_bar", "triad"):
            transform(mbssa.load(name), store=place)
        return place.read_bytes()


def damaged_store(dice: random.Random, folder: Path) -> bytes:
    """Cells of a store that hold something else, or bytes of its file."""
    if dice.random() < 0.2:
        return damaged_bytes(dice, sound_store())
    path = folder / "making.sqlite"
    path.write_bytes(sound_store())
    with contextlib.closing(sqlite3.connect(path)) as store:
        for _ in range(dice.choice((1, 1, 2))):
            table = dice.choice(("searches", "sets", "sets"))
            table = f"input_{table}_1"
            column = dice.choice([row[1] for row in store.execute(f"PRAGMA table_info({table})")])
            old = store.execute(f"SELECT {column} FROM {table} LIMIT 1").fetchone()
            text = old[0] if old and isinstance(old[0], str) else ""
            new = dice.choice((
                None, 0, -1, 2**62, 1.5, "x", "{}", "[]", b"", b"\x00", b"\xff\xff\x7f", "null",
                damaged_text(dice, text) if text else "0",
            ))  # fmt: skip
            with contextlib.suppress(sqlite3.Error):  # the table's own rules
                store.execute(f"UPDATE {table} SET {column} = ?", (new,))
        store.commit()
    data = path.read_bytes()
    path.unlink()
    return data


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
    options(dice, case, 1, all=("FLAG",), through=WORDS)


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
        solver=("2=newton", "2=global-dense", *WORDS), keep=WORDS, points=WORDS, through=WORDS,
        output=("out.csv", "out.npz", "out.x"), level=("position", "velocity", "x"), plot=("p.svg",),
    )  # fmt: skip


def _partition(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del model, folder, dice


def _sweep(dice: random.Random, case: Case, model: str, folder: Path) -> None:
    del folder
    mechanism = mbssa.load(model)
    name = dice.choice((*mechanism.driven_coordinates, "2-3.point.x", "2-3.length+", "mode 2", *WORDS))
    case.arguments += ["--store", "cases", "--executor", "sequential", "--workers", "1"]
    ends = f"{dice.choice(NUMBERS)}:{dice.choice(NUMBERS)}"
    near = f"{dice.uniform(-1, 1):.3f}:{dice.uniform(-1, 1):.3f}"
    many = dice.choice(("2", "3", "5", *COUNTS, "100000000000"))
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
    "transformations": _transformations, "partition": _partition, "joints": _plain,
}  # fmt: skip


# --- running ---------------------------------------------------------------------------------------


class TooLong(BaseException):
    """More than :data:`SECONDS` of processor time; nothing catches it on the way."""


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLong

    before, price = signal.signal(signal.SIGPROF, stop), compiled.LOADING
    compiled.LOADING = np.inf  # compiling takes its time: plain Python does here
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
        compiled.LOADING = price


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
        compiled._rented.clear()  # each is a process of its own
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
    except TooLong as late:
        # Compiling a kernel is once for a machine, and counts for no case.
        if not any("numba" in frame.filename for frame in traceback.extract_tb(late.__traceback__)):
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
