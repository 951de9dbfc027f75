//! The operator's Rust: a directory like those of rustup, with the compiler, cargo and the standard library.
//!
//! The programs themselves are run, and not rustup's stand-ins for them, which obey files of the project.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use registry::Digest;
use sha2::{Digest as _, Sha256};
use tokio::process::Command;
use tokio::sync::Mutex;

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

/// A toolchain, looked at when it is first needed, and again when its files are others.
#[derive(Debug)]
pub struct Programs {
    directory: Option<PathBuf>,
    known: Mutex<Option<(Vec<Stamp>, Identity)>>,
}

/// A file as its directory has it: another release has other sizes and times.
type Stamp = (PathBuf, u64, SystemTime);

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
        Self { directory, known: Mutex::default() }
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
        let directory = self.directory()?.to_owned();
        let mut known = self.known.lock().await;
        let looked_at = directory.clone();
        let stamps = read(move || stamps(&looked_at)).await?;
        if let Some((_, identity)) = known.as_ref().filter(|(before, _)| *before == stamps) {
            return Ok(identity.clone());
        }
        let release = release(&directory).await?;
        let identity = Identity { release, digest: read(move || digest(&directory)).await? };
        *known = Some((stamps, identity.clone()));
        Ok(identity)
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

/// The compiler, and LLVM, which writes the code; either may have its release in its name.
fn is_compiler(file: &Path) -> bool {
    let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
    ["librustc_driver", "libLLVM"].iter().any(|library| name.starts_with(library))
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

async fn read<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await.map_err(Error::internal)?;
    done.map_err(|error| Error::internal(format!("the Rust toolchain: {error}")))
}

/// All that takes part in a build: the programs, the compiler's libraries, the linker, the standard library.
fn parts(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = ["bin/cargo", "bin/rustc"].iter().map(|name| directory.join(name)).collect();
    files.extend(entries(&directory.join("lib"))?.into_iter().filter(|path| is_compiler(path)));
    files.extend(entries(&libraries(directory))?.into_iter().filter(|path| is_library(path)));
    // The C library of the target, which is linked into every tool, where the toolchain has it apart.
    files.extend(files_of(&libraries(directory).join("self-contained")));
    for target in entries(&directory.join("lib/rustlib"))? {
        // The linkers, which lie with the libraries of the machine's own kind.
        files.extend(["bin", "bin/gcc-ld"].iter().flat_map(|programs| files_of(&target.join(programs))));
    }
    files.sort();
    Ok(files)
}

/// None, where there is no such directory.
fn files_of(directory: &Path) -> Vec<PathBuf> {
    entries(directory).unwrap_or_default().into_iter().filter(|path| path.is_file()).collect()
}

fn stamps(directory: &Path) -> io::Result<Vec<Stamp>> {
    let stamp = |path: PathBuf| {
        let found = path.metadata()?;
        Ok((path, found.len(), found.modified()?))
    };
    parts(directory)?.into_iter().map(stamp).collect()
}

fn digest(directory: &Path) -> io::Result<Digest> {
    let mut hasher = Sha256::new();
    for path in parts(directory)? {
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
    }

    #[test]
    fn whatever_writes_code_is_part_of_the_digest() {
        let directory = tempfile::tempdir().unwrap();
        let parts = [
            "bin/cargo",
            "bin/rustc",
            "lib/librustc_driver-61.so",
            "lib/libLLVM.so.22.1-rust-1.95.0-stable",
            "lib/rustlib/wasm32-wasip2/lib/libstd-1.rlib",
            "lib/rustlib/wasm32-wasip2/lib/self-contained/libc.a",
            "lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld",
            "lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld/wasm-ld",
        ];
        let parts = parts.map(|part| directory.path().join(part));
        for part in &parts {
            std::fs::create_dir_all(part.parent().unwrap()).unwrap();
            std::fs::write(part, "one").unwrap();
        }
        let before = digest(directory.path()).unwrap();
        for part in &parts {
            std::fs::write(part, "two").unwrap();
            assert_ne!(digest(directory.path()).unwrap(), before, "{}", part.display());
            std::fs::write(part, "one").unwrap();
        }
        assert_eq!(digest(directory.path()).unwrap(), before);
    }

    #[tokio::test]
    async fn a_toolchain_that_is_replaced_below_a_server_is_another() {
        let directory = tempfile::tempdir().unwrap();
        let library = libraries(directory.path());
        for made in [&library, &directory.path().join("bin")] {
            std::fs::create_dir_all(made).unwrap();
        }
        std::fs::write(library.join("libstd-1.rlib"), "one").unwrap();
        std::fs::write(directory.path().join("bin/cargo"), "").unwrap();
        std::os::unix::fs::symlink("/bin/echo", directory.path().join("bin/rustc")).unwrap();
        let programs = Programs::new(Some(directory.path().to_owned()));
        let before = programs.identity().await.unwrap().digest;
        assert_eq!(programs.identity().await.unwrap().digest, before);
        std::fs::write(library.join("libstd-1.rlib"), "the next one").unwrap();
        assert_ne!(programs.identity().await.unwrap().digest, before);
    }

    #[tokio::test]
    async fn a_build_without_a_toolchain_is_refused_with_the_command() {
        let error = Programs::new(None).identity().await.unwrap_err().to_string();
        assert!(error.contains("this server builds no Rust") && error.contains("rustup"), "{error}");
    }
}
