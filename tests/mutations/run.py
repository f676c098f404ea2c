"""Check by faults of one operator that the golden record and the fast tests of a package notice them.

    python tests/mutations/run.py check               every mutation of mutations.toml, an hour at most
    python tests/mutations/run.py check routes/dag    those whose file begins so
    python tests/mutations/run.py draw 7              candidates for the list, drawn by a seed

Each mutation is made in a copy of the repository. It is caught if the record differs, if a fast test of its
own package fails, or if either does not end. The exit code is 1 if one survives, or no longer fits the code.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
#: Fast tests of each package, beside its own examples, and its share of the mutations.
TESTS = {
    "mbssa": (
        "decomposition",
        "input_search",
        "io",
        "joints",
        "loops",
        "pictures",
        "reports",
        "singularities",
        "cli",
    ),
    "groups": ("groups", "contracts"),
    "routes": ("routes",),
    "mbssa_studio": ("studio",),
}
SHARES = {"mbssa": 11, "groups": 12, "routes": 5, "mbssa_studio": 2}
#: Packages whose answers the record holds.
RECORDED = ("mbssa", "groups")
#: Folders of code whose numbers are looks or times of this machine.
LEFT_OUT = {"pictures", "plots", "calibration", "cli"}
#: Seconds after which a run counts as one that does not end.
LONGEST = 400
STATUSES = (
    "OK", "NOT_CONVERGED", "SINGULAR", "PREDECESSOR_FAILED", "OUT_OF_REACH", "BRANCH_JUMP", "DROPPED",
    "GIMBAL", "NOT_COMPUTED", "CONTACT_LOST", "INTERPENETRATION", "PASSED_SINGULAR",
)  # fmt: skip


def check(wanted: str) -> int:
    """Number of mutations that survive."""
    mutations = tomllib.loads((HERE / "mutations.toml").read_text())["mutation"]
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
        for mutation in mutations:
            if mutation["file"].startswith(wanted):
                began = time.monotonic()
                outcome = _outcome(copy, mutation)
                survivors += not outcome.startswith("caught")
                label = f"{mutation['file']}: {mutation['kind']}: {mutation['new'].strip()}"
                print(f"{time.monotonic() - began:5.0f} s  {outcome:<40}  {label}", flush=True)
    print(f"{survivors} of {len(mutations)} survive")
    return survivors


def _outcome(copy: Path, mutation: dict[str, str]) -> str:
    path = copy / mutation["file"]
    text = path.read_text("utf-8") if path.exists() else ""
    if text.count(mutation["old"]) != 1:
        return "does not fit the code: draw another"
    path.write_text(text.replace(mutation["old"], mutation["new"]), "utf-8")
    try:
        package = mutation["file"].partition("/")[0]
        folders = [f"tests/{folder}" for folder in TESTS[package]]
        runs = {
            "the record": ["tests/golden/record.py", "check", "--first"],
            f"tests of {package}": ["-m", "pytest", "-q", "-x", "-n", "logical", *folders, package],
        }
        if package not in RECORDED:  # the record has little of it: its tests first
            runs = dict(reversed(runs.items()))
        for name, command in runs.items():
            code = _exit_code(copy, command)
            if code != 0:
                return f"caught by {name}" + (", does not end" if code is None else "")
        return "SURVIVES"
    finally:
        path.write_text(text, "utf-8")


def _exit_code(copy: Path, command: list[str]) -> int | None:
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=copy,
            env=environment,
            capture_output=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


# --- drawing -----------------------------------------------------------------------------------------


def draw(seed: int) -> None:
    """Print as many candidates as there are shares, in the form of mutations.toml."""
    dice = random.Random(seed)
    for package, share in SHARES.items():
        paths = sorted(path for path in (ROOT / package).rglob("*.py") if not LEFT_OUT & {*path.parts})
        candidates = [(path, *each) for path in paths for each in _candidates(path)]
        kinds = sorted({kind for _, kind, *_ in candidates})
        for k in range(share):
            kind = kinds[(seed + k) % len(kinds)]
            path, _, old, new = dice.choice([each for each in candidates if each[1] == kind])
            print(f'[[mutation]]\nfile = "{path.relative_to(ROOT).as_posix()}"\nkind = "{kind}"')
            print(f"old = '''{old}'''\nnew = '''{new}'''\n")


def _candidates(path: Path) -> Iterator[tuple[str, str, str]]:
    """Kind, line, and mutated line of what can be changed in a file; the line is unique in it."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        change = _change(node)
        if change is None or getattr(node, "lineno", 0) != getattr(node, "end_lineno", -1):
            continue
        kind, part, replacement = change
        line = lines[node.lineno - 1]
        start, stop = node.col_offset, node.end_col_offset
        inside = line.encode()[start:stop].decode()
        if part is not None and inside.count(part) != 1:
            continue
        if kind == "status" and replacement not in text:  # not imported
            continue
        mutated = replacement if part is None else inside.replace(part, replacement)
        new = (line.encode()[:start] + mutated.encode() + line.encode()[stop:]).decode()
        if text.count(line) == 1 and new != line and "'''" not in line:
            yield kind, line, new


def _change(node: ast.AST) -> tuple[str, str | None, str] | None:
    """Kind of a change, the text inside the node that it replaces (None: all of it), and the new text."""
    match node:
        case ast.BinOp(op=ast.Add(), left=ast.expr(), right=ast.expr()) if not _is_text(node):
            return "sign", " + ", " - "
        case ast.BinOp(op=ast.Sub()):
            return "sign", " - ", " + "
        case ast.Subscript(slice=ast.Constant(value=int(k))) if not isinstance(k, bool) and k in (0, 1, 2):
            return "index", f"[{k}]", f"[{(k + 1) % 3 if k else 1}]"
        case ast.Attribute(attr="sin" | "cos"):
            other = "cos" if node.attr == "sin" else "sin"
            return "axis", f".{node.attr}", f".{other}"
        case ast.Call(func=ast.Name(id="cross") | ast.Attribute(attr="cross"), args=[one, two], keywords=[]):
            return (
                "axis",
                f"({ast.unparse(one)}, {ast.unparse(two)})",
                f"({ast.unparse(two)}, {ast.unparse(one)})",
            )
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append" | "extend" | "add"))):
            return "row", None, "pass"
        case ast.AugAssign():
            return "row", None, "pass"
        case ast.Name(id=name, ctx=ast.Load()) if (
            name in STATUSES
        ):  # of groups alone: no other package has them
            return "status", None, STATUSES[(STATUSES.index(name) + 4) % len(STATUSES)]
    return None


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.Tuple)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("check", "draw"))
    parser.add_argument("which", nargs="?", default="", help="The beginning of a file's path, or a seed.")
    chosen = parser.parse_args()
    if chosen.command == "draw":
        draw(int(chosen.which or 1))
        return 0
    return 1 if check(chosen.which) else 0


if __name__ == "__main__":
    sys.exit(main())
