//! The `git` program with a configuration of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use tokio::process::Command;

use crate::failure::Failure;

/// Timeout of a git command. A push on loopback takes milliseconds.
const GIT_TIME_MAX: Duration = Duration::from_secs(60);

pub struct Git {
    home: PathBuf,
    configuration: PathBuf,
    lathe_home: PathBuf,
}

impl Git {
    /// Writes a global configuration for these commands, with this program as the credential helper for the server.
    pub fn new(root: &Path, lathe_home: &Path, url: &str) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("finding this program's own path")?;
        let configuration = root.join("gitconfig");
        let helper = format!("!'{}' git-credential", program.display());
        let text = format!(
            "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n\
             [advice]\n\tdetachedHead = false\n[credential \"{url}\"]\n\thelper = \"{helper}\"\n"
        );
        std::fs::write(&configuration, text).context("writing git's configuration")?;
        Ok(Self { home: root.to_owned(), configuration, lathe_home: lathe_home.to_owned() })
    }

    /// Runs git and returns what it printed.
    pub async fn run(&self, directory: &Path, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.build_command(directory, arguments).output();
        let output = tokio::time::timeout(GIT_TIME_MAX, output)
            .await
            .with_context(|| format!("git {} did not end within {} s", arguments.join(" "), GIT_TIME_MAX.as_secs()))?
            .map_err(|error| cannot_start(&error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let reason = String::from_utf8_lossy(&output.stderr);
        anyhow::bail!("git {} failed: {}", arguments.join(" "), reason.trim())
    }

    /// Builds a command without the user's git configuration, identity and proxies.
    fn build_command(&self, directory: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(directory).stdin(Stdio::null()).kill_on_drop(true);
        for (name, _) in std::env::vars_os() {
            let name_text = name.to_string_lossy();
            if name_text.starts_with("GIT_") || name_text.to_ascii_lowercase().ends_with("_proxy") {
                command.env_remove(&name);
            }
        }
        command
            .env("HOME", &self.home)
            .env("XDG_CONFIG_HOME", &self.home)
            .env("GIT_CONFIG_GLOBAL", &self.configuration)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LATHE_CONFIG_DIR", &self.lathe_home);
        command
    }

    pub async fn commit_all(&self, repository: &Path, message: &str) -> anyhow::Result<String> {
        self.run(repository, &["add", "--all"]).await?;
        self.run(repository, &["commit", "--quiet", "--message", message]).await?;
        self.run(repository, &["rev-parse", "--short", "HEAD"]).await
    }
}

fn cannot_start(error: &std::io::Error) -> anyhow::Error {
    Failure::refused(format!("git cannot be started: {error}"), "`lathe doctor` shows the command that installs git")
}
