"""The clients of both languages, generated in a temporary directory."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = HERE.parent.parent / "scaffold" / "clients"


class Language:
    """A copy of a client, with the sample and the driver of these tests."""

    def __init__(self, name, home, target):
        self.name = name
        ignored = shutil.ignore_patterns("generated", "schema.ts", "dist", "node_modules")
        self.copy = shutil.copytree(CLIENTS / name.lower(), pathlib.Path(home) / name, ignore=ignored)
        for file in HERE.glob(f"*{target}"):
            if file.stem in ("sample", "driver"):
                shutil.copy(file, self.copy if target == ".py" else self.copy / "src")

    def run(self, *command, stdin=""):
        """Runs a program in the copy and returns its output."""
        done = subprocess.run(command, cwd=self.copy, input=stdin, text=True, stdout=subprocess.PIPE)
        if done.returncode:
            raise SystemExit(f"{self.name}: {' '.join(map(str, command))} failed: {done.stdout}")
        return done.stdout


class Python(Language):
    def __init__(self, home):
        super().__init__("Python", home, ".py")

    def generate(self, document):
        self.run(sys.executable, "generate.py", document)

    def check_types(self):
        self.run(sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "lathe_client", "generate.py", "document.py", "sample.py")

    def sample(self, url, token):
        self.run(sys.executable, "sample.py", url, token)

    def drivers(self):
        for kind in ("sync", "async"):
            yield f"Python ({kind})", lambda requests, kind=kind: self.drive(kind, requests)

    def drive(self, kind, requests):
        return json.loads(self.run(sys.executable, "driver.py", kind, stdin=json.dumps(requests)))


class TypeScript(Language):
    def __init__(self, home, node, modules):
        super().__init__("TypeScript", home, ".ts")
        self.node, self.modules = os.path.abspath(node), pathlib.Path(os.path.abspath(modules))
        (self.copy / "node_modules").symlink_to(self.modules)
        self.scripts = json.loads((self.copy / "package.json").read_text())["scripts"]

    def script(self, name, program, *arguments):
        """Runs a script of package.json without npm."""
        _, *options = self.scripts[name].split()
        self.run(self.node, f"node_modules/{program}", *options, *arguments)

    def generate(self, document):
        self.script("generate", "openapi-typescript/bin/cli.js", document)

    def check_types(self):
        self.script("build", "typescript/bin/tsc")

    def sample(self, url, token):
        self.run(self.node, "dist/sample.js", url, token)

    def drivers(self):
        yield "TypeScript", self.drive

    def drive(self, requests):
        return json.loads(self.run(self.node, "dist/driver.js", stdin=json.dumps(requests)))
