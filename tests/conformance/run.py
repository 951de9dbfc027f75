"""Runs the MCP conformance suite against a server of its own: python3 run.py LATHE CONFORMANCE...

LATHE is the program; CONFORMANCE the command of the suite. The fixture tools are published on the server and assigned to a gateway.
The suite runs once for each era. Scenarios in expected-failures.yml may fail, and only they.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import fixtures
import proxy

HERE = pathlib.Path(__file__).resolve().parent
ERAS = ("2025-11-25", "2026-07-28")
ORGANIZATION = "acme"


class Server:
    """A server with an organisation, whose user is logged in."""

    def __init__(self, lathe, home):
        self.lathe, self.home = lathe, pathlib.Path(home)
        self.environment = {**os.environ, "HOME": home, "LATHE_CONFIG_DIR": home}
        data = str(self.home / "data")
        key = self.json("org", "create", ORGANIZATION, "--user", "ada", "--data", data)
        self.process = subprocess.Popen(
            [lathe, "serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--data", data],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment, cwd=home, text=True,
        )
        self.address = self.listening()
        self.token = key["api_key"]
        login = ["login", "--url", f"http://{self.address}", "--org", ORGANIZATION, "--user", "ada"]
        self.run(*login, "--api-key-id", key["api_key_id"], stdin=key["api_key"])

    def listening(self):
        """Waits until the server listens."""
        line = self.process.stdout.readline()
        if "http://" not in line:
            raise SystemExit(f"the server did not start: {line}")
        return line.strip().rpartition("http://")[2]

    def run(self, *arguments, stdin=""):
        done = subprocess.run(
            [self.lathe, *arguments], input=stdin, env=self.environment, cwd=self.home, text=True, capture_output=True
        )
        if done.returncode:
            raise SystemExit(f"lathe {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.run("--json", *arguments))

    def publish_fixtures(self):
        """Pushes all fixtures with one commit, and publishes each."""
        folder = self.home / "tools"
        url = f"http://{ORGANIZATION}_ada:{self.token}@{self.address}/v1/{ORGANIZATION}/tool/git/tools.git"
        git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        call = lambda *rest: subprocess.run([*git, *rest], env=self.environment, check=True, capture_output=True)
        call("clone", url, str(folder))
        call("-C", str(folder), "switch", "-c", f"releases/{ORGANIZATION}")
        for name in fixtures.BODIES:
            project = folder / "tools" / name
            project.mkdir(parents=True)
            for file, text in fixtures.files(name).items():
                (project / file).write_text(text)
        call("-C", str(folder), "add", ".")
        call("-C", str(folder), "commit", "-m", "fixtures")
        call("-C", str(folder), "push", "-u", "origin", f"releases/{ORGANIZATION}")
        for name in fixtures.BODIES:
            self.run("tool", "create", name, "--description", f"The fixture {name}.")
            publish = ["tool", "publish", name, "--branch", f"releases/{ORGANIZATION}", "--path", f"tools/{name}"]
            self.run(*publish, "--bump", "minor", "--yes")
            self.run("agent", "assign", "suite", name)
            print(f"published {name}", flush=True)


def main():
    lathe, *suite = sys.argv[1:]
    with tempfile.TemporaryDirectory() as home:
        server = Server(os.path.abspath(lathe), home)
        try:
            server.run("agent", "create", "suite", "--type", "mcp_gateway", "--description", "The fixtures.")
            server.publish_fixtures()
            server.run("agent", "deploy", "suite")
            url = proxy.start(server.address, f"/v1/{ORGANIZATION}/mcp/suite", server.token)
            failed = [era for era in ERAS if not passes(suite, url, era)]
        finally:
            server.process.terminate()
            server.process.wait()
    if failed:
        raise SystemExit(f"unexpected results for {', '.join(failed)}")


def passes(suite, url, era):
    print(f"\n== {era}", flush=True)
    expected = str(HERE / "expected-failures.yml")
    command = [*suite, "server", "--url", url, "--requirements", era, "--expected-failures", expected]
    return subprocess.run(command).returncode == 0


if __name__ == "__main__":
    main()
