//! The plans that SQLite makes for statements: the indexes that it reads, and whether it sorts.

use super::{Sqlite, migrated};
use crate::error::Result;
use crate::history::{
    Effect, EffectKind, Origin, RunFilter, RunSort, RunStates, SearchQuery, SearchText, ToolSelection,
};
use crate::kit::account::OrganizationId;
use crate::kit::clock::{Clock, Timestamp};
use crate::kit::ids::ToolId;
use crate::kit::page::Direction::{self, Ascending, Descending};
use crate::store::database::{Query, Row, Statement, Window, get};
use crate::store::sql::history::list::{add_order, begin_statement};
use crate::store::sql::history::list_start::ListStart;
use crate::store::sql::history::order::{LAST, Order};
use crate::store::sql::history::text_search::build_text_search;
use crate::store::sql::history::{record_pages, search, taped_runs};
use RunSort::{CreatedAt, DurationMs, Succeeded, ToolId as OfTool};

/// Returns the steps of the query plan of a statement.
async fn plan(query: Query) -> Result<Vec<String>> {
    let mut connection = migrated().await?;
    let explained = Query { text: format!("EXPLAIN QUERY PLAN {}", query.text).into(), ..query };
    let rows = explained.fetch_all(&mut connection).await?;
    rows.iter().map(|row| get(row, "detail")).collect()
}

fn acme() -> OrganizationId {
    OrganizationId::parse("acme").unwrap()
}

fn filter(conversations: usize, tools: usize, sort: &[(RunSort, Direction)]) -> RunFilter {
    let tool = |_| ToolSelection { tool: ToolId::new(&Clock::system()), versions: None };
    RunFilter {
        conversation_ids: vec!["c".to_owned(); conversations],
        tools: (0..tools).map(tool).collect(),
        sort: sort.to_vec(),
        ..RunFilter::default()
    }
}

/// A record as the last one of a page.
async fn last() -> Row {
    let text = LAST.replace(
        "FROM inv_started s",
        "FROM (SELECT 'x' AS invocation, 1 AS started_at, '' AS tool, 0 AS major,
        0 AS minor, 0 AS patch, '' AS source_kind, '' AS mode, $1 AS organization, $2 AS rowid) s",
    );
    let query = Query { text: text.into(), values: vec!["acme".into(), 1_i64.into()] };
    query.fetch_one(&mut migrated().await.unwrap()).await.unwrap()
}

/// The statement of a list without its filters, which name no other table.
fn list(filter: &RunFilter, start: &ListStart, last: Option<&Row>) -> Query {
    let mut statement = begin_statement(&acme(), filter, start).unwrap();
    if filter.states == RunStates::Finished {
        statement.push(crate::store::sql::history::filters::HAS_ENDED);
    }
    add_order(&mut statement, &Order::of(filter, start), last).unwrap();
    statement.bind(" LIMIT ?", 51_i64);
    statement.query()
}

#[tokio::test]
async fn lists_are_read_from_the_expected_index() {
    let host = Effect { kind: EffectKind::Host, name: "example.org".into() };
    let other_host = Effect { name: "example.com".into(), ..host.clone() };
    let agent = Effect { kind: EffectKind::Agent, name: "a".repeat(24) };
    let (user, origin) = (vec!["ann".to_owned()], vec![Origin::Direct]);
    let (by_user, by_origin) =
        ("SEARCH s USING INDEX inv_started_by_user", "SEARCH s USING INDEX inv_started_by_origin");
    let by_effect = "SEARCH o USING PRIMARY KEY (organization=? AND kind=? AND name=?";
    let (by_age, by_tool) = ("SEARCH s USING INDEX inv_started_by_age", "SEARCH s USING INDEX inv_started_by_tool");
    let by_conversation = "SEARCH s USING INDEX inv_started_by_conversation";
    let by_simulation = "SEARCH s USING INDEX inv_started_by_simulation";
    let running = "SCAN o";
    let few = "USE TEMP B-TREE FOR LAST";
    let all = "USE TEMP B-TREE FOR ORDER BY";
    let any = RunFilter { states: RunStates::All, ..filter(0, 0, &[]) };
    let of_running = |tools, sort| RunFilter { states: RunStates::Running, ..filter(0, tools, sort) };
    for (filter, index, sorts) in [
        (filter(0, 0, &[]), by_age, None),
        (filter(0, 0, &[(CreatedAt, Descending)]), by_age, None),
        (filter(0, 2, &[]), by_age, None),
        (filter(0, 1, &[]), by_tool, Some(few)),
        (filter(2, 1, &[]), by_conversation, Some(all)),
        (filter(1, 0, &[(DurationMs, Ascending)]), by_conversation, Some(all)),
        (filter(0, 1, &[(DurationMs, Ascending)]), by_tool, Some(all)),
        (filter(0, 0, &[(CreatedAt, Ascending)]), by_age, Some(few)),
        (filter(0, 0, &[(CreatedAt, Descending), (Succeeded, Ascending)]), by_age, Some(few)),
        (
            RunFilter { simulation_unit_test_set_run_ids: vec!["s".to_owned()], ..filter(0, 0, &[]) },
            by_simulation,
            Some(all),
        ),
        (RunFilter { user_ids: user, ..filter(0, 0, &[]) }, by_user, None),
        (RunFilter { origins: origin, ..filter(0, 0, &[]) }, by_origin, None),
        (RunFilter { effects: vec![host.clone()], ..filter(0, 1, &[]) }, by_effect, None),
        (RunFilter { effects: vec![host, other_host], ..filter(0, 0, &[]) }, by_effect, Some(all)),
        (RunFilter { origins: vec![Origin::Mcp], ..filter(0, 0, &[]) }, by_origin, None),
        (RunFilter { effects: vec![agent.clone()], ..filter(0, 0, &[]) }, by_effect, None),
        (RunFilter { states: RunStates::All, effects: vec![agent], ..filter(0, 0, &[]) }, by_effect, None),
        (any, by_age, None),
        (of_running(1, &[]), running, Some(all)),
        (of_running(0, &[(OfTool, Ascending)]), running, Some(all)),
    ] {
        for last in [None, Some(&last().await)] {
            assert_reads(&filter, &ListStart::of(&filter), last, index, sorts).await;
        }
    }
}

