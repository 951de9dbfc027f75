//! `requirements.lock`: exact versions with hashes, and nothing else.

use std::collections::BTreeSet;
use std::str::FromStr;

use pep508_rs::{MarkerEnvironment, MarkerEnvironmentBuilder, MarkerTree, Requirement, VerbatimUrl, VersionOrUrl};
use registry::Digest;

use crate::error::{Error, Place};

pub const FILE: &str = "requirements.lock";
const STAGE: &str = "dependencies";
const HOW: &str = "make it with `uv export --no-dev --no-emit-project --format requirements-txt -o requirements.lock` \
or `uv pip compile --generate-hashes pyproject.toml -o requirements.lock`";
/// Beyond this a tool is an application.
const PACKAGES_MAX: usize = 100;
/// Name, version and marker; the marker's parser calls itself for each parenthesis.
const REQUIREMENT_BYTES_MAX: usize = 4 << 10;
const PARENTHESES_MAX: usize = 32;

/// One pinned package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// Normalised: lower case, `-` between words.
    pub name: String,
    pub version: String,
    pub hashes: BTreeSet<Digest>,
    pub line: u32,
}

/// Reads the lock file's packages for this platform.
///
/// # Errors
/// With the line: an option, a path or URL, an unpinned or unhashed package.
pub fn parse(bytes: &[u8]) -> Result<Vec<Pinned>, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| refuse("utf-8", "the file is not UTF-8", 1))?;
    let environment = environment()?;
    let mut packages = Vec::new();
    for (line, entry) in logical_lines(text) {
        if let Some(pinned) = package(&entry, line, &environment)? {
            packages.push(pinned);
        }
    }
    match packages.get(PACKAGES_MAX) {
        Some(pinned) => Err(refuse("size", &format!("at most {PACKAGES_MAX} packages"), pinned.line)),
        None => Ok(packages),
    }
}

/// What to tell an author whose lock file is missing.
pub fn missing(has_uv_lock: bool) -> Error {
    let why = if has_uv_lock { "uv.lock has to be exported" } else { "dependencies need a lock file with hashes" };
    Error::failed(STAGE, "lock-file", format!("{why}: {HOW}"), Place::file(FILE))
}

/// Joins lines that end in a backslash; drops comments and blank lines.
fn logical_lines(text: &str) -> Vec<(u32, String)> {
    let mut entries: Vec<(u32, String)> = Vec::new();
    let mut continued = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let code = if line.starts_with('#') { "" } else { line.split_once(" #").map_or(line, |(code, _)| code) };
        let (code, more) = code.trim().strip_suffix('\\').map_or((code.trim(), false), |code| (code.trim(), true));
        match entries.last_mut() {
            Some((_, entry)) if continued => {
                entry.push(' ');
                entry.push_str(code);
            }
            _ if code.is_empty() => {}
            _ => entries.push((number, code.into())),
        }
        continued = more;
    }
    entries
}

fn package(entry: &str, line: u32, environment: &MarkerEnvironment) -> Result<Option<Pinned>, Error> {
    if entry.starts_with('-') || entry.starts_with('.') || entry.starts_with('/') {
        let message = format!("{entry:?} is no pinned package; {HOW}");
        return Err(refuse("pinned", &message, line));
    }
    let (requirement, hashes) = entry
        .split_once(" --hash")
        .map_or((entry, String::new()), |(requirement, rest)| (requirement, format!("--hash{rest}")));
    if requirement.len() > REQUIREMENT_BYTES_MAX || requirement.matches('(').count() > PARENTHESES_MAX {
        return Err(refuse("requirement", "the requirement is too long or too deeply nested", line));
    }
    let requirement = Requirement::<VerbatimUrl>::from_str(requirement.trim())
        .map_err(|error| refuse("requirement", &error.to_string(), line))?;
    if !applies(&requirement.marker, environment) {
        return Ok(None);
    }
    let version = exact(&requirement)
        .ok_or_else(|| refuse("pinned", &format!("{} must be pinned as `name==version`", requirement.name), line))?;
    let hashes = hashes.split_whitespace().map(|option| hash(option, line)).collect::<Result<BTreeSet<_>, _>>()?;
    if hashes.is_empty() {
        return Err(refuse("hashes", &format!("{} has no --hash; {HOW}", requirement.name), line));
    }
    Ok(Some(Pinned { name: requirement.name.to_string(), version, hashes, line }))
}

fn applies(marker: &MarkerTree, environment: &MarkerEnvironment) -> bool {
    marker.evaluate(environment, &[])
}

fn exact(requirement: &Requirement<VerbatimUrl>) -> Option<String> {
    let Some(VersionOrUrl::VersionSpecifier(specifiers)) = &requirement.version_or_url else { return None };
    let [only] = &specifiers[..] else { return None };
    (*only.operator() == pep440_rs::Operator::Equal).then(|| only.version().to_string())
}

fn hash(option: &str, line: u32) -> Result<Digest, Error> {
    let value = option
        .strip_prefix("--hash=")
        .ok_or_else(|| refuse("option", &format!("{option:?} is no option of a lock file"), line))?;
    Digest::parse(value).map_err(|_| refuse("hashes", &format!("{value:?} is no sha256 hash"), line))
}

/// The platform that tools run on: CPython 3.14 on WASI.
fn environment() -> Result<MarkerEnvironment, Error> {
    MarkerEnvironment::try_from(MarkerEnvironmentBuilder {
        implementation_name: "cpython",
        implementation_version: "3.14.0",
        os_name: "posix",
        platform_machine: "wasm32",
        platform_python_implementation: "CPython",
        platform_release: "",
        platform_system: "WASI",
        platform_version: "",
        python_full_version: "3.14.0",
        python_version: "3.14",
        sys_platform: "wasi",
    })
    .map_err(Error::internal)
}

fn refuse(check: &str, message: &str, line: u32) -> Error {
    Error::failed(STAGE, check, message, Place::line(FILE, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn refused(text: &str, expected: &str) {
        let error = parse(text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
    }

    #[test]
    fn what_uv_writes_is_read() {
        let text = format!(
            "# made by uv\n\nAttrs==25.1.0 \\\n    --hash={HASH} \\\n    --hash={HASH}\n    # via w\n\
             colorama==0.4.6 ; sys_platform == 'win32' \\\n    --hash={HASH}\nidna==3.10 --hash={HASH}  # via x\n"
        );
        let packages = parse(text.as_bytes()).unwrap();
        let names: Vec<_> = packages.iter().map(|p| (p.name.as_str(), p.version.as_str(), p.line)).collect();
        assert_eq!(names, [("attrs", "25.1.0", 3), ("idna", "3.10", 9)]);
    }

    #[test]
    fn refusals_name_the_line() {
        refused("six==1.16.0\n", "requirements.lock:1: six has no --hash");
        refused(&format!("\nsix>=1 --hash={HASH}\n"), "requirements.lock:2: six must be pinned");
        refused(&format!("six==1.16.0 ; {}sys_platform", "(".repeat(60_000)), "too deeply nested");
        refused("--index-url https://example.com\n", "no pinned package");
        refused("-e .\n", "--no-emit-project");
        refused("./wheel.whl\n", "no pinned package");
        refused(&format!("six @ https://example.com/six.whl --hash={HASH}\n"), "must be pinned");
        refused("six==1.16.0 --hash=md5:00\n", "no sha256 hash");
    }
}
