//! Items of the Library whose time has come.

use std::time::Duration;

use agents::{AdvancedItem, AgentRunState, DueRun, Library, LibraryContent, LibraryFamily, LibraryItem, RunObjective};
use registry::{AgentRunId, Timestamp};
use serde_json::json;

use crate::agent_runs::all;
use crate::database;
use crate::library::{content, library};
use crate::world::World;

const TASKS: LibraryFamily = LibraryFamily::Tasks;
const HOUR: Duration = Duration::from_hours(1);

/// Counts how often an item came due. It is due again an hour later, three times.
fn advance(item: &LibraryItem, now: Timestamp) -> AdvancedItem {
    let count = item.body.get("count").and_then(serde_json::Value::as_u64).unwrap_or(0) + 1;
    let mut body = item.body.clone();
    body.insert("count".into(), json!(count));
    let due_at = (count < 3).then(|| now.after(HOUR));
    let content = LibraryContent { label: Some("fired".into()), due_at, body, ..LibraryContent::default() };
    AdvancedItem { content, run: None }
}

async fn created(library: &Library, due_at: Timestamp) -> LibraryItem {
    library.create(TASKS, LibraryContent { due_at: Some(due_at), ..content("x") }).await.unwrap()
}

async fn present(library: &Library, item: &LibraryItem) -> LibraryItem {
    library.get(TASKS, &item.id).await.unwrap().unwrap()
}

#[tokio::test]
async fn an_item_is_changed_when_its_time_has_come() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let now = world.clock.now();
    let (due, later) = (created(&library, now).await, created(&library, now.after(HOUR * 5)).await);
    let gone = created(&library, now).await;
    library.delete(TASKS, &gone.id).await.unwrap();
    assert_eq!(world.agent_store.advance_due_items(now.before(HOUR), &advance).await.unwrap(), 0);
    assert_eq!(world.agent_store.advance_due_items(now, &advance).await.unwrap(), 1);
    assert_eq!(world.agent_store.advance_due_items(now, &advance).await.unwrap(), 0, "due again in an hour");
    let changed = present(&library, &due).await;
    assert_eq!((changed.revision, &changed.body["count"], &changed.body["content"]), (2, &json!(1), &json!("x")));
    assert_eq!(changed.provenance, due.provenance);
    assert_eq!(present(&library, &later).await, later);
    for passed in 1..=3 {
        world.agent_store.advance_due_items(now.after(HOUR * passed), &advance).await.unwrap();
    }
    assert_eq!(present(&library, &due).await.body["count"], 3, "never due again");
}

/// The run starts with the change of the item, and belongs to the owner.
#[tokio::test]
async fn a_run_starts_with_an_item_that_is_due() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let agent = world.agent(&acme, "clerk").await;
    let library = library(&world, &acme);
    let item = created(&library, world.clock.now()).await;
    let id = AgentRunId::new(&world.clock);
    let start = |item: &LibraryItem, now: Timestamp| {
        let run = DueRun {
            id: id.clone(),
            agent: agent.clone(),
            objective: RunObjective::of("x"),
            document: "{}".to_owned(),
        };
        AdvancedItem { run: Some(run), ..advance(item, now) }
    };
    assert_eq!(world.agent_store.advance_due_items(world.clock.now(), &start).await.unwrap(), 1);
    assert_eq!(world.agent_store.advance_due_items(world.clock.now(), &start).await.unwrap(), 0);
    assert_eq!(present(&library, &item).await.revision, 2);
    let run = world.agent_store.agent_runs().get_agent_run(&acme, &id).await.unwrap().unwrap();
    assert_eq!((&run.agent, &run.account, run.state), (&agent, &acme.account, AgentRunState::Running));
    world.store.nodes().heartbeat().await.unwrap();
    assert_eq!(world.agent_store.agent_runs().take_over_agent_run(&all()).await.unwrap().unwrap().id, id);
}

/// A change of a user that was for the revision before is refused, and can be repeated.
#[tokio::test]
async fn a_change_for_the_revision_before_is_refused() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let item = created(&library, world.clock.now()).await;
    world.agent_store.advance_due_items(world.clock.now(), &advance).await.unwrap();
    let refused = library.update(TASKS, &item.id, item.revision, content("y")).await;
    assert!(matches!(refused, Err(agents::Error::Changed { .. })), "{refused:?}");
}

/// Two stores at the same time: each item is changed once.
#[tokio::test]
async fn each_item_is_changed_by_one_store() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let now = world.clock.now();
    let mut items = Vec::new();
    for _ in 0..50 {
        items.push(created(&library, now).await);
    }
    let mut stores = vec![world.agent_store.clone(), world.agent_store.clone()];
    if database::is_server() {
        stores.push(world.beside().await);
    }
    let all = stores.iter().map(async |store| {
        let mut changed = 0;
        loop {
            match store.advance_due_items(now, &advance).await.unwrap() {
                0 => return changed,
                count => changed += count,
            }
        }
    });
    let changed: u64 = futures_util::future::join_all(all).await.into_iter().sum();
    assert_eq!(changed, 50);
    for item in &items {
        assert_eq!(present(&library, item).await.body["count"], 1);
    }
}

#[tokio::test]
async fn a_damaged_item_does_not_hold_up_the_others() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let now = world.clock.now();
    let (damaged, sound) = (created(&library, now).await, created(&library, now).await);
    let statement = format!("UPDATE library_items SET body = '{{' WHERE item = '{}'", damaged.id);
    database::execute(&world, &statement).await.unwrap();
    assert_eq!(world.agent_store.advance_due_items(now, &advance).await.unwrap(), 2);
    assert_eq!(present(&library, &sound).await.body["count"], 1);
    assert_eq!(
        world.agent_store.advance_due_items(now.after(HOUR * 9), &advance).await.unwrap(),
        1,
        "only the sound one"
    );
}
