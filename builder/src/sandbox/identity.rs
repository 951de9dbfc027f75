//! The user ids of jobs. A server that runs as root gives each job its own id, so that jobs cannot reach each other and
//! the kernel's limit of processes applies, which it does not for root.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::unistd::geteuid;

/// Lowest user id of a job. Far above the ids that systems and containers assign; all ids fit into a signed number.
const FIRST: u32 = 2_000_000_000;
/// Number of user ids. Large enough that two servers on a machine, which start at random ids, do not use the same one.
const COUNT: u32 = 1 << 27;
/// User id in containers that map few ids. It has no rights on any system.
const NOBODY: u32 = 65_534;

/// The next id, starting at a random one.
static NEXT: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(RandomState::new().hash_one(()) as u32));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identities {
    /// The server's own id, since only root can change it.
    Own,
    /// An own id for each job.
    Range,
    /// The id of `nobody`, for all jobs.
    Nobody,
}

impl Identities {
    pub fn of_this_process() -> io::Result<Self> {
        if !geteuid().is_root() {
            return Ok(Self::Own);
        }
        let map = std::fs::read_to_string("/proc/self/uid_map")?;
        Ok(if maps(&map, FIRST + COUNT - 1) { Self::Range } else { Self::Nobody })
    }

    /// The user and group id to change to, or `None` for the server's own.
    pub fn next(self) -> Option<u32> {
        match self {
            Self::Own => None,
            Self::Range => Some(FIRST + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT),
            Self::Nobody => Some(NOBODY),
        }
    }
}

/// Whether this user namespace maps an id. Lines are: first id inside, first id outside, count.
fn maps(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        matches!(numbers[..], [first, _, count] if (first..first + count).contains(&id.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_may_map_few_ids() {
        assert!(maps("         0          0 4294967295\n", FIRST));
        assert!(!maps("0 1000 1\n1 100000 65536\n", FIRST));
        assert!(maps("0 1000 1\n1 100000 65536\n", NOBODY));
        assert!(!maps("", 0));
    }
}
