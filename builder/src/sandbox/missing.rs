//! Reasons why a machine cannot confine jobs, with the operator's remedy.

use std::fmt;
use std::path::Path;

const BUBBLEWRAP: &str = "sudo apt-get install bubblewrap";
const MANUAL: &str = "in a container, its seccomp profile has to allow namespaces and mounts, and /proc must not be masked (with Docker: \
                      --security-opt seccomp=unconfined --security-opt systempaths=unconfined)";

/// A kernel setting that denies namespaces to users.
#[derive(Debug, PartialEq, Eq)]
pub struct KernelSetting {
    pub file: &'static str,
    pub denying_value: &'static str,
    /// The command that changes the setting.
    remedy: &'static str,
}

const SETTINGS: [KernelSetting; 3] = [
    KernelSetting {
        file: "/proc/sys/user/max_user_namespaces",
        denying_value: "0",
        remedy: "sudo sysctl -w user.max_user_namespaces=15000",
    },
    KernelSetting {
        file: "/proc/sys/kernel/unprivileged_userns_clone",
        denying_value: "0",
        remedy: "sudo sysctl -w kernel.unprivileged_userns_clone=1",
    },
    KernelSetting {
        file: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        denying_value: "1",
        remedy: "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    },
];

impl KernelSetting {
    /// The setting of this machine that denies namespaces, if there is one.
    #[must_use]
    pub fn denying() -> Option<&'static Self> {
        Self::find_denying_in(|file| std::fs::read_to_string(file).ok())
    }

    fn find_denying_in(read: impl Fn(&str) -> Option<String>) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| read(setting.file).is_some_and(|text| text.trim() == setting.denying_value))
    }
}

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
        let remedy = KernelSetting::denying().map_or(MANUAL, |setting| setting.remedy);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_denies_namespaces_is_found() {
        let machine = |off: &'static str, value: &'static str| {
            move |file: &str| Some(if file.ends_with(off) { value } else { "7" }.to_owned())
        };
        let found = KernelSetting::find_denying_in(machine("apparmor_restrict_unprivileged_userns", "1\n"));
        assert_eq!(found, Some(&SETTINGS[2]));
        assert_eq!(KernelSetting::find_denying_in(machine("max_user_namespaces", "0\n")), Some(&SETTINGS[0]));
        assert_eq!(KernelSetting::find_denying_in(|_| None), None);
    }

    #[test]
    fn an_old_bubblewrap_is_distinguished_from_a_kernel_that_refuses() {
        assert!(Missing::refused("bwrap: Unknown option --size").reason.contains("older than 0.8.0"));
        let refused = Missing::refused("bwrap: No permissions to create a new namespace, likely …");
        assert!(refused.reason.starts_with("bwrap: No permissions"), "{refused}");
    }
}
