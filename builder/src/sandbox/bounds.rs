//! The bounds of a job.

use std::time::Duration;

/// Resources that a job may use. Exceeding one ends the job, or fails the system call that exceeds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Time from start to end.
    pub wall: Duration,
    /// Processor time of each process; the kernel ends a process that exceeds it.
    pub cpu_seconds: u64,
    /// Private memory of one process. Address space is not bounded: engines reserve much more than they use.
    pub process_memory_bytes: u64,
    /// Memory of all processes together, measured ten times a second.
    pub memory_bytes: u64,
    /// Processes and threads at a time.
    pub processes: u64,
    /// Open descriptors of each process.
    pub open_files: u64,
    /// Size of each file, including holes.
    pub file_bytes: u64,
    /// Size of the scratch directory, which is in memory.
    pub scratch_bytes: u64,
    /// Files and directories in the scratch directory; each takes about a kilobyte of kernel memory.
    pub scratch_files: u64,
    /// Size of the output file.
    pub output_bytes: u64,
}

impl Bounds {
    /// The bounds of a build: two to ten times the use of a release build with a hundred packages, which takes half a
    /// minute on two cores, a gigabyte of memory for compiler and linker, and 300 MB in 5,000 files.
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
        // Larger components are not compiled.
        output_bytes: 64 << 20,
    };

    /// The bounds of the self-test.
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
