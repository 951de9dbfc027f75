"""HTTP requests that wait beside each other.

    one, two = await asyncio.gather(fetch("https://api.example.com/1"), fetch("https://api.example.com/2"))

In the service a request goes only to hosts in the project's `allowed_hosts`, and anything else raises `EgressRefused`,
a `urllib.error.URLError`. Under plain CPython, in an author's tests, it goes wherever `urllib.request` goes.
"""

from __future__ import annotations

import asyncio
import json as json_module
import urllib.error
import urllib.request
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
    """What came back, whatever its status. `headers["name"]` is read without regard to case."""

    status: int
    headers: Message
    body: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def text(self) -> str:
        """The body as its `Content-Type` says, or as UTF-8."""
        return self.body.decode(self.headers.get_content_charset("utf-8"))

    def json(self) -> Any:
        """The body decoded. Raises `ValueError` when it is not JSON."""
        return json_module.loads(self.body)


async def fetch(
    url: str,
    *,
    method: str | None = None,
    headers: Mapping[str, str] | None = None,
    body: bytes | str = b"",
    json: Any = None,
    timeout: float | None = None,
) -> Answer:
    """Makes one request and returns its answer, errors of the server and redirects included.

    The method is GET, or POST with a body. `json` is encoded as the body. `timeout` is in seconds; over it `TimeoutError` is raised.
    """
    fields = dict(headers or {})
    if json is not None:
        body = json_module.dumps(json)
        fields.setdefault("Content-Type", "application/json")
    data = body.encode() if isinstance(body, str) else body
    method = method or ("POST" if data else "GET")
    return Answer(*await _carrier(method, url, list(fields.items()), data, timeout))


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
    """Sends all later requests another way, such as through the service's host or a test's own answers."""
    global _carrier
    _carrier = carrier
