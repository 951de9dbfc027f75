//! Hostile components, and the checks that refuse them.

use std::time::Instant;

use builder::{Error, inspect_tool};

/// An empty tool, with placeholders for imports, its type, more of the core module and more of the component.
const TOOL: &str = r#"(component
  @imports@
  (type $context-record (record
    (field "tool-input" string) (field "metadata" string) (field "config" string) (field "conversation" string)
    (field "user-variables" string)))
  (import "context" (type $context (eq $context-record)))
  (type $error-record (record (field "kind" string) (field "message" string) (field "stack-trace" (list string))))
  (import "tool-error" (type $tool-error (eq $error-record)))
  (core module $main
    (memory (export "memory") 1)
    @core@
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable)
    (func (export "run") @flat@ unreachable))
  (core instance $main (instantiate $main))
  (func (export "@name@") @type@
    (canon lift (core func $main "run") (memory (core memory $main "memory")) (realloc (core func $main "realloc"))))
  @component@)"#;

const TYPE: &str = r#"(param "context" $context) (result (result string (error $tool-error)))"#;
const FLAT: &str = "(param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)";

/// The tool with replaced placeholders.
fn tool(changes: &[(&str, &str)]) -> Vec<u8> {
    let defaults = [("name", "run-tool"), ("type", TYPE), ("flat", FLAT)];
    let nothing = ["imports", "core", "component"].map(|place| (place, ""));
    let all = changes.iter().chain(&defaults).chain(&nothing);
    let text = all.fold(TOOL.to_owned(), |text, (place, with)| text.replace(&format!("@{place}@"), with));
    wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The tool with one more section at its end.
fn with_section(id: u8, contents: &[u8]) -> Vec<u8> {
    [&tool(&[]), &[id][..], &leb(contents.len()), contents].concat()
}

/// The tool with a custom section.
fn with_custom(name: &[u8], padding: usize) -> Vec<u8> {
    with_section(0, &[&leb(name.len()), name, &vec![0; padding]].concat())
}

/// Nested components, which the text format cannot express.
fn nested(depth: usize) -> Vec<u8> {
    let header = &tool(&[])[..8];
    let inner = (1..depth).fold(header.to_vec(), |inner, _| [header, &[4], &leb(inner.len()), &inner].concat());
    with_section(4, &inner)
}

fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// The name, the component, and the expected check and words of the refusal. `None` if the component is accepted.
type Case = (&'static str, Vec<u8>, Option<(&'static str, &'static [&'static str])>);

fn shapes() -> Vec<Case> {
    let import = |name: &str| format!("(import \"{name}\" (instance))");
    let three = ["wasi:sockets/tcp@0.2.6", "wasi:io/poll@0.2.6", "evil:host/shell@1.0.0"].map(import).concat();
    let five = r#"(param "a" string) (param "b" string) (param "c" string) (param "d" string) (param "e" string)
                  (result (result string (error $tool-error)))"#;
    vec![
        ("a tool", tool(&[]), None),
        ("a tool that a toolchain made", include_bytes!("../../../runner/benches/guests/echo.wasm").to_vec(), None),
        ("core module", wat::parse_str("(module)").expect("a module"), Some(("component", &["a WebAssembly module"]))),
        ("no WebAssembly at all", b"\x7fELF and so on".to_vec(), Some(("component", &["no WebAssembly component"]))),
        ("nothing", Vec::new(), Some(("component", &["no WebAssembly component"]))),
        ("cut off", tool(&[])[..200].to_vec(), Some(("valid", &["unexpected end"]))),
        ("two components", [tool(&[]), tool(&[])].concat(), Some(("valid", &[]))),
        (
            "unknown imports, all of them",
            tool(&[("imports", &three)]),
            Some((
                "imports",
                &["wasi:sockets/tcp@0.2.6 (requests go through lathe:tool/http", "evil:host/shell@1.0.0"],
            )),
        ),
        (
            "what interpreters import",
            tool(&[("imports", &(import("lathe:tool/bundle@0.1.0") + &import("wasi:sockets/tcp@0.2.6")))]),
            Some(("imports", &["lathe:tool/bundle@0.1.0"])),
        ),
        (
            "a function without an interface",
            tool(&[("imports", "(import \"shell\" (func))")]),
            Some(("imports", &["shell"])),
        ),
        ("run-tool is missing", tool(&[("name", "run-it")]), Some(("exports", &["exports no function run-tool"]))),
        (
            "run-tool in another spelling",
            tool(&[("name", "runtool")]),
            Some(("exports", &["exports no function run-tool"])),
        ),
        (
            "five parameters",
            tool(&[("type", five)]),
            Some(("signature", &["func(string, string, string, string, string) -> ", "it has to be a func(record {"])),
        ),
        (
            "another result",
            tool(&[("type", r#"(param "context" $context) (result string)"#)]),
            Some(("signature", &["-> string; it has to be"])),
        ),
    ]
}

fn sizes() -> Vec<Case> {
    let exports = |count: usize| (0..count).map(|n| format!("(export \"e{n}\" (memory 0))")).collect::<String>();
    let of_component: String = (0..100_000).map(|n| format!("(export \"e{n}\" (type $context-record))")).collect();
    let many = "(type (list string))".repeat(30_000);
    let bomb = format!("(func {} {})", "loop ".repeat(1_000), "end ".repeat(1_000));
    vec![
        ("100,000 exports of the core", tool(&[("core", &exports(100_000))]), Some(("size", &["exports; 10000 are"]))),
        ("100,000 exports", tool(&[("component", &of_component)]), Some(("size", &["20000 are the limit"]))),
        ("30,000 types", tool(&[("component", &many)]), Some(("size", &["20000 are the limit"]))),
        ("nested 1,000 deep", nested(1_000), Some(("size", &["levels of nesting; 8 are the limit"]))),
        ("1,000 loops in one another", tool(&[("core", &bomb)]), Some(("size", &["loops within each other"]))),
        ("custom section of 70 MB", with_custom(b"padding", 70 << 20), Some(("size", &["bytes; 67108864 are"]))),
        ("names for a terminal", with_custom(b"\x1b[2J\x07\0name", 100), None),
        ("a name that is no text", with_custom(b"\xff\xfe", 100), Some(("valid", &["UTF-8"]))),
    ]
}

#[test]
fn components_that_are_not_tools_are_refused_with_the_reason() {
    for (name, component, expected) in shapes().into_iter().chain(sizes()) {
        #[expect(clippy::disallowed_methods, reason = "a time that is only shown")]
        let started = Instant::now();
        let outcome = inspect_tool(&component);
        println!("{name:<34} {:>6} ms  {}", started.elapsed().as_millis(), said(&outcome));
        match (outcome, expected) {
            (Ok(()), None) => {}
            (Err(error), Some((check, words))) => assert_refusal(name, &error, check, words),
            (outcome, _) => panic!("{name}: {outcome:?}"),
        }
    }
}

fn said(outcome: &Result<(), Error>) -> String {
    outcome.as_ref().map_or_else(|error| error.to_string().chars().take(150).collect(), |()| "accepted".to_owned())
}

fn assert_refusal(name: &str, error: &Error, check: &str, words: &[&str]) {
    let message = error.to_string();
    assert_eq!(error.stage(), "inspect", "{name}");
    assert!(message.starts_with(&format!("inspect failed ({check}): ")), "{name}: {message}");
    assert!(words.iter().all(|word| message.contains(word)), "{name}: {message}");
    assert!(!message.contains(char::is_control) && message.len() < 2_000, "{name}: {message:?}");
}
