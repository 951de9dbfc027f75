//! What a job may use up.

use std::time::Duration;

/// Beyond each of these the job ends, or what it tried fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// From its start to its end.
    pub wall: Duration,
    /// Computing of each of its processes; the kernel ends one that is beyond it.
    pub cpu_seconds: u64,
    /// What one process may have of memory of its own. Address space is not bounded: engines reserve much more than they
    /// use.
    pub process_memory_bytes: u64,
    /// What all of its processes have together, which is looked at ten times a second.
    pub memory_bytes: u64,
    /// Processes and threads at once.
    pub processes: u64,
    /// Descriptors of each process.
    pub open_files: u64,
    /// No file grows beyond this, also where it has holes.
    pub file_bytes: u64,
    /// What lies in the scratch directory, which is memory.
    pub scratch_bytes: u64,
    /// Files and directories in it; each takes about a kilobyte of the kernel's memory.
    pub scratch_files: u64,
    /// Of the one file that is taken from it.
    pub output_bytes: u64,
}

impl Bounds {
    /// A release build of a tool with a hundred packages takes half a minute on two cores, a gigabyte for the compiler and
    /// the linker, 300 MB of files and 5,000 of them. The bounds leave room for twice to four times that.
    pub const BUILD: Self = Self {
        wall: Duration::from_secs(300),
        cpu_seconds: 300,
        process_memory_bytes: 2 << 30,
        memory_bytes: 3 << 30,
        processes: 256,
        open_files: 1_024,
        file_bytes: 512 << 20,
        scratch_bytes: 1 << 30,
        scratch_files: 50_000,
        // A component that is larger is not compiled.
        output_bytes: 64 << 20,
    };

    /// A look at the sandbox itself.
    pub(super) const PROBE: Self = Self {
        wall: Duration::from_secs(10),
        cpu_seconds: 5,
        process_memory_bytes: 64 << 20,
        memory_bytes: 128 << 20,
        processes: 16,
        open_files: 64,
        file_bytes: 1 << 20,
        scratch_bytes: 1 << 20,
        scratch_files: 100,
        output_bytes: 64 << 10,
    };
}
