//! The plans that Postgres makes for lists and searches over a few thousand runs: the indexes that it reads, and whether it
//! sorts.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{Connection as _, PgConnection};

use crate::config::Config;
use crate::files::data_dir::DataDir;
use crate::history::{
    Effect, EffectKind, Origin, RunFilter, RunSort, RunStates, SearchQuery, SearchText, ToolSelection,
};
use crate::kit::account::OrganizationId;
use crate::kit::clock::{Clock, Timestamp};
use crate::kit::ids::ToolId;
use crate::kit::page::Direction::{Ascending, Descending};
use crate::secrets::KeyRing;
use crate::store::database::{Query, Row, Statement, Window, get};
use crate::store::sql::history::filters::{Filters, HAS_ENDED};
use crate::store::sql::history::list::{add_order, begin_statement, build_spans};
use crate::store::sql::history::list_parts::ListPart;
use crate::store::sql::history::order::{LAST, Order};
use crate::store::sql::history::search_windows::Windows;
use crate::store::sql::history::text_search::build_text_search;
use crate::store::sql::history::{insert_records, record_pages, search, taped_runs};
use crate::store::tests::cluster::Cluster;
use crate::store::{DatabaseLocation, Store, StoreOptions};
use crate::tools::SecretValue;

/// Runs of two organisations over six weeks, so that they are in two partitions. The runs of a tool, of a conversation and
/// with a word are few.
const RUNS: &str = "
    INSERT INTO organizations (organization, data_key_id, data_key, created_at)
        VALUES ('acme', '', '', 0), ('globex', '', '', 0);
    CREATE TEMPORARY TABLE runs AS SELECT n, lpad(to_hex(1790000000 + n * 600), 8, '0') || lpad(to_hex(n), 16, '0') AS id,
        CASE WHEN n % 4 = 0 THEN 'globex' ELSE 'acme' END AS organization
        FROM generate_series(1, 6000) AS n;
    INSERT INTO inv_started (invocation, organization, tool, major, minor, patch, source_kind, source, conversation_id,
            mode, input, started_at, boot, account, agent, protocol)
        SELECT id, organization, lpad(to_hex(n % 50), 24, '0'), 1, 0, 0, CASE WHEN n % 60 = 9 THEN 'branch-test' ELSE 'direct' END,
            '{\"type\":\"direct\",\"user_id\":\"' || CASE WHEN n % 2 = 0 THEN 'often' ELSE 'u' || n % 40 END || '\"}',
            CASE WHEN n % 3 = 0 THEN 'c' || n % 1000 END, 'regular',
            '{\"input_parameters\":{\"text\":\"' || repeat('a parameter ', 60) || '\"},\"nonsensitive_user_variables\":{},\"sensitive_user_variables\":{}}',
            (1790000000 + n * 600) * 1000::bigint, 'boot', 'ann#1', CASE WHEN n % 5 < 4 THEN 'a' || n % 2 END,
            CASE WHEN n % 5 = 0 THEN 'mcp' WHEN n % 5 = 1 THEN 'rest' END FROM runs;
    INSERT INTO inv_finished (invocation, organization, finished_at, duration_ms, succeeded, output, persisted, status_events,
            logs)
        SELECT id, organization, (1790000000 + n * 600) * 1000::bigint, n % 997, 1, '', 0, '[]',
            CAST(repeat('a line of the log, ', 60) AS BYTEA) FROM runs WHERE n % 500 <> 1;
    INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
        SELECT organization, 'host', CASE WHEN n % 2 = 0 THEN 'often' ELSE 'h' || n % 60 END, (1790000000 + n * 600) * 1000::bigint, id FROM runs WHERE n % 500 <> 1;
    INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
        SELECT organization, 'secret', 'S' || n % 3, (1790000000 + n * 600) * 1000::bigint, id FROM runs WHERE n % 10 = 7;
    INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
        SELECT organization, 'agent', 'a' || n % 2, (1790000000 + n * 600) * 1000::bigint, id FROM runs WHERE n % 5 < 4;
    INSERT INTO inv_effects (organization, kind, name, started_at, invocation)
        SELECT organization, 'outcome', name, (1790000000 + n * 600) * 1000::bigint, id
        FROM runs CROSS JOIN LATERAL (VALUES ('failed'), ('failed ' || lpad(to_hex(n % 50), 24, '0') || ' 1.0.0')) of_run (name)
        WHERE n % 10 = 3;
    INSERT INTO inv_open (invocation, organization, boot) SELECT id, organization, 'boot' FROM runs WHERE n % 500 = 1;
    INSERT INTO inv_text (rowid, scope, output, inputs)
        SELECT f.sequence, left(encode(sha256(CAST(f.organization AS BYTEA)), 'hex'), 10),
            'every output has these words and ' || (f.duration_ms * 31 % 1009) || ' words in all some'
                || f.sequence % 20, 'city'
        FROM inv_finished f;
    INSERT INTO tapes (invocation, organization, sealed, size, made_at, expires_at)
        SELECT id, organization, 'x', 1, 0, 9223372036854775807 FROM runs WHERE n % 500 <> 1;
    ANALYZE";

