#!/usr/bin/env python3
"""Calls every operation of the HTTP contract, of agents, of conversations and of the Library, with only the standard library and `git`.

Reads LATHE_URL, LATHE_ORG, LATHE_USER, LATHE_API_KEY_ID and LATHE_API_KEY, prints one line for each operation, and
exits with 1 and a message at the first response that a strict client would refuse. It creates a tool with a new name,
adds a commit to the organisation's branch, and deprecates the tool at the end.
"""

import http.client
import io
import json
import os
import secrets
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.parse
from pathlib import Path

from agent_operations import AgentWalk
from library_operations import LibraryWalk
from strict import Field, Refused, check_record, check_results, check_tool, check_user, check_version, page, parsed

PROJECT = """\
[project]
name = "{name}"

[tool.lathe]
required_envvars = ["GREETING"]
required_secret_envvars = ["SIGNATURE"]
"""

SOURCE = """\
async def run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables):
    if tool_input["name"] == "nobody":
        raise LookupError("nobody is there")
    return f"{config.envvars['GREETING']} {tool_input['name']}, {config.secrets['SIGNATURE']}"
"""


class Client:
    """One connection to the server, and the lines that are printed."""

    def __init__(self):
        try:
            self.organization, self.user = os.environ["LATHE_ORG"], os.environ["LATHE_USER"]
            self.key_id, self.key = os.environ["LATHE_API_KEY_ID"], os.environ["LATHE_API_KEY"]
            self.url = urllib.parse.urlsplit(os.environ["LATHE_URL"])
        except KeyError as missing:
            sys.exit(f"set {missing.args[0]}; the script says at its top what it reads")
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        # A publication takes as long as its build.
        self.connection = kind(self.url.hostname, self.url.port, timeout=600)
        self.headers = {"x-mongo-cluster-name": "c1", "sec-websocket-protocol": "a", "x-amigo-application": "script"}
        self.done = 0

    def sign_in(self):
        keys = {"x-api-key": self.key, "x-api-key-id": self.key_id, "x-user-id": self.user}
        answer = parsed(self.exchange("POST", "/user/signin_with_api_key", headers=keys), 200)
        answer["expires_at"].moment()
        self.token = answer["id_token"].text()
        self.headers["authorization"] = f"Bearer {self.token}"

    def exchange(self, method, path, query=(), body=None, headers=None, base=None):
        """Sends a request. `path` is below the organisation, or below another base."""
        target = f"/v1/{self.organization}{path}" if base is None else base + path
        if query:
            target += "?" + urllib.parse.urlencode(query)
        headers = {**self.headers, **(headers or {})}
        if body is not None and not isinstance(body, bytes):
            body, headers["content-type"] = json.dumps(body).encode(), "application/json"
        self.connection.request(method, target, body, headers)
        response = self.connection.getresponse()
        return response, response.read()

    def say(self, operation, status, words, below="/tool"):
        """Prints an operation with its method and its path below another one."""
        method, path = operation.split(" ")
        self.report(f"{method} /v1/{{organization}}{below}{path} {status} {words}".rstrip())

    def report(self, line):
        self.done += 1
        print(line, flush=True)


