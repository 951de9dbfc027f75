//! An author's git repository, used through the real `git`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use super::Said;
use super::lathe::clean_environment;

static HAS_GIT: LazyLock<bool> =
    LazyLock::new(|| Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success()));

/// Fails the test on a machine without git, with the command that installs it.
pub fn require_git() {
    assert!(*HAS_GIT, "these tests need the program `git`; install it: apt-get install git");
}

pub struct Repository {
    home: PathBuf,
    pub directory: PathBuf,
}

impl Repository {
    /// Creates an empty repository in `home`.
    pub fn new(home: &Path) -> Self {
        let repository = Self { home: home.to_owned(), directory: home.join("repository") };
        fs::create_dir_all(&repository.directory).expect("a directory");
        repository.ok(&["init", "-q", "-b", "work"]);
        repository
    }

    /// Clones a repository into `home`, below `name`.
    pub fn clone_from(home: &Path, name: &str, url: &str, arguments: &[&str]) -> Self {
        let repository = Self { home: home.to_owned(), directory: home.join(name) };
        let words = [&["clone", "-q"], arguments, &[url, name]].concat();
        repository.run_in(home, &words).ok();
        repository
    }

    /// Runs git in the repository.
    pub fn git(&self, arguments: &[&str]) -> Said {
        self.run_in(&self.directory, arguments)
    }

    /// Runs git in the repository. Fails the test if git fails.
    pub fn ok(&self, arguments: &[&str]) -> String {
        self.git(arguments).ok().stdout.trim().to_owned()
    }

    /// Runs git in the repository, and returns the bytes that it writes.
    pub fn output(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.command(&self.directory, arguments).output().expect("git starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    pub fn write(&self, path: &str, bytes: &[u8]) {
        let file = self.directory.join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        fs::write(file, bytes).expect("a file");
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.directory.join(path)).expect("a file to remove");
    }

    pub fn remove_all(&self, path: &str) {
        fs::remove_dir_all(self.directory.join(path)).expect("a directory to remove");
    }

    /// Commits everything, even without a change.
    pub fn commit(&self) -> String {
        self.ok(&["add", "--all"]);
        self.ok(&["commit", "-q", "--allow-empty", "-m", "work"]);
        self.ok(&["rev-parse", "HEAD"])
    }

    fn run_in(&self, directory: &Path, arguments: &[&str]) -> Said {
        Said::from(self.command(directory, arguments).output().expect("git starts"))
    }

    fn command(&self, directory: &Path, arguments: &[&str]) -> Command {
        require_git();
        let mut command = Command::new("git");
        clean_environment(&mut command);
        command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "gc.auto=0"]);
        command.args(arguments).current_dir(directory).env("HOME", &self.home).env("XDG_CONFIG_HOME", &self.home);
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        command
    }
}
