"""Conditions on a request before it reaches the session: host, origin, token, and a bounded size."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Bytes of a request; a model beyond is opened by ``mbssa studio FILE``.
MOST_BYTES = 5_000_000

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)


class Guard:
    """Guard that refuses requests of other hosts, of other pages and without the token."""

    # A page of another site can send requests to 127.0.0.1, and its name can be made to resolve there (DNS
    # rebinding); the first has another origin, the second another host, and neither has the token. ``close``
    # ends what the application has running.

    def __init__(
        self, application: Application, hosts: set[str], token: str, close: Callable[[], None]
    ) -> None:
        self.close = close
        self.application = application
        self.hosts = hosts
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.application(scope, receive, send)
            return
        status, reason = self._refusal(scope)
        if status:
            if status == 413:
                await _discard(receive)
            await _answer(send, status, reason)
            return

        size = 0

        async def bounded() -> MutableMapping[str, Any]:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MOST_BYTES:
                raise TooLarge
            return message

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                named = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    (b"x-content-type-options", b"nosniff"),
                    (b"referrer-policy", b"no-referrer"),
                    (b"cache-control", b"no-store"),
                    *([] if b"content-security-policy" in named else [
                        (b"content-security-policy", _POLICY.encode())
                    ]),
                ]  # fmt: skip
            await send(message)

        try:
            await self.application(scope, bounded, guarded)
        except TooLarge:
            await _answer(
                send, 413, f"the file is larger than {MOST_BYTES / 1e6:.0f} MB; open it by mbssa studio FILE"
            )

    def _refusal(self, scope: Scope) -> tuple[int, str]:
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        if headers.get("host", "") not in self.hosts:
            return 400, "this host is not the studio; open the address that mbssa studio printed"
        origin = headers.get("origin")
        if origin is not None and origin.removeprefix("http://") not in self.hosts:
            return 403, "a request of another page; the studio answers its own alone"
        first = scope["path"].split("/")[1] if "/" in scope["path"] else ""
        if not secrets.compare_digest(first.encode(), self.token.encode()):
            return 404, "no such page; open the address that mbssa studio printed, with its token"
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, f"the file is larger than {MOST_BYTES / 1e6:.0f} MB; open it by mbssa studio FILE"
        return 0, ""


class TooLarge(Exception):
    """A request has more bytes than the studio reads."""


async def _discard(receive: Receive) -> None:
    """Read a body that is too large, up to a limit: a browser shows no answer before it has sent all."""
    size, more = 0, True
    while more and size < 20 * MOST_BYTES:
        message = await receive()
        size += len(message.get("body", b""))
        more = bool(message.get("more_body"))


async def _answer(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"x-content-type-options", b"nosniff")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
