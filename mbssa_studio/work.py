"""Heavy work in a process of its own, which can be cancelled at any time."""

from __future__ import annotations

import multiprocessing
import threading
from multiprocessing.connection import Connection
from typing import Any

from mbssa import Fault, ModelError


class Worker:
    """Process that answers one request at a time; a new request of a kind is made after a cancelled one."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: Any = None
        self._pipe: Connection | None = None

    def answer(self, kind: str, text: str, model: str = "model", **options: str) -> dict[str, Any]:
        """Answer of :func:`work` from the process; ``cancelled`` is true if that was ended meanwhile."""
        with self._turn:
            if self._process is None or not self._process.is_alive():
                self._start()
            pipe = self._pipe
            assert pipe is not None
            try:
                pipe.send((kind, text, model, options))
                found: dict[str, Any] = pipe.recv()
            except (EOFError, OSError):
                return {"cancelled": True}
            return found

    def cancel(self) -> None:
        """End what is being computed; the next request has a new process."""
        if self._process is not None:
            self._process.terminate()

    def close(self) -> None:
        """End the process."""
        self.cancel()
        if self._process is not None:
            self._process.join()

    def _start(self) -> None:
        # A fresh interpreter: the server has threads, which a fork would tear.
        fresh = multiprocessing.get_context("spawn")
        self._pipe, theirs = fresh.Pipe()
        process = fresh.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
        self._process = process  # not before: what has not begun cannot be ended
        theirs.close()


def _serve(pipe: Connection) -> None:
    try:
        while True:
            kind, text, model, options = pipe.recv()
            pipe.send(work(kind, text, model, **options))
    except (EOFError, OSError, KeyboardInterrupt):
        return


def work(kind: str, text: str, model: str = "model", **options: str) -> dict[str, Any]:
    """Answer to a request of a kind about the text of a model, as plain data; or the error as a sentence."""
    # ``check``, ``transform``, ``routes`` and ``modes`` take no options; ``picture`` takes a ``name`` and an
    # ``ending``, ``motion`` an ``ending``.
    from mbssa.io.toml_file import parse_toml

    try:
        return _found(kind, parse_toml(text, model, model), **options)
    except ModelError as error:
        return {"error": str(error)}
    except (ValueError, NotImplementedError, ModuleNotFoundError) as error:
        return {"error": str(ModelError(kind, [Fault("", str(error))]))}


def _found(kind: str, mechanism: Any, name: str = "", ending: str = "") -> dict[str, Any]:
    from mbssa import check, transform
    from mbssa_studio import pictures

    if kind == "check":
        report = check(mechanism)
        return {
            "solvable": report.solvable,
            "findings": [
                {
                    "kind": each.kind,
                    "text": each.text,
                    "fatal": each.fatal,
                    "bodies": list(each.bodies),
                    "joints": list(each.joints),
                }
                for each in report.findings
            ],
            "proposals": [
                {
                    "kind": each.kind,
                    "text": each.text,
                    "driven": list(each.driven),
                    "types": list(each.types),
                    "directions": list(each.directions),
                }
                for each in report.proposals
            ],
        }
    if kind == "transform":
        answer = transform(mechanism, time_limit=20.0)
        return {"rows": [row.figures() for row in answer.rows[:100]], "complete": answer.complete}
    if kind == "routes":
        return _routes(mechanism)
    if kind == "modes":
        return {"groups": pictures.modes(mechanism)}
    if kind == "picture":
        return {"data": pictures.drawn(name, mechanism, ending)}
    if kind == "motion":
        return {"data": pictures.table(mechanism, ending)}
    raise ValueError(f"{kind!r} is no work; ask for check, transform, routes, modes, picture or motion")


def _routes(mechanism: Any) -> dict[str, Any]:
    from mbssa.loops import compare_loops
    from mbssa.reports.loops import loops_report
    from routes import count

    comparison = compare_loops(mechanism)
    return {
        "routes": f"{count(comparison.structure):,} routes through the groups, up to symmetry",
        "loops": loops_report(comparison.basis, comparison).text(),
    }
