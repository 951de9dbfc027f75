"""The lists of facts about built-in tools. A list is a file of tab-separated columns beside this one."""

import itertools
import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

FOLDER = pathlib.Path(__file__).resolve().parent
#: The letter and digit with which the ids of a list begin.
LISTS = {"S0": "library", "S1": "control", "S4": "tool_design"}
#: The facts of each list, so that none is lost at its end.
COUNTS = {"S0": 149, "S1": 69, "S4": 65}
COLUMNS = ("id", "fact", "tests", "reason")
#: In place of tests: the fact is not one of this product, or its tests are not complete. Both have a reason.
NOT_APPLICABLE, OPEN = "-", "open"

ID = re.compile(r"S\d-\d{3}")
#: The ids with which the name of a test begins: `s0_015_and_017_…`, `s0_017_to_s0_024_…`.
NAMED = re.compile(r"s(\d)((?:_(?:to_|and_)?(?:s\d_)?\d{3})+)(?:_|$)")
NUMBER = re.compile(r"_(to_)?(?:and_)?(?:s\d_)?(\d{3})")


@dataclass(frozen=True)
class Fact:
    id: str
    fact: str
    #: Names of tests, each after its program: `it library::memory::s0_029_memory_create_stores`.
    tests: tuple[str, ...] = ()
    reason: str = ""
    is_open: bool = False


def read_lists(folder: pathlib.Path = FOLDER) -> tuple[list[Fact], list[str]]:
    """Returns the facts of all lists, and the problems of the files."""
    facts, problems = [], []
    for series, name in LISTS.items():
        lines = (folder / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
        found, wrong = read_list(lines)
        facts += found
        wrong += wrong_sequence([fact.id for fact in found], [f"{series}-{n:03}" for n in range(1, COUNTS[series] + 1)])
        problems += [f"{name}.tsv: {problem}" for problem in wrong]
    return facts, problems


def read_list(lines: list[str]) -> tuple[list[Fact], list[str]]:
    """Returns the facts of the lines, and what is wrong with the others."""
    facts, problems = [], []
    if not lines or tuple(lines[0].split("\t")) != COLUMNS:
        problems.append(f"the first line is not {' '.join(COLUMNS)}")
    for number, line in enumerate(lines[1:], start=2):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != len(COLUMNS):
            problems.append(f"{number}: {len(cells)} columns, and not {len(COLUMNS)}")
            continue
        fact = read_fact(cells)
        facts.append(fact)
        problems += [f"{number}: {problem}" for problem in problems_of(fact)]
    return facts, problems


def read_fact(cells: list[str]) -> Fact:
    id_, text, tests, reason = cells
    names = tuple(name.strip() for name in tests.split(",") if name.strip())
    is_open = OPEN in names
    return Fact(id_, text, tuple(name for name in names if name not in (OPEN, NOT_APPLICABLE)), reason, is_open)


def problems_of(fact: Fact) -> Iterator[str]:
    if not fact.fact:
        yield f"{fact.id} has no fact"
    if not fact.tests and not fact.reason:
        yield f"{fact.id} has neither a test nor a reason"
    if fact.is_open and not fact.reason:
        yield f"{fact.id} is open without a reason"
    if len(set(fact.tests)) != len(fact.tests):
        yield f"{fact.id} has a test twice"


def wrong_sequence(ids: list[str], expected: list[str]) -> list[str]:
    """The first id that is missing, is there twice or stands in a wrong place."""
    for found, id_ in itertools.zip_longest(ids, expected):
        if found != id_:
            return [f"{found or 'nothing'} in the place of {id_ or 'nothing'}"]
    return []


def ids_of(test: str) -> list[str]:
    """The ids of facts in the name of a test. A test of the typed clients has an id as its name."""
    name = test.rpartition(" ")[2].rpartition("::")[2]
    if ID.fullmatch(name):
        return [name]
    named = NAMED.match(name)
    if not named:
        return []
    numbers: list[int] = []
    for is_range, number in NUMBER.findall(named[2]):
        first = numbers[-1] + 1 if is_range and numbers else int(number)
        numbers += range(first, int(number) + 1)
    return [f"S{named[1]}-{number:03}" for number in numbers]
