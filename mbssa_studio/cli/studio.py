"""The command ``mbssa studio``."""

from __future__ import annotations

import os
import socket
from importlib.util import find_spec
from pathlib import Path

import typer

from mbssa.cli import completion
from mbssa.cli.console import fail
from mbssa.cli.options import ALLOW, TRUST


def studio(
    model: str | None = typer.Argument(
        None,
        metavar="MODEL",
        autocompletion=completion.models,
        help="A built-in model or a file; else the last drawing.",
    ),
    port: int = typer.Option(
        0, metavar="PORT", min=0, max=65535, help="On 127.0.0.1; a free one by default."
    ),
    browser: bool = typer.Option(True, help="Open the page in the browser."),
    trust: bool = TRUST,
    allow: list[Path] | None = ALLOW,
) -> None:
    """Draw MODEL in the browser, see its structural groups at every edit, and move it.

    The page is on 127.0.0.1, at an address with a random token; it loads nothing
    from the network. Each edit is saved in the cache folder, and comes back when
    the studio is started without MODEL. Ctrl-C ends it; FILE itself is not
    written: save the model by the page.

    Example: mbssa studio planar_four_bar
    """
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        fail(f'mbssa studio needs {" and ".join(missing)}: pip install -e ".[studio]" in the clone')
    from mbssa.trust import trusts_all
    from mbssa_studio.running import serve, session_for

    session = session_for(model, trusts_all())
    try:
        listening = socket.create_server(("127.0.0.1", port), backlog=64)
    except OSError as error:
        fail(f"--port {port}: {os.strerror(error.errno or 0)}; choose another, or none for a free one")
    # Else each small answer waits 40 ms for the acknowledgement of its head.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    serve(session, listening, browser)
