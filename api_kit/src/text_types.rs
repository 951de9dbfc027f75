//! Decoders of the texts that more than one operation reads, and the path parameters.
//!
//! The contract removes white space around names before it checks them; so do the decoders of those names. Each pattern
//! describes the parser of its type to clients; `document_and_reader_agree_on_every_body` in
//! `api/tests/it/openapi/bodies.rs` compares both with generated values.

use agents::{AgentReference, AgentSlug, DownloadToken, StateName};
use registry::{
    AgentId, AgentRunId, ApiKeyId, BranchName, BuildId, Constraint, ConversationId, Description, Digest, EnvvarName,
    HoldId, HoldReason, HumanRequestId, InteractionId, OperationId, ProjectPath, RevisionNumber, RoleName, RunId, Tags,
    Timestamp, ToolId, ToolName, TurnId, UserId, UserVariableName, to_pep440,
};
use serde_json::{Value, json};

use crate::extract::{Decoder, Node, PathParameter, Text, admit_null};
use crate::openapi::schemas;

pub fn tool_name_schema() -> Value {
    let bytes_max = ToolName::BYTES_MAX;
    json!({"type": "string", "minLength": 1, "maxLength": bytes_max, "pattern": "^[a-z0-9_]+$", "x-stripped": true})
}

fn agent_reference() -> Value {
    json!({"type": "string", "maxLength": AgentSlug::BYTES_MAX, "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"})
}

/// A path has no white space to remove.
fn tool_name_in_path() -> Value {
    json!({"type": "string", "maxLength": ToolName::BYTES_MAX, "pattern": "^[a-z0-9_]+$"})
}

pub const DESCRIPTION: Text<Description> = Text::trimmed(|| {
    let bytes_max = Description::BYTES_MAX;
    json!({
        "type": "string", "minLength": 1, "maxLength": bytes_max, "pattern": r"^[^\u0000]*$",
        "x-bytes-max": bytes_max, "x-stripped": true,
    })
});

pub const HOLD_REASON: Text<HoldReason> = Text::trimmed(|| {
    let bytes_max = HoldReason::BYTES_MAX;
    json!({
        "type": "string", "minLength": 1, "maxLength": bytes_max, "pattern": r"^[^\u0000]*$",
        "x-bytes-max": bytes_max, "x-stripped": true,
    })
});

pub const ENVVAR_NAME: Text<EnvvarName> = Text::trimmed(|| {
    let bytes_max = EnvvarName::BYTES_MAX;
    json!({"type": "string", "minLength": 1, "maxLength": bytes_max, "pattern": "^[A-Z_][A-Z0-9_]*$", "x-stripped": true})
});

pub const USER_VARIABLE_NAME: Text<UserVariableName> = Text::trimmed(|| {
    let bytes_max = UserVariableName::BYTES_MAX;
    json!({"type": "string", "minLength": 2, "maxLength": bytes_max, "pattern": "^[a-z_][a-z0-9_]+$", "x-stripped": true})
});

