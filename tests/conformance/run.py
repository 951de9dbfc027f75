"""Runs the MCP conformance suite against a server of its own: python3 run.py LATHE CONFORMANCE...

LATHE is the program; CONFORMANCE the command of the suite. The fixture tools are published on the server and assigned to an agent, which
also has the prompts and the artifacts of the Library.
The suite runs once for each era, once for the scenarios that eras do not count, such as those of extensions, and once for the
authorization server. All scenarios of both eras pass; of the pending ones, those in expected-failures.yml may fail, and only they.
"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "clients"))

import authorization
import fixtures
import proxy
from mcp_server import Server
from prompt_change import PromptChange
from tool_change import ToolChange

EXPECTED = ("--expected-failures", str(HERE / "expected-failures.yml"))
#: The selections of scenarios. A run for an era succeeds whatever the pending scenarios do.
RUNS = (("--requirements", "2025-11-25"), ("--requirements", "2026-07-28"), ("--suite", "pending", *EXPECTED))
GATEWAY = "suite"


def main():
    lathe, *suite = sys.argv[1:]
    with tempfile.TemporaryDirectory() as home, Server(lathe, home, "--oauth-registration") as server:
        publish_fixtures(server)
        actions = {
            fixtures.CHANGING: ToolChange(server, GATEWAY, fixtures.CHANGED),
            fixtures.CHANGING_PROMPTS: PromptChange(server, keep_fixtures(server)),
        }
        url = proxy.start(server.address, server.mcp_path(GATEWAY), server.key, actions)
        failed = [selection[1] for selection in RUNS if not passes(suite, url, selection)]
        print("\n== authorization", flush=True)
        failed += [] if authorization.passes(suite, server, GATEWAY) else ["authorization"]
    if failed:
        raise SystemExit(f"unexpected results for {', '.join(failed)}")


def publish_fixtures(server):
    """Publishes all tools, and deploys an agent that has them."""
    server.run("agent", "create", GATEWAY, "--type", "agent", "--description", "The fixtures.")
    server.run("agent", "edit", GATEWAY, "--families", "prompts,artifacts")
    server.push({name: fixtures.files(name) for name in fixtures.BODIES})
    for name in fixtures.BODIES:
        server.create(name, f"The fixture {name}.")
        server.run("agent", "assign", GATEWAY, name)
    server.run("agent", "deploy", GATEWAY)


def keep_fixtures(server):
    """Keeps the prompts and the artifact in the Library. Returns the id of a prompt."""
    server.request("POST", "/api/v1/artifacts", fixtures.ARTIFACT)
    created = [server.request("POST", "/api/v1/prompts", prompt) for prompt in fixtures.PROMPTS]
    return created[0]["data"]["prompt_id"]


def passes(suite, url, selection):
    print(f"\n== {selection[1]}", flush=True)
    return subprocess.run([*suite, "server", "--url", url, *selection]).returncode == 0


if __name__ == "__main__":
    main()
