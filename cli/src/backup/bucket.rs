//! Backups in a bucket: a directory that is uploaded after it was written, and downloaded before it is read.
//!
//! The manifest is uploaded last, so that an interrupted backup is none.

use std::fs;
use std::path::Path;

use anyhow::Context;
use registry::Objects;
use tempfile::TempDir;

use super::manifest::{MANIFEST, Manifest};
use crate::failure::Failure;
use crate::output::Spinner;

/// Refuses a prefix that has objects.
pub async fn require_empty(objects: &Objects) -> anyhow::Result<()> {
    if objects.list("").await?.is_empty() {
        return Ok(());
    }
    let hint = "name a new prefix; one without manifest.json is an incomplete backup and can be deleted";
    Err(Failure::coded("not_empty", format!("{} is not empty", objects.url()), hint))
}

/// A directory for the files of a backup, accessible to its owner and deleted at the end.
pub fn create_temporary_directory() -> anyhow::Result<TempDir> {
    let made = tempfile::Builder::new().prefix("lathe-backup-").tempdir();
    made.with_context(|| {
        format!("creating a directory in {}; TMPDIR names another one", std::env::temp_dir().display())
    })
}

pub async fn upload(objects: &Objects, directory: &Path, manifest: &Manifest) -> anyhow::Result<()> {
    let progress = Spinner::start("uploading");
    for (number, entry) in (1..).zip(&manifest.files) {
        progress.show(format!("file {number} of {}: {}", manifest.files.len(), entry.path));
        objects.upload(&directory.join(&entry.path), &entry.path).await?;
    }
    Ok(objects.upload(&directory.join(MANIFEST), MANIFEST).await?)
}

/// Downloads a backup. A restore compares the digests.
pub async fn download(objects: &Objects) -> anyhow::Result<TempDir> {
    let directory = create_temporary_directory()?;
    let progress = Spinner::start("downloading");
    let Some(text) = objects.get(MANIFEST).await? else {
        let message = format!("{} is no complete backup: it has no {MANIFEST}, which is written last", objects.url());
        return Err(Failure::coded(
            "backup_incomplete",
            message,
            "name the prefix of a backup that `lathe backup` has finished",
        ));
    };
    fs::write(directory.path().join(MANIFEST), &text).context("writing the manifest")?;
    let files = Manifest::read(directory.path())?.files;
    for (number, entry) in (1..).zip(&files) {
        progress.show(format!("file {number} of {}: {}", files.len(), entry.path));
        let path = directory.path().join(&entry.path);
        fs::create_dir_all(path.parent().unwrap_or(directory.path()))?;
        // The restore names a file that is missing.
        objects.download(&entry.path, &path).await?;
    }
    Ok(directory)
}
