//! Whether the lock file pins what the project declares.

use std::str::FromStr;

use pep440_rs::VersionSpecifiers;

use super::{FILE, HOW, OWN_PACKAGE, Pinned, STAGE, marker, name};
use crate::error::{Error, Location};
use crate::steps::manifest::Dependency;
use crate::text::quote;

const PROJECT_FILE: &str = "pyproject.toml";
/// Bytes of a requirement without its marker; the longest in use have about a hundred.
const SPECIFIERS_BYTES_MAX: usize = 1 << 10;

/// Refuses a lock file that is older than the declarations: each package of the project that the platform needs is pinned, in a
/// version that the project accepts. The packages that these need are not compared: only their own archives name them.
///
/// # Errors
/// With the declaration, the pin and the command that makes the lock file again.
pub fn check_pins(dependencies: &[Dependency], pins: &[Pinned]) -> Result<(), Error> {
    dependencies.iter().filter(|declared| declared.name != OWN_PACKAGE).try_for_each(|declared| check(declared, pins))
}

fn check(declared: &Dependency, pins: &[Pinned]) -> Result<(), Error> {
    let refuse = |problem: &str| {
        let message = format!("{} {problem}", quote(declared.requirement.trim()));
        Error::failed(STAGE, "stale", message).at(Location::line(PROJECT_FILE, declared.line))
    };
    let (wanted, marker) = declared.requirement.split_once(';').unwrap_or((&declared.requirement, ""));
    let applies = marker.trim().is_empty()
        || marker::applies(marker.trim()).map_err(|reason| refuse(&format!("has a marker: {reason}")))?;
    if !applies {
        return Ok(());
    }
    let Some(pin) = pins.iter().find(|pin| pin.name == declared.name) else {
        return Err(refuse(&format!("is not in {FILE}, which is older than the project: {HOW}")));
    };
    let accepted = parse_specifiers(wanted).map_err(|reason| refuse(&format!("is not a requirement: {reason}")))?;
    if accepted.is_some_and(|accepted| !accepted.contains(&pin.version)) {
        let (version, line) = (&pin.version, pin.line);
        return Err(refuse(&format!(
            "does not accept the version {version} of {FILE}:{line}, which is older than the project: {HOW}"
        )));
    }
    Ok(())
}

/// The versions of `name [extras] (>=1, <2)`. `None` for a URL, whose file has any version.
fn parse_specifiers(wanted: &str) -> Result<Option<VersionSpecifiers>, String> {
    if wanted.len() > SPECIFIERS_BYTES_MAX {
        return Err(format!("it has more than {SPECIFIERS_BYTES_MAX} bytes"));
    }
    let (_, rest) = name::split_name(wanted.trim()).ok_or("it has no name")?;
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']').ok_or("its extras are not closed")?.1.trim_start(),
        None => rest,
    };
    if rest.starts_with('@') {
        return Ok(None);
    }
    let inner = rest.trim().strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
    let text = inner.unwrap_or(rest).trim().trim_end_matches(',');
    VersionSpecifiers::from_str(text)
        .map(Some)
        .map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::lock::parse;

    fn check(requirement: &str) -> Result<(), String> {
        let hash = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        let pins =
            parse(format!("idna==3.10 --hash={hash}\nzope-interface==7.0rc1 --hash={hash}\n").as_bytes()).unwrap();
        let (name, _) = name::split_name(requirement).unwrap();
        let declared = Dependency { name, requirement: requirement.to_owned(), line: 4 };
        check_pins(&[declared], &pins).map_err(|error| error.to_string())
    }

    #[test]
    fn a_lock_file_pins_what_the_project_accepts() {
        for accepted in [
            "idna",
            "IDNA[all] >= 3, <4,",
            "idna (>=3.10)",
            "idna==3.*",
            "idna~=3.9 ; python_version > '3'",
            "idna @ https://files.example/idna.whl",
            "zope.interface>=7.0rc1",
            "colorama; sys_platform == 'win32'",
            "amigo_tool_scaffold>=99",
        ] {
            assert_eq!(check(accepted), Ok(()), "{accepted}");
        }
        for (refused, words) in [
            ("six>=1", "pyproject.toml:4: \"six>=1\" is not in requirements.lock"),
            ("idna>=3.11", "does not accept the version 3.10 of requirements.lock:1"),
            ("idna!=3.10", "uv export"),
            ("idna[all", "its extras are not closed"),
            ("idna=>3", "is not a requirement"),
            ("idna; extra == 'x'", "has a marker"),
        ] {
            let error = check(refused).unwrap_err();
            assert!(error.contains(words) && error.contains("(stale)"), "{refused}: {error}");
        }
    }
}
