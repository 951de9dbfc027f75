"""Sends the requests of the table through the Python clients: python3 driver.py sync|async < requests.json"""

import asyncio
import json
import random
import ssl
import sys

import httpx
from lathe_client import AsyncClient, Client, LatheError, Retry

#: Shared, because each one reads all certificates of the machine.
TLS = ssl.create_default_context()
CALLS = {
    "GET": lambda client: client.memory_get("m"),
    "PUT": lambda client: client.memory_put("m", content="c"),
    "DELETE": lambda client: client.memory_delete("m"),
    "POST": lambda client: client.memory_create(content="c"),
    "PATCH": lambda client: client.memory_update("m", content="c"),
}


class Sleeps(list):
    """Keeps the sleeps, and sleeps none of them."""

    async def wait(self, seconds):
        self.append(seconds)


def options(request):
    fixed = request["random"]
    source = random.random if fixed is None else lambda: fixed
    retry = Retry(retries=request["retries"], random=source, now=lambda: request["now"])
    return {"app_id": "app", "workflow_id": "workflow", "retry": retry}


def send(request):
    sleeps = Sleeps()
    with Client(request["url"], "secret", sleep=sleeps.append, transport=httpx.HTTPTransport(verify=TLS), **options(request)) as client:
        try:
            return sleeps, CALLS[request["method"]](client)
        except (LatheError, httpx.TransportError) as error:
            return sleeps, error


async def send_async(request):
    sleeps = Sleeps()
    async with AsyncClient(request["url"], "secret", sleep=sleeps.wait, transport=httpx.AsyncHTTPTransport(verify=TLS), **options(request)) as client:
        try:
            return sleeps, await CALLS[request["method"]](client)
        except (LatheError, httpx.TransportError) as error:
            return sleeps, error


def report(sleeps, outcome):
    match outcome:
        case LatheError(code=code, status=status, message=message, details=details):
            return {"sleeps": sleeps, "error": {"code": code, "status": status, "message": message, "details": details}}
        case httpx.TransportError():
            return {"sleeps": sleeps, "connection": True}
    return {"sleeps": sleeps, "result": outcome}


def main():
    sending = send if sys.argv[1] == "sync" else lambda request: asyncio.run(send_async(request))
    print(json.dumps([report(*sending(request)) for request in json.load(sys.stdin)]))


if __name__ == "__main__":
    main()
