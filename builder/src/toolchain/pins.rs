//! Programs that an operator allows by their digest: another one builds nothing, however it came to the machine.

use registry::Digest;

use crate::attestation::Package;
use crate::error::{Error, Place};

const STAGE: &str = "toolchain";

/// Compares a program with what the operator wants, where that is said.
///
/// # Errors
/// When it is another one.
pub fn check(program: &Package, wanted: Option<&Digest>, setting: &str) -> Result<(), Error> {
    let Some(wanted) = wanted.map(Digest::to_hex) else { return Ok(()) };
    let found = program.hash.as_ref().map_or("", |hash| hash.hex.as_str());
    if found == wanted {
        return Ok(());
    }
    let Package { name, version, .. } = program;
    let message = format!(
        "this server has {name} {version} of digest sha256:{found}, and its operator allows sha256:{wanted} alone ({setting})"
    );
    Err(Error::failed(STAGE, "digest", message, Place::default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attestation::Hash;

    #[test]
    fn another_program_than_the_one_that_is_allowed_builds_nothing() {
        let (one, other) = (Digest::of(b"one"), Digest::of(b"other"));
        let hash = Some(Hash::sha256(one.to_hex()));
        let program = Package { kind: "generic", name: "rust".into(), version: "1.95.0".into(), hash };
        assert!(check(&program, None, "setting").is_ok() && check(&program, Some(&one), "setting").is_ok());
        let refused = check(&program, Some(&other), "setting").unwrap_err().to_string();
        for word in ["toolchain failed (digest): ", "rust 1.95.0", &one.to_string(), &other.to_string(), "(setting)"] {
            assert!(refused.contains(word), "{word} is missing in: {refused}");
        }
        let unknown = Package { hash: None, ..program };
        assert!(check(&unknown, Some(&one), "setting").is_err());
    }
}
