"""One run of the studio: the session that it begins with, the socket, the browser, and its end."""

from __future__ import annotations

import asyncio
import signal
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from mbssa import builtin_names, load
from mbssa.files import user_cache
from mbssa_studio.document import EMPTY
from mbssa_studio.link import MARK, text_of
from mbssa_studio.server import application, new_token
from mbssa_studio.session import Session


def session_for(model: str | None, trust: bool) -> Session:
    """Session of a model or a link; without one of the model that was edited last, or an empty one."""
    folder = user_cache()
    autosave = None if folder is None else folder / "studio" / "recent"
    session = Session(trust=trust, autosave=autosave)
    recent = session.recent()
    session.autosave = None  # to look at a model is not to edit it
    if model is None:
        if recent and autosave is not None:
            session.set_text((autosave / f"{recent[0]}.toml").read_text("utf-8"), recent[0])
            if session.state.text != EMPTY:
                session.note = "the last drawing is back; New begins an empty one"
    elif MARK in model:
        session.set_text(text_of(model))
    elif model in builtin_names():
        session.open_builtin(model)
    elif Path(model).is_file():
        session.open(Path(model))
    else:
        session.take(load(model), model)
    session.done.clear()
    session.autosave = autosave
    return session


class _Server(uvicorn.Server):
    """Server that ends the processes of its application first, so that no request waits for them."""

    def __init__(self, settings: uvicorn.Config, close: Callable[[], None]) -> None:
        super().__init__(settings)
        self._close = close

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._close()
        await super().shutdown(sockets)


def serve(session: Session, listening: socket.socket, browser: bool) -> None:
    """Serve a session on a socket until Ctrl-C; print the address, and open it."""
    port = listening.getsockname()[1]
    token = new_token()
    hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
    guarded = application(session, hosts, token)
    address = f"http://127.0.0.1:{port}/{token}/"
    settings = uvicorn.Config(
        guarded, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=1
    )
    server = _Server(settings, guarded.close)
    print(f"studio: {address}\nCtrl-C ends it.", flush=True)
    if browser:
        webbrowser.open(address)
    try:
        asyncio.run(server.serve([listening]))
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    finally:
        guarded.close()
