//! Reads `Cargo.lock`: crates of the public registry with their checksums, and crates of the project itself.

use registry::Digest;

use crate::error::{Error, Location};
use crate::steps::documents::Documents;
use crate::steps::manifest::{Node, Value};
use crate::text::quote;

pub const FILE: &str = "Cargo.lock";
const STAGE: &str = "dependencies";
const HOW: &str = "run `cargo generate-lockfile` and commit Cargo.lock";
/// What to do inside of a workspace, whose root has the lock file and is not part of the project.
pub const OWN_WORKSPACE: &str = "Inside of a workspace, cargo writes Cargo.lock at its root: add an empty [workspace] table to the project's \
    Cargo.toml first, and the project to `exclude` of the root";

/// The source of the public registry's crates, for its git index and its sparse index.
const REGISTRIES: [&str; 2] =
    ["registry+https://github.com/rust-lang/crates.io-index", concat!("sparse+https://index.", "crates.io/")];

/// Crates of one tool, including those for other platforms. Tools have fewer; applications have more.
const CRATES_MAX: usize = 300;
/// The public registry's own bounds.
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

/// The crates of a lock file.
#[derive(Debug, Clone, Default)]
pub struct Lock {
    /// Crates of the registry.
    pub pinned: Vec<Pinned>,
    /// Names of the project's own crates.
    pub own: Vec<String>,
}

impl Pinned {
    /// The name of the crate's directory in its archive.
    #[must_use]
    pub fn directory(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    /// A refusal of this crate, with its line in the lock file.
    pub fn refuse(&self, check: &str, message: &str) -> Error {
        refuse(check, &format!("{} {} {message}", self.name, self.version), self.line)
    }
}

/// Reads the project's lock file.
///
/// # Errors
/// The first crate, with its line, that comes from git or another registry or has no checksum.
pub fn read(documents: &Documents) -> Result<Lock, Error> {
    let missing = || {
        let message = format!("the file is missing; {HOW}. {OWN_WORKSPACE}");
        Error::failed(STAGE, "lock-file", message).at(Location::file(FILE))
    };
    let document = documents.get(FILE, STAGE)?.ok_or_else(missing)?;
    let packages = match document.find(&["package"]).map(|node| &node.value) {
        Some(Value::List(list)) => &list[..],
        _ => &[],
    };
    let mut lock = Lock::default();
    for node in packages {
        match parse_package(node)? {
            Crate::Pinned(pinned) => lock.pinned.push(pinned),
            Crate::Own(name) => lock.own.push(name),
        }
    }
    match lock.pinned.get(CRATES_MAX) {
        Some(pinned) => {
            Err(refuse("size", &format!("more than {CRATES_MAX} crates; remove dependencies"), pinned.line))
        }
        None => Ok(lock),
    }
}

enum Crate {
    Pinned(Pinned),
    Own(String),
}

fn parse_package(node: &Node) -> Result<Crate, Error> {
    let text = |key: &str| match node.find(&[key]) {
        Some(Node { value: Value::Text(text), line }) => Some((text.as_str(), *line)),
        _ => None,
    };
    let nameless = || refuse("lock-file", "a package has no name or no version", node.line);
    let ((name, line), (version, _)) = text("name").zip(text("version")).ok_or_else(nameless)?;
    if !is_plain(name, NAME_BYTES_MAX) || !is_plain(version, VERSION_BYTES_MAX) {
        let message = format!("{} {} is not a valid crate name and version", quote(name), quote(version));
        return Err(refuse("lock-file", &message, line));
    }
    let Some((source, source_line)) = text("source") else { return Ok(Crate::Own(name.into())) };
    if !REGISTRIES.contains(&source) {
        let message = format!("{name} comes from {}; only crates of the public registry are accepted", quote(source));
        return Err(refuse("source", &message, source_line));
    }
    let checksum = text("checksum").and_then(|(hex, _)| Digest::parse(&format!("sha256:{hex}")).ok());
    let checksum = checksum.ok_or_else(|| refuse("checksum", &format!("{name} has no checksum; {HOW}"), line))?;
    Ok(Crate::Pinned(Pinned { name: name.into(), version: version.into(), checksum, line }))
}

/// Whether a text can be part of a path without leaving its directory.
fn is_plain(text: &str, bytes_max: usize) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte);
    !text.is_empty() && text.len() <= bytes_max && !text.starts_with('.') && text.bytes().all(is_allowed)
}

fn refuse(check: &str, message: &str, line: u32) -> Error {
    Error::failed(STAGE, check, message).at(Location::line(FILE, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const HEAD: &str =
        "version = 4\n\n[[package]]\nname = \"greet\"\nversion = \"0.1.0\"\ndependencies = [\"itoa\"]\n\n";

    fn parse(text: &str) -> Result<Lock, Error> {
        read(&Documents::parse_here(&[(FILE.to_owned(), text.as_bytes().to_vec())].into())?)
    }

    fn assert_refused(package: &str, expected: &str) {
        let error = parse(&format!("{HEAD}{package}")).expect_err(package).to_string();
        assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
    }

    fn from_registry(name: &str, rest: &str) -> String {
        format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.18\"\nsource = \"{}\"\n{rest}", REGISTRIES[0])
    }

    #[test]
    fn a_lock_file_of_cargo_is_read() {
        let text = format!("{HEAD}{}", from_registry("itoa", &format!("checksum = \"{SUM}\"\n")));
        let lock = parse(&text).unwrap();
        let [itoa] = &lock.pinned[..] else { panic!("one crate") };
        assert_eq!(lock.own, ["greet"]);
        assert_eq!((itoa.directory().as_str(), itoa.line), ("itoa-1.0.18", 9));
        assert_eq!(itoa.checksum.to_hex(), SUM);
    }

    #[test]
    fn crates_of_other_sources_are_refused_with_their_line() {
        let from = |source: &str| format!("[[package]]\nname = \"x\"\nversion = \"1.0.0\"\nsource = \"{source}\"\n");
        assert_refused(
            &from("git+https://example.com/x#0123"),
            "Cargo.lock:11: x comes from \"git+https://example.com/x#0123\"",
        );
        assert_refused(&from("registry+https://example.com/index"), "only crates of the public registry are accepted");
        assert_refused(&from_registry("itoa", ""), "Cargo.lock:9: itoa has no checksum");
        assert_refused(&from_registry("itoa", "checksum = \"00\"\n"), "has no checksum");
        assert_refused(
            &from_registry("../up", &format!("checksum = \"{SUM}\"\n")),
            "is not a valid crate name and version",
        );
        assert_refused("[[package]]\nname = \"x\"\n", "Cargo.lock:8: a package has no name or no version");
        assert_refused("[[package]\n", "Cargo.lock:8: ");
    }

    #[test]
    fn a_missing_lock_file_is_refused_with_the_command_that_makes_it() {
        let error = read(&Documents::default()).expect_err("no lock file").to_string();
        assert!(error.contains("cargo generate-lockfile"), "{error}");
    }
}
