//! The machine's esbuild: which file it is.

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

const NAME: &str = "esbuild";
/// What a program of this system begins with.
const ELF: [u8; 4] = *b"\x7fELF";
/// Where npm puts the program of this machine.
const NATIVE: &str =
    if cfg!(target_arch = "aarch64") { "@esbuild/linux-arm64/bin/esbuild" } else { "@esbuild/linux-x64/bin/esbuild" };

/// An esbuild that was found.
#[derive(Debug, Clone)]
pub struct Esbuild {
    path: PathBuf,
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
        found.map(|path| Self { path }).ok_or(EsbuildMissing)
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
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
