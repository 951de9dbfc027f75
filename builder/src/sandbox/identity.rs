//! As whom jobs run. A server that is root takes another user id for each, so that neither of two jobs can reach the other,
//! and so that the kernel's bound of processes holds, which it does not for root.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::unistd::geteuid;

/// Far above ids that systems and their containers give away, and below those that are signed.
const FIRST: u32 = 2_000_000_000;
/// So many that two servers on a machine, each of which begins somewhere among them, do not meet.
const COUNT: u32 = 1 << 27;
/// The one without rights on every system, where a container knows few ids.
const NOBODY: u32 = 65_534;

/// Counts up from anywhere.
static NEXT: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(RandomState::new().hash_one(()) as u32));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identities {
    /// That of the server, which can become no other.
    Own,
    /// From a range that nobody else has.
    Range,
    Nobody,
}

impl Identities {
    pub fn of_this_process() -> io::Result<Self> {
        if !geteuid().is_root() {
            return Ok(Self::Own);
        }
        let map = std::fs::read_to_string("/proc/self/uid_map")?;
        Ok(if knows(&map, FIRST + COUNT - 1) { Self::Range } else { Self::Nobody })
    }

    /// A user and group id to change to; none when the job has the server's own.
    pub fn next(self) -> Option<u32> {
        match self {
            Self::Own => None,
            Self::Range => Some(FIRST + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT),
            Self::Nobody => Some(NOBODY),
        }
    }
}

/// Whether this user namespace has an id. Lines are: first id inside, first outside, how many.
fn knows(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        matches!(numbers[..], [first, _, count] if (first..first + count).contains(&id.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_may_know_few_ids() {
        assert!(knows("         0          0 4294967295\n", FIRST));
        assert!(!knows("0 1000 1\n1 100000 65536\n", FIRST));
        assert!(knows("0 1000 1\n1 100000 65536\n", NOBODY));
        assert!(!knows("", 0));
    }
}
