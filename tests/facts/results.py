"""The results of tests in the output of `cargo test` and of tests/typed_clients/run.py."""

import re
from collections.abc import Iterable

PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"
#: Results from the worst to the best.
WORST_FIRST = (FAILED, NOT_RUN, PASSED)

#: A program of tests begins: its source, and the file without its hash.
PROGRAM = re.compile(r"\s*Running (?:unittests )?(\S+) \((?:\S*/)?([^/\s]+)-[0-9a-f]{16}\)")
#: Tests in documentation have no program.
DOCUMENTATION = re.compile(r"\s*Doc-tests ")
TEST = re.compile(r"test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b")
OF_LIBTEST = {"ok": PASSED, "FAILED": FAILED, "ignored": NOT_RUN}
#: The program of the API has the same name as that of the integration tests.
NAMES = {"tests/it/main.rs": "api-it"}

CLIENT = re.compile(r"(Python \(sync\)|Python \(async\)|TypeScript): (S\d-\d{3}): (ok|FAILED)")
CLIENTS = 3

Results = dict[str, str]


def read_results(lines: Iterable[str]) -> Results:
    """Returns the result of each test, by its program and its name. Of two results of a test, the worse one counts."""
    found: Results = {}
    clients: dict[str, set[str]] = {}
    program: str | None = None
    for line in lines:
        if started := PROGRAM.match(line):
            program = NAMES.get(started[1], started[2])
        elif DOCUMENTATION.match(line):
            program = None
        elif client := CLIENT.match(line):
            test = f"typed_clients {client[2]}"
            clients.setdefault(test, set()).add(client[1])
            add(found, test, OF_LIBTEST[client[3]])
        elif program and (test_ := TEST.match(line)):
            add(found, f"{program} {test_[1]}", OF_LIBTEST[test_[2]])
    for test, names in clients.items():
        if len(names) < CLIENTS:
            add(found, test, NOT_RUN)
    return found


def add(found: Results, test: str, result: str) -> None:
    found[test] = worst([result, found.get(test, PASSED)])


def worst(results: Iterable[str]) -> str:
    return min(results, key=WORST_FIRST.index)
