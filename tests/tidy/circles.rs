//! No import cycles between the files of a crate, nor between its top-level modules, nor between the modules of a half of `runner`.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::Visit;
use syn::{Attribute, Item, ItemUse, UseTree, Visibility};

use super::{File, none, product};

const CRATES: [&str; 11] = [
    "registry",
    "runner",
    "repository",
    "builder",
    "agents",
    "api_kit",
    "mcp",
    "api",
    "cli",
    "scaffold",
    "scaffold/flatten",
];

/// Folders of a crate whose modules are compared, besides those at its top.
const FOLDERS: [(&str, &str); 2] = [("runner", "sandbox"), ("runner", "calls")];

/// A path of names from the root of the crate.
pub(super) type Path = Vec<String>;

/// The names of its own crate that a file uses and exports.
#[derive(Default)]
struct Names {
    /// The module that the file contains.
    module: Path,
    /// Paths that the file imports.
    used: BTreeSet<Path>,
    /// Exported names, each with the path that it re-exports.
    exported: BTreeMap<String, Path>,
    children: BTreeSet<String>,
}

impl Names {
    fn of(file: &File, sources: &str) -> Self {
        let path = file.path.trim_start_matches(sources).trim_end_matches(".rs");
        let parts = path.split('/').filter(|part| !matches!(*part, "lib" | "main" | "mod"));
        let syntax = syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path));
        let modules = syntax.items.iter().filter_map(|item| match item {
            Item::Mod(module) if module.content.is_none() => Some(module.ident.to_string()),
            _ => None,
        });
        let mut names =
            Self { module: parts.map(str::to_owned).collect(), children: modules.collect(), ..Self::default() };
        names.visit_file(&syntax);
        names
    }

    /// Resolves a path as written to a path from the root of the crate; `None` when it is in another crate.
    fn resolved(&self, written: &[String]) -> Option<Path> {
        let first = written.first()?.as_str();
        match first {
            "crate" => Some(written[1..].to_vec()),
            "self" | "super" => {
                let ups = written.iter().take_while(|name| *name == "super").count();
                let skipped = written.iter().take_while(|name| matches!(name.as_str(), "self" | "super")).count();
                let above = self.module.len().checked_sub(ups)?;
                Some([&self.module[..above], &written[skipped..]].concat())
            }
            child if self.children.contains(child) => Some([&self.module[..], written].concat()),
            _ => None,
        }
    }

    fn import(&mut self, tree: &UseTree, before: &[String], is_export: bool) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        let (written, name) = match tree {
            UseTree::Path(path) => return self.import(&path.tree, &with(&path.ident), is_export),
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.import(tree, before, is_export)),
            UseTree::Name(name) if name.ident == "self" => (before.to_vec(), before.last().cloned()),
            UseTree::Name(name) => (with(&name.ident), Some(name.ident.to_string())),
            UseTree::Rename(rename) => (with(&rename.ident), Some(rename.rename.to_string())),
            UseTree::Glob(_) => (before.to_vec(), None),
        };
        match (self.resolved(&written), name) {
            (Some(path), Some(name)) if is_export => drop(self.exported.insert(name, path)),
            (Some(path), _) => drop(self.used.insert(path)),
            (None, _) => {}
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    let mut conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions.any(|attribute| attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test"))
}

/// Whether an item is compiled for unit tests only.
pub(super) fn is_test_item(item: &Item) -> bool {
    match item {
        Item::Mod(module) => is_test(&module.attrs),
        Item::Fn(function) => is_test(&function.attrs),
        Item::Impl(block) => is_test(&block.attrs),
        Item::Use(import) => is_test(&import.attrs),
        _ => false,
    }
}

impl Visit<'_> for Names {
    fn visit_item(&mut self, item: &Item) {
        if !is_test_item(item) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, import: &ItemUse) {
        self.import(&import.tree, &[], !matches!(import.vis, Visibility::Inherited));
    }

    /// A visibility names a module and imports nothing.
    fn visit_vis_restricted(&mut self, _: &syn::VisRestricted) {}

    fn visit_path(&mut self, path: &syn::Path) {
        let written: Path = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        // A single name is imported where it is used, or is defined in the file.
        if written.len() > 1 {
            self.used.extend(self.resolved(&written));
        } else if let Some(path) = written.first().and_then(|name| self.exported.get(name)) {
            self.used.insert(path.clone());
        }
        syn::visit::visit_path(self, path);
    }
}

/// Returns the module that a path refers to, through re-exports.
fn module_of(modules: &BTreeMap<Path, Names>, path: &Path) -> Option<Path> {
    let length = (0..=path.len()).rev().find(|length| modules.contains_key(&path[..*length]))?;
    let (module, rest) = path.split_at(length);
    let exported = rest.first().and_then(|name| modules[module].exported.get(name));
    match exported.filter(|target| !path.starts_with(target)) {
        Some(target) => module_of(modules, &[target, &rest[1..]].concat()),
        None => Some(module.to_vec()),
    }
}

pub(super) type Imports = BTreeMap<Path, BTreeSet<Path>>;

/// Whether one file imports the other, directly or through further files.
fn leads(imports: &Imports, from: &Path, to: &Path) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        if file == to {
            return true;
        }
        if seen.insert(file) {
            open.extend(imports.get(file).into_iter().flatten());
        }
    }
    false
}

fn read_modules(sources: &str, files: &[File]) -> BTreeMap<Path, Names> {
    let own = files.iter().filter(|file| file.path.starts_with(sources));
    own.map(|file| Names::of(file, sources)).map(|names| (names.module.clone(), names)).collect()
}

