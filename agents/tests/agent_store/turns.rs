//! Conversations, their turns and their logs.

use std::time::Duration;

use agents::{
    AgentChanges, AgentScope, Conversation, NewConversation, NewTurn, PresentedTool, Simulation, StateType, Turn,
    TurnPlace, TurnState,
};
use registry::{
    AccountId, AgentId, AgentProtocol, CallVia, ConversationId, Digest, FinishedRun, Grants, InteractionId,
    InvocationMode, Page, Principal, RevisionNumber, RunEnd, RunFilter, RunId, RunStart, ToolId, TurnId, Version,
};
use serde_json::json;

use crate::agent_states::name;
use crate::agents::assignment;
use crate::database;
use crate::fixtures::{conversation, ends, finished, started, starts, succeeded, unlinked};
use crate::world::World;

pub fn presented(tool: &ToolId) -> PresentedTool {
    PresentedTool {
        name: "lookup".to_owned(),
        version: Version::FIRST,
        component_digest: Digest::of(b"component"),
        description: "finds things".to_owned(),
        input_schema: json!({"type": "object"}).into(),
        output_schema: None,
        api: None,
        spec: assignment(tool, ">=1"),
    }
}

fn state(of: &str, state_type: StateType) -> Option<TurnState> {
    Some(TurnState { name: name(of), state_type, list: None })
}

pub fn new_turn(conversation: &Conversation, tool: &ToolId) -> NewTurn {
    NewTurn {
        conversation: conversation.id.clone(),
        agent_slug: "helper".parse().unwrap(),
        revision: RevisionNumber::FIRST,
        state: state("act", StateType::Action),
        tools: vec![presented(tool)],
        place: TurnPlace::default(),
    }
}

impl World {
    pub async fn conversation(&self, principal: &Principal, agent: &AgentId) -> Conversation {
        self.clock.advance(Duration::from_secs(1));
        let new =
            NewConversation { agent: agent.clone(), mode: InvocationMode::Regular, simulation: Simulation::default() };
        self.agent_store.conversations().start_conversation(principal, new).await.unwrap()
    }

    /// A run of a turn that has ended.
    async fn called(&self, principal: &Principal, turn: &Turn, persisted: bool) -> RunId {
        self.clock.advance(Duration::from_secs(1));
        let run = RunStart {
            source: turn.source(),
            via: CallVia::Agent(turn.agent_call(AgentProtocol::Rest, None)),
            mode: turn.conversation.mode,
            ..started(&self.clock, principal)
        };
        self.store.history().record(&starts(vec![run.clone()])).await.unwrap();
        let ended = finished(&run, succeeded("done"));
        let end = RunEnd { persisted, ..ended.end };
        self.store.history().record(&ends(vec![FinishedRun { end, ..ended }])).await.unwrap();
        run.id
    }

    async fn log(&self, conversation: &Conversation, interaction: Option<&InteractionId>) -> Vec<RunId> {
        let (mut ids, mut page) = (Vec::new(), Page::first(2));
        loop {
            let slice =
                self.agent_store.conversations().conversation_log(conversation, interaction, page).await.unwrap();
            ids.extend(slice.items.into_iter().map(|record| record.start.id));
            let Some(token) = slice.next else { return ids };
            page = Page { token, ..page };
        }
    }
}

#[tokio::test]
async fn a_turn_is_kept_as_it_began() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (agent, tool) = (world.agent(&acme, "helper").await, world.tool(&acme, "lookup").await);
    let talk = world.conversation(&acme, &agent).await;
    let begin = async |place: TurnPlace, of: Option<TurnState>| {
        let new = NewTurn { place, state: of, ..new_turn(&talk, &tool) };
        let turn = world.agent_store.conversations().begin_turn(&acme, new).await.unwrap();
        assert_eq!(world.agent_store.conversations().get_turn(&acme, &turn.id).await.unwrap().as_ref(), Some(&turn));
        turn
    };
    let act = || state("act", StateType::Action);
    let first = begin(TurnPlace::default(), act()).await;
    assert_eq!(first.tools, [presented(&tool)]);
    assert_eq!(first.find("lookup"), first.find(tool.as_str()));
    let going_on = || TurnPlace { interaction: Some(first.interaction.clone()), ..TurnPlace::default() };
    let indexes = |turn: &Turn| (turn.state_transition_index, turn.tool_call_round_index);
    assert_eq!(indexes(&first), (0, 0));
    assert_eq!(indexes(&begin(going_on(), act()).await), (0, 1));
    assert_eq!(indexes(&begin(going_on(), state("decide", StateType::Decision)).await), (1, 0));
    assert_eq!(indexes(&begin(going_on(), None).await), (2, 0));
    let next = begin(TurnPlace::default(), None).await;
    assert_eq!(indexes(&next), (2, 0));
    assert_ne!(next.interaction, first.interaction);
    let given = TurnPlace { state_transition_index: Some(7), tool_call_round_index: Some(3), ..going_on() };
    assert_eq!(indexes(&begin(given, act()).await), (7, 3));
    assert_eq!(
        database::number(&world, "SELECT count(*) FROM presented_tools").await,
        1,
        "turns with the same tools share them"
    );
}

