//! The names that a worker may send. They become labels, columns and parts of documents, so that only this program's own
//! names are accepted.

use super::violation::ProtocolViolation;
use crate::text::quote;

/// The names of steps, which are also the stages of refusals.
pub const STEPS: &[&str] = &[
    "bundle",
    "checkout",
    "compile",
    "dependencies",
    "image",
    "inspect",
    "manifest",
    "mocks",
    "schema",
    "snapshot",
    "toolchain",
];
pub const PACKAGE_KINDS: &[&str] = &["cargo", "generic", "npm", "pypi"];
pub const HASH_ALGORITHMS: &[&str] = &["sha256", "sha512"];

/// The program's own copy of a name.
///
/// # Errors
/// When the name is not in the list.
pub fn find_known(names: &[&'static str], name: &str) -> Result<&'static str, ProtocolViolation> {
    let found = names.iter().find(|known| **known == name).copied();
    found.ok_or_else(|| ProtocolViolation(format!("it sent the name {}, which is not one of {names:?}", quote(name))))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn collect_sources(directory: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => collect_sources(&path, found),
                path => found.push(fs::read_to_string(path).unwrap()),
            }
        }
    }

    /// The quoted text after each occurrence of `before`.
    fn list_quoted_after<'t>(text: &'t str, before: &str) -> Vec<&'t str> {
        text.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    /// A new step in the sources must be added to the list, or workers could not report it.
    #[test]
    fn every_name_in_the_sources_is_known() {
        let mut texts = Vec::new();
        for directory in ["toolchain", "steps", "attestation"] {
            collect_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(directory), &mut texts);
        }
        let mut seen = 0;
        for (before, names) in [
            ("progress.run_step(\"", STEPS),
            ("const STAGE: &str = \"", STEPS),
            ("Error::failed(\"", STEPS),
            ("Self { kind: \"", PACKAGE_KINDS),
            ("Package { kind: \"", PACKAGE_KINDS),
            ("Self { algorithm: \"", HASH_ALGORITHMS),
        ] {
            for name in texts.iter().flat_map(|text| list_quoted_after(text, before)) {
                assert!(names.contains(&name), "{before}{name}");
                seen += 1;
            }
        }
        assert!(seen > 20, "only {seen} names were found");
    }

    #[test]
    fn other_names_are_refused() {
        assert_eq!(find_known(STEPS, "compile").unwrap(), "compile");
        for name in ["", "Compile", "compile ", "publish"] {
            assert!(find_known(STEPS, name).is_err(), "{name:?}");
        }
    }
}
