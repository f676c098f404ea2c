"""Text of a TOML file and its plain tables, before anything in them is given a meaning."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from mbssa.faults import Fault, ModelError
from mbssa.files import read_text

#: Parts of a dotted key: the reader's memory grows with their square.
_DEEPEST = 50
_DEEP = re.compile(rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{_DEEPEST}}}""")


def toml_text(path: Path) -> str:
    """Text of a TOML file."""
    return read_text(path, "TOML in UTF-8", "utf-8-sig")


def toml_tables(text: str, source_name: str) -> dict[str, Any]:
    """Tables of a TOML text; ModelError also for numbers of thousands of digits and deep nesting."""
    deep = _DEEP.search(text)
    if deep:
        line = text.count("\n", 0, deep.start()) + 1
        what = f"a dotted key of more than {_DEEPEST} parts; a model is flat"
        raise ModelError(source_name, [Fault(f"line {line}", what, "syntax")])
    try:
        return tomllib.loads(text)
    except RecursionError:
        fault = Fault("TOML", "is nested too deeply; a model is flat", "size")
        raise ModelError(source_name, [fault]) from None
    except ValueError as error:  # a TOMLDecodeError, or an integer that Python does not convert
        raise ModelError(source_name, [Fault("TOML", str(error).partition(";")[0], "syntax")]) from None
