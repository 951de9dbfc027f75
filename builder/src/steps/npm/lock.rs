//! `package-lock.json`: the packages of a project, their directories, and the hashes of their archives.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::decoded_text::decode_text;
use crate::error::{Error, Location};
use crate::text::{quote, show};

pub const FILE: &str = "package-lock.json";
const PROJECT_FILE: &str = "package.json";
const STAGE: &str = "dependencies";
const HOW: &str = "make it with `npm install --package-lock-only` and commit it";
/// Packages of a tool. npm packages have many dependencies; a project with more is an application.
const PACKAGES_MAX: usize = 300;
/// Dependencies that a refusal names. The file has all of them.
const DIFFERENT_NAMED_MAX: usize = 10;
const SHA512_BYTES: usize = 64;
/// Bytes of a version. The longest in use have a commit in them.
const VERSION_BYTES_MAX: usize = 200;
const DIRECTORY: &str = "node_modules/";
/// Optional packages that the log names as left out.
const LEFT_OUT_SHOWN_MAX: usize = 10;
/// The beginnings of dependencies that are not from a registry, but from a workspace or a directory.
const ELSEWHERE: [&str; 6] = ["workspace:", "catalog:", "file:", "link:", "portal:", "patch:"];

/// One package of the lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// The directory, such as `node_modules/a/node_modules/b`.
    pub directory: String,
    /// The name in the registry: `name` or `@scope/name`.
    pub name: String,
    pub version: String,
    pub sha512: [u8; SHA512_BYTES],
    pub line: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lock {
    #[serde(default)]
    lockfile_version: u32,
    #[serde(default)]
    packages: BTreeMap<String, LockEntry>,
}

