//! Digests of the programs that an operator allows. No other program builds.

use registry::Digest;

use crate::attestation::Package;
use crate::error::Error;

const STAGE: &str = "toolchain";

/// Compares a program with the operator's digest, if one is set.
///
/// # Errors
/// When the digests differ.
pub fn check(program: &Package, allowed: Option<&Digest>, setting: &str) -> Result<(), Error> {
    let Some(allowed) = allowed.map(Digest::to_hex) else { return Ok(()) };
    let found = program.hash.as_ref().map_or("", |hash| hash.hex.as_str());
    if found == allowed {
        return Ok(());
    }
    let Package { name, version, .. } = program;
    let message = format!(
        "{name} {version} has the digest sha256:{found}, and the settings allow only sha256:{allowed} ({setting}): install the \
         release with this digest, or have the setting changed"
    );
    Err(Error::failed(STAGE, "digest", message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attestation::Hash;

    #[test]
    fn only_the_allowed_program_builds() {
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
