//! `Cargo.lock`: crates of the public registry with their checksums, and what lies in the project itself.

use std::collections::BTreeMap;

use registry::Digest;

use crate::error::{Error, Place};
use crate::steps::manifest::{Node, Value, from_toml};

pub const FILE: &str = "Cargo.lock";
const STAGE: &str = "dependencies";
const HOW: &str = "make it with `cargo generate-lockfile`, and commit it";

/// The public registry, by its index in git and over HTTP.
const REGISTRIES: [&str; 2] =
    ["registry+https://github.com/rust-lang/crates.io-index", concat!("sparse+https://index.", "crates.io/")];

/// With a dependency for every platform; beyond this a tool is an application.
const CRATES_MAX: usize = 300;
/// As long as the registry lets them be.
const NAME_BYTES_MAX: usize = 64;
const VERSION_BYTES_MAX: usize = 100;

/// A crate at one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    pub name: String,
    pub version: String,
    pub checksum: Digest,
    pub line: u32,
}

impl Pinned {
    /// Of the directory that the crate comes in.
    #[must_use]
    pub fn directory(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    pub fn refuse(&self, check: &str, message: &str) -> Error {
        refuse(check, &format!("{} {} {message}", self.name, self.version), self.line)
    }
}

/// Reads the project's lock file.
///
/// # Errors
/// With the line: what comes from git or from another registry, or has no checksum.
pub fn read(files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<Pinned>, Error> {
    let missing = || Error::failed(STAGE, "lock-file", format!("the file is missing: {HOW}"), Place::file(FILE));
    parse(files.get(FILE).ok_or_else(missing)?)
}

fn parse(bytes: &[u8]) -> Result<Vec<Pinned>, Error> {
    let malformed =
        |message: &str, line| Error::failed(STAGE, "lock-file", message, Place { line, ..Place::file(FILE) });
    let text = std::str::from_utf8(bytes).map_err(|_| malformed("the file is not UTF-8", None))?;
    let document = from_toml(text).map_err(|error| malformed(&error.message, error.line))?;
    let packages = match document.at(&["package"]).map(|node| &node.value) {
        Some(Value::List(list)) => &list[..],
        _ => &[],
    };
    let pinned = packages.iter().filter_map(|node| package(node).transpose()).collect::<Result<Vec<_>, _>>()?;
    match pinned.get(CRATES_MAX) {
        Some(pinned) => Err(refuse("size", &format!("at most {CRATES_MAX} crates"), pinned.line)),
        None => Ok(pinned),
    }
}

/// Nothing for a crate that lies in the project.
fn package(node: &Node) -> Result<Option<Pinned>, Error> {
    let text = |key: &str| match node.at(&[key]) {
        Some(Node { value: Value::Text(text), line }) => Some((text.as_str(), *line)),
        _ => None,
    };
    let nameless = || refuse("lock-file", "a package has no name or no version", node.line);
    let ((name, line), (version, _)) = text("name").zip(text("version")).ok_or_else(nameless)?;
    let Some((source, source_line)) = text("source") else { return Ok(None) };
    if !REGISTRIES.contains(&source) {
        let message = format!("{name} comes from {source:?}; only crates of the public registry are taken");
        return Err(refuse("source", &message, source_line));
    }
    if !is_plain(name, NAME_BYTES_MAX) || !is_plain(version, VERSION_BYTES_MAX) {
        return Err(refuse("lock-file", &format!("{name:?} {version:?} names no crate"), line));
    }
    let checksum = text("checksum").and_then(|(hex, _)| Digest::parse(&format!("sha256:{hex}")).ok());
    let checksum = checksum.ok_or_else(|| refuse("checksum", &format!("{name} has no checksum; {HOW}"), line))?;
    Ok(Some(Pinned { name: name.into(), version: version.into(), checksum, line }))
}

/// A part of a path that is no other.
fn is_plain(text: &str, bytes_max: usize) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte);
    !text.is_empty() && text.len() <= bytes_max && !text.starts_with('.') && text.bytes().all(is_allowed)
}

fn refuse(check: &str, message: &str, line: u32) -> Error {
    Error::failed(STAGE, check, message, Place::line(FILE, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const HEAD: &str =
        "version = 4\n\n[[package]]\nname = \"greet\"\nversion = \"0.1.0\"\ndependencies = [\"itoa\"]\n\n";

    fn refused(package: &str, expected: &str) {
        let error = parse(format!("{HEAD}{package}").as_bytes()).expect_err(package).to_string();
        assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
    }

    fn from_registry(name: &str, rest: &str) -> String {
        format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.18\"\nsource = \"{}\"\n{rest}", REGISTRIES[0])
    }

    #[test]
    fn what_cargo_writes_is_read() {
        let text = format!("{HEAD}{}", from_registry("itoa", &format!("checksum = \"{SUM}\"\n")));
        let [itoa] = &parse(text.as_bytes()).unwrap()[..] else { panic!("one crate") };
        assert_eq!((itoa.directory().as_str(), itoa.line), ("itoa-1.0.18", 9));
        assert_eq!(itoa.checksum.to_hex(), SUM);
    }

    #[test]
    fn what_is_not_of_the_registry_is_refused_with_its_line() {
        let from = |source: &str| format!("[[package]]\nname = \"x\"\nversion = \"1.0.0\"\nsource = \"{source}\"\n");
        refused(
            &from("git+https://example.com/x#0123"),
            "Cargo.lock:11: x comes from \"git+https://example.com/x#0123\"",
        );
        refused(&from("registry+https://example.com/index"), "only crates of the public registry");
        refused(&from_registry("itoa", ""), "Cargo.lock:9: itoa has no checksum");
        refused(&from_registry("itoa", "checksum = \"00\"\n"), "has no checksum");
        refused(&from_registry("../up", &format!("checksum = \"{SUM}\"\n")), "names no crate");
        refused("[[package]]\nname = \"x\"\n", "Cargo.lock:8: a package has no name or no version");
        refused("[[package]\n", "Cargo.lock:8: ");
    }

    #[test]
    fn a_project_without_one_is_told_how_to_make_it() {
        let error = read(&BTreeMap::new()).expect_err("no lock file").to_string();
        assert!(error.contains("cargo generate-lockfile"), "{error}");
    }
}