class Walk:
    """The life of one tool."""

    def __init__(self, client, directory):
        self.client, self.directory = client, Path(directory)
        self.name = f"every_operation_{secrets.token_hex(4)}"
        self.branch = f"releases/{client.organization}"
        self.project = f"tools/{self.name}"
        one = {"invocation_mode": "regular", "nonsensitive_user_variables": {"locale": "en"}}
        other = {"invocation_mode": "conversation-simulation", "nonsensitive_user_variables": {}}
        self.inputs = [
            {**one, "input_parameters": {"name": "Ada"}, "sensitive_user_variables": {"pin": "1234"}},
            {**other, "input_parameters": {"name": "nobody"}, "sensitive_user_variables": {}},
        ]

    def create(self):
        body = {"name": self.name, "description": "Made by a script.", "tags": {"made by": "script", "short": None}}
        answer = parsed(self.client.exchange("POST", "/tool/", body=body), 201)
        self.tool = answer["id"].id()
        self.client.say("POST /", 201, self.tool)

    def modify(self):
        body = {"description": "Changed by a script.", "tags": {"made by": "script", "stage": None}}
        parsed(self.client.exchange("POST", f"/tool/{self.tool}", body=body), 204)
        self.client.say("POST /{tool_id}", 204, "description and tags")

    def variables(self):
        values = {"GREETING": "Hello", "SIGNATURE": "yours"}
        inserts = [{"name": name, "value": value, "is_secret": name == "SIGNATURE"} for name, value in values.items()]
        body = {"inserts": inserts, "updates": [], "deletes": []}
        parsed(self.client.exchange("POST", f"/tool/{self.tool}/envvar", body=body), 204)
        self.client.say("POST /{tool_id}/envvar", 204, "one plain and one secret")

    def tools(self):
        query = [("id", self.tool), ("tag", "made by:script"), ("tag", "stage:")]
        query += [("sort_by", "+name"), ("sort_by", "-deprecated")]
        answer = parsed(self.client.exchange("GET", "/tool/", query), 200)
        answer["filter_values"]["tags"].texts()
        (tool,) = page(answer, "tools")
        Field(check_tool(tool), "the tool").expect(self.tool)
        tool["description"].expect("Changed by a script.")
        tool["secret_envvars"].expect(["SIGNATURE"])
        self.client.say("GET /", 200, tool["name"].text())

    def git(self, *arguments):
        command = ["git", "-c", "user.name=script", "-c", "user.email=script@localhost", *arguments]
        environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
        done = subprocess.run(command, cwd=self.directory, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise Refused(f"git {arguments[0]}: {done.stderr.strip()}")
        return done.stdout.strip()

    def references(self):
        """Git's first request has no credentials, so the server must answer with a challenge."""
        self.client.headers.pop("authorization")
        path, query = "/tool/git/tools.git/info/refs", [("service", "git-upload-pack")]
        response, _ = self.client.exchange("GET", path, query)
        challenges = response.headers.get_all("www-authenticate", [])
        if response.status != 401 or not any(challenge.startswith("Basic ") for challenge in challenges):
            raise Refused(f"git is not asked for credentials: {response.status} {challenges}")
        self.client.headers["authorization"] = f"Bearer {self.client.token}"
        response, body = self.client.exchange("GET", path, query, headers={"git-protocol": "version=2"})
        if response.status != 200 or b"version 2" not in body:
            raise Refused(f"git's protocol version 2 is not spoken: {response.status} {body[:200]!r}")
        self.client.say("GET /git/{git_path}", 200, "protocol version 2")

    def push(self):
        """Pushes a commit on top of the branch, or of `main` if the branch does not exist."""
        client = self.client
        name = urllib.parse.quote(f"{client.organization}_{client.user}", safe="")
        place = f"{name}:{client.token}@{client.url.netloc}"
        remote = client.url._replace(netloc=place, path=f"/v1/{client.organization}/tool/git/tools.git")
        self.git("clone", "-q", remote.geturl(), ".")
        if self.git("ls-remote", "origin", f"refs/heads/{self.branch}"):
            self.git("checkout", "-q", self.branch)
        else:
            self.git("checkout", "-q", "-b", self.branch)
        project = self.directory / self.project
        project.mkdir(parents=True)
        (project / "pyproject.toml").write_text(PROJECT.format(name=self.name))
        (project / "tool.py").write_text(SOURCE)
        self.git("add", "--all")
        self.git("commit", "-q", "-m", f"{self.name}: a tool of a script")
        self.git("push", "-q", "origin", f"HEAD:refs/heads/{self.branch}")
        self.commit = self.git("rev-parse", "HEAD")
        self.client.say("POST /git/{git_path}", 200, f"pushed {self.commit[:12]}")

    def scaffold(self):
        response, body = self.client.exchange("GET", "/tool/amigo_tool_scaffold.tar.gz")
        if response.status != 200:
            raise Refused(f"no scaffold: {response.status}")
        with tarfile.open(fileobj=io.BytesIO(body), mode="r:gz") as archive:
            names = archive.getnames()
        if not any(name.endswith("/pyproject.toml") for name in names):
            raise Refused(f"the scaffold is no package: {names}")
        self.client.say("GET /amigo_tool_scaffold.tar.gz", 200, f"{len(names)} files")

    def branch_test(self):
        body = {
            "inputs": self.inputs,
            "commit_branch": self.branch,
            "project_path": self.project,
            "required_envvars": {"GREETING": "Hi"},
            "required_secret_envvars": {"SIGNATURE": "bye"},
        }
        answer = parsed(self.client.exchange("POST", "/tool/test", body=body), 200)
        took = check_results(answer, ["Hi Ada, bye", "nobody is there"])
        self.client.say("POST /test", 200, f"{took} ms")

    def publish(self):
        body = {"project_path": self.project, "bump_type": "minor"}
        answer = parsed(self.client.exchange("POST", f"/tool/{self.tool}/version", body=body), 201)
        answer["new_version"].expect("1.0.0")
        self.client.say("POST /{tool_id}/version", 201, "1.0.0")

    def versions(self):
        query = [("versions", ">=1.0,<2"), ("creator", f"{self.client.organization},{self.client.user}")]
        query += [("sort_by", "+version.major"), ("sort_by", "-created_at")]
        answer = parsed(self.client.exchange("GET", f"/tool/{self.tool}/version/", query), 200)
        for user in answer["filter_values"]["creators"].items():
            check_user(user, "user_org_id")
        (version,) = page(answer, "tool_versions")
        Field(check_version(version), "the version").expect("1.0.0")
        version["tool_commit_hash"].expect(self.commit)
        self.client.say("GET /{tool_id}/version", 200, "1.0.0")

    def invoke(self):
        path = f"/tool/{self.tool}/version/1.0.0/invoke"
        answer = parsed(self.client.exchange("POST", path, body={"inputs": self.inputs}), 200)
        took = check_results(answer, ["Hello Ada, yours", "nobody is there"])
        self.client.say("POST /{tool_id}/version/{version}/invoke", 200, f"{took} ms")

    def history(self):
        """Reads all pages, of one record each. The last one has a null token."""
        path, token, outcomes = "/tool/invocation", 0, []
        while token is not None:
            query = [("tool_id", self.tool), ("version", "~=1.0"), ("limit", 1), ("continuation_token", token)]
            answer = parsed(self.client.exchange("GET", path, query), 200)
            outcomes.extend(check_record(record) for record in page(answer, "tool_invocations"))
            token = answer["continuation_token"].value
        Field(sorted(outcomes), "the history").expect(["Hello Ada, yours", "nobody is there"])
        self.client.say("GET /invocation", 200, f"{len(outcomes)} runs")

    def search(self):
        fields = [("query_against", f"invocation_status.{field}") for field in ("output", "exception_message")]
        query = [("query", "nobody"), ("tool_id", self.tool), ("succeeded", "false"), *fields]
        answer = parsed(self.client.exchange("GET", "/tool/invocation/search", query), 200)
        (record, *_) = answer["tool_invocations"].items()
        Field(check_record(record), "what was found").expect("nobody is there")
        self.client.say("GET /invocation/search", 200, "found")

    def deprecate(self):
        constraint = urllib.parse.quote(">=1.0,<2", safe="")
        parsed(self.client.exchange("DELETE", f"/tool/{self.tool}/version/{constraint}"), 204)
        self.client.say("DELETE /{tool_id}/version/{versions}", 204, ">=1.0,<2")
        parsed(self.client.exchange("DELETE", f"/tool/{self.tool}/"), 204)
        self.client.say("DELETE /{tool_id}", 204, self.tool)

    def all(self):
        self.create(), self.modify(), self.variables(), self.tools()
        self.references(), self.push(), self.scaffold()
        self.branch_test(), self.publish(), self.versions(), self.invoke()
        self.history(), self.search()
        AgentWalk(self.client, self.tool).all(), LibraryWalk(self.client).all()
        self.deprecate()


def main():
    client, began = Client(), time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        try:
            client.sign_in()
            Walk(client, directory).all()
        except Refused as refused:
            sys.exit(f"after {client.done} operations: {refused}")
    print(f"{client.done} operations in {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
