//! The names that a worker may use. They become labels, columns and parts of documents, and so come from the program itself.

use super::wire::Breach;

/// Steps, and stages of refusals.
pub const STEPS: &[&str] =
    &["bundle", "compile", "dependencies", "image", "inspect", "manifest", "mocks", "schema", "snapshot", "toolchain"];
pub const PACKAGE_KINDS: &[&str] = &["cargo", "generic", "npm", "pypi"];
pub const HASH_ALGORITHMS: &[&str] = &["sha256", "sha512"];

/// The program's own copy of a name.
///
/// # Errors
/// When it is none of these.
pub fn known(names: &[&'static str], name: &str) -> Result<&'static str, Breach> {
    let found = names.iter().find(|known| **known == name).copied();
    found.ok_or_else(|| Breach(format!("it says {:?}, which is none of {names:?}", cut(name))))
}

fn cut(name: &str) -> String {
    name.chars().take(50).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn sources(directory: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => sources(&path, found),
                path => found.push(fs::read_to_string(path).unwrap()),
            }
        }
    }

    /// What stands in quotes behind each place where the text is.
    fn quoted_behind<'t>(text: &'t str, before: &str) -> Vec<&'t str> {
        text.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    /// A step that somebody adds works in the server, and has to in a worker.
    #[test]
    fn all_names_of_the_sources_are_known() {
        let mut texts = Vec::new();
        for directory in ["toolchain", "steps", "attestation"] {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(directory), &mut texts);
        }
        let mut seen = 0;
        for (before, names) in [
            ("progress.step(\"", STEPS),
            ("const STAGE: &str = \"", STEPS),
            ("Error::failed(\"", STEPS),
            ("Self { kind: \"", PACKAGE_KINDS),
            ("Package { kind: \"", PACKAGE_KINDS),
            ("Self { algorithm: \"", HASH_ALGORITHMS),
        ] {
            for name in texts.iter().flat_map(|text| quoted_behind(text, before)) {
                assert!(names.contains(&name), "{before}{name}");
                seen += 1;
            }
        }
        assert!(seen > 20, "only {seen} names were found");
    }

    #[test]
    fn other_names_are_refused() {
        assert_eq!(known(STEPS, "compile").unwrap(), "compile");
        for name in ["", "Compile", "compile ", "publish"] {
            assert!(known(STEPS, name).is_err(), "{name:?}");
        }
    }
}
