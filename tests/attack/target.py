"""The server that is attacked, with an organisation, a user, a tool with a version and a run, and an agent."""

import json
import re
import signal
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

ORGANIZATION = "acme"
USER = "ada"
GATEWAY = "shouter"

MANIFEST = '[project]\nname = "shout"\n\n[tool.lathe]\n'
SOURCE = (
    "async def run_tool(tool_input: dict, metadata, config, conversation, send_status_event, user_variables):\n"
    "    return str(tool_input)[:1000]\n"
)

# Texts in the log of a server with an internal error.
FAULTS = re.compile(r"panicked|request failed|ERROR")


class Server:
    """`lathe serve` on a new data directory."""

    def __init__(self, program: Path, directory: Path) -> None:
        self.program = program.resolve()
        self.directory = directory
        self.log = directory / "server.log"
        command = [self.program, "serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off"]
        command += ["--data", directory / "data"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log.open("w"), text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            raise SystemExit(f"the server did not start:\n{self.log.read_text()}")
        self.url = line.removeprefix("listening on ").strip()

    def request(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"} | (headers or {})
        request = urllib.request.Request(f"{self.url}{path}", data=data, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=120) as response:
            self.last_id = response.headers["x-request-id"]
            text = response.read()
        return json.loads(text) if text else None

    def get(self, path: str) -> Any:
        return self.request("GET", path)

    def requests(self) -> int:
        """Returns the number of requests so far: request ids end with a count."""
        self.get("/health/ready")
        return int(self.last_id.rpartition("-")[2], 16)

    def resident_bytes(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def problems(self) -> list[str]:
        ended = self.process.poll()
        if ended is not None:
            return [f"it ended with {ended}"]
        self.get("/health/ready")
        lines = [line for line in self.log.read_text(errors="replace").splitlines() if FAULTS.search(line)]
        return [f"its log says: {line}" for line in lines[:20]]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def run(self, *arguments: str | Path, cwd: Path | None = None) -> str:
        return subprocess.run(arguments, cwd=cwd, check=True, capture_output=True, text=True).stdout


def seed(server: Server) -> dict[str, str]:
    """Creates the objects, and returns their ids and credentials."""
    key = json.loads(
        server.run(
            server.program, "--json", "org", "create", ORGANIZATION, "--user", USER, "--data", server.directory / "data"
        )
    )
    headers = {"x-api-key-id": key["api_key_id"], "x-api-key": key["api_key"], "x-user-id": USER}
    token = server.request("POST", f"/v1/{ORGANIZATION}/user/signin_with_api_key", headers=headers)["id_token"]
    authorized = {"authorization": f"Bearer {token}"}
    tools = f"/v1/{ORGANIZATION}/tool"
    new = {"name": "shout", "description": "Says it back.", "tags": {"team": "demo", "beta": None}}
    tool = server.request("POST", tools, new, authorized)["id"]
    push(server, token)
    server.request("POST", f"{tools}/{tool}/version", {"project_path": "tools/shout", "bump_type": "minor"}, authorized)
    one = {"nonsensitive_user_variables": {}, "sensitive_user_variables": {}}
    inputs = [{"input_parameters": {"text": "hello"}, "invocation_mode": "regular"} | one]
    server.request("POST", f"{tools}/{tool}/version/1.0.0/invoke", {"inputs": inputs}, authorized)
    ids = {"ORGANIZATION": ORGANIZATION, "USER": USER, "KEY": key["api_key_id"], "TOOL": tool, "GATEWAY": GATEWAY}
    deploy(server, tool, authorized)
    return ids | {"TOKEN": token}


def deploy(server: Server, tool: str, authorized: dict[str, str]) -> None:
    """Deploys an agent with the tool, for MCP clients."""
    agents = f"/v1/{ORGANIZATION}/agent"
    new = {"agent_type": "mcp_gateway", "name": "Shouter", "slug": GATEWAY, "description": "Says things back."}
    agent = server.request("POST", agents, new, authorized)["id"]
    server.request("POST", f"{agents}/{agent}/assignment", {"tool_id": tool, "version_constraint": ">=1"}, authorized)
    server.request("POST", f"{agents}/{agent}/deploy", {}, authorized)


def push(server: Server, token: str) -> None:
    repository = server.directory / "repository"
    project = repository / "tools" / "shout"
    project.mkdir(parents=True)
    (project / "pyproject.toml").write_text(MANIFEST)
    (project / "tool.py").write_text(SOURCE)
    host = server.url.removeprefix("http://")
    remote = f"http://{ORGANIZATION}_{USER}:{token}@{host}/v1/{ORGANIZATION}/tool/git/tools.git"
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    server.run("git", "init", "-q", "-b", "releases/acme", cwd=repository)
    server.run("git", "add", "-A", cwd=repository)
    server.run("git", *author, "commit", "-q", "-m", "A tool", cwd=repository)
    server.run("git", "push", "-q", remote, "HEAD:releases/acme", cwd=repository)