#[derive(Deserialize)]
struct LockEntry {
    name: Option<String>,
    version: Option<String>,
    resolved: Option<String>,
    integrity: Option<String>,
    #[serde(default)]
    link: bool,
    #[serde(default)]
    dev: bool,
    /// Whether the package is optional. Optional packages are for certain kinds of machines, which tools never run on.
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct ProjectFile {
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
}

/// Reads the packages that a tool needs when it runs.
///
/// # Errors
/// When the format has another version, or a package is not from a registry or has no hash, with the line. When the
/// lock file is not this project's, without a line.
pub fn parse(bytes: &[u8], project_file: &[u8]) -> Result<Vec<Locked>, Error> {
    let text =
        decode_text(bytes).map_err(|problem| refuse("utf-8", &problem.to_string(), problem.line.unwrap_or(1)))?;
    let lock: Lock = serde_json::from_str(text).map_err(|error| refuse_malformed(&error))?;
    if !matches!(lock.lockfile_version, 2 | 3) {
        return Err(refuse("lock-file", &format!("lockfileVersion must be 2 or 3: {HOW}"), 1));
    }
    let root = lock.packages.get("").map(|root| &root.dependencies);
    let project_file = decode_text(project_file).map_err(Error::internal)?;
    let project: ProjectFile = serde_json::from_str(project_file).map_err(Error::internal)?;
    if root.is_none_or(|root| *root != project.dependencies) {
        let locked = root.cloned().unwrap_or_default();
        let names: BTreeSet<_> = locked.keys().chain(project.dependencies.keys()).collect();
        let different = names.into_iter().filter(|name| locked.get(*name) != project.dependencies.get(*name));
        let different: Vec<_> = different.take(DIFFERENT_NAMED_MAX).map(|name| quote(name)).collect();
        let different = different.join(", ");
        let message = format!("the lock file has other dependencies than {PROJECT_FILE} ({different}): {HOW}");
        return Err(Error::failed(STAGE, "lock-file", message).at(Location::file(FILE)));
    }
    let needed = lock.packages.iter().filter(|(path, entry)| !path.is_empty() && !entry.dev && !entry.optional);
    let needed: Vec<_> = needed.collect();
    if needed.len() > PACKAGES_MAX {
        let message = format!("the lock file has {} packages; {PACKAGES_MAX} are the limit", needed.len());
        return Err(Error::failed(STAGE, "size", message).at(Location::file(FILE)));
    }
    let lines = find_lines(text);
    let line = |path: &str| lines.get(path).copied().unwrap_or(1);
    needed.into_iter().map(|(path, entry)| read_locked(path, entry, line(path))).collect()
}

/// The error for a missing lock file, which explains how to create it. With the lock file of another tool, `foreign` has its command.
pub fn refuse_missing(project_file: &[u8], foreign: Option<&str>) -> Error {
    if let Some(error) = refuse_workspace_dependency(project_file) {
        return error;
    }
    let how = foreign.unwrap_or(HOW);
    let message = format!(
        "dependencies need a lock file with hashes: {how}. Inside of a workspace, npm writes it at the root: add `--workspaces=false`"
    );
    Error::failed(STAGE, "lock-file", message).at(Location::file(FILE))
}

/// Refuses a dependency that only a workspace, or another directory, has: npm makes no lock file for it.
fn refuse_workspace_dependency(project_file: &[u8]) -> Option<Error> {
    let project: ProjectFile = serde_json::from_slice(project_file).ok()?;
    let is_elsewhere = |source: &str| ELSEWHERE.iter().any(|protocol| source.starts_with(protocol));
    let (name, source) = project.dependencies.iter().find(|(_, source)| is_elsewhere(source))?;
    let line = find_lines(std::str::from_utf8(project_file).unwrap_or_default()).get(name.as_str()).copied();
    let message = format!(
        "{} is {}, which is defined outside of this project, and a build has only the project's files. Give the version of a registry, or \
         copy the modules into the project and import them by their path",
        show(name),
        quote(source)
    );
    Some(Error::failed(STAGE, "registry", message).at(Location { line, ..Location::file(PROJECT_FILE) }))
}

/// Lines of the log about packages that tools never load: the number of those for development, of which a project has hundreds, and the
/// names of the others.
#[must_use]
pub fn find_left_out(bytes: &[u8]) -> Vec<String> {
    let Ok(lock) = serde_json::from_slice::<Lock>(bytes) else { return Vec::new() };
    let packages = || lock.packages.iter().filter(|(path, _)| !path.is_empty());
    let development = packages().filter(|(_, entry)| entry.dev).count();
    let optional = packages().filter(|(_, entry)| !entry.dev && entry.optional);
    let names = optional.map(|(path, _)| path.rsplit(DIRECTORY).next().unwrap_or(path));
    let names: Vec<&str> = names.filter(|name| is_name(name)).collect();
    let shown = names.iter().take(LEFT_OUT_SHOWN_MAX).copied().collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(LEFT_OUT_SHOWN_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let development =
        (development > 0).then(|| format!("{FILE}: packages for development are left out: {development}"));
    let optional = (!names.is_empty())
        .then(|| format!("{FILE}: optional packages, which are for certain machines, are left out: {shown}{more}"));
    development.into_iter().chain(optional).collect()
}

fn read_locked(path: &str, entry: &LockEntry, line: u32) -> Result<Locked, Error> {
    let inside = path.strip_prefix(DIRECTORY).filter(|rest| rest.split(&format!("/{DIRECTORY}")).all(is_name));
    let Some(inside) = inside.filter(|_| !entry.link) else {
        return Err(refuse(
            "registry",
            &format!(
                "{} is a directory; a package comes from a registry. Import a package of a workspace by its path within the project, \
                 such as `./{}/index.js`, and remove it from the dependencies",
                quote(path),
                show(path.rsplit('/').next().unwrap_or(path))
            ),
            line,
        ));
    };
    let own = inside.rsplit(&format!("/{DIRECTORY}")).next().unwrap_or(inside);
    let name = entry.name.as_deref().unwrap_or(own);
    let version = entry.version.as_deref().unwrap_or_default();
    if !is_name(name) || !is_version(version) {
        let message = format!("{}@{} is not a package of a registry", show(name), show(version));
        return Err(refuse("registry", &message, line));
    }
    if let Some(resolved) = entry.resolved.as_deref().filter(|resolved| !is_archive_of(resolved, name, version)) {
        let message = format!("{name} comes from {}; a package comes from a registry", quote(resolved));
        return Err(refuse("registry", &message, line));
    }
    let sha512 = entry
        .integrity
        .as_deref()
        .and_then(parse_sha512)
        .ok_or_else(|| refuse("hashes", &format!("{name}@{version} has no sha512 in `integrity`: {HOW}"), line))?;
    Ok(Locked { directory: path.into(), name: name.into(), version: version.into(), sha512, line })
}

/// Whether a URL has the path at which every registry keeps the package's archive.
fn is_archive_of(resolved: &str, name: &str, version: &str) -> bool {
    let address = resolved.strip_prefix("https://").or_else(|| resolved.strip_prefix("http://"));
    address.is_some_and(|address| address.replace("%2f", "/").ends_with(&build_archive_path(name, version)))
}

/// The path of an archive, such as `/name/-/name-1.0.0.tgz`.
pub fn build_archive_path(name: &str, version: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    format!("/{name}/-/{last}-{version}.tgz")
}

/// Whether a text is a valid `name` or `@scope/name`, which is also used as a path.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
        !part.is_empty() && part.len() <= 214 && !part.starts_with('.') && part.bytes().all(is_plain)
    };
    match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| is_part(scope) && is_part(name)),
        None => is_part(name),
    }
}

