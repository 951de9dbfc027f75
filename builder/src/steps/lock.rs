//! `requirements.lock`: exact versions with hashes, and nothing else.
//!
//! The parser accepts the part of pip's format that `uv export` and `pip-compile` write for packages of an index. It
//! expands no variables, follows no options and accepts no URLs: a line of the platform's own package, which may have one,
//! is skipped. Its cost is linear in the length of the file.

mod directory;
mod marker;
pub mod name;
mod requirement;

use std::collections::BTreeSet;
use std::str::FromStr;

use pep440_rs::Version;
use registry::Digest;

use crate::decoded_text::decode_text;
use crate::error::{Error, Location};
use crate::text::quote;
use marker::PLATFORM;
pub use requirement::check_pins;

pub const FILE: &str = "requirements.lock";
const STAGE: &str = "dependencies";
/// The platform's own package, which is part of the image. A project may declare it for tests under plain CPython. Nothing
/// is downloaded for it, whatever its line says.
pub const OWN_PACKAGE: &str = "amigo-tool-scaffold";
const HOW: &str = "make it with `uv export --no-dev --no-emit-project --format requirements-txt -o requirements.lock` \
or `uv pip compile --generate-hashes pyproject.toml -o requirements.lock`";
/// Packages that the log names as left out. A lock file for all platforms has a few.
const LEFT_OUT_SHOWN_MAX: usize = 20;
/// Packages of a tool. A project with more is an application.
const PACKAGES_MAX: usize = 100;
/// Hashes of a package; releases with the most files have a few hundred.
const HASHES_MAX: usize = 1_000;
/// Bytes of a version; the longest in use have about forty.
const VERSION_BYTES_MAX: usize = 100;

/// One pinned package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// The normalised name: lower case, `-` between words.
    pub name: String,
    /// The version, normalised as PEP 440 defines.
    pub version: Version,
    pub hashes: BTreeSet<Digest>,
    pub line: u32,
}

/// Reads the lock file's packages for this platform.
///
/// # Errors
/// When the file has an option, a path, a URL, or a package without a version or hash; with the line.
pub fn parse(bytes: &[u8]) -> Result<Vec<Pinned>, Error> {
    let text =
        decode_text(bytes).map_err(|problem| refuse("utf-8", &problem.to_string(), problem.line.unwrap_or(1)))?;
    let mut packages = Vec::new();
    for (line, entry) in join_lines(text) {
        packages.extend(parse_package(&entry, line)?);
        if packages.len() > PACKAGES_MAX {
            return Err(refuse("size", &format!("at most {PACKAGES_MAX} packages"), line));
        }
    }
    Ok(packages)
}

/// The line of the platform's own package, if the lock file has it.
#[must_use]
pub fn find_own_line(bytes: &[u8]) -> Option<u32> {
    let entries = join_lines(decode_text(bytes).ok()?);
    entries
        .into_iter()
        .find(|(_, entry)| name::split_name(entry).is_some_and(|(name, _)| name == OWN_PACKAGE))
        .map(|(line, _)| line)
}

/// The error for a missing lock file, which explains how to create it. With the lock file of another tool, `foreign` has its command.
pub fn refuse_missing(has_uv_lock: bool, foreign: Option<String>) -> Error {
    const NEEDED: &str = "dependencies need a lock file with hashes";
    let message = match foreign {
        _ if has_uv_lock => format!("uv.lock has to be exported: {HOW}"),
        Some(foreign) => format!("{NEEDED}: {foreign}"),
        None => format!("{NEEDED}: {HOW}"),
    };
    Error::failed(STAGE, "lock-file", message).at(Location::file(FILE))
}

/// Lines of the log about packages that are not for the platform of tools.
#[must_use]
pub fn find_left_out(bytes: &[u8]) -> Vec<String> {
    let skipped = |(line, entry): (u32, String)| {
        let requirement = entry.split_once(" --hash").map_or(&*entry, |(requirement, _)| requirement);
        let (name, rest) = name::split_name(requirement).filter(|(name, _)| name != OWN_PACKAGE)?;
        let marker = rest.split_once(';')?.1.trim();
        let is_left_out = matches!(marker::applies(marker), Ok(false));
        let marker = quote(marker);
        is_left_out.then(|| {
            format!("{FILE}:{line}: {name} is left out, since its marker is false for tools ({PLATFORM}): {marker}")
        })
    };
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let mut lines: Vec<String> = join_lines(text).into_iter().filter_map(skipped).collect();
    let more = lines.len().saturating_sub(LEFT_OUT_SHOWN_MAX);
    lines.truncate(LEFT_OUT_SHOWN_MAX);
    lines.extend((more > 0).then(|| format!("{FILE}: {more} more packages are left out by their markers")));
    lines
}

