//! The attestations of a version, as files for external verifiers.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Team, needs};

/// The attestation documents of a version.
pub struct Attested {
    pub envelope: PathBuf,
    pub key: PathBuf,
    pub sbom: PathBuf,
}

impl Attested {
    pub fn of(team: &Team, tool: &str, version: &str) -> Self {
        let keep = |name: &str, text: String| {
            let path = team.home().join(name);
            std::fs::write(&path, text).expect("a file");
            path
        };
        let lathe = team.lathe();
        Self {
            envelope: keep("envelope.json", lathe.ok(&["tool", "provenance", tool, version])),
            key: keep("key.pem", lathe.ok(&["key", "signing", "--pem"])),
            sbom: keep("sbom.json", lathe.ok(&["tool", "sbom", tool, version])),
        }
    }

    /// Also verifies with the external verifiers that are installed.
    #[track_caller]
    pub fn others_verify(&self) {
        let named = std::env::var("LATHE_VERIFIER_PYTHON").ok();
        let Some(python) = needs::PROVENANCE_VERIFIER.require(named) else { return };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/provenance/verify.py");
        let said = Command::new(python).arg(script).args([&self.envelope, &self.key, &self.sbom]).output();
        let said = said.expect("Python runs");
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    }
}
