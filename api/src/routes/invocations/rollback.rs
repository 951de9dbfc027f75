//! `POST /v1/{organization}/tool/invocation/rollback`: takes the records of a conversation, of one interaction in it, or of
//! a simulation out of it. They stay in the history without its ids.
//!
//! The operation needs the permission to invoke: clients that hold conversations take back turns. It reaches the runs of the caller, and for an
//! administrator those of all users. The permission to read the history does not permit a change of the history.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Decoder as _, Fields, FromBody};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::FOREIGN_ID;
use axum::Json;
use axum::extract::State;
use registry::{Permission, RecordEvent, Rollback, Store};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::sections;

const SIMULATION: &str = "simulation_unit_test_set_run_id";

pub(crate) struct Request(Rollback);

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RolledBack")]
pub(crate) struct Response {
    /// The number of records that this request took out of the conversation or simulation.
    rolled_back: u64,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("roll-back-tool-invocations", sections::HISTORY, "Take records out of a conversation")
        .description(
            "Takes the caller's records of a conversation, of one interaction in it, or of a simulation out of it. They stay in \
            the history without its ids; nothing else changes. Records that left it before are not counted again. Those of \
            other users stay, unless the caller has `Organization:Admin`.",
        )
        .returns::<Response>(200, "The number of records that left it.", json!({"rolled_back": 2}))
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Body(Request(from)): Body<Request>,
) -> Result<Json<Response>, Error> {
    let by = principal.user();
    let own = (!principal.may(Permission::Administer)).then_some(principal.account);
    let unlinked = RecordEvent::Unlinked { organization: principal.organization, by, own, from };
    Ok(Json(Response { rolled_back: store.history().record(&unlinked).await? }))
}

impl FromBody for Request {
    const NAME: &'static str = "RollBackToolInvocations";

    fn example() -> Value {
        json!({"conversation_id": "691f3b2a5c1e4d7f8a9b0c30", "interaction_id": "691f3b2a5c1e4d7f8a9b0c31"})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let conversation = fields.read_optional("conversation_id", FOREIGN_ID);
        let interaction_id =
            fields.read_optional("interaction_id", FOREIGN_ID.described("When absent, the whole conversation."));
        let simulation = fields.read_optional(SIMULATION, FOREIGN_ID);
        fields.require_exactly_one("conversation_id", SIMULATION);
        fields.require_at_most_one(SIMULATION, "interaction_id");
        match (conversation, simulation) {
            (Some(id), _) => Some(Self(Rollback::Conversation { id, interaction_id })),
            (None, run_id) => Some(Self(Rollback::Simulation { run_id: run_id? })),
        }
    }
}
