"""Builds a tool with each package of python.tsv and calls it, and writes docs/reference/python-packages.md.

    python3 tests/packages/python.py target/debug/lathe

The list has a name and an example on each line: imports, then statements that set `out`. It needs `uv` in `PATH`, and the
package index that uv and the program use.
"""

import re
import subprocess

import table

INTRODUCTION = """A hundred much used packages, each in a tool that imports it and calls one of its functions. `tests/packages/python.py` makes this page: it
locks the newest release with `uv`, and builds and runs the tool with `lathe tool test`."""

MANIFEST = """[project]
name = "example"
version = "0.0.0"
dependencies = ["{name}"]

[tool.lathe]
timeout_seconds = 60
memory_mb = 256
"""

TOOL = """{imports}

def run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables):
    {body}
    return {{"out": out}}
"""


def write_project(directory, name, imports, body):
    directory.joinpath("pyproject.toml").write_text(MANIFEST.format(name=name))
    directory.joinpath("tool.py").write_text(TOOL.format(imports="\n".join(imports), body="\n    ".join(body)))


def normalised(name):
    """A name as lock files write it: `ruamel.yaml` is `ruamel-yaml` there."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lock(directory, name):
    """Pins the newest releases for the image's Python."""
    command = ["uv", "pip", "compile", "--quiet", "--generate-hashes", "--python-version", "3.14"]
    command += ["--python-platform", "linux", "pyproject.toml", "--output-file", "requirements.lock"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)
    pins = re.findall(r"^([\w.-]+)==(\S+)", directory.joinpath("requirements.lock").read_text(), re.MULTILINE)
    return {normalised(pin): number for pin, number in pins}[normalised(name)]


NOTES = {"imported in each run": "imported in each run", "without its native files": "without native files"}

if __name__ == "__main__":
    table.main(table.Table("Python", INTRODUCTION, write_project, lock, NOTES))
