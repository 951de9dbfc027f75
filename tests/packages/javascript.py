"""Builds a tool with each package of javascript.tsv and calls it, and writes docs/reference/javascript-packages.md.

    python3 tests/packages/javascript.py target/debug/lathe

The list has a name and an example on each line: imports, then statements that set `out`. It needs `npm` in `PATH`, and the
registry that npm and the program use.
"""

import json
import subprocess

import table

INTRODUCTION = """A hundred much used packages, each in a tool that imports it and calls one of its functions. `tests/packages/javascript.py` makes this page:
it locks the newest release with `npm`, and builds and runs the tool with `lathe tool test`."""

TOOL = """{imports}

export async function runTool() {{
  let out;
  {body};
  if (out === undefined) throw new Error('the example has no result');
  return {{ out }};
}}
"""


def write_project(directory, name, imports, body):
    limits = {"timeout_seconds": 60, "memory_mb": 256}
    manifest = {"name": "example", "version": "0.0.0", "type": "module", "dependencies": {name: "latest"}}
    manifest["lathe"] = {"entry_point": "index.js", **limits}
    directory.joinpath("package.json").write_text(json.dumps(manifest))
    directory.joinpath("index.js").write_text(TOOL.format(imports=";\n".join(imports), body=";\n  ".join(body)))


def lock(directory, name):
    """Pins the newest releases."""
    command = ["npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)
    pinned = json.loads(directory.joinpath("package-lock.json").read_text())
    return pinned["packages"][f"node_modules/{name}"]["version"]


NOTES = {"imported in each run": "loaded in each run"}

if __name__ == "__main__":
    table.main(table.Table("JavaScript", INTRODUCTION, write_project, lock, NOTES))
