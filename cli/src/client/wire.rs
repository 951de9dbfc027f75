//! The answers' shapes, as far as this program reads them. The whole document is kept beside them for `--json`.

use registry::Ledger;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::refusal::unexpected;

/// An answer as it came, and as far as we read it.
#[derive(Debug)]
pub struct Answer<T> {
    pub document: Value,
    pub body: T,
}

impl<T: DeserializeOwned> Answer<T> {
    pub fn read(document: Value, url: &str) -> anyhow::Result<Self> {
        let body = T::deserialize(&document).map_err(|error| unexpected(url, error))?;
        Ok(Self { document, body })
    }
}

#[derive(Clone, Debug, Deserialize)]
pub struct Tool {
    pub id: String,
    pub name: String,
    pub description: String,
    pub deprecated: bool,
    pub envvars: Vec<String>,
    pub secret_envvars: Vec<String>,
    pub tags: Vec<Tag>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Tag {
    pub key: String,
    pub value: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
}

impl std::fmt::Display for Version {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[derive(Clone, Debug, Deserialize)]
pub struct ToolVersion {
    pub version: Version,
    pub tool_commit_hash: String,
    pub project_directory: String,
    pub deprecated: bool,
    pub created_at: String,
    pub creator: Creator,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Creator {
    pub user_id: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct InvocationResults {
    pub invocation_results: Vec<InvocationResult>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct InvocationResult {
    #[serde(flatten)]
    pub status: ResultStatus,
    pub duration_ms: u64,
}

/// How a run ended. Told apart by their fields, since the wire's `succeeded` is a boolean.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum ResultStatus {
    Failed { exception_type: String, exception_message: String, exception_stack_trace: Vec<String> },
    Succeeded { output: String },
}

#[derive(Clone, Debug, Deserialize)]
pub struct Invocation {
    pub id: String,
    pub created_at: String,
    pub tool_id: String,
    pub tool_version: Version,
    /// `None` while the run goes on.
    pub invocation_status: Option<ResultStatus>,
    pub invocation_source: Value,
    pub duration_ms: u64,
    #[serde(default)]
    pub inputs: Value,
    /// Text that the tool printed.
    #[serde(default)]
    pub logs: String,
    /// Only in a record that is shown alone.
    #[serde(default)]
    pub ledger: Option<Ledger>,
}

impl Invocation {
    /// The version that ran; a branch test has none, which the wire writes as 0.0.0.
    pub fn published_version(&self) -> Option<Version> {
        let Version { major, minor, patch } = self.tool_version;
        ((major, minor, patch) != (0, 0, 0)).then_some(self.tool_version)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_results_are_read() {
        let results = json!({"invocation_results": [
            {"succeeded": true, "output": "o", "duration_ms": 1, "invocation_id": "ours"},
            {"succeeded": false, "exception_message": "m", "exception_type": "t", "exception_stack_trace": [], "duration_ms": 2},
        ]});
        let results: Answer<InvocationResults> = Answer::read(results, "http://h").expect("readable");
        let [first, second] = results.body.invocation_results.as_slice() else { panic!("two results") };
        assert!(matches!(&first.status, ResultStatus::Succeeded { output } if output == "o"));
        assert!(matches!(&second.status, ResultStatus::Failed { .. }) && second.duration_ms == 2);
    }
}
