"""Conditions on a request before it reaches the session: host, origin, token, and a bounded size."""

from __future__ import annotations

import asyncio
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
    "frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
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
        if scope["type"] == "websocket":
            await send({"type": "websocket.close"})  # before the handshake: refused
            return
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        status, reason = self._refusal(scope)
        if status:
            await _answer(send, status, reason)
            return
        try:
            body = await _body(receive)
        except TooLarge:
            reason = f"the file is larger than {MOST_BYTES / 1e6:.0f} MB; open it by mbssa studio FILE"
            await _answer(send, 413, reason)
            return
        if body is None:
            return
        unread = [{"type": "http.request", "body": body, "more_body": False}]

        async def read() -> MutableMapping[str, Any]:
            return unread.pop() if unread else await receive()

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
            await self.application(scope, read, guarded)
        except asyncio.CancelledError:  # by the end of the server alone
            await _answer(send, 503, "the studio was ended")

    def _refusal(self, scope: Scope) -> tuple[int, str]:
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        if headers.get("host", "") not in self.hosts:
            return 400, "this host is not the studio; open the address that mbssa studio printed"
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return 403, "a request of another page; the studio answers its own alone"
        first = scope["path"].split("/")[1] if "/" in scope["path"] else ""
        if not secrets.compare_digest(first.encode(), self.token.encode()):
            return 404, "no such page; open the address that mbssa studio printed, with its token"
        return 0, ""


class TooLarge(Exception):
    """A request has more bytes than the studio reads."""


async def _body(receive: Receive) -> bytes | None:
    """Body of a request, None if the client leaves before its end; TooLarge beyond the limit."""
    body, size, more = bytearray(), 0, True
    while more and size < 20 * MOST_BYTES:  # a browser shows no answer before it has sent all
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        size += len(message.get("body", b""))
        if size <= MOST_BYTES:
            body += message.get("body", b"")
        more = bool(message.get("more_body"))
    if size > MOST_BYTES:
        raise TooLarge
    return bytes(body)


async def _answer(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"x-content-type-options", b"nosniff")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
