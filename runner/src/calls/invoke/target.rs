//! The code that a call runs: a version of a published tool, a branch, or a native tool.

use std::sync::Arc;

use registry::{Digest, Granted, Intervention, Language, NativeToolName, SecretValue, ToolId, Version};
use serde_json::{Map, Value};

use super::resolved::Resolved;
use crate::calls::native::NativeTool;
use crate::calls::schema::InputSchema;

/// Characters of the longest output of a native tool.
pub const NATIVE_OUTPUT_CHARACTERS_MAX: usize = 1024 * 1024;

/// The resolved subject of a call.
pub(super) enum Target {
    /// A version or a branch, which runs in the sandbox.
    Component(Box<Resolved>),
    /// A function of the server.
    Native(Arc<NativeTool>),
}

/// The author of a tool's code, on whom policies and the trust in results depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrustClass {
    /// The server's own code.
    Platform,
    /// An author's code.
    Governed,
}

impl Target {
    pub fn name(&self) -> &str {
        match self {
            Self::Component(resolved) => &resolved.tool_name,
            Self::Native(tool) => &tool.name,
        }
    }

    /// The id of the published tool.
    pub fn tool_id(&self) -> Option<&ToolId> {
        match self {
            Self::Component(resolved) => resolved.tool_id.as_ref(),
            Self::Native(_) => None,
        }
    }

    /// The published version.
    pub fn version(&self) -> Option<Version> {
        match self {
            Self::Component(resolved) => resolved.tool_id.as_ref().map(|_| resolved.version),
            Self::Native(_) => None,
        }
    }

    pub fn native_tool(&self) -> Option<NativeToolName> {
        match self {
            Self::Component(_) => None,
            Self::Native(tool) => NativeToolName::parse(&tool.name).ok(),
        }
    }

    /// The digest of a version's component.
    pub fn component_digest(&self) -> Option<Digest> {
        match self {
            Self::Component(resolved) => resolved.component,
            Self::Native(_) => None,
        }
    }

    /// Whether the version declares tools that its runs call.
    pub fn calls_tools(&self) -> bool {
        match self {
            Self::Component(resolved) => !resolved.calls.is_empty(),
            Self::Native(_) => false,
        }
    }

    /// Whether the version has several APIs.
    pub fn has_apis(&self) -> bool {
        let Self::Component(resolved) = self else { return false };
        resolved.callable.as_ref().is_some_and(|callable| !callable.version.settings.apis.is_empty())
    }

    /// Whether a person confirms a call with these inputs, as the tool itself declares. Tools of the server ask for none.
    pub fn find_intervention(&self, inputs: &[Map<String, Value>]) -> Intervention {
        let Self::Component(resolved) = self else { return Intervention::Never };
        let Some(callable) = &resolved.callable else { return Intervention::Never };
        let settings = &callable.version.settings;
        let declared = inputs.iter().map(|input| settings.intervention_of(input)).max().unwrap_or_default();
        declared.max(resolved.loaded.rules.find_strictest(inputs.iter()))
    }

    /// Whether the inputs of a call decide about its confirmation.
    pub fn intervention_depends_on_inputs(&self) -> bool {
        let Self::Component(resolved) = self else { return false };
        self.has_apis() || !resolved.loaded.rules.is_empty()
    }

    pub const fn trust_class(&self) -> TrustClass {
        match self {
            Self::Component(_) => TrustClass::Governed,
            Self::Native(_) => TrustClass::Platform,
        }
    }

    pub fn input_schema(&self) -> &InputSchema {
        match self {
            Self::Component(resolved) => &resolved.loaded.schema,
            Self::Native(tool) => &tool.input,
        }
    }

    /// The language, for metrics.
    pub fn language(&self) -> &'static str {
        match self {
            Self::Component(resolved) => Language::as_str(resolved.language),
            Self::Native(_) => "native",
        }
    }

    /// The tool whose recorded responses simulations use and regular runs extend.
    pub fn responses_of(&self) -> Option<&ToolId> {
        match self {
            Self::Component(resolved) => resolved.responses_of.as_ref(),
            Self::Native(_) => None,
        }
    }

    /// The schema of the output for an input, which is the text of a JSON object.
    pub fn find_output_schema(&self, tool_input: &str) -> Option<&InputSchema> {
        match self {
            Self::Component(resolved) => resolved.loaded.outputs.of_input(tool_input),
            Self::Native(tool) => Some(&tool.output),
        }
    }

    /// The secrets that the tool or its requests get.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretValue> {
        let resolved = match self {
            Self::Component(resolved) => Some(&**resolved),
            Self::Native(_) => None,
        };
        resolved
            .into_iter()
            .flat_map(|resolved| resolved.variables.secrets.values().chain(resolved.egress_policy.secret_values()))
    }

    /// Characters of the longest output.
    pub fn output_characters(&self) -> usize {
        match self {
            Self::Component(resolved) => resolved.limits.output_characters,
            Self::Native(_) => NATIVE_OUTPUT_CHARACTERS_MAX,
        }
    }

    /// The variables and limits that a run gets.
    pub fn granted(&self) -> Granted {
        let Self::Component(resolved) = self else { return Granted::default() };
        let Resolved { limits, variables, egress_policy, .. } = &**resolved;
        Granted {
            envvars: variables.envvars.keys().map(ToString::to_string).collect(),
            secrets: variables.secrets.keys().map(ToString::to_string).collect(),
            host_secrets: egress_policy.secret_names(),
            wall_ms: limits.wall_ms,
            cpu_ms: limits.cpu_ms,
            memory_bytes: limits.memory_bytes,
        }
    }
}
