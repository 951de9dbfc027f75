//! The operator's Rust toolchain: a directory like rustup's, with the compiler, cargo and the standard library.
//!
//! Builds run the toolchain's own programs. Rustup's proxies would read settings from the project.

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
use crate::blocking::blocking;
use crate::config::BuildPlace;
use crate::error::Error;
use crate::io_error::at;
use crate::sandbox::{Missing, ReadOnlyMount};

/// The target of tools.
pub const WASM_TARGET: &str = "wasm32-wasip2";
const STAGE: &str = "toolchain";
const INSTALL: &str = "install rustup (https://rustup.rs), then `rustup target add wasm32-wasip2`";
const ADD_TARGET: &str = "rustup target add wasm32-wasip2";
/// The toolchain's path inside jobs.
const INSIDE: &str = "/toolchain";
/// The directory that jobs see at its own path.
const SYSTEM: &str = "/usr";
/// Time for `rustc --version`, which takes milliseconds.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A toolchain. Its identity is computed at first use, and again when its files have changed.
#[derive(Debug)]
pub struct RustInstallation {
    directory: Option<PathBuf>,
    place: BuildPlace,
    known: Mutex<Option<(Vec<Stamp>, Identity)>>,
}

/// Path, size and modification time of a file. Another release has other sizes and times.
type Stamp = (PathBuf, u64, SystemTime);

/// The release and the contents of a toolchain.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The output of `rustc --version`, such as `rustc 1.95.0 (59807616e 2026-04-14)`.
    pub release: String,
    /// The digest of the programs and of the standard library, which is part of every tool.
    pub digest: Digest,
}

impl RustInstallation {
    #[must_use]
    pub fn new(directory: Option<PathBuf>, place: BuildPlace) -> Self {
        Self { directory, place, known: Mutex::default() }
    }

    /// The missing part of the toolchain in a directory, and the command that adds it.
    #[must_use]
    pub fn missing(directory: Option<&Path>) -> Option<Missing> {
        let missing = |reason: String, remedy: &str| Some(Missing { reason, remedy: remedy.to_owned() });
        let Some(directory) = directory else { return missing("there is no Rust toolchain".to_owned(), INSTALL) };
        if let Some(program) = ["cargo", "rustc"].iter().find(|name| !directory.join("bin").join(name).is_file()) {
            return missing(format!("{} has no bin/{program}", directory.display()), INSTALL);
        }
        let files = list_entries(&libraries(directory)).unwrap_or_default();
        if files.iter().any(|file| is_library(file)) {
            return None;
        }
        missing(format!("{} cannot compile for {WASM_TARGET}", directory.display()), ADD_TARGET)
    }

    /// The identity of the toolchain as its files are now.
    ///
    /// # Errors
    /// When there is no toolchain, or its compiler does not run.
    pub async fn identity(&self) -> Result<Identity, Error> {
        let directory = self.require_directory()?.to_owned();
        let mut known = self.known.lock().await;
        let inspected = directory.clone();
        let stamps = read(move || read_stamps(&inspected)).await?;
        if let Some((_, identity)) = known.as_ref().filter(|(before, _)| *before == stamps) {
            return Ok(identity.clone());
        }
        let release = read_release(&directory).await?;
        let identity = Identity { release, digest: read(move || compute_digest(&directory)).await? };
        *known = Some((stamps, identity.clone()));
        Ok(identity)
    }

    /// The directory that a job must be shown, if any, and the path of the programs inside the job.
    ///
    /// # Errors
    /// When there is no toolchain.
    pub fn find_mount(&self) -> Result<(Option<ReadOnlyMount>, PathBuf), Error> {
        let directory = self.require_directory()?;
        if directory.starts_with(SYSTEM) {
            return Ok((None, directory.join("bin")));
        }
        Ok((Some(ReadOnlyMount::new(directory, INSIDE)), Path::new(INSIDE).join("bin")))
    }

    fn require_directory(&self) -> Result<&Path, Error> {
        match (Self::missing(self.directory.as_deref()), &self.directory) {
            (Some(missing), _) => {
                let (place, setting) =
                    (self.place.name(), self.place.set("--rust-toolchain DIRECTORY", "LATHE_RUST_TOOLCHAIN"));
                Err(refuse("rust", &format!("{place} cannot build Rust: {missing}; {setting}")))
            }
            (None, Some(directory)) => Ok(directory),
            (None, None) => Err(Error::internal("a missing toolchain was not reported as missing")),
        }
    }
}

/// A refusal whose cause only the operator can remove.
pub fn refuse(check: &str, message: &str) -> Error {
    Error::failed(STAGE, check, message)
}

fn libraries(directory: &Path) -> PathBuf {
    directory.join("lib/rustlib").join(WASM_TARGET).join("lib")
}

/// Whether a file is the compiler's library or LLVM's. The release may be part of either name.
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

async fn read_release(directory: &Path) -> Result<String, Error> {
    let mut rustc = Command::new(directory.join("bin/rustc"));
    rustc.arg("--version").env_clear().env("PATH", "/usr/bin:/bin").current_dir("/");
    let asked = rustc.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).output();
    let answer = tokio::time::timeout(ANSWER_TIMEOUT, asked).await.map_err(Error::internal)?;
    let answer = answer.map_err(|error| Error::internal(format!("rustc does not start: {error}")))?;
    Ok(String::from_utf8_lossy(&answer.stdout).trim().to_owned())
}

