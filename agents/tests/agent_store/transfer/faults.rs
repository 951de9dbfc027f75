//! Interrupted copies, changes meanwhile, and databases with other data.

use std::sync::Arc;

use registry::{Store, StoreOptions, Transfer, TransferProgress};
use tokio::sync::Notify;

use super::{Copy, silent};
use crate::database;
use crate::world::World;

#[track_caller]
fn refused<T: std::fmt::Debug>(result: registry::Result<T>, code: &str, words: &[&str]) {
    let error = result.unwrap_err();
    let text = error.to_string();
    assert_eq!(error.code(), code, "{text}");
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
}

#[tokio::test]
async fn an_interrupted_copy_is_continued() {
    let Some(copy) = Copy::of_filled().await else { return };
    for table in ["tools", "inv_started", "inv_finished", "tapes", "tape_body_uses", "inv_text"] {
        let reached = Arc::new(Notify::new());
        let at = reached.clone();
        let report = move |progress: TransferProgress| {
            if progress.table == table {
                at.notify_one();
            }
        };
        let mut transfer = copy.open().await.unwrap();
        let mut running = tokio::spawn(async move { transfer.copy(&report).await });
        tokio::select! {
            () = reached.notified() => {}
            ended = &mut running => panic!("{table} was not reached: {ended:?}"),
        }
        running.abort();
        assert!(running.await.is_err(), "{table}: it was not interrupted");
        refused(copy.server().await, "copy_incomplete", &["lathe migrate"]);
    }
    refused(copy.compared().await, "copy_differs", &[]);
    let all = copy.run().await.unwrap();
    assert_eq!(copy.run().await.unwrap(), all, "once more");
    copy.server().await.unwrap().close().await;
}

#[tokio::test]
async fn a_batch_is_copied_as_a_whole_or_not_at_all() {
    let Some(copy) = Copy::of_filled().await else { return };
    let mut transfer = copy.open().await.unwrap();
    assert_eq!(copy.number("SELECT count(*) FROM pg_class WHERE relname = 'tools'").await, 0, "nothing was changed");
    let counts = transfer.count().await.unwrap();
    assert!(counts.iter().all(|count| count.source_rows > 0 && count.target_rows == 0), "{counts:?}");
    transfer.close().await;
    // The tables are there after the first failure.
    copy.execute("CREATE TABLE inv_text (rowid TEXT)").await;
    assert!(copy.copied().await.is_err());
    copy.execute("DROP TABLE inv_text").await;
    let mut transfer = copy.open().await.unwrap();
    let fail = |progress: TransferProgress| assert!(progress.table != "members", "stop");
    let stopped = tokio::spawn(async move { transfer.copy(&fail).await }).await;
    assert!(stopped.unwrap_err().is_panic());
    copy.execute(
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
        CREATE TRIGGER fail BEFORE INSERT ON inv_finished FOR EACH ROW WHEN (NEW.sequence = 170) EXECUTE FUNCTION fail()",
    )
    .await;
    assert!(copy.copied().await.is_err());
    assert_eq!(copy.number("SELECT max(sequence) FROM inv_finished").await, 150);
    copy.execute("DROP TRIGGER fail ON inv_finished").await;
    copy.run().await.unwrap();
}

#[tokio::test]
async fn a_difference_is_found() {
    let Some(copy) = Copy::of_filled().await else { return };
    copy.run().await.unwrap();
    for (change, table, key, back) in [
        ("UPDATE organizations SET created_at = created_at + 1", "organizations", "acme", "created_at - 1"),
        ("UPDATE tool_leases SET fence = fence + 1", "tool_leases", "tool ", "fence - 1"),
        ("UPDATE inv_text SET output = output || 'x' WHERE rowid = 99", "inv_text", "rowid 99", ""),
    ] {
        copy.execute(change).await;
        refused(copy.compared().await, "copy_differs", &[table, key]);
        if !back.is_empty() {
            let column = back.split(' ').next().unwrap();
            copy.execute(&format!("UPDATE {table} SET {column} = {back}")).await;
        }
    }
    copy.execute("DELETE FROM inv_text WHERE rowid = 99").await;
    refused(copy.compared().await, "copy_differs", &["inv_text", "rowid 99"]);
    copy.run().await.unwrap();
    copy.execute("INSERT INTO inv_effects VALUES ('acme', 'host', 'host1.example.org.more', 3, 'x')").await;
    refused(copy.compared().await, "copy_differs", &["inv_effects", "host1.example.org.more"]);
    refused(copy.copied().await, "target_occupied", &["inv_effects"]);
    refused(copy.server().await, "copy_incomplete", &[]);
}

