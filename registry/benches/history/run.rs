//! Makes a run from the seed and its number.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use fastrand::Rng;
use registry::{
    AccountId, AgentCall, AgentProtocol, ClientName, Cost, Denied, FinishedRun, Granted, Grants, HttpUse,
    InvocationMetadata, InvocationMode, InvocationSource, InvokeStep, Ledger, NativeToolName, Outcome, Principal,
    RecordedInput, RevisionNumber, RunEnd, RunId, RunStart, Timestamp, TurnId, Used, Version,
};
use serde_json::{Map, json};

use crate::corpus::{
    AGENTS, CLIENTS, EXCEPTIONS, HOSTS, NATIVE_TOOLS, REFUSALS, SECRETS, USERS, WORDS, agent, cjk, host, secret,
    sentence, skewed, user, word,
};
use crate::world::{SPAN_MS, START, World};

/// Runs of one conversation.
const CONVERSATION: u64 = 8;

/// Returns the start of a run, and its end.
pub fn run(world: &World, number: u64, runs: u64) -> (RunStart, FinishedRun) {
    let mut rng = Rng::with_seed(world.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number));
    let at = START + i64::try_from(u128::from(number) * u128::from(SPAN_MS) / u128::from(runs)).expect("a time");
    let start = start(world, &mut rng, number, at);
    let end = end(&mut rng, number, at);
    let finished =
        FinishedRun { id: start.id.clone(), organization: start.organization.clone(), end, tape: None, answers: None };
    (start, finished)
}

fn start(world: &World, rng: &mut Rng, number: u64, at: i64) -> RunStart {
    let organization = world.drawn(rng);
    let tool = &organization.tools[skewed(rng, organization.tools.len())];
    let source = source(rng, number);
    let is_test = matches!(source, InvocationSource::BranchTest { .. });
    let mode = match source {
        InvocationSource::SimulationConversation { .. } => InvocationMode::ConversationSimulation,
        _ => InvocationMode::Regular,
    };
    let agent_call = matches!(source, InvocationSource::Direct { .. }).then(|| agent_call(rng, at)).flatten();
    let is_native = agent_call.is_some() && rng.u32(0..20) == 0;
    let native_tool = is_native.then(|| NATIVE_TOOLS[skewed(rng, NATIVE_TOOLS.len())]);
    let is_test = is_test || is_native;
    let principal = Principal {
        organization: organization.id.clone(),
        account: AccountId::parse("ann#1").expect("an account"),
        grants: Grants::default(),
        key: None,
        agent: None,
        address: None,
    };
    RunStart {
        via: agent_call.into(),
        native_tool: native_tool.map(|name| NativeToolName::parse(name).expect("a name")),
        tool: (!is_test).then(|| tool.clone()),
        tool_version: (!is_test).then(|| Version::new(1, rng.u64(0..3), 0)),
        caller_address: Some(IpAddr::V4(Ipv4Addr::new(10, 0, rng.u8(..), rng.u8(..)))),
        mode,
        input: input(rng, number),
        started_at: Timestamp::from_milliseconds(at),
        ..RunStart::minimal(id(rng, at), &principal, source)
    }
}

/// Half of the calls without a conversation go through an agent.
fn agent_call(rng: &mut Rng, at: i64) -> Option<AgentCall> {
    let is_mcp = rng.u32(0..4) > 0;
    let call = AgentCall {
        agent: agent(skewed(rng, AGENTS)),
        revision: RevisionNumber::FIRST,
        protocol: if is_mcp { AgentProtocol::Mcp } else { AgentProtocol::Rest },
        client: is_mcp.then(|| ClientName::parse(CLIENTS[skewed(rng, CLIENTS.len())]).expect("a name")),
        turn: (!is_mcp).then(|| TurnId::parse(id(rng, at).as_str()).expect("an id")),
    };
    rng.bool().then_some(call)
}

fn id(rng: &mut Rng, at: i64) -> RunId {
    let age = ((at / 1000) << 16) | (at % 1000 * 65_536 / 1000);
    RunId::parse(&format!("{age:012x}{:012x}", rng.u64(..) >> 16)).expect("an id")
}