/// Lists of many runs, in another order than that of age.
#[tokio::test]
async fn pages_of_many_runs_are_read_in_their_order() {
    let few = "USE TEMP B-TREE FOR LAST";
    let all = "USE TEMP B-TREE FOR ORDER BY";
    let by_duration = "SEARCH f USING INDEX inv_finished_by_duration (organization=?";
    let by_group = "SEARCH s USING INDEX inv_started_by_group (organization=? AND <expr>=?";
    let groups = |names: &[&str]| ListStart::Groups(names.iter().map(|name| (*name).to_owned()).collect());
    for (filter, start, index, sorts) in [
        (filter(0, 0, &[(DurationMs, Ascending)]), ListStart::Ends, by_duration, Some(few)),
        (filter(0, 1, &[(DurationMs, Descending), (Succeeded, Ascending)]), ListStart::Ends, by_duration, Some(few)),
        (filter(0, 0, &[]), groups(&["a 1.0.0"]), by_group, None),
        (filter(0, 0, &[]), groups(&["a 1.0.0", "b 1.0.0 simulation"]), by_group, Some(all)),
    ] {
        for last in [None, Some(&last().await)] {
            assert_reads(&filter, &start, last, index, sorts).await;
        }
    }
}

/// Fails when a list does not begin with an index, or sorts in another way.
async fn assert_reads(filter: &RunFilter, start: &ListStart, last: Option<&Row>, index: &str, sorts: Option<&str>) {
    let of = (filter, start);
    let steps = plan(list(filter, start, last)).await.unwrap();
    assert!(steps.iter().any(|step| step.starts_with(index)), "{of:?}: {steps:#?}");
    let sorting = steps.iter().find(|step| step.contains("B-TREE FOR LAST") || step.contains("FOR ORDER"));
    assert_eq!(sorting.is_some(), sorts.is_some(), "{of:?}: {steps:#?}");
    assert!(sorting.is_none_or(|step| step.starts_with(sorts.unwrap_or_default())), "{of:?}: {steps:#?}");
    assert!(!steps.iter().any(|step| step.starts_with("CORRELATED")), "evaluated once per row: {steps:#?}");
}

#[tokio::test]
async fn the_full_text_index_comes_first_and_is_queried_once() {
    let query = SearchQuery {
        text: SearchText::parse("brav* 東京").unwrap(),
        fields: Vec::new(),
        filter: RunFilter::default(),
    };
    let search_text = build_text_search(&acme(), &query, Timestamp::from_milliseconds(0)).unwrap();
    let window = Window { blocks: Vec::new(), before: 5, rows: 4 };
    let database = Sqlite::new("unused".into(), None);
    let mut statement: Statement = search::begin_statement(&database, &acme(), &search_text, &window);
    statement.push(" ORDER BY t.rowid DESC LIMIT 51");
    let steps = plan(statement.query()).await.unwrap();
    assert!(steps[0].starts_with("SCAN inv_text VIRTUAL TABLE INDEX"), "{steps:?}");
    assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER BY")), "no sorting: {steps:?}");
    assert_eq!(steps.iter().filter(|step| step.contains("VIRTUAL TABLE")).count(), 1);
    for found_by in ["SEARCH f USING INTEGER PRIMARY KEY", "SEARCH s USING INDEX sqlite_autoindex_inv_started"] {
        assert!(steps.iter().any(|step| step.starts_with(found_by)), "{found_by}: {steps:?}");
    }
}

#[tokio::test]
async fn records_are_found_by_their_ids() {
    let steps = plan(Query::new(record_pages::WHOLE).bind("acme").bind("[]")).await.unwrap();
    let records = steps.iter().find(|step| step.contains(" s ")).unwrap();
    assert!(records.starts_with("SEARCH s USING INDEX sqlite_autoindex_inv_started_1 (invocation=?)"), "{steps:?}");
}

#[tokio::test]
async fn runs_with_tapes_are_read_newest_first() {
    let query = (0..4).fold(Query::new(taped_runs::LAST).bind("acme").bind("tool"), |query, _| query.bind(1_i64));
    let steps = plan(query).await.unwrap();
    assert!(steps[0].contains("inv_started_by_tool (organization=? AND tool=?)"), "{steps:?}");
    assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{steps:?}");
}
