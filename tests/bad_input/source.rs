//! Errors in the author's Python code.

use serde_json::json;

use super::check;
use crate::harness::Team;

const FIVE: &str = "\n\ndef run_tool(tool_input, metadata, config, conversation, send_status_event):\n    return ''\n";
const SWAPPED: &str =
    "def run_tool(metadata, tool_input, config, conversation, send_status_event, user_variables):\n    return ''\n";
const STARRED: &str = "def run_tool(*arguments, **options):\n    return ''\n";
const YIELDING: &str = "async def run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables):\n    yield ''\n";

#[test]
fn syntax_errors_name_file_and_line() {
    let team = Team::new();
    let source = |text: &'static str, words: &[&str]| check(&team, |tool| tool.with_file("tool.py", text), words);
    source("x = 1\n\ndef broken(:\n", &["compile failed (syntax): tool.py:3: "]);
    source("if True:\nx = 1\n", &["compile failed (syntax): tool.py:2: "]);
    source("x = '\u{0}'\n", &["compile failed (syntax): tool.py"]);
    source("# coding: no-such-encoding\n", &["compile failed (syntax): tool.py"]);
    check(
        &team,
        |tool| tool.with_bytes("tool.py", b"x = '\xff'\n"),
        &["compile failed (utf-8): tool.py:1: ", "byte 0xff at offset 5"],
    );
    check(&team, |tool| tool.with_file("package/helper.py", "\n\n1 +\n"), &["(syntax): package/helper.py:3: "]);
    // The parser's stack overflows, so that no line is known.
    let deep = format!("x = {}1{}\n", "(".repeat(5_000), ")".repeat(5_000));
    let reasons =
        ["compiling the tool with its packages (", "bytes) stopped the interpreter: the call stack is exhausted"];
    check(&team, |tool| tool.with_file("tool.py", &deep), &reasons);
}

#[test]
fn the_entry_point_has_six_parameters() {
    let team = Team::new();
    let source = |text: &'static str, words: &[&str]| check(&team, |tool| tool.with_file("tool.py", text), words);
    let signature = "compile failed (entry-point-signature): tool.py:";
    source(FIVE, &[signature, "tool.py:3: ", "it has 5", "missing: user_variables", "async def run_tool("]);
    source(SWAPPED, &[signature, "order"]);
    source(STARRED, &[signature, "it has 2"]);
    source(YIELDING, &[signature, "generator"]);
    source("class run_tool:\n    pass\n", &["entry-point-signature", "tool.py"]);
    source("run_tool = 3\n", &["entry-point", "tool.py"]);
    source("def run():\n    pass\n", &["compile failed (entry-point): tool.py: ", "'run_tool'"]);
    check(&team, |tool| tool.without_file("tool.py"), &["compile failed (entry-point)", "'tool'"]);
    let elsewhere = "entry_point = 'elsewhere.part:run'";
    check(&team, |tool| tool.manifest(elsewhere), &["compile failed (entry-point)", "'elsewhere.part'"]);
}

#[test]
fn imports_that_cannot_work_name_the_module() {
    let team = Team::new();
    let before = |text: &'static str, words: &[&str]| check(&team, |tool| tool.source(text, "return ''"), words);
    before("import os\nimport numpy", &["compile failed (import): tool.py:2: ", "'numpy'", "lock file"]);
    before("import no_such_module", &["tool.py:1: ", "ModuleNotFoundError", "'no_such_module'"]);
    before("import _ctypes", &["tool.py:1: ", "'_ctypes'"]);
    before("from json import no_such_name", &["tool.py:1: ", "ImportError", "no_such_name"]);
    before("from . import sibling", &["tool.py:1: ", "ImportError"]);
    let words = ["compile failed (import): helper.py:2: ", "'torch'"];
    check(&team, |tool| tool.with_file("helper.py", "\nimport torch\n").source("import helper", "return ''"), &words);
}

