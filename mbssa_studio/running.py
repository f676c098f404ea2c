"""One run of the studio: the session that it begins with, the socket, the browser, and its end."""

from __future__ import annotations

import asyncio
import signal
import socket
import webbrowser
from pathlib import Path

import uvicorn

from mbssa import builtin_names, load
from mbssa.compiled import user_cache
from mbssa_studio.document import EMPTY
from mbssa_studio.server import application, new_token
from mbssa_studio.session import Session


def session_for(model: str | None, trust: bool) -> Session:
    """A session of a model; without one of the last drawing that was saved by itself, or an empty one.

    Raises
    ------
    ModelError
        No such model, or a file that cannot be read.
    """
    folder = user_cache()
    autosave = None if folder is None else folder / "studio" / "drawing.toml"
    session = Session(trust=trust, autosave=autosave)
    if model is None:
        if autosave is not None and autosave.is_file():
            session.state = Session(autosave.read_text("utf-8"), "drawing", trust=trust).state
            if session.state.text != EMPTY:
                session.note = "the last drawing is back; New begins an empty one"
        return session
    # The last drawing of another model is not lost by looking at this one: the first edit replaces it.
    session.autosave = None
    if model in builtin_names():
        session.open_builtin(model)
    elif Path(model).is_file():
        session.open(Path(model))
    else:
        session.take(load(model), model)
    session.done.clear()
    session.autosave = autosave
    return session


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
    server = uvicorn.Server(settings)
    print(f"studio: {address}\nCtrl-C ends it.", flush=True)
    if browser:
        webbrowser.open(address)
    try:
        asyncio.run(server.serve([listening]))
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    finally:
        guarded.close()
