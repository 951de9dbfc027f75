//! The operator's Rust: a directory like those of rustup, with the compiler, cargo and the standard library.
//!
//! The programs themselves are run, and not rustup's stand-ins for them, which obey files of the project.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use registry::Digest;
use sha2::{Digest as _, Sha256};
use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::attestation::{Hash, Package};
use crate::error::{Error, Place};
use crate::sandbox::{Missing, Shown};

/// What tools are compiled for.
pub const WASM_TARGET: &str = "wasm32-wasip2";
const STAGE: &str = "toolchain";
const INSTALL: &str = "install rustup (https://rustup.rs), then `rustup target add wasm32-wasip2`";
const ADD_TARGET: &str = "rustup target add wasm32-wasip2";
/// Where jobs see the toolchain, wherever it lies on this machine.
const INSIDE: &str = "/toolchain";
/// What jobs see as it is.
const SYSTEM: &str = "/usr";
/// A compiler says in milliseconds who it is.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A toolchain, looked at when it is first needed.
#[derive(Debug)]
pub struct Programs {
    directory: Option<PathBuf>,
    identity: OnceCell<Identity>,
}

/// Who the compiler is.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Such as `rustc 1.95.0 (59807616e 2026-04-14)`.
    pub release: String,
    /// Of the programs and the standard library, which is part of every tool.
    pub digest: Digest,
}

impl Programs {
    #[must_use]
    pub fn new(directory: Option<PathBuf>) -> Self {
        Self { directory, identity: OnceCell::new() }
    }

    /// What is missing of the toolchain in a directory, and the command that mends it.
    #[must_use]
    pub fn missing(directory: Option<&Path>) -> Option<Missing> {
        let lacks = |reason: String, remedy: &str| Some(Missing { reason, remedy: remedy.to_owned() });
        let Some(directory) = directory else { return lacks("there is no Rust toolchain".to_owned(), INSTALL) };
        if let Some(lacked) = ["cargo", "rustc"].iter().find(|name| !directory.join("bin").join(name).is_file()) {
            return lacks(format!("{} has no bin/{lacked}", directory.display()), INSTALL);
        }
        let files = entries(&libraries(directory)).unwrap_or_default();
        if files.iter().any(|file| is_library(file)) {
            return None;
        }
        lacks(format!("{} cannot compile for {WASM_TARGET}", directory.display()), ADD_TARGET)
    }

    /// # Errors
    /// When there is no toolchain, or it cannot be asked.
    pub async fn identity(&self) -> Result<Identity, Error> {
        let (directory, identify) = (self.directory()?.to_owned(), async |directory: PathBuf| {
            let release = release(&directory).await?;
            let digest = tokio::task::spawn_blocking(move || digest(&directory)).await.map_err(Error::internal)?;
            let digest = digest.map_err(|error| Error::internal(format!("the Rust toolchain: {error}")))?;
            Ok(Identity { release, digest })
        });
        self.identity.get_or_try_init(|| identify(directory)).await.cloned()
    }

    /// As a job sees it: what it has to be shown besides, and the directory of the programs.
    ///
    /// # Errors
    /// When there is no toolchain.
    pub fn shown(&self) -> Result<(Option<Shown>, PathBuf), Error> {
        let directory = self.directory()?;
        if directory.starts_with(SYSTEM) {
            return Ok((None, directory.join("bin")));
        }
        Ok((Some(Shown::new(directory, INSIDE)), Path::new(INSIDE).join("bin")))
    }

    fn directory(&self) -> Result<&Path, Error> {
        match (Self::missing(self.directory.as_deref()), &self.directory) {
            (Some(missing), _) => Err(refuse("rust", &format!("this server builds no Rust: {missing}"))),
            (None, Some(directory)) => Ok(directory),
            (None, None) => Err(Error::internal("a toolchain that is nowhere lacks nothing")),
        }
    }
}

