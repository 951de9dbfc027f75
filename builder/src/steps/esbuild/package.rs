//! The esbuild of servers without one: the package for this machine, from the npm registry. Its release and its hashes
//! are constants.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use flate2::read::GzDecoder;
use tar::Archive;
use tokio::sync::Mutex;

use super::{INSTALL, program};
use crate::attestation::Hash;
use crate::blocking::blocking;
use crate::error::Error;
use crate::progress::BuildProgress;
use crate::steps::download::Cached;
use crate::steps::esbuild::Esbuild;
use crate::steps::npm::registry::{NpmRegistry, PinnedArchive};

/// The release, for messages.
pub const PINNED_ESBUILD: &str = "esbuild 0.28.2";
const VERSION: &str = "0.28.2";
/// The program in the archive.
const PROGRAM: &str = "package/bin/esbuild";
/// The owner can read, replace and start the program.
const PROGRAM_MODE: u32 = 0o700;

/// The package for one kind of processor.
struct Pin {
    package: &'static str,
    /// The SHA-512 of the archive: the registry's `dist.integrity`, in hexadecimal.
    archive_sha512: &'static str,
    program_sha256: &'static str,
}

const PIN: Pin = if cfg!(target_arch = "aarch64") {
    Pin {
        package: "@esbuild/linux-arm64",
        archive_sha512: "a56e000b43f78adf1cedda3d315338a79d45cc7cdd33f4d9adeaeeae045c1c9d\
                         964dad55435088ab5f319dc7e9049c38a23922659aca5b6c8805604ff768fa52",
        program_sha256: "90bd269553d258e80b19e3ccab4f98f0831f87442a2f056510ce24fd1b425fc2",
    }
} else {
    Pin {
        package: "@esbuild/linux-x64",
        archive_sha512: "e314d9af5154992a105b85c85a68addedcd0ad44d933e3773f45d5f3144e2981\
                         79d177c8ef178ef74fb56d9bcdc3122e7d0f610d0551247e588603d517c03f1d",
        program_sha256: "e1698a3d5c6c0798fee4fd3b5cc816651f460c63d390a7a26ea4beb0b1884100",
    }
};

/// Downloads the program once, and verifies it before each use.
#[derive(Debug, Clone)]
pub struct EsbuildPackage {
    registry: NpmRegistry,
    program: Cached,
    esbuild: Esbuild,
    /// Held while the program is verified or downloaded.
    placing: Arc<Mutex<()>>,
}

impl EsbuildPackage {
    /// # Errors
    /// When the system's certificates cannot be used, or the current directory is unknown.
    pub fn new(registry: Option<&str>, cache_dir: &Path) -> Result<Self, Error> {
        // Esbuild starts in another directory.
        let directory = std::path::absolute(cache_dir.join("esbuild")).map_err(Error::internal)?;
        let registry = NpmRegistry::new(registry, &directory)?;
        let program = Cached { directory, hash: Hash::sha256(PIN.program_sha256.into()) };
        let identity = program::describe_package(VERSION.into(), program.hash.clone());
        let esbuild = Esbuild::known(program.path(), identity);
        Ok(Self { registry, program, esbuild, placing: Arc::default() })
    }

    /// The program, whose bytes were just compared with their hash.
    ///
    /// # Errors
    /// When the program is not in the cache and cannot be downloaded, or cannot be written.
    pub async fn ready(&self, progress: &BuildProgress) -> Result<Esbuild, Error> {
        let _placing = self.placing.lock().await;
        let cached = self.program.clone();
        if blocking(move || cached.read().is_none()).await? {
            if !self.registry.is_named() {
                return Err(super::refuse_missing());
            }
            progress.line(format!("{PINNED_ESBUILD} comes from the npm registry"));
            self.download().await?;
        }
        let path = self.program.path();
        let set = blocking(move || fs::set_permissions(path, fs::Permissions::from_mode(PROGRAM_MODE))).await?;
        set.map_err(Error::internal)?;
        Ok(self.esbuild.clone())
    }

    async fn download(&self) -> Result<(), Error> {
        let sha512 = Hash::sha512(PIN.archive_sha512.into());
        let pinned = PinnedArchive { name: PIN.package, version: VERSION, sha512 };
        let archive = self.registry.fetch_archive(&pinned).await.map_err(add_next_step)?;
        let program = blocking(move || find_program(&archive)).await?.map_err(Error::internal)?;
        let kept = self.program.clone().keep(program).await?;
        kept.map(drop).ok_or_else(|| Error::internal("the pinned archive has another program than the pinned one"))
    }
}

/// The refusal of an archive, for an author whose project does not name esbuild.
fn add_next_step(refusal: Error) -> Error {
    match refusal {
        Error::Failed { check, message, .. } => {
            let message =
                format!("{message}; this package has esbuild, which JavaScript and TypeScript need: {INSTALL}");
            Error::failed(super::STAGE, &check, message)
        }
        other => other,
    }
}

/// The program in an archive whose hash was verified.
fn find_program(archive: &[u8]) -> io::Result<Vec<u8>> {
    for entry in Archive::new(GzDecoder::new(archive)).entries()? {
        let mut entry = entry?;
        if *entry.path_bytes() == *PROGRAM.as_bytes() {
            let mut program = Vec::new();
            entry.read_to_end(&mut program)?;
            return Ok(program);
        }
    }
    Err(io::Error::other("the archive has no program"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::npm_archive;

    #[test]
    fn the_release_of_messages_is_the_pinned_one() {
        assert!(PINNED_ESBUILD.ends_with(VERSION));
        assert_eq!((PIN.archive_sha512.len(), PIN.program_sha256.len()), (128, 64));
    }

    #[test]
    fn the_program_is_found_in_the_archive() {
        let file = tar::EntryType::Regular;
        let archive = npm_archive(&[("package/package.json", file, 2), (PROGRAM, file, 5)]);
        assert_eq!(find_program(&archive).unwrap().len(), 5);
        assert!(find_program(&npm_archive(&[("package/index.js", file, 5)])).is_err());
    }
}
