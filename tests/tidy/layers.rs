//! The layers of `runner`, `api_kit` and `api`, in the order of their `lib.rs`, and what the lowest one may know.

use super::circles::collect_module_imports;
use super::{File, code, none, product};

const KIT: &str = "api_kit/src/";
const RUNNER: &str = "runner/src/";
/// The crates whose `lib.rs` lists layers.
const LAYERED: [&str; 3] = [RUNNER, KIT, "api/src/"];

/// Words of the domain above versions and runs, which the lowest layer does not know.
const WORDS: [&str; 9] =
    ["agent", "library", "mcp", "oauth", "conversation", "assignment", "gateway", "skill", "embedding"];

/// The header of HTTP, which has one of these words.
const HEADER: &str = "user-agent";

/// Returns the modules that a `lib.rs` lists, layer by layer. An empty line separates layers.
fn read_layers(text: &str) -> Vec<Vec<&str>> {
    let layers = text.split("\n\n").map(|lines| lines.lines().filter_map(module_in).collect::<Vec<_>>());
    layers.filter(|layer| !layer.is_empty()).collect()
}

fn module_in(line: &str) -> Option<&str> {
    line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';')
}

fn find_lib<'f>(sources: &str, files: &'f [File]) -> &'f File {
    files.iter().find(|file| file.path == format!("{sources}lib.rs")).expect("the contents of the crate")
}

/// Whether a file is part of a layer of the kit.
fn is_in(layer: &[&str], file: &File) -> bool {
    let path = file.path.strip_prefix(KIT);
    path.is_some_and(|path| layer.iter().any(|module| path.split(['/', '.']).next() == Some(module)))
}

#[test]
fn a_module_imports_from_its_own_layer_and_lower_ones() {
    let files = product();
    let mut findings = Vec::new();
    for sources in LAYERED {
        let layers = read_layers(&find_lib(sources, &files).text);
        assert!(layers.len() > 1, "the layers are {layers:?}");
        let height = |module: &str| layers.iter().position(|layer| layer.contains(&module)).expect("a listed module");
        for (module, targets) in &collect_module_imports(sources, &files) {
            let higher = targets.iter().filter(|target| height(&target[0]) > height(&module[0]));
            findings.extend(higher.map(|target| format!("{sources}{} imports {}", module[0], target[0])));
        }
    }
    none("a module imports from a higher layer of its lib.rs", &findings);
}

#[test]
fn the_kit_does_not_know_agents() {
    let files = product();
    let layers = read_layers(&find_lib(KIT, &files).text);
    assert!(layers[0].contains(&"error"), "the layers are {layers:?}");
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| is_in(&layers[0], file)) {
        for (number, line) in code(file).map(|(number, line)| (number, line.to_lowercase().replace(HEADER, ""))) {
            let found = WORDS.iter().filter(|word| line.contains(**word));
            findings.extend(found.map(|word| format!("{}:{number}: {word}", file.path)));
        }
    }
    none("the lowest layer of the kit has a word of agents, the Library, MCP or OAuth", &findings);
}

#[test]
fn layers_are_found() {
    let text = "//! Text.\n\n// The kit.\nmod a;\npub mod b;\n\n// More.\nmod c;\n\npub use a::A;\n";
    assert_eq!(read_layers(text), [vec!["a", "b"], vec!["c"]]);
}
