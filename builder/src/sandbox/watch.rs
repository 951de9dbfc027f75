//! Watches a running job for the bounds that the kernel does not enforce.

use std::os::fd::OwnedFd;
use std::time::Duration;

use nix::sys::statvfs::fstatvfs;
use tokio::time::MissedTickBehavior;

use super::tree;
use super::{Bounds, Failure, Used};

/// Time between two measurements. All cores together fill some hundred megabytes in it.
const INTERVAL: Duration = Duration::from_millis(100);

/// A running job, its bounds and its use so far.
pub struct Watched<'a> {
    /// The first process in the job's namespace.
    pub first: i32,
    pub scratch: &'a OwnedFd,
    pub bounds: &'a Bounds,
    pub used: Used,
}

impl Watched<'_> {
    /// Waits until the job exceeds a bound, and returns it.
    pub async fn wait_for_excess(&mut self) -> Failure {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Err(failure) = self.measure() {
                return failure;
            }
        }
    }

    fn measure(&mut self) -> Result<(), Failure> {
        let usage = tree::measure(self.first)?;
        self.used.processes = self.used.processes.max(usage.processes);
        self.used.memory_bytes = self.used.memory_bytes.max(usage.memory_bytes);
        require_at_most("bytes of memory", usage.memory_bytes, self.bounds.memory_bytes)?;
        require_at_most("processes", usage.processes, self.bounds.processes)?;
        self.measure_scratch()
    }

    /// Measures the scratch directory, during the job or after its end.
    pub fn measure_scratch(&mut self) -> Result<(), Failure> {
        let scratch = fstatvfs(self.scratch)?;
        let files = scratch.files().saturating_sub(scratch.files_free());
        let bytes = scratch.blocks().saturating_sub(scratch.blocks_free()).saturating_mul(scratch.fragment_size());
        self.used.scratch_files = self.used.scratch_files.max(files);
        self.used.scratch_bytes = self.used.scratch_bytes.max(bytes);
        require_at_most("files", files, self.bounds.scratch_files)
    }
}

fn require_at_most(what: &'static str, found: u64, max: u64) -> Result<(), Failure> {
    if found > max { Err(Failure::Bound { what, found, max }) } else { Ok(()) }
}
