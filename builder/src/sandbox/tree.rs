//! The processes of a job, seen from outside.

use std::collections::HashMap;
use std::fs;
use std::io;

/// What they have together.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Survey {
    pub processes: u64,
    /// Without what lies in files, such as programs: memory of their own, and what they share with one another.
    pub memory_bytes: u64,
}

/// Looks at a process and all that descend from it. In a process namespace nothing leaves that tree: whoever loses its
/// parent becomes a child of the first one.
pub fn survey(first: i32) -> io::Result<Survey> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(parent) = fs::read_to_string(format!("/proc/{pid}/stat")).ok().as_deref().and_then(parent) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut survey = Survey::default();
    let mut next = vec![first];
    while let Some(pid) = next.pop() {
        // One that has ended meanwhile has nothing.
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        survey.processes += 1;
        survey.memory_bytes += memory_bytes(&status);
        next.extend(children.remove(&pid).unwrap_or_default());
    }
    Ok(survey)
}

/// The second word behind the name, which stands in parentheses and may contain anything.
fn parent(stat: &str) -> Option<i32> {
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_whitespace().nth(1)?.parse().ok()
}

fn memory_bytes(status: &str) -> u64 {
    let kilobytes = |line: &str| line.split_whitespace().nth(1)?.parse::<u64>().ok();
    let own = status.lines().filter(|line| line.starts_with("RssAnon:") || line.starts_with("RssShmem:"));
    own.filter_map(kilobytes).sum::<u64>() << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_contain_anything() {
        assert_eq!(parent("12 (a) S 1 ) b) R 7 12 12"), Some(7));
        assert_eq!(parent("12 no name"), None);
    }

    #[test]
    fn this_process_has_memory() {
        let pid = i32::try_from(std::process::id()).expect("a number");
        let survey = survey(pid).expect("a survey");
        assert!(survey.processes >= 1 && survey.memory_bytes > 100_000, "{survey:?}");
    }
}