/// Joins lines that end in a backslash; drops comments and blank lines.
fn join_lines(text: &str) -> Vec<(u32, String)> {
    let mut entries: Vec<(u32, String)> = Vec::new();
    let mut continued = false;
    // As pip, which also ends lines at a carriage return alone.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
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

/// Parses `name[extra]==version ; marker --hash=sha256:…`. `None` when the marker is of another platform, and for the
/// platform's own package.
fn parse_package(entry: &str, line: u32) -> Result<Option<Pinned>, Error> {
    let no_package = || refuse("pinned", &format!("{} is not a pinned package; {HOW}", quote(entry)), line);
    let (requirement, hashes) = entry
        .split_once(" --hash")
        .map_or((entry, String::new()), |(requirement, rest)| (requirement, format!("--hash{rest}")));
    let explained = directory::explain(requirement)
        .map(|why| refuse("pinned", &format!("{} is not a pinned package: {why}; {HOW}", quote(entry)), line));
    let Some((name, rest)) = name::split_name(requirement) else { return Err(explained.unwrap_or_else(no_package)) };
    if name == OWN_PACKAGE {
        return Ok(None);
    }
    if let Some(explained) = explained {
        return Err(explained);
    }
    let (pin, marker) = rest.split_once(';').map_or((rest, None), |(pin, marker)| (pin, Some(marker)));
    let applies = marker.map_or(Ok(true), |marker| marker::applies(marker.trim()));
    if !applies.map_err(|reason| refuse("marker", &format!("{name}: {reason}"), line))? {
        return Ok(None);
    }
    let unpinned = || refuse("pinned", &format!("{name} must be pinned as `name==version`"), line);
    let version = parse_version(pin).ok_or_else(unpinned)?;
    let hashes = hashes.split_whitespace().map(|option| hash(option, line)).collect::<Result<BTreeSet<_>, _>>()?;
    if hashes.is_empty() {
        return Err(refuse("hashes", &format!("{name} has no --hash; {HOW}"), line));
    }
    if hashes.len() > HASHES_MAX {
        return Err(refuse("hashes", &format!("{name} has more than {HASHES_MAX} hashes"), line));
    }
    Ok(Some(Pinned { name, version, hashes, line }))
}

/// The version of `[extra] == version`. Extras are pinned as packages of their own.
fn parse_version(pin: &str) -> Option<Version> {
    let pin = pin.trim();
    let pin = match pin.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1.trim_start(),
        None => pin,
    };
    let version = pin.strip_prefix("==")?.trim();
    let is_short = version.len() <= VERSION_BYTES_MAX && !version.starts_with('=');
    is_short.then(|| Version::from_str(version).ok()).flatten()
}

fn hash(option: &str, line: u32) -> Result<Digest, Error> {
    let value = option
        .strip_prefix("--hash=")
        .ok_or_else(|| refuse("option", &format!("{} is not an option of a lock file", quote(option)), line))?;
    Digest::parse(value).map_err(|_| refuse("hashes", &format!("{} is not a sha256 hash", quote(value)), line))
}

