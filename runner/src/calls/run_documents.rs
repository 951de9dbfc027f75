//! Writes the JSON documents that a tool receives.

use std::collections::BTreeMap;

use registry::{OrganizationId, RunId, Variables};
use serde::Serialize;

use crate::calls::call::Input;

/// The variables that the version declares.
pub fn write_config(variables: &Variables) -> String {
    #[derive(Serialize)]
    struct Config<'a> {
        envvars: BTreeMap<&'a str, &'a str>,
        secrets: BTreeMap<&'a str, &'a str>,
    }
    let Variables { envvars, secrets } = variables;
    write_json(&Config {
        envvars: envvars.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        secrets: secrets.iter().map(|(name, value)| (name.as_str(), value.expose())).collect(),
    })
}

pub fn write_user_variables(input: &Input) -> String {
    #[derive(Serialize)]
    struct UserVariables<'a> {
        nonsensitive: &'a BTreeMap<String, String>,
        sensitive: &'a BTreeMap<String, String>,
    }
    write_json(&UserVariables {
        nonsensitive: &input.nonsensitive_user_variables,
        sensitive: &input.sensitive_user_variables,
    })
}

/// Facts about the run for the tool.
#[derive(Serialize)]
pub struct Metadata<'a> {
    /// Time at which the run is stopped, in milliseconds since 1970.
    pub deadline_ms: i64,
    pub invocation_id: &'a RunId,
    pub invocation_mode: &'static str,
    pub organization: &'a OrganizationId,
    pub tool_id: &'a str,
    pub tool_name: &'a str,
    pub version: String,
}

/// Writes texts, numbers and maps of them, which always succeeds.
pub fn write_json(document: &impl Serialize) -> String {
    serde_json::to_string(document).unwrap_or_default()
}
