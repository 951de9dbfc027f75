"""Adapters that send the requests of HTTP libraries through the host instead of through sockets."""

import io
from email.message import Message
from http.client import responses
from urllib.error import URLError

from . import exchanges

# Headers that the host sets. The values of a library describe its own connection.
CONNECTION = {"connection", "content-length", "expect", "host", "transfer-encoding"}


def adapt(module):
    """Adapts a module of the bundle after its import."""
    adapter = _ADAPTERS.get(module.__name__)
    if adapter:
        adapter(module)


def _kept(headers):
    return [(name, value) for name, value in headers if name.lower() not in CONNECTION]


def _httpx(module):
    """Replaces both transports of httpx. Clients, their options and their retries are unchanged."""

    def parts(request):
        seconds = request.extensions.get("timeout", {}).get("read")
        headers = _kept(request.headers.multi_items())
        return request.method, str(request.url), headers, request.content, seconds

    def raised(error, request):
        if isinstance(error, TimeoutError) or isinstance(error.reason, TimeoutError):
            return module.ReadTimeout(str(error), request=request)
        return module.ConnectError(str(error.reason), request=request)

    class HTTPTransport(module.BaseTransport):
        def __init__(self, *args, **kwargs):
            pass

        def handle_request(self, request):
            request.read()
            try:
                status, headers, body = exchanges.send(*parts(request))
            except (TimeoutError, URLError) as error:
                raise raised(error, request) from error
            return module.Response(status, headers=headers, content=body)

    class AsyncHTTPTransport(module.AsyncBaseTransport):
        def __init__(self, *args, **kwargs):
            pass

        async def handle_async_request(self, request):
            await request.aread()
            try:
                status, headers, body = await exchanges.send_async(*parts(request))
            except (TimeoutError, URLError) as error:
                raise raised(error, request) from error
            return module.Response(status, headers=headers, content=body)

    module.HTTPTransport, module.AsyncHTTPTransport = HTTPTransport, AsyncHTTPTransport


class _Original:
    """The original response, in which requests looks for cookies."""

    def __init__(self, fields):
        self.msg = Message()
        for name, value in fields:
            self.msg[name] = value

    def isclosed(self):
        return True

    def close(self):
        pass


def _requests(module):
    """Replaces the `send` method of the default adapter of requests."""
    from urllib3.response import HTTPResponse

    def send(self, request, stream=False, timeout=None, verify=True, cert=None, proxies=None):
        seconds = timeout[1] if isinstance(timeout, tuple) else timeout
        body = request.body or b""
        body = body.encode() if isinstance(body, str) else body if isinstance(body, bytes) else b"".join(body)
        headers = _kept(request.headers.items())
        try:
            status, fields, answer = exchanges.send(request.method, request.url, headers, body, seconds)
        except TimeoutError as error:
            raise module.ReadTimeout(error, request=request) from error
        except URLError as error:
            raise module.ConnectionError(error, request=request) from error
        raw = HTTPResponse(
            io.BytesIO(answer), fields, status, reason=responses.get(status), preload_content=False,
            decode_content=False, original_response=_Original(fields),
        )  # fmt: skip
        return self.build_response(request, raw)

    module.HTTPAdapter.send = send


def _contents(body):
    """The bytes of a body: text, bytes, a file or chunks of them."""
    if hasattr(body, "read"):
        body = body.read()
    if isinstance(body, str):
        return body.encode()
    if body is None or isinstance(body, bytes | bytearray | memoryview):
        return bytes(body or b"")
    return b"".join(map(_contents, body))


def _urllib3(module):
    """Replaces the requests of connection pools of urllib3 2. Retries, redirects and responses are unchanged."""
    from urllib3.exceptions import NewConnectionError, ReadTimeoutError
    from urllib3.response import HTTPResponse

    def send(
        self, conn, method, url, body=None, headers=None, retries=None, timeout=None, chunked=False,
        response_conn=None, preload_content=True, decode_content=True, enforce_content_length=True,
    ):  # fmt: skip
        allowed = self._get_timeout(timeout)
        allowed.start_connect()
        seconds = allowed.read_timeout
        seconds = seconds if isinstance(seconds, int | float) else None
        port = f":{self.port}" if self.port else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        whole = url if "://" in url.partition("?")[0] else f"{self.scheme}://{host}{port}{url}"
        try:
            sent = exchanges.send(method, whole, _kept((headers or {}).items()), _contents(body), seconds)
        except TimeoutError as error:
            raise ReadTimeoutError(self, url, str(error)) from error
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise ReadTimeoutError(self, url, str(error.reason)) from error
            raise NewConnectionError(conn, str(error.reason)) from error
        status, fields, answer = sent
        response = HTTPResponse(
            io.BytesIO(answer), fields, status, version=11, reason=responses.get(status), request_method=method,
            request_url=url, preload_content=preload_content, decode_content=decode_content,
            enforce_content_length=False, original_response=_Original(fields), retries=retries,
        )  # fmt: skip
        response._connection, response._pool = response_conn, self
        return response

    if "preload_content" in module.HTTPConnectionPool._make_request.__annotations__:
        module.HTTPConnectionPool._make_request = send


def _certifi(module):
    """Replaces the path of the certificates. The file is never opened: the host verifies certificates."""
    module.where = lambda: "certifi/cacert.pem"


_ADAPTERS = {
    "certifi.core": _certifi,
    "httpx._transports.default": _httpx,
    "requests.adapters": _requests,
    "urllib3.connectionpool": _urllib3,
}
