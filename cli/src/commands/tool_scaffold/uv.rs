//! The program uv, which makes environments and installs packages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::failure::Failure;
use crate::programs;

/// The environment of a project.
pub const ENVIRONMENT: &str = ".venv";
/// The oldest release that works.
const VERSION_MIN: [u64; 3] = [0, 10, 2];
const INSTALL_HINT: &str = "install it: https://docs.astral.sh/uv/getting-started/installation, or `pip install uv`";

pub struct Uv {
    program: PathBuf,
    /// Whether uv prints what it does.
    is_verbose: bool,
}

impl Uv {
    /// Finds uv in `PATH`, and checks its version.
    pub fn find(is_verbose: bool) -> anyhow::Result<Self> {
        let program = programs::find("uv").ok_or_else(|| {
            Failure::coded("uv_missing", "uv is not in PATH; 0.10.2 or later is needed", INSTALL_HINT)
        })?;
        let asked = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
        let asked = asked.with_context(|| format!("starting {}", program.display()))?;
        let text = String::from_utf8_lossy(&asked.stdout);
        match parse_version(&text) {
            Some(found) if found >= VERSION_MIN => Ok(Self { program, is_verbose }),
            Some([major, minor, patch]) => {
                let path = program.display();
                let message = format!("{path} is uv {major}.{minor}.{patch}; 0.10.2 or later is needed");
                Err(Failure::coded("uv_outdated", message, "`uv self update`, or `pip install --upgrade uv`"))
            }
            None => {
                let message = format!("{} does not say its version: {}", program.display(), text.trim());
                Err(Failure::coded("uv_missing", message, INSTALL_HINT))
            }
        }
    }

    /// Makes the environment of a project unless it has one, and installs a package in it.
    pub fn install(&self, project: &Path, requirement: &str) -> anyhow::Result<()> {
        if !project.join(ENVIRONMENT).exists() {
            self.run(project, &["venv", ENVIRONMENT])?;
        }
        // The package of another release of the server has the same name and address.
        self.run(project, &["pip", "install", "--python", ENVIRONMENT, "--reinstall", requirement])
    }

    /// Runs uv in a project. What it prints is shown if it fails, or if the user wants it.
    fn run(&self, project: &Path, arguments: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(project).stdin(Stdio::null()).stdout(Stdio::null());
        // An activated environment is not that of the project.
        command.env_remove("VIRTUAL_ENV");
        if self.is_verbose {
            command.arg("--verbose").stderr(Stdio::inherit());
        } else {
            command.stderr(Stdio::piped());
        }
        let output = command.output().with_context(|| format!("starting {}", self.program.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let message = format!("`uv {}` failed in {}: {}", arguments.join(" "), project.display(), said.trim());
        Err(Failure::coded("uv_failed", message, "`-v` shows what uv does"))
    }
}

/// Reads the version in a text such as `uv 0.10.2 (x86_64-unknown-linux-gnu)`.
fn parse_version(text: &str) -> Option<[u64; 3]> {
    let number = text.trim().strip_prefix("uv ")?.split([' ', '-', '+']).next()?;
    let mut parts = number.split('.').map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert_eq!(parse_version("uv 0.10.2 (x86_64-unknown-linux-gnu)\n"), Some([0, 10, 2]));
        assert_eq!(parse_version("uv 1.0.0-rc.1"), Some([1, 0, 0]));
        assert!(parse_version("uv 0.9.30").is_some_and(|old| old < VERSION_MIN));
        assert_eq!((parse_version("pip 25.0"), parse_version("uv new"), parse_version("")), (None, None, None));
    }
}
