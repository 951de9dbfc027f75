"""The rule of retries. It neither sleeps nor sends."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

import httpx

#: Verbs whose repetition has the effect of one request.
IDEMPOTENT = frozenset({"GET", "PUT", "DELETE"})
#: Statuses after which an idempotent request is repeated.
TRANSIENT = frozenset({502, 503, 504})
#: The longest `Retry-After` that is waited for. A caller waits no longer without a word.
RETRY_AFTER_SECONDS_MAX = 60.0


@dataclass(frozen=True)
class Retry:
    """Bounds of retries, and the sources of randomness and time."""

    retries: int = 3
    base_seconds: float = 0.5
    cap_seconds: float = 8.0
    #: Returns a number from 0 to 1.
    random: Callable[[], float] = random.random
    #: Returns the seconds since 1970.
    now: Callable[[], float] = time.time

    def after_error(self, error: httpx.TransportError, attempt: int) -> float | None:
        """Seconds before the retry with this number, from 0, or None to raise the error."""
        return self._backoff(attempt) if attempt < self.retries and is_connection_error(error) else None

    def after_response(self, method: str, response: httpx.Response, attempt: int) -> float | None:
        """Seconds before the retry with this number, from 0, or None to return the response."""
        if attempt >= self.retries or method not in IDEMPOTENT or response.status_code not in TRANSIENT:
            return None
        at_least = seconds_of(response.headers.get("retry-after", ""), self.now())
        return max(self._backoff(attempt), at_least) if at_least <= RETRY_AFTER_SECONDS_MAX else None

    def _backoff(self, attempt: int) -> float:
        """Full jitter: anything between 0 and a bound that doubles."""
        return self.random() * min(self.cap_seconds, self.base_seconds * 2.0**attempt)


def is_connection_error(error: httpx.TransportError) -> bool:
    """Whether the connection failed. A response that is slow, or that is not HTTP, is none of these errors."""
    if isinstance(error, httpx.RemoteProtocolError):
        # This class is also that of malformed responses. Only the text tells that the server closed the connection.
        return "without sending" in str(error)
    return isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.ReadError, httpx.WriteError))


def seconds_of(header: str, now: float) -> float:
    """Seconds of `Retry-After`, which has seconds or a date. 0 if it is missing or invalid."""
    if header.isdecimal():
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    return max(0.0, date.replace(tzinfo=date.tzinfo or UTC).timestamp() - now)