fn source(rng: &mut Rng, number: u64) -> InvocationSource {
    let user_id = user(skewed(rng, USERS));
    let conversation = number / CONVERSATION;
    let invocation_metadata = InvocationMetadata::EngageUser {
        current_state_machine_and_version: ("support".to_owned(), 3),
        tool_call_round_index: 0,
    };
    match rng.u32(0..1000) {
        0..600 => InvocationSource::RegularConversation {
            user_id,
            conversation_id: Some(format!("conversation-{conversation}")),
            interaction_id: Some(format!("interaction-{number}")),
            invocation_metadata,
        },
        600..650 => InvocationSource::SimulationConversation {
            simulation_unit_test_set_run_id: Some(format!("simulation-{conversation}")),
            unit_test_id: Some(format!("test-{}", rng.u32(0..100))),
            run_index: Some(0),
            invocation_metadata,
        },
        650..655 => {
            let (commit_branch, commit) = ("feature/lookup".to_owned(), format!("{:040x}", rng.u128(..)));
            InvocationSource::BranchTest { user_id, commit_branch, commit }
        }
        _ => InvocationSource::Direct { user_id },
    }
}

fn input(rng: &mut Rng, number: u64) -> RecordedInput {
    let text = if rng.u32(0..20) == 0 { cjk(rng) } else { sentence(rng, 2..8) };
    let parameters =
        [("order", json!(format!("order{number}"))), ("question", json!(text)), ("count", json!(rng.u32(0..100)))];
    let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>();
    RecordedInput::redacting(
        parameters,
        BTreeMap::from([("locale".to_owned(), "en".to_owned())]),
        &["TOKEN".to_owned()],
    )
}

fn end(rng: &mut Rng, number: u64, at: i64) -> RunEnd {
    let duration_ms = (rng.f64() * 10.0).exp() as u64;
    RunEnd {
        at: Timestamp::from_milliseconds(at).after(Duration::from_millis(duration_ms)),
        duration_ms,
        outcome: outcome(rng, number),
        persisted: rng.u32(0..10) > 0,
        status_events: (0..rng.u32(0..3)).map(|step| json!({ "step": step, "text": sentence(rng, 2..5) })).collect(),
        logs: if rng.bool() { format!("INFO {}\n", sentence(rng, 4..12)) } else { String::new() },
        content: Vec::new(),
        ledger: Some(ledger(rng)),
        refused_at: (rng.u32(0..100) == 0).then(|| InvokeStep::ALL[skewed(rng, InvokeStep::ALL.len())]),
    }
}

/// Each output names the number of its run, so that one run has this word.
fn outcome(rng: &mut Rng, number: u64) -> Outcome {
    if rng.u32(0..100) < 8 {
        let kind = EXCEPTIONS[skewed(rng, EXCEPTIONS.len())];
        return Outcome::Failed {
            exception_type: kind.to_owned(),
            exception_message: format!("order{number}: {}", sentence(rng, 3..8)),
            exception_stack_trace: vec![
                "File \"lookup/main.py\", line 12, in run_tool".to_owned(),
                format!("File \"lookup/{}.py\", line {}, in call", word(rng.usize(..WORDS / 100)), rng.u32(1..400)),
            ],
        };
    }
    let text = match rng.u32(0..20) {
        0 => cjk(rng),
        _ => sentence(rng, 6..20),
    };
    Outcome::Succeeded { output: format!("{{\"order\":\"order{number}\",\"answer\":\"{text}\"}}") }
}

fn ledger(rng: &mut Rng) -> Ledger {
    let http: Vec<_> = (0..rng.usize(0..3)).map(|_| request(rng)).collect();
    let refused = http.iter().filter(|request| request.is_refused).count() as u64;
    let secrets = if rng.u32(0..3) == 0 { vec![secret(skewed(rng, SECRETS))] } else { Vec::new() };
    let mut ledger = Ledger {
        granted: Granted { secrets, wall_ms: 30_000, cpu_ms: 10_000, memory_bytes: 128 << 20, ..Granted::default() },
        used: Used { clock_reads: 3, random_bytes: 16, output_bytes: 200, http, ..Used::default() },
        refused: Denied { http_requests: refused, ..Denied::default() },
        cost: Cost { cpu_ms: 4, guest_us: rng.u64(900..9_000), memory_peak_bytes: 9 << 20, ..Cost::default() },
    };
    ledger.hand_over();
    ledger
}

fn request(rng: &mut Rng) -> HttpUse {
    let is_refused = rng.u32(0..100) == 0;
    HttpUse {
        method: "GET".to_owned(),
        host: host(skewed(rng, HOSTS)),
        status: (!is_refused).then_some(200),
        error: is_refused.then(|| REFUSALS[skewed(rng, REFUSALS.len())].to_owned()),
        is_refused,
        answered_by: (!is_refused).then(|| "network".to_owned()),
        sent_bytes: if is_refused { 0 } else { 420 },
        received_bytes: rng.u64(200..9_000),
        duration_ms: rng.u64(5..400),
        secrets: if rng.u32(0..4) == 0 { vec![secret(skewed(rng, SECRETS))] } else { Vec::new() },
    }
}