async fn read<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, Error> {
    blocking(work).await?.map_err(|error| Error::internal(format!("the Rust toolchain cannot be read: {error}")))
}

/// All files that influence a build: the programs, the compiler's libraries, the linkers, the standard library.
fn list_parts(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = ["bin/cargo", "bin/rustc"].iter().map(|name| directory.join(name)).collect();
    files.extend(list_entries(&directory.join("lib"))?.into_iter().filter(|path| is_compiler(path)));
    files.extend(list_entries(&libraries(directory))?.into_iter().filter(|path| is_library(path)));
    // Some toolchains keep the target's C library, which every tool links, in a directory of its own.
    files.extend(list_files(&libraries(directory).join("self-contained")));
    for target in list_entries(&directory.join("lib/rustlib"))? {
        // The linkers are beside the libraries of the host's target.
        files.extend(["bin", "bin/gcc-ld"].iter().flat_map(|programs| list_files(&target.join(programs))));
    }
    files.sort();
    Ok(files)
}

/// The files of a directory, or none if it does not exist.
fn list_files(directory: &Path) -> Vec<PathBuf> {
    list_entries(directory).unwrap_or_default().into_iter().filter(|path| path.is_file()).collect()
}

fn read_stamps(directory: &Path) -> io::Result<Vec<Stamp>> {
    let stamp = |path: PathBuf| {
        let found = path.metadata().map_err(at(&path))?;
        let modified = found.modified().map_err(at(&path))?;
        Ok((path, found.len(), modified))
    };
    list_parts(directory)?.into_iter().map(stamp).collect()
}

fn compute_digest(directory: &Path) -> io::Result<Digest> {
    let mut hasher = Sha256::new();
    for path in list_parts(directory)? {
        // Distributions install some of the files as links.
        let mut file = path.canonicalize().and_then(File::open).map_err(at(&path))?;
        let mut chunk = vec![0; 1 << 20];
        loop {
            match file.read(&mut chunk).map_err(at(&path))? {
                0 => break,
                read => hasher.update(&chunk[..read]),
            }
        }
    }
    Ok(Digest::from_bytes(hasher.finalize().into()))
}

fn list_entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(directory).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    entries.map_err(at(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_missing(directory: Option<&Path>, expected: &str) {
        let missing = RustInstallation::missing(directory).expect("something is missing").to_string();
        assert!(missing.contains(expected), "{missing}");
    }

    #[test]
    fn a_missing_part_is_reported_with_the_command_that_adds_it() {
        check_missing(None, "there is no Rust toolchain; install rustup");
        let directory = tempfile::tempdir().unwrap();
        check_missing(Some(directory.path()), "has no bin/cargo");
        std::fs::create_dir(directory.path().join("bin")).unwrap();
        for name in ["cargo", "rustc"] {
            std::fs::write(directory.path().join("bin").join(name), "").unwrap();
        }
        check_missing(Some(directory.path()), "rustup target add wasm32-wasip2");
        let library = libraries(directory.path());
        std::fs::create_dir_all(&library).unwrap();
        check_missing(Some(directory.path()), "rustup target add wasm32-wasip2");
        std::fs::write(library.join("libstd-1.rlib"), "one").unwrap();
        assert_eq!(RustInstallation::missing(Some(directory.path())), None);
    }

    #[test]
    fn the_digest_covers_every_file_that_influences_code() {
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
        let before = compute_digest(directory.path()).unwrap();
        for part in &parts {
            std::fs::write(part, "two").unwrap();
            assert_ne!(compute_digest(directory.path()).unwrap(), before, "{}", part.display());
            std::fs::write(part, "one").unwrap();
        }
        assert_eq!(compute_digest(directory.path()).unwrap(), before);
    }

    #[tokio::test]
    async fn a_replaced_toolchain_has_another_identity() {
        let directory = tempfile::tempdir().unwrap();
        let library = libraries(directory.path());
        for made in [&library, &directory.path().join("bin")] {
            std::fs::create_dir_all(made).unwrap();
        }
        std::fs::write(library.join("libstd-1.rlib"), "one").unwrap();
        std::fs::write(directory.path().join("bin/cargo"), "").unwrap();
        std::os::unix::fs::symlink("/bin/echo", directory.path().join("bin/rustc")).unwrap();
        let programs = RustInstallation::new(Some(directory.path().to_owned()), BuildPlace::Server);
        let before = programs.identity().await.unwrap().digest;
        assert_eq!(programs.identity().await.unwrap().digest, before);
        std::fs::write(library.join("libstd-1.rlib"), "the next one").unwrap();
        assert_ne!(programs.identity().await.unwrap().digest, before);
    }

    #[tokio::test]
    async fn a_build_without_a_toolchain_is_refused_with_the_command() {
        let told = async |place| RustInstallation::new(None, place).identity().await.unwrap_err().to_string();
        let error = told(BuildPlace::Server).await;
        assert!(error.contains("this server cannot build Rust") && error.contains("rustup"), "{error}");
        assert!(error.contains("`--rust-toolchain DIRECTORY` of `lathe serve`, or LATHE_RUST_TOOLCHAIN"), "{error}");
        let local = told(BuildPlace::Machine).await;
        assert!(local.contains("this machine cannot build Rust") && !local.contains("server"), "{local}");
        assert!(local.contains("`--rust-toolchain DIRECTORY` of `lathe tool test`"), "{local}");
    }
}