#[tokio::test]
async fn rows_that_are_added_between_two_runs_are_copied_and_changed_ones_are_named() {
    let Some(copy) = Copy::of_filled().await else { return };
    copy.run().await.unwrap();
    let old = copy.old_server().await;
    let acme = copy.world.principal("acme");
    old.tools().create_tool(&acme, crate::fixtures::new_tool("another")).await.unwrap();
    old.close().await;
    let tools =
        |compared: Vec<registry::ComparedTable>| compared.iter().find(|table| table.table == "tools").unwrap().rows;
    assert_eq!(tools(copy.run().await.unwrap()), 61);
    database::execute(&copy.world, "UPDATE organizations SET redact_answers = 0 WHERE organization = 'other'")
        .await
        .unwrap();
    refused(copy.run().await, "copy_differs", &["organizations", "organization other"]);
}

#[tokio::test]
async fn a_database_with_other_data_is_refused() {
    let Some(copy) = Copy::of_filled().await else { return };
    let stranger = World::new().await;
    let of_stranger = StoreOptions { database: copy.database.clone(), ..stranger.options() };
    Store::open(of_stranger).await.unwrap().close().await;
    refused(copy.copied().await, "target_occupied", &["another master key"]);
    copy.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public").await;

    let server = copy.server().await.unwrap();
    server.nodes().heartbeat().await.unwrap();
    refused(copy.copied().await, "target_occupied", &["a server uses it"]);
    server.nodes().leave().await.unwrap();
    copy.run().await.unwrap();
    let organization = registry::OrganizationId::parse("third").unwrap();
    let user = registry::UserId::parse("ann").unwrap();
    server.access().create_organization(registry::NewOrganization { organization, user }).await.unwrap();
    refused(copy.copied().await, "target_occupied", &["third"]);
}

#[tokio::test]
async fn a_database_that_a_server_has_used_is_refused() {
    let Some(copy) = Copy::of_filled().await else { return };
    copy.run().await.unwrap();
    let server = copy.server().await.unwrap();
    server.nodes().close_orphans().await.unwrap();
    server.nodes().leave().await.unwrap();
    server.close().await;
    refused(copy.copied().await, "target_occupied", &["runs that the data directory lacks"]);
    copy.server().await.unwrap();
}

#[tokio::test]
async fn the_data_directory_stays_as_it_is() {
    let Some(copy) = Copy::of_filled().await else { return };
    let dump = async || {
        let mut parts = Vec::new();
        for table in ["inv_started", "inv_finished", "inv_open", "tools", "operations", "nodes", "master_key"] {
            parts.push(database::number(&copy.world, &format!("SELECT count(*) FROM {table}")).await);
        }
        parts
    };
    let before = dump().await;
    copy.run().await.unwrap();
    assert_eq!(dump().await, before);
    database::execute(&copy.world, "DELETE FROM schema_migrations").await.unwrap();
    refused(copy.copied().await, "database_older", &["a server of this release"]);
}

#[tokio::test]
async fn a_text_that_postgres_cannot_store_is_named() {
    let Some(copy) = Copy::of_filled().await else { return };
    let statement = "UPDATE tools SET description = 'a' || char(0) WHERE name = 'tool_7'";
    database::execute(&copy.world, statement).await.unwrap();
    let mut transfer: Transfer = copy.open().await.unwrap();
    refused(transfer.copy(&silent).await, "null_character", &["tools", "acme"]);
}
