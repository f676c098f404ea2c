"""The session over HTTP on 127.0.0.1: small JSON requests of one page, and the files of that page."""

from __future__ import annotations

import json
import secrets
import tempfile
import threading
from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from mbssa import Fault, ModelError, builtin_names, with_inputs
from mbssa.io.formats import ALL_ENDINGS, known_ending, no_format
from mbssa.singularities.repairs import Proposal
from mbssa_studio.guard import Guard
from mbssa_studio.posing import Posing, player
from mbssa_studio.session import Session
from mbssa_studio.view import view
from mbssa_studio.work import Worker

_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}

#: Of a page that plays a motion: all of it is in the file, and it may load nothing.
_PLAYER = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "sandbox allow-scripts allow-downloads"
)


class Studio:
    """The requests that a page may make of one session; one at a time changes it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.worker = Worker()
        self._lock = threading.Lock()
        self._posing: tuple[int, Posing] | None = None

    def state(self, _: dict[str, Any]) -> dict[str, Any]:
        """The session as the page shows it."""
        with self._lock:
            return view(self.session)

    def revision(self, _: dict[str, Any]) -> dict[str, Any]:
        """Number of the state, by which another tab sees that it has changed."""
        return {"revision": self.session.revision}

    def edit(self, given: dict[str, Any]) -> dict[str, Any]:
        """Make one edit."""
        return self._change(given, lambda s: s.edit(str(given.get("name")), **given.get("arguments", {})))

    def text(self, given: dict[str, Any]) -> dict[str, Any]:
        """Take a text."""
        return self._change(given, lambda s: s.set_text(str(given["text"])))

    def undo(self, given: dict[str, Any]) -> dict[str, Any]:
        """Go back."""
        return self._change(given, Session.undo)

    def redo(self, given: dict[str, Any]) -> dict[str, Any]:
        """Go forth again."""
        return self._change(given, Session.redo)

    def example(self, given: dict[str, Any]) -> dict[str, Any]:
        """Open a built-in model."""
        return self._change(given, lambda s: s.open_builtin(str(given["name"])))

    def new(self, given: dict[str, Any]) -> dict[str, Any]:
        """Begin an empty drawing; undo brings the last one back."""
        return self._change(given, lambda s: s.set_text(Session().state.text, "model"))

    def use(self, given: dict[str, Any]) -> dict[str, Any]:
        """Drive other coordinates."""
        inputs, pairs = list(given["inputs"]), str(given.get("pairs", ""))
        return self._change(
            given, lambda s: s.changed_to(with_inputs(s.mechanism(), inputs, pairs=pairs or ()))
        )

    def apply(self, given: dict[str, Any]) -> dict[str, Any]:
        """Carry out a verified proposal of a check."""
        types = tuple((int(joint), str(code)) for joint, code in given["types"])
        driven = tuple(int(mask) for mask in given["driven"])
        proposal = Proposal(given["kind"], "", 0, driven=driven, types=types)
        return self._change(given, lambda s: s.changed_to(proposal.apply(s.mechanism())))

    def pose(self, given: dict[str, Any]) -> dict[str, Any]:
        """Poses of all bodies at values of the inputs."""
        with self._lock:
            revision = self.session.revision
            if self._posing is None or self._posing[0] != revision:
                self._posing = (revision, Posing(self.session.state))
            posing = self._posing[1]
            if posing.mechanism.space != "planar":
                what = "a drawing moves planar mechanisms; play a spatial one"
                raise ModelError(self.session.state.name, [Fault("", what)])
            return posing.pose({name: float(value) for name, value in given["values"].items()})

    def work(self, given: dict[str, Any]) -> dict[str, Any]:
        """Check, search for inputs or compare, in the worker."""
        state = self.session.state
        revision = self.session.revision
        if state.mechanism is None:
            raise ModelError(state.name, state.faults)
        return {**self.worker.answer(str(given["kind"]), state.text), "revision": revision}

    def cancel(self, _: dict[str, Any]) -> dict[str, Any]:
        """End the work that runs."""
        self.worker.cancel()
        return {}

    def examples(self, _: dict[str, Any]) -> dict[str, Any]:
        """Names of the built-in models."""
        return {"names": list(builtin_names())}

    def open(self, name: str, data: bytes) -> dict[str, Any]:
        """Read an uploaded file; its name says the format alone, and it is deleted after reading."""
        ending = known_ending(Path(name), ALL_ENDINGS)
        if ending is None:
            raise no_format(Path(name), ALL_ENDINGS)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"model{ending}")
            path.write_bytes(data)
            stem = "".join(c if c.isalnum() or c in "-_" else "_" for c in Path(name).stem)[:60] or "model"
            return self._change({}, lambda s: self._opened(s, path, stem))

    @staticmethod
    def _opened(session: Session, path: Path, stem: str) -> None:
        session.open(path)
        session.state.name = stem

    def _change(self, given: dict[str, Any], change: Callable[[Session], None]) -> dict[str, Any]:
        with self._lock:
            seen = given.get("revision")
            if seen is not None and seen != self.session.revision:
                self.session.note = (
                    "another tab has changed the model; this is its state, make the edit again"
                )
                return view(self.session)
            change(self.session)
            return view(self.session)


def application(session: Session, hosts: set[str], token: str) -> Guard:
    """The studio as an ASGI application behind its guard."""
    studio = Studio(session)
    calls = (
        "state", "revision", "edit", "text", "undo", "redo", "example", "new", "use", "apply", "pose", "work",
        "cancel", "examples",
    )  # fmt: skip
    routes = [
        Route("/", _file_of("index.html")),
        Route("/web/{name}", _file),
        *(Route(f"/{name}", _call(getattr(studio, name)), methods=["POST"]) for name in calls),
        Route("/open", _open(studio), methods=["POST"]),
        Route("/save/{ending}", _save(studio)),
        Route("/player", _player(studio)),
    ]
    inner = Starlette(
        routes=[
            Route(f"/{token}", lambda request: RedirectResponse(f"/{token}/")),
            Mount(f"/{token}", routes=routes),
        ],
    )
    return Guard(inner, hosts, token, studio.worker.close)


Handler = Callable[[Request], Awaitable[Response]]


def _call(function: Callable[[dict[str, Any]], dict[str, Any]]) -> Handler:
    async def handle(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return _refused("a request of the studio is JSON", 415)
        try:
            given = json.loads(await request.body() or b"{}")
        except ValueError:
            return _refused("the request is not JSON", 400)
        if not isinstance(given, dict):
            return _refused("the request is no JSON object", 400)
        return await _answered(lambda: function(given))

    return handle


async def _answered(function: Callable[[], dict[str, Any]]) -> Response:
    try:
        return JSONResponse(await run_in_threadpool(function))
    except ModelError as error:
        return _refused(str(error), 422)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return _refused(f"request: {error}; look at the values", 422)


def _refused(text: str, status: int) -> Response:
    return JSONResponse({"error": text}, status)


def _open(studio: Studio) -> Handler:
    async def handle(request: Request) -> Response:
        if request.headers.get("content-type") != "application/octet-stream":
            return _refused("a file is uploaded as application/octet-stream", 415)
        name, data = request.query_params.get("name", ""), await request.body()
        return await _answered(lambda: studio.open(name, data))

    return handle


def _save(studio: Studio) -> Handler:
    async def handle(request: Request) -> Response:
        ending = f".{request.path_params['ending']}"
        try:
            data, lost = await run_in_threadpool(studio.session.save, ending)
        except ModelError as error:
            return _refused(str(error), 422)
        name = f"{studio.session.state.name}{ending}".encode("ascii", "replace").decode().replace('"', "_")
        headers = {"content-disposition": f'attachment; filename="{name}"', "x-lost": json.dumps(lost)}
        return Response(data, media_type="application/octet-stream", headers=headers)

    return handle


def _player(studio: Studio) -> Handler:
    async def handle(request: Request) -> Response:
        try:
            text = await run_in_threadpool(player, studio.session.state)
        except ModelError as error:
            return Response(str(error), 422, media_type="text/plain")
        headers = {"content-security-policy": _PLAYER}
        return Response(text, media_type="text/html", headers=headers)

    return handle


def _file_of(name: str) -> Handler:
    async def handle(request: Request) -> Response:
        return _static(name)

    return handle


async def _file(request: Request) -> Response:
    return _static(request.path_params["name"])


def _static(name: str) -> Response:
    known = {entry.name: entry for entry in files("mbssa_studio").joinpath("web").iterdir()}
    ending = Path(name).suffix
    if name not in known or ending not in _TYPES:
        return Response("no such file", 404, media_type="text/plain")
    return Response(known[name].read_bytes(), media_type=_TYPES[ending])


def new_token() -> str:
    """A random token for the address: 128 bits.

    >>> len(new_token())
    22
    """
    return secrets.token_urlsafe(16)
