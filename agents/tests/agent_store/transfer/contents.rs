//! A data directory with rows in every table.

use std::time::Duration;

use agents::{AgentRunState, LibraryFamily, Urgency};
use registry::{
    AgentProtocol, Attestation, BegunOperation, BumpKind, Grants, HeldRuns, HoldReason, HttpUse, InvocationMetadata,
    InvocationSource, Ledger, NewOperation, NewUser, NewUserVariable, OperationId, OperationKind, OrganizationId,
    Principal, RecordEvent, RecordedAnswer, RoleName, RunId, RunStart, SecretValue, TapeBody, ToolId, UnsealedTape,
    UserId, UserVariableName, Version,
};

use crate::agent_runs::{checkpoint, step};
use crate::agent_states::decision;
use crate::agents::assignment;
use crate::allowed_client::{allow, terms};
use crate::fixtures::{agent_call, ends, finished, new_version, started, starts, succeeded, unlinked};
use crate::human_requests::response;
use crate::library::{content, library};
use crate::turns::new_turn;
use crate::world::World;

pub const RUNS: u32 = 300;

/// The run after which two months pass.
const LAST_OF_FIRST_MONTH: u32 = 120;

/// Fills a new data directory. Its last run goes on.
pub async fn filled() -> World {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let other = world.organization("other").await;
    people(&world, &acme).await;
    let tool = tools(&world, &acme).await;
    for number in 0..RUNS {
        run(&world, if number % 10 == 3 { &other } else { &acme }, number).await;
        if number == LAST_OF_FIRST_MONTH {
            world.clock.advance(Duration::from_hours(70 * 24));
        }
    }
    world.failed(&acme, "ShipmentError", "order \0 lost", &["main.py line 3", "shipped = False"]).await;
    world.store.history().record(&unlinked(&acme, "conversation 4", None)).await.unwrap();
    holds(&world, &acme).await;
    agents(&world, &acme, &tool).await;
    operation(&world, &acme, &tool).await;
    answers(&world, &acme, &tool).await;
    items(&world, &acme).await;
    world.started(&acme).await;
    world
}

async fn agents(world: &World, acme: &Principal, tool: &ToolId) {
    let agent = world.agent(acme, "helper").await;
    world.agent_store.agents().assign_tool(acme, &agent, assignment(tool, ">=0")).await.unwrap();
    world.agent_store.agents().deploy_agent(acme, &agent).await.unwrap();
    world.agent_store.agents().set_agent_state(acme, &agent, decision("route", &[tool])).await.unwrap();
    let talk = world.conversation(acme, &agent).await;
    world.agent_store.conversations().begin_turn(acme, new_turn(&talk, tool)).await.unwrap();
    let run = world.agent_run(acme).await;
    let steps = vec![step(Some("half")), step(None)];
    world
        .agent_store
        .agent_runs()
        .save_agent_run(&run, checkpoint(AgentRunState::Paused, steps))
        .await
        .unwrap()
        .unwrap();
    let (waiting, _) = world.paused_run(acme, Urgency::High).await;
    world
        .agent_store
        .agent_runs()
        .resume_agent_run(&waiting, "{}".into(), response(), step(None))
        .await
        .unwrap()
        .unwrap();
    let gone = world.agent(acme, "gone").await;
    world.agent_store.agents().delete_agent(acme, &gone).await.unwrap();
    let answered = RunId::new(&world.clock);
    assert!(
        world
            .store
            .operations()
            .answer_attempt(&answered, world.clock.now().after(Duration::from_hours(1)))
            .await
            .unwrap()
    );
}

async fn items(world: &World, acme: &Principal) {
    let library = library(world, acme);
    library.create(LibraryFamily::Memory, content("the customer prefers e-mail")).await.unwrap();
    let skill = library.create(LibraryFamily::Skills, content("first")).await.unwrap();
    library.update(LibraryFamily::Skills, &skill.id, 1, content("second")).await.unwrap();
    let item = library.create(LibraryFamily::Artifacts, content("report")).await.unwrap();
    library.share(LibraryFamily::Artifacts, &item.id, &UserId::parse("ben").unwrap()).await.unwrap();
}

async fn people(world: &World, acme: &Principal) {
    let name = UserVariableName::parse("customer").unwrap();
    let new = NewUserVariable { name, value: SecretValue::new("8812".into()), is_sensitive: false };
    world.store.access().set_user_variable(acme, &acme.account, new).await.unwrap();
    let tester = RoleName::parse("tester").unwrap();
    world.store.access().create_role(&acme.organization, tester.clone(), Grants::default()).await.unwrap();
    for name in ["ben", "cem", "Zoë@example"].iter().filter_map(|name| UserId::parse(name).ok()) {
        world.store.access().create_user(&acme.organization, NewUser { id: name, role: tester.clone() }).await.unwrap();
    }
    for _ in 0..3 {
        world.token_of(&acme.organization, "ann").await;
    }
    allow_client(world, &acme.organization, "ann").await;
    let uris = vec!["http://127.0.0.1/cb".into()];
    let client = world.store.access().register_client("Editor".into(), uris, "192.0.2.1".into()).await.unwrap();
    world.store.access().note_client_use(acme, &client.client_id).await.unwrap();
}

