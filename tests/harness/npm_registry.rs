//! An npm registry on loopback, which serves the archives of a test.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

use super::files::serve_files;

pub struct NpmRegistry {
    pub url: String,
}

impl NpmRegistry {
    /// Serves packages by name and version until the tests end.
    pub fn serve(packages: &[(&str, &str, &[u8])]) -> Self {
        let path = |name: &str, version: &str| {
            format!("/npm/{name}/-/{}-{version}.tgz", name.rsplit('/').next().unwrap_or(name))
        };
        let served = packages.iter().map(|(name, version, archive)| (path(name, version), archive.to_vec()));
        let address = serve_files(|_| served.collect());
        Self { url: format!("{address}/npm/") }
    }
}

/// A package's archive.
pub fn npm_archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, format!("package/{path}"), text.as_bytes()).expect("an entry");
    }
    archive.into_inner().and_then(GzEncoder::finish).expect("an archive")
}

/// A package's entry in a lock file.
pub fn npm_entry(version: &str, archive: &[u8]) -> Value {
    json!({"version": version, "integrity": format!("sha512-{}", STANDARD.encode(Sha512::digest(archive)))})
}

/// `package-lock.json` of a project with these dependencies and packages.
pub fn npm_lock(dependencies: &Value, packages: &[(&str, Value)]) -> String {
    let mut all = json!({"": {"dependencies": dependencies}});
    for (directory, entry) in packages {
        all[*directory] = entry.clone();
    }
    serde_json::to_string_pretty(&json!({"lockfileVersion": 3, "packages": all})).expect("JSON")
}
