//! Pages of the history while another task inserts runs: in each order and with each filter, the runs of the time of the first
//! page are shown exactly once, and no other run twice.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use registry::{
    Direction, Effect, EffectKind, HttpUse, InvocationMode, InvocationSource, Ledger, Origin, Outcome, Page, Principal,
    RunFilter, RunId, RunSort, RunStart, RunStates, SearchQuery, SearchText, Slice, Store, Timestamp, ToolId,
    ToolSelection, Version,
};

use crate::fixtures::{World, conversation, ends, finished, started, starts, succeeded};

const BEFORE: u64 = 60;
const PAGE: u32 = 20;
/// Runs that are inserted while the pages of one list are read.
const MEANWHILE: u64 = 8;

/// Makes runs that differ in everything that lists sort and filter by. All have the user, the tool and the host of the filters.
struct Source {
    world: World,
    acme: Principal,
    tool: ToolId,
    inserted: AtomicU64,
}

impl Source {
    async fn new() -> Self {
        let world = World::new().await;
        let acme = world.organization("acme").await;
        let tool = world.tool(&acme, "lookup").await;
        Self { world, acme, tool, inserted: AtomicU64::new(0) }
    }

    /// Runs of the same millisecond and of earlier ones, so that they belong to any page.
    fn start(&self, number: u64) -> RunStart {
        let mut start = started(&self.world.clock, &self.acme);
        let ago = i64::try_from(number * 7919 % 50).unwrap();
        start.started_at = Timestamp::from_milliseconds(start.started_at.as_milliseconds() - ago);
        start.tool = Some(self.tool.clone());
        start.tool_version = Some(Version::new(number % 3, number % 2, number % 4));
        if number.is_multiple_of(3) {
            start.source = conversation("c1", "i1");
        } else {
            start.source = InvocationSource::Direct { user_id: "ann".to_owned() };
            start.mode =
                if number.is_multiple_of(2) { InvocationMode::Regular } else { InvocationMode::ConversationSimulation };
        }
        start
    }

    async fn insert_some(&self) {
        for _ in 0..MEANWHILE {
            self.insert().await;
            tokio::task::yield_now().await;
        }
    }

    async fn insert(&self) {
        let number = self.inserted.fetch_add(1, Ordering::SeqCst);
        let start = self.start(number);
        self.world.store.history().record(&starts(vec![start.clone()])).await.unwrap();
        let failed = Outcome::Failed {
            exception_type: "word".into(),
            exception_message: String::new(),
            exception_stack_trace: Vec::new(),
        };
        let mut end = finished(&start, if number.is_multiple_of(4) { failed } else { succeeded("word") });
        end.end.duration_ms = number % 5;
        let mut ledger = Ledger::default();
        ledger.used.http = vec![HttpUse { host: "example.org".into(), sent_bytes: 1, ..HttpUse::default() }];
        end.end.ledger = Some(ledger);
        self.world.store.history().record(&ends(vec![end])).await.unwrap();
        self.world.clock.advance(Duration::from_millis(number % 2));
    }
}

fn orders() -> Vec<Vec<(RunSort, Direction)>> {
    use Direction::{Ascending, Descending};
    use RunSort::{CreatedAt, DurationMs, Major, Minor, Patch, SourceType, Succeeded, ToolId};
    let keys = [CreatedAt, DurationMs, Succeeded, ToolId, Major, Minor, Patch, SourceType];
    let of = |(index, key)| vec![(key, if index % 2 == 0 { Ascending } else { Descending })];
    let single = keys.into_iter().enumerate().map(of);
    let two = vec![(Succeeded, Ascending), (CreatedAt, Ascending)];
    single.chain([Vec::new(), two, vec![(DurationMs, Ascending), (CreatedAt, Ascending)]]).collect()
}

fn filters(tool: &ToolId) -> Vec<RunFilter> {
    let any = RunFilter::default;
    let host = Effect { kind: EffectKind::Host, name: "example.org".into() };
    let other = Effect { kind: EffectKind::Host, name: "other.org".into() };
    vec![
        any(),
        RunFilter { states: RunStates::All, ..any() },
        RunFilter { tools: vec![ToolSelection { tool: tool.clone(), versions: None }], ..any() },
        RunFilter { user_ids: vec!["ann".into()], ..any() },
        RunFilter { origins: vec![Origin::Direct], ..any() },
        RunFilter { conversation_ids: vec!["c1".into()], ..any() },
        RunFilter { succeeded: Some(false), ..any() },
        RunFilter { effects: vec![host.clone()], ..any() },
        RunFilter { effects: vec![host, other], ..any() },
    ]
}

/// Reads the runs of all pages. `read` reads one.
async fn pages(read: &mut impl AsyncFnMut(Page) -> Slice<RunId>) -> Vec<RunId> {
    let (mut seen, mut page) = (Vec::new(), Page::first(PAGE));
    loop {
        let slice = read(page).await;
        seen.extend(slice.items);
        let Some(next) = slice.next else { return seen };
        page.token = next;
    }
}

/// Compares the pages with the runs that were there before them. Another task inserts runs meanwhile.
async fn check(case: &str, source: &Arc<Source>, mut read: impl AsyncFnMut(Page) -> Slice<RunId>) {
    let before = read(Page::first(100_000)).await.items;
    let inserting = tokio::spawn({
        let source = source.clone();
        async move { source.insert_some().await }
    });
    let seen = pages(&mut read).await;
    inserting.await.unwrap();
    let distinct: BTreeSet<_> = seen.iter().collect();
    assert_eq!(distinct.len(), seen.len(), "{case}: a run is shown twice");
    let missing: Vec<_> = before.iter().filter(|run| !distinct.contains(run)).collect();
    assert!(missing.is_empty(), "{case}: {missing:?} are missing of {}", before.len());
}

async fn list(store: &Store, of: &Principal, filter: &RunFilter, page: Page) -> Slice<RunId> {
    let slice = store.history().list_invocations(&of.organization, filter, page).await.unwrap();
    slice.map(|record| record.start.id)
}

#[tokio::test]
async fn pages_miss_and_repeat_nothing_while_runs_are_inserted() {
    let source = Arc::new(Source::new().await);
    for _ in 0..BEFORE {
        source.insert().await;
    }
    let (store, acme) = (&source.world.store, &source.acme);
    for filter in filters(&source.tool) {
        // A run that ends moves in these orders, from the place of those that go on to its own.
        let moves = |sort: &[(RunSort, Direction)]| {
            let changes = |key| matches!(key, RunSort::DurationMs | RunSort::Succeeded);
            filter.states == RunStates::All && sort.iter().any(|(key, _)| changes(*key))
        };
        for sort in orders().into_iter().filter(|sort| !moves(sort)) {
            let filter = RunFilter { sort, ..filter.clone() };
            check(&format!("{filter:?}"), &source, async |page| list(store, acme, &filter, page).await).await;
        }
    }
    for filter in filters(&source.tool) {
        let query = SearchQuery { text: SearchText::parse("word").unwrap(), fields: Vec::new(), filter };
        let search = async |page| {
            let slice = store.history().search_invocations(&acme.organization, &query, page).await.unwrap();
            slice.map(|record| record.start.id)
        };
        check(&format!("{query:?}"), &source, search).await;
    }
}
