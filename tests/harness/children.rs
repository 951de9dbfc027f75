//! The child processes of a server, as the operating system shows them.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Server, eventually};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child(Pid);

/// Returns the server's runners as soon as their number is `count`.
pub fn runners(server: &Server, count: usize) -> Vec<Child> {
    eventually("the start of the runners", || {
        let found = children(server, "lathe-runner");
        (found.len() == count).then_some(found)
    })
}

/// Returns the processes that validate inputs and outputs.
pub fn schema_processes(server: &Server) -> Vec<Child> {
    children(server, "lathe-schema")
}

/// Returns the processes that parse files and unpack packages.
pub fn parsing_processes(server: &Server) -> Vec<Child> {
    let is_parser = |child: &Child| {
        let command = fs::read(child.file("cmdline")).unwrap_or_default();
        command.ends_with(b"\0internal\0parse\0")
    };
    children(server, "lathe").into_iter().filter(is_parser).collect()
}

/// Returns the processes that compile images of languages.
pub fn compiling_processes(server: &Server) -> Vec<Child> {
    let is_compiler = |child: &Child| {
        let command = fs::read(child.file("cmdline")).unwrap_or_default();
        command.ends_with(b"\0internal\0compile\0")
    };
    children(server, "lathe").into_iter().filter(is_compiler).collect()
}

fn children(server: &Server, name: &str) -> Vec<Child> {
    let (name, parent) = (format!("Name:\t{name}\n"), format!("PPid:\t{}\n", server.process_id()));
    let is_child = |status: &str| status.starts_with(&name) && status.contains(&parent);
    let processes = fs::read_dir("/proc").expect("processes").filter_map(|entry| {
        let child = Child(Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?));
        (is_child(&child.status()) && !child.is_gone()).then_some(child)
    });
    processes.collect()
}

impl Child {
    pub fn signal(self, signal: Signal) {
        kill(self.0, signal).expect("the process is there");
    }

    /// The contents of `/proc/<pid>/status`; empty when the process no longer exists.
    pub fn status(self) -> String {
        fs::read_to_string(self.file("status")).unwrap_or_default()
    }

    pub fn file(self, name: &str) -> String {
        format!("/proc/{}/{name}", self.0)
    }

    /// Whether the process has ended, possibly as a zombie.
    pub fn is_gone(self) -> bool {
        let status = self.status();
        status.is_empty() || status.contains("State:\tZ")
    }

    /// Waits until the process has ended.
    #[track_caller]
    pub fn ended(self) {
        eventually("the end of the process", || self.is_gone().then_some(()));
    }
}
