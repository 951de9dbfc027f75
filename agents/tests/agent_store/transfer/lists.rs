//! A copy has the same lists, searches and continuation tokens, and takes new rows.

use std::time::Duration;

use registry::{
    Artifacts, Direction, Effect, EffectKind, Page, Record, Recordings, RunFilter, RunId, RunSort, RunStates,
    SearchField, SearchQuery, SearchText, Slice, Store, ToolFilter,
};

use super::Copy;
use super::contents::RUNS;
use crate::fixtures::{finished, started, starts, succeeded};

fn filters() -> Vec<RunFilter> {
    let sorted = |sort| RunFilter { sort: vec![(sort, Direction::Ascending)], ..RunFilter::default() };
    let host = Effect { kind: EffectKind::Host, name: "host4.example.org".to_owned() };
    vec![
        RunFilter::default(),
        sorted(RunSort::DurationMs),
        sorted(RunSort::Succeeded),
        RunFilter { effects: vec![host], ..RunFilter::default() },
        RunFilter {
            conversation_ids: vec!["conversation 4".to_owned(), "conversation 5".to_owned()],
            ..RunFilter::default()
        },
        RunFilter { states: RunStates::All, ..RunFilter::default() },
    ]
}

fn searches() -> Vec<SearchQuery> {
    [("shipped", &[][..]), ("会議 12*", &[]), ("lost line", &[]), ("order", &[SearchField::ExceptionMessage])]
        .map(|(text, fields)| SearchQuery {
            text: SearchText::parse(text).unwrap(),
            fields: fields.to_vec(),
            filter: RunFilter::default(),
        })
        .to_vec()
}

fn ids(slice: Slice<Record>) -> (Vec<RunId>, Option<u64>) {
    (slice.items.into_iter().map(|record| record.start.id).collect(), slice.next)
}

/// Returns the page of every list and search that begins after a token of `tokens`, with its token.
async fn pages(store: &Store, tokens: &[u64]) -> Vec<(Vec<RunId>, Option<u64>)> {
    let acme = registry::OrganizationId::parse("acme").unwrap();
    let mut pages = Vec::new();
    let page = |index: usize| Page { limit: 7, token: tokens.get(index).copied().unwrap_or(0) };
    for (index, filter) in filters().iter().enumerate() {
        pages.push(ids(store.history().list_invocations(&acme, filter, page(index)).await.unwrap()));
    }
    for (index, search) in (pages.len()..).zip(searches()) {
        pages.push(ids(store.history().search_invocations(&acme, &search, page(index)).await.unwrap()));
    }
    pages
}

#[tokio::test]
async fn lists_and_searches_continue_in_the_copy() {
    let Some(copy) = Copy::of_filled().await else { return };
    let old = copy.old_server().await;
    let first = pages(&old, &[]).await;
    assert!(first.iter().all(|(items, _)| !items.is_empty()), "{first:?}");
    let tokens: Vec<_> = first.iter().map(|(_, next)| next.unwrap_or(0)).collect();
    assert!(tokens.iter().filter(|token| **token > 0).count() >= 7, "{tokens:?}");
    let second = pages(&old, &tokens).await;
    old.close().await;
    copy.run().await.unwrap();
    let server = copy.server().await.unwrap();
    assert_eq!(pages(&server, &[]).await, first);
    assert_eq!(pages(&server, &tokens).await, second);
}

#[tokio::test]
async fn everything_is_read_as_before() {
    let Some(copy) = Copy::of_filled().await else { return };
    let (old, acme) = (copy.old_server().await, registry::OrganizationId::parse("acme").unwrap());
    copy.run().await.unwrap();
    let server = copy.server().await.unwrap();
    let all = RunFilter { states: RunStates::All, ..RunFilter::default() };
    let everything = Page::first(1000);
    for store in [&old, &server] {
        let (runs, tools) = (
            store.history().list_invocations(&acme, &all, everything).await.unwrap().items,
            store.tools().list_tools(&acme, &ToolFilter::default(), everything).await.unwrap().items,
        );
        assert!(runs.len() as u32 > RUNS * 8 / 10 && tools.len() == 60, "{} {}", runs.len(), tools.len());
    }
    let of = async |store: &Store| {
        let runs = store.history().list_invocations(&acme, &all, everything).await.unwrap();
        let tools = store.tools().list_tools(&acme, &ToolFilter::default(), everything).await.unwrap();
        let (users, roles) = (
            store.access().list_users(&acme, everything).await.unwrap(),
            store.access().list_roles(&acme).await.unwrap(),
        );
        format!("{runs:?} {tools:?} {users:?} {roles:?}")
    };
    assert_eq!(of(&old).await, of(&server).await);
    let taped =
        ids(server.history().list_invocations(&acme, &RunFilter::default(), Page::first(1000)).await.unwrap()).0;
    let tapes_of = |store: &Store| Recordings::of(store, &Artifacts::open(&copy.world.data).unwrap());
    let mut whole = 0;
    for run in taped {
        let (before, after) = (tapes_of(&old).tape(&acme, &run).await, tapes_of(&server).tape(&acme, &run).await);
        let (before, after) = (before.unwrap(), after.unwrap());
        assert_eq!(before, after);
        whole += u32::from(after.is_some());
    }
    assert!(whole > 100, "{whole}");
}

#[tokio::test]
async fn later_rows_follow_the_copied_ones_and_open_runs_are_closed_at_the_first_start() {
    let Some(copy) = Copy::of_filled().await else { return };
    let compared = copy.run().await.unwrap();
    let rows = |name: &str| compared.iter().find(|table| table.table == name).unwrap().rows;
    assert_eq!(rows("inv_open"), 1);
    assert!(compared.iter().all(|table| table.rows > 0), "{compared:?}");
    assert_eq!(rows("inv_text"), rows("inv_finished"));
    assert_eq!(copy.number("SELECT count(*) FROM inv_started_default").await, 0, "every month has a partition");
    assert_eq!(copy.number("SELECT count(*) FROM inv_finished_default").await, 0);
    let server = copy.server().await.unwrap();
    assert_eq!(server.nodes().close_orphans().await.unwrap(), 1);
    assert_eq!(copy.number("SELECT count(*) FROM inv_open").await, 0);
    assert_eq!(copy.number("SELECT count(*) FROM operations WHERE state = 'running'").await, 0);
    let acme = copy.world.principal("acme");
    copy.world.clock.advance(Duration::from_secs(1));
    let run = started(&copy.world.clock, &acme);
    server.history().record(&starts(vec![run.clone()])).await.unwrap();
    server.history().record(&crate::fixtures::ends(vec![finished(&run, succeeded("the newest"))])).await.unwrap();
    let (started, ended) = (rows("inv_started"), rows("inv_finished"));
    assert_eq!(copy.number("SELECT max(rowid) FROM inv_started").await, i64::try_from(started).unwrap() + 1);
    assert_eq!(copy.number("SELECT max(sequence) FROM inv_finished").await, i64::try_from(ended).unwrap() + 2);
    let newest =
        server.history().list_invocations(&acme.organization, &RunFilter::default(), Page::first(1)).await.unwrap();
    assert_eq!(newest.items[0].start.id, run.id);
    server.tools().create_tool(&acme, crate::fixtures::new_tool("another")).await.unwrap();
}
