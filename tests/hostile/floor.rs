//! The engine's version and features: no version with published vulnerabilities, and no unused features.

use std::process::Command;

use serde_json::Value;

/// Oldest version without published vulnerabilities.
const FLOOR: [u64; 3] = [48, 0, 8];

/// Features of the engine. Each further feature adds attack surface and needs a reason.
const ENGINE_FEATURES: &[&str] = &[
    "anyhow",
    "async",
    "backtrace",
    "component-model",
    "cranelift",
    "demangle",
    "once_cell",
    // Images are compiled on all cores.
    "parallel-compilation",
    "pooling-allocator",
    "runtime",
    "std",
    "wasmtime-jit-icache-coherence",
];
const WASI_FEATURES: &[&str] = &["p2"];
/// Features that no dependency may enable.
const NEVER: [&str; 9] = [
    "gc",
    "threads",
    "component-model-async",
    "stack-switching",
    "cache",
    "debug-builtins",
    "profiling",
    "pulley",
    "wat",
];

fn version(text: &str) -> Vec<u64> {
    text.split('.').map(|part| part.parse().expect("a number")).collect()
}

/// Returns the packages of the workspace as Cargo resolves them, with version and features.
fn resolved() -> Vec<(String, Vec<u64>, Vec<String>)> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["metadata", "--format-version=1", "--locked", "--offline"]);
    command.args(["--filter-platform", &format!("{}-unknown-linux-gnu", std::env::consts::ARCH)]);
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let output = command.output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let node = |node: &Value| {
        let package = document["packages"].as_array().expect("packages").iter().find(|one| one["id"] == node["id"]);
        let text = |name: &str| package.expect("a package")[name].as_str().expect("a text").to_owned();
        let features = node["features"].as_array().expect("features").iter();
        let mut features: Vec<_> = features.map(|feature| feature.as_str().expect("a text").to_owned()).collect();
        features.sort();
        let plain = text("version").split(['-', '+']).next().map(version).expect("a version");
        (text("name"), plain, features)
    };
    document["resolve"]["nodes"].as_array().expect("nodes").iter().map(node).collect()
}

#[test]
fn the_engine_is_of_the_long_term_line_and_has_only_the_features_in_use() {
    let resolved = resolved();
    let engines = |name: &str| resolved.iter().filter(|(found, ..)| found == name).collect::<Vec<_>>();
    for (name, expected) in [("wasmtime", ENGINE_FEATURES), ("wasmtime-wasi", WASI_FEATURES)] {
        let [(_, version, features)] = engines(name)[..] else { panic!("{name}: {:?}", engines(name)) };
        assert_eq!(version[0], FLOOR[0], "{name} {version:?} is of another line");
        assert!(version[..] >= FLOOR[..], "{name} {version:?} is below {FLOOR:?}");
        assert_eq!(features, expected, "the features of {name} have changed");
        assert!(NEVER.iter().all(|never| !features.iter().any(|feature| feature == never)));
    }
}
