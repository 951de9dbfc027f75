//! Checks `Cargo.toml` beside Lathe's own table: the library's kind, and the sources of dependencies.

use super::lock::OWN_WORKSPACE;
use crate::error::{Error, Location};
use crate::steps::documents::Documents;
use crate::steps::manifest::{Node, Value};
use crate::text::{quote, show};

const FILE: &str = "Cargo.toml";
const STAGE: &str = "manifest";
/// The names of tables of dependencies.
const DEPENDENCIES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
/// Keys that a refusal or the log names.
const NAMED_MAX: usize = 10;
/// Keys of dependencies with other sources than the public registry, which are refused.
const ELSEWHERE: [&str; 3] = ["git", "registry", "registry-index"];

/// The name of the library's file.
///
/// # Errors
/// With the line: the library does not compile to a component, or a dependency comes from git, another registry or outside
/// of the project.
pub fn read_library(documents: &Documents) -> Result<String, Error> {
    let missing = || Error::failed(STAGE, "manifest", "the file is missing").at(Location::file(FILE));
    let document = documents.get(FILE, STAGE)?.ok_or_else(missing)?;
    check_inherited(document)?;
    check_sources(document)?;
    check_kind(document)?;
    let name = document.find(&["lib", "name"]).or_else(|| document.find(&["package", "name"]));
    match name.map(|node| &node.value) {
        Some(Value::Text(name)) if is_crate_name(name) => Ok(name.replace('-', "_")),
        _ => {
            Err(refuse("name", "[package] needs a name of letters, digits, - and _", name.map_or(1, |node| node.line)))
        }
    }
}

/// Lines of the log about dependencies that `Cargo.lock` has, and that are not compiled, or not for each target.
///
/// # Errors
/// When the file is malformed.
pub fn find_left_out(documents: &Documents) -> Result<Vec<String>, Error> {
    let Some(document) = documents.get(FILE, STAGE)? else { return Ok(Vec::new()) };
    let listed = |table: &str| {
        let names = list_members(document.find(&[table])).map(|(name, _)| show(name)).take(NAMED_MAX);
        names.collect::<Vec<_>>().join(", ")
    };
    let line = |names: String, why: &str| (!names.is_empty()).then(|| format!("{FILE}: {why}: {names}"));
    let development = line(listed("dev-dependencies"), "dev-dependencies are fetched and not compiled");
    let targets = line(listed("target"), "dependencies of a target are compiled only if it is true of wasm32-wasip2");
    Ok(development.into_iter().chain(targets).collect())
}

/// Only a `cdylib` compiles to a component.
fn check_kind(document: &Node) -> Result<(), Error> {
    let lines = ["crate-type", "crate_type"].map(|key| document.find(&["lib", key]));
    let kinds = lines.into_iter().flatten().next();
    let makes_component = kinds.is_some_and(|node| match &node.value {
        Value::List(list) => list.iter().any(|one| matches!(&one.value, Value::Text(text) if text == "cdylib")),
        _ => false,
    });
    let line = kinds.or_else(|| document.find(&["lib"])).map_or(1, |node| node.line);
    if makes_component { Ok(()) } else { Err(refuse("crate-type", "[lib] needs crate-type = [\"cdylib\"]", line)) }
}

