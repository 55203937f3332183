"""Who may talk to the workbench: requests under a known name, from its own pages, with the token.

A page of another site can make a browser send requests here, and its name can be made to lead here. Such a
request carries the name of the other site as its host or its origin, and not the token.
"""

import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOCAL = ("localhost", "127.0.0.1", "::1")
TOKEN = "token"  # noqa: S105
_WRONG_NAME = "The workbench does not answer to this name; start it with `distill app --host-name NAME`."
_WRONG_ORIGIN = "The workbench answers only to its own pages; open the address that `distill app` prints."
_NO_TOKEN = "The token is missing or wrong; open the address that `distill app` prints."  # noqa: S105
_ADDRESS = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\s:/?#@\[\]\\]+))(?::(\d{1,5}))?", re.IGNORECASE)
_PORTS = {"http": "80", "https": "443"}
HEADERS = {
    # Pages load nothing from outside, whatever a name in a run may contain.
    "content-security-policy": "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; "
    "base-uri 'self'; form-action 'self'; object-src 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@dataclass(frozen=True)
class Address:
    """The name and the port of a server, as a browser sees it."""

    name: str
    port: str

    @staticmethod
    def of(text: str, scheme: str) -> "Address | None":
        """The parts of `name:port`; None if the text is something else.

        Examples
        --------
        >>> Address.of("[::1]:8501", "http"), Address.of("LocalHost", "https")
        (Address(name='::1', port='8501'), Address(name='localhost', port='443'))
        >>> Address.of("localhost@elsewhere", "http")
        """
        found = _ADDRESS.fullmatch(text)
        return found and Address((found[1] or found[2]).lower(), found[3] or _PORTS.get(scheme, ""))


class AccessControl:
    """Passes on only requests that may be answered; all others get status 403 and a sentence.

    Parameters
    ----------
    names : names of this machine besides the local ones, in lower case.
    token : what a visitor must know.

    Attributes
    ----------
    in_place : whether the start of the server has passed through this control, as all requests then do.
    """

    def __init__(self, names: Iterable[str], token: str) -> None:
        self._names, self._token = frozenset(names), token
        self.in_place = False

    def around(self, app: Application) -> Application:
        """An application, in the form of ASGI, that passes on to another what may be answered."""

        async def controlled(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":  # the start and the end of the server
                self.in_place = True
                await app(scope, receive, send)
            else:
                await self._answer(app, scope, receive, send)

        return controlled

    async def _answer(self, app: Application, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _Headers(scope)
        secure = scope["scheme"] in ("https", "wss")
        host = Address.of(headers.only("host"), "https" if secure else "http")
        if reason := self._refusal(host, headers):
            await _refuse(scope, send, reason)
            return
        given = _token_in(scope)
        cookie = f"distill-{host.port if host else ''}"
        if not (self._is_token(given) or any(map(self._is_token, headers.cookies(cookie)))):
            await _refuse(scope, send, _NO_TOKEN)
            return
        added = dict(HEADERS)
        if self._is_token(given):
            added["set-cookie"] = f"{cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
            added["set-cookie"] += "; Secure" if secure else ""
        sending = _with_headers(send, added)
        if given and scope["type"] == "http" and "text/html" in headers.first("accept"):
            await _answer(sending, 200, _without_token(scope), "text/html")
        else:
            await app(scope, receive, sending)

    def _refusal(self, host: Address | None, headers: "_Headers") -> str | None:
        """Why a request is refused, whoever sends it."""
        if host is None or host.name not in self._names.union(LOCAL):
            return _WRONG_NAME
        if not headers.all("origin"):
            return None
        scheme, _, rest = headers.only("origin").partition("://")
        origin = Address.of(rest, scheme)
        if origin is None or scheme not in _PORTS:
            return _WRONG_ORIGIN
        # A proxy may change the host. Other ports of a local name belong to other programs.
        return None if origin.name in self._names or origin == host else _WRONG_ORIGIN

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


class _Headers:
    """The headers of a request; a header that must be unique has no value if it is sent twice."""

    def __init__(self, scope: Scope) -> None:
        self._pairs = [
            (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]
        ]

    def all(self, name: str) -> list[str]:
        return [value for one, value in self._pairs if one == name]

    def only(self, name: str) -> str:
        found = self.all(name)
        return found[0] if len(found) == 1 else ""

    def first(self, name: str) -> str:
        return next(iter(self.all(name)), "")

    def cookies(self, name: str) -> list[str]:
        pairs = [one.partition("=") for text in self.all("cookie") for one in text.split(";")]
        return [value.strip() for key, _, value in pairs if key.strip() == name]


def _token_in(scope: Scope) -> str:
    """The token in an address; empty if there is none or several."""
    given = parse_qs(scope["query_string"].decode("latin-1")).get(TOKEN, [])
    return given[0] if len(given) == 1 else ""


def _without_token(scope: Scope) -> str:
    """A page that opens the same address without the token, which must not stay in links and the history.

    A redirection would not do: browsers do not send the new cookie when the link was on another site.
    """
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    rest = urlencode([pair for pair in query if pair[0] != TOKEN])
    # Two slashes at the beginning would lead to another server.
    path = "/" + scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0].lstrip(
        "/\\"
    )
    target = escape(f"{path}?{rest}" if rest else path)
    return f'<!doctype html><meta http-equiv="refresh" content="0; url={target}"><title>Workbench</title>'


def _with_headers(send: Send, added: MutableMapping[str, str]) -> Send:
    """Send with more headers, in place of those of the same name except cookies."""
    replaced = {name.encode() for name in added if name != "set-cookie"}
    more = [(name.encode(), value.encode("latin-1")) for name, value in added.items()]

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] in ("http.response.start", "websocket.accept", "websocket.http.response.start"):
            kept = [pair for pair in message.get("headers", []) if pair[0].lower() not in replaced]
            message = {**message, "headers": [*kept, *more]}
        await send(message)

    return sending


async def _refuse(scope: Scope, send: Send, reason: str) -> None:
    if scope["type"] == "http":
        await _answer(_with_headers(send, HEADERS), 403, reason + "\n")
    elif "websocket.http.response" in scope.get("extensions", {}):
        await _answer(_with_headers(send, HEADERS), 403, reason + "\n", prefix="websocket.")
    else:  # the server answers with 403 itself
        await send({"type": "websocket.close", "code": 1008})


async def _answer(send: Send, status: int, text: str, kind: str = "text/plain", prefix: str = "") -> None:
    content = text.encode()
    headers = [
        (b"content-type", f"{kind}; charset=utf-8".encode()),
        (b"content-length", str(len(content)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": f"{prefix}http.response.start", "status": status, "headers": headers})
    await send({"type": f"{prefix}http.response.body", "body": content})
