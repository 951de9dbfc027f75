//! The ways in which a run ends.

use serde_json::json;

use super::{Case, Expect, case, check, fails, gives, gives_json};
use crate::harness::{Run, Team, input};

#[test]
fn results() {
    check(&[
        gives("returns_text", "return 'plain'", "plain"),
        gives("returns_an_empty_text", "return ''", ""),
        gives("returns_a_number", "return 42", "42"),
        gives("returns_false", "return False", "false"),
        gives("returns_a_list", "return [1, 'two', None]", "[1,\"two\",null]"),
        gives_json("returns_an_object", "return {'a': {'b': [1.5]}}", json!({"a": {"b": [1.5]}})),
        fails("returns_nothing", "return None", "NoResult", &["returns nothing"]),
        fails("forgets_to_return", "x = 1", "NoResult", &["returns nothing"]),
        fails("returns_a_set", "return {1}", "UnserialisableResult", &["set"]),
        fails("returns_bytes", "return b'x'", "UnserialisableResult", &["bytes"]),
        fails("returns_nan", "return {'x': float('nan')}", "UnserialisableResult", &["result.x", "nan"]),
        fails("returns_itself", "x = []\nx.append(x)\nreturn x", "UnserialisableResult", &["contains itself"]),
    ]);
}

#[test]
fn exits_and_exceptions() {
    check(&[
        fails("raises", "raise ValueError('not so')", "ValueError", &["not so"]),
        fails("asserts", "assert 1 == 2, 'sums'", "AssertionError", &["sums"]),
        fails("sys_exits", "import sys\nsys.exit(3)", "SystemExit", &["3"]),
        fails("sys_exits_well", "import sys\nsys.exit()", "SystemExit", &[]),
        fails("os_exits", "import os\nos._exit(3)", "exit", &["exited"]),
        fails("interrupts_itself", "raise KeyboardInterrupt('stop')", "KeyboardInterrupt", &["stop"]),
        fails("raises_an_unprintable", "raise Mute()", "Mute", &["no readable message"])
            .before("class Mute(Exception):\n    def __str__(self):\n        raise RuntimeError('hush')"),
        fails("raises_a_long_one", "raise ValueError('x' * 1_000_000)", "ValueError", &["xxx", "[truncated]"]),
        fails("recurses", "def f(n):\n    return f(n + 1) + 1\nreturn f(0)", "RecursionError", &["recursion"]),
        fails("raises_a_group", "raise ExceptionGroup('all', [ValueError('one')])", "ExceptionGroup", &["all"]),
    ]);
}

#[test]
fn runs_that_would_not_end() {
    let second = |case: Case| case.manifest("timeout_seconds = 1");
    check(&[
        second(case("loops", "while True:\n    pass", Expect::That(timed_out))),
        second(case("sleeps", "import time\ntime.sleep(3600)", Expect::That(timed_out))),
        second(case("sleeps_asleep", "import asyncio\nawait asyncio.sleep(3600)", Expect::That(timed_out))),
        second(case("computes_in_c", "return str(sum(range(10**12)))", Expect::That(timed_out))),
        second(case("swallows_everything", SWALLOWS, Expect::That(timed_out))),
        fails("waits_for_nothing", "import asyncio\nawait asyncio.Event().wait()", "Deadlock", &["never happen"]),
    ]);
}

const SWALLOWS: &str = "
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
";

fn timed_out(run: &Run) {
    let failure = run.failure();
    assert!(["timeout_wall", "timeout_cpu"].contains(&failure.kind.as_str()), "{run}");
    assert!(failure.message.contains("1 s"), "{run}");
    // The endless run has ended, and not before its time limit.
    assert!(run.duration_ms() >= 900, "{run}");
}

#[test]
fn a_run_that_waits_for_too_long_shows_the_calls_that_wait() {
    let team = Team::new();
    let before = "import asyncio\n\n\nasync def patient():\n    await asyncio.sleep(3600)";
    let tool = team.tool("patient").source(before, "await patient()").manifest("timeout_seconds = 1").published();
    let failure = tool.invoke(json!({})).failure();
    assert_eq!(failure.kind, "timeout_wall", "{failure:?}");
    assert!(failure.trace.last().is_some_and(|line| line == "  File \"tool.py\", line 5, in patient"), "{failure:?}");
    assert!(failure.trace[1].ends_with("in run_tool"), "{failure:?}");
}

/// The interpreter has no chance to raise an exception: the host reads the calls in its memory.
#[test]
fn a_run_that_the_host_stops_shows_the_calls_of_the_author() {
    let team = Team::new();
    let before = "import shop.stock\n\n\ndef outer(how):\n    return shop.stock.f\u{fc}r_immer(how)";
    let stock = "import time\n\n\ndef f\u{fc}r_immer(how):\n    while how == 'loop':\n        how = how + ''\n    if how == 'sleep':\n        \
                 time.sleep(3600)\n    if how == 'exit':\n        import os\n        os._exit(3)\n";
    let tool = team.tool("endless").with_file("shop/stock.py", stock).source(before, "return outer(tool_input['how'])");
    let tool = tool.manifest("timeout_seconds = 1").published();
    for (how, lines) in [("loop", vec![5, 6]), ("sleep", vec![8]), ("exit", vec![11])] {
        let trace = tool.invoke(json!({"how": how})).failure().trace;
        assert_eq!(trace.first().map(String::as_str), Some("Traceback (most recent call last):"), "{how}: {trace:?}");
        let found = |line: &i32| trace.contains(&format!("  File \"shop/stock.py\", line {line}, in f\u{fc}r_immer"));
        assert!(lines.iter().any(found), "{how}: {trace:?}");
        assert!(trace.contains(&"  File \"tool.py\", line 5, in outer".to_owned()), "{how}: {trace:?}");
        assert!(trace.iter().any(|line| line.ends_with("in run_tool")), "{how}: {trace:?}");
        assert_eq!(trace.len(), 4, "the calls of the image are left out: {trace:?}");
    }
}

