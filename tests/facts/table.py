"""Prints whether the tests show what the product promises about built-in tools: python3 table.py LOG… [--table FILE]

A LOG is the output of `cargo test --no-fail-fast` or of tests/typed_clients/run.py. The facts are in library.tsv, control.tsv and
tool_design.tsv beside this file. `--table` writes all of them with their tests and results, as Markdown.

Fails when a test of a fact failed, did not run or does not exist, when a test with the id of a fact in its name is not among the tests of this
fact, and when an id is missing or twice.
"""

import argparse
import pathlib
import sys
from collections import Counter

from facts import LISTS, Fact, ids_of, read_lists
from results import FAILED, NOT_RUN, PASSED, Results, read_results, worst

OPEN, NOT_APPLICABLE = "open", "not applicable"
RESULTS = (PASSED, FAILED, NOT_RUN, OPEN, NOT_APPLICABLE)


def result_of(fact: Fact, results: Results) -> str:
    of_tests = [results.get(test, NOT_RUN) for test in fact.tests]
    found = worst([*of_tests, PASSED])
    if found != PASSED:
        return found
    if fact.is_open:
        return OPEN
    return PASSED if fact.tests else NOT_APPLICABLE


def bad_tests(facts: list[Fact], results: Results) -> list[str]:
    """Tests that do not show their facts."""
    programs = {test.partition(" ")[0] for test in results}
    found: dict[str, list[str]] = {}
    for fact in facts:
        for test in fact.tests:
            result = results.get(test)
            if result is None and test.partition(" ")[0] in programs:
                result = "does not exist"
            if result != PASSED:
                found.setdefault(f"{test}: {result or NOT_RUN}", []).append(fact.id)
    return [f"{problem}: {', '.join(ids)}" for problem, ids in found.items()]


def missing_tests(facts: list[Fact], results: Results) -> list[str]:
    """Tests that have the id of a fact in their name, and are not among its tests."""
    tests = {fact.id: fact.tests for fact in facts}
    found = []
    for test in sorted(results):
        ids = [id_ for id_ in ids_of(test) if id_.partition("-")[0] in LISTS and test not in tests.get(id_, ())]
        found += [f"{test}: not in the list of facts: {', '.join(ids)}"] if ids else []
    return found


def sums(facts: list[Fact], results: Results) -> list[str]:
    """The number of facts by list and result, as the lines of a table."""
    lines = ["| list | facts | " + " | ".join(RESULTS) + " |", "|---" * (len(RESULTS) + 2) + "|"]
    groups = [(name, [fact for fact in facts if fact.id.startswith(series)]) for series, name in LISTS.items()]
    for name, group in [*groups, ("all", facts)]:
        counted = Counter(result_of(fact, results) for fact in group)
        lines.append(f"| {name} | {len(group)} | " + " | ".join(str(counted[result]) for result in RESULTS) + " |")
    return lines


def table(facts: list[Fact], results: Results) -> list[str]:
    lines = ["| id | fact | tests | result |", "|---|---|---|---|"]
    for fact in facts:
        shown = [f"`{test}`" for test in fact.tests] + ([fact.reason] if fact.reason else [])
        lines.append(f"| {fact.id} | {fact.fact} | {'<br>'.join(shown)} | {result_of(fact, results)} |")
    return [*lines, "", *sums(facts, results)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", metavar="LOG", nargs="+", type=pathlib.Path)
    parser.add_argument("--table", metavar="FILE", type=pathlib.Path)
    arguments = parser.parse_args()
    texts = [log.read_text(encoding="utf-8", errors="replace") for log in arguments.logs]
    results = read_results(line for text in texts for line in text.splitlines())
    facts, problems = read_lists()
    problems += bad_tests(facts, results) + missing_tests(facts, results)
    if arguments.table:
        arguments.table.write_text("\n".join(table(facts, results)) + "\n", encoding="utf-8")
    print("\n".join(sums(facts, results)))
    print("".join(f"\n{fact.id} is open: {fact.reason}" for fact in facts if fact.is_open))
    if problems:
        sys.exit("\n".join(["", *problems, f"problems: {len(problems)}"]))


if __name__ == "__main__":
    main()
