"""A server for tests with MCP clients: an organisation, its tools, and a gateway that has them."""

import http.client
import json
import os
import pathlib
import subprocess

ORGANIZATION = "acme"
USER = "ada"
BRANCH = f"releases/{ORGANIZATION}"


class Server:
    """A server with an organisation, whose user is logged in."""

    def __init__(self, lathe, home, *options):
        self.lathe, self.home = os.path.abspath(lathe), pathlib.Path(home)
        self.environment = {**os.environ, "HOME": str(home), "LATHE_CONFIG_DIR": str(home)}
        data = str(self.home / "data")
        key = self.json("org", "create", ORGANIZATION, "--user", USER, "--data", data)
        self.process = subprocess.Popen(
            [self.lathe, "serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--data", data, *options],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment, cwd=home, text=True,
        )
        self.address = self._listening()
        self.key = key["api_key"]
        login = ["login", "--url", f"http://{self.address}", "--org", ORGANIZATION, "--user", USER]
        self.run(*login, "--api-key-id", key["api_key_id"], stdin=self.key)
        keys = {"x-api-key": self.key, "x-api-key-id": key["api_key_id"], "x-user-id": USER}
        self.token = self.rest("POST", "/user/signin_with_api_key", headers=keys)["id_token"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def _listening(self):
        """Waits until the server listens."""
        line = self.process.stdout.readline()
        if "http://" not in line:
            raise SystemExit(f"the server did not start: {line}")
        return line.strip().rpartition("http://")[2]

    def run(self, *arguments, stdin=""):
        """Runs `lathe` and returns its output."""
        done = subprocess.run(
            [self.lathe, *arguments], input=stdin, env=self.environment, cwd=self.home, text=True, capture_output=True
        )
        if done.returncode:
            raise SystemExit(f"lathe {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.run("--json", *arguments))

    def rest(self, method, path, body=None, headers=None):
        """Sends a request of the user about the organisation."""
        return self.request(method, f"/v1/{ORGANIZATION}{path}", body, headers)

    def request(self, method, path, body=None, headers=None):
        """Sends a request of the user to the HTTP API and returns the answer, which must be a success."""
        headers = headers or {"authorization": f"Bearer {self.token}"}
        text = None if body is None else json.dumps(body)
        connection = http.client.HTTPConnection(self.address)
        connection.request(method, path, text, {**headers, "content-type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {answer.decode()}")
        return json.loads(answer) if answer else None

    def mcp_path(self, agent):
        return f"/v1/{ORGANIZATION}/mcp/{agent}"

    def push(self, projects):
        """Pushes projects, each with its files by name, with one commit."""
        folder = self.home / "tools"
        if not folder.exists():
            url = f"http://{ORGANIZATION}_{USER}:{self.key}@{self.address}/v1/{ORGANIZATION}/tool/git/tools.git"
            self._git("clone", url, str(folder))
            self._git("-C", str(folder), "switch", "-c", BRANCH)
        for name, files in projects.items():
            project = folder / "tools" / name
            project.mkdir(parents=True, exist_ok=True)
            for file, text in files.items():
                (project / file).write_text(text)
        self._git("-C", str(folder), "add", ".")
        self._git("-C", str(folder), "commit", "-m", "tools")
        self._git("-C", str(folder), "push", "-u", "origin", BRANCH)

    def _git(self, *arguments):
        git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", *arguments]
        subprocess.run(git, env=self.environment, check=True, capture_output=True)

    def create(self, name, description):
        """Creates a tool and publishes its pushed project."""
        self.run("tool", "create", name, "--description", description)
        self.publish(name)
        print(f"published {name}", flush=True)

    def publish(self, name):
        """Publishes the pushed project of a tool as a minor version."""
        publish = ["tool", "publish", name, "--branch", BRANCH, "--path", f"tools/{name}"]
        self.run(*publish, "--bump", "minor", "--yes")
