//! `POST /v1/{organization}/agent/{agent_id}/conversation`: starts a conversation.

use agents::{AgentStore, NewConversation, Simulation};
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Decoder as _, Fields, FromBody, InPath, OneOf, WholeNumber};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::FOREIGN_ID;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{AgentId, InvalidValue, InvocationMode};
use serde_json::{Value, json};

use crate::sections;
use crate::wire::{Conversation, MODES, conversation_example};

const RUN_INDEX: WholeNumber = WholeNumber(i64::MIN..=i64::MAX);

pub(crate) struct Request {
    mode: InvocationMode,
    simulation: Simulation,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("start-conversation", sections::AGENTS, "Start a conversation with an agent")
        .description(
            "Starts a conversation of the caller, whom alone it exists for. Every call in it runs in its mode. The ids of a \
            simulation belong to the mode `conversation-simulation`.",
        )
        .returns::<Conversation>(201, "The conversation.", conversation_example())
        .links_to("get-conversation", "conversation_id", "/id")
        .links_to("begin-turn", "conversation_id", "/id")
        .links_to("end-conversation", "conversation_id", "/id")
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    Body(Request { mode, simulation }): Body<Request>,
) -> Result<(StatusCode, Json<Conversation>), Error> {
    let started =
        store.conversations().start_conversation(&principal, NewConversation { agent, mode, simulation }).await?;
    Ok((StatusCode::CREATED, Json(started.into())))
}

impl FromBody for Request {
    const NAME: &'static str = "StartConversation";

    fn example() -> Value {
        json!({"mode": "regular"})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        fields.mark_parsed_as("conversation");
        let mode = OneOf(&MODES).described("The mode of every call.").with_default("regular");
        let mode = fields.read_optional("mode", mode).unwrap_or(InvocationMode::Regular);
        let simulation = Simulation {
            unit_test_set_run_id: fields.read_optional("simulation_unit_test_set_run_id", FOREIGN_ID),
            unit_test_id: fields.read_optional("unit_test_id", FOREIGN_ID),
            run_index: fields.read_optional("run_index", RUN_INDEX),
        };
        if mode == InvocationMode::Regular && simulation != Simulation::default() {
            let wrong = InvalidValue::new("mode", "must be conversation-simulation for a conversation of a simulation");
            return fields.check_field("mode", Err(wrong));
        }
        Some(Self { mode, simulation })
    }
}
