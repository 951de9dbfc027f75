"""Tests the typed clients with a server of its own, and with one that fails on purpose: python3 run.py LATHE NODE MODULES

LATHE is the program, NODE that of Node.js, and MODULES the directory `node_modules` with `openapi-fetch`, `openapi-typescript` and
`typescript`. The Python that runs this needs requirements.txt.
"""

import pathlib
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "clients"))

from languages import Python, TypeScript
from mcp_server import Server
from retries import check_rows


def main():
    lathe, node, modules = sys.argv[1:]
    with tempfile.TemporaryDirectory() as home, Server(lathe, home) as server:
        url = f"http://{server.address}"
        for language in (Python(home), TypeScript(home, node, modules)):
            start = time.monotonic()
            language.generate(f"{url}/v1/openapi.json")
            language.check_types()
            print(f"{language.name}: generated and checked in {time.monotonic() - start:.1f} s", flush=True)
            language.sample(url, server.token)
            print(f"{language.name}: the Library of a server: ok", flush=True)
            for name, driver in language.drivers():
                check_rows(name, driver)


if __name__ == "__main__":
    main()
