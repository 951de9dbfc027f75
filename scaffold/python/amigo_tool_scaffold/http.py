"""Concurrent HTTP requests.

    one, two = await asyncio.gather(fetch("https://api.example.com/1"), fetch("https://api.example.com/2"))

In the service, requests may go only to the hosts in the project's `allowed_hosts`. Others raise `EgressRefused`, a
`urllib.error.URLError`. Under plain CPython, in an author's tests, requests are sent with `urllib.request`.
"""

from __future__ import annotations

import asyncio
import gzip
import json as json_module
import urllib.error
import urllib.request
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any

Carrier = Callable[
    [str, str, list[tuple[str, str]], bytes, "float | None"],
    Awaitable[tuple[int, Message, bytes]],
]


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response of any status. `headers["name"]` is case-insensitive.

    A body in `gzip` or `deflate` is decoded. `text` and `json` raise `ValueError` for other encodings.
    """

    status: int
    headers: Message
    body: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def text(self) -> str:
        """The body decoded with the charset of `Content-Type`, by default UTF-8."""
        charset = self.headers.get_content_charset("utf-8")
        return self._decoded().decode("utf-8-sig" if charset == "utf-8" else charset)

    def json(self) -> Any:
        """The body decoded as JSON. Raises `ValueError` when it is not JSON."""
        return json_module.loads(self._decoded())

    def _decoded(self) -> bytes:
        others = [name for name in _encodings(self.headers) if name not in _DECODERS]
        if others and self.body:
            names = ", ".join(others)
            raise ValueError(f"the body is encoded as {names}; fetch decodes gzip and deflate, and `body` has the bytes")
        return self.body


def _inflate(body: bytes) -> bytes:
    try:
        return zlib.decompress(body)
    except zlib.error:
        return zlib.decompress(body, -zlib.MAX_WBITS)  # some servers leave out the header of zlib


_DECODERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.decompress, "x-gzip": gzip.decompress, "deflate": _inflate}


def _encodings(headers: Message) -> list[str]:
    """The encodings of a body, in the order in which the server applied them."""
    names = [name.strip() for name in ",".join(headers.get_all("content-encoding", [])).lower().split(",")]
    return [name for name in names if name not in ("", "identity")]


def _decode(headers: Message, body: bytes) -> bytes:
    """Decodes a body if all its encodings are known."""
    names = _encodings(headers)
    if not body or any(name not in _DECODERS for name in names):
        return body
    for name in reversed(names):
        try:
            body = _DECODERS[name](body)
        except (zlib.error, gzip.BadGzipFile, EOFError) as error:
            raise ValueError(f"the body is not {name}, which its Content-Encoding names: {error}") from None
    return body


async def fetch(
    url: str,
    *,
    method: str | None = None,
    headers: Mapping[str, str] | None = None,
    body: bytes | str = b"",
    json: Any = None,
    timeout: float | None = None,
) -> Answer:
    """Sends a request and returns the response, whatever its status. Redirects are not followed.

    The method is GET by default, or POST with a body. `json` is encoded as the body. `timeout` is in seconds; after it,
    `TimeoutError` is raised.
    """
    fields = dict(headers or {})
    if json is not None:
        body = json_module.dumps(json)
        fields.setdefault("Content-Type", "application/json")
    if not any(name.lower() == "accept-encoding" for name in fields):
        fields["Accept-Encoding"] = "gzip, deflate"
    data = body.encode() if isinstance(body, str) else body
    method = method or ("POST" if data else "GET")
    status, received, contents = await _carrier(method, url, list(fields.items()), data, timeout)
    return Answer(status, received, _decode(received, contents))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


async def _urllib(
    method: str, url: str, headers: list[tuple[str, str]], body: bytes, timeout: float | None
) -> tuple[int, Message, bytes]:
    request = urllib.request.Request(url, body or None, dict(headers), method=method)
    opener = urllib.request.build_opener(_NoRedirect)

    def send() -> tuple[int, Message, bytes]:
        try:
            with opener.open(request, timeout=timeout) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    return await asyncio.to_thread(send)


_carrier: Carrier = _urllib


def carry(carrier: Carrier) -> None:
    """Replaces the function that sends requests, such as by the service's own or by a test's mock."""
    global _carrier
    _carrier = carrier
