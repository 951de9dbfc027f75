//! The plans that SQLite makes for statements: the indexes that it reads, and whether it sorts.

use registry::statements::{Query, get};
use registry::{AgentId, Clock, DataDir, DatabaseLocation, KeyRing, OrganizationId, Result, StoreOptions};

use crate::config::StoreConfig;
use crate::domain::agent_runs::{AgentRunFilter, AgentRunState};
use crate::store::AgentStore;
use crate::store::agent_runs::list::list;
use crate::store::library::due::ADVANCE;
use crate::store::library::run_ends::ENDED_RUN;
use crate::store::library::vectors::{LACKING_AFTER, LACKING_BEFORE, SET_VECTORS};

/// Returns the steps of the query plan of a statement.
async fn plan(query: Query) -> Result<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path().join("data"))?;
    let keys = KeyRing::load(&data)?;
    let options = StoreOptions {
        data: &data,
        database: DatabaseLocation::DataDirectory,
        keys: &keys,
        clock: Clock::system(),
        config: registry::Config::for_tests(),
    };
    let store = AgentStore::open(options, StoreConfig::for_tests()).await?;
    let explained = Query { text: format!("EXPLAIN QUERY PLAN {}", query.text).into(), ..query };
    explained.fetch_all(store.readers()).await?.iter().map(|row| get(row, "detail")).collect()
}

fn acme() -> OrganizationId {
    OrganizationId::parse("acme").unwrap()
}

#[tokio::test]
async fn items_of_the_library_are_changed_by_their_ids() {
    let by_id =
        |table: &str| format!("SEARCH {table} USING INDEX sqlite_autoindex_{table}_1 (organization=? AND item=?)");
    let vectors = plan(Query::new(SET_VECTORS).bind("model").bind("[]")).await.unwrap();
    assert_eq!(vectors[2..], ["SCAN made".to_owned(), by_id("library_index")], "{vectors:?}");
    let advance = plan(Query::new(ADVANCE).bind(1_i64).bind("[]")).await.unwrap();
    assert_eq!(advance[2..], ["SCAN made".to_owned(), by_id("library_items")], "{advance:?}");
}

#[tokio::test]
async fn lists_of_runs_of_agents_read_no_others() {
    let by = |index: &str| format!("SEARCH agent_runs USING INDEX agent_runs_{index}");
    let (state, agent) = (Some(AgentRunState::Failed), AgentId::parse(&"a".repeat(24)).ok());
    let filter = |state, agent| AgentRunFilter { state, agent, before: None, limit: 10 };
    for (account, filter, index) in [
        (None, filter(state, None), by("by_state (organization=? AND state=?)")),
        (None, filter(None, agent), by("by_agent (organization=? AND agent=?)")),
        (Some("ann#1"), filter(None, None), by("of_user (organization=? AND account=?)")),
    ] {
        let steps = plan(list(&acme(), account, &filter).query()).await.unwrap();
        assert_eq!(steps, [index]);
    }
}

/// Every server looks each second.
#[tokio::test]
async fn runs_whose_items_do_not_have_their_end_are_found_by_their_index() {
    let steps = plan(Query::new(ENDED_RUN)).await.unwrap();
    assert_eq!(steps, ["SEARCH agent_runs USING INDEX agent_runs_of_items (state=?)"]);
}

#[tokio::test]
async fn memories_without_a_vector_are_found_by_its_model() {
    for (statement, compared) in [(LACKING_BEFORE, "<"), (LACKING_AFTER, ">")] {
        let plan = plan(Query::new(statement).bind("acme").bind("model").bind(1_i64)).await.unwrap();
        let index = format!("SEARCH x USING INDEX library_index_by_model (organization=? AND model{compared}?)");
        assert_eq!((plan.len(), &plan[0]), (2, &index), "{plan:?}");
    }
}