#[tokio::test]
async fn a_conversation_is_its_users_own() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let other = world.organization("other").await;
    let (agent, tool) = (world.agent(&acme, "helper").await, world.tool(&acme, "lookup").await);
    let talk = world.conversation(&acme, &agent).await;
    let turn = world.agent_store.conversations().begin_turn(&acme, new_turn(&talk, &tool)).await.unwrap();
    let colleague = Principal { account: AccountId::parse("bob#2").unwrap(), ..acme.clone() };
    for stranger in [&colleague, &other] {
        assert!(world.agent_store.conversations().get_conversation(stranger, &talk.id).await.unwrap().is_none());
        assert!(world.agent_store.conversations().get_turn(stranger, &turn.id).await.unwrap().is_none());
        let refused = world.agent_store.conversations().begin_turn(stranger, new_turn(&talk, &tool)).await;
        let is_missing =
            matches!(refused, Err(agents::Error::Store(registry::Error::NotFound { what: "conversation" })));
        assert!(is_missing, "{refused:?}");
        let refused = world.agent_store.conversations().end_conversation(stranger, &talk.id).await;
        assert!(matches!(refused, Err(registry::Error::NotFound { what: "conversation" })), "{refused:?}");
    }
    let page = world.agent_store.conversations().list_conversations(&colleague, &agent, Page::first(5)).await.unwrap();
    assert!(page.items.is_empty());
    assert!(world.agent_store.conversations().list_conversations(&other, &agent, Page::first(5)).await.is_err());
    let unknown = NewConversation {
        agent: AgentId::new(&world.clock),
        mode: InvocationMode::Regular,
        simulation: Simulation::default(),
    };
    assert!(matches!(
        world.agent_store.conversations().start_conversation(&acme, unknown).await,
        Err(registry::Error::NotFound { what: "agent" })
    ));

    // Another author's agent becomes personal: its conversations are gone for users who no longer see it.
    let plain = Principal { grants: Grants::of([]), ..colleague };
    let theirs = world.conversation(&plain, &agent).await;
    let changes = AgentChanges { scope: Some(AgentScope::Personal), ..AgentChanges::default() };
    world.agent_store.agents().modify_agent(&acme, &agent, changes).await.unwrap();
    assert!(world.agent_store.conversations().get_conversation(&plain, &theirs.id).await.unwrap().is_none());
    world.agent_store.agents().delete_agent(&acme, &agent).await.unwrap();
    assert!(world.agent_store.conversations().get_turn(&acme, &turn.id).await.unwrap().is_none());
}

#[tokio::test]
async fn conversations_are_listed_in_pages_and_end() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (agent, tool) = (world.agent(&acme, "helper").await, world.tool(&acme, "lookup").await);
    let mut started = Vec::new();
    for _ in 0..3 {
        started.push(world.conversation(&acme, &agent).await);
    }
    let (mut listed, mut page) = (Vec::new(), Page::first(2));
    loop {
        let slice = world.agent_store.conversations().list_conversations(&acme, &agent, page).await.unwrap();
        listed.extend(slice.items);
        let Some(token) = slice.next else { break };
        page = Page { token, ..page };
    }
    listed.reverse();
    assert_eq!(listed, started);
    world.agent_store.conversations().end_conversation(&acme, &started[0].id).await.unwrap();
    let ended =
        world.agent_store.conversations().get_conversation(&acme, &started[0].id).await.unwrap().unwrap().ended_at;
    assert_eq!(ended, Some(world.clock.now()));
    world.clock.advance(Duration::from_secs(5));
    world.agent_store.conversations().end_conversation(&acme, &started[0].id).await.unwrap();
    assert_eq!(
        world.agent_store.conversations().get_conversation(&acme, &started[0].id).await.unwrap().unwrap().ended_at,
        ended
    );
    let refused = world.agent_store.conversations().begin_turn(&acme, new_turn(&started[0], &tool)).await;
    assert!(matches!(refused, Err(agents::Error::ConversationEnded)), "{refused:?}");
}

