//! `lathe demo`: the guided walk, whole and cut short.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{Lathe, Process, Said};
use crate::{javascript, rust};

/// What it promises to walk through, with a word of what each step shows.
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

/// Longer than a server takes to stop on a busy machine.
const END_MAX: Duration = Duration::from_secs(60);

/// What rustup makes wherever it is asked which compiler there is.
const OF_RUSTUP: &str = ".rustup";

/// A place of its own for all that the demo writes.
struct Room {
    home: TempDir,
    temporary: TempDir,
}

impl Room {
    fn new() -> Self {
        let directory = || TempDir::new().expect("a directory");
        Self { home: directory(), temporary: directory() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let lathe = Lathe { home: self.home.path(), directory: self.home.path() };
        let mut command = lathe.command(&[&["demo"], arguments].concat());
        command.env("TMPDIR", self.temporary.path());
        command
    }

    fn said(&self, mut command: Command) -> Said {
        Said::from(command.output().expect("the program ends"))
    }

    /// Neither in the directory for temporary files, nor in the user's own.
    #[track_caller]
    fn is_empty(&self) {
        for directory in [&self.home, &self.temporary] {
            let entries = directory.path().read_dir().expect("a directory").map(|entry| entry.expect("a file").path());
            let left: Vec<PathBuf> = entries.filter(|path| !path.ends_with(OF_RUSTUP)).collect();
            assert!(left.is_empty(), "{left:?} is left");
        }
    }
}

/// Walks, with the programs of a directory before all others.
#[track_caller]
fn walks(language: &str, programs: Option<&Path>) {
    let room = Room::new();
    let mut command = room.command(&["--language", language, "--json"]);
    if let Some(programs) = programs {
        command.env("PATH", searched(programs));
    }
    let said = room.said(command).ok();
    let document = said.document();
    let steps = document["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), STEPS.len(), "{document:#}");
    for (found, (name, shows)) in steps.iter().zip(STEPS) {
        assert_eq!(found["step"], name, "{document:#}");
        assert!(found["result"].as_str().is_some_and(|result| result.contains(shows)), "{shows:?} is not in {found}");
    }
    assert_eq!(document["server"], Value::Null, "a server that is gone has no credentials");
    room.is_empty();
}

fn searched(programs: &Path) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(directories).expect("paths without colons")
}

#[test]
fn the_demo_walks_from_source_to_history() {
    walks("python", None);
}

#[test]
fn the_demo_walks_in_typescript() {
    walks_with_esbuild("typescript");
}

#[test]
fn the_demo_walks_in_javascript() {
    walks_with_esbuild("javascript");
}

fn walks_with_esbuild(language: &str) {
    match javascript::esbuild() {
        Some(esbuild) => walks(language, Path::new(&esbuild).parent()),
        None => eprintln!("there is no esbuild (LATHE_ESBUILD, or in PATH): {language} is not tried"),
    }
}

#[test]
fn the_demo_walks_in_rust() {
    if rust::machine::crate_index() != "crates.io" {
        println!("not tried: the demo takes its crates from the public registry");
        return;
    }
    match rust::machine::toolchain() {
        Ok(toolchain) => walks("rust", Some(&toolchain.join("bin"))),
        Err(reason) => {
            assert!(std::env::var_os("CI").is_none(), "{reason}");
            println!("not tried: {reason}");
        }
    }
}

#[test]
fn a_step_that_fails_is_named_and_leaves_nothing_behind() {
    let room = Room::new();
    let mut command = room.command(&[]);
    command.env("PATH", room.home.path());
    room.said(command).refused(1, &["step 1, start a server", "apt-get install git"]);
    room.is_empty();
    room.said(room.command(&["--language", "cobol"])).refused(2, &["cobol", "python"]);
}

#[test]
fn whoever_stops_it_in_the_middle_is_told_so() {
    let room = Room::new();
    let mut stopped = Running::start(&room, &[]);
    stopped.until("create an organisation");
    let (code, stderr) = stopped.ended_by(Signal::SIGINT);
    assert!(code == Some(1) && stderr.contains("nothing is left behind"), "{code:?} {stderr}");
    room.is_empty();
}

/// For people: a line for each step, then how to go on.
#[test]
fn a_kept_server_answers_until_it_is_stopped() {
    let room = Room::new();
    let mut kept = Running::start(&room, &["--keep"]);
    let directory = kept.until("export LATHE_CONFIG_DIR=");
    let lines: Vec<&String> = kept.seen.iter().filter(|line| line.starts_with("ok ")).collect();
    assert_eq!(lines.len(), STEPS.len(), "{:?}", kept.seen);
    assert!(
        lines.iter().zip(STEPS).all(|(line, (name, shows))| line.contains(name) && line.contains(shows)),
        "{lines:?}"
    );
    let directory = Path::new(directory.split_once('=').expect("a directory").1);
    let lathe = Lathe { home: directory, directory: room.home.path() };
    assert!(lathe.ok(&["tool", "versions", "greet_guests"]).contains("1.1.0"));
    let (code, stderr) = kept.ended_by(Signal::SIGINT);
    assert!(code == Some(0), "{code:?} {stderr}");
    room.is_empty();
}

/// A demo that is under way.
struct Running {
    process: Process,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    /// Those that were read.
    seen: Vec<String>,
}

impl Running {
    fn start(room: &Room, arguments: &[&str]) -> Self {
        let mut command = room.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Process::start(command);
        let stdout = process.child().stdout.take().expect("a pipe");
        Self { process, lines: BufReader::new(stdout).lines(), seen: Vec::new() }
    }

    /// The first line with these words.
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

    /// The exit code, and what was said on standard error.
    fn ended_by(mut self, signal: Signal) -> (Option<i32>, String) {
        self.process.signal(signal);
        let status = self.process.ended_within(END_MAX).expect("an end");
        let stderr = self.process.child().stderr.take().expect("a pipe");
        (status.code(), std::io::read_to_string(stderr).expect("text"))
    }
}
