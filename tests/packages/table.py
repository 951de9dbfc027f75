"""Tries the packages of a list, each in a tool that is built and called once, and writes a page about the results."""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
REFERENCE = HERE.parents[1] / "docs/reference"
PARALLEL = 2

HEAD = """# {language} packages

{introduction} {works} of {all} work.

| package | release | result |
|---|---|---|
"""


@dataclass
class Table:
    language: str
    """The first paragraph of the page."""
    introduction: str
    """Writes a tool with a package into a directory: its name, the imports, and the statements that set `out`."""
    write_project: Callable[[Path, str, list[str], list[str]], None]
    """Pins the newest releases, and returns the package's own."""
    lock: Callable[[Path, str], str]
    """Phrases of the build log, and the notes for the page that they stand for."""
    notes: dict[str, str]


def split(example):
    """The imports at the beginning, and the statements after them."""
    statements = example.split("; ")
    count = next(index for index, text in enumerate(statements) if text.split()[0] not in ("import", "from"))
    return statements[:count], statements[count:]


def result(table, run):
    """The result in the words of the page."""
    output = run.stdout + run.stderr
    if run.returncode != 0:
        lines = [line for line in output.splitlines() if re.search(r"failed \(|\[1\] failed", line)]
        return "no: " + re.sub(r"^(error: |\[1\] failed [\d.]+ m?s +)", "", lines[0] if lines else output.strip()[-200:])
    return ", ".join(["works", *(note for phrase, note in table.notes.items() if phrase in output)])


def tested(table, directory, lathe):
    command = [lathe, "tool", "test", ".", "--input", "{}"]
    return result(table, subprocess.run(command, cwd=directory, capture_output=True, text=True))


def tried(table, line, lathe):
    name, example = line.split("\t")
    with tempfile.TemporaryDirectory() as path:
        directory = Path(path)
        table.write_project(directory, name, *split(example))
        release = table.lock(directory, name)
        outcome = tested(table, directory, lathe)
        if " took longer than " in outcome:  # The machine may have been busy.
            outcome = tested(table, directory, lathe)
    print(f"{name}: {outcome}", file=sys.stderr, flush=True)
    return name, release, outcome


def cell(text):
    return text.replace("|", "\\|")


def main(table):
    """Writes the page. Names after the program limit the packages to these, and then the page stays as it is."""
    lathe, only = Path(sys.argv[1]).resolve(), sys.argv[2:]
    name = table.language.lower()
    lines = HERE.joinpath(f"{name}.tsv").read_text().splitlines()
    chosen = [line for line in lines if not only or line.split("\t")[0] in only]
    with ThreadPoolExecutor(PARALLEL) as pool:
        rows = list(pool.map(lambda line: tried(table, line, lathe), chosen))
    if only:
        return
    works = sum(outcome.startswith("works") for _, _, outcome in rows)
    head = HEAD.format(language=table.language, introduction=table.introduction, works=works, all=len(rows))
    body = "".join(f"| {' | '.join(map(cell, row))} |\n" for row in rows)
    REFERENCE.joinpath(f"{name}-packages.md").write_text(head + body)
