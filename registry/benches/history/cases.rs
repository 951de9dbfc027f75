//! The queries that are measured.

use fastrand::Rng;
use registry::{
    Effect, EffectKind, InvokeStep, Origin, RunFilter, RunStates, SearchField, SearchQuery, SearchText, Timestamp,
    ToolSelection,
};

use crate::corpus::{
    AGENTS, CLIENTS, HOSTS, NATIVE_TOOLS, REFUSALS, SECRETS, USERS, agent, city, host, secret, skewed, user, word,
};
use crate::world::{Organization, SPAN_MS, START};

/// A row of the table.
pub struct Case {
    pub name: &'static str,
    pub kind: Kind,
}

#[derive(Clone, Copy)]
pub enum Kind {
    List(fn(&mut Rng, &Organization) -> RunFilter),
    /// A list from somewhere in the middle of the history on.
    DeepList,
    Search(fn(&mut Rng, &Organization) -> SearchQuery),
}

const fn list(name: &'static str, filter: fn(&mut Rng, &Organization) -> RunFilter) -> Case {
    Case { name, kind: Kind::List(filter) }
}

const fn search(name: &'static str, query: fn(&mut Rng, &Organization) -> SearchQuery) -> Case {
    Case { name, kind: Kind::Search(query) }
}

pub fn cases() -> Vec<Case> {
    [lists(), lists_of_calls(), searches()].into_iter().flatten().collect()
}

/// Lists by the agents of calls, native tools and refusals.
fn lists_of_calls() -> Vec<Case> {
    vec![
        list("list, agent", |rng, _| with(EffectKind::Agent, agent(skewed(rng, AGENTS)).to_string())),
        list("list, rare agent", |rng, _| with(EffectKind::Agent, agent(AGENTS - 1 - rng.usize(..9)).to_string())),
        list("list, client", |rng, _| with(EffectKind::Client, CLIENTS[skewed(rng, CLIENTS.len())].to_owned())),
        list("list, native tool", |rng, _| {
            with(EffectKind::NativeTool, NATIVE_TOOLS[skewed(rng, NATIVE_TOOLS.len())].to_owned())
        }),
        list("list, refused at a step", |rng, _| {
            let step = InvokeStep::ALL[skewed(rng, InvokeStep::ALL.len())];
            with(EffectKind::RefusedAt, step.as_str().to_owned())
        }),
        list("list, agent and refused at a step", |rng, _| {
            let mut filter = with(EffectKind::Agent, agent(skewed(rng, AGENTS)).to_string());
            let name = InvokeStep::Resolve.as_str().to_owned();
            filter.effects.push(Effect { kind: EffectKind::RefusedAt, name });
            filter
        }),
        list("list, agent and client", |rng, _| {
            let mut filter = with(EffectKind::Agent, agent(skewed(rng, AGENTS)).to_string());
            let name = CLIENTS[skewed(rng, CLIENTS.len())].to_owned();
            filter.effects.push(Effect { kind: EffectKind::Client, name });
            filter
        }),
        list("list, agent, running and ended", |rng, _| RunFilter {
            states: RunStates::All,
            ..with(EffectKind::Agent, agent(skewed(rng, AGENTS)).to_string())
        }),
    ]
}

