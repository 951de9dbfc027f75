//! Finds this machine's esbuild.

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
use crate::blocking::blocking;
use crate::error::Error;
use crate::steps::child;

const NAME: &str = "esbuild";
/// The work of the program, in messages.
const ASKING: &str = "asking esbuild for its release";
/// The first bytes of an executable.
const ELF: [u8; 4] = *b"\x7fELF";
/// The path of this platform's executable in an npm installation.
const NATIVE: &str =
    if cfg!(target_arch = "aarch64") { "@esbuild/linux-arm64/bin/esbuild" } else { "@esbuild/linux-x64/bin/esbuild" };

/// Time for esbuild to report its release, which takes milliseconds.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// An esbuild that was found.
#[derive(Debug, Clone)]
pub struct Esbuild {
    path: PathBuf,
    /// The release and digest, determined once. Replacing the program requires a restart.
    identity: Arc<OnceCell<Package>>,
}

/// The place that the bundler comes from.
#[derive(Debug, Clone, Default)]
pub enum EsbuildSource {
    /// A program on this machine.
    Installed(Esbuild),
    /// The package for this machine, from the npm registry.
    #[default]
    Package,
    /// The operator names a file that is no esbuild, or only one that needs Node.js.
    Missing,
}

impl EsbuildSource {
    /// The program that the operator names, the one in the search path, or else the package.
    pub fn find(named: Option<&Path>, search_path: &OsStr) -> Self {
        if let Some(named) = named {
            return find_native(named).map_or(Self::Missing, |path| Self::Installed(Esbuild::at(path)));
        }
        // A relative entry would depend on the directory in which a command is started.
        let found = env::split_paths(search_path)
            .filter(|directory| directory.is_absolute())
            .find_map(|directory| find_native(&directory.join(NAME)));
        found.map_or(Self::Package, |path| Self::Installed(Esbuild::at(path)))
    }
}

impl Esbuild {
    fn at(path: PathBuf) -> Self {
        Self { path, identity: Arc::default() }
    }

    /// A program whose release and digest are known.
    pub(super) fn known(path: PathBuf, identity: Package) -> Self {
        Self { path, identity: Arc::new(OnceCell::new_with(Some(identity))) }
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The release, and the digest of the program.
    ///
    /// # Errors
    /// When the program cannot be read or started.
    pub async fn identity(&self) -> Result<Package, Error> {
        self.identity.get_or_try_init(|| self.ask()).await.cloned()
    }

    async fn ask(&self) -> Result<Package, Error> {
        let mut esbuild = Command::new(&self.path);
        esbuild.arg("--version").env_clear().current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
        let asked = tokio::time::timeout(ANSWER_TIMEOUT, esbuild.kill_on_drop(true).output()).await;
        let answer = asked.map_err(|late| child::lost(ASKING, late.to_string()))?;
        let answer = answer.map_err(|error| child::lost(ASKING, error.to_string()))?;
        // Only what esbuild has said is remembered.
        if !answer.status.success() {
            return Err(child::lost(ASKING, answer.status.to_string()));
        }
        let path = self.path.clone();
        let digest = blocking(move || std::fs::read(path).map(|program| Digest::of(&program))).await?;
        let digest = digest.map_err(Error::internal)?;
        let version = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
        Ok(describe_package(version, Hash::sha256(digest.to_hex())))
    }
}

/// The program in provenance and bills of materials.
pub(super) fn describe_package(version: String, digest: Hash) -> Package {
    Package { kind: "generic", name: NAME.into(), version, hash: Some(digest) }
}

/// Finds the executable of a candidate. npm may link a script that calls the executable into the search path; the
/// executable then lies near the script.
fn find_native(candidate: &Path) -> Option<PathBuf> {
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
        assert!(matches!(EsbuildSource::find(None, bin.as_os_str()), EsbuildSource::Package));
        fs::write(&program, "\x7fELF and more").unwrap();
        let path = |named: Option<&Path>, search_path: &OsStr| match EsbuildSource::find(named, search_path) {
            EsbuildSource::Installed(esbuild) => Some(esbuild.path),
            _ => None,
        };
        assert_eq!(path(None, bin.as_os_str()).as_ref(), Some(&program));
        // The same directory, relative to the current directory.
        let up: PathBuf = env::current_dir().unwrap().components().skip(1).map(|_| "..").collect();
        let relative = up.join(bin.strip_prefix("/").unwrap());
        assert!(find_native(&relative.join(NAME)).is_some() && path(None, relative.as_os_str()).is_none());
        assert_eq!(path(Some(&program), OsStr::new("")).as_ref(), Some(&program));
        let named = EsbuildSource::find(Some(Path::new("/none")), bin.as_os_str());
        assert!(matches!(named, EsbuildSource::Missing), "a wrong name is not replaced by another program");
    }
}
