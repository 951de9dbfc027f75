//! Searches with filters find what lists with the same filters have. Lists are read from other indexes than searches.

use std::collections::BTreeSet;
use std::time::Duration;

use fastrand::Rng;
use registry::{
    AgentCall, AgentId, AgentProtocol, ClientName, Effect, EffectKind, Granted, HttpUse, InvocationSource, InvokeStep,
    Ledger, NativeToolName, Outcome, Page, Principal, RevisionNumber, RunFilter, RunId, RunStart, SearchQuery,
    SearchText, Timestamp, ToolId, ToolSelection, Used,
};

use crate::fixtures::{World, ends, finished, started, starts, succeeded};

const USERS: [&str; 3] = ["ann", "bob@example.com", "学生 7"];
const HOSTS: [&str; 3] = ["a.example.com", "b.example.com:8443", "c.example.com"];
const SECRETS: [&str; 2] = ["TOKEN", "KEY"];
const CLIENTS: [&str; 2] = ["claude-code", "cursor"];
const STEPS: [InvokeStep; 2] = [InvokeStep::Permit, InvokeStep::Policy];

/// The tools, agents and random numbers from which runs and filters are made.
struct Drawn<'a> {
    principal: &'a Principal,
    tools: Vec<ToolId>,
    agents: Vec<AgentId>,
    /// The time of the last run.
    now: Timestamp,
    rng: Rng,
}

impl Drawn<'_> {
    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.rng.usize(..of.len())].clone()
    }

    async fn record(&mut self, world: &World) {
        world.clock.advance(Duration::from_hours(self.rng.u64(..20)));
        let start = self.start(world);
        let outcome = if self.rng.bool() { succeeded("needle") } else { failure("needle") };
        let mut run = finished(&start, outcome);
        run.end.ledger = self.rng.bool().then(|| self.ledger());
        run.end.refused_at = (self.rng.u8(..4) == 0).then(|| self.one(&STEPS));
        world.store.history().record(&starts(vec![start])).await.unwrap();
        world.store.history().record(&ends(vec![run])).await.unwrap();
    }

    fn start(&mut self, world: &World) -> RunStart {
        let source = InvocationSource::Direct { user_id: self.one(&USERS).to_owned() };
        let (tools, agents) = (self.tools.clone(), self.agents.clone());
        let call = AgentCall {
            agent: self.one(&agents),
            revision: RevisionNumber::FIRST,
            protocol: AgentProtocol::Mcp,
            client: ClientName::of(self.one(&CLIENTS), "1.0"),
            turn: None,
        };
        let native_tool = (self.rng.u8(..4) == 0).then(|| NativeToolName::parse("whoami").unwrap());
        RunStart {
            source,
            tool: native_tool.is_none().then(|| self.one(&tools)),
            native_tool,
            via: self.rng.bool().then_some(call).into(),
            ..started(&world.clock, self.principal)
        }
    }

    fn ledger(&mut self) -> Ledger {
        let request = HttpUse { host: self.one(&HOSTS).to_owned(), sent_bytes: 1, ..HttpUse::default() };
        let secrets = if self.rng.bool() { vec![self.one(&SECRETS).to_owned()] } else { Vec::new() };
        Ledger {
            granted: Granted { secrets, ..Granted::default() },
            used: Used { http: vec![request], ..Used::default() },
            ..Ledger::default()
        }
    }

    fn filter(&mut self) -> RunFilter {
        let (tools, agents) = (self.tools.clone(), self.agents.clone());
        let mut filter = RunFilter::default();
        for _ in 0..self.rng.usize(..3) {
            filter.tools.push(ToolSelection { tool: self.one(&tools), versions: None });
        }
        for _ in 0..self.rng.usize(..3) {
            filter.user_ids.push(self.one(&USERS).to_owned());
        }
        for _ in 0..self.rng.usize(..3) {
            let of = [
                (EffectKind::Host, self.one(&HOSTS).to_owned()),
                (EffectKind::Secret, self.one(&SECRETS).to_owned()),
                (EffectKind::Agent, self.one(&agents).to_string()),
                (EffectKind::Client, format!("{} 1.0", self.one(&CLIENTS))),
                (EffectKind::NativeTool, "whoami".to_owned()),
                (EffectKind::RefusedAt, self.one(&STEPS).as_str().to_owned()),
            ];
            let (kind, name) = self.one(&of);
            filter.effects.push(Effect { kind, name });
        }
        filter.succeeded = [None, Some(true), Some(false)][self.rng.usize(..3)];
        let ago = |hours: u64| Some(self.now.before(Duration::from_hours(hours)));
        (filter.created_after, filter.created_before) = match self.rng.u8(..6) {
            0 => (ago(self.rng.u64(..600)), None),
            1 => (None, ago(self.rng.u64(..600))),
            2 => (ago(200 + self.rng.u64(..400)), ago(self.rng.u64(..200))),
            3 => (ago(self.rng.u64(..48)), ago(0)),
            _ => (None, None),
        };
        filter
    }
}

fn failure(message: &str) -> Outcome {
    Outcome::Failed {
        exception_type: "ValueError".to_owned(),
        exception_message: message.to_owned(),
        exception_stack_trace: Vec::new(),
    }
}

async fn found(world: &World, principal: &Principal, filter: &RunFilter) -> BTreeSet<RunId> {
    let text = SearchText::parse("needle").unwrap();
    let query = SearchQuery { text, fields: Vec::new(), filter: filter.clone() };
    let slice =
        world.store.history().search_invocations(&principal.organization, &query, Page::first(100)).await.unwrap();
    slice.items.into_iter().map(|record| record.start.id).collect()
}

/// Searches with filters, and returns how many runs they found.
async fn compare(world: &World, drawn: &mut Drawn<'_>, filters: &[RunFilter]) -> usize {
    let mut all = 0;
    for filter in filters {
        let page = Page::first(100);
        let listed = world.store.history().list_invocations(&drawn.principal.organization, filter, page).await.unwrap();
        let listed: BTreeSet<_> = listed.items.into_iter().map(|record| record.start.id).collect();
        assert_eq!(found(world, drawn.principal, filter).await, listed, "{filter:?}");
        all += listed.len();
    }
    all
}

#[tokio::test]
async fn searches_with_filters_find_what_lists_with_them_have() {
    let world = World::new().await;
    let (acme, globex) = (world.organization("acme").await, world.organization("globex").await);
    let tools = [world.tool(&acme, "one").await, world.tool(&acme, "two").await].to_vec();
    let agents = [AgentId::new(&world.clock), AgentId::new(&world.clock)].to_vec();
    let mut drawn = Drawn { principal: &acme, tools, agents, now: world.clock.now(), rng: Rng::with_seed(7) };
    for _ in 0..60 {
        drawn.record(&world).await;
    }
    drawn.now = world.clock.now();
    world.answered(&globex, "needle").await;
    let mut filters: Vec<_> = (0..250).map(|_| drawn.filter()).collect();
    // More alternatives than a search has facets for.
    let users = (0..40).map(|number| format!("user {number}")).chain([USERS[2].to_owned()]);
    filters.push(RunFilter { user_ids: users.collect(), ..RunFilter::default() });
    let all = compare(&world, &mut drawn, &filters).await;
    assert!(all > 500, "only {all} runs were found");
}
