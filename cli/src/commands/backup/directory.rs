//! The directory of a backup while it is written.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use registry::Digest;

use crate::backup::{FileEntry, Manifest, copy, measure, sync_folders};
use crate::failure::Failure;
use crate::private_file;

/// A backup without its manifest. Unless it is finished, its files are deleted.
pub struct BackupDirectory {
    root: PathBuf,
    pub manifest: Manifest,
    is_finished: bool,
}

impl BackupDirectory {
    /// Creates the directory with those above it, or takes an empty one, outside of the data directory.
    pub fn create(root: &Path, data: &Path, manifest: Manifest) -> anyhow::Result<Self> {
        let creating = || format!("creating {}", root.display());
        let existing = match fs::read_dir(root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            read => Some(read.with_context(creating)?.count()),
        };
        if existing.is_some_and(|entries| entries > 0) {
            let hint = "name a new directory; one without manifest.json is an incomplete backup and can be deleted";
            return Err(Failure::coded("not_empty", format!("{} is not empty", root.display()), hint));
        }
        if existing.is_none() {
            DirBuilder::new().recursive(true).mode(0o700).create(root).with_context(creating)?;
        }
        let backup = Self { root: root.to_owned(), manifest, is_finished: false };
        let data = data.canonicalize().with_context(|| format!("reading {}", data.display()))?;
        if root.canonicalize().with_context(creating)?.starts_with(data) {
            let message = format!("{} is inside of the data directory", root.display());
            return Err(Failure::refused(message, "name a directory on another disk, or at least outside of it"));
        }
        // A backup may be in a clone, and has the whole database.
        private_file::write(&backup.path(".gitignore"), "*\n").with_context(creating)?;
        Ok(backup)
    }

    /// The path of a file of the backup.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Copies a file into the backup.
    pub fn copy(&mut self, from: &Path, name: &str) -> anyhow::Result<()> {
        let copied = copy(from, &self.path(name));
        let (bytes, digest) = copied.with_context(|| format!("copying {} into the backup", from.display()))?;
        self.enter(name, bytes, digest);
        Ok(())
    }

    /// Writes an artifact, and flushes it.
    pub fn write_artifact(&mut self, digest: &Digest, bytes: &[u8]) -> anyhow::Result<()> {
        self.write_contents("artifacts", digest, bytes)
    }

    /// Writes a large body of a recording, and flushes it.
    pub fn write_body(&mut self, digest: &Digest, bytes: &[u8]) -> anyhow::Result<()> {
        self.write_contents("bodies", digest, bytes)
    }

    fn write_contents(&mut self, folder: &str, digest: &Digest, bytes: &[u8]) -> anyhow::Result<()> {
        let hex = digest.to_hex();
        let name = format!("{folder}/{}/{hex}", &hex[..2]);
        let path = self.path(&name);
        private_file::write(&path, bytes).with_context(|| format!("writing {}", path.display()))?;
        self.enter(&name, bytes.len() as u64, *digest);
        Ok(())
    }

    /// Creates the folder of a file, accessible only to its owner, and returns the path of the file.
    pub fn create_folder_of(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.path(name);
        let folder = path.parent().unwrap_or(&self.root);
        let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        created.with_context(|| format!("creating {}", folder.display()))?;
        Ok(path)
    }

    /// Adds a file that is in its place already.
    pub fn add(&mut self, name: &str) -> anyhow::Result<()> {
        let measured = measure(&self.path(name));
        let (bytes, digest) = measured.with_context(|| format!("reading {name} in the backup"))?;
        self.enter(name, bytes, digest);
        Ok(())
    }

    /// Adds all files below a directory that is in its place already.
    pub fn add_all(&mut self, name: &str) -> anyhow::Result<()> {
        let folder = self.path(name);
        for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
            let entry = entry?;
            let inner = format!("{name}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() { self.add_all(&inner)? } else { self.add(&inner)? }
        }
        Ok(())
    }

    /// Flushes the directories, and writes the manifest.
    pub fn finish(mut self) -> anyhow::Result<Manifest> {
        sync_folders(&self.root)?;
        self.manifest.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        self.manifest.write(&self.root).context("writing the manifest")?;
        self.is_finished = true;
        Ok(self.manifest.clone())
    }

    /// Adds a file that was measured.
    pub fn enter(&mut self, name: &str, bytes: u64, digest: Digest) {
        self.manifest.counts.bytes += bytes;
        self.manifest.files.push(FileEntry { path: name.to_owned(), bytes, digest });
    }
}

impl Drop for BackupDirectory {
    fn drop(&mut self) {
        if !self.is_finished {
            // What cannot be deleted has no manifest, so that no restore takes it.
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}
