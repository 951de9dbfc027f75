//! `POST /v1/{organization}/conversation/{conversation_id}/turn`: begins a turn, and keeps the tools that it presents.

use agents::{AgentReference, AgentStore, NewTurn, SpecList, StateName, StateProblem, TurnPlace, Turns};
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Decoder as _, Fields, FromBody, InPath, OneOf, PathParameter as _, WholeNumber};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::STATE_NAME;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{ConversationId, InteractionId};
use serde_json::{Value, json};

use super::system_tools::list_system_tools;
use crate::sections;
use crate::wire::{Turn, turn_example};

/// The largest index of a state or of a round: more than a conversation has turns.
const INDEX_MAX: i64 = 1_000_000;

const LIST: OneOf<SpecList> = OneOf(&[
    (SpecList::Action.as_str(), SpecList::Action),
    (SpecList::ExitCondition.as_str(), SpecList::ExitCondition),
]);

pub(crate) struct Request {
    state: Option<StateName>,
    list: SpecList,
    place: TurnPlace,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("begin-turn", sections::AGENTS, "Begin a turn of a conversation")
        .description(
            "Presents the tools of a state of the running revision, each in the highest live version that its specification \
            accepts, and keeps them with the turn. Calls of the turn are checked against these, whatever becomes of the agent \
            meanwhile. An agent without states presents its assignments. Tools that the caller may not invoke, or without a live \
            version, are left out. A conversation has at most 10,000 turns.",
        )
        .returns::<Turn>(201, "The turn.", turn_example())
        .errors(400, &["state_unusable", "too_many"])
        .errors(409, &["conversation_ended"])
        .links_to("invoke-in-turn", "turn_id", "/id")
        .links_to("get-turn", "turn_id", "/id")
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    State(turns): State<Turns>,
    Caller(principal): Caller,
    InPath(conversation): InPath<ConversationId>,
    Body(Request { state, list, place }): Body<Request>,
) -> Result<(StatusCode, Json<Turn>), Error> {
    let found = store.conversations().get_conversation(&principal, &conversation).await?.ok_or(Error::NotFound)?;
    let running = store.agents().running_agent(&principal, &AgentReference::from(&found.agent)).await?;
    let running = running.ok_or_else(|| agents::Error::from(StateProblem::NotDeployed))?;
    let presented = running.revision.presented(state.as_ref(), list);
    let (state, specs) = presented.map_err(agents::Error::from)?;
    let tools = turns.presented(&principal, specs).await?;
    let (agent_slug, revision) = (running.agent.slug.clone(), running.revision.deployment.number);
    let turn = NewTurn { conversation, agent_slug, revision, state, tools, place };
    let turn = store.conversations().begin_turn(&principal, turn).await?;
    Ok((StatusCode::CREATED, Json(Turn::of(turn, list_system_tools(&turns)))))
}

impl FromBody for Request {
    const NAME: &'static str = "BeginTurn";

    fn example() -> Value {
        json!({"state": "customer_support", "list": "action", "interaction_id": "691f3d0e5c1e4d7f8a9b0c21"})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        const INDEX: WholeNumber = WholeNumber(0..=INDEX_MAX);
        let state = STATE_NAME.described("The state of the agent; absent for an agent without states.");
        let state = fields.read_optional("state", state);
        let list = LIST.described("The list of an action state that the model sees.").with_default("action");
        let list = fields.read_optional("list", list).unwrap_or(SpecList::Action);
        let interaction = InteractionId::decoder();
        let described = "The interaction that goes on. Without it, a new interaction begins.";
        let interaction = fields.read_optional("interaction_id", interaction.described(described));
        let described = "The number of changes of the state so far; counted by the server if absent.";
        let transition = fields.read_optional("state_transition_index", INDEX.described(described));
        let described =
            "The number of earlier turns of the interaction in this state; counted by the server if absent.";
        let round = fields.read_optional("tool_call_round_index", INDEX.described(described));
        let index = |index: Option<i64>| index.and_then(|index| u32::try_from(index).ok());
        let (state_transition_index, tool_call_round_index) = (index(transition), index(round));
        let place = TurnPlace { interaction, state_transition_index, tool_call_round_index };
        Some(Self { state, list, place })
    }
}
