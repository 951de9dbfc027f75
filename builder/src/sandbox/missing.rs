//! Why no job can be confined on this machine, and what its operator can do.

use std::fmt;
use std::path::Path;

use crate::error::{Error, Place};

const BUBBLEWRAP: &str = "sudo apt-get install bubblewrap";
const MANUAL: &str = "docs/operations.md tells what containers need";

/// Kernel settings that keep users from namespaces: the file, the value that does, and the command.
const SWITCHES: [(&str, &str, &str); 3] = [
    ("/proc/sys/user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
];

/// What stands in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub reason: String,
    /// What to type.
    pub remedy: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; {}", self.reason, self.remedy)
    }
}

impl Missing {
    /// Refuses a build whose language runs an author's code natively.
    #[must_use]
    pub fn of_stage(&self, stage: &'static str, language: &str) -> Error {
        let message = format!(
            "{language} builds run an author's code on this machine, which this server cannot confine: {}. Its operator can \
             mend that: {}",
            self.reason, self.remedy
        );
        Error::failed(stage, "sandbox", message, Place::default())
    }

    pub(super) fn bubblewrap() -> Self {
        Self { reason: "bubblewrap is not installed".into(), remedy: BUBBLEWRAP.into() }
    }

    pub(super) fn identity(error: impl fmt::Display) -> Self {
        Self { reason: format!("this process does not learn who it is: {error}"), remedy: MANUAL.into() }
    }

    /// A job that did not even start. What bubblewrap said tells why.
    pub(super) fn refused(said: &str) -> Self {
        let reason = match said.trim() {
            "" => "bubblewrap starts nothing".to_owned(),
            said => said.lines().last().unwrap_or(said).to_owned(),
        };
        if reason.contains("Unknown option") {
            let reason = format!("bubblewrap is older than 0.8.0 ({reason})");
            return Self { reason, remedy: BUBBLEWRAP.into() };
        }
        let remedy = switched_off(|file| std::fs::read_to_string(file).ok()).unwrap_or(MANUAL);
        Self { reason, remedy: remedy.into() }
    }

    /// The sandbox has a hole.
    pub(super) fn open(found: &[String]) -> Self {
        Self { reason: format!("a job in the sandbox {}", found.join(", ")), remedy: MANUAL.into() }
    }

    pub(super) fn unusable(program: &Path, problem: impl fmt::Display) -> Self {
        Self { reason: format!("{}: {problem}", program.display()), remedy: MANUAL.into() }
    }
}

fn switched_off(read: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let is_off = |(file, off, _): &&(&str, &str, &str)| read(file).is_some_and(|text| text.trim() == *off);
    SWITCHES.iter().find(is_off).map(|(.., remedy)| *remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_is_off_is_the_one_that_is_named() {
        let machine = |off: &'static str, value: &'static str| {
            move |file: &str| Some(if file.ends_with(off) { value } else { "7" }.to_owned())
        };
        let remedy = switched_off(machine("apparmor_restrict_unprivileged_userns", "1\n"));
        assert_eq!(remedy, Some("sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"));
        assert_eq!(switched_off(machine("max_user_namespaces", "0\n")), Some(SWITCHES[0].2));
        assert_eq!(switched_off(|_| None), None);
    }

    #[test]
    fn an_old_bubblewrap_is_told_from_a_kernel_that_refuses() {
        assert!(Missing::refused("bwrap: Unknown option --size").reason.contains("older than 0.8.0"));
        let refused = Missing::refused("bwrap: No permissions to create a new namespace, likely …");
        assert!(refused.reason.starts_with("bwrap: No permissions"), "{refused}");
    }
}
