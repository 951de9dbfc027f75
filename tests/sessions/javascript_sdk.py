"""Sessions of the official JavaScript SDKs, each with one era of the protocol."""

import os
import pathlib
import shutil
import subprocess

from gateway import expect
from python_sdk import RECORDS

#: The packages below `@modelcontextprotocol/`.
PACKAGES = ("sdk", "client")
SESSION = pathlib.Path(__file__).resolve().parent / "session.mjs"


def run(gateway, node, modules):
    # Node.js looks for packages beside the file.
    copy = shutil.copy(SESSION, gateway.server.home)
    (gateway.server.home / "node_modules").symlink_to(os.path.abspath(modules))
    for package in PACKAGES:
        session(gateway, [node, copy, package])
        print(f"the JavaScript package {package}: ok", flush=True)


def session(gateway, command):
    """Runs a session, and publishes when it asks for it."""
    name = f"javascript-{command[-1]}"
    process = subprocess.Popen(
        [*command, gateway.url, name],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        env={**os.environ, "AUTHORIZATION": gateway.headers["Authorization"]},
    )
    with process:
        if process.stdout.readline() == "publish\n":
            process.stdin.write(f"{gateway.publish()}\n")
            process.stdin.flush()
    expect(process.returncode, 0, f"the exit of the session of {name}")
    history = [record for record in RECORDS if record != ("edition", None)]
    gateway.check_history(f"{name} 1.0", [*history, ("edition", None)])
