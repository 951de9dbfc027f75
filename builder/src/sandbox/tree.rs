//! Measures the processes of a job through `/proc`.

use std::collections::HashMap;
use std::fs;
use std::io;

/// The use of all processes together.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ProcessTreeUsage {
    pub processes: u64,
    /// Private and shared memory, without memory that is backed by files, such as programs.
    pub memory_bytes: u64,
}

/// Measures a process and its descendants. In a process namespace no process leaves this tree: a process whose parent ends
/// becomes a child of the first process.
pub fn measure(first: i32) -> io::Result<ProcessTreeUsage> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(parent) = fs::read_to_string(format!("/proc/{pid}/stat")).ok().as_deref().and_then(parse_parent) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut usage = ProcessTreeUsage::default();
    let mut next = vec![first];
    while let Some(pid) = next.pop() {
        // A process that has ended meanwhile uses no memory.
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        usage.processes += 1;
        usage.memory_bytes += parse_memory_bytes(&status);
        next.extend(children.remove(&pid).unwrap_or_default());
    }
    Ok(usage)
}

/// The parent's id: the second word after the name, which is in parentheses and may contain any character.
fn parse_parent(stat: &str) -> Option<i32> {
    let (_, after) = stat.rsplit_once(')')?;
    after.split_whitespace().nth(1)?.parse().ok()
}

fn parse_memory_bytes(status: &str) -> u64 {
    let kilobytes = |line: &str| line.split_whitespace().nth(1)?.parse::<u64>().ok();
    let own = status.lines().filter(|line| line.starts_with("RssAnon:") || line.starts_with("RssShmem:"));
    own.filter_map(kilobytes).sum::<u64>() << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_contain_anything() {
        assert_eq!(parse_parent("12 (a) S 1 ) b) R 7 12 12"), Some(7));
        assert_eq!(parse_parent("12 no name"), None);
    }

    #[test]
    fn this_process_has_memory() {
        let pid = i32::try_from(std::process::id()).expect("a number");
        let usage = measure(pid).expect("a measurement");
        assert!(usage.processes >= 1 && usage.memory_bytes > 100_000, "{usage:?}");
    }
}