struct World {
    store: Store,
    /// Tables with their indexes by those of their partitions.
    parents: BTreeMap<String, String>,
    /// Partitions without rows, which are read in any way.
    empty: BTreeSet<String>,
    _cluster: Cluster,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new() -> Option<Self> {
        let cluster = Cluster::start()?;
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path().join("data")).unwrap();
        let url = cluster.url("postgres");
        let options = StoreOptions {
            data: &data,
            database: DatabaseLocation::Url(SecretValue::new(url.clone())),
            keys: &KeyRing::load(&data).unwrap(),
            clock: Clock::fixed(Timestamp::from_milliseconds(1_790_000_000_000)),
            config: Config::for_tests(),
        };
        let store = Store::open(options).await.unwrap();
        let mut connection = PgConnection::connect(&url).await.unwrap();
        sqlx::raw_sql(RUNS).execute(&mut connection).await.unwrap();
        let parents = "SELECT inhrelid::regclass::text, inhparent::regclass::text FROM pg_inherits";
        let parents = sqlx::query_as(parents).fetch_all(&mut connection).await.unwrap().into_iter().collect();
        let empty = "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND reltuples <= 0";
        let empty = sqlx::query_scalar(empty).fetch_all(&mut connection).await.unwrap().into_iter().collect();
        Some(Self { store, parents, empty, _cluster: cluster, _folder: folder })
    }

    /// Returns the steps of the plan, with the names of tables and their indexes instead of those of partitions. Without the
    /// steps that read empty tables.
    async fn plan(&self, query: Query) -> Vec<String> {
        let mut listing = self.store.open_listing(&acme()).await.unwrap();
        let explained = Query { text: format!("EXPLAIN (COSTS OFF) {}", query.text).into(), ..query };
        let rows = listing.rows(explained).await.unwrap();
        let steps = rows.iter().map(|row| get::<&str>(row, "QUERY PLAN").unwrap().trim_start_matches([' ', '-', '>']));
        let is_filled = |step: &&str| !step.split(' ').any(|word| self.empty.contains(word));
        let name = |word: &str| self.parents.get(word).cloned().unwrap_or_else(|| word.to_owned());
        let named = |step: &str| step.split(' ').map(name).collect::<Vec<_>>().join(" ");
        steps.filter(is_filled).map(named).collect()
    }

    /// A record in the middle of the history, as the last one of a page.
    async fn last(&self) -> Row {
        let mut listing = self.store.open_listing(&acme()).await.unwrap();
        listing.row(Query::new(LAST).bind("acme").bind(3001_i64)).await.unwrap().unwrap()
    }

    /// The statement of the first part of a list.
    async fn list(&self, filter: &RunFilter, last: Option<&Row>) -> Query {
        let mut listing = self.store.open_listing(&acme()).await.unwrap();
        let parts = ListPart::look_up_all(&mut listing, &acme(), filter).await.unwrap();
        let ListPart { filter, start, .. } = parts.first().expect("a part");
        let order = Order::of(filter, start);
        let mut spans = build_spans(filter, start, &order, last).unwrap();
        let filter = &spans.next(&mut listing, &acme()).await.unwrap().expect("a span");
        let mut statement = begin_statement(&acme(), filter, start).unwrap();
        let rest = start.build_rest(filter);
        let filters = Filters::look_up(&mut listing, &acme(), &rest).await.unwrap();
        filters.add(&mut statement).unwrap();
        add_order(&mut statement, &order, last).unwrap();
        statement.bind(" LIMIT ?", 51_i64);
        statement.query()
    }

    /// The windows of a search that finds nothing.
    async fn windows(&self) -> [Window; 2] {
        let mut listing = self.store.open_listing(&acme()).await.unwrap();
        let database = &*self.store.0.database;
        let mut windows = Windows::before(5_500, database, &mut listing, &acme(), None).await.unwrap();
        [(); 2].map(|()| windows.read_next().expect("two windows"))
    }

    fn search(&self, text: &str, window: &Window) -> Query {
        let query =
            SearchQuery { text: SearchText::parse(text).unwrap(), fields: Vec::new(), filter: RunFilter::default() };
        let found = build_text_search(&acme(), &query, Timestamp::from_milliseconds(0)).unwrap();
        let mut statement: Statement = search::begin_statement(&*self.store.0.database, &acme(), &found, window);
        statement.push(HAS_ENDED);
        statement.push(" ORDER BY t.rowid DESC LIMIT 51");
        statement.query()
    }
}