/// Refuses what a project inherits from the root of a workspace, unless it is that root itself.
fn check_inherited(document: &Node) -> Result<(), Error> {
    if document.find(&["workspace"]).is_some() {
        return Ok(());
    }
    let mut inherited: Vec<(String, u32)> = Vec::new();
    let mut add = |names: &[&str], node: &Node| {
        if let Some(Node { value: Value::Flag(true), line }) = node.find(&["workspace"]) {
            inherited.push((names.iter().map(|name| show(name)).collect::<Vec<_>>().join("."), *line));
        }
    };
    for (key, node) in list_members(document.find(&["package"])) {
        add(&["package", key], node);
    }
    document.find(&["lints"]).into_iter().for_each(|lints| add(&["lints"], lints));
    let platforms = list_members(document.find(&["target"])).map(|(_, platform)| platform);
    for table in std::iter::once(document).chain(platforms) {
        for kind in DEPENDENCIES {
            list_members(table.find(&[kind])).for_each(|(name, dependency)| add(&[kind, name], dependency));
        }
    }
    inherited.sort_by_key(|(_, line)| *line);
    let Some((_, line)) = inherited.first() else { return Ok(()) };
    let names: Vec<&str> = inherited.iter().take(NAMED_MAX).map(|(name, _)| name.as_str()).collect();
    let more = if inherited.len() > NAMED_MAX { " and others" } else { "" };
    let message = format!(
        "{}{more} are inherited from the root of a workspace, which is not part of the project: write their values here instead of \
         `workspace = true`. {OWN_WORKSPACE}",
        names.join(", ")
    );
    Err(refuse("workspace", &message, *line))
}

fn check_sources(document: &Node) -> Result<(), Error> {
    let tables = [&[][..], &["workspace"]].map(|path| document.find(path));
    tables.into_iter().flatten().try_for_each(check_dependencies)?;
    for (_, platform) in list_members(document.find(&["target"])) {
        check_dependencies(platform)?;
    }
    for (_, registry) in list_members(document.find(&["patch"])) {
        list_members(Some(registry)).try_for_each(|(name, dependency)| check_dependency(name, dependency))?;
    }
    match document.find(&["replace"]) {
        Some(node) => {
            Err(refuse("source", "[replace] is not supported; use [patch] with a path inside the project", node.line))
        }
        None => Ok(()),
    }
}

fn check_dependencies(table: &Node) -> Result<(), Error> {
    let dependencies = DEPENDENCIES.iter().flat_map(|key| list_members(table.find(&[*key])));
    dependencies.into_iter().try_for_each(|(name, dependency)| check_dependency(name, dependency))
}

fn check_dependency(name: &str, dependency: &Node) -> Result<(), Error> {
    for key in ELSEWHERE {
        if let Some(found) = dependency.find(&[key]) {
            let message = format!(
                "{} comes from {key}; only crates of the public registry and paths inside the project are accepted",
                show(name)
            );
            return Err(refuse("source", &message, found.line));
        }
    }
    match dependency.find(&["path"]) {
        Some(Node { value: Value::Text(path), line }) if !is_inside(path) => Err(refuse(
            "source",
            &format!("{} is outside of the project: {}; copy it into the project", show(name), quote(path)),
            *line,
        )),
        _ => Ok(()),
    }
}

fn list_members(table: Option<&Node>) -> impl Iterator<Item = (&String, &Node)> {
    let table = table.and_then(|node| if let Value::Table(table) = &node.value { Some(table) } else { None });
    table.into_iter().flatten().map(|(key, entry)| (key, &entry.node))
}

/// Whether a relative path stays below its starting directory.
fn is_inside(path: &str) -> bool {
    let mut depth = 0_i32;
    let stays = path.split('/').all(|part| {
        depth += match part {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        depth >= 0
    });
    stays && !path.starts_with('/') && !path.contains('\\')
}

fn is_crate_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_alphanumeric() || "-_".contains(character))
}

