//! The processes that run a server's tools, seen from outside.

use std::fs;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Server, eventually};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runner(Pid);

/// The server's runners, once there are so many of them.
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

    /// What the kernel says of it; empty when it is gone.
    pub fn status(self) -> String {
        fs::read_to_string(self.file("status")).unwrap_or_default()
    }

    pub fn file(self, name: &str) -> String {
        format!("/proc/{}/{name}", self.0)
    }

    /// Whether it has ended, even if nobody has taken note yet.
    pub fn is_gone(self) -> bool {
        let status = self.status();
        status.is_empty() || status.contains("State:\tZ")
    }

    pub fn is_gone_within(self, limit: Duration) -> bool {
        let deadline = tokio::time::Instant::now() + limit;
        while !self.is_gone() && tokio::time::Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.is_gone()
    }
}
