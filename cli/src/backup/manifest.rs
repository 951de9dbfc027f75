//! The manifest of a backup: what is in it, and the digest of every file.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use anyhow::Context;
use registry::{Digest, KeyRing};
use serde::{Deserialize, Serialize};

use super::damage::explain_damage;
use super::known_files::is_written_by_backups;
use super::measured_file::FileEntry;
use crate::failure::Failure;
use crate::private_file;

/// The version of the format. A restore refuses a newer one.
const FORMAT: u32 = 1;

pub const MANIFEST: &str = "manifest.json";

/// The label of the key's fingerprint. A key cannot be found from it.
const FINGERPRINT: &str = "fingerprint in backups";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    /// The release that wrote the backup.
    pub release: String,
    /// The time at which the backup began. Everything that was answered before is in it.
    pub created_at: String,
    pub master_key: MasterKey,
    pub database: DatabaseCopy,
    pub counts: Counts,
    /// Packs of shared repositories that the bucket itself lacked, by their paths in a backup.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub lost_packs: BTreeSet<String>,
    pub files: Vec<FileEntry>,
}

/// Whether a backup has the database. The database of a server is kept with the tools of that server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseCopy {
    pub is_included: bool,
}

/// The master key of the backup's secrets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MasterKey {
    pub is_included: bool,
    fingerprint: Digest,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    pub organizations: u64,
    pub repositories: u64,
    pub artifacts: u64,
    /// Artifacts of versions that the data directory itself lacked.
    pub artifacts_lost: u64,
    /// Large bodies of recordings.
    pub bodies: u64,
    /// Large bodies that the data directory itself lacked.
    pub bodies_lost: u64,
    /// Packs of shared repositories. Other repositories are copied as a whole.
    pub packs: u64,
    /// Packs that the bucket itself lacked.
    pub packs_lost: u64,
    pub bytes: u64,
}

/// The only field that every format has.
#[derive(Deserialize)]
struct AnyFormat {
    format: u32,
}

impl Manifest {
    pub fn new(created_at: String, master_key: MasterKey, database: DatabaseCopy) -> Self {
        let release = env!("CARGO_PKG_VERSION").to_owned();
        let (counts, lost_packs, files) = (Counts::default(), BTreeSet::new(), Vec::new());
        Self { format: FORMAT, release, created_at, master_key, database, counts, lost_packs, files }
    }

    /// Writes the manifest, which completes the backup.
    pub fn write(&self, backup: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        let written = private_file::write(&backup.join(MANIFEST), &text);
        let flushed = written.and_then(|()| File::open(backup)?.sync_all());
        flushed.with_context(|| format!("writing {MANIFEST} in {}", backup.display()))
    }

    /// Reads the manifest of a backup.
    pub fn read(backup: &Path) -> anyhow::Result<Self> {
        let path = backup.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(refuse_incomplete(backup)),
            read => read.with_context(|| format!("reading {}", path.display()))?,
        };
        let damaged = |error: serde_json::Error| explain_damage(&format!("{}: {error}", path.display()));
        let AnyFormat { format } = serde_json::from_str(&text).map_err(damaged)?;
        if format > FORMAT {
            return Err(refuse_newer(format));
        }
        let manifest: Self = serde_json::from_str(&text).map_err(damaged)?;
        manifest.require_known_paths()?;
        Ok(manifest)
    }

    /// Refuses a path that no backup has, such as one that leads out of it, or a file of a repository that git would run programs for.
    fn require_known_paths(&self) -> anyhow::Result<()> {
        match self.files.iter().find(|entry| !is_written_by_backups(entry)) {
            Some(entry) => Err(explain_damage(&format!("the manifest names the file `{}`", entry.path.escape_debug()))),
            None => Ok(()),
        }
    }
}

impl MasterKey {
    pub fn of(keys: &KeyRing, is_included: bool) -> Self {
        Self { is_included, fingerprint: digest_keys(keys) }
    }

    pub fn is(&self, keys: &KeyRing) -> bool {
        self.fingerprint == digest_keys(keys)
    }
}

fn digest_keys(keys: &KeyRing) -> Digest {
    Digest::of(&keys.derive(FINGERPRINT))
}

fn refuse_incomplete(backup: &Path) -> anyhow::Error {
    let path = backup.display();
    let message = if backup.is_dir() {
        format!("{path} is no complete backup: it has no {MANIFEST}, which is written last")
    } else {
        format!("there is no backup {path}")
    };
    Failure::coded("backup_incomplete", message, "name the directory of a backup that `lathe backup` has finished")
}

fn refuse_newer(format: u32) -> anyhow::Error {
    let message = format!("the backup has format {format}, and this release reads formats up to {FORMAT}");
    Failure::coded("backup_newer", message, "restore it with the release that wrote it, or a later one")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join(MANIFEST), text).expect("a file");
        Manifest::read(directory.path()).expect_err("refused").to_string()
    }

    #[test]
    fn a_newer_format_is_refused_whatever_else_it_has() {
        assert_eq!(
            read(r#"{"format": 2, "later": []}"#),
            "the backup has format 2, and this release reads formats up to 1"
        );
        assert!(read("{}").contains("damaged") && read("").contains("damaged"));
    }

    #[test]
    fn a_path_that_leads_out_of_the_backup_is_refused() {
        for path in ["../outside", "/etc/passwd", "git/../../x", "", ".", "git/acme.git/config"] {
            let digest = Digest::of(b"");
            let master_key = MasterKey { is_included: false, fingerprint: digest };
            let manifest = Manifest {
                files: vec![FileEntry { path: path.to_owned(), bytes: 0, digest }],
                ..Manifest::new(String::new(), master_key, DatabaseCopy { is_included: true })
            };
            assert!(read(&serde_json::to_string(&manifest).expect("JSON")).contains("the manifest names"), "{path}");
        }
    }
}
