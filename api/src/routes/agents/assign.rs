//! `POST /v1/{organization}/agent/{agent_id}/assignment`: assigns a tool in the draft.

use agents::{AgentStore, Assignment, AudioFiller, AudioFillers, FillerDelay, Instruction};
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Decoder, Fields, FromBody, InPath, List, Node, Number, OneOf, PathParameter as _, Text};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::{CONSTRAINT, DIGEST};
use axum::extract::State;
use axum::http::StatusCode;
use registry::{AgentId, ResultPersistence, ToolId};
use serde_json::{Value, json};

use super::fields::{build_line_schema, build_text_schema};
use super::human_intervention::{self, HumanInterventionDecoder, require_usable_rules};
use crate::sections;
use crate::wire::assignment_example;

const INSTRUCTION: Text<Instruction> = Text::of_type(|| build_text_schema(Instruction::BYTES_MAX));

const FILLER: Text<AudioFiller> = Text::trimmed(|| build_line_schema(AudioFiller::BYTES_MAX));

const PERSISTENCE: OneOf<ResultPersistence> = OneOf(&[
    (ResultPersistence::Ephemeral.as_str(), ResultPersistence::Ephemeral),
    (ResultPersistence::PersistedPreferred.as_str(), ResultPersistence::PersistedPreferred),
    (ResultPersistence::Persisted.as_str(), ResultPersistence::Persisted),
]);

const PERSISTENCE_DESCRIPTION: &str = "`ephemeral`: the result is visible within the interaction that called the tool. \
    `persisted-preferred`: later interactions see it, too, unless it is long. `persisted`: later interactions see it, and a \
    long one is an error.";

const DIGEST_DESCRIPTION: &str = "The `component_digest` that the version must have. A deployment is refused while the highest live \
    version that matches has another one.";

pub(crate) struct Request(Assignment);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("assign-tool", sections::AGENTS, "Assign a tool to an agent")
        .description(
            "Assigns a tool in the draft, in place of an earlier assignment of this tool. The running revision stays as it is \
            until the next deployment, which checks the tool and its versions. An agent has at most 500 assignments.",
        )
        .returns_nothing(204, "Assigned.")
        .errors(400, &["invalid_value", "too_many"])
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    Body(Request(assignment)): Body<Request>,
) -> Result<StatusCode, Error> {
    require_usable_rules(std::iter::once(&assignment)).await?;
    store.agents().assign_tool(&principal, &agent, assignment).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl FromBody for Request {
    const NAME: &'static str = "AssignTool";

    fn example() -> Value {
        assignment_example()
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        read_assignment(fields).map(Self)
    }
}

/// Reads a tool with its versions and options.
pub(super) fn read_assignment(fields: &mut Fields) -> Option<Assignment> {
    let tool_id = fields.read_required("tool_id", ToolId::decoder());
    let version_constraint = fields.read_required("version_constraint", CONSTRAINT);
    let instruction = fields.read_optional("additional_instruction", INSTRUCTION.with_default(""));
    let fillers = List { items: FILLER, length: 0..=AudioFillers::COUNT_MAX };
    let fillers = fields.read_optional("audio_fillers", fillers.with_default(json!([])));
    let fillers = fields.check_field("audio_fillers", fillers.unwrap_or_default().try_into());
    let delay = fields.read_optional("audio_filler_triggered_after", Delay.with_default(2.0));
    let persistence = PERSISTENCE.with_default(ResultPersistence::default().as_str());
    let persistence = fields.read_optional("result_persistence", persistence.described(PERSISTENCE_DESCRIPTION));
    let component_digest = fields.read_optional("component_digest", DIGEST.described(DIGEST_DESCRIPTION));
    let asked = HumanInterventionDecoder.described(human_intervention::DESCRIPTION);
    let human_intervention = fields.read_optional(human_intervention::FIELD, asked);
    Some(Assignment {
        tool_id: tool_id?,
        version_constraint: version_constraint?,
        additional_instruction: instruction.or_else(|| Instruction::parse("").ok())?,
        audio_fillers: fillers?,
        audio_filler_triggered_after: delay.unwrap_or_default(),
        result_persistence: persistence.unwrap_or_default(),
        component_digest,
        human_intervention: human_intervention.unwrap_or_default(),
    })
}

/// Seconds, rounded to milliseconds.
struct Delay;

impl Delay {
    fn seconds() -> Number {
        Number(0.001..=f64::from(FillerDelay::MILLISECONDS_MAX) / 1000.0)
    }
}

impl Decoder for Delay {
    type Value = FillerDelay;

    fn schema(&self) -> Value {
        let mut schema = Self::seconds().schema();
        schema["description"] = json!("Seconds that the tool runs before the first audio filler.");
        schema
    }

    fn decode(&self, node: &Node) -> Option<FillerDelay> {
        let milliseconds = (Self::seconds().decode(node)? * 1000.0).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be within bounds")]
        let delay = FillerDelay::try_from(milliseconds as u32);
        delay.map_or_else(|error| node.note("value_error", &error.to_string()), Some)
    }
}