fn acme() -> OrganizationId {
    OrganizationId::parse("acme").unwrap()
}

/// Fails when the plan does not read the index, or reads all rows of a table of the history.
#[track_caller]
fn assert_reads(steps: &[String], index: &str) {
    let reads_index =
        |step: &String| step.contains(&format!(" using {index} on ")) || step.ends_with(&format!(" on {index}"));
    assert!(steps.iter().any(reads_index), "{index} is not read:\n{}", steps.join("\n"));
    let is_whole = |step: &String| step.starts_with("Seq Scan on inv_") && !step.starts_with("Seq Scan on inv_open");
    assert!(!steps.iter().any(is_whole), "a whole table is read:\n{}", steps.join("\n"));
}

/// Whether all rows are sorted, not only those with the same value of the first key.
fn sorts(steps: &[String]) -> bool {
    steps.iter().any(|step| step == "Sort")
}

#[tokio::test]
async fn lists_are_read_from_the_expected_index() {
    let Some(world) = World::new().await else { return };
    let any = RunFilter::default;
    let tool = |id: &str| ToolSelection { tool: ToolId::parse(id).unwrap(), versions: None };
    let (tool, other) = (tool("000000000000000000000007"), tool("000000000000000000000009"));
    let failed = || RunFilter { succeeded: Some(false), ..any() };
    let host = |name: &str| Effect { kind: EffectKind::Host, name: name.into() };
    let agent = Effect { kind: EffectKind::Agent, name: "a1".into() };
    let by = |sort, direction| RunFilter { sort: vec![(sort, direction)], ..any() };
    let (by_age, by_duration) = ("inv_started_by_age", "inv_finished_by_duration");
    for (filter, index, is_sorted) in [
        (any(), by_age, false),
        (RunFilter { states: RunStates::All, ..any() }, by_age, false),
        (by(RunSort::CreatedAt, Ascending), by_age, false),
        (by(RunSort::DurationMs, Descending), by_duration, false),
        (by(RunSort::DurationMs, Ascending), by_duration, false),
        (by(RunSort::ToolId, Ascending), "inv_started_by_group", false),
        (by(RunSort::Patch, Descending), "inv_started_by_group", true),
        (by(RunSort::SourceType, Ascending), "inv_started_by_group", true),
        (by(RunSort::Succeeded, Ascending), "inv_effects_pkey", false),
        (RunFilter { tools: vec![tool.clone()], ..any() }, "inv_started_by_tool", false),
        (RunFilter { tools: vec![tool.clone(), other.clone()], ..any() }, "inv_started_by_group", true),
        (RunFilter { tools: vec![tool.clone()], ..by(RunSort::DurationMs, Ascending) }, by_duration, false),
        (failed(), "inv_effects_pkey", false),
        (RunFilter { tools: vec![tool], ..failed() }, "inv_effects_pkey", false),
        (RunFilter { user_ids: vec!["u7".into()], ..failed() }, "inv_effects_pkey", false),
        (RunFilter { sort: vec![(RunSort::ToolId, Descending)], ..failed() }, "inv_effects_pkey", false),
        (RunFilter { sort: vec![(RunSort::DurationMs, Descending)], ..failed() }, by_duration, false),
        (RunFilter { user_ids: vec!["often".into()], ..any() }, "inv_started_by_user", false),
        (RunFilter { user_ids: vec!["u7".into()], ..any() }, "inv_started_by_user", false),
        (RunFilter { origins: vec![Origin::BranchTest], ..any() }, "inv_started_by_origin", false),
        (RunFilter { origins: vec![Origin::Mcp], ..any() }, "inv_started_by_origin", false),
        (RunFilter { origins: vec![Origin::Agent], ..any() }, "inv_started_by_origin", false),
        (RunFilter { effects: vec![agent.clone()], ..any() }, "inv_effects_pkey", false),
        (RunFilter { effects: vec![agent], states: RunStates::All, ..any() }, "inv_effects_pkey", false),
        (RunFilter { effects: vec![host("often")], ..any() }, "inv_effects_pkey", false),
        (RunFilter { effects: vec![host("often"), host("h7")], ..any() }, "inv_effects_pkey", true),
        (RunFilter { effects: vec![host("absent")], succeeded: Some(false), ..any() }, "inv_effects_pkey", false),
        (RunFilter { conversation_ids: vec!["c7".into()], ..any() }, "inv_started_by_conversation", true),
        (RunFilter { states: RunStates::Running, ..any() }, "inv_started_pkey", true),
    ] {
        let first = world.plan(world.list(&filter, None).await).await;
        assert_reads(&first, index);
        assert_eq!(sorts(&first), is_sorted, "{}", first.join("\n"));
        let next = world.plan(world.list(&filter, Some(&world.last().await)).await).await;
        assert_reads(&next, index);
    }
}

