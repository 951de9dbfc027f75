//! The call that a person confirms.

use registry::{CallDecider, Digest, ToolId, UserId, Version};
use serde::{Deserialize, Serialize};

/// Everything that a confirmation is about. A call that differs in any of it is confirmed anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfirmedCall {
    pub tool: String,
    /// `None` for a tool of the server.
    pub tool_id: Option<ToolId>,
    pub version: Option<Version>,
    /// The code that runs. `None` for a tool of the server.
    pub component_digest: Option<Digest>,
    /// Digest of the arguments as JSON, with the keys in their order.
    pub arguments_digest: Digest,
    /// The user for whom the tool is called.
    pub user: UserId,
    /// The decider of an autonomous call.
    pub decider: Option<CallDecider>,
}

impl ConfirmedCall {
    /// Says in which way the call differs from an earlier one, in a sentence for a person. `None` when it is the same.
    #[must_use]
    pub fn changes_since(&self, earlier: &Self) -> Option<String> {
        let mut changes = Vec::new();
        if self.tool_id != earlier.tool_id {
            changes.push("it is another tool of this name".to_owned());
        }
        match (earlier.version, self.version) {
            (Some(before), Some(now)) if before != now => changes.push(format!("version {before} is now {now}")),
            _ if self.component_digest != earlier.component_digest => {
                changes.push("its code is another one".to_owned())
            }
            _ => {}
        }
        if let (Some(before), Some(now)) = (&earlier.decider, &self.decider) {
            changes.extend(now.describe_change_since(before));
        }
        if self.arguments_digest != earlier.arguments_digest {
            changes.push("its arguments are others".to_owned());
        }
        if changes.is_empty() && self != earlier {
            changes.push("the caller is another one".to_owned());
        }
        (!changes.is_empty())
            .then(|| format!("{} has changed since it was confirmed: {}.", self.tool, changes.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> ConfirmedCall {
        ConfirmedCall {
            tool: "pay".into(),
            tool_id: None,
            version: Version::parse("1.0.0").ok(),
            component_digest: Some(Digest::of(b"one")),
            arguments_digest: Digest::of(b"{}"),
            user: UserId::parse("ada").unwrap(),
            decider: None,
        }
    }

    #[test]
    fn a_person_reads_what_has_changed() {
        assert_eq!(call().changes_since(&call()), None);
        let other = Some(Digest::of(b"two"));
        let published = ConfirmedCall { version: Version::parse("1.1.0").ok(), component_digest: other, ..call() };
        let told = "pay has changed since it was confirmed: version 1.0.0 is now 1.1.0.";
        assert_eq!(published.changes_since(&call()).as_deref(), Some(told));
        for changed in [
            ConfirmedCall { component_digest: other, ..call() },
            ConfirmedCall { arguments_digest: Digest::of(b"[]"), ..call() },
            ConfirmedCall { user: UserId::parse("bob").unwrap(), ..call() },
        ] {
            assert!(changed.changes_since(&call()).is_some(), "{changed:?}");
        }
    }
}
