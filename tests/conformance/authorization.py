"""The scenarios of the suite for authorization servers, with a registered client and the browser of a user who allows its access."""

import html
import json
import re
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from mcp_server import USER

HIDDEN = re.compile(r'type="hidden" name="([^"]+)" value="([^"]*)"')
#: Seconds in which the suite begins to listen for the browser.
PATIENCE = 10


def passes(suite, server, gateway):
    """Runs the scenarios. The suite prints the URL that it wants to be opened."""
    issuer, port = f"http://{server.address}", free_port()
    client = registered(issuer, f"http://127.0.0.1:{port}/callback")
    options = ["--url", issuer, "--client-id", client, "--resource", issuer + server.mcp_path(gateway), "--port", str(port)]
    process = subprocess.Popen([*suite, "authorization", *options], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        print(line, end="", flush=True)
        if asked := re.search(rf"{re.escape(issuer)}/oauth/authorize\?\S+", line):
            allow(asked[0], server.key)
    return process.wait() == 0


def registered(issuer, redirect_uri):
    """Registers a client and returns its id."""
    body = json.dumps({"client_name": "suite", "redirect_uris": [redirect_uri]}).encode()
    request = urllib.request.Request(f"{issuer}/oauth/register", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["client_id"]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Staying(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_, **__):
        return None


def allow(url, api_key):
    """Opens the page at a URL, submits its form, and follows the redirect to the client."""
    opener = urllib.request.build_opener(Staying)
    page = opener.open(url).read().decode()
    form = {name: html.unescape(value) for name, value in HIDDEN.findall(page)}
    form |= {"user": USER, "api_key": api_key, "decision": "allow"}
    try:
        opener.open(urllib.parse.urljoin(url, "/oauth/authorize"), urllib.parse.urlencode(form).encode())
    except urllib.error.HTTPError as answer:
        return follow(answer.headers["location"])
    raise SystemExit("the form of the authorization page led nowhere")


def follow(url):
    """Opens the page of the client, which may not listen yet. The suite judges the response itself."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return urllib.request.urlopen(url).read()
        except urllib.error.HTTPError:
            return None
        except urllib.error.URLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
