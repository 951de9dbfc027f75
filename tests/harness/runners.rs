//! The runner processes of a server, as the operating system shows them.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Server, eventually};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runner(Pid);

/// Returns the server's runners as soon as their number is `count`.
pub fn runners(server: &Server, count: usize) -> Vec<Runner> {
    eventually("the start of the runners", || {
        let found = all(server);
        (found.len() == count).then_some(found)
    })
}

fn all(server: &Server) -> Vec<Runner> {
    let parent = format!("PPid:\t{}\n", server.process_id());
    let is_runner = |status: &str| status.starts_with("Name:\tlathe-runner\n") && status.contains(&parent);
    let processes = fs::read_dir("/proc").expect("processes").filter_map(|entry| {
        let id = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let runner = Runner(Pid::from_raw(id));
        (is_runner(&runner.status()) && !runner.is_gone()).then_some(runner)
    });
    processes.collect()
}

impl Runner {
    pub fn signal(self, signal: Signal) {
        kill(self.0, signal).expect("the runner is there");
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
        eventually("the end of the runner", || self.is_gone().then_some(()));
    }
}