fn lists() -> Vec<Case> {
    vec![
        list("list, first page", |_, _| any()),
        Case { name: "list, deep page", kind: Kind::DeepList },
        list("list, tool", |rng, of| RunFilter { tools: vec![tool(rng, of)], ..any() }),
        list("list, failed", |_, _| RunFilter { succeeded: Some(false), ..any() }),
        list("list, user", |rng, _| RunFilter { user_ids: vec![user(skewed(rng, USERS))], ..any() }),
        list("list, rare user", |rng, _| RunFilter { user_ids: vec![user(USERS - 1 - rng.usize(..9))], ..any() }),
        list("list, host", |rng, _| with(EffectKind::Host, host(skewed(rng, HOSTS)))),
        list("list, rare host", |rng, _| with(EffectKind::Host, host(HOSTS - 1 - rng.usize(..9)))),
        list("list, absent host", |_, _| with(EffectKind::Host, "absent.example.com".to_owned())),
        list("list, secret", |rng, _| with(EffectKind::Secret, secret(skewed(rng, SECRETS)))),
        list("list, refusal", |rng, _| with(EffectKind::Refusal, REFUSALS[skewed(rng, REFUSALS.len())].to_owned())),
        list("list, origin", |rng, _| {
            of_origin(
                [Origin::Conversation, Origin::Direct, Origin::BranchTest, Origin::Mcp, Origin::Agent][rng.usize(..5)],
            )
        }),
        list("list, branch tests", |_, _| of_origin(Origin::BranchTest)),
        list("list, a day", |rng, _| a_day(rng)),
        list("list, host and failed", |rng, _| RunFilter {
            succeeded: Some(false),
            ..with(EffectKind::Host, host(skewed(rng, HOSTS)))
        }),
        list("list, two hosts and secret", |rng, _| {
            let mut filter = with(EffectKind::Host, host(skewed(rng, HOSTS)));
            let secret = secret(skewed(rng, SECRETS));
            filter.effects.push(Effect { kind: EffectKind::Host, name: host(skewed(rng, HOSTS)) });
            filter.effects.push(Effect { kind: EffectKind::Secret, name: secret });
            filter
        }),
    ]
}

fn searches() -> Vec<Case> {
    vec![
        search("search, one run's word", |rng, _| query(&format!("order{}", rng.u32(..90_000)))),
        search("search, rare word", |rng, _| query(&word(5_000 + rng.usize(..15_000)))),
        search("search, word", |rng, _| query(&word(100 + rng.usize(..900)))),
        search("search, frequent word", |rng, _| query(&word(rng.usize(..20)))),
        search("search, prefix", |rng, _| query(&format!("{}*", &word(400 + rng.usize(..900))[..4]))),
        search("search, Chinese and Japanese", |rng, _| query(city(rng.usize(..8)))),
        search("search, two frequent words", |rng, _| {
            query(&format!("{} {}", word(rng.usize(..20)), word(rng.usize(..20))))
        }),
        search("search, frequent and rare word", |rng, _| {
            query(&format!("{} {}", word(rng.usize(..20)), word(5_000 + rng.usize(..15_000))))
        }),
        search("search, inputs", |rng, _| SearchQuery {
            fields: vec![SearchField::Inputs],
            ..query(&word(rng.usize(..1_000)))
        }),
        search("search, frequent word and failed", |rng, _| {
            filtered(&word(rng.usize(..20)), RunFilter { succeeded: Some(false), ..any() })
        }),
        search("search, frequent word and tool", |rng, of| {
            filtered(&word(rng.usize(..20)), RunFilter { tools: vec![tool(rng, of)], ..any() })
        }),
        search("search, frequent word and host", |rng, _| {
            let host = host(skewed(rng, HOSTS));
            filtered(&word(rng.usize(..20)), with(EffectKind::Host, host))
        }),
        search("search, frequent word and a day", |rng, _| filtered(&word(rng.usize(..20)), a_day(rng))),
    ]
}

fn any() -> RunFilter {
    RunFilter::default()
}

fn tool(rng: &mut Rng, organization: &Organization) -> ToolSelection {
    let tools = &organization.tools;
    ToolSelection { tool: tools[skewed(rng, tools.len())].clone(), versions: None }
}

fn with(kind: EffectKind, name: String) -> RunFilter {
    RunFilter { effects: vec![Effect { kind, name }], ..any() }
}

fn of_origin(origin: Origin) -> RunFilter {
    RunFilter { origins: vec![origin], ..any() }
}

fn a_day(rng: &mut Rng) -> RunFilter {
    const DAY: i64 = 24 * 3_600_000;
    let days = i64::try_from(SPAN_MS).unwrap_or(i64::MAX) / DAY;
    let first = START + rng.i64(0..days) * DAY;
    let at = |milliseconds| Some(Timestamp::from_milliseconds(milliseconds));
    RunFilter { created_after: at(first), created_before: at(first + DAY), ..any() }
}

fn query(text: &str) -> SearchQuery {
    filtered(text, any())
}

fn filtered(text: &str, filter: RunFilter) -> SearchQuery {
    SearchQuery { text: SearchText::parse(text).expect("a search"), fields: Vec::new(), filter }
}
