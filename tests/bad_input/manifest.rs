//! Errors in `pyproject.toml` and in the files that it names.

use serde_json::json;

use super::check;
use crate::harness::Team;

#[test]
fn the_manifest_is_refused_with_file_line_and_key() {
    let team = Team::new();
    let line = |line: &'static str, words: &[&str]| check(&team, |tool| tool.manifest(line), words);
    check(&team, |tool| tool.without_file("pyproject.toml"), &["manifest", "no pyproject.toml"]);
    check(&team, |tool| tool.with_file("pyproject.toml", "[project\n"), &["manifest", "pyproject.toml:1: "]);
    check(&team, |tool| tool.with_file("pyproject.toml", "\n\nname = = 1\n"), &["pyproject.toml:3: "]);
    check(&team, |tool| tool.with_bytes("pyproject.toml", b"\xff\xfe"), &["pyproject.toml: ", "UTF-8"]);
    check(&team, |tool| tool.with_file("pyproject.toml", "[tool.lathe]\n"), &["pyproject.toml: ", "project.name"]);
    line("entrypoint = 'tool:run_tool'", &["pyproject.toml:5: ", "entrypoint", "entry_point"]);
    line("entry_point = 'tool'", &["pyproject.toml:5: ", "tool.lathe.entry_point", "package.module:function"]);
    line("entry_point = 3", &["pyproject.toml:5: ", "string"]);
    line("timeout_seconds = 'soon'", &["pyproject.toml:5: "]);
    line("timeout_seconds = 0", &["pyproject.toml:5: ", "tool.lathe.timeout_seconds"]);
    line("timeout_seconds = nan", &["pyproject.toml:5: ", "tool.lathe.timeout_seconds"]);
    line("memory_mb = 0", &["pyproject.toml:5: ", "tool.lathe.memory_mb"]);
    line("memory_mb = -1", &["pyproject.toml:5: "]);
    line("memory_mb = '128'", &["tool.lathe.memory_mb is text; write the number 128", "between 1 and 256"]);
    line("memory_mb = 1024", &["pyproject.toml:5: ", "tool.lathe.memory_mb must be between 1 and 256"]);
    line("timeout_seconds = 301", &["tool.lathe.timeout_seconds must be at least 0.001 and at most 300"]);
    line("timeout_seconds = 1.0005", &["tool.lathe.timeout_seconds must be", "with at most three decimals"]);
    line("recorded_answers = 'yes'", &["pyproject.toml:5: ", "boolean"]);
    line(
        "recorded_answers = true\ntape = false",
        &["pyproject.toml:5: ", "tool.lathe.recorded_answers", "`tape = false`"],
    );
    line("limits = { handles = -1 }", &["pyproject.toml:5: ", "tool.lathe.limits.handles must be between 1 and 10000"]);
    line("limits = { http_requests = 257 }", &["pyproject.toml:5: ", "limits.http_requests must be between 1 and 256"]);
    line("intervention = 'sometimes'", &["pyproject.toml:5: ", "tool.lathe.intervention must be \"never\""]);
    line("tasks = 'always'", &["pyproject.toml:5: ", "tool.lathe.tasks must be \"never\""]);
    line(
        "annotations = { read_only = true, destructive = true }",
        &["pyproject.toml:5: ", "tool.lathe.annotations.destructive must not be true with `read_only = true`"],
    );
    line(
        "annotations = { readonly = true }",
        &["pyproject.toml:5: ", "tool.lathe.annotations.readonly is an unknown key"],
    );
    line("required_envvars = ['lower']", &["pyproject.toml:5: ", "tool.lathe.required_envvars"]);
    line("allowed_hosts = ['https://example.com/path']", &["pyproject.toml:5: ", "tool.lathe.allowed_hosts"]);
}

#[test]
fn the_schema_file_is_refused_with_its_name() {
    let team = Team::new();
    let line = |line: &'static str, words: &[&str]| check(&team, |tool| tool.manifest(line), words);
    line("input_schema = 'in.json'", &["manifest failed", "in.json: the file is missing"]);
    let chain = |times: usize| {
        let next = |index: usize| json!({"allOf": vec![json!({"$ref": format!("#/$defs/{}", index + 1)}); times]});
        let mut names: serde_json::Map<_, _> = (0..270).map(|index| (index.to_string(), next(index))).collect();
        names.insert("270".into(), json!(true));
        json!({"$ref": "#/$defs/0", "$defs": names}).to_string()
    };
    let schema = |text: &str, words: &[&str]| {
        check(&team, |tool| tool.manifest("input_schema = 'in.json'").with_file("in.json", text), words);
    };
    schema(&chain(1), &["manifest failed (input-schema): in.json: ", "deep"]);
    schema(&chain(2), &["manifest failed (input-schema): in.json: "]);
    line("input_schema = '../in.json'", &["pyproject.toml:5: ", "tool.lathe.input_schema"]);
    schema("{\n\n]", &["in.json:3: "]);
    schema("[]", &["in.json: ", "object"]);
    schema("{\"type\": 3}", &["in.json: "]);
    schema("{\"type\": \"objekt\"}", &["in.json: /type: \"objekt\" is no type; use object, array, string"]);
    schema("{\"properties\": {\"a\": {\"pattern\": \"(\"}}}", &["in.json: "]);
    schema("{\"$ref\": \"https://example.com/schema.json\"}", &["in.json: "]);
    schema("{\"$ref\": \"#/$defs/missing\"}", &["in.json: "]);
}
