//! How lists of many runs begin: no list reads all runs of an organisation for a page.

use sqlx::{Connection as _, SqliteConnection};

use crate::config::Config;
use crate::files::data_dir::DataDir;
use crate::history::{EffectKind, RunFilter, RunSort, SourceType, ToolSelection};
use crate::kit::account::OrganizationId;
use crate::kit::clock::{Clock, Timestamp};
use crate::kit::ids::ToolId;
use crate::kit::page::Direction::{Ascending, Descending};
use crate::secrets::KeyRing;
use crate::store::database::{Query, get};
use crate::store::sql::history::filters::Filters;
use crate::store::sql::history::list::{add_order, begin_statement};
use crate::store::sql::history::list_parts::ListPart;
use crate::store::sql::history::list_start::ListStart;
use crate::store::sql::history::order::Order;
use crate::store::{DatabaseLocation, Store, StoreOptions};

/// Runs of three tools in two versions, of which one in ten failed, and one in fifty is a simulation.
const RUNS: &str = "
    INSERT INTO organizations (organization, data_key_id, data_key, created_at) VALUES ('acme', '', x'', 0);
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 600)
    INSERT INTO inv_started (invocation, organization, tool, major, minor, patch, source_kind, source, mode, simulation_run_id,
            input, started_at, boot, account)
        SELECT printf('%024x', n), 'acme', printf('%024x', n % 3 + 1), 1, n / 300, 0,
            iif(n % 50 = 0, 'simulation-conversation', 'direct'), '{\"type\":\"direct\",\"user_id\":\"ann\"}', 'regular',
            iif(n % 50 = 0, 's1', NULL), '{}', n * 1000, 'boot', 'ann#1' FROM numbers;
    INSERT INTO inv_finished (invocation, organization, finished_at, duration_ms, succeeded, output, persisted, status_events, logs)
        SELECT invocation, organization, started_at, started_at % 997, started_at % 10000 <> 0, x'', 0, '[]', x'' FROM inv_started;
    INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
        SELECT f.organization, 'outcome', names.value || iif(names.value = 'failed', '', s.tool || ' 1.' || s.minor || '.0'
            || iif(s.source_kind = 'direct', '', ' simulation')), s.started_at, s.invocation
        FROM inv_finished f JOIN inv_started s ON s.invocation = f.invocation
        CROSS JOIN json_each('[\"failed\",\"failed \"]') names WHERE f.succeeded = 0;";

struct World {
    store: Store,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path().join("data")).unwrap();
        let options = StoreOptions {
            data: &data,
            database: DatabaseLocation::DataDirectory,
            keys: &KeyRing::load(&data).unwrap(),
            clock: Clock::fixed(Timestamp::from_milliseconds(0)),
            config: Config::for_tests(),
        };
        let store = Store::open(options).await.unwrap();
        let mut connection =
            SqliteConnection::connect(&format!("sqlite://{}", data.database().display())).await.unwrap();
        sqlx::raw_sql(RUNS).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        Self { store, _folder: folder }
    }

    async fn parts(&self, filter: &RunFilter) -> Vec<ListPart> {
        let mut listing = self.store.open_listing(&acme()).await.unwrap();
        ListPart::look_up_all(&mut listing, &acme(), filter).await.unwrap()
    }

    /// Fails when the statement of a part scans a table of the history, or sorts what it does not read for the page.
    async fn assert_scans_nothing(&self, part: &ListPart) {
        let mut listing = self.store.open_listing(&acme()).await.unwrap();
        let mut statement = begin_statement(&acme(), &part.filter, &part.start).unwrap();
        let rest = part.start.build_rest(&part.filter);
        Filters::look_up(&mut listing, &acme(), &rest).await.unwrap().add(&mut statement).unwrap();
        add_order(&mut statement, &Order::of(&part.filter, &part.start), None).unwrap();
        statement.bind(" LIMIT ?", 51_i64);
        let query = statement.query();
        let explained = Query { text: format!("EXPLAIN QUERY PLAN {}", query.text).into(), ..query };
        let steps = listing.rows(explained).await.unwrap();
        let steps: Vec<String> = steps.iter().map(|step| get(step, "detail").unwrap()).collect();
        let scans =
            |step: &&String| ["SCAN s", "SCAN f", "SCAN o", "SCAN inv_"].iter().any(|scan| step.starts_with(scan));
        assert_eq!(steps.iter().find(scans), None, "{part:?}: {steps:#?}");
    }
}