pub const DIGEST: Text<Digest> =
    Text::of_type(|| json!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$", "minLength": 71, "maxLength": 71}));

pub const PROJECT_PATH: Text<ProjectPath> = Text::of_type(|| {
    json!({
        "type": "string", "maxLength": ProjectPath::BYTES_MAX, "pattern": "^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*/?$",
        "description": "The project's folder, from the root of the repository.",
    })
});

pub const BRANCH_NAME: Text<BranchName> = Text::of_type(|| branch_schema(""));

/// A branch that versions are published from.
pub const RELEASE_BRANCH: Text<BranchName> = Text::new(
    || branch_schema(BranchName::RELEASES),
    |text| match BranchName::parse(text) {
        Ok(branch) if !branch.is_release() => Err(format!(
            "versions are published from branches below {}; push the commit there, or test this branch instead",
            BranchName::RELEASES
        )),
        parsed => parsed.map_err(|error| error.to_string()),
    },
);

/// A branch whose name begins with `prefix`. The pattern has the rules of `git check-ref-format --branch`.
fn branch_schema(prefix: &str) -> Value {
    let refused = r"^(?!-|@$|HEAD$)(?!.*(\.\.|@\{|\.$|\.lock(/|$)))";
    let characters = r"\u0000-\u0020\u007f-\u009f~^:?*\[\\/";
    let part = format!("[^.{characters}][^{characters}]*");
    let bytes_max = BranchName::BYTES_MAX;
    json!({
        "type": "string", "maxLength": bytes_max, "x-bytes-max": bytes_max,
        "pattern": format!("{refused}{prefix}{part}(/{part})*$"),
        "description": "The branch without `refs/heads/`.",
    })
}

pub const USER_ID: Text<UserId> =
    Text::of_type(|| json!({"type": "string", "maxLength": UserId::BYTES_MAX, "pattern": "^[A-Za-z0-9._@-]+$"}));

pub const STATE_NAME: Text<StateName> =
    Text::of_type(|| json!({"type": "string", "maxLength": StateName::BYTES_MAX, "pattern": "^[A-Za-z0-9_-]+$"}));

pub const ROLE_NAME: Text<RoleName> =
    Text::of_type(|| json!({"type": "string", "maxLength": RoleName::BYTES_MAX, "pattern": "^[a-z0-9_-]+$"}));

/// A parser reads version constraints; no pattern of a readable length describes them.
pub const CONSTRAINT: Text<Constraint> = Text::new(
    || json!({"type": "string", "maxLength": Constraint::BYTES_MAX, "x-parsed": "pep-440"}),
    parse_constraint,
);

/// Reads a constraint. The refusal of another package manager's notation has the translation.
fn parse_constraint(text: &str) -> Result<Constraint, String> {
    Constraint::parse(text).map_err(|error| match to_pep440(text) {
        Ok(translated) if Constraint::parse(&translated).is_ok() => {
            format!("`{text}` is not PEP 440; write `{translated}`")
        }
        _ => error.to_string(),
    })
}

/// The id of an object of another service, which has the form of the ids of this one.
pub const FOREIGN_ID: Text<String> = Text::new(schemas::object_id, |text| {
    let id = RunId::parse(text).map(String::from);
    id.map_err(|_| "should be 24 lower-case hexadecimal characters".to_owned())
});

/// Characters of a time: with nine digits of a second's fraction and an offset it has 35.
const TIME_CHARACTERS_MAX: usize = 64;

/// A time with an offset. A time without an offset is ambiguous.
pub const TIME: Text<Timestamp> = Text::new(
    || json!({"type": "string", "format": "date-time", "maxLength": TIME_CHARACTERS_MAX}),
    |text| {
        if text.len() > TIME_CHARACTERS_MAX {
            return Err(format!("should have at most {TIME_CHARACTERS_MAX} characters"));
        }
        let time = text.parse().map_err(|_| "should be a time such as 2030-01-31T12:00:00Z".to_owned());
        time.map(|time: jiff::Timestamp| Timestamp::from_milliseconds(time.as_millisecond()))
    },
);

/// Tags: an object from names to texts or null.
pub struct TagsDecoder;

impl Decoder for TagsDecoder {
    type Value = Tags;

    fn schema(&self) -> Value {
        let text = json!({
            "type": "string", "minLength": 1, "maxLength": Tags::TEXT_BYTES_MAX,
            "pattern": r"^[\w\s]+$", "x-unicode": true, "x-bytes-max": Tags::TEXT_BYTES_MAX, "x-stripped": true,
        });
        json!({
            "type": "object", "propertyNames": text, "additionalProperties": admit_null(text.clone()),
            "maxProperties": Tags::COUNT_MAX, "description": "Tags of the tool: keys with a value or null.",
        })
    }

    fn decode(&self, node: &Node) -> Option<Tags> {
        let mut tags = Vec::new();
        for (key, value) in node.read_entries(Tags::COUNT_MAX)? {
            let value = if value.is_null() { None } else { Some(value.read_text()?.to_owned()) };
            tags.push((key.to_owned(), value));
        }
        Tags::parse(tags).map_or_else(|error| node.note("string_pattern_mismatch", &error.to_string()), Some)
    }
}

/// Path parameters: type, name, description, decoder.
macro_rules! path_parameters {
    ($($type:ident = $name:literal, $description:literal, $decoder:expr;)*) => {$(
        impl PathParameter for $type {
            const NAME: &'static str = $name;
            const DESCRIPTION: &'static str = $description;

            fn decoder() -> Text<Self> {
                $decoder
            }
        }
    )*};
}

path_parameters! {
    ToolId = "tool_id", "The tool's id.", Text::of_type(schemas::object_id);
    ToolName = "tool_name", "The name of a live tool.", Text::of_type(tool_name_in_path);
    AgentId = "agent_id", "The agent's id.", Text::of_type(schemas::object_id);
    AgentRunId = "agent_run_id", "The run's id.", Text::of_type(schemas::object_id);
    AgentReference = "gateway", "The id or the slug of the agent.", Text::of_type(agent_reference);
    RevisionNumber = "number", "The revision's number.", Text::of_type(|| {
        json!({"type": "string", "pattern": "^([1-9][0-9]{0,3}|10000)$"})
    });
    DownloadToken = "download", "The last part of the link.", Text::of_type(|| {
        json!({"type": "string", "minLength": 1, "maxLength": 512, "pattern": "^[ -~]+$"})
    });
    BuildId = "build_id", "The build's id.", Text::of_type(schemas::object_id);
    OperationId = "operation_id", "The operation's id.", Text::of_type(schemas::object_id);
    RunId = "invocation_id", "The record's id.", Text::of_type(schemas::object_id);
    StateName = "state_name", "The state's name.", STATE_NAME;
    ConversationId = "conversation_id", "The conversation's id.", Text::of_type(schemas::object_id);
    TurnId = "turn_id", "The turn's id.", Text::of_type(schemas::object_id);
    InteractionId = "interaction_id", "The interaction's id.", Text::of_type(schemas::object_id);
    HumanRequestId = "human_request_id", "The id of the request.", Text::of_type(schemas::object_id);
    HoldId = "hold_id", "The hold's id.", Text::of_type(schemas::object_id);
    UserId = "user_id", "The user's id.", USER_ID;
    UserVariableName = "variable_name", "The variable's name.", Text::of_type(|| {
        json!({"type": "string", "maxLength": UserVariableName::BYTES_MAX, "pattern": "^[a-z_][a-z0-9_]+$"})
    });
    RoleName = "role_name", "The role's name.", ROLE_NAME;
    ApiKeyId = "api_key_id", "The key's id.",
        Text::of_type(|| json!({"type": "string", "pattern": "^[A-Za-z0-9]{12}$"}));
    Constraint = "version", "A version such as `1.2.0`, or a PEP 440 constraint such as `>=1.2,<2`: at most 16 clauses \
        in 256 bytes.", PATH_CONSTRAINT;
}

/// An empty constraint admits every version. A path refuses it, so that a missing text does not deprecate all versions.
const PATH_CONSTRAINT: Text<Constraint> = Text::new(
    || json!({"type": "string", "minLength": 1, "maxLength": Constraint::BYTES_MAX, "x-parsed": "pep-440-clause"}),
    |text| match parse_constraint(text) {
        Ok(constraint) if constraint.is_any() => {
            Err("version constraint must not be empty here; >=0 means every version".to_owned())
        }
        parsed => parsed,
    },
);
