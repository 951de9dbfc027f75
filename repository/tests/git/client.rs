//! The real `git` client with its own home directory and configuration.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A clone on an author's machine.
pub struct Client {
    home: TempDir,
    pub clone: PathBuf,
}

/// The output of a git command.
#[derive(Debug)]
pub struct Said {
    pub success: bool,
    pub text: String,
}

impl Client {
    /// Clones with extra arguments. Fails the test if the clone fails.
    pub fn clone_from(url: &str, arguments: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        let clone = home.path().join("clone");
        let client = Self { home, clone };
        let words = [&["clone", "-q"], arguments, &[url, "clone"]].concat();
        let said = client.run_in(client.home.path(), &words);
        assert!(said.success, "{}", said.text);
        client
    }

    /// Runs git in the clone.
    pub fn git(&self, arguments: &[&str]) -> Said {
        self.run_in(&self.clone, arguments)
    }

    /// Runs git in the clone. Fails the test if git fails.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let said = self.git(arguments);
        assert!(said.success, "git {arguments:?}: {}", said.text);
        said.text
    }

    /// Runs a line of shell in the clone. Fails the test if it fails.
    pub fn ok_shell(&self, line: &str) -> String {
        self.ok(&["-c", &format!("alias.line=!{line}"), "line"])
    }

    /// Writes a file and commits it.
    pub fn commit(&self, path: &str, content: &[u8]) {
        let file = self.clone.join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        fs::write(file, content).expect("a file");
        self.ok(&["add", "--all"]);
        self.ok(&["commit", "-q", "-m", path]);
    }

    pub fn head(&self) -> String {
        self.ok(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    fn run_in(&self, directory: &Path, arguments: &[&str]) -> Said {
        let output = Command::new("git")
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.version=2"])
            .args(arguments)
            .current_dir(directory)
            .env("HOME", self.home.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .env_remove("http_proxy")
            .env("no_proxy", "*")
            .output()
            .expect("git runs");
        Said::from(&output)
    }
}

impl Said {
    fn from(output: &Output) -> Self {
        let parts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        Self { success: output.status.success(), text: parts.concat() }
    }

    /// Fails the test unless the command failed and printed all of `words`.
    pub fn assert_refused(&self, words: &[&str]) {
        assert!(!self.success, "{}", self.text);
        // The client prefixes the server's lines, and does not wrap them.
        for word in words {
            assert!(self.text.contains(word), "{word:?} is missing in: {}", self.text);
        }
    }
}