/// A refusal that an operator can mend.
pub fn refuse(check: &str, message: &str) -> Error {
    Error::failed(STAGE, check, message, Place::default())
}

fn libraries(directory: &Path) -> PathBuf {
    directory.join("lib/rustlib").join(WASM_TARGET).join("lib")
}

fn is_library(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "rlib")
}

impl From<Identity> for Package {
    fn from(Identity { release, digest }: Identity) -> Self {
        let version = release.split_whitespace().nth(1).unwrap_or(&release).to_owned();
        Self { kind: "generic", name: "rust".to_owned(), version, hash: Some(Hash::sha256(digest.to_hex())) }
    }
}

async fn release(directory: &Path) -> Result<String, Error> {
    let mut rustc = Command::new(directory.join("bin/rustc"));
    rustc.arg("--version").env_clear().env("PATH", "/usr/bin:/bin").current_dir("/");
    let asked = rustc.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).output();
    let answer = tokio::time::timeout(ANSWER_TIMEOUT, asked).await.map_err(Error::internal)?;
    let answer = answer.map_err(|error| Error::internal(format!("rustc does not start: {error}")))?;
    Ok(String::from_utf8_lossy(&answer.stdout).trim().to_owned())
}

/// Of all that takes part in a build: the programs, the compiler's library, the linker, the standard library.
fn digest(directory: &Path) -> io::Result<Digest> {
    let mut files: Vec<PathBuf> = ["bin/cargo", "bin/rustc"].iter().map(|name| directory.join(name)).collect();
    let is_compiler =
        |path: &Path| path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with("librustc_driver"));
    files.extend(entries(&directory.join("lib"))?.into_iter().filter(|path| is_compiler(path)));
    files.extend(entries(&libraries(directory))?.into_iter().filter(|path| is_library(path)));
    for target in entries(&directory.join("lib/rustlib"))? {
        // The linkers, which lie with the libraries of the machine's own kind.
        files.extend(entries(&target.join("bin")).unwrap_or_default().into_iter().filter(|path| path.is_file()));
    }
    files.sort();
    let mut hasher = Sha256::new();
    for path in files {
        // What a link of a distribution leads to.
        let mut file = File::open(path.canonicalize()?)?;
        let mut chunk = vec![0; 1 << 20];
        loop {
            match file.read(&mut chunk)? {
                0 => break,
                read => hasher.update(&chunk[..read]),
            }
        }
    }
    Ok(Digest::from_bytes(hasher.finalize().into()))
}

fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lacks(directory: Option<&Path>, expected: &str) {
        let missing = Programs::missing(directory).expect("something is missing").to_string();
        assert!(missing.contains(expected), "{missing}");
    }

    #[test]
    fn what_is_missing_comes_with_the_command() {
        lacks(None, "there is no Rust toolchain; install rustup");
        let directory = tempfile::tempdir().unwrap();
        lacks(Some(directory.path()), "has no bin/cargo");
        std::fs::create_dir(directory.path().join("bin")).unwrap();
        for name in ["cargo", "rustc"] {
            std::fs::write(directory.path().join("bin").join(name), "").unwrap();
        }
        lacks(Some(directory.path()), "rustup target add wasm32-wasip2");
        let library = libraries(directory.path());
        std::fs::create_dir_all(&library).unwrap();
        lacks(Some(directory.path()), "rustup target add wasm32-wasip2");
        std::fs::write(library.join("libstd-1.rlib"), "one").unwrap();
        assert_eq!(Programs::missing(Some(directory.path())), None);
        let before = digest(directory.path()).unwrap();
        std::fs::write(library.join("libstd-1.rlib"), "two").unwrap();
        assert_ne!(digest(directory.path()).unwrap(), before);
    }

    #[tokio::test]
    async fn a_build_without_a_toolchain_is_refused_with_the_command() {
        let error = Programs::new(None).identity().await.unwrap_err().to_string();
        assert!(error.contains("this server builds no Rust") && error.contains("rustup"), "{error}");
    }
}
