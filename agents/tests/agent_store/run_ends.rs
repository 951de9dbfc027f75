//! The ends of runs that items of the Library started.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agents::{
    AdvancedItem, AgentRun, AgentRunState, DueRun, EndedRun, Library, LibraryContent, LibraryFamily, LibraryItem,
    RunObjective,
};
use registry::{AgentId, AgentRunId, Principal, Timestamp};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::agent_runs::{all, checkpoint, step};
use crate::database;
use crate::library::{content, library};
use crate::world::World;

const TASKS: LibraryFamily = LibraryFamily::Tasks;

/// An item whose time has come, with the run that it started.
struct Started {
    item: LibraryItem,
    run: AgentRun,
}

fn advanced(item: &LibraryItem, run: Option<DueRun>) -> AdvancedItem {
    let content = LibraryContent { label: Some("fired".into()), body: item.body.clone(), ..LibraryContent::default() };
    AdvancedItem { content, run }
}

async fn started(world: &World, principal: &Principal, agent: &AgentId) -> Started {
    let due = LibraryContent { due_at: Some(world.clock.now()), ..content("x") };
    let library = library(world, principal);
    let item = library.create(TASKS, due).await.unwrap();
    let id = AgentRunId::new(&world.clock);
    let start = |item: &LibraryItem, _: Timestamp| {
        let (agent, objective) = (agent.clone(), RunObjective::of("x"));
        advanced(item, Some(DueRun { id: id.clone(), agent, objective, document: "{}".to_owned() }))
    };
    assert_eq!(world.agent_store.advance_due_items(world.clock.now(), &start).await.unwrap(), 1);
    world.store.nodes().heartbeat().await.unwrap();
    let run = world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap().unwrap();
    assert_eq!(run.id, id);
    Started { item: present(&library, &item).await, run }
}

async fn present(library: &Library, item: &LibraryItem) -> LibraryItem {
    library.get(TASKS, &item.id).await.unwrap().unwrap()
}

async fn ends(world: &World, run: &AgentRun, state: AgentRunState) {
    world.agent_store.agent_runs().save_agent_run(run, checkpoint(state, vec![step(None)])).await.unwrap().unwrap();
}

/// Writes the state of the run into the item.
fn noted(item: &LibraryItem, run: &EndedRun) -> Option<LibraryContent> {
    let mut body = item.body.clone();
    let ends = body.get("ends").and_then(serde_json::Value::as_u64).unwrap_or(0) + 1;
    body.extend([("ends".into(), json!(ends)), ("state".into(), json!([run.id, run.state.as_str(), run.document]))]);
    Some(LibraryContent { label: Some("failed".into()), body, ..LibraryContent::default() })
}

/// Nothing but the row of the run says that its end is not noted: any server notes it, whenever the other one died.
#[tokio::test]
async fn s0_145_the_end_of_a_run_reaches_its_item_once() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let agent = world.agent(&acme, "clerk").await;
    let library = library(&world, &acme);
    let Started { item, run } = started(&world, &acme, &agent).await;
    assert!(!world.agent_store.report_ended_run(&noted).await.unwrap(), "the run goes on");
    ends(&world, &run, AgentRunState::Failed).await;
    let other = match database::is_server() {
        true => world.beside().await,
        false => world.agent_store.clone(),
    };
    assert!(other.report_ended_run(&noted).await.unwrap());
    assert!(!world.agent_store.report_ended_run(&noted).await.unwrap());
    let found = present(&library, &item).await;
    let state = json!([run.id, "failed", "{\"saved\":1}"]);
    assert_eq!((&found.body["state"], &found.body["ends"], found.revision), (&state, &json!(1), item.revision + 1));
    assert_eq!(found.provenance, item.provenance);
}

#[tokio::test]
async fn only_runs_that_failed_or_were_cancelled_are_noted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let agent = world.agent(&acme, "clerk").await;
    let library = library(&world, &acme);
    let (completed, cancelled) = (started(&world, &acme, &agent).await, started(&world, &acme, &agent).await);
    ends(&world, &completed.run, AgentRunState::Completed).await;
    assert!(world.agent_store.agent_runs().cancel_agent_run(&cancelled.run).await.unwrap());
    let plain = world.agent_run(&acme).await;
    ends(&world, &plain, AgentRunState::Failed).await;
    while world.agent_store.report_ended_run(&noted).await.unwrap() {}
    assert_eq!(present(&library, &completed.item).await, completed.item);
    assert_eq!(present(&library, &cancelled.item).await.body["state"][1], "cancelled");
}

/// Runs that nobody goes on with fail, and those of a deleted agent are cancelled.
#[tokio::test]
async fn s0_145_every_way_in_which_a_run_ends_is_noted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let [agent, gone] = [world.agent(&acme, "clerk").await, world.agent(&acme, "gone").await];
    let (abandoned, deleted) = (started(&world, &acme, &agent).await, started(&world, &acme, &gone).await);
    world.agent_store.agent_runs().release_agent_run(&abandoned.run).await.unwrap();
    world.agent_store.agents().delete_agent(&acme, &gone).await.unwrap();
    world.clock.advance(Duration::from_hours(25));
    world.store.nodes().heartbeat().await.unwrap();
    assert_eq!(world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap(), None);
    while world.agent_store.report_ended_run(&noted).await.unwrap() {}
    assert_eq!(present(&library, &abandoned.item).await.body["state"][1], "failed");
    assert_eq!(present(&library, &deleted.item).await.body["state"][1], "cancelled");
}

