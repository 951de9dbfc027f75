//! The settings and bounds of hosted git.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `root` | the directory of the repositories, made if absent | `<data>/git` |
//! | `hook_program` | the program of the hook, which runs `<hook_program> internal pre-receive` | this binary |
//! | `operations` | running and waiting fetches and pushes | 8 and 128, of one organisation half of them |
//! | `repository_bytes_max` | the quota of an organisation's repository | 1 GiB |

use std::path::PathBuf;

use registry::AdmissionBounds;

/// git operations of the process at a time. Each uses one core and up to 512 MiB of address space. Eight operations are
/// slower than four on most machines, but a slow client occupies one for minutes.
const PROCESSES_MAX: usize = 8;
/// Waiting git operations of the process. Each occupies only a connection.
const PROCESSES_QUEUED_MAX: usize = 128;
/// The least number of operations at a time, so that one organisation cannot occupy all.
const PROCESSES_MIN: usize = 2;
/// Bytes of one organisation's repository: ten of the largest pushes, and a hundred times the sources of the largest
/// expected team.
const REPOSITORY_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The places of hosted git.
#[derive(Debug, Clone)]
pub struct Config {
    pub root: PathBuf,
    pub hook_program: PathBuf,
}

/// Bounds of hosted git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GitLimits {
    /// Running and waiting fetches and pushes.
    pub operations: AdmissionBounds,
    /// The quota of an organisation's repository.
    pub repository_bytes_max: u64,
}

impl Default for GitLimits {
    fn default() -> Self {
        Self { operations: Self::operations(PROCESSES_MAX), repository_bytes_max: REPOSITORY_BYTES_MAX }
    }
}

impl GitLimits {
    /// Bounds with this number of operations at a time, at least two. One organisation may run half of them.
    #[must_use]
    pub fn operations(parallel_max: usize) -> AdmissionBounds {
        let parallel_max = parallel_max.max(PROCESSES_MIN);
        AdmissionBounds {
            parallel_max,
            queued_max: PROCESSES_QUEUED_MAX,
            organization_parallel_max: parallel_max / 2,
            organization_queued_max: PROCESSES_QUEUED_MAX / 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_organization_can_occupy_all_operations_or_the_whole_queue() {
        for parallel_max in [0, 1, 2, 3, 8, 1_000] {
            let bounds = GitLimits::operations(parallel_max);
            assert!(bounds.organization_parallel_max >= 1);
            assert!(bounds.organization_parallel_max < bounds.parallel_max);
            assert!(bounds.organization_queued_max < bounds.queued_max);
        }
    }
}
