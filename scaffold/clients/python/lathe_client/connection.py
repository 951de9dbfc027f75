"""What the generated clients build on: a connection that sends an operation and returns its result."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self
from urllib.parse import quote

import httpx

from lathe_client.errors import error_of
from lathe_client.retry import Retry
from lathe_client.transport import AsyncRetryTransport, RetryTransport

#: Seconds that a request may take by default: some operations run tools or build them.
TIMEOUT_SECONDS = 300.0


class Connection:
    """A connection to the server at a URL, with an id token or an API key."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        app_id: str | None = None,
        workflow_id: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retry: Retry | None = None,
        sleep: Callable[[float], object] = time.sleep,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        retrying = RetryTransport(transport or httpx.HTTPTransport(), retry or Retry(), sleep)
        headers = headers_of(token, app_id, workflow_id)
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout, transport=retrying)

    def _call(self, method: str, path: str, *segments: str, query: Any = None, body: Any = None) -> Any:
        target = path.format(*map(segment, segments))
        return result_of(self._http.request(method, target, params=query, json=body))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncConnection:
    """The same for asyncio."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        app_id: str | None = None,
        workflow_id: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retry: Retry | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        retrying = AsyncRetryTransport(transport or httpx.AsyncHTTPTransport(), retry or Retry(), sleep)
        headers = headers_of(token, app_id, workflow_id)
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout, transport=retrying)

    async def _call(self, method: str, path: str, *segments: str, query: Any = None, body: Any = None) -> Any:
        target = path.format(*map(segment, segments))
        return result_of(await self._http.request(method, target, params=query, json=body))

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def headers_of(token: str, app_id: str | None, workflow_id: str | None) -> Mapping[str, str]:
    headers = {"Authorization": f"Bearer {token}", "X-App-Id": app_id, "X-Agent-Workflow-Id": workflow_id}
    return {name: value for name, value in headers.items() if value is not None}


def segment(value: str) -> str:
    """A value as one segment of a path."""
    return quote(value, safe="")


def result_of(response: httpx.Response) -> Any:
    """Returns `data` of the envelope of the Library, otherwise the body. Raises the error of any other status than 2xx."""
    if not response.is_success:
        raise error_of(response)
    body: Any = response.json() if response.content else None
    return body["data"] if isinstance(body, dict) and body.keys() >= {"success", "data"} else body
