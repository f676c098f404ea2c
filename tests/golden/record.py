"""Make the golden record, or check today's answers against it.

The record holds answers of public calls for the built-in models, for the
models of this folder, and for motions that fail: tables to the digit,
quantities to 1e-9 of the largest value. An entry is named "KIND of SUBJECT":
structure, routes, inputs, modes, default motion, far motion, quantities,
forces, rest, simulation by METHOD of a model; failure of a motion.

    record.py check                    answers that take some tenths of a second
    record.py check --all              all answers
    record.py check --only "of rotor"  entries whose names contain a text
    record.py check --globally         default motions by the global approach
    record.py make --only "forces of"  record these anew; the commit says why
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from entries import answer, global_entry, names  # noqa: E402
from storage import Entry, differences, packed, read, read_packed, write  # noqa: E402

RECORD = HERE / "record.json.xz"
#: Processor time (s) of an entry up to which it is checked among the fast tests, by the kind's first word.
FAST = {"simulation": 0.3, "rest": 0.3, "modes": 0.3, "inputs": 0.2, "failure": 0.5}
FAST_ELSE = 0.6
#: Two algorithms part by rounding over the condition of a group: 1.2e-9 in accelerations of cam_laws.
APART = 5e-9
#: The same of answers of machine code, of second rates: they grow with the third power of the condition.
LIVES = 1e-7
#: Kind whose answers another algorithm gives as well.
MOTIONS = "default motion of "


def make(only: str) -> int:
    """Record the entries whose names contain a text; others stay as they are, to the byte."""
    recorded = read_packed(RECORD) if RECORD.exists() else {}
    every = list(names())
    gone = [name for name in recorded if only in name and name not in every]
    chosen = [name for name in every if only in name]
    for name in gone:
        print(f"removed    {name}")
        del recorded[name]
    try:
        for name in chosen:
            began = time.process_time()
            entry = answer(name)
            entry.seconds = time.process_time() - began
            old = recorded.get(name, {}).get("seconds", 0.0)
            if 0.5 * old <= entry.seconds <= 2.0 * old:
                entry.seconds = old  # a busy machine does not move an entry among the slow ones
            recorded[name] = packed(entry)
            gaps = [
                key for key, array in entry.arrays.items() if array.values.size and _all_nan(array.values)
            ]
            print(
                f"{entry.seconds:7.2f} s  {name}" + f"  (no numbers: {', '.join(gaps)})" * bool(gaps),
                flush=True,
            )
    except Exception as error:
        raise RuntimeError(f"{name} has no answer; leave it out, with the reason") from error
    finally:
        if chosen or gone:
            write(RECORD, recorded)
    if not chosen:
        print(f"no entry has {only!r} in its name; they are named as {every[0]!r}")
        return 1
    print(f"{RECORD.name}: {len(recorded)} entries, {RECORD.stat().st_size:,} bytes")
    return 0


def _all_nan(values: np.ndarray) -> bool:
    return values.dtype.kind == "f" and not np.isfinite(values).any()


def is_fast(name: str, entry: Entry) -> bool:
    """Whether an entry is checked among the fast tests."""
    return entry.seconds <= FAST.get(name.partition(" ")[0], FAST_ELSE)


def check(
    only: str = "", fast: bool = True, slow: bool = True, compiled: bool = False
) -> Iterator[tuple[str, list[str]]]:
    """Entries whose names contain a text, and the differences of today's answers from them."""
    for name, old in read(RECORD).items():
        if only in name and (fast if is_fast(name, old) else slow):
            for key, array in old.arrays.items() if compiled else ():
                if "acceleration" in key and array.values.dtype.kind == "f":
                    old.arrays[key] = replace(array, tolerance=max(array.tolerance, LIVES))
            yield name, _against(old, lambda name=name: answer(name, compiled))


def check_globally(only: str = "") -> Iterator[tuple[str, list[str]]]:
    """Default motions, and the differences of the answers of the global approach from them."""
    for name, old in read(RECORD).items():
        if only in name and name.startswith(MOTIONS) and not old.arrays["status"].values.any():
            del old.arrays["status"], old.labels["group"]
            old.tables = {}
            old.arrays = {key: replace(array, tolerance=APART) for key, array in old.arrays.items()}
            yield name, _against(old, lambda name=name: global_entry(name.removeprefix(MOTIONS)))


def _against(recorded: Entry, answered: Callable[[], Entry]) -> list[str]:
    try:
        return differences(recorded, answered())
    except Exception as error:  # an answer that fails is a difference, and others follow
        return [f"fails: {type(error).__name__}: {error}"]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("make", "check"))
    parser.add_argument("--all", action="store_true", help="Check the slow entries too.")
    parser.add_argument("--only", default="", metavar="TEXT", help="Entries whose names contain this text.")
    parser.add_argument("--compiled", action="store_true", help="Check the answers of machine code.")
    parser.add_argument(
        "--globally", action="store_true", help="Check default motions by the global approach."
    )
    parser.add_argument("--first", action="store_true", help="Stop at the first entry that differs.")
    chosen = parser.parse_args()
    try:
        return _run(chosen, parser)
    except KeyboardInterrupt:
        print("stopped; the record holds what was made before")
        return 130


def _run(chosen: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    if chosen.command == "make":
        if chosen.globally or chosen.first or chosen.compiled or bool(chosen.only) == chosen.all:
            parser.error("make takes --only TEXT, or --all to record everything anew, and no other option")
        return make(chosen.only)
    began, checked, found = time.process_time(), 0, 0
    runs = (
        check_globally(chosen.only)
        if chosen.globally
        else check(chosen.only, slow=chosen.all, compiled=chosen.compiled)
    )
    for name, lines in runs:
        checked += 1
        if lines:
            found += 1
            print(name, *lines, sep="\n    ", flush=True)
            if chosen.first:
                break
    left = 0
    if not (chosen.all or chosen.globally):
        left = sum(chosen.only in name and not is_fast(name, entry) for name, entry in read(RECORD).items())
    slow = f"; {left} slow ones were left out, --all checks them" * bool(left)
    print(f"{found} of {checked} entries differ{slow}; {time.process_time() - began:.0f} s of processor time")
    return 1 if found or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
