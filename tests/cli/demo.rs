//! `lathe demo`, complete and interrupted.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{Lathe, PATIENCE, Process, Said, needs};
use crate::{javascript, rust};

/// The demo's steps, with a part of each result.
const STEPS: [(&str, &str); 14] = [
    ("start a server", "http://127.0.0.1:"),
    ("create an organisation", "demo with user ada and key "),
    ("clone its repository", "main is at "),
    ("make a tool", "tools/greet_guests with "),
    ("push it", "git push of "),
    ("test the branch", "Hello, Ada!"),
    ("create the tool", "greet_guests is "),
    ("publish it", "greet_guests 1.0.0, a WebAssembly component"),
    ("change it and push", "to releases/demo"),
    ("publish a minor version", "greet_guests 1.1.0, a WebAssembly component"),
    ("invoke ten inputs at once", "9 answered (1 simulated), 1 failed as it should"),
    ("search the outputs", "\"Bonjour\" is in 1 record"),
    ("search the stack traces", ", Mallory's run"),
    ("deprecate 1.0.0", "1.1.0 stays live"),
];

/// The directory that rustup creates when it is asked for the compiler.
const RUSTUP_DIRECTORY: &str = ".rustup";

/// Directories for everything that the demo writes.
struct Directories {
    home: TempDir,
    temporary: TempDir,
}

impl Directories {
    fn new() -> Self {
        let directory = || TempDir::new().expect("a directory");
        Self { home: directory(), temporary: directory() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let lathe = Lathe { home: self.home.path(), directory: self.home.path() };
        let mut command = lathe.command(&[&["demo"], arguments].concat());
        // The demo in Rust takes its crates from there.
        command.env("TMPDIR", self.temporary.path()).env("LATHE_CRATE_INDEX", "crates.io");
        command
    }

    fn said(&self, mut command: Command) -> Said {
        Said::from(command.output().expect("the program ends"))
    }

    /// Asserts that the demo left no file behind.
    #[track_caller]
    fn assert_empty(&self) {
        for directory in [&self.home, &self.temporary] {
            let entries = directory.path().read_dir().expect("a directory").map(|entry| entry.expect("a file").path());
            let left: Vec<PathBuf> = entries.filter(|path| !path.ends_with(RUSTUP_DIRECTORY)).collect();
            assert!(left.is_empty(), "{left:?} was left behind");
        }
    }
}

/// Runs the demo, with a directory at the front of `PATH`.
#[track_caller]
fn completes(language: &str, programs: Option<&Path>) {
    let directories = Directories::new();
    let mut command = directories.command(&["--language", language, "--json"]);
    if let Some(programs) = programs {
        command.env("PATH", path_with(programs));
    }
    let said = directories.said(command).ok();
    let document = said.document();
    let steps = document["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), STEPS.len(), "{document:#}");
    for (found, (name, shows)) in steps.iter().zip(STEPS) {
        assert_eq!(found["step"], name, "{document:#}");
        assert!(found["result"].as_str().is_some_and(|result| result.contains(shows)), "{shows:?} is not in {found}");
    }
    assert_eq!(document["server"], Value::Null, "a stopped server has no credentials");
    directories.assert_empty();
}

fn path_with(programs: &Path) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(directories).expect("paths without colons")
}

#[test]
fn the_demo_completes_in_python() {
    completes("python", None);
}

#[test]
fn the_demo_completes_in_typescript() {
    completes_with_esbuild("typescript");
}

#[test]
fn the_demo_completes_in_javascript() {
    completes_with_esbuild("javascript");
}

fn completes_with_esbuild(language: &str) {
    if let Some(esbuild) = javascript::esbuild() {
        completes(language, Path::new(&esbuild).parent());
    }
}

#[test]
fn the_demo_completes_in_rust() {
    if needs::PUBLIC_CRATES.require((rust::machine::crate_index() == "crates.io").then_some(())).is_none() {
        return;
    }
    if let Some(toolchain) = rust::machine::toolchain() {
        completes("rust", Some(&toolchain.join("bin")));
    }
}

#[test]
fn a_step_that_fails_is_named_and_leaves_nothing_behind() {
    let directories = Directories::new();
    let mut command = directories.command(&[]);
    command.env("PATH", directories.home.path());
    directories.said(command).refused(1, &["step 1, start a server", "apt-get install git"]);
    directories.assert_empty();
    directories.said(directories.command(&["--language", "cobol"])).refused(2, &["cobol", "python"]);
}

#[test]
fn an_interrupted_demo_says_so_and_leaves_nothing_behind() {
    let directories = Directories::new();
    let mut stopped = Running::start(&directories, &[]);
    stopped.until("create an organisation");
    let (code, stderr) = stopped.ended_by(Signal::SIGINT);
    assert!(code == Some(1) && stderr.contains("nothing is left behind"), "{code:?} {stderr}");
    directories.assert_empty();
}

/// The text output has a line for each step, then the next steps.
#[test]
fn a_kept_server_answers_until_it_is_stopped() {
    let directories = Directories::new();
    let mut kept = Running::start(&directories, &["--keep"]);
    let directory = kept.until("export LATHE_CONFIG_DIR=");
    let lines: Vec<&String> = kept.seen.iter().filter(|line| line.starts_with("ok ")).collect();
    assert_eq!(lines.len(), STEPS.len(), "{:?}", kept.seen);
    assert!(
        lines.iter().zip(STEPS).all(|(line, (name, shows))| line.contains(name) && line.contains(shows)),
        "{lines:?}"
    );
    let directory = Path::new(directory.split_once('=').expect("a directory").1);
    let lathe = Lathe { home: directory, directory: directories.home.path() };
    assert!(lathe.ok(&["tool", "versions", "greet_guests"]).contains("1.1.0"));
    let (code, stderr) = kept.ended_by(Signal::SIGINT);
    assert!(code == Some(0), "{code:?} {stderr}");
    directories.assert_empty();
}

/// A running demo.
struct Running {
    process: Process,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    /// The lines that were read.
    seen: Vec<String>,
}

impl Running {
    fn start(directories: &Directories, arguments: &[&str]) -> Self {
        let mut command = directories.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Process::start(command);
        let stdout = process.child().stdout.take().expect("a pipe");
        Self { process, lines: BufReader::new(stdout).lines(), seen: Vec::new() }
    }

    /// Reads up to the first line with these words.
    #[track_caller]
    fn until(&mut self, words: &str) -> String {
        for line in self.lines.by_ref().map_while(Result::ok) {
            self.seen.push(line.clone());
            if line.contains(words) {
                return line;
            }
        }
        panic!("the demo ended before {words:?}: {:?}", self.seen);
    }

    /// Sends a signal and returns the exit code and stderr.
    fn ended_by(mut self, signal: Signal) -> (Option<i32>, String) {
        self.process.signal(signal);
        let status = self.process.ended_within(PATIENCE).expect("an end");
        let stderr = self.process.child().stderr.take().expect("a pipe");
        (status.code(), std::io::read_to_string(stderr).expect("text"))
    }
}
