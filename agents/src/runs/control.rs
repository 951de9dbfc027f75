//! Control tools. They exist in runs only. All but `__run_workflow__` change the run itself only.

use registry::{Clock, Timestamp, suggest_in, visible, visible_lines};
use runner::{find_excess, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::human::{HumanQuestion, PAUSE};
use super::run_checkpoint::{Remembered, RunCheckpoint};
use super::run_stage::FinalAnswer;
use super::workflow_request::WorkflowRequest;
use crate::domain::agent_runs::Urgency;
use crate::model::{ModelCall, ToolDefinition};

/// Bytes of all values in the memory of a run.
const MEMORY_BYTES_MAX: usize = 256 << 10;
/// Bytes of a key with its value. The model can read a value whole.
const VALUE_BYTES_MAX: usize = 16 << 10;
/// Bytes of a question with its options and its summary, which a person reads.
const QUESTION_BYTES_MAX: usize = 16 << 10;
/// Characters of a milestone, by which steps are found.
pub const MILESTONE_CHARACTERS_MAX: usize = 128;

struct ControlTool {
    name: &'static str,
    description: &'static str,
    schema: fn() -> Value,
    apply: fn(&mut RunCheckpoint, Map<String, Value>, Timestamp) -> ControlEffect,
}

/// The effect of a call of a control tool.
pub(super) enum ControlEffect {
    /// The run goes on with this observation.
    Result(Value),
    /// A milestone was recorded.
    Logged { observation: Value, milestone: Option<String> },
    /// The arguments are wrong; the run goes on.
    InvalidArguments(String),
    /// A workflow is run, and the run goes on with its observation.
    RunWorkflow(WorkflowRequest),
    /// The run ends with this answer.
    Completed(FinalAnswer),
    /// The run waits for the answer of a person to this question.
    Asks(Box<HumanQuestion>),
}

const TOOLS: [ControlTool; 6] = [
    ControlTool {
        name: "__complete__",
        description: "Ends the work with the final answer. Call it when the objective is reached.",
        schema: schema_of::<Complete>,
        apply: complete,
    },
    ControlTool {
        name: "__run_workflow__",
        description: "Runs a workflow and returns its result. Workflows are the published tools of the agent. With wait false, or when \
            the time is over, it returns a workflow_run_id, and the workflow goes on.",
        schema: schema_of::<WorkflowRequest>,
        apply: run_workflow,
    },
    ControlTool {
        name: PAUSE,
        description: "Asks a person, and waits until the person answers. The answer is the result of this call.",
        schema: schema_of::<Pause>,
        apply: pause,
    },
    ControlTool {
        name: "__store_memory__",
        description: "Keeps a value under a key until the end of this run, or for some seconds. A value of the same key is replaced.",
        schema: schema_of::<Remember>,
        apply: store,
    },
    ControlTool {
        name: "__retrieve_memory__",
        description: "Returns a value that was stored earlier in this run.",
        schema: schema_of::<Recall>,
        apply: retrieve,
    },
    ControlTool {
        name: "__log_progress__",
        description: "Records how far the work has come, for those who watch it.",
        schema: schema_of::<Log>,
        apply: log,
    },
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Complete {
    /// The final answer.
    #[schemars(length(max = 131_072))]
    answer: String,
    /// How sure the answer is, from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    #[serde(default = "sure")]
    confidence: f64,
    /// A short account of the work.
    #[schemars(length(max = 16_384))]
    #[serde(default)]
    summary: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pause {
    /// The question.
    #[schemars(length(max = 16_384))]
    question: String,
    /// Choices for the person.
    #[schemars(length(max = 64), inner(length(max = 1_024)))]
    #[serde(default)]
    options: Vec<String>,
    /// An account of the work so far.
    #[schemars(length(max = 16_384))]
    #[serde(default)]
    context_summary: Option<String>,
    /// How urgent the answer is.
    #[schemars(with = "String", extend("enum" = ["low", "medium", "high"]))]
    #[serde(default)]
    urgency: Option<Urgency>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Remember {
    /// The key of the value.
    #[schemars(length(max = 1_024))]
    key: String,
    /// Any value.
    value: Value,
    /// Seconds after which the value is gone.
    #[schemars(range(min = 0))]
    #[serde(default)]
    ttl_seconds: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Recall {
    /// The key of the value.
    #[schemars(length(max = 1_024))]
    key: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the step of the run has all arguments")]
struct Log {
    /// What was reached.
    #[schemars(length(max = 16_384))]
    message: String,
    /// A name for this point of the work.
    #[schemars(length(max = 128))]
    #[serde(default)]
    milestone: Option<String>,
    /// Details.
    #[serde(default)]
    data: Option<Map<String, Value>>,
}

const fn sure() -> f64 {
    1.0
}

/// Whether a tool exists in runs only.
pub(super) fn is_control_tool(name: &str) -> bool {
    find(name).is_some()
}

/// The names of the control tools.
pub(crate) fn list_control_tool_names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.name)
}

fn find(name: &str) -> Option<&'static ControlTool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The definitions of the control tools that a run has.
pub(super) fn list_definitions(checkpoint: &RunCheckpoint) -> impl Iterator<Item = ToolDefinition> {
    TOOLS.iter().filter(|tool| checkpoint.allows_tool(tool.name)).map(|tool| ToolDefinition {
        name: tool.name.to_owned(),
        description: tool.description.to_owned(),
        input_schema: (tool.schema)().to_string().into(),
    })
}

/// Carries out a call of a control tool. `None` for a call of another tool.
pub(super) fn apply(checkpoint: &mut RunCheckpoint, call: &ModelCall, clock: &Clock) -> Option<ControlEffect> {
    let (tool, arguments) = (find(&call.name)?, call.members());
    if let Some(excess) = find_excess(&(tool.schema)(), &arguments) {
        return Some(ControlEffect::InvalidArguments(excess));
    }
    Some((tool.apply)(checkpoint, arguments, clock.now()))
}

fn complete(_: &mut RunCheckpoint, input: Map<String, Value>, _: Timestamp) -> ControlEffect {
    let Complete { answer, confidence, summary } = match read(input) {
        Ok(complete) => complete,
        Err(wrong) => return wrong,
    };
    if !(0.0..=1.0).contains(&confidence) {
        return ControlEffect::InvalidArguments("confidence should be a number from 0 to 1".to_owned());
    }
    ControlEffect::Completed(FinalAnswer { answer, confidence, summary })
}

fn run_workflow(_: &mut RunCheckpoint, input: Map<String, Value>, _: Timestamp) -> ControlEffect {
    WorkflowRequest::read(input).map_or_else(ControlEffect::InvalidArguments, ControlEffect::RunWorkflow)
}

fn pause(checkpoint: &mut RunCheckpoint, input: Map<String, Value>, _: Timestamp) -> ControlEffect {
    let Pause { question, options, context_summary, urgency } = match read(input) {
        Ok(pause) => pause,
        Err(wrong) => return wrong,
    };
    let texts = [&question].into_iter().chain(&options).chain(&context_summary);
    if texts.map(String::len).sum::<usize>() > QUESTION_BYTES_MAX {
        return ControlEffect::InvalidArguments(format!("a question has at most {QUESTION_BYTES_MAX} bytes in all"));
    }
    if checkpoint.asks_nobody() {
        return ControlEffect::InvalidArguments("nobody answers the questions of this run".to_owned());
    }
    // A person reads them.
    let options = options.iter().map(|option| visible(option)).collect();
    let context_summary = context_summary.as_deref().map(visible_lines);
    let asked = HumanQuestion::of_server(&question);
    ControlEffect::Asks(Box::new(HumanQuestion { options, context_summary, urgency, ..asked }))
}

fn store(checkpoint: &mut RunCheckpoint, input: Map<String, Value>, now: Timestamp) -> ControlEffect {
    let Remember { key, value, ttl_seconds } = match read(input) {
        Ok(store) => store,
        Err(wrong) => return wrong,
    };
    checkpoint.forget_expired(now);
    let others = checkpoint.memory.iter().filter(|(other, _)| **other != key);
    let bytes: usize = others.map(|(key, remembered)| key.len() + remembered.value.to_string().len()).sum();
    if key.len() + value.to_string().len() > VALUE_BYTES_MAX {
        return ControlEffect::InvalidArguments(format!("a key with its value has at most {VALUE_BYTES_MAX} bytes"));
    }
    if bytes + key.len() + value.to_string().len() > MEMORY_BYTES_MAX {
        return ControlEffect::InvalidArguments(format!("the memory of a run has at most {MEMORY_BYTES_MAX} bytes"));
    }
    let expires_at = match ttl_seconds {
        None => None,
        Some(seconds) if (0.0..=1e9).contains(&seconds) => Some(now.after(std::time::Duration::from_secs_f64(seconds))),
        Some(_) => {
            return ControlEffect::InvalidArguments("ttl_seconds should be a number from 0 to 1000000000".to_owned());
        }
    };
    let expires_at = expires_at.map(Timestamp::as_milliseconds);
    checkpoint.memory.insert(key.clone(), Remembered { value, stored_at: now.as_milliseconds(), expires_at });
    let message = format!("Stored value under key \"{key}\"");
    ControlEffect::Result(json!({"stored": true, "key": key, "message": message}))
}

fn retrieve(checkpoint: &mut RunCheckpoint, input: Map<String, Value>, now: Timestamp) -> ControlEffect {
    let Recall { key } = match read(input) {
        Ok(retrieve) => retrieve,
        Err(wrong) => return wrong,
    };
    checkpoint.forget_expired(now);
    ControlEffect::Result(match checkpoint.memory.get(&key) {
        Some(Remembered { value, stored_at, .. }) => {
            let stored_at = Timestamp::from_milliseconds(*stored_at).to_string();
            json!({"found": true, "key": key, "value": value, "stored_at": stored_at})
        }
        None => {
            let message = format!("No memory found for key \"{key}\"");
            json!({"found": false, "key": key, "message": message})
        }
    })
}

fn log(_: &mut RunCheckpoint, input: Map<String, Value>, _: Timestamp) -> ControlEffect {
    let Log { milestone, .. } = match read(input) {
        Ok(log) => log,
        Err(wrong) => return wrong,
    };
    let is_name = |name: &String| name.chars().count() <= MILESTONE_CHARACTERS_MAX && !name.contains('\0');
    if !milestone.as_ref().is_none_or(is_name) {
        return ControlEffect::InvalidArguments(format!(
            "milestone should have at most {MILESTONE_CHARACTERS_MAX} characters, and no NUL"
        ));
    }
    let observation = json!({"logged": true, "milestone": milestone, "message": "Progress logged"});
    ControlEffect::Logged { observation, milestone }
}

fn read<T: DeserializeOwned>(input: Map<String, Value>) -> Result<T, ControlEffect> {
    serde_json::from_value(Value::Object(input))
        .map_err(|error| ControlEffect::InvalidArguments(suggest_in(error.to_string())))
}

#[cfg(test)]
mod tests {
    use runner::unbounded_places;

    use super::*;

    /// Values of any form, which [`VALUE_BYTES_MAX`], the schema of the workflow and the bytes of a checkpoint bound.
    const ANY: [(&str, &str); 3] =
        [("__store_memory__", "/value"), ("__run_workflow__", "/input"), ("__log_progress__", "/data")];

    #[test]
    fn every_text_of_a_control_tool_has_a_bound() {
        for tool in TOOLS {
            let places = unbounded_places(&(tool.schema)());
            let silent: Vec<_> = places.iter().filter(|place| !ANY.contains(&(tool.name, place))).collect();
            assert!(silent.is_empty(), "{}: {silent:?}", tool.name);
        }
    }
}
