"""Adapters that send the requests of HTTP libraries through the host instead of through sockets."""

import asyncio
import ssl
from http.client import responses
from urllib.error import URLError

from . import exchanges, wire


def adapt(module):
    """Adapts a module of the bundle after its import."""
    adapter = _ADAPTERS.get(module.__name__)
    if adapter:
        adapter(module)


def _httpx(module):
    """Replaces both transports of httpx. Clients, their options and their retries are unchanged."""

    def refuse_proxy(proxy):
        if proxy is not None:
            raise exchanges.EgressRefused(wire.PROXIES)

    def parts(request):
        seconds = request.extensions.get("timeout", {}).get("read")
        url, body = str(request.url), request.content
        return request.method, url, wire.kept(request.headers.multi_items(), url, body), body, seconds

    def raised(error, request):
        if isinstance(error, TimeoutError) or isinstance(error.reason, TimeoutError):
            return module.ReadTimeout(str(error), request=request)
        kind = module.RemoteProtocolError if isinstance(error, exchanges.PeerFailed) else module.ConnectError
        return kind(str(error.reason), request=request)

    class Body(module.SyncByteStream, module.AsyncByteStream):
        """The body of a response, which the client decodes as it reads it."""

        def __init__(self, contents):
            self._contents = contents

        def __iter__(self):
            yield self._contents

        async def __aiter__(self):
            yield self._contents

    def response(status, headers, body):
        extensions = {"http_version": b"HTTP/1.1", "reason_phrase": responses.get(status, "").encode()}
        return module.Response(status, headers=headers, stream=Body(body), extensions=extensions)

    class HTTPTransport(module.BaseTransport):
        def __init__(self, *args, proxy=None, **kwargs):
            refuse_proxy(proxy)

        def handle_request(self, request):
            request.read()
            try:
                return response(*exchanges.send(*parts(request)))
            except (TimeoutError, URLError) as error:
                raise raised(error, request) from error

    class AsyncHTTPTransport(module.AsyncBaseTransport):
        def __init__(self, *args, proxy=None, **kwargs):
            refuse_proxy(proxy)

        async def handle_async_request(self, request):
            await request.aread()
            try:
                return response(*await exchanges.send_async(*parts(request)))
            except (TimeoutError, URLError) as error:
                raise raised(error, request) from error

    module.HTTPTransport, module.AsyncHTTPTransport = HTTPTransport, AsyncHTTPTransport


def _requests(module):
    """Gives errors of requests the reason of the host, and leaves certificates to it."""
    from requests.exceptions import ChunkedEncodingError

    send = module.HTTPAdapter.send

    class PeerFailed(module.ConnectionError, ChunkedEncodingError):
        """The peer closed the connection before its response was whole."""

    def explained(self, request, *args, **kwargs):
        try:
            return send(self, request, *args, **kwargs)
        except module.ConnectionError as error:
            cause = _cause(error)
            if cause is None:
                raise
            kind = PeerFailed if isinstance(cause, exchanges.PeerFailed) else module.ConnectionError
            raise kind(cause, request=request) from cause

    def verify(self, conn, url, verify, cert):
        if cert:
            raise exchanges.EgressRefused("a tool has no client certificates: the host makes its connections")

    module.HTTPAdapter.send = explained
    module.HTTPAdapter.cert_verify = verify


def _cause(error):
    """The refusal of the host or the failure of the peer that caused an error, or `None`."""
    while error is not None and not isinstance(error, exchanges.EgressRefused | exchanges.PeerFailed):
        error = error.__cause__ or error.__context__
    return error


def _urllib3(module):
    """Replaces the sockets of urllib3. Pools, retries, redirects and responses are unchanged."""
    from urllib3.exceptions import NewConnectionError

    getresponse = module.HTTPConnection.getresponse

    def answered(self, *args, **kwargs):
        try:
            return getresponse(self, *args, **kwargs)
        except exchanges.PeerFailed:
            raise
        except URLError as error:
            if isinstance(error.reason, TimeoutError | ssl.SSLError):
                raise error.reason from error
            raise NewConnectionError(self, str(error.reason)) from error

    def secured(self):
        connect(self)
        # The host verifies certificates.
        self.is_verified = True

    connect = wire.connect("https")
    module.HTTPConnection.getresponse = answered
    module.HTTPConnection.connect = wire.connect("http")
    module.HTTPSConnection.connect = secured


def _urllib3_wait(module):
    """Replaces the look for bytes that nobody asked for, which tell urllib3 that a connection was closed."""
    module.wait_for_read = lambda sock, timeout=None: False
    module.wait_for_write = lambda sock, timeout=None: True


def _aiohttp(module):
    """Replaces the connections of aiohttp. Sessions, their options and responses are unchanged."""

    async def connection(self, request, traces, timeout):
        if request.proxy:
            raise exchanges.EgressRefused(wire.PROXIES)
        protocol = self._factory()
        protocol.connection_made(_Transport(protocol, (request.url.scheme, request.url.raw_host, request.url.port)))
        return protocol

    module.TCPConnector._create_connection = connection


class _Transport(asyncio.Transport):
    """A connection of asyncio whose requests go through the host."""

    def __init__(self, protocol, origin):
        super().__init__()
        self._protocol, self._origin = protocol, origin
        self._requests, self._task = wire.Requests(), None

    def write(self, data):
        self._requests.write(data)
        request = self._requests.take()
        if request is not None:
            self._task = asyncio.ensure_future(self._send(*request))

    async def _send(self, method, target, headers, body):
        try:
            # The library has timers of its own, which close this connection.
            url = wire.url(*self._origin, target)
            status, fields, answer = await exchanges.send_async(method, url, wire.kept(headers, url, body), body)
        except (TimeoutError, URLError) as error:
            return self._close(None if isinstance(error, exchanges.PeerFailed) else error)
        if self._protocol is None:
            return
        self._protocol.data_received(wire.response(status, fields, answer))
        if not any(name.lower() == "content-length" for name, _ in fields):
            self._close(None)

    def _close(self, error):
        if self._protocol is not None:
            protocol, self._protocol = self._protocol, None
            protocol.connection_lost(error)

    def is_closing(self):
        return self._protocol is None

    def close(self):
        if self._task is not None:
            self._task.cancel()
        self._close(None)

    abort = close

    def pause_reading(self):
        """Does nothing, since the whole response is in memory."""

    resume_reading = pause_reading

    def get_write_buffer_size(self):
        return 0


def _certifi(module):
    """Replaces the path of the certificates. The file is never opened: the host verifies certificates."""
    module.where = lambda: "certifi/cacert.pem"


_ADAPTERS = {
    "aiohttp.connector": _aiohttp,
    "certifi.core": _certifi,
    "httpx._transports.default": _httpx,
    "requests.adapters": _requests,
    "urllib3.connection": _urllib3,
    "urllib3.util.wait": _urllib3_wait,
}