async fn tools(world: &World, acme: &Principal) -> ToolId {
    let mut last = None;
    for number in 0..60 {
        last = Some(world.tool(acme, &format!("tool_{number}")).await);
    }
    let tool = last.unwrap();
    world.variable(acme, &tool, "TOKEN", true).await;
    let key = world.store.versions().signing_key(&acme.organization).await.unwrap().public_key().unwrap();
    let lease = world.lease(acme, &tool).await;
    let attestation = Attestation {
        version: Version::FIRST,
        signed_by: key,
        provenance: "{\"payload\":\"…\"}".into(),
        sbom: "{}".into(),
    };
    let new = registry::NewVersion { attestation, ..new_version(BumpKind::Minor) };
    world.store.versions().publish_version(&lease, new).await.unwrap();
    for bump in [BumpKind::Patch, BumpKind::Major] {
        world.publish(acme, &tool, bump).await;
    }
    let lease = world.lease(acme, &tool).await;
    world.fail_build(&lease).await;
    let changes = registry::ToolChanges {
        tags: Some(crate::fixtures::tags(&[("team", Some("sales")), ("beta", None)])),
        ..registry::ToolChanges::default()
    };
    world.store.tools().modify_tool(acme, &tool, changes).await.unwrap();
    tool
}

async fn holds(world: &World, acme: &Principal) {
    for number in 0..2 {
        let reason = HoldReason::parse(&format!("case {number}")).unwrap();
        let hold = world.store.history().place_hold(acme, reason, HeldRuns::default()).await.unwrap();
        world.store.history().release_hold(acme, &hold.id).await.unwrap();
    }
}

/// Records a run with a tape and effects.
async fn run(world: &World, principal: &Principal, number: u32) {
    world.clock.advance(Duration::from_secs(1));
    let agent_call = number.is_multiple_of(3).then(|| agent_call(&world.clock, AgentProtocol::Mcp));
    let record = RunStart { source: source(number), via: agent_call.into(), ..started(&world.clock, principal) };
    world.store.history().record(&starts(vec![record.clone()])).await.unwrap();
    let body = vec![u8::try_from(number % 7).unwrap(); 100_000];
    let body = TapeBody { digest: *registry::Digest::of(&body).as_bytes(), bytes: body };
    let tape = UnsealedTape::new(b"what a run saw".to_vec(), vec![body]);
    let mut end = finished(&record, succeeded(&format!("order {number} of 会議 was shipped\0today")));
    end.tape = Some(world.recordings().seal(&principal.organization, &record.id, tape).await.unwrap());
    end.end.ledger = Some(ledger(number));
    end.end.status_events = vec![serde_json::json!({"message": "half\0way", "progress": 0.5})];
    end.end.duration_ms = u64::from(number * 7 % 40);
    world.store.history().record(&ends(vec![end])).await.unwrap();
}

fn source(number: u32) -> InvocationSource {
    InvocationSource::RegularConversation {
        user_id: "ann".to_owned(),
        conversation_id: Some(format!("conversation {}", number % 20)),
        interaction_id: Some(format!("interaction {number}")),
        invocation_metadata: InvocationMetadata::EngageUser {
            current_state_machine_and_version: ("greeting \\u0000".to_owned(), 3),
            tool_call_round_index: 0,
        },
    }
}

fn ledger(number: u32) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.granted.secrets = vec!["TOKEN".to_owned()];
    let host = format!("host{}.example.org", number % 9);
    ledger.used.http = vec![HttpUse {
        host,
        status: Some(200),
        sent_bytes: 80,
        answered_by: Some("network".to_owned()),
        ..HttpUse::default()
    }];
    ledger.hand_over();
    ledger
}

/// An operation that goes on, with runs that have ended.
async fn operation(world: &World, principal: &Principal, tool: &ToolId) -> OperationId {
    let new = NewOperation { kind: OperationKind::Invoke, tool: tool.clone(), once: None, request: None };
    let BegunOperation::New(operation) = world.store.operations().begin_operation(principal, new).await.unwrap() else {
        panic!("it is new");
    };
    let runs: Vec<_> = (0..3).map(|_| started(&world.clock, principal)).collect();
    let event = RecordEvent::Started { operation: Some(operation.id.clone()), runs: runs.clone() };
    world.store.history().record(&event).await.unwrap();
    let all = runs.iter().map(|run| finished(run, succeeded("done"))).collect();
    world.store.history().record(&ends(all)).await.unwrap();
    operation.id
}

async fn answers(world: &World, principal: &Principal, tool: &ToolId) {
    let run = world.started(principal).await;
    let answer = |request| RecordedAnswer { request: [request; 32], bytes: b"an answer".into(), at: world.clock.now() };
    let sealed =
        world.store.history().seal_answers(&principal.organization, tool, (0..5).map(answer).collect()).await.unwrap();
    let mut end = finished(&run, succeeded("done"));
    end.answers = Some(sealed);
    world.store.history().record(&ends(vec![end])).await.unwrap();
}

/// Gives a client the tokens of a user.
async fn allow_client(world: &World, organization: &OrganizationId, user: &str) {
    let (.., code) = allow(world, organization, user).await;
    world.store.access().exchange_code(&code, terms()).await.unwrap().unwrap();
}
