//! Calls through agents, calls of native tools and refused calls in the history.

use registry::{
    AgentCall, AgentProtocol, CallVia, Effect, EffectKind, ErrorKind, InvokeStep, NativeToolName, Origin, Outcome,
    Page, Principal, RecordEvent, RefusedRun, RunFilter, RunId, RunStart, RunStates, SearchQuery, SearchText,
    SourceType, ToolSelection,
};

use crate::fixtures::{World, agent_call, conversation, ends, finished, started, starts, succeeded};

/// The start of a run through an agent.
fn called(world: &World, principal: &Principal, protocol: AgentProtocol) -> RunStart {
    world.clock.advance(std::time::Duration::from_secs(1));
    RunStart { via: CallVia::Agent(agent_call(&world.clock, protocol)), ..started(&world.clock, principal) }
}

/// Records a run that succeeded.
async fn ended(world: &World, run: &RunStart) {
    world.store.history().record(&starts(vec![run.clone()])).await.unwrap();
    world.store.history().record(&ends(vec![finished(run, succeeded("found it"))])).await.unwrap();
}

fn refused(start: RunStart, at: InvokeStep) -> RefusedRun {
    RefusedRun { start, at, code: "policy_refused".into(), message: "the policy forbids it".into() }
}

fn native(world: &World, principal: &Principal) -> RunStart {
    let native_tool = Some(NativeToolName::parse("Search-tools_1").unwrap());
    RunStart { native_tool, tool: None, tool_version: None, ..called(world, principal, AgentProtocol::Mcp) }
}

fn effect(kind: EffectKind, name: impl ToString) -> Effect {
    Effect { kind, name: name.to_string() }
}

async fn listed(world: &World, principal: &Principal, filter: &RunFilter) -> Vec<RunId> {
    let slice =
        world.store.history().list_invocations(&principal.organization, filter, Page::first(100)).await.unwrap();
    slice.items.into_iter().map(|record| record.start.id).collect()
}

async fn found(world: &World, principal: &Principal, text: &str, filter: &RunFilter) -> Vec<RunId> {
    let text = SearchText::parse(text).unwrap();
    let query = SearchQuery { text, fields: Vec::new(), filter: filter.clone() };
    let slice =
        world.store.history().search_invocations(&principal.organization, &query, Page::first(100)).await.unwrap();
    slice.items.into_iter().map(|record| record.start.id).collect()
}

#[tokio::test]
async fn calls_are_read_as_they_were_written() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let direct = started(&world.clock, &acme);
    let by_mcp = called(&world, &acme, AgentProtocol::Mcp);
    let mut by_rest = called(&world, &acme, AgentProtocol::Rest);
    by_rest.source = conversation("c1", "i1");
    let call = by_rest.via.agent_call().unwrap().clone();
    by_rest.via = CallVia::Agent(AgentCall { client: None, turn: None, ..call });
    let native = native(&world, &acme);
    for (run, origin) in
        [(direct, Origin::Direct), (by_mcp, Origin::Mcp), (by_rest, Origin::Agent), (native, Origin::Mcp)]
    {
        ended(&world, &run).await;
        let read = world.store.history().get_invocation(&acme.organization, &run.id).await.unwrap().unwrap();
        assert_eq!((&read.start.via, &read.start.native_tool), (&run.via, &run.native_tool));
        assert_eq!((read.start.origin(), &read.start.source), (origin, &run.source));
        assert_eq!((read.start.tool, read.end.unwrap().refused_at), (run.tool, None));
    }
}

#[tokio::test]
async fn a_refused_call_is_recorded_in_one_go() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let runs: Vec<_> =
        InvokeStep::ALL.iter().map(|step| refused(called(&world, &acme, AgentProtocol::Mcp), *step)).collect();
    assert_eq!(world.store.history().record(&RecordEvent::Refused(runs.clone())).await.unwrap(), 12);
    for RefusedRun { start, at, .. } in &runs {
        let read = world.store.history().get_invocation(&acme.organization, &start.id).await.unwrap().unwrap();
        let end = read.end.unwrap();
        assert_eq!((end.refused_at, end.duration_ms, end.at), (Some(*at), 0, start.started_at));
        let Outcome::Failed { exception_type, exception_message, exception_stack_trace } = end.outcome else {
            panic!("it failed");
        };
        assert_eq!([&*exception_type, &exception_message], ["policy_refused", "the policy forbids it"]);
        assert!(exception_stack_trace.is_empty());
        assert_eq!(read.start.via, start.via);
    }
    let failed = RunFilter { succeeded: Some(false), ..RunFilter::default() };
    assert_eq!(listed(&world, &acme, &failed).await.len(), 12, "they are listed like other failures");
    assert_eq!(found(&world, &acme, "policy forbids", &failed).await.len(), 12);
    let running = RunFilter { states: RunStates::Running, ..RunFilter::default() };
    assert_eq!(listed(&world, &acme, &running).await, []);
    // The repetition of a write whose result was lost changes nothing.
    let again = world.store.history().record(&RecordEvent::Refused(runs[..1].to_vec())).await.unwrap_err();
    assert_eq!((again.kind(), again.code()), (ErrorKind::Conflict, "invocation_already_finished"));
    assert_eq!(listed(&world, &acme, &failed).await.len(), 12);
}