#[test]
fn errors_at_the_top_of_a_module_are_the_authors() {
    let team = Team::new();
    let before = |text: &'static str, words: &[&str]| check(&team, |tool| tool.source(text, "return ''"), words);
    before("x = 1\nraise ValueError('not today')", &["compile failed (import): tool.py:2: ", "ValueError: not today"]);
    before("import sys\nsys.exit(3)", &["compile failed (import)", "tool.py:2: "]);
    before("import os\nos._exit(3)", &["compile failed (import)"]);
    before("x = bytearray(1 << 30)", &["compile failed (import)", "MemoryError"]);
    before("def f():\n    f()\nf()", &["compile failed (import)", "RecursionError"]);
    before("open('/etc/passwd')", &["compile failed (import): tool.py:1: "]);
    before("import urllib.request\nurllib.request.urlopen('http://127.0.0.1')", &["tool.py:2: ", "EgressRefused"]);
}

#[test]
fn a_module_of_the_interpreter_keeps_its_name() {
    let team = Team::new();
    let words = ["compile failed (module-name): calendar.py: ", "'calendar'", "another name"];
    check(&team, |tool| tool.with_file("calendar.py", "mine = 1\n"), &words);
    let words = ["(module-name): amigo_tool_scaffold/config.py: "];
    check(&team, |tool| tool.with_file("amigo_tool_scaffold/config.py", "mine = 1\n"), &words);
    check(&team, |tool| tool.with_file("src/secrets.py", ""), &["(module-name): src/secrets.py: "]);
}

#[test]
fn a_message_of_any_size_is_cut() {
    let team = Team::new();
    let huge = "raise ValueError('x' * 5_000_000)";
    check(&team, |tool| tool.source(huge, "return ''"), &["ValueError: xxx", "[truncated]"]);
    let lying = "def __getattr__(name):\n    raise KeyError(name)";
    check(&team, |tool| tool.with_file("tool.py", lying), &["compile failed (import)", "KeyError"]);
}

#[test]
fn a_module_that_never_ends_is_stopped() {
    let team = Team::new();
    let tool = team.tool("endless").source("while True:\n    pass", "return ''").pushed();
    super::refused(&team, &tool, &["compile failed (import): tool.py:", "longer than 30 s"]);
    super::mended(tool);
}

#[test]
fn annotations_without_a_json_form_are_refused() {
    let team = Team::new();
    let text = "
        from dataclasses import dataclass

        @dataclass
        class Order:
            lines: set[complex]

        def run_tool(tool_input: Order, metadata, config, conversation, send_status_event, user_variables):
            return ''
    ";
    let source = crate::harness::unindented(text);
    check(&team, |tool| tool.with_file("tool.py", &source), &["compile failed (input-schema)", "Order.lines"]);
}

#[test]
fn texts_in_other_encodings_are_named() {
    let team = Team::new();
    let utf_16 = |text: &str| format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    for (file, text, words) in [
        ("tool.py", "x = 1\n", "compile failed (utf-8): tool.py: the text is encoded in UTF-16LE"),
        ("checks/a.json", "{}", "checks failed (utf-8): checks/a.json: the text is encoded in UTF-16LE"),
        ("mocks/a.json", "[]", "mocks failed (utf-8): mocks/a.json: the text is encoded in UTF-16LE"),
        ("requirements.lock", "", "dependencies failed (utf-8): requirements.lock: the text is encoded in UTF-16LE"),
    ] {
        check(&team, |tool| tool.with_bytes(file, &utf_16(text)), &[words, "iconv -f UTF-16LE"]);
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    let team = Team::new();
    let mark = |text: &str| format!("\u{feff}{text}");
    let run = "async def run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables):\n    return 'ran'\n";
    let check = r#"{"input_parameters": {}, "expected_output": "ran"}"#;
    let schema = r#"{"type": "object"}"#;
    let tool = team.tool("marked").manifest("input_schema = 'in.json'");
    let tool = tool.with_file("tool.py", &mark(run)).with_file("in.json", &mark(schema));
    let tool = tool.with_file("checks/runs.json", &mark(check)).with_file("mocks/none.json", &mark("[]"));
    let tool = tool.with_file("requirements.lock", &mark("# empty\r\n")).published();
    assert_eq!(tool.invoke(json!({})).output(), "ran");
}
