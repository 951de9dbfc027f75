//! The `lathe` program, run as users run it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// `lathe` with its own configuration directory.
pub struct Lathe<'a> {
    pub home: &'a Path,
    pub directory: &'a Path,
}

/// The output and the exit code of a command.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Lathe<'_> {
    pub fn run(&self, arguments: &[&str]) -> Said {
        self.run_with(arguments, "")
    }

    /// Returns a command that is not started yet.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lathe"));
        clean_environment(&mut command);
        command.args(arguments).current_dir(self.directory);
        command.env("LATHE_CONFIG_DIR", self.home).env("HOME", self.home);
        command
    }

    /// Runs a command with text on its standard input.
    pub fn run_with(&self, arguments: &[&str], stdin: &str) -> Said {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        // A command that does not read its input may have ended.
        let _ = child.stdin.take().expect("a pipe").write_all(stdin.as_bytes());
        Said::from(child.wait_with_output().expect("the program ends"))
    }

    pub fn ok(&self, arguments: &[&str]) -> String {
        self.run(arguments).ok().stdout
    }

    /// Parses the output of a command with `--json`.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let said = self.run(&[&["--json"], arguments].concat());
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said.document()
    }
}

impl Said {
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Fails the test unless the command ended with this code and printed all of `words` on stderr.
    pub fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is missing in: {self:?}");
        }
    }

    pub fn document(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Removes the developer's own settings from the environment of a process, and the package registries of the machine.
pub fn clean_environment(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let proxy = text.to_ascii_lowercase().ends_with("_proxy");
        if proxy || ["LATHE_", "GIT_", "AWS_"].iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env("LATHE_DEFAULT_REGISTRIES", "none");
}
