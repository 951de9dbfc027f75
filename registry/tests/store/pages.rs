//! Pages of every list while rows are added and changed: each row of the time of the first page is shown exactly once.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestCaseError, TestRunner};
use registry::{
    BumpKind, Config, Constraint, Direction, Error, Page, Principal, RunFilter, RunSort, Slice, ToolFilter, ToolId,
    ToolRef, ToolSort, VersionFilter, VersionSort,
};

use crate::fixtures::{World, ends, finished, new_tool, started, starts, succeeded};

/// The lists, each with an order.
#[derive(Clone, Debug)]
enum List {
    Tools(Vec<(ToolSort, Direction)>),
    Versions(Vec<(VersionSort, Direction)>),
    History(Vec<(RunSort, Direction)>),
}

/// A change between two pages.
#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(usize),
    Read { limit: u32 },
}

fn direction() -> impl Strategy<Value = Direction> {
    prop::sample::select(vec![Direction::Ascending, Direction::Descending])
}

fn orders<T: Clone + std::fmt::Debug + 'static>(columns: Vec<T>) -> impl Strategy<Value = Vec<(T, Direction)>> {
    prop::collection::vec((prop::sample::select(columns), direction()), 0..4)
}

fn list() -> impl Strategy<Value = List> {
    use RunSort::{CreatedAt, DurationMs, Succeeded};
    prop_oneof![
        orders(vec![ToolSort::Name, ToolSort::Deprecated]).prop_map(List::Tools),
        orders(vec![VersionSort::CreatedAt, VersionSort::Major, VersionSort::Minor, VersionSort::Deprecated])
            .prop_map(List::Versions),
        orders(vec![CreatedAt, DurationMs, Succeeded]).prop_map(List::History),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        1 => (1..4_usize).prop_map(Step::Insert),
        3 => (0..5_u32).prop_map(|limit| Step::Read { limit }),
    ];
    prop::collection::vec(step, 4..20)
}

/// A world with one tool whose versions are listed.
struct Reader {
    world: World,
    acme: Principal,
    tool: ToolId,
    list: List,
    inserted: usize,
}

impl Reader {
    async fn new(list: List) -> Self {
        let world = World::with(Config { live_versions_max: 1000, ..Config::for_tests() }).await;
        let acme = world.organization("acme").await;
        let tool = world.tool(&acme, "first").await;
        Self { world, acme, tool, list, inserted: 0 }
    }

    /// Adds a row at a position among the earlier rows.
    async fn insert(&mut self) {
        self.inserted += 1;
        let spread = self.inserted * 7919 % 100;
        match self.list {
            List::Tools(_) => {
                self.insert_tool(&format!("tool_{spread:02}_{}", self.inserted), spread.is_multiple_of(3)).await
            }
            List::Versions(_) => self.insert_version(spread).await,
            List::History(_) => self.insert_run(spread).await,
        }
    }

    async fn insert_tool(&self, name: &str, deprecated: bool) {
        let tool = self.world.store.tools().create_tool(&self.acme, new_tool(name)).await.unwrap();
        if deprecated {
            self.world.store.tools().deprecate_tool(&self.acme, &tool).await.unwrap();
        }
    }

    async fn insert_version(&self, spread: usize) {
        let bump = [BumpKind::Patch, BumpKind::Minor, BumpKind::Major][spread % 3];
        let version = self.world.publish(&self.acme, &self.tool, bump).await.version;
        if spread.is_multiple_of(4) {
            let it = Constraint::exactly(version);
            self.world.store.versions().deprecate_versions(&self.acme, &self.tool, &it).await.unwrap();
        }
    }

    /// Adds a run that began with others, or before others that ended first.
    async fn insert_run(&self, spread: usize) {
        let mut run = started(&self.world.clock, &self.acme);
        let ago = i64::try_from(spread % 5).unwrap();
        run.started_at = registry::Timestamp::from_milliseconds(run.started_at.as_milliseconds() - ago);
        self.world.store.history().record(&starts(vec![run.clone()])).await.unwrap();
        let failed = registry::Outcome::Failed {
            exception_type: "E".into(),
            exception_message: String::new(),
            exception_stack_trace: Vec::new(),
        };
        let mut end = finished(&run, if spread.is_multiple_of(2) { succeeded("") } else { failed });
        end.end.duration_ms = u64::try_from(spread % 3).unwrap();
        self.world.store.history().record(&ends(vec![end])).await.unwrap();
    }

    /// The names of the rows of a page.
    async fn read(&self, page: Page) -> Result<Slice<String>, Error> {
        let (store, organization) = (&self.world.store, &self.acme.organization);
        match &self.list {
            List::Tools(sort) => {
                let filter = ToolFilter { sort: sort.clone(), ..ToolFilter::default() };
                Ok(store.tools().list_tools(organization, &filter, page).await?.map(|tool| tool.id.to_string()))
            }
            List::Versions(sort) => {
                let filter = VersionFilter { sort: sort.clone(), ..VersionFilter::default() };
                let slice =
                    store.versions().list_versions(ToolRef { organization, tool: &self.tool }, &filter, page).await?;
                Ok(slice.map(|version| version.id.to_string()))
            }
            List::History(sort) => {
                let filter = RunFilter { sort: sort.clone(), ..RunFilter::default() };
                Ok(store
                    .history()
                    .list_invocations(organization, &filter, page)
                    .await?
                    .map(|run| run.start.id.to_string()))
            }
        }
    }

    async fn all(&self) -> Vec<String> {
        let slice = self.read(Page::first(10_000)).await.unwrap();
        assert_eq!(slice.next, None);
        slice.items
    }
}

