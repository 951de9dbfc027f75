"""Tests of the table of facts."""

from facts import COLUMNS, Fact, ids_of, read_list, read_lists, wrong_sequence
from results import FAILED, NOT_RUN, PASSED, read_results
from table import bad_tests, missing_tests, result_of, sums, table

LOG = """
     Running unittests src/lib.rs (target/debug/deps/runner-fde4bb5207935580)

running 2 tests
test native::tests::a_name ... ok
test native::tests::it_panics - should panic ... ok
     Running ../tests/main.rs (/somewhere/target/debug/deps/it-c1755e7f95bae250)
test library::memory::s0_001_stores has been running for over 60 seconds
test library::memory::s0_001_stores ... ok
test library::memory::s0_002_finds ... FAILED
test library::memory::s0_003_forgets ... ignored, for a reason
     Running tests/it/main.rs (target/debug/deps/it-31213c014aeee3cc)
test library::memory::s0_002_finds ... ok
   Doc-tests api
test src/lib.rs - (line 1) ... ok
Python (sync): S0-004: ok (5 cases)
Python (async): S0-004: ok (5 cases)
TypeScript: S0-004: ok (5 cases)
Python (sync): S0-005: ok (5 cases)
Python (async): S0-005: FAILED (5 cases)
TypeScript: S0-006: ok (5 cases)
"""
RESULTS = read_results(LOG.splitlines())
STORES, FINDS, FORGETS = ("it library::memory::" + name for name in ("s0_001_stores", "s0_002_finds", "s0_003_forgets"))


def rows(*lines: str) -> list[str]:
    return ["\t".join(COLUMNS), *lines]


def test_results_have_the_name_of_their_program() -> None:
    assert RESULTS == {
        "runner native::tests::a_name": PASSED,
        "runner native::tests::it_panics": PASSED,
        STORES: PASSED,
        FINDS: FAILED,
        FORGETS: NOT_RUN,
        "api-it library::memory::s0_002_finds": PASSED,
        "typed_clients S0-004": PASSED,
        "typed_clients S0-005": FAILED,
        "typed_clients S0-006": NOT_RUN,
    }


def test_names_have_ids() -> None:
    for name, numbers in (
        ("s0_001_stores", [1]),
        ("s0_017_018_and_020_to_024_lists", [17, 18, 20, 21, 22, 23, 24]),
        ("s0_015_to_s0_017_left_out", [15, 16, 17]),
        ("s0_124_125_and_128_apart", [124, 125, 128]),
        ("s0_072_and_s0_073_limit", [72, 73]),
        ("s0_121", [121]),
        ("of_s0_121", []),
        ("s0_12_is_none", []),
        ("has_500_bytes", []),
    ):
        assert ids_of(f"it a::{name}") == [f"S0-{number:03}" for number in numbers], name
    assert ids_of("store s4_027_a_name") == ["S4-027"]


def test_a_list_is_read() -> None:
    facts, problems = read_list(rows("S0-001\tIt is.\tit a::b, runner c\t", "S0-002\tNot here.\t-\tno UI", "S0-003\tSoon.\topen, it a\tlater"))
    assert facts == [
        Fact("S0-001", "It is.", ("it a::b", "runner c")),
        Fact("S0-002", "Not here.", reason="no UI"),
        Fact("S0-003", "Soon.", ("it a",), "later", is_open=True),
    ]
    assert not problems


def test_a_wrong_list_is_refused() -> None:
    for line, problem in (
        ("S0-001\tIt is.\tit a", "2: 3 columns, and not 4"),
        ("S0-001\t\tit a\t", "2: S0-001 has no fact"),
        ("S0-001\tIt is.\t\t", "2: S0-001 has neither a test nor a reason"),
        ("S0-001\tIt is.\t-\t", "2: S0-001 has neither a test nor a reason"),
        ("S0-001\tIt is.\topen, it a\t", "2: S0-001 is open without a reason"),
        ("S0-001\tIt is.\tit a, it a\t", "2: S0-001 has a test twice"),
    ):
        assert read_list(rows(line))[1] == [problem]
    assert read_list([])[1] == ["the first line is not id fact tests reason"]


def test_ids_are_a_sequence() -> None:
    expected = ["S0-001", "S0-002"]
    for ids, problem in (
        (["S0-001", "S0-003"], "S0-003 in the place of S0-002"),
        (["S0-001", "S0-001"], "S0-001 in the place of S0-002"),
        (["S0-002"], "S0-002 in the place of S0-001"),
        (["S1-001", "S0-002"], "S1-001 in the place of S0-001"),
        (["S0-001"], "nothing in the place of S0-002"),
        (["S0-001", "S0-002", "S0-003"], "S0-003 in the place of nothing"),
    ):
        assert wrong_sequence(ids, expected) == [problem]
    assert not wrong_sequence(expected, expected)


def test_the_worst_result_counts() -> None:
    for tests, result in (
        ((STORES,), PASSED),
        ((STORES, FORGETS), NOT_RUN),
        ((STORES, FORGETS, FINDS), FAILED),
        (("it library::memory::s0_009_none",), NOT_RUN),
        ((), "not applicable"),
    ):
        assert result_of(Fact("S0-001", "It is.", tests), RESULTS) == result, tests
    assert result_of(Fact("S0-001", "It is.", (STORES,), "later", is_open=True), RESULTS) == "open"
    assert result_of(Fact("S0-001", "It is.", (FINDS,), "later", is_open=True), RESULTS) == FAILED


def test_a_test_that_shows_nothing_is_a_problem() -> None:
    facts = [Fact("S0-001", "It is.", (STORES, FINDS, FORGETS, "it none", "store none")), Fact("S0-002", "It is.", (FINDS,))]
    assert bad_tests(facts, RESULTS) == [
        f"{FINDS}: failed: S0-001, S0-002",
        f"{FORGETS}: not run: S0-001",
        "it none: does not exist: S0-001",
        "store none: not run: S0-001",
    ]


def test_a_test_with_an_id_is_among_those_of_its_fact() -> None:
    facts = [Fact("S0-001", "It is.", (STORES,)), Fact("S0-002", "It is.", (FINDS, "api-it library::memory::s0_002_finds"))]
    facts += [Fact(f"S0-{number:03}", "It is.", (f"typed_clients S0-{number:03}",)) for number in (4, 5)]
    assert missing_tests(facts, RESULTS) == [
        f"{FORGETS}: not in the list of facts: S0-003",
        "typed_clients S0-006: not in the list of facts: S0-006",
    ]
    assert not missing_tests([], {"it turns::s3_030_only_the_tools": PASSED})


def test_the_table_ends_with_sums() -> None:
    facts = [Fact("S0-001", "It is.", (STORES,)), Fact("S1-001", "Not here.", reason="no UI")]
    lines = table(facts, RESULTS)
    assert lines[2] == f"| S0-001 | It is. | `{STORES}` | passed |"
    assert lines[3] == "| S1-001 | Not here. | no UI | not applicable |"
    assert lines[-6:] == sums(facts, RESULTS)
    assert lines[-4] == "| library | 1 | 1 | 0 | 0 | 0 | 0 |"
    assert lines[-1] == "| all | 2 | 1 | 0 | 0 | 0 | 1 |"


def test_the_lists_have_no_problem() -> None:
    facts, problems = read_lists()
    assert len(facts) > 200 and not problems