fn is_version(version: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'+');
    version.len() <= VERSION_BYTES_MAX
        && version.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
        && version.bytes().all(is_plain)
}

fn parse_sha512(integrity: &str) -> Option<[u8; SHA512_BYTES]> {
    let encoded = integrity.split_whitespace().find_map(|hash| hash.strip_prefix("sha512-"))?;
    STANDARD.decode(encoded).ok()?.try_into().ok()
}

/// The lines that begin with a key, by key. npm starts each package's entry on such a line.
fn find_lines(text: &str) -> HashMap<&str, u32> {
    let mut lines = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        if let Some((key, _)) = line.trim_start().strip_prefix('"').and_then(|line| line.split_once("\":")) {
            lines.entry(key).or_insert(number);
        }
    }
    lines
}

fn refuse_malformed(error: &serde_json::Error) -> Error {
    refuse("lock-file", &format!("it is not a lock file of npm: {error}"), u32::try_from(error.line()).unwrap_or(1))
}

fn refuse(check: &str, message: &str, line: u32) -> Error {
    Error::failed(STAGE, check, message).at(Location::line(FILE, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integrity() -> String {
        format!("sha512-{}", STANDARD.encode([7; SHA512_BYTES]))
    }

    fn lock(packages: &str) -> Result<Vec<Locked>, Error> {
        let text = format!(
            "{{\"lockfileVersion\": 3, \"packages\": {{\n\"\": {{\"dependencies\": {{\"a\": \"^1\"}}}},\n{packages}\n}}}}"
        );
        parse(text.as_bytes(), b"{\"dependencies\": {\"a\": \"^1\"}}")
    }

    #[test]
    fn packages_that_are_left_out_are_named_in_the_log() {
        let packages = r#""node_modules/a": {"version": "1.0.0"}, "node_modules/eslint": {"dev": true},
            "node_modules/a/node_modules/@s/dev": {"dev": true, "optional": true}, "node_modules/fsevents": {"optional": true}"#;
        let lines =
            find_left_out(format!("{{\"lockfileVersion\": 3, \"packages\": {{\"\": {{}}, {packages}}}}}").as_bytes());
        let expected = [
            "package-lock.json: packages for development are left out: 2",
            "package-lock.json: optional packages, which are for certain machines, are left out: fsevents",
        ];
        assert_eq!(lines, expected);
        assert!(find_left_out(b"{}").is_empty() && find_left_out(b"x").is_empty());
    }

    #[test]
    fn dependencies_of_a_workspace_are_refused_with_their_line() {
        for source in
            ["workspace:*", "workspace:^1.0.0", "catalog:", "catalog:react18", "file:../shared", "link:../shared"]
        {
            let project_file = format!("{{\n\"dependencies\": {{\n\"a\": \"^1\",\n\"shared\": \"{source}\"\n}}}}");
            let refusal = refuse_missing(project_file.as_bytes(), Some("x")).to_string();
            assert!(refusal.contains(&format!("package.json:4: shared is \"{source}\"")), "{refusal}");
        }
        let refusal = refuse_missing(b"{\"dependencies\": {\"a\": \"^1\"}}", Some("do this")).to_string();
        assert!(
            refusal.contains("package-lock.json: dependencies need a lock file with hashes: do this."),
            "{refusal}"
        );
        assert!(refuse_missing(b"{}", None).to_string().contains("npm install --package-lock-only"));
    }

    #[test]
    fn packages_for_the_run_are_read_and_others_are_left_out() {
        let hash = integrity();
        let packages = lock(&format!(
            "\"node_modules/a\": {{\"version\": \"1.0.0\", \"resolved\": \"https://r.example/npm/a/-/a-1.0.0.tgz\", \"integrity\": \"{hash}\"}},\n\
             \"node_modules/@s/b/node_modules/c\": {{\"name\": \"@x/y\", \"version\": \"2.0.0-rc.1+b\", \"integrity\": \"sha1-x {hash}\"}},\n\
             \"node_modules/d\": {{\"dev\": true, \"link\": true}},\n\
             \"node_modules/e-linux\": {{\"optional\": true}}"
        ));
        let packages = packages.unwrap();
        let found: Vec<_> = packages.iter().map(|one| (&*one.directory, &*one.name, &*one.version, one.line)).collect();
        let nested = ("node_modules/@s/b/node_modules/c", "@x/y", "2.0.0-rc.1+b", 4);
        assert_eq!(found, [nested, ("node_modules/a", "a", "1.0.0", 3)]);
        assert_eq!(packages[0].sha512, [7; SHA512_BYTES]);
        assert_eq!(build_archive_path("@x/y", "2.0.0"), "/@x/y/-/y-2.0.0.tgz");
    }

    #[test]
    fn packages_from_no_registry_are_refused_with_their_line() {
        let hash = integrity();
        for (path, entry, expected) in [
            ("node_modules/a", "\"link\": true", "package-lock.json:3: \"node_modules/a\" is a directory"),
            ("packages/a", "\"version\": \"1.0.0\"", "is a directory"),
            ("node_modules/../a", "\"version\": \"1.0.0\"", "is a directory"),
            ("node_modules/a/../../b", "\"version\": \"1.0.0\"", "is a directory"),
            ("node_modules/a/node_modules/.b", "\"version\": \"1.0.0\"", "is a directory"),
            (
                "node_modules/a",
                "\"version\": \"1.0.0\", \"resolved\": \"git+ssh://git@h.example/a.git#1\"",
                "comes from \"git+ssh",
            ),
            (
                "node_modules/a",
                "\"version\": \"1.0.0\", \"resolved\": \"https://h.example/a.tgz\"",
                "comes from \"https",
            ),
            ("node_modules/a", "\"version\": \"1.0.0\", \"resolved\": \"file:../a\"", "comes from \"file"),
            ("node_modules/a", "\"version\": \"file:../a\"", "not a package of a registry"),
            ("node_modules/a", "\"version\": \"1.0.0\", \"name\": \"../a\"", "not a package of a registry"),
            ("node_modules/a", "\"version\": \"1.0.0\"", "no sha512"),
            ("node_modules/a", "\"version\": \"1.0.0\", \"integrity\": \"sha512-AAAA\"", "no sha512"),
        ] {
            let error = lock(&format!("\"{path}\": {{{entry}}}")).expect_err(entry).to_string();
            assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
        }
        assert!(lock(&format!("\"node_modules/a\": {{\"version\": \"1.0.0\", \"integrity\": \"{hash}\"}}")).is_ok());
    }

    #[test]
    fn a_lock_file_is_this_projects_and_of_a_known_format() {
        let refused = |lock: &str, project: &str, expected: &str| {
            let error = parse(lock.as_bytes(), project.as_bytes()).expect_err(lock).to_string();
            assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
        };
        refused("{}", "{}", "lockfileVersion must be 2 or 3");
        refused("{\"lockfileVersion\": 1}", "{}", "npm install --package-lock-only");
        refused("{\"lockfileVersion\": 3,\n x", "{}", "package-lock.json:2: ");
        let root = "{\"lockfileVersion\": 3, \"packages\": {\"\": {}}}";
        refused(root, "{\"dependencies\": {\"a\": \"1\"}}", "other dependencies than package.json");
        assert_eq!(parse(root.as_bytes(), b"{}").unwrap(), []);
    }
}