#[test]
fn memory_is_limited() {
    // Enough time to fill the memory on any machine.
    let small = |case: Case| case.manifest("memory_mb = 64\ntimeout_seconds = 300");
    let of_memory = |name, body| small(case(name, body, Expect::That(out_of_memory)));
    check(&[
        of_memory("allocates_at_once", "return str(len(bytearray(1 << 30)))"),
        of_memory("allocates_bit_by_bit", "x = []\nwhile True:\n    x.append(bytearray(1 << 20))"),
        of_memory("allocates_small_things", "x = []\nwhile True:\n    x.append(str(len(x)))"),
        // CPython 3.14 ignores a failed join of texts, and fails later. Only the run ends.
        small(case("allocates_text", "x = 'x'\nwhile True:\n    x += x", Expect::That(|run| drop(run.failure())))),
        small(gives("catches_it", CATCHES, "caught, and goes on")),
        small(gives("stays_below", "return str(len(bytearray(20 << 20)))", "20971520")),
    ]);
}

const CATCHES: &str = "
    try:
        bytearray(1 << 30)
    except MemoryError:
        return 'caught, and goes on'
";

fn out_of_memory(run: &Run) {
    let failure = run.failure();
    assert!(["MemoryError", "trap"].contains(&failure.kind.as_str()), "{run}");
}

#[test]
fn the_stack_trace_shows_only_frames_of_the_author() {
    let team = Team::new();
    let helper = "class OutOfStock(Exception):\n    pass\n\n\ndef reserve(item):\n    try:\n        {}[item]\n    \
                  except KeyError as error:\n        raise OutOfStock(f'no {item}') from error\n";
    let tool = team.tool("stacked").with_file("shop/stock.py", helper).with_file("shop/__init__.py", "");
    let tool = tool.source("from shop import stock", "return await order(tool_input)");
    let tool = append(&team, tool, "\n\nasync def order(tool_input):\n    return stock.reserve(tool_input['item'])\n");
    let failure = tool.published().invoke(json!({"item": "tea"})).failure();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("OutOfStock", "no tea"));
    let trace = failure.trace.join("\n");
    let expected = [
        "  File \"shop/stock.py\", line 7, in reserve",
        "    {}[item]",
        "KeyError: 'tea'",
        "The above exception was the direct cause",
        "  File \"tool.py\", line 4, in run_tool",
        "    return await order(tool_input)",
        "  File \"tool.py\", line 8, in order",
        "    return stock.reserve(tool_input['item'])",
        "  File \"shop/stock.py\", line 9, in reserve",
        "    raise OutOfStock(f'no {item}') from error",
        "OutOfStock: no tea",
    ];
    let mut rest = trace.as_str();
    for line in expected {
        let at = rest.find(line).unwrap_or_else(|| panic!("{line:?} is missing, or too early, in:\n{trace}"));
        rest = &rest[at..];
    }
    let frames = failure.trace.iter().filter(|line| line.trim_start().starts_with("File "));
    let files: Vec<_> = frames.filter_map(|line| line.split('"').nth(1)).collect();
    assert!(files.iter().all(|file| ["tool.py", "shop/stock.py"].contains(file)), "{files:?}");
}

fn append<'t>(team: &Team, tool: crate::harness::Tool<'t>, text: &str) -> crate::harness::Tool<'t> {
    let file = team.repository.directory.join(tool.path()).join("tool.py");
    let before = std::fs::read_to_string(file).expect("tool.py");
    tool.with_file("tool.py", &format!("{before}{text}"))
}

#[test]
fn a_run_does_not_disturb_concurrent_runs() {
    let team = Team::new();
    let body = "
        import os, time
        what = tool_input['what']
        if what == 'exit':
            os._exit(1)
        if what == 'loop':
            while True: pass
        if what == 'memory':
            x = []
            while True: x.append(bytearray(1 << 20))
        if what == 'print':
            print('x' * 1_000_000)
        if what == 'raise':
            raise ValueError(what)
        time.sleep(0.2)
        return what
    ";
    // The loop exceeds its CPU time limit. The other inputs hardly compute, and have a long wall time limit.
    let limits = "timeout_seconds = 300\nmemory_mb = 64\nlimits = { cpu_seconds = 3 }";
    let tool = team.tool("mixed").body(body).manifest(limits).published();
    let kinds = ["fine0", "exit", "fine1", "loop", "fine2", "memory", "fine3", "print", "raise", "fine4"];
    let inputs: Vec<_> = kinds.iter().map(|what| input(&json!({"what": what}))).collect();
    for (what, run) in kinds.iter().zip(tool.invoke_inputs(&json!({"inputs": inputs}))) {
        if what.starts_with("fine") || *what == "print" {
            assert_eq!(run.output(), *what);
        } else {
            run.failure();
        }
    }
}