#[tokio::test]
async fn the_log_has_what_an_interaction_sees() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (agent, tool) = (world.agent(&acme, "helper").await, world.tool(&acme, "lookup").await);
    let talk = world.conversation(&acme, &agent).await;
    let first = world.agent_store.conversations().begin_turn(&acme, new_turn(&talk, &tool)).await.unwrap();
    let second = world.agent_store.conversations().begin_turn(&acme, new_turn(&talk, &tool)).await.unwrap();
    let elsewhere = world.conversation(&acme, &agent).await;
    let elsewhere = world.agent_store.conversations().begin_turn(&acme, new_turn(&elsewhere, &tool)).await.unwrap();
    let kept = world.called(&acme, &first, true).await;
    let passing = world.called(&acme, &first, false).await;
    world.called(&acme, &elsewhere, true).await;
    let later = world.called(&acme, &second, true).await;
    // Another caller claims the conversation, without a turn of it.
    let source = conversation(talk.id.as_str(), first.interaction.as_str());
    let claimed = RunStart { source, ..started(&world.clock, &acme) };
    world.store.history().record(&starts(vec![claimed.clone()])).await.unwrap();
    world.store.history().record(&ends(vec![finished(&claimed, succeeded("forged"))])).await.unwrap();

    assert_eq!(world.log(&talk, None).await, [kept.clone(), later.clone()]);
    assert_eq!(world.log(&talk, Some(&first.interaction)).await, [kept.clone(), passing, later.clone()]);
    assert_eq!(world.log(&talk, Some(&second.interaction)).await, [kept.clone(), later.clone()]);
    let interaction = Some(first.interaction.as_str());
    world.store.history().record(&unlinked(&acme, talk.id.as_str(), interaction)).await.unwrap();
    assert_eq!(world.log(&talk, Some(&first.interaction)).await, [later], "rolled back");
}

#[tokio::test]
async fn runs_of_a_simulation_are_found_by_their_conversation() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (agent, tool) = (world.agent(&acme, "helper").await, world.tool(&acme, "lookup").await);
    let simulation = Simulation {
        unit_test_set_run_id: Some("a".repeat(24)),
        unit_test_id: Some("b".repeat(24)),
        run_index: Some(4),
    };
    let new = NewConversation { agent, mode: InvocationMode::ConversationSimulation, simulation: simulation.clone() };
    let talk = world.agent_store.conversations().start_conversation(&acme, new).await.unwrap();
    let found = world.agent_store.conversations().get_conversation(&acme, &talk.id).await.unwrap().unwrap();
    assert_eq!((found.mode, &found.simulation), (InvocationMode::ConversationSimulation, &simulation));
    let turn = world.agent_store.conversations().begin_turn(&acme, new_turn(&talk, &tool)).await.unwrap();
    let run = world.called(&acme, &turn, true).await;
    let passing = world.called(&acme, &turn, false).await;
    let filter = RunFilter { conversation_ids: vec![talk.id.to_string()], ..RunFilter::default() };
    let listed = world.store.history().list_invocations(&acme.organization, &filter, Page::first(5)).await.unwrap();
    let ids: Vec<_> = listed.items.iter().map(|record| record.start.id.clone()).collect();
    assert_eq!(ids, [passing.clone(), run.clone()]);
    assert_eq!(listed.items[0].start.source, turn.source());
    assert_eq!(turn.source().simulation_run_id(), simulation.unit_test_set_run_id.as_deref());
    assert_eq!(world.log(&talk, Some(&turn.interaction)).await, [run, passing]);
}

#[tokio::test]
async fn the_status_of_a_run_is_known_within_its_conversation() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (agent, tool) = (world.agent(&acme, "helper").await, world.tool(&acme, "lookup").await);
    let talk = world.conversation(&acme, &agent).await;
    let first = world.agent_store.conversations().begin_turn(&acme, new_turn(&talk, &tool)).await.unwrap();
    let second = world.agent_store.conversations().begin_turn(&acme, new_turn(&talk, &tool)).await.unwrap();
    let elsewhere = world.conversation(&acme, &agent).await;
    let elsewhere = world.agent_store.conversations().begin_turn(&acme, new_turn(&elsewhere, &tool)).await.unwrap();
    let run = RunStart {
        source: first.source(),
        via: CallVia::Agent(first.agent_call(AgentProtocol::Mcp, None)),
        ..started(&world.clock, &acme)
    };
    world.store.history().record(&starts(vec![run.clone()])).await.unwrap();
    let status = async |turn: &TurnId| {
        world.agent_store.conversations().run_status(&acme.organization, turn, &run.id).await.unwrap()
    };
    let running = status(&second.id).await.unwrap();
    assert_eq!((running.started_at, running.end), (run.started_at, None));
    world.store.history().record(&ends(vec![finished(&run, succeeded("done"))])).await.unwrap();
    let end = status(&second.id).await.unwrap().end.unwrap();
    assert_eq!((end.succeeded, end.duration_ms), (true, 20));
    assert_eq!(status(&elsewhere.id).await, None);
    let other = world.organization("other").await;
    assert_eq!(
        world.agent_store.conversations().run_status(&other.organization, &second.id, &run.id).await.unwrap(),
        None
    );
    assert!(
        world
            .agent_store
            .conversations()
            .get_conversation(&acme, &ConversationId::new(&world.clock))
            .await
            .unwrap()
            .is_none()
    );
}