/// The change of somebody else comes first; then the end is noted in the item as it is.
#[tokio::test(flavor = "multi_thread")]
async fn s0_145_an_end_is_not_lost_to_another_change() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let agent = world.agent(&acme, "clerk").await;
    let library = library(&world, &acme);
    let Started { item, run } = started(&world, &acme, &agent).await;
    ends(&world, &run, AgentRunState::Failed).await;
    let is_first = AtomicBool::new(true);
    let changed_meanwhile = |read: &LibraryItem, run: &EndedRun| {
        if is_first.swap(false, Ordering::Relaxed) {
            let change = library.update(TASKS, &item.id, item.revision, content("changed"));
            block_in_place(|| Handle::current().block_on(change)).unwrap();
        }
        noted(read, run)
    };
    assert!(world.agent_store.report_ended_run(&changed_meanwhile).await.unwrap());
    assert_eq!(present(&library, &item).await.body.get("state"), None);
    assert!(world.agent_store.report_ended_run(&changed_meanwhile).await.unwrap());
    let found = present(&library, &item).await;
    assert_eq!((&found.body["content"], &found.body["ends"]), (&json!("changed"), &json!(1)));
    assert!(!world.agent_store.report_ended_run(&changed_meanwhile).await.unwrap());
}

/// A deletion comes first: the item stays deleted, and its time does not come again.
#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_item_stays_deleted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let agent = world.agent(&acme, "clerk").await;
    let library = library(&world, &acme);
    let Started { item, run } = started(&world, &acme, &agent).await;
    ends(&world, &run, AgentRunState::Failed).await;
    let again = world.clock.now().after(Duration::from_secs(1));
    let due = LibraryContent { due_at: Some(world.clock.now()), ..content("x") };
    let other = library.create(TASKS, due).await.unwrap();
    let delete = |item: &LibraryItem| {
        block_in_place(|| Handle::current().block_on(library.delete(TASKS, &item.id))).unwrap();
    };
    let deleted_meanwhile = |read: &LibraryItem, run: &EndedRun| {
        delete(read);
        noted(read, run).map(|content| LibraryContent { due_at: Some(again), ..content })
    };
    let is_deleted_before = |read: &LibraryItem, _: Timestamp| {
        delete(read);
        let AdvancedItem { content, .. } = advanced(read, None);
        AdvancedItem { content: LibraryContent { due_at: Some(again), ..content }, run: None }
    };
    assert!(world.agent_store.report_ended_run(&deleted_meanwhile).await.unwrap());
    assert!(world.agent_store.report_ended_run(&noted).await.unwrap(), "the run is released");
    assert!(!world.agent_store.report_ended_run(&noted).await.unwrap());
    assert_eq!(world.agent_store.advance_due_items(world.clock.now(), &is_deleted_before).await.unwrap(), 0);
    for item in [item, other] {
        let due = format!("SELECT count(*) FROM library_items WHERE item = '{}' AND due_at IS NULL", item.id);
        assert_eq!(database::number(&world, &due).await, 1);
    }
}

/// The history may be deleted before any server was there to note the end.
#[tokio::test]
async fn a_run_stays_until_its_end_is_noted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let agent = world.agent(&acme, "clerk").await;
    let (failed, completed) = (started(&world, &acme, &agent).await, started(&world, &acme, &agent).await);
    ends(&world, &failed.run, AgentRunState::Failed).await;
    ends(&world, &completed.run, AgentRunState::Completed).await;
    world.clock.advance(Duration::from_hours(25));
    assert_eq!(world.agent_store.agent_runs().delete_expired_agent_runs().await.unwrap(), 1);
    assert!(world.agent_store.report_ended_run(&noted).await.unwrap());
    assert_eq!(world.agent_store.agent_runs().delete_expired_agent_runs().await.unwrap(), 1);
}

#[tokio::test]
async fn a_damaged_item_does_not_keep_other_items_from_their_ends() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let agent = world.agent(&acme, "clerk").await;
    let (damaged, sound) = (started(&world, &acme, &agent).await, started(&world, &acme, &agent).await);
    let statement = format!("UPDATE library_items SET body = '{{' WHERE item = '{}'", damaged.item.id);
    database::execute(&world, &statement).await.unwrap();
    ends(&world, &damaged.run, AgentRunState::Failed).await;
    world.clock.advance(Duration::from_secs(1));
    ends(&world, &sound.run, AgentRunState::Failed).await;
    while world.agent_store.report_ended_run(&noted).await.unwrap() {}
    assert_eq!(present(&library(&world, &acme), &sound.item).await.body["state"][1], "failed");
}
