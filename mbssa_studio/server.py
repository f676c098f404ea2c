"""The session over HTTP on 127.0.0.1: small JSON requests of one page, and the files of that page."""

from __future__ import annotations

import asyncio
import json
import secrets
import tempfile
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from groups.pictures.drawing import resting
from groups.pictures.page import page_text
from mbssa import Fault, ModelError, builtin_names, decompose, with_inputs
from mbssa.io.formats import ALL_ENDINGS, known_ending, no_format
from mbssa.singularities.proposals import Proposal
from mbssa_studio.guard import Guard
from mbssa_studio.link import link_of, text_of
from mbssa_studio.posing import Posing
from mbssa_studio.session import Session, builtin_text, safe_name
from mbssa_studio.view import groups_of, view
from mbssa_studio.work import Worker

_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}

_MEDIA = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "csv": "text/csv"}

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
        self._gallery = Worker()
        self._thumbnails: dict[str, bytes] = {}
        self._lock = threading.Lock()
        self._posing: tuple[int, Posing] | None = None
        self._page: tuple[Any, str] | None = None

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
        return self._change(given, Session.new)

    def recent(self, given: dict[str, Any]) -> dict[str, Any]:
        """Open a model that was edited before."""
        return self._change(given, lambda s: s.open_recent(str(given["name"])))

    def open_link(self, given: dict[str, Any]) -> dict[str, Any]:
        """Take the model that a link carries."""
        return self._change(given, lambda s: s.set_text(text_of(str(given["link"]))))

    def link(self, _: dict[str, Any]) -> dict[str, Any]:
        """The link that carries the model."""
        return {"link": link_of(self.session.state.text)}

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
        directions = tuple((int(joint), tuple(map(float, way))) for joint, way in given["directions"])
        proposal = Proposal(given["kind"], "", 0, driven=driven, types=types, directions=directions)
        return self._change(given, lambda s: s.changed_to(proposal.apply(s.mechanism())))

    def pose(self, given: dict[str, Any]) -> dict[str, Any]:
        """Poses of all bodies at values of the inputs."""
        with self._lock:
            return self._posed().pose({name: float(value) for name, value in dict(given["values"]).items()})

    def _posed(self) -> Posing:
        """The model of the state that is shown, made when it is first posed."""
        revision = self.session.revision
        if self._posing is None or self._posing[0] != revision:
            self._posing = (revision, Posing(self.session.state))
        return self._posing[1]

    def work(self, given: dict[str, Any]) -> dict[str, Any]:
        """Check, search for inputs, compare or find assembly modes, in the worker."""
        state = self.session.state
        revision = self.session.revision
        if state.mechanism is None:
            raise ModelError(state.name, state.faults)
        return {**self.worker.answer(str(given["kind"]), state.text, state.name), "revision": revision}

    def file(self, kind: str, name: str, ending: str) -> bytes:
        """A picture of the model, or its motion as a table, from the worker."""
        state = self.session.state
        if state.mechanism is None:
            raise ModelError(state.name, state.faults)
        return _data(self.worker.answer(kind, state.text, state.name, name=name, ending=ending))

    def thumbnail(self, name: str) -> bytes:
        """A picture of a built-in model for the gallery, which has a worker of its own."""
        if name not in self._thumbnails:
            text = builtin_text(name)
            found = self._gallery.answer("picture", text, name, name="mechanism", ending=".svg")
            if "error" in found:  # no geometry
                found = self._gallery.answer("picture", text, name, name="graph", ending=".svg")
            self._thumbnails[name] = _data(found)
        return self._thumbnails[name]

    def preview(self, given: dict[str, Any]) -> dict[str, Any]:
        """The groups that other inputs would give, as the page shows them."""
        pairs = str(given.get("pairs", "")) or ()
        structure = decompose(with_inputs(self.session.mechanism(), list(given["inputs"]), pairs=pairs))
        return {"groups": groups_of(structure)}

    def reach(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the range of an input."""
        with self._lock:
            posing = self._posed()
        return posing.reach(str(given["name"]))  # poses do not wait for it

    def mode(self, given: dict[str, Any]) -> dict[str, Any]:
        """Put a group into another assembly mode, until the model changes."""
        with self._lock:
            return self._posed().switch(int(given["group"]), int(given["mode"]))

    def play(self, given: dict[str, Any]) -> dict[str, Any]:
        """Make the page of :meth:`player` ready; the error says why the motion cannot be played."""
        self.player(bool(given.get("still")))
        return {}

    def player(self, still: bool) -> str:
        """The page that plays the motion, in the assembly modes that were chosen; or shows the reference."""
        with self._lock:
            state, mechanism = self.session.state, self.session.mechanism()
            posing = None if still else self._posed()
        key = (state, None if posing is None else posing.modes)
        page = self._page
        if page is None or page[0] != key:
            text = page_text(resting(mechanism), points=()) if posing is None else posing.page()
            self._page = page = (key, text)
        return page[1]

    def close(self) -> None:
        """End the processes."""
        self.worker.close()
        self._gallery.close()

    def cancel(self, _: dict[str, Any]) -> dict[str, Any]:
        """End the work that runs."""
        self.worker.cancel()
        return {}

    def examples(self, _: dict[str, Any]) -> dict[str, Any]:
        """Names of the built-in models, and of those that were edited last."""
        return {"names": list(builtin_names()), "recent": self.session.recent()}

    def open(self, name: str, data: bytes) -> dict[str, Any]:
        """Read an uploaded file; its name says the format alone, and it is deleted after reading."""
        ending = known_ending(Path(name), ALL_ENDINGS)
        if ending is None:
            raise no_format(Path(name), ALL_ENDINGS)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"model{ending}")
            path.write_bytes(data)
            try:
                return self._change({}, lambda s: s.open(path, safe_name(Path(name).stem)))
            except ModelError as error:
                raise ModelError(name, error.faults) from None

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
        "cancel", "examples", "recent", "link", "open_link", "preview", "mode", "reach",
        "play",
    )  # fmt: skip
    turn = asyncio.Lock()
    routes = [
        Route("/", _file_of("index.html")),
        Route("/web/{name}", _file),
        *(Route(f"/{name}", _call(getattr(studio, name)), methods=["POST"]) for name in calls),
        Route("/open", _open(studio), methods=["POST"]),
        Route("/save/{ending}", _save(studio)),
        Route("/player", _player(studio)),
        *(
            Route(f"/{kind}/{{name}}/{{ending}}", _download(partial(studio.file, kind), turn))
            for kind in ("picture", "motion")
        ),
        Route(
            "/thumbnail/{name}/{ending}", _download(lambda name, _: studio.thumbnail(name), asyncio.Lock())
        ),
    ]
    inner = Starlette(
        routes=[
            Route(f"/{token}", lambda request: RedirectResponse(f"/{token}/")),
            Mount(f"/{token}", routes=routes),
        ],
        exception_handlers=dict.fromkeys(_REQUESTED, _mistaken),
    )
    return Guard(inner, hosts, token, studio.close)


Handler = Callable[[Request], Awaitable[Response]]


def _call(function: Callable[[dict[str, Any]], dict[str, Any]]) -> Handler:
    async def handle(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return _refused("a request of the studio is JSON", 415)
        try:
            given = json.loads(await request.body() or b"{}")
            json.dumps(given, ensure_ascii=False, allow_nan=False).encode()  # no half character, no infinity
        except (ValueError, RecursionError):
            return _refused("the request is not JSON", 400)
        if not isinstance(given, dict):
            return _refused("the request is no JSON object", 400)
        return JSONResponse(await run_in_threadpool(function, given))

    return handle


#: Errors of a request with wrong values.
_REQUESTED = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


def _mistaken(_: Request, error: Exception) -> Response:
    """Answer to a request whose values make no model; a ModelError says where."""
    return _refused(
        str(error) if isinstance(error, ModelError) else f"request: {error}; look at the values", 422
    )


def _refused(text: str, status: int) -> Response:
    return JSONResponse({"error": text}, status)


def _open(studio: Studio) -> Handler:
    async def handle(request: Request) -> Response:
        if request.headers.get("content-type") != "application/octet-stream":
            return _refused("a file is uploaded as application/octet-stream", 415)
        name, data = request.query_params.get("name", ""), await request.body()
        return JSONResponse(await run_in_threadpool(studio.open, name, data))

    return handle


def _save(studio: Studio) -> Handler:
    async def handle(request: Request) -> Response:
        ending = f".{request.path_params['ending']}"
        data, lost = await run_in_threadpool(studio.session.save, ending)
        name = f"{safe_name(studio.session.state.name)}{ending}".encode("ascii", "replace").decode()
        headers = {"content-disposition": f'attachment; filename="{name}"', "x-lost": json.dumps(lost)}
        return Response(data, media_type="application/octet-stream", headers=headers)

    return handle


def _download(content: Callable[[str, str], bytes], turn: asyncio.Lock) -> Handler:
    async def handle(request: Request) -> Response:
        name, ending = request.path_params["name"], request.path_params["ending"]
        await request.body()
        async with turn:  # one thread at a time: those that wait would leave none for edits
            if await request.is_disconnected():  # nothing is drawn for a page that has gone on
                return Response(status_code=408)
            data = await run_in_threadpool(content, name, f".{ending}")
        return Response(data, media_type=_MEDIA.get(ending, "application/octet-stream"))

    return handle


def _data(found: dict[str, Any]) -> bytes:
    """The file of a worker's answer."""
    if "data" not in found:
        raise ModelError("studio", [Fault("", found.get("error", "was cancelled; ask again"))])
    data: bytes = found["data"]
    return data


def _player(studio: Studio) -> Handler:
    async def handle(request: Request) -> Response:
        text = await run_in_threadpool(studio.player, "still" in request.query_params)
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
    """Random token for the address: 128 bits."""
    return secrets.token_urlsafe(16)
