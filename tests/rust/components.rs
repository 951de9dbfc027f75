//! Hostile components, from push to refusal.
//!
//! Cargo runs the linker that a build script names, so that a project can choose every byte of its component. In these
//! tests the linker is a shell script that writes another file.

use super::hostile::{Refused, is_refused};
use super::machine;
use super::project::Project;
use super::refusals::{ALONE, LOCKED_ALONE};
use crate::harness::{Bump, Team};

/// A tool in Rust, as a toolchain builds it.
const TOOL: &[u8] = include_bytes!("../../runner/benches/guests/echo.wasm");
/// The file of the project that the linker copies.
const GIVEN: &str = "given.wasm";
const TAKE: &str = "cp /src/given.wasm \"$out\"";

/// A project whose linker runs these lines; `$out` is the path of the component.
fn linking<'t>(team: &'t Team, given: &[u8], lines: &str) -> Project<'t> {
    let script = format!(
        "//! A build script that brings its own linker.\n\nuse std::{{env, fs, os::unix::fs::PermissionsExt}};\n\n\
         const LINKER: &str = r#\"#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n{lines}\n\"#;\n\n\
         fn main() {{\n    let linker = env::var(\"OUT_DIR\").unwrap() + \"/linker\";\n    \
         fs::write(&linker, LINKER).unwrap();\n    \
         fs::set_permissions(&linker, fs::Permissions::from_mode(0o755)).unwrap();\n    \
         println!(\"cargo::rustc-link-arg=--skip-wit-component\");\n    \
         println!(\"cargo::rustc-link-arg=--wasm-ld-path={{linker}}\");\n}}\n"
    );
    let cargo = format!("{ALONE}\n[package.metadata.lathe]\ninput_schema = \"in.json\"\n");
    let tool = Project::new(team).with("Cargo.toml", &cargo).with("Cargo.lock", LOCKED_ALONE);
    let tool = tool.with("src/lib.rs", "//! Nothing.\n").with("build.rs", &script).with("in.json", "{}");
    tool.with_bytes(GIVEN, given)
}

fn parsed(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}: {text:.200}"))
}

/// The name, the project's file, the linker's lines, and the refusal.
type Case = (&'static str, Vec<u8>, &'static str, &'static [&'static str]);

fn shapes() -> Vec<Case> {
    let importing = |name: &str| parsed(&format!("(component (import \"{name}\" (instance)))"));
    let wrong = r#"(component (core module $m (func (export "run"))) (core instance $i (instantiate $m))
                   (func (export "run-tool") (canon lift (core func $i "run"))))"#;
    vec![
        ("a core module", parsed("(module)"), TAKE, &["inspect failed (component)", "a WebAssembly module"]),
        ("a program", b"\x7fELF and so on".to_vec(), TAKE, &["inspect failed (component)"]),
        ("nothing at all", Vec::new(), ": > \"$out\"", &["inspect failed (component)"]),
        ("half of one", TOOL[..TOOL.len() / 2].to_vec(), TAKE, &["inspect failed (valid)"]),
        ("two of them", [TOOL, TOOL].concat(), TAKE, &["inspect failed (valid)"]),
        (
            "one that imports the unknown",
            importing("evil:host/shell@1.0.0"),
            TAKE,
            &["inspect failed (imports)", "evil:host/shell@1.0.0"],
        ),
        (
            "one that imports sockets",
            importing("wasi:sockets/tcp@0.2.6"),
            TAKE,
            &["inspect failed (imports)", "requests go through lathe:tool/http"],
        ),
        (
            "one that would be an interpreter",
            importing("lathe:tool/bundle@0.1.0"),
            TAKE,
            &["inspect failed (imports)", "lathe:tool/bundle@0.1.0"],
        ),
        ("one without run-tool", parsed("(component)"), TAKE, &["inspect failed (exports)", "run-tool"]),
        (
            "one with another run-tool",
            parsed(wrong),
            TAKE,
            &["inspect failed (signature)", "it has to be a func(record {"],
        ),
    ]
}

fn sizes() -> Vec<Case> {
    let exports: String = (0..100_000).map(|n| format!("(export \"e{n}\" (memory 0))")).collect();
    let loops = format!("(func {} {})", "loop ".repeat(1_000), "end ".repeat(1_000));
    let module = |fields: &str| parsed(&format!("(component (core module {fields}))"));
    vec![
        (
            "a hundred thousand exports",
            module(&format!("(memory 1) {exports}")),
            TAKE,
            &["inspect failed (size)", "exports"],
        ),
        (
            "a thousand loops in one another",
            module(&loops),
            TAKE,
            &["inspect failed (size)", "loops within each other"],
        ),
        ("a thousand components in one another", nested(1_000), TAKE, &["inspect failed (size)", "levels of nesting"]),
        (
            "a section of seventy megabytes",
            [TOOL, &[0, 0x81, 0xbb, 0xb0, 0x21, 0][..]].concat(),
            "cp /src/given.wasm \"$out\"; head -c 70000000 /dev/zero >> \"$out\"",
            &["compile failed (output)", "the limit is"],
        ),
        ("a file of holes", Vec::new(), "truncate -s 100G \"$out\"", &["compile failed (cargo)"]),
        ("a link", Vec::new(), "ln -sf /etc/passwd \"$out\"", &["compile failed (output)"]),
        ("a directory", Vec::new(), "rm -f \"$out\"; mkdir \"$out\"", &["compile failed ("]),
    ]
}

/// Nested components, which the text format cannot express.
fn nested(depth: usize) -> Vec<u8> {
    let header = &parsed("(component)")[..8];
    let length = |mut number: usize| {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    };
    (1..depth).fold(header.to_vec(), |inner, _| [header, &[4], &length(inner.len()), &inner].concat())
}

#[test]
fn a_component_that_is_not_a_tool_is_refused() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    for (name, given, lines, words) in shapes().into_iter().chain(sizes()) {
        let tool = linking(&team, &given, lines);
        is_refused(&tool, &server, &Refused { name, words, told: "" });
    }
}

#[test]
fn a_branch_test_and_a_publication_refuse_the_same_components() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    for (name, given, lines, words) in [shapes().swap_remove(0), shapes().swap_remove(5)] {
        let tool = linking(&team, &given, lines);
        is_refused(&tool, &server, &Refused { name, words, told: "" });
        let tested = tool.test();
        assert_eq!((tested.status, tested.code().as_str()), (400, "build_failed"), "{name}: {tested}");
        assert!(words.iter().all(|word| tested.detail().contains(word)), "{name}: {words:?}: {tested}");
    }
    assert!(team.history().is_empty(), "nothing ran");
}

/// The same project is published when its linker writes a tool.
#[test]
fn a_tool_of_the_authors_linker_is_published() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    let section = b"\0\x0b\x0a\x1b[2J\x07\0name";
    let tool = linking(&team, &[TOOL, &section[..]].concat(), TAKE);
    tool.publish(Bump::Minor).expect(201);
    let version = tool.version("1.0.0").to_string();
    assert!(!version.contains('\x1b') && !version.contains("\\u001b"), "{version}");
}
