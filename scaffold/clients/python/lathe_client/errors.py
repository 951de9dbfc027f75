"""The error that a response becomes."""

import json
from typing import Any

import httpx

#: The code of a response whose body is not an error of the server, such as that of a proxy.
UNEXPECTED = "unexpected_response"


class LatheError(Exception):
    """A response with another status than 2xx."""

    def __init__(self, code: str, status: int, message: str, details: Any = None) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.code, self.status, self.message, self.details = code, status, message, details


def error_of(response: httpx.Response) -> LatheError:
    """Reads both forms of an error: `{"error": {…}}` of the Library, and `{"detail", "code"}`."""
    try:
        body = json.loads(response.content)
    except ValueError:
        body = None
    match body:
        case {"error": {"code": str(code), "message": str(message), **rest}}:
            return LatheError(code, response.status_code, message, rest.get("details"))
        case {"code": str(code), "detail": str(message)}:
            return LatheError(code, response.status_code, message)
        case {"code": str(code), "detail": details}:
            return LatheError(code, response.status_code, "the request is invalid", details)
    return LatheError(UNEXPECTED, response.status_code, response.reason_phrase)
