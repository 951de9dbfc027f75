//! The fuzz targets of a project's files, of packages' indexes and of build results. `docs/explanation/parsers.md` lists all
//! targets beside the parsers.

use std::collections::BTreeMap;

use super::Target;
use crate::checks::CheckFiles;
use crate::steps::documents::Documents;
use crate::steps::manifest::{Manifest, from_json, from_toml};
use crate::steps::{esbuild, index_page, inspect, lock, mocks, npm, schema};
use crate::toolchain::rust;

const HASH: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const PYPROJECT: &str = "[project]\nname = 'w'\ndependencies = ['six', 'a[b]>=1; os_name == \"nt\"']\n[tool.lathe]\nentry_point = 'a:b'\n\
                         allowed_hosts = ['*.example.com']\ntimeout_seconds = 1.5\n[tool.lathe.limits]\nhandles = 1\n";
const PACKAGE: &str =
    r#"{"name": "w", "dependencies": {"a": "^1"}, "lathe": {"entry_point": "index.ts", "memory_mb": 64}}"#;
const CARGO: &str = "[package]\nname = 'w'\n[lib]\ncrate-type = ['cdylib']\n[dependencies]\na = { path = 'x' }\n[patch.x]\nb = { git = 'x' }\n";
const CARGO_LOCK: &str = "version = 4\n[[package]]\nname = 'a'\nversion = '1.0.0'\n\
                          source = 'registry+https://github.com/rust-lang/crates.io-index'\nchecksum = '00'\n";

fn text(bytes: &[u8], parse: impl FnOnce(&str)) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        parse(text);
    }
}

fn files(name: &str, bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([(name.to_owned(), bytes.to_vec())])
}

fn manifest(name: &str, bytes: &[u8]) {
    let files = files(name, bytes);
    if let Ok(documents) = Documents::parse_here(&files) {
        drop(Manifest::read(&documents, &files));
        drop((rust::manifest::read_library(&documents), rust::lock::read(&documents)));
    }
}

#[test]
fn requirements_lock() {
    let lines = format!("six==1.16.0 ; python_version >= '3.8' \\\n    --hash={HASH} \\\n    --hash={HASH}\n");
    let hard = format!(
        "a[b] == 1!2.0rc1+x ; (os_name in 'nt' and sys_platform == 'wasi') or '3' < python_version --hash={HASH}"
    );
    let own = format!("amigo_tool_scaffold @ https://user:token@host.example/x.tar.gz ; os_name == 'nt' --hash={HASH}");
    Target::new("requirements.lock", &[&lines, &hard, &own], |bytes| {
        let _ = (lock::parse(bytes), lock::find_own_line(bytes));
    })
    .run();
}

#[test]
fn pyproject() {
    Target::new("pyproject.toml", &[PYPROJECT], |bytes| manifest("pyproject.toml", bytes)).in_child().run();
}

#[test]
fn package_json() {
    Target::new("package.json", &[PACKAGE], |bytes| manifest("package.json", bytes)).run();
}

#[test]
fn cargo_toml() {
    Target::new("Cargo.toml", &[CARGO], |bytes| manifest("Cargo.toml", bytes)).in_child().run();
}

#[test]
fn cargo_lock() {
    Target::new("Cargo.lock", &[CARGO_LOCK], |bytes| manifest("Cargo.lock", bytes)).in_child().run();
}

#[test]
fn toml() {
    Target::new("TOML", &[PYPROJECT, CARGO, CARGO_LOCK], |bytes| text(bytes, |text| drop(from_toml(text))))
        .in_child()
        .run();
}

#[test]
fn json() {
    Target::new("JSON", &[PACKAGE], |bytes| text(bytes, |text| drop(from_json(text)))).run();
}

#[test]
fn package_lock() {
    let lock = "{\"lockfileVersion\": 3, \"packages\": {\n\"\": {},\n\"node_modules/a\": {\"version\": \"1.0.0\", \
                \"resolved\": \"https://x/a/-/a-1.0.0.tgz\", \"integrity\": \"sha512-AA==\"},\n\
                \"node_modules/b\": {\"link\": true, \"dev\": true}}}";
    Target::new("package-lock.json", &[lock], |bytes| drop(npm::lock::parse(bytes, b"{}"))).run();
}

#[test]
fn index_pages() {
    let json = format!(
        r#"{{"files": [{{"filename": "six-1.whl", "url": "../six-1.whl", "hashes": {{"sha256": "{HASH}"}}}}]}}"#
    );
    let html = format!("<html><a href=\"../six-1.whl#{HASH}\">six-1.whl</a>");
    Target::new("index page", &[&json, &html], |bytes| drop(index_page::read(bytes))).run();
}

#[test]
fn mock_files() {
    let mock =
        r#"[{"request": {"method": "POST", "url": "https://a.example.com/"}, "response": {"json": {"a": [1]}}}]"#;
    Target::new("mocks", &[mock], |bytes| drop(mocks::read(&files("mocks/a.json", bytes)))).run();
}

#[test]
fn check_files() {
    let check = r#"[{"input_parameters": {"a": 1}, "expected_output": "x", "envvars": {"A": "b"}, "mocks": []}]"#;
    Target::new("checks", &[check], |bytes| drop(CheckFiles::select(&files("checks/a.json", bytes)).read())).run();
}

#[test]
fn schemas() {
    let simple = r#"{"type": "object", "properties": {"a": {"type": "string", "pattern": "^a+$"}}, "required": ["a"]}"#;
    let hard = r##"{"type": "object", "$defs": {"n": {"anyOf": [{"$ref": "#/$defs/n"}, {"multipleOf": 0.1}]}}, "properties": {"a": {"$ref": "#/$defs/n"}}}"##;
    Target::new("schema", &[simple, hard], |bytes| text(bytes, |text| drop(schema::parse_derived(text)))).run();
}

#[test]
fn components() {
    let own = wat::parse_str("(component (core module (func (export \"a\") (result i32) i32.const 1)))")
        .expect("a component");
    let empty = wat::parse_str("(component)").expect("a component");
    let target = Target::new("component", &[], |bytes| drop(inspect::inspect_tool(bytes)));
    Target { seeds: vec![own, empty], memory_factor: 1_000, ..target }.run();
}

#[test]
fn messages_of_compilers() {
    let told =
        "✘ [ERROR] Expected \";\"\n\n    src/a.ts:3:6:\n\nerror[E0308]: mismatched types\n  --> src/lib.rs:1:2\n";
    Target::new("messages", &[told], |bytes| {
        text(bytes, |text| {
            drop(esbuild::explain_stderr(text));
            drop(rust::messages::find_first_error(text));
        });
    })
    .run();
}
