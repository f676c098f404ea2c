"""Make the golden record, or check today's answers against it.

The record holds the answers of the public calls for the built-in models, for the models of this folder and for
motions that fail: tables to the digit, quantities to 1e-9 of the largest value.

    python tests/golden/record.py check                  answers that take up to a second each
    python tests/golden/record.py check --all            all answers
    python tests/golden/record.py check --only rotor     entries whose names contain a text
    python tests/golden/record.py make --only "failure"  record these anew; give the reason in the commit
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from entries import answered, entries  # noqa: E402
from storage import Entry, differences, read, write  # noqa: E402

RECORD = HERE / "record.json.xz"
#: Processor time (s) of an entry up to which it is checked among the fast tests.
FAST = 1.0


def make(only: str) -> None:
    """Record the entries whose names contain a text; others stay as they are."""
    recorded = read(RECORD) if RECORD.exists() else {}
    every = entries()
    for name, answer in every.items():
        if only in name:
            began = time.process_time()
            recorded[name] = answered(answer)
            recorded[name].seconds = time.process_time() - began
            print(f"{recorded[name].seconds:7.2f} s  {name}", flush=True)
    write(RECORD, {name: recorded[name] for name in every})
    print(f"{RECORD.name}: {len(every)} entries, {RECORD.stat().st_size:,} bytes")


def check(only: str = "", everything: bool = True, compiled: bool = False) -> dict[str, list[str]]:
    """Differences from the record by entry, of the entries whose names contain a text."""
    recorded, every = read(RECORD), entries()
    found = {name: ["is not in the record"] for name in every if name not in recorded and only in name}
    for name, old in recorded.items():
        if only in name and (everything or old.seconds <= FAST):
            lines = differences(old, answered(every[name], compiled)) if name in every else ["has no answer"]
            if lines:
                found[name] = lines
    return found


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("make", "check"))
    parser.add_argument("--all", action="store_true", help="Check the slow entries too.")
    parser.add_argument("--only", default="", metavar="TEXT", help="Entries whose names contain this text.")
    parser.add_argument("--compiled", action="store_true", help="Check the answers of compiled kernels.")
    chosen = parser.parse_args()
    if chosen.command == "make":
        make(chosen.only)
        return 0
    began = time.process_time()
    found = check(chosen.only, chosen.all, chosen.compiled)
    for name, lines in found.items():
        print(name, *lines, sep="\n    ")
    print(f"{len(found)} entries differ; {time.process_time() - began:.0f} s of processor time")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