fn circles_of(sources: &str, files: &[File]) -> Vec<String> {
    let modules = read_modules(sources, files);
    let targets = |names: &Names| {
        let targets = names.used.iter().filter_map(|path| module_of(&modules, path));
        targets.filter(|target| *target != names.module).collect()
    };
    let imports: Imports = modules.iter().map(|(module, names)| (module.clone(), targets(names))).collect();
    let edges = imports.iter().flat_map(|(file, targets)| targets.iter().map(move |target| (file, target)));
    let circular = edges.filter(|(file, target)| leads(&imports, target, file));
    circular.map(|(file, target)| format!("{sources}{} imports {}", file.join("/"), target.join("/"))).collect()
}

/// Returns the imports between the top-level modules of a crate. A module that re-exports a name of another one imports it.
pub(super) fn collect_module_imports(sources: &str, files: &[File]) -> Imports {
    collect_imports_in(&[], &read_modules(sources, files))
}

/// Returns the imports between the modules of a folder, or between those at the top.
fn collect_imports_in(folder: &[String], modules: &BTreeMap<Path, Names>) -> Imports {
    let length = folder.len() + 1;
    let is_in = |path: &Path| path.len() >= length && path.starts_with(folder);
    let mut imports = Imports::new();
    for (path, names) in modules.iter().filter(|(path, _)| is_in(path)) {
        let named = names.used.iter().chain(names.exported.values());
        let targets = named.filter_map(|name| module_of(modules, name)).filter(is_in);
        let others = targets.map(|target| target[..length].to_vec()).filter(|target| !path.starts_with(target));
        imports.entry(path[..length].to_vec()).or_default().extend(others);
    }
    imports
}

/// Returns the groups of modules that import each other, directly or through further modules.
fn find_cycles(imports: &Imports) -> BTreeSet<Vec<&Path>> {
    let cycle_of = |module: &Path| {
        let mutual = |other: &&Path| leads(imports, module, other) && leads(imports, other, module);
        imports.keys().filter(mutual).collect::<Vec<_>>()
    };
    imports.keys().map(cycle_of).filter(|cycle| cycle.len() > 1).collect()
}

#[test]
fn files_do_not_import_each_other_in_circles() {
    let files = product();
    let findings: Vec<String> = CRATES.iter().flat_map(|name| circles_of(&format!("{name}/src/"), &files)).collect();
    none("files import each other in circles", &findings);
}

#[test]
fn modules_do_not_import_each_other_in_cycles() {
    let files = product();
    let names = |cycle: Vec<&Path>| cycle.iter().map(|path| path.join("/")).collect::<Vec<_>>().join(" ");
    let mut findings = Vec::new();
    for name in CRATES {
        let imports = collect_module_imports(&format!("{name}/src/"), &files);
        findings.extend(find_cycles(&imports).into_iter().map(|cycle| format!("{name}: {}", names(cycle))));
    }
    for (name, folder) in FOLDERS {
        let modules = read_modules(&format!("{name}/src/"), &files);
        let imports = collect_imports_in(&[folder.to_owned()], &modules);
        assert!(imports.len() > 10, "the modules of {folder} have moved");
        findings.extend(find_cycles(&imports).into_iter().map(|cycle| format!("{name}: {}", names(cycle))));
    }
    none("modules of a crate import each other in cycles", &findings);
}

#[test]
fn a_cycle_of_modules_is_found() {
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    let files = [
        file("x/src/lib.rs", "mod a;\nmod b;\nmod c;"),
        file("x/src/a.rs", "mod inner;\npub use inner::A;"),
        file("x/src/a/inner.rs", "pub struct A;"),
        file("x/src/a/other.rs", "pub use crate::b::B;"),
        file("x/src/b.rs", "use crate::a::A;\npub struct B(A);"),
        file("x/src/c.rs", "use crate::b::B;"),
    ];
    let imports = collect_module_imports("x/src/", &files);
    let [a, b] = ["a", "b"].map(|name| vec![name.to_owned()]);
    assert_eq!(find_cycles(&imports), BTreeSet::from([vec![&a, &b]]));
}

#[test]
fn a_cycle_in_a_folder_is_found() {
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    let files = [
        file("x/src/lib.rs", "mod a;\nmod b;"),
        file("x/src/a.rs", "mod c;\nmod d;"),
        file("x/src/a/c.rs", "use crate::a::d::D;\npub struct C(D);"),
        file("x/src/a/d.rs", "mod e;\npub struct D;"),
        file("x/src/a/d/e.rs", "use crate::a::c::C;"),
        file("x/src/b.rs", "use crate::a::c::C;"),
    ];
    let imports = collect_imports_in(&["a".to_owned()], &read_modules("x/src/", &files));
    let [c, d] = ["c", "d"].map(|name| vec!["a".to_owned(), name.to_owned()]);
    assert_eq!(find_cycles(&imports), BTreeSet::from([vec![&c, &d]]));
}

#[test]
fn a_circle_is_found() {
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    let files = |inner: &str| {
        let lib = file("x/src/lib.rs", "mod a;\nmod b;\npub use a::A;");
        [lib, file("x/src/a.rs", "use crate::b::B;\npub struct A(B);"), file("x/src/b.rs", inner)]
    };
    assert_eq!(circles_of("x/src/", &files("pub struct B;\n#[cfg(test)]\nmod tests { use crate::A; }")), [""; 0]);
    let found = circles_of("x/src/", &files("use crate::A;\npub struct B(Box<A>);"));
    assert_eq!(found, ["x/src/a imports b", "x/src/b imports a"]);
}