async fn check(list: List, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut reader = Reader::new(list).await;
    for _ in 0..9 {
        reader.insert().await;
    }
    let at_first = reader.all().await;
    let (mut seen, mut page) = (Vec::new(), Page::first(0));
    // Reads the remaining pages.
    for step in steps.into_iter().chain(std::iter::repeat(Step::Read { limit: 2 })) {
        match step {
            Step::Insert(rows) => {
                for _ in 0..rows {
                    reader.insert().await;
                }
            }
            Step::Read { limit } => {
                page.limit = limit;
                let slice = reader.read(page).await.map_err(|error| TestCaseError::fail(error.to_string()))?;
                seen.extend(slice.items);
                // A page without items says nothing about the next one.
                let Some(next) = slice.next else { if limit == 0 { continue } else { break } };
                page.token = next;
            }
        }
    }
    let mut times = BTreeMap::new();
    seen.iter().for_each(|id| *times.entry(id.clone()).or_insert(0) += 1);
    prop_assert!(times.values().all(|times| *times == 1), "shown twice: {:?}", times);
    let missed: Vec<_> = at_first.iter().filter(|id| !times.contains_key(*id)).collect();
    prop_assert!(missed.is_empty(), "missed: {:?}", missed);
    let positions: Vec<_> = seen.iter().filter(|id| at_first.contains(id)).collect();
    prop_assert_eq!(positions, at_first.iter().collect::<Vec<_>>());
    Ok(())
}

#[test]
fn no_row_is_missed_or_shown_twice_while_rows_are_added() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut runner = TestRunner::new(Cases { cases: 48, failure_persistence: None, ..Cases::default() });
    runner.run(&(list(), steps()), |(list, steps)| runtime.block_on(check(list, steps))).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_row_is_missed_or_shown_twice_while_others_write() {
    let mut reader = Reader::new(List::Tools(vec![(ToolSort::Name, Direction::Ascending)])).await;
    for _ in 0..40 {
        reader.insert().await;
    }
    let at_first = reader.all().await;
    let (store, acme) = (reader.world.store.clone(), reader.acme.clone());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let writer = tokio::spawn(async move {
        let mut written = 0;
        while stopped.is_empty() {
            written += 1;
            store
                .tools()
                .create_tool(&acme, new_tool(&format!("tool_{:02}_late_{written}", written % 100)))
                .await
                .unwrap();
        }
        written
    });
    let (mut seen, mut page) = (Vec::new(), Page::first(1));
    loop {
        let slice = reader.read(page).await.unwrap();
        seen.extend(slice.items);
        let Some(token) = slice.next else { break };
        page = Page { limit: 3, token };
        // The writer must make progress between two pages for the test to mean anything.
        tokio::task::yield_now().await;
    }
    stop.send(()).unwrap();
    assert!(writer.await.unwrap() > 0);
    let of_first: Vec<_> = seen.iter().filter(|id| at_first.contains(id)).collect();
    assert_eq!(of_first, at_first.iter().collect::<Vec<_>>());
    let different: std::collections::BTreeSet<_> = seen.iter().collect();
    assert_eq!(different.len(), seen.len());
}

#[tokio::test]
async fn a_page_begins_after_a_row_that_was_deprecated_meanwhile() {
    let mut reader = Reader::new(List::Tools(vec![(ToolSort::Deprecated, Direction::Ascending)])).await;
    for name in ["b", "c"] {
        reader.insert_tool(name, false).await;
    }
    let all = reader.all().await;
    let first = reader.read(Page::first(1)).await.unwrap();
    let shown = ToolId::parse(&first.items[0]).unwrap();
    reader.world.store.tools().deprecate_tool(&reader.acme, &shown).await.unwrap();
    let rest = reader.read(Page { limit: 10, token: first.next.unwrap() }).await.unwrap();
    assert_eq!(rest.items[..2], all[1..], "the live ones come first, as they did");
    reader.list = List::Tools(Vec::new());
    assert_eq!(reader.all().await, all);
}

#[tokio::test]
async fn a_token_is_valid_only_for_its_list() {
    let mut reader = Reader::new(List::History(Vec::new())).await;
    for _ in 0..3 {
        reader.insert().await;
        reader.world.tool(&reader.acme, &format!("tool_{}", reader.inserted)).await;
    }
    let token = reader.read(Page::first(1)).await.unwrap().next.unwrap();
    let stranger = reader.world.organization("stranger").await;
    for _ in 0..3 {
        reader.world.answered(&stranger, "mine").await;
    }
    let store = &reader.world.store;
    let page = Page { limit: 1, token };
    let refused = [
        store.history().list_invocations(&stranger.organization, &RunFilter::default(), page).await.map(drop),
        store.tools().list_tools(&reader.acme.organization, &ToolFilter::default(), page).await.map(drop),
        store
            .versions()
            .list_versions(
                ToolRef { organization: &reader.acme.organization, tool: &reader.tool },
                &VersionFilter::default(),
                page,
            )
            .await
            .map(drop),
    ];
    assert!(refused.iter().all(|refused| matches!(refused, Err(Error::PageTokenUnknown))), "{refused:?}");
    for invented in [1, 2, 1 << 30, (1 << 30) + 1, 1 << 53, u64::MAX] {
        let page = Page { limit: 1, token: invented };
        let answer = reader.read(page).await;
        assert!(matches!(answer, Err(Error::PageTokenUnknown)), "{invented}: {answer:?}");
    }
}
