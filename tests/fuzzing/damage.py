"""Files of all formats, damaged at random."""

from __future__ import annotations

import contextlib
import io
import random
import re
import sqlite3
import string
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

import mbssa
from mbssa.joints.catalogue import CATALOGUE

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


@cache
def robot(name: str, ending: str) -> str:
    """A model as a robot's description; joints that it has no form for are left out."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"m{ending}"
        try:
            mbssa.save(mbssa.load(name), path, approximate=True)
        except mbssa.ModelError:
            return robot("rssr", ending)
        return path.read_text("utf-8")


def robot_file(dice: random.Random, name: str) -> tuple[str, bytes]:
    """Name and content of a robot's description, damaged."""
    ending = dice.choice((".urdf", ".sdf", ".xml"))
    return f"m{ending}", damaged_text(dice, robot(name, ending)).encode("utf-8", "replace")


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
        ((table,),) = store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for _ in range(dice.choice((1, 1, 2))):
            column = dice.choice([row[1] for row in store.execute(f"PRAGMA table_info({table})")])
            texts = store.execute(f"SELECT {column} FROM {table} WHERE typeof({column}) = 'text'").fetchall()
            text = dice.choice(texts)[0] if texts else ""
            new = dice.choice((
                None, 0, -1, 2**62, 1.5, "x", "{}", "[]", b"", b"\x00", b"\xff\xff\x7f", "null",
                damaged_text(dice, text) if text else "0",
            ))  # fmt: skip
            with contextlib.suppress(sqlite3.Error):  # the table's own rules
                rows = dice.choice(("true", "place = -1", "place >= 0", "place = 0"))
                store.execute(f"UPDATE {table} SET {column} = ? WHERE {rows}", (new,))
        store.commit()
    data = path.read_bytes()
    path.unlink()
    return data
