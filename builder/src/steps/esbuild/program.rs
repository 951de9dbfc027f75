//! The machine's esbuild: which file it is.

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use registry::Digest;
use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::attestation::{Hash, Package};
use crate::error::Error;

const NAME: &str = "esbuild";
/// What a program of this system begins with.
const ELF: [u8; 4] = *b"\x7fELF";
/// Where npm puts the program of this machine.
const NATIVE: &str =
    if cfg!(target_arch = "aarch64") { "@esbuild/linux-arm64/bin/esbuild" } else { "@esbuild/linux-x64/bin/esbuild" };

/// It answers in milliseconds.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// An esbuild that was found.
#[derive(Debug, Clone)]
pub struct Esbuild {
    path: PathBuf,
    /// Asked once: another program takes a restart.
    identity: Arc<OnceCell<Package>>,
}

/// There is none, or none that runs without Node.js.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error(
    "this server has no esbuild, which JavaScript and TypeScript need: its operator installs it with `npm install \
     --global esbuild`, or names it with esbuild (LATHE_ESBUILD), and starts the server again"
)]
pub struct EsbuildMissing;

impl Esbuild {
    /// The one that the operator names, or else the one in the search path.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(named: Option<&Path>, search_path: &OsStr) -> Result<Self, EsbuildMissing> {
        let found = match named {
            Some(path) => native(path),
            None => env::split_paths(search_path).find_map(|directory| native(&directory.join(NAME))),
        };
        found.map(|path| Self { path, identity: Arc::default() }).ok_or(EsbuildMissing)
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which release it is, and the digest of its program.
    ///
    /// # Errors
    /// When it cannot be read, or does not start.
    pub async fn identity(&self) -> Result<Package, Error> {
        self.identity.get_or_try_init(|| self.asked()).await.cloned()
    }

    async fn asked(&self) -> Result<Package, Error> {
        let mut esbuild = Command::new(&self.path);
        esbuild.arg("--version").env_clear().current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
        let asked = tokio::time::timeout(ANSWER_TIMEOUT, esbuild.kill_on_drop(true).output()).await;
        let answer = asked.map_err(Error::internal)?;
        let answer = answer.map_err(|error| Error::internal(format!("esbuild does not start: {error}")))?;
        let path = self.path.clone();
        let digest = tokio::task::spawn_blocking(move || std::fs::read(path).map(|program| Digest::of(&program))).await;
        let digest = digest.map_err(Error::internal)?.map_err(Error::internal)?;
        let version = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
        Ok(Package { kind: "generic", name: "esbuild".into(), version, hash: Some(Hash::sha256(digest.to_hex())) })
    }
}

/// What npm links into the search path may be a script that calls the program; then the program lies not far from it.
fn native(candidate: &Path) -> Option<PathBuf> {
    let path = candidate.canonicalize().ok()?;
    if is_program(&path) {
        return Some(path);
    }
    let near = |directory: &Path| [directory.join(NATIVE), directory.join("node_modules").join(NATIVE)];
    path.ancestors().skip(1).flat_map(near).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    let mut start = [0; ELF.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == ELF
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_program_is_found_behind_npms_script() {
        let directory = tempfile::tempdir().unwrap();
        let packages = directory.path().canonicalize().unwrap().join("lib/node_modules");
        let script = packages.join("esbuild/bin/esbuild");
        let program = packages.join("esbuild/node_modules").join(NATIVE);
        let bin = directory.path().join("bin");
        for file in [&script, &program, &bin.join("x")] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
        }
        fs::write(&script, "#!/usr/bin/env node\n").unwrap();
        std::os::unix::fs::symlink(&script, bin.join(NAME)).unwrap();
        assert!(Esbuild::find(None, bin.as_os_str()).is_err());
        fs::write(&program, "\x7fELF and more").unwrap();
        assert_eq!(Esbuild::find(None, bin.as_os_str()).unwrap().path(), program);
        assert_eq!(Esbuild::find(Some(&program), OsStr::new("")).unwrap().path(), program);
        let error = Esbuild::find(Some(Path::new("/none")), bin.as_os_str()).unwrap_err();
        assert!(error.to_string().contains("npm install --global esbuild"));
    }
}
