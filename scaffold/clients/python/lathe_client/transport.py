"""Transports of httpx that send again as the rule says."""

import itertools
from collections.abc import Awaitable, Callable

import httpx

from lathe_client.retry import IDEMPOTENT, Retry


class RetryTransport(httpx.BaseTransport):
    """Sends through another transport."""

    def __init__(self, inner: httpx.BaseTransport, retry: Retry, sleep: Callable[[float], object]) -> None:
        self.inner, self.retry, self.sleep = inner, retry, sleep

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for attempt in itertools.count():
            try:
                response = self.inner.handle_request(request)
                # The end of the connection within the body is an error of the connection, too.
                if request.method in IDEMPOTENT:
                    response.read()
                pause = self.retry.after_response(request.method, response, attempt)
                if pause is None:
                    return response
                response.close()
            except httpx.TransportError as error:
                pause = self.retry.after_error(error, attempt)
                if pause is None:
                    raise
            self.sleep(pause)
        raise AssertionError("the loop has no end")

    def close(self) -> None:
        self.inner.close()


class AsyncRetryTransport(httpx.AsyncBaseTransport):
    """The same for asyncio."""

    def __init__(self, inner: httpx.AsyncBaseTransport, retry: Retry, sleep: Callable[[float], Awaitable[object]]) -> None:
        self.inner, self.retry, self.sleep = inner, retry, sleep

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        for attempt in itertools.count():
            try:
                response = await self.inner.handle_async_request(request)
                if request.method in IDEMPOTENT:
                    await response.aread()
                pause = self.retry.after_response(request.method, response, attempt)
                if pause is None:
                    return response
                await response.aclose()
            except httpx.TransportError as error:
                pause = self.retry.after_error(error, attempt)
                if pause is None:
                    raise
            await self.sleep(pause)
        raise AssertionError("the loop has no end")

    async def aclose(self) -> None:
        await self.inner.aclose()
