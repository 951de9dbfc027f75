"""Concurrent HTTP requests.

    one, two = await asyncio.gather(fetch("https://api.example.com/1"), fetch("https://api.example.com/2"))

In the service, requests may go only to the hosts in the project's `allowed_hosts`. Others raise `EgressRefused`, a
`urllib.error.URLError`. Under plain CPython, in an author's tests, requests are sent with `urllib.request`.
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
    """An HTTP response of any status. `headers["name"]` is case-insensitive."""

    status: int
    headers: Message
    body: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def text(self) -> str:
        """The body decoded with the charset of `Content-Type`, by default UTF-8."""
        return self.body.decode(self.headers.get_content_charset("utf-8"))

    def json(self) -> Any:
        """The body decoded as JSON. Raises `ValueError` when it is not JSON."""
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
    """Sends a request and returns the response, whatever its status. Redirects are not followed.

    The method is GET by default, or POST with a body. `json` is encoded as the body. `timeout` is in seconds; after it,
    `TimeoutError` is raised.
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
    """Replaces the function that sends requests, such as by the service's own or by a test's mock."""
    global _carrier
    _carrier = carrier
