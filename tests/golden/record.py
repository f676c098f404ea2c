"""Make the golden record, or check today's answers against it.

The record holds answers of public calls for the built-in models, for the models of this folder, and for
motions that fail: tables to the digit, quantities to 1e-9 of the largest value.

    python tests/golden/record.py check                  answers that take less than a second each
    python tests/golden/record.py check --all            all answers
    python tests/golden/record.py check --only rotor     entries whose names contain a text
    python tests/golden/record.py check --globally       default motions against the global approach
    python tests/golden/record.py make --only "failure"  record these anew; give the reason in the commit
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from entries import answer, global_entry, names  # noqa: E402
from storage import Entry, differences, read, write  # noqa: E402

RECORD = HERE / "record.json.xz"
#: Processor time (s) of an entry up to which it is checked among the fast tests, by the kind's first word.
FAST = {"simulation": 0.3, "rest": 0.3, "modes": 0.5}
FAST_ELSE = 0.6
#: Kind whose answers another algorithm gives as well.
MOTIONS = "default motion of "


def make(only: str) -> None:
    """Record the entries whose names contain a text; others stay as they are."""
    recorded = read(RECORD) if RECORD.exists() else {}
    every = list(names())
    try:
        for name in every:
            if only in name:
                began = time.process_time()
                recorded[name] = answer(name)
                recorded[name].seconds = time.process_time() - began
                print(f"{recorded[name].seconds:7.2f} s  {name}", flush=True)
    except Exception as error:
        raise RuntimeError(f"{name} has no answer; leave it out, with the reason") from error
    finally:
        write(RECORD, {name: recorded[name] for name in every if name in recorded})
    print(f"{RECORD.name}: {len(every)} entries, {RECORD.stat().st_size:,} bytes")


def is_fast(name: str, entry: Entry) -> bool:
    """Whether an entry is checked among the fast tests."""
    return entry.seconds <= FAST.get(name.partition(" ")[0], FAST_ELSE)


def check(only: str = "", everything: bool = True, compiled: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Entries whose names contain a text, and the differences of today's answers from them."""
    for name, old in read(RECORD).items():
        if only in name and (everything or is_fast(name, old)):
            yield name, _against(old, lambda name=name: answer(name, compiled))


def check_globally(only: str = "") -> Iterator[tuple[str, list[str]]]:
    """Default motions, and the differences of the answers of the global approach from them."""
    for name, old in read(RECORD).items():
        if only in name and name.startswith(MOTIONS) and not old.arrays["status"].values.any():
            arrays = {key: array for key, array in old.arrays.items() if key != "status"}
            subject = name.removeprefix(MOTIONS)
            yield name, _against(Entry({}, arrays, old.labels), lambda subject=subject: global_entry(subject))


def _against(recorded: Entry, answered: Callable[[], Entry]) -> list[str]:
    try:
        found = answered()
    except Exception as error:  # an answer that fails is a difference, and others follow
        return [f"fails: {type(error).__name__}: {error}"]
    if not recorded.tables:
        found.tables = {}
    return differences(recorded, found)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("make", "check"))
    parser.add_argument("--all", action="store_true", help="Check the slow entries too.")
    parser.add_argument("--only", default="", metavar="TEXT", help="Entries whose names contain this text.")
    parser.add_argument("--compiled", action="store_true", help="Check the answers of compiled kernels.")
    parser.add_argument(
        "--globally", action="store_true", help="Check default motions by the global approach."
    )
    parser.add_argument("--first", action="store_true", help="Stop at the first entry that differs.")
    chosen = parser.parse_args()
    if chosen.command == "make":
        make(chosen.only)
        return 0
    began, checked, found = time.process_time(), 0, 0
    runs = check_globally(chosen.only) if chosen.globally else check(chosen.only, chosen.all, chosen.compiled)
    for name, lines in runs:
        checked += 1
        if lines:
            found += 1
            print(name, *lines, sep="\n    ", flush=True)
            if chosen.first:
                break
    seconds = time.process_time() - began
    print(f"{found} of {checked} entries differ; {seconds:.0f} s of processor time")
    return 1 if found or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
