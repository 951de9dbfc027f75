//! Reasons why a machine cannot confine jobs, with the operator's remedy.

use std::fmt;
use std::path::Path;

use crate::error::{Error, Location};

const BUBBLEWRAP: &str = "sudo apt-get install bubblewrap";
const MANUAL: &str = "docs/how-to/set-up-the-build-sandbox.md lists what containers need";

/// Kernel settings that deny namespaces to users: the file, the denying value, and the command that changes it.
const SWITCHES: [(&str, &str, &str); 3] = [
    ("/proc/sys/user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
];

/// A missing part of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub reason: String,
    /// The command to run, or the document to read.
    pub remedy: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; {}", self.reason, self.remedy)
    }
}

impl Missing {
    /// The refusal of a build that would run an author's code natively.
    #[must_use]
    pub fn of_stage(&self, stage: &'static str, language: &str) -> Error {
        let message = format!(
            "{language} builds run an author's code natively, and this server cannot confine it: {}. Ask the operator to \
             run: {}",
            self.reason, self.remedy
        );
        Error::failed((stage, "sandbox"), message, Location::default())
    }

    pub(super) fn bubblewrap() -> Self {
        Self { reason: "bubblewrap is not installed".into(), remedy: BUBBLEWRAP.into() }
    }

    pub(super) fn identity(error: impl fmt::Display) -> Self {
        Self { reason: format!("cannot read this process's user ids: {error}"), remedy: MANUAL.into() }
    }

    /// Bubblewrap did not start the job; `output` is what it printed.
    pub(super) fn refused(output: &str) -> Self {
        let reason = match output.trim() {
            "" => "bubblewrap does not start".to_owned(),
            output => output.lines().last().unwrap_or(output).to_owned(),
        };
        if reason.contains("Unknown option") {
            let reason = format!("bubblewrap is older than 0.8.0 ({reason})");
            return Self { reason, remedy: BUBBLEWRAP.into() };
        }
        let remedy = switched_off(|file| std::fs::read_to_string(file).ok()).unwrap_or(MANUAL);
        Self { reason, remedy: remedy.into() }
    }

    /// The self-test reached what the sandbox must protect.
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
    fn the_remedy_names_the_setting_that_denies_namespaces() {
        let machine = |off: &'static str, value: &'static str| {
            move |file: &str| Some(if file.ends_with(off) { value } else { "7" }.to_owned())
        };
        let remedy = switched_off(machine("apparmor_restrict_unprivileged_userns", "1\n"));
        assert_eq!(remedy, Some("sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"));
        assert_eq!(switched_off(machine("max_user_namespaces", "0\n")), Some(SWITCHES[0].2));
        assert_eq!(switched_off(|_| None), None);
    }

    #[test]
    fn an_old_bubblewrap_is_distinguished_from_a_kernel_that_refuses() {
        assert!(Missing::refused("bwrap: Unknown option --size").reason.contains("older than 0.8.0"));
        let refused = Missing::refused("bwrap: No permissions to create a new namespace, likely …");
        assert!(refused.reason.starts_with("bwrap: No permissions"), "{refused}");
    }
}
