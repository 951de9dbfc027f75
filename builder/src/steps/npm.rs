//! Fetches packages by name, version and hash from the operator's npm registry.
//!
//! Archives are unpacked, and no code in them runs. npm itself is not used.

pub(crate) mod archive;
pub(crate) mod lock;
pub(crate) mod registry;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use runner::SourceFile;
use serde::Deserialize;

use self::lock::Locked;
use self::registry::{NpmRegistry, PinnedArchive};
use super::archive::Format;
use super::documents::{PROJECT_FILE_BYTES_MAX, Parser};
use super::foreign_locks;
use super::manifest::Manifest;
use crate::attestation::{Hash, Package};
use crate::blocking::blocking;
use crate::decoded_text::decode_text;
use crate::error::{Error, Location};
use crate::progress::BuildProgress;
use crate::text::show;

const STAGE: &str = "dependencies";
const PROJECT_FILE: &str = "package.json";
/// Bytes of the sources of all packages of one tool.
const TOTAL_BYTES_MAX: usize = 64 << 20;

/// The name and version that a lock file, or a package itself, states.
#[derive(PartialEq, Eq, Deserialize)]
struct Identity {
    name: String,
    version: String,
}

/// Fetches the packages of lock files.
#[derive(Debug, Clone)]
pub struct NpmPackages {
    registry: NpmRegistry,
    parser: Arc<[String]>,
}

impl NpmPackages {
    /// `parser` is the command of the child that unpacks archives.
    ///
    /// # Errors
    /// When the system's certificates cannot be used.
    pub fn new(registry: Option<&str>, cache_dir: &Path, parser: &[String]) -> Result<Self, Error> {
        Ok(Self { registry: NpmRegistry::new(registry, cache_dir)?, parser: parser.into() })
    }

    /// Fetches all packages that the lock file lists for runs, and places their sources below `node_modules/`.
    ///
    /// # Errors
    /// When a package cannot be used, with its name and the line of the lock file.
    pub async fn fetch(
        &self,
        manifest: &Manifest,
        files: &BTreeMap<String, Vec<u8>>,
        progress: &BuildProgress,
    ) -> Result<(Vec<Package>, Vec<SourceFile>), Error> {
        let project_file = files.get(PROJECT_FILE).map(Vec::as_slice).unwrap_or_default();
        let Some(lock) = files.get(lock::FILE) else {
            if manifest.dependencies.is_empty() {
                return Ok(Default::default());
            }
            return Err(lock::refuse_missing(project_file, foreign_locks::explain_javascript(files).as_deref()));
        };
        let (mut packages, mut sources, mut bytes) = (Vec::new(), Vec::new(), 0);
        let (lock, project_file) = (lock.clone(), project_file.to_vec());
        let read = move || Ok::<_, Error>((lock::parse(&lock, &project_file)?, lock::find_left_out(&lock)));
        let (needed, left_out): (_, Vec<String>) = blocking(read).await??;
        left_out.into_iter().for_each(|line| progress.line(line));
        for locked in needed {
            progress.line(format!("package {}@{}", locked.name, locked.version));
            let files = self.fetch_package(&locked).await?;
            bytes += files.iter().map(|file| file.contents.len()).sum::<usize>();
            if bytes > TOTAL_BYTES_MAX {
                let message = format!("makes the dependencies larger than {TOTAL_BYTES_MAX} bytes");
                return Err(refuse("size", &locked, &message));
            }
            let below = |file: SourceFile| SourceFile { path: format!("{}/{}", locked.directory, file.path), ..file };
            sources.extend(files.into_iter().map(below));
            packages.push(Package::from(locked));
        }
        Ok((packages, sources))
    }

    async fn fetch_package(&self, locked: &Locked) -> Result<Vec<SourceFile>, Error> {
        let archive = self.registry.fetch_archive(&PinnedArchive::from(locked)).await;
        let archive = archive.map_err(|error| error.at(Location::line(lock::FILE, locked.line)))?;
        let (name, version) = (locked.name.clone(), locked.version.clone());
        let refused = |reason: String| refuse("archive", locked, &format!("is refused: {reason}"));
        let unpacked = Parser { command: &self.parser }.unpack(Format::Npm, archive).await?;
        let files = unpacked.map_err(refused)?.files;
        blocking(move || Identity { name, version }.check(&files).map(|()| files)).await?.map_err(refused)
    }
}

impl<'a> From<&'a Locked> for PinnedArchive<'a> {
    fn from(Locked { name, version, sha512, .. }: &'a Locked) -> Self {
        Self { name, version, sha512: Hash::sha512(hex::encode(sha512)) }
    }
}

impl From<Locked> for Package {
    fn from(Locked { name, version, sha512, .. }: Locked) -> Self {
        Self { kind: "npm", name, version, hash: Some(Hash::sha512(hex::encode(sha512))) }
    }
}

impl Identity {
    fn read(project_file: &[u8]) -> Result<Self, String> {
        let text = decode_text(project_file).map_err(|problem| problem.to_string())?;
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Checks that an archive contains the locked package. A hash pins only bytes, so the name and version of the lock
    /// file must match those in package.json. If an archive contains the file several times, the last one counts, as on a
    /// disk.
    fn check(&self, files: &[SourceFile]) -> Result<(), String> {
        let file = files.iter().rfind(|file| file.path == PROJECT_FILE).ok_or("it holds no package.json")?;
        if file.contents.len() > PROJECT_FILE_BYTES_MAX {
            return Err(format!("its package.json has more than {PROJECT_FILE_BYTES_MAX} bytes"));
        }
        let own = Self::read(&file.contents)?;
        if own == *self { Ok(()) } else { Err(format!("it holds {}@{}", show(&own.name), show(&own.version))) }
    }
}

fn refuse(check: &str, locked: &Locked, message: &str) -> Error {
    let message = format!("{}@{} {message}", locked.name, locked.version);
    Error::failed(STAGE, check, message).at(Location::line(lock::FILE, locked.line))
}

/// Whether a `package.json` names a package, for the fuzz target.
#[cfg(test)]
pub fn is_package(project_file: &[u8]) -> bool {
    Identity::read(project_file).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_the_one_that_the_lock_file_names() {
        let check = |name: &str, version: &str, texts: &[&str]| {
            let file = |text: &&str| SourceFile { path: PROJECT_FILE.into(), contents: text.as_bytes().to_vec() };
            let files: Vec<_> = texts.iter().map(file).collect();
            Identity { name: name.into(), version: version.into() }.check(&files)
        };
        let other = r#"{"name":"otherlib","version":"1.0.0"}"#;
        let safe = r#"{"name":"safelib","version":"1.0.0","description":"x"}"#;
        assert_eq!(check("safelib", "1.0.0", &[safe]), Ok(()));
        assert_eq!(check("safelib", "1.0.0", &[other]), Err("it holds otherlib@1.0.0".into()));
        assert_eq!(check("safelib", "2.0.0", &[safe]), Err("it holds safelib@1.0.0".into()));
        assert_eq!(check("safelib", "1.0.0", &[safe, other]), Err("it holds otherlib@1.0.0".into()));
        assert_eq!(check("safelib", "1.0.0", &[]), Err("it holds no package.json".into()));
        let large = format!("{{\"x\":\"{}\"}}", "x".repeat(PROJECT_FILE_BYTES_MAX));
        assert!(check("safelib", "1.0.0", &[&large]).unwrap_err().contains("bytes"));
        assert!(check("safelib", "1.0.0", &["{"]).is_err());
    }
}
