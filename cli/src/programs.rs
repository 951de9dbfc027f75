//! Programs on this machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use builder::Esbuild;

/// A program of the search path.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let candidates = std::env::split_paths(&path).map(|directory| directory.join(name));
    candidates.into_iter().find(|candidate| candidate.is_absolute() && candidate.is_file())
}

/// Where the toolchain behind `rustc` is. Asked from the root, so that no directory's own choice of a toolchain counts.
pub fn rust_toolchain() -> Option<PathBuf> {
    let mut rustc = Command::new(find("rustc")?);
    let asked = rustc.args(["--print", "sysroot"]).current_dir("/").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let answer = asked.ok().filter(|answer| answer.status.success())?;
    Some(PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim_end()))
}

/// The one that is named, or else the one in the search path. Without it all goes on but JavaScript and TypeScript.
pub fn esbuild(named: Option<&Path>) -> Option<Esbuild> {
    Esbuild::find(named, &std::env::var_os("PATH").unwrap_or_default()).ok()
}
