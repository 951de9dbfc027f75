//! The statements of lists and searches are put together from filters and orders. Both databases accept all of them.

use std::collections::BTreeMap;

use registry::{
    AgentCall, AgentId, AgentProtocol, CallVia, ClientName, Constraint, Direction, Effect, EffectKind, Ledger, Origin,
    Page, RecordedInput, RevisionNumber, RunFilter, RunSort, RunStates, SearchField, SearchQuery, SearchText,
    SourceType, TagFilter, TagValue, Timestamp, ToolFilter, ToolId, ToolSelection, ToolSort, Used,
};

use crate::fixtures::{World, conversation, ends, finished, new_tool, started, starts, succeeded, tags};

/// The agent of the runs.
const AGENT: &str = "aaaaaaaaaaaaaaaaaaaaaaaa";

type Change<F> = Box<dyn Fn(&mut F)>;

/// Every single filter of the history, such that it lets the runs of the test through, and some that let none through.
fn filters(tool: &ToolId) -> Vec<Change<RunFilter>> {
    let selected = |versions: Option<&str>| {
        let versions = versions.map(|text| Constraint::parse(text).unwrap());
        ToolSelection { tool: tool.clone(), versions }
    };
    let (whole, of_versions, other) = (selected(None), selected(Some(">=1")), ToolId::new(&registry::Clock::system()));
    let other = ToolSelection { tool: other, versions: Some(Constraint::parse(">=1").unwrap()) };
    let two = vec![whole.clone(), other.clone()];
    let host = Effect { kind: EffectKind::Host, name: "example.org".into() };
    let agent = Effect { kind: EffectKind::Agent, name: AGENT.into() };
    let client = Effect { kind: EffectKind::Client, name: "claude-code 2.1".into() };
    let secret = Effect { kind: EffectKind::Secret, name: "KEY".into() };
    vec![
        Box::new(|_| {}),
        Box::new(move |filter| filter.tools = vec![whole.clone()]),
        Box::new(move |filter| filter.tools = vec![of_versions.clone()]),
        Box::new(move |filter| filter.tools = two.clone()),
        Box::new(|filter| filter.source_types = vec![SourceType::RegularConversation]),
        Box::new(|filter| filter.origins = vec![Origin::Agent, Origin::Direct]),
        Box::new(|filter| filter.user_ids = vec!["ann".into(), "bob".into()]),
        Box::new(|filter| filter.created_after = Some(Timestamp::from_milliseconds(0))),
        Box::new(|filter| filter.created_before = Some(Timestamp::from_milliseconds(i64::MAX))),
        Box::new(|filter| filter.conversation_ids = vec!["c1".into(), "c2".into(), "c1".into()]),
        Box::new(|filter| filter.simulation_unit_test_set_run_ids = vec!["s1".into()]),
        Box::new(|filter| filter.succeeded = Some(true)),
        Box::new(|filter| filter.persisted = Some(true)),
        Box::new({
            let secret = secret.clone();
            move |filter| filter.effects = vec![secret.clone(), Effect { name: "B".into(), ..secret.clone() }]
        }),
        Box::new(move |filter| filter.effects = vec![host.clone(), secret.clone()]),
        Box::new({
            let agent = agent.clone();
            move |filter| filter.effects = vec![agent.clone()]
        }),
        Box::new(move |filter| filter.effects = vec![agent.clone(), client.clone()]),
        Box::new(|filter| filter.origins = vec![Origin::Agent]),
    ]
}

/// No order, every key in both directions, every two keys, and all keys.
fn orders<K: Copy + PartialEq>(keys: &[K]) -> Vec<Vec<(K, Direction)>> {
    use Direction::{Ascending, Descending};
    let mut orders = vec![Vec::new()];
    for one in keys {
        orders.extend([vec![(*one, Ascending)], vec![(*one, Descending)]]);
        let others = keys.iter().filter(|other| *other != one);
        orders.extend(others.map(|other| vec![(*one, Descending), (*other, Ascending)]));
    }
    orders.push(keys.iter().map(|key| (*key, Descending)).collect());
    orders
}

