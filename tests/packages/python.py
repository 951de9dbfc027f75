"""Builds a tool with each package of python.tsv and calls it, and writes docs/reference/python-packages.md.

    python3 tests/packages/python.py target/debug/lathe
    python3 tests/packages/python.py target/debug/lathe numpy pandas

The second form tries the named packages and keeps the other rows. The list has a name and an example on each line: imports,
then statements that set `out`. It needs `uv` in `PATH`, and the package index that uv and the program use.
"""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/reference/python-packages.md"
PARALLEL = 2

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

HEAD = """# Python packages

A hundred much used packages, each in a tool that imports it and calls one of its functions. `tests/packages/python.py` makes this page: it
locks the newest release with `uv`, and builds and runs the tool with `lathe tool test`. {works} of {all} work.

| package | release | result |
|---|---|---|
"""


def split(example):
    """The imports at the beginning, and the statements after them."""
    statements = example.split("; ")
    count = next(index for index, text in enumerate(statements) if text.split()[0] not in ("import", "from"))
    return statements[:count], statements[count:]


def write_project(directory, name, example):
    imports, body = split(example)
    directory.joinpath("pyproject.toml").write_text(MANIFEST.format(name=name))
    directory.joinpath("tool.py").write_text(TOOL.format(imports="\n".join(imports), body="\n    ".join(body)))


def lock(directory):
    """Pins the newest releases for the image's Python. Returns the text of the lock file."""
    command = ["uv", "pip", "compile", "--quiet", "--generate-hashes", "--python-version", "3.14"]
    command += ["--python-platform", "linux", "pyproject.toml", "--output-file", "requirements.lock"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)
    return directory.joinpath("requirements.lock").read_text()


def normalised(name):
    """A name as lock files write it: `ruamel.yaml` is `ruamel-yaml` there."""
    return re.sub(r"[-_.]+", "-", name).lower()


def release(pinned, name):
    """The release of a package in a lock file."""
    pins = re.findall(r"^([\w.-]+)==(\S+)", pinned, re.MULTILINE)
    return {normalised(pin): number for pin, number in pins}[normalised(name)]


def result(output, is_success):
    """The result in the words of the page."""
    if not is_success:
        lines = [line for line in output.splitlines() if re.search(r"failed \(|\[1\] failed", line)]
        return "no: " + re.sub(r"^(error: |\[1\] failed [\d.]+ m?s )", "", lines[0] if lines else output.strip()[-200:])
    notes = ["imported in each run"] if "imported in each run" in output else []
    if "without its native files" in output:
        notes.append("without native files")
    return ", ".join(["works", *notes])


def tested(lathe, directory):
    command = [lathe, "tool", "test", ".", "--input", "{}"]
    run = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    return result(run.stdout + run.stderr, run.returncode == 0)


def tried(line, lathe):
    name, example = line.split("\t")
    with tempfile.TemporaryDirectory() as path:
        directory = Path(path)
        write_project(directory, name, example)
        pinned = lock(directory)
        outcome = tested(lathe, directory)
        if " took " in outcome:  # The machine may have been busy.
            outcome = tested(lathe, directory)
    print(f"{name}: {outcome}", file=sys.stderr, flush=True)
    return name, release(pinned, name), outcome


def written_rows():
    """The rows of the page by the name of the package."""
    rows = re.findall(r"^\| (([\w.-]+) \| .*) \|$", PAGE.read_text(), re.MULTILINE)
    return {name: row for row, name in rows if name != "package"}


def main():
    lathe, chosen = Path(sys.argv[1]).resolve(), sys.argv[2:]
    lines = HERE.joinpath("python.tsv").read_text().splitlines()
    rows = written_rows() if chosen else {}
    with ThreadPoolExecutor(PARALLEL) as pool:
        wanted = [line for line in lines if not chosen or line.split("\t")[0] in chosen]
        for row in pool.map(lambda line: tried(line, lathe), wanted):
            rows[row[0]] = " | ".join(cell.replace("|", "\\|") for cell in row)
    rows = [rows[line.split("\t")[0]] for line in lines]
    works = sum(re.search(r" \| works\b", row) is not None for row in rows)
    PAGE.write_text(HEAD.format(works=works, all=len(rows)) + "".join(f"| {row} |\n" for row in rows))


if __name__ == "__main__":
    main()