/// The start and the end can also be written one after the other.
#[tokio::test]
async fn a_call_is_refused_after_its_start() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let run = refused(called(&world, &acme, AgentProtocol::Rest), InvokeStep::Intervene);
    world.store.history().record(&starts(vec![run.start.clone()])).await.unwrap();
    world.store.history().record(&ends(vec![run.end()])).await.unwrap();
    let effects = vec![effect(EffectKind::RefusedAt, "intervene")];
    let filter = RunFilter { effects, ..RunFilter::default() };
    assert_eq!(listed(&world, &acme, &filter).await, [run.start.id]);
}

/// Runs of all kinds: two by MCP of which one was refused, one by the HTTP API in a conversation, one of a native tool, one
/// without an agent, and one by MCP that goes on.
struct Runs {
    by_mcp: RunStart,
    refused: RunStart,
    by_rest: RunStart,
    native: RunStart,
    direct: RunStart,
    running: RunStart,
}

impl Runs {
    async fn of(world: &World, acme: &Principal) -> Self {
        let by_mcp = called(world, acme, AgentProtocol::Mcp);
        let same_agent = |mut run: RunStart| {
            let (call, agent) = (run.via.agent_call().unwrap().clone(), by_mcp.via.agent_call().unwrap().agent.clone());
            run.via = CallVia::Agent(AgentCall { agent, ..call });
            run
        };
        let refused_run = same_agent(called(world, acme, AgentProtocol::Mcp));
        let by_rest = RunStart { source: conversation("c1", "i1"), ..called(world, acme, AgentProtocol::Rest) };
        let (native, direct) = (native(world, acme), started(&world.clock, acme));
        let running = same_agent(called(world, acme, AgentProtocol::Mcp));
        for run in [&by_mcp, &by_rest, &native, &direct] {
            ended(world, run).await;
        }
        let event = RecordEvent::Refused(vec![refused(refused_run.clone(), InvokeStep::Policy)]);
        world.store.history().record(&event).await.unwrap();
        world.store.history().record(&starts(vec![running.clone()])).await.unwrap();
        Self { by_mcp, refused: refused_run, by_rest, native, direct, running }
    }
}

