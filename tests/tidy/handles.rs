//! Which modules of `runner`, `repository`, `builder` and `agents` reach stored data. The others take and return values. The
//! same table tells which modules write statements.

use syn::visit::Visit;
use syn::{Item, ItemUse, UseTree};

use super::circles::is_test_item;
use super::{File, code, none, product};

const CRATES: [&str; 4] = ["runner/src/", "repository/src/", "builder/src/", "agents/src/"];

/// The store and its handle of each district.
const STORE: [&str; 8] = ["Store", "Access", "History", "Nodes", "Operations", "Repositories", "Tools", "Versions"];

/// The store of agents and its handle of each district, but for the Library.
const AGENT_STORE: [&str; 4] = ["AgentStore", "AgentRuns", "Agents", "Conversations"];

/// Types of `registry` and of the store of agents that read and write stored data, with the only paths that may name them.
const HANDLES: [(&[&str], &[&str]); 6] = [
    (&STORE, &["runner/src/calls/invoke", "builder/src/publish", "agents/src/store"]),
    (
        &AGENT_STORE,
        &[
            "agents/src/catalogue",
            "agents/src/due_tasks.rs",
            "agents/src/platform",
            "agents/src/rules",
            "agents/src/runs",
            "agents/src/services.rs",
            "agents/src/store",
            "agents/src/turns.rs",
        ],
    ),
    (&["Library"], &["agents/src/library", "agents/src/platform_call.rs"]),
    (
        &["Artifacts"],
        &["runner/src/calls/invoke", "builder/src/publish", "builder/src/images.rs", "agents/src/services.rs"],
    ),
    (&["statements"], &["agents/src/store", "agents/src/error.rs"]),
    (&["SharedRepositories"], &["repository/src/repositories", "repository/src/shared"]),
];

/// The modules that execute components. No row of the table may name one of them.
const SANDBOX: &str = "runner/src/sandbox";

/// The names of `registry` and of the store of agents in a file, without its unit tests.
#[derive(Default)]
struct Named(Vec<String>);

impl Named {
    fn import(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before)),
            UseTree::Name(name) => self.note(&with(&name.ident)),
            UseTree::Rename(rename) => self.note(&with(&rename.ident)),
            UseTree::Glob(_) => {}
        }
    }

    fn note(&mut self, path: &[String]) {
        match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["registry", name, ..] | ["crate", "store", name, ..] => self.0.push(name.to_owned()),
            _ => {}
        }
    }
}

impl Visit<'_> for Named {
    fn visit_item(&mut self, item: &Item) {
        if !is_test_item(item) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, import: &ItemUse) {
        self.import(&import.tree, &[]);
    }

    fn visit_path(&mut self, path: &syn::Path) {
        self.note(&path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>());
        syn::visit::visit_path(self, path);
    }
}

fn find_handles(text: &str) -> Vec<String> {
    let mut named = Named::default();
    named.visit_file(&syn::parse_file(text).expect("Rust"));
    named.0.retain(|name| HANDLES.iter().any(|(handles, _)| handles.contains(&name.as_str())));
    named.0
}

#[test]
fn stored_data_is_reached_from_few_modules() {
    let mut findings = Vec::new();
    for file in product().into_iter().filter(|file| CRATES.iter().any(|sources| file.path.starts_with(sources))) {
        for name in find_handles(&file.text) {
            let (_, allowed) = HANDLES.iter().find(|(handles, _)| handles.contains(&name.as_str())).expect("a handle");
            if !allowed.iter().any(|path| file.path.starts_with(path)) {
                findings.push(format!("{}: {name}", file.path));
            }
        }
    }
    none("a module reaches stored data, and is not in the table", &findings);
}

#[test]
fn the_sandbox_reaches_no_stored_data() {
    assert!(product().iter().any(|file| file.path.starts_with(SANDBOX)), "the sandbox has moved");
    let mut rows = HANDLES.iter().flat_map(|(_, allowed)| *allowed);
    assert!(rows.all(|path| !path.starts_with(SANDBOX) && !SANDBOX.starts_with(path)));
}

#[test]
fn a_handle_is_found() {
    let found = find_handles(
        "use registry::{Digest, Store as Database};\nfn a(_: crate::store::Library) {}\nuse wasmtime::Store;",
    );
    assert_eq!(found, ["Store", "Library"]);
    assert!(find_handles("#[cfg(test)]\nmod tests { use registry::Store; }").is_empty());
}

/// Places that may open a store without the tables of agents: the store itself, and the command that copies rows and removes none.
const OPENS_ALONE: [&str; 2] = ["registry/src/", "cli/src/commands/migrate.rs"];

/// The lines that open a store which does not know the tables of agents.
fn find_opened_alone(file: &File) -> Vec<String> {
    let lines = code(file).filter(|(_, line)| line.replace("AgentStore::open", "").contains("Store::open("));
    lines.map(|(number, _)| format!("{}:{number}", file.path)).collect()
}

#[test]
fn a_store_is_opened_with_the_tables_of_agents() {
    let others = product().into_iter().filter(|file| !OPENS_ALONE.iter().any(|path| file.path.starts_with(path)));
    let findings: Vec<_> = others.flat_map(|file| find_opened_alone(&file)).collect();
    none("a removal of a user would leave what agents do for the user", &findings);
}

#[test]
fn a_store_that_is_opened_alone_is_found() {
    let file = |text: &str| File { path: "cli/src/x.rs".into(), text: text.into() };
    assert_eq!(find_opened_alone(&file("let a = Store::open(options);")), ["cli/src/x.rs:1"]);
    assert!(find_opened_alone(&file("let a = AgentStore::open(options, config);")).is_empty());
}
