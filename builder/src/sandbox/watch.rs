//! Looking at a job while it runs, for what the kernel does not bound by itself.

use std::os::fd::OwnedFd;
use std::time::Duration;

use nix::sys::statvfs::fstatvfs;
use tokio::time::MissedTickBehavior;

use super::tree;
use super::{Bounds, Failure, Used};

/// In so long all cores together fill some hundred megabytes.
const INTERVAL: Duration = Duration::from_millis(100);

/// What is looked at.
pub struct Watched<'a> {
    /// The first process in the job's namespace.
    pub first: i32,
    pub scratch: &'a OwnedFd,
    pub bounds: &'a Bounds,
}

impl Watched<'_> {
    /// Ends with the bound that the job is beyond.
    pub async fn beyond(&self, used: &mut Used) -> Failure {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Err(failure) = self.look(used) {
                return failure;
            }
        }
    }

    fn look(&self, used: &mut Used) -> Result<(), Failure> {
        let survey = tree::survey(self.first)?;
        used.processes = used.processes.max(survey.processes);
        used.memory_bytes = used.memory_bytes.max(survey.memory_bytes);
        bounded("bytes of memory", survey.memory_bytes, self.bounds.memory_bytes)?;
        bounded("processes", survey.processes, self.bounds.processes)?;
        self.measure_scratch(used)
    }

    /// Also after the end.
    pub fn measure_scratch(&self, used: &mut Used) -> Result<(), Failure> {
        let scratch = fstatvfs(self.scratch)?;
        let files = scratch.files().saturating_sub(scratch.files_free());
        let bytes = scratch.blocks().saturating_sub(scratch.blocks_free()).saturating_mul(scratch.fragment_size());
        used.scratch_files = used.scratch_files.max(files);
        used.scratch_bytes = used.scratch_bytes.max(bytes);
        bounded("files", files, self.bounds.scratch_files)
    }
}

fn bounded(what: &'static str, found: u64, max: u64) -> Result<(), Failure> {
    if found > max { Err(Failure::Bound { what, found, max }) } else { Ok(()) }
}
