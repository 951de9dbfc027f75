//! The bodies of requests. The decoders of the routes read them, and clients write them.

use std::collections::BTreeMap;

use builder::ReplayGate;
use registry::{BranchName, BumpKind, Constraint, EnvvarName, InvocationMode, ProjectPath, SearchField, SecretValue};
use runner::Input;
use serde::{Serialize, Serializer};

/// The fields of a record that a search looks into, by their names in `query_against`.
pub(crate) const SEARCH_FIELDS: [(&str, SearchField); 5] = [
    ("invocation_status.output", SearchField::Output),
    ("invocation_status.exception_message", SearchField::ExceptionMessage),
    ("invocation_status.exception_type", SearchField::ExceptionType),
    ("invocation_status.exception_stack_trace", SearchField::ExceptionStackTrace),
    ("inputs", SearchField::Inputs),
];

/// The name of a field in `query_against`.
pub fn name_search_field(field: SearchField) -> Option<&'static str> {
    SEARCH_FIELDS.iter().find(|(_, known)| *known == field).map(|(name, _)| *name)
}

/// The bumps by their names in `bump_type`. `auto` is not in the contract.
pub const BUMPS: [(&str, Bump); 4] =
    [("major", Bump::Major), ("minor", Bump::Minor), ("patch", Bump::Patch), ("auto", Bump::Auto)];

/// The modes by their names in `invocation_mode`.
pub const MODES: [(&str, InvocationMode); 2] =
    [("regular", InvocationMode::Regular), ("conversation-simulation", InvocationMode::ConversationSimulation)];

/// The part of the version that a publication raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bump {
    Major,
    Minor,
    Patch,
    /// The smallest bump that the changes need.
    Auto,
}

impl Bump {
    pub(crate) const fn kind(self) -> Option<BumpKind> {
        match self {
            Self::Major => Some(BumpKind::Major),
            Self::Minor => Some(BumpKind::Minor),
            Self::Patch => Some(BumpKind::Patch),
            Self::Auto => None,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct PublishToolVersion {
    pub project_path: ProjectPath,
    pub bump_type: Bump,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_branch: Option<BranchName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<ReplayGate>,
}

#[derive(Clone, Serialize)]
pub struct TestTool {
    pub inputs: Vec<Input>,
    pub commit_branch: BranchName,
    pub project_path: ProjectPath,
    pub required_envvars: BTreeMap<EnvvarName, String>,
    #[serde(serialize_with = "serialize_exposed")]
    pub required_secret_envvars: BTreeMap<EnvvarName, SecretValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<ReplayGate>,
}

/// The code that a replay runs. An empty body means the version that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ReplayToolInvocation {
    Recorded {},
    Version {
        version: Constraint,
    },
    Branch {
        commit_branch: BranchName,
        #[serde(skip_serializing_if = "Option::is_none")]
        project_path: Option<ProjectPath>,
    },
}

fn serialize_exposed<S: Serializer>(
    secrets: &BTreeMap<EnvvarName, SecretValue>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(secrets.iter().map(|(name, value)| (name, value.expose())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_test_is_written_as_the_server_reads_it() {
        let name = |text| EnvvarName::parse(text).unwrap();
        let test = TestTool {
            inputs: Vec::new(),
            commit_branch: BranchName::parse("releases/acme").unwrap(),
            project_path: ProjectPath::parse("tools/shout").unwrap(),
            required_envvars: BTreeMap::from([(name("GREETING"), "hello".to_owned())]),
            required_secret_envvars: BTreeMap::from([(name("KEY"), SecretValue::new("s3cret".to_owned()))]),
            gate: Some(ReplayGate { runs_max: 5, different_percent_max: 0, slower_percent_max: None }),
        };
        let expected = json!({
            "inputs": [], "commit_branch": "releases/acme", "project_path": "tools/shout",
            "required_envvars": {"GREETING": "hello"}, "required_secret_envvars": {"KEY": "s3cret"},
            "gate": {"replay": 5, "different_percent_max": 0},
        });
        assert_eq!(serde_json::to_value(&test).unwrap(), expected);
    }
}