/// A list finds the runs that have both effects before it reads any run.
#[tokio::test]
async fn two_effects_are_compared_before_runs_are_read() {
    let Some(world) = World::new().await else { return };
    let effect = |kind, name: &str| Effect { kind, name: name.into() };
    for [host, secret] in [["h7", "S2"], ["h7", "absent"], ["absent", "S2"]] {
        let effects = vec![effect(EffectKind::Host, host), effect(EffectKind::Secret, secret)];
        let steps = world.plan(world.list(&RunFilter { effects, ..Default::default() }, None).await).await;
        assert_reads(&steps, "inv_effects_pkey");
        let of_effects = |step: &String| step.contains(" on inv_effects");
        let both = steps.iter().filter(|step| of_effects(step)).count();
        let last = steps.iter().rposition(of_effects);
        let run = steps.iter().position(|step| step.contains(" on inv_started"));
        assert!(both >= 2 && last < run, "{}", steps.join("\n"));
    }
}

/// The condition of the next page is one of the index, so that the records of earlier pages are not read.
#[tokio::test]
async fn a_later_page_is_found_by_its_beginning() {
    let Some(world) = World::new().await else { return };
    let last = world.last().await;
    let steps = world.plan(world.list(&RunFilter::default(), Some(&last)).await).await;
    let is_bounded = |step: &String| step.starts_with("Index Cond:") && step.contains("started_at <=");
    assert!(steps.iter().any(is_bounded), "{}", steps.join("\n"));
}

#[tokio::test]
async fn words_are_found_by_the_full_text_index() {
    let Some(world) = World::new().await else { return };
    let [newest, older] = world.windows().await;
    for text in ["500", "500 words", "absent", "and.500.words", "absent words", "some7"] {
        for window in [&newest, &older] {
            let steps = world.plan(world.search(text, window)).await;
            assert_reads(&steps, "inv_text_words");
            assert_reads(&steps, "inv_finished_by_sequence");
        }
    }
    // The rows of a small window are read to find the beginning of a word.
    let large = Window { rows: 1 << 16, ..older };
    assert_reads(&world.plan(world.search("50*", &large)).await, "inv_text_words");
    // Most records have the word, so that the newest ones suffice.
    let steps = world.plan(world.search("words", &newest)).await;
    assert_reads(&steps, "inv_text_words");
    assert_reads(&steps, "inv_finished_by_sequence");
}

#[tokio::test]
async fn records_are_found_by_their_ids() {
    let Some(world) = World::new().await else { return };
    let id = "6ab13d50000000000000000000000001";
    let whole = Query::new(record_pages::WHOLE).bind("acme").bind(format!(r#"["{id}"]"#));
    assert_reads(&world.plan(whole).await, "inv_started_pkey");
    let ends = format!(r#"[{{"organization":"acme","invocation":"{id}"}}]"#);
    let steps = world.plan(Query::new(insert_records::RUNNING).bind(ends)).await;
    assert_reads(&steps, "inv_started_pkey");
    assert_reads(&steps, "inv_finished_pkey");
}

#[tokio::test]
async fn runs_with_tapes_are_read_newest_first() {
    let Some(world) = World::new().await else { return };
    let query = Query::new(taped_runs::LAST).bind("acme").bind("000000000000000000000007");
    let steps = world.plan(query.bind(1_i64).bind(0_i64).bind(0_i64).bind(10_i64)).await;
    assert_reads(&steps, "inv_started_by_tool");
    assert!(!sorts(&steps), "{}", steps.join("\n"));
}