fn refuse(check: &str, message: &str, line: u32) -> Error {
    Error::failed(STAGE, check, message).at(Location::line(FILE, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "[package]\nname = \"look-up\"\n[lib]\ncrate-type = [\"cdylib\"]\n";

    fn read(text: &str) -> Result<String, Error> {
        read_library(&Documents::parse_here(&[(FILE.to_owned(), text.as_bytes().to_vec())].into())?)
    }

    fn assert_refused(more: &str, expected: &str) {
        let error = read(&format!("{HEAD}{more}")).expect_err(more).to_string();
        assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
    }

    #[test]
    fn the_library_has_the_name_of_cargos_file() {
        assert_eq!(read(HEAD).unwrap(), "look_up");
        assert_eq!(read(&HEAD.replace("[lib]", "[lib]\nname = \"other\"")).unwrap(), "other");
        let inside = "[dependencies]\nlathe = { path = \"lathe\" }\na = { path = \"x/../a\" }\nb = \"1\"\n";
        read(&format!("{HEAD}{inside}")).unwrap();
    }

    #[test]
    fn dependencies_of_other_sources_are_refused_with_their_line() {
        assert_refused("[dependencies]\na = { git = \"https://example.com/a\" }\n", "Cargo.toml:6: a comes from git");
        assert_refused(
            "[dependencies.a]\nversion = \"1\"\nregistry = \"mine\"\n",
            "Cargo.toml:7: a comes from registry",
        );
        assert_refused("[build-dependencies]\na = { path = \"../a\" }\n", "Cargo.toml:6: a is outside of the project");
        assert_refused("[dependencies]\na = { path = \"b/../../a\" }\n", "outside");
        assert_refused("[dependencies]\na = { path = \"/a\" }\n", "outside");
        assert_refused("[target.'cfg(unix)'.dependencies]\na = { git = \"g\" }\n", "a comes from git");
        assert_refused("[workspace.dependencies]\na = { git = \"g\" }\n", "a comes from git");
        assert_refused("[patch.crates-io]\na = { git = \"g\" }\n", "a comes from git");
        assert_refused("[replace]\n\"a:1.0.0\" = { git = \"g\" }\n", "[replace] is not supported");
    }

    #[test]
    fn dependencies_that_are_not_compiled_are_named_in_the_log() {
        let lines = |more: &str| {
            let files = [(FILE.to_owned(), format!("{HEAD}{more}").into_bytes())].into();
            find_left_out(&Documents::parse_here(&files).unwrap()).unwrap()
        };
        let more = "[dev-dependencies]\nb = \"1\"\na = \"1\"\n[target.'cfg(windows)'.dependencies]\nc = \"1\"\n";
        let expected = [
            "Cargo.toml: dev-dependencies are fetched and not compiled: a, b",
            "Cargo.toml: dependencies of a target are compiled only if it is true of wasm32-wasip2: cfg(windows)",
        ];
        assert_eq!(lines(more), expected);
        assert!(lines("[dependencies]\na = \"1\"\n").is_empty());
    }

    #[test]
    fn what_is_inherited_from_a_workspace_is_refused_with_its_line() {
        let package = HEAD.replace("\n[lib]", "\nversion.workspace = true\nedition = { workspace = true }\n[lib]");
        let error = read(&package).expect_err("inherited").to_string();
        assert!(
            error.contains("Cargo.toml:3: package.version, package.edition are inherited from the root"),
            "{error}"
        );
        assert!(error.contains("empty [workspace] table"), "{error}");
        assert_refused("[dependencies]\na.workspace = true\n", "Cargo.toml:6: dependencies.a are inherited");
        assert_refused(
            "[dependencies]\na = { workspace = true, features = [\"x\"] }\n",
            "Cargo.toml:6: dependencies.a are inherited",
        );
        assert_refused(
            "[target.'cfg(unix)'.build-dependencies]\na.workspace = true\n",
            "build-dependencies.a are inherited",
        );
        assert_refused("[lints]\nworkspace = true\n", "Cargo.toml:6: lints are inherited");
        read(&format!("{HEAD}[workspace]\n[workspace.dependencies]\na = \"1\"\n[dependencies]\na.workspace = true\n"))
            .unwrap();
        read(&format!("{HEAD}[dependencies]\na = {{ version = \"1\", features = [\"workspace\"] }}\n")).unwrap();
    }

    #[test]
    fn a_library_of_another_kind_is_refused() {
        let error = read("[package]\nname = \"a\"\n\n[lib]\nname = \"b\"\n").unwrap_err().to_string();
        assert!(error.contains("Cargo.toml:4: [lib] needs crate-type = [\"cdylib\"]"), "{error}");
        assert!(read("[package]\nname = \"a\"\n").is_err());
    }
}
