//! Programs in `PATH`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use builder::EsbuildSource;

/// Returns the path of a program in `PATH`.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let candidates = std::env::split_paths(&path).map(|directory| directory.join(name));
    candidates.into_iter().find(|candidate| candidate.is_absolute() && candidate.is_file())
}

/// Returns the command that starts this program: its name if it is in `PATH`, else its path.
pub fn find_own_command() -> String {
    let Ok(program) = std::env::current_exe() else { return "lathe".to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_found = std::env::split_paths(&path).any(|directory| directory.join("lathe") == program);
    if is_found { "lathe".to_owned() } else { program.display().to_string() }
}

/// Returns the directory of the toolchain behind `rustc`. Runs `rustc` in `/`, so that no directory's toolchain file
/// applies.
pub fn find_rust_toolchain() -> Option<PathBuf> {
    let mut rustc = Command::new(find("rustc")?);
    let asked = rustc.args(["--print", "sysroot"]).current_dir("/").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let answer = asked.ok().filter(|answer| answer.status.success())?;
    Some(PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim_end()))
}

/// Returns the named esbuild, the one in `PATH`, or else the package of the npm registry. Only tools in JavaScript and
/// TypeScript need it.
pub fn find_esbuild(named: Option<&Path>) -> EsbuildSource {
    EsbuildSource::find(named, &std::env::var_os("PATH").unwrap_or_default())
}
