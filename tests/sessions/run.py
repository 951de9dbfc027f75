"""Runs sessions of MCP clients with a server of its own: python3 run.py LATHE NODE MODULES

LATHE is the program, NODE that of Node.js, and MODULES the directory `node_modules` with `@modelcontextprotocol/sdk` and
`@modelcontextprotocol/client`. The Python that runs this needs requirements.txt.
"""

import pathlib
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "clients"))

import agent_framework
import javascript_sdk
import python_sdk
import watched_resources
from gateway import Gateway
from mcp_server import Server


def main():
    lathe, node, modules = sys.argv[1:]
    with tempfile.TemporaryDirectory() as home, Server(lathe, home) as server:
        gateway = Gateway(server)
        for name, session in (
            ("Python", lambda: python_sdk.run(gateway)),
            ("JavaScript", lambda: javascript_sdk.run(gateway, node, modules)),
            ("watched resources", lambda: watched_resources.run(gateway)),
            ("an agent framework", lambda: agent_framework.run(gateway)),
        ):
            start = time.monotonic()
            session()
            print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
