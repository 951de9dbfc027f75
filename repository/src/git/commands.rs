//! Commands of git on one repository, with a clean environment, fixed settings and limits.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use super::program::GitProgram;
use super::settings::{HOOKS_DIRECTORY, SETTINGS};

/// Starts git under soft limits:
///
/// - 60 processor seconds for each process; a full clone of the largest repository takes a few,
/// - 512 MiB of address space: twice the need for receiving, sending and repacking 300,000 objects or files of the largest
///   accepted size; an object that inflates to more ends in git's own "out of memory",
/// - no core dumps,
/// - the highest priority for the kernel's out-of-memory killer.
///
/// git does not start without a limit of time and of memory. A lower limit of the server itself stays.
const LIMITED: &str = "ulimit -S -c 0 2>/dev/null; \
    ulimit -S -t 60 2>/dev/null || [ \"$(ulimit -t)\" != unlimited ] || exit 1; \
    ulimit -S -v 524288 2>/dev/null || [ \"$(ulimit -v)\" != unlimited ] || exit 1; \
    { echo 800 > /proc/self/oom_score_adj; } 2>/dev/null; ";
/// Starts a command that a request waits for.
const NORMAL: &str = "exec \"$@\"";
/// Starts a command that no request waits for, at the lowest priority.
const LOW_PRIORITY: &str = "exec nice -n 19 \"$@\"";

/// The priority of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    Normal,
    Low,
}

/// Makes commands of git for repositories below one directory. Clones are cheap.
#[derive(Debug, Clone)]
pub(crate) struct GitCommands {
    git: GitProgram,
    root: PathBuf,
}

impl GitCommands {
    pub(crate) fn new(git: GitProgram, root: &Path) -> Self {
        Self { git, root: root.to_owned() }
    }

    /// `git` with its whole environment, which inherits nothing of the server's but PATH. The caller adds arguments.
    pub(crate) fn build_command(&self, repository: &Path, priority: Priority) -> Command {
        let start = match priority {
            Priority::Normal => NORMAL,
            Priority::Low => LOW_PRIORITY,
        };
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("{LIMITED}{start}"), "git"]).arg(self.git.path());
        command.env_clear().current_dir(&self.root);
        command.env("PATH", self.git.search_path()).env("LC_ALL", "C");
        self.set_configuration(&mut command, repository);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        command
    }

    /// Sets options that override the configuration of the machine and of the repository.
    fn set_configuration(&self, command: &mut Command, repository: &Path) {
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_CONFIG_COUNT", (SETTINGS.len() + 2).to_string());
        command.env("GIT_CONFIG_KEY_0", "safe.directory").env("GIT_CONFIG_VALUE_0", repository);
        let hooks = self.root.join(HOOKS_DIRECTORY);
        command.env("GIT_CONFIG_KEY_1", "core.hooksPath").env("GIT_CONFIG_VALUE_1", hooks);
        for (number, (name, value)) in (2..).zip(SETTINGS) {
            command.env(format!("GIT_CONFIG_KEY_{number}"), name).env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
    }
}