fn acme() -> OrganizationId {
    OrganizationId::parse("acme").unwrap()
}

fn tool(number: u8) -> ToolSelection {
    ToolSelection { tool: ToolId::parse(&format!("{number:024x}")).unwrap(), versions: None }
}

fn by(sort: RunSort) -> RunFilter {
    RunFilter { sort: vec![(sort, Ascending)], ..RunFilter::default() }
}

fn groups(part: &ListPart) -> &[String] {
    match &part.start {
        ListStart::Groups(names) => names,
        other => panic!("it begins with {other:?}"),
    }
}

#[tokio::test]
async fn failed_runs_are_found_without_the_others() {
    let world = World::new().await;
    let failed = || RunFilter { succeeded: Some(false), ..RunFilter::default() };
    for filter in [
        failed(),
        RunFilter { tools: vec![tool(1)], ..failed() },
        RunFilter { tools: vec![tool(1), tool(2)], ..failed() },
        RunFilter { user_ids: vec!["ann".into()], ..failed() },
        RunFilter { sort: vec![(RunSort::ToolId, Descending)], ..failed() },
        by(RunSort::Succeeded),
    ] {
        let parts = world.parts(&filter).await;
        assert_eq!(parts[0].start, ListStart::Effects(EffectKind::Outcome), "{filter:?}");
        world.assert_scans_nothing(&parts[0]).await;
    }
    let of_tools = world.parts(&RunFilter { tools: vec![tool(1)], ..failed() }).await;
    assert!(of_tools[0].filter.effects.iter().all(|effect| effect.name.starts_with("failed 0")), "of the tool alone");
}

#[tokio::test]
async fn an_order_of_groups_is_read_group_by_group() {
    let world = World::new().await;
    for (sort, parts_expected) in
        [(RunSort::ToolId, 3), (RunSort::Major, 1), (RunSort::Minor, 3), (RunSort::SourceType, 2)]
    {
        let parts = world.parts(&by(sort)).await;
        assert_eq!(parts.len(), parts_expected, "{sort:?}");
        for part in &parts {
            assert!(!groups(part).is_empty());
            world.assert_scans_nothing(part).await;
        }
    }
    let recent = RunFilter { created_after: Some(Timestamp::from_milliseconds(599_000)), ..by(RunSort::ToolId) };
    assert_eq!(world.parts(&recent).await[0].start, ListStart::Age, "few runs are sorted");
}

#[tokio::test]
async fn runs_of_several_tools_of_a_version_and_of_a_type_are_found_by_their_groups() {
    let world = World::new().await;
    let any = RunFilter::default;
    let simulations = vec![SourceType::SimulationConversation];
    for filter in
        [RunFilter { tools: vec![tool(1), tool(2)], ..any() }, RunFilter { source_types: simulations, ..any() }]
    {
        let parts = world.parts(&filter).await;
        assert!(parts.len() == 1 && groups(&parts[0]).len() > 1, "{parts:?}");
        world.assert_scans_nothing(&parts[0]).await;
    }
    let nothing = RunFilter { tools: vec![tool(9)], source_types: vec![SourceType::SimulationConversation], ..any() };
    assert!(world.parts(&nothing).await.is_empty(), "no run can match");
    let of_simulation = RunFilter { simulation_unit_test_set_run_ids: vec!["s1".into()], ..any() };
    let parts = world.parts(&of_simulation).await;
    assert_eq!(parts[0].start, ListStart::Simulations);
    world.assert_scans_nothing(&parts[0]).await;
}

#[tokio::test]
async fn the_slowest_of_many_runs_are_read_in_order_and_few_runs_are_sorted() {
    let world = World::new().await;
    let slowest = || RunFilter { sort: vec![(RunSort::DurationMs, Descending)], ..RunFilter::default() };
    let of_tool = RunFilter { tools: vec![tool(1)], ..slowest() };
    for filter in [slowest(), of_tool] {
        let parts = world.parts(&filter).await;
        assert_eq!((parts.len(), &parts[0].start), (1, &ListStart::Ends), "{filter:?}");
        world.assert_scans_nothing(&parts[0]).await;
    }
    let recent = RunFilter { created_after: Some(Timestamp::from_milliseconds(599_000)), ..slowest() };
    assert_eq!(world.parts(&recent).await[0].start, ListStart::Age);
}
