"""Which requests the studio answers: those of its own page, with its token, to its own address.

The server listens on 127.0.0.1, where every program of the machine and every web page in a browser can reach it.

- The *token* is random and known from the address that `scumble studio` prints. The first request with it gets a cookie
  that other sites cannot send (SameSite=Strict); every other request needs the cookie.
- The *Host* must be the studio's own, so that another name that resolves to 127.0.0.1 leads nowhere (DNS rebinding).
- A request that changes something must come from the studio's own page (*Origin*).
- A body is a short form: more than `LARGEST_BODY` bytes are refused before they are read.
- The *content security policy* allows no inline script or style, nothing from other hosts, and no frame.
"""

import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qs

AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]

LARGEST_BODY = 1 << 20
FORM = "scumble.form"
"""The key of the request's scope for the fields of a form."""
MOST_FIELDS = 5000

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """An ASGI application that passes on permitted requests only, and adds the security headers to every answer."""

    def __init__(self, app: Any, *, token: str, port: int) -> None:
        self.app = app
        self.token = token
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self.cookie = f"scumble-studio-{port}"

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        secured = _with_headers(send)
        refusal = self._refusal(scope["method"], headers)
        if refusal is not None:
            await _answer(secured, *refusal)
            return
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and given and self._is_token(given):
            value = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
            await _answer(secured, 303, "", ("location", "/"), ("set-cookie", value))
            return
        if not self._is_token(_cookies(headers.get("cookie", "")).get(self.cookie, "")):
            await _answer(secured, 403, "This page needs the address that `scumble studio` printed, with its token.")
            return
        if scope["method"] == "POST":
            body = await _body(receive, headers)
            if body is None:
                await _answer(secured, 413, f"A form has at most {LARGEST_BODY >> 20} MiB. Files are named, not sent.")
                return
            try:
                scope[FORM] = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
            except ValueError:
                await _answer(secured, 400, "The form cannot be read.")
                return
        await self.app(scope, receive, secured)

    def _refusal(self, method: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if host not in self.hosts:
            return 421, "This server answers to 127.0.0.1 and localhost only."
        if method not in ("GET", "HEAD", "POST"):
            return 405, "This server answers GET and POST only."
        own = f"http://{host}"
        if method == "POST" and headers.get("origin") != own:
            return 403, "A form must be sent by the studio's own page."
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "Another site's page may not use the studio."
        return None

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())


def _cookies(header: str) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return {name: value for name, _, value in pairs}


async def _body(receive: Receive, headers: Mapping[str, str]) -> bytes | None:
    """The body of a request; None if it is too long. No more than the limit is ever in memory."""
    stated = headers.get("content-length", "0")
    if not stated.isdecimal() or int(stated) > LARGEST_BODY:
        return None
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            return None
        if not message.get("more_body", False):
            return body


def _with_headers(send: Send) -> Send:
    """Send answers with the security headers; a page may state a stricter policy of its own."""

    async def secured(message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            stated = {name for name, _ in message["headers"]}
            added = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in stated]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return secured


async def _answer(send: Send, status: int, text: str, *headers: tuple[str, str]) -> None:
    body = text.encode()
    plain = (("content-type", "text/plain; charset=utf-8"), ("content-length", str(len(body))), *headers)
    encoded = [(name.encode(), value.encode()) for name, value in plain]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