/// Filters with the finished runs that they let through, newest first.
fn filters<'a>(runs: &'a Runs) -> Vec<(RunFilter, Vec<&'a RunStart>)> {
    let any = RunFilter::default;
    let Runs { by_mcp, refused, by_rest, native, direct, .. } = runs;
    let call = |run: &'a RunStart| run.via.agent_call().unwrap();
    let with = |effects: &[Effect]| RunFilter { effects: effects.to_vec(), ..any() };
    let of = |origins: &[Origin]| RunFilter { origins: origins.to_vec(), ..any() };
    let agent = effect(EffectKind::Agent, &call(by_mcp).agent);
    let rest_agent = effect(EffectKind::Agent, &call(by_rest).agent);
    let turn = effect(EffectKind::Turn, call(by_mcp).turn.as_ref().unwrap());
    let client = effect(EffectKind::Client, "claude-code 2.1");
    let (step, tool) = (effect(EffectKind::RefusedAt, "policy"), effect(EffectKind::NativeTool, "Search-tools_1"));
    let selected = ToolSelection { tool: by_mcp.tool.clone().unwrap(), versions: None };
    vec![
        (with(std::slice::from_ref(&agent)), vec![refused, by_mcp]),
        (with(&[agent.clone(), rest_agent]), vec![by_rest, refused, by_mcp]),
        (with(&[effect(EffectKind::Agent, &by_mcp.id)]), vec![]),
        (with(std::slice::from_ref(&client)), vec![native, by_rest, refused, by_mcp]),
        (with(&[effect(EffectKind::Client, "claude-code")]), vec![]),
        (with(std::slice::from_ref(&turn)), vec![by_mcp]),
        (with(std::slice::from_ref(&step)), vec![refused]),
        (with(&[effect(EffectKind::RefusedAt, "permit")]), vec![]),
        (with(std::slice::from_ref(&tool)), vec![native]),
        (with(&[tool, client.clone()]), vec![native]),
        (with(&[agent.clone(), client.clone(), step.clone()]), vec![refused]),
        (with(&[agent.clone(), turn.clone(), client]), vec![by_mcp]),
        (with(&[turn, step]), vec![]),
        (RunFilter { tools: vec![selected], ..with(std::slice::from_ref(&agent)) }, vec![by_mcp]),
        (RunFilter { succeeded: Some(true), ..with(std::slice::from_ref(&agent)) }, vec![by_mcp]),
        (RunFilter { created_after: Some(refused.started_at), ..with(std::slice::from_ref(&agent)) }, vec![refused]),
        (RunFilter { origins: vec![Origin::Agent], ..with(std::slice::from_ref(&agent)) }, vec![]),
        (RunFilter { origins: vec![Origin::Mcp], ..with(&[agent]) }, vec![refused, by_mcp]),
        (of(&[Origin::Mcp]), vec![native, refused, by_mcp]),
        (of(&[Origin::Agent]), vec![by_rest]),
        (of(&[Origin::Agent, Origin::Mcp]), vec![native, by_rest, refused, by_mcp]),
        (of(&[Origin::Direct]), vec![direct]),
        (of(&[Origin::Conversation]), vec![]),
        (of(&[Origin::BranchTest, Origin::Conversation]), vec![]),
        (RunFilter { conversation_ids: vec!["c1".into()], ..of(&[Origin::Agent]) }, vec![by_rest]),
        (RunFilter { source_types: vec![SourceType::RegularConversation], ..of(&[Origin::Direct]) }, vec![direct]),
        (RunFilter { source_types: vec![SourceType::SimulationConversation], ..of(&[Origin::Mcp]) }, vec![]),
    ]
}

#[tokio::test]
async fn runs_are_filtered_by_their_calls() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let other = world.organization("globex").await;
    let runs = Runs::of(&world, &acme).await;
    for (filter, expected) in filters(&runs) {
        let expected: Vec<_> = expected.iter().map(|run| run.id.clone()).collect();
        assert_eq!(listed(&world, &acme, &filter).await, expected, "{filter:?}");
        assert_eq!(listed(&world, &other, &filter).await, [], "{filter:?}");
        let mut searched = found(&world, &acme, "found it", &filter).await;
        searched.extend(found(&world, &acme, "policy forbids", &filter).await);
        searched.sort_by(|one, next| next.cmp(one));
        assert_eq!(searched, expected, "{filter:?}");
    }
}

#[tokio::test]
async fn a_run_that_goes_on_is_found_by_its_agent() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let runs = Runs::of(&world, &acme).await;
    let call = runs.running.via.agent_call().unwrap();
    let agent = effect(EffectKind::Agent, &call.agent);
    let turn = effect(EffectKind::Turn, call.turn.as_ref().unwrap());
    let (running, refused, by_mcp) = (&runs.running.id, &runs.refused.id, &runs.by_mcp.id);
    let native = &runs.native.id;
    let filter = |effects: &[Effect], origins: &[Origin], states| RunFilter {
        effects: effects.to_vec(),
        origins: origins.to_vec(),
        states,
        ..RunFilter::default()
    };
    for (filter, expected) in [
        (filter(std::slice::from_ref(&agent), &[], RunStates::Running), vec![running]),
        (filter(std::slice::from_ref(&agent), &[], RunStates::All), vec![running, refused, by_mcp]),
        (filter(&[agent.clone(), turn.clone()], &[], RunStates::Running), vec![running]),
        (filter(std::slice::from_ref(&turn), &[], RunStates::All), vec![running]),
        (filter(&[turn], &[], RunStates::Finished), vec![]),
        (filter(&[], &[Origin::Mcp], RunStates::Running), vec![running]),
        (filter(&[], &[Origin::Agent], RunStates::Running), vec![]),
        (filter(&[], &[Origin::Mcp], RunStates::All), vec![running, native, refused, by_mcp]),
    ] {
        let ids = listed(&world, &acme, &filter).await;
        assert_eq!(ids.iter().collect::<Vec<_>>(), expected, "{filter:?}");
    }
    // A start that is written again changes nothing.
    world.store.history().record(&starts(vec![runs.running.clone(), runs.by_mcp.clone()])).await.unwrap();
    assert_eq!(listed(&world, &acme, &filter(&[agent], &[], RunStates::All)).await.len(), 3);
}