/// Records runs of a conversation that have all that a filter asks for; the last one goes on.
async fn world_with_runs() -> (World, registry::Principal, ToolId) {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "one").await;
    world.publish(&acme, &tool, registry::BumpKind::Major).await;
    for number in 0..4 {
        let mut run = started(&world.clock, &acme);
        run.tool = Some(tool.clone());
        run.source = conversation("c1", "i1");
        run.via = CallVia::Agent(AgentCall {
            agent: AgentId::parse(AGENT).unwrap(),
            revision: RevisionNumber::FIRST,
            protocol: AgentProtocol::Rest,
            client: ClientName::of("claude-code", "2.1"),
            turn: None,
        });
        let parameters = [("city".to_owned(), "needle".into())].into_iter().collect::<serde_json::Map<_, _>>();
        run.input = RecordedInput::redacting(parameters, BTreeMap::new(), &[]);
        world.store.history().record(&starts(vec![run.clone()])).await.unwrap();
        if number < 3 {
            let mut end = finished(&run, succeeded("needle in the hay"));
            let used = Used { secrets: vec!["KEY".into()], ..Used::default() };
            end.end.ledger = Some(Ledger { used, ..Ledger::default() });
            world.store.history().record(&ends(vec![end])).await.unwrap();
        }
    }
    (world, acme, tool)
}

#[tokio::test]
async fn the_history_is_listed_with_every_filter_and_order() {
    use RunSort::{CreatedAt, DurationMs, Major, Minor, Patch, SourceType, Succeeded, ToolId};
    let (world, acme, tool) = world_with_runs().await;
    let orders = orders(&[CreatedAt, DurationMs, Succeeded, ToolId, Major, Minor, Patch, SourceType]);
    let mut later_pages = 0;
    for change in filters(&tool) {
        for states in [RunStates::Finished, RunStates::Running, RunStates::All] {
            for sort in &orders {
                let mut filter = RunFilter { states, sort: sort.clone(), ..RunFilter::default() };
                change(&mut filter);
                let mut page = Page::first(1);
                for _ in 0..2 {
                    let slice = world.store.history().list_invocations(&acme.organization, &filter, page).await;
                    let slice = slice.unwrap_or_else(|error| panic!("{filter:?}: {error}"));
                    let Some(token) = slice.next else { break };
                    page.token = token;
                    later_pages += 1;
                }
            }
        }
    }
    assert!(later_pages > 1000, "only {later_pages} lists had a second page");
}

#[tokio::test]
async fn the_history_is_searched_with_every_filter() {
    use SearchField::{ExceptionMessage, ExceptionStackTrace, ExceptionType, Inputs, Output};
    let (world, acme, tool) = world_with_runs().await;
    let every: &[SearchField] = &[Output, ExceptionMessage, ExceptionType, ExceptionStackTrace, Inputs];
    let mut found = 0;
    for change in filters(&tool) {
        for states in [RunStates::Finished, RunStates::Running, RunStates::All] {
            for (text, fields) in [("needle", &[][..]), ("need* in.the", &[Output]), ("needle hay", every)] {
                let mut filter = RunFilter { states, ..RunFilter::default() };
                change(&mut filter);
                let text = SearchText::parse(text).unwrap();
                let query = SearchQuery { text, fields: fields.to_vec(), filter };
                let slice = world.store.history().search_invocations(&acme.organization, &query, Page::first(1)).await;
                found += slice.unwrap_or_else(|error| panic!("{query:?}: {error}")).items.len();
            }
        }
    }
    assert!(found > 40, "only {found} searches found a run");
}

#[tokio::test]
async fn tools_are_listed_with_every_filter_and_order() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut ids = Vec::new();
    for name in ["one", "two", "three"] {
        let new = registry::NewTool { tags: tags(&[("team", Some("a")), ("beta", None)]), ..new_tool(name) };
        ids.push(world.store.tools().create_tool(&acme, new).await.unwrap());
    }
    let tag = |key: &str, value| TagFilter { key: key.into(), value };
    let wanted =
        vec![tag("team", TagValue::Any), tag("team", TagValue::Equals("a".into())), tag("beta", TagValue::Null)];
    let filters: [Change<ToolFilter>; 5] = [
        Box::new(|_| {}),
        Box::new(move |filter| filter.ids = ids.clone()),
        Box::new(|filter| filter.deprecated = Some(false)),
        Box::new({
            let wanted = wanted.clone();
            move |filter| filter.tags = wanted.clone()
        }),
        Box::new(move |filter| (filter.tags, filter.deprecated) = (wanted[..1].to_vec(), Some(false))),
    ];
    for change in filters {
        for sort in orders(&[ToolSort::Name, ToolSort::Deprecated]) {
            let mut filter = ToolFilter { sort, ..ToolFilter::default() };
            change(&mut filter);
            let (mut seen, mut page) = (0, Page::first(1));
            loop {
                let slice = world.store.tools().list_tools(&acme.organization, &filter, page).await;
                let slice = slice.unwrap_or_else(|error| panic!("{filter:?}: {error}"));
                seen += slice.items.len();
                let Some(token) = slice.next else { break };
                page.token = token;
            }
            assert_eq!(seen, 3, "{filter:?}");
        }
    }
}