fn refuse(check: &str, message: &str, line: u32) -> Error {
    Error::failed(STAGE, check, message).at(Location::line(FILE, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn assert_refused(text: &str, expected: &str) {
        let error = parse(text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
        assert!(error.len() < 1_000, "{} bytes", error.len());
    }

    #[test]
    fn lock_files_of_uv_are_read() {
        let text = format!(
            "# made by uv\n\nAttrs==25.1.0 \\\n    --hash={HASH} \\\n    --hash={HASH}\n    # via w\n\
             colorama==0.4.6 ; sys_platform == 'win32' \\\n    --hash={HASH}\nidna==3.10 --hash={HASH}  # via x\n\
             PySocks[a,b] == 1.7.1.RC1; python_version > \"3\" --hash={HASH}\n"
        );
        let packages = parse(text.as_bytes()).unwrap();
        let names: Vec<_> = packages.iter().map(|p| (p.name.as_str(), p.version.to_string(), p.line)).collect();
        let expected = [("attrs", "25.1.0", 3), ("idna", "3.10", 9), ("pysocks", "1.7.1rc1", 10)];
        assert_eq!(names, expected.map(|(name, version, line)| (name, version.to_owned(), line)));
    }

    /// The lines of `uv export`, of `uv pip compile`, and others that uv and pip accept.
    #[test]
    fn the_platforms_own_package_is_skipped() {
        for line in [
            format!(
                " @ http://user:token@127.0.0.1:8080/v1/acme/tool/amigo_tool_scaffold.tar.gz \\\n    --hash={HASH}"
            ),
            " @ git+https://host.example/scaffold@0123 ; python_version > '3'".into(),
            "[x] @ file:///scaffold".into(),
            format!("==0.1.0 --hash={HASH}"),
        ] {
            for name in ["amigo-tool-scaffold", "amigo_tool_scaffold", "Amigo.Tool_Scaffold"] {
                let text = format!("{name}{line}\nidna==3.10 --hash={HASH}\n");
                let packages = parse(text.as_bytes()).unwrap();
                assert_eq!(packages.iter().map(|package| &*package.name).collect::<Vec<_>>(), ["idna"], "{text}");
            }
        }
        for name in ["amigo", "amigo-tool-scaffold-x", "xamigo-tool-scaffold"] {
            assert_refused(&format!("{name} @ https://example.com/a.whl --hash={HASH}\n"), "must be pinned");
        }
    }

    #[test]
    fn packages_for_other_platforms_are_named_in_the_log() {
        let text = format!(
            "a==1 --hash={HASH}\nColorama==0.4.6 ; sys_platform == 'win32' \\\n    --hash={HASH}\n\
             amigo-tool-scaffold==1 ; sys_platform == 'win32'\nb==1; python_version < '3.9' --hash={HASH}\n"
        );
        let lines = find_left_out(text.as_bytes());
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(
            lines[0].starts_with("requirements.lock:2: colorama is left out") && lines[0].contains("win32"),
            "{lines:?}"
        );
        assert!(lines[1].starts_with("requirements.lock:5: b is left out"), "{lines:?}");
        let many: String = (0..30).map(|number| format!("p{number}==1 ; sys_platform == 'win32'\n")).collect();
        let lines = find_left_out(many.as_bytes());
        assert_eq!(lines.len(), LEFT_OUT_SHOWN_MAX + 1);
        assert!(lines[LEFT_OUT_SHOWN_MAX].contains("10 more packages"), "{lines:?}");
    }

    #[test]
    fn directories_and_options_of_other_tools_are_explained() {
        for (line, word) in [
            ("-e ../shared", "is a directory"),
            ("-e file:///srv/shared", "is a directory"),
            ("../shared", "is a directory"),
            ("shared @ file:///srv/shared", "is a directory"),
            ("-i https://index.example/simple", "is an option of pip"),
            ("--extra-index-url https://index.example/simple", "is an option of pip"),
            ("-r other.txt", "is an option of pip"),
        ] {
            assert_refused(&format!("{line}\n"), word);
            assert_refused(&format!("{line}\n"), "--no-emit-project");
        }
    }

    #[test]
    fn refusals_name_the_line() {
        assert_refused("six==1.16.0\n", "requirements.lock:1: six has no --hash");
        assert_refused(&format!("\nsix>=1 --hash={HASH}\n"), "requirements.lock:2: six must be pinned");
        for pin in ["", "===1.0", "==1.*", "==1.0,==1.0", "== ", "[x==1.0", "(==1.0)"] {
            assert_refused(&format!("six{pin} --hash={HASH}\n"), "six must be pinned");
        }
        assert_refused(&format!("six==1.16.0 ; extra == 'x' --hash={HASH}"), "requirements.lock:1: six: a marker");
        assert_refused("--index-url https://example.com\n", "not a pinned package");
        assert_refused("-e .\n", "--no-emit-project");
        assert_refused("./wheel.whl\n", "not a pinned package");
        assert_refused(&format!("six @ https://example.com/six.whl --hash={HASH}\n"), "must be pinned");
        assert_refused("six==1.16.0 --hash=md5:00\n", "not a sha256 hash");
        let many: String = (0..=PACKAGES_MAX).map(|number| format!("p{number}==1 --hash={HASH}\n")).collect();
        assert_refused(&many, "requirements.lock:101: at most 100 packages");
        let hashes: String = (0..=HASHES_MAX).map(|number| format!(" --hash=sha256:{number:064x}")).collect();
        assert_refused(&format!("six==1.16.0{hashes}\n"), "requirements.lock:1: six has more than 1000 hashes");
    }

    #[test]
    fn hostile_lines_take_linear_time_and_expand_nothing() {
        assert_refused(&format!("six==1.16.0 ; {}sys_platform", "(".repeat(60_000)), "at most");
        assert_refused(&format!("{}six", "(".repeat(60_000)), "not a pinned package");
        let many: Vec<_> = (0..30).map(|number| format!("extra=='a{number}'and extra=='b{number}'")).collect();
        assert_refused(&format!("six==1.16.0 ; {} --hash={HASH}", many.join("or ")), "six: a marker");
        assert_refused(&format!("a @ x${{HOME}} --hash={HASH}\n"), "a must be pinned as `name==version`");
        assert_refused("${HOME}==1\n", "\"${HOME}==1\" is not a pinned package");
    }
}
