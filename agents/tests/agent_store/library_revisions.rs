//! Earlier revisions of skills and prompts.

use std::time::Duration;

use agents::{Library, LibraryContent, LibraryFamily, LibraryItem, Provenance};
use registry::{AccountId, LibraryItemId, NewUser, Principal, RoleName};

use crate::database;
use crate::library::{content, library, of_app, scope};
use crate::world::World;

const SKILLS: LibraryFamily = LibraryFamily::Skills;
const PROMPTS: LibraryFamily = LibraryFamily::Prompts;
/// Revisions that are kept.
const KEPT: u64 = 50;

/// Writes some revisions after the first one, and returns the id of the item.
async fn updated(library: &Library, family: LibraryFamily, updates: u64) -> LibraryItemId {
    let created = library.create(family, content("1")).await.unwrap();
    for revision in 1..=updates {
        let text = (revision + 1).to_string();
        library.update(family, &created.id, revision, content(&text)).await.unwrap();
    }
    created.id
}

async fn text(library: &Library, family: LibraryFamily, item: &LibraryItemId, revision: u64) -> Option<String> {
    let found = library.get_revision(family, item, revision).await.unwrap();
    found.map(|found| found.body["content"].as_str().unwrap().to_owned())
}

async fn count(world: &World) -> i64 {
    database::number(world, "SELECT count(*) FROM library_revisions").await
}

#[tokio::test]
async fn s0_148_a_revision_is_read_as_it_was_written() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let by_user = library(&world, &acme);
    let by_model = world.agent_store.library(scope(&acme), Provenance::default());
    let named = |name: &str, text: &str| LibraryContent { key: Some(name.to_owned()), ..content(text) };
    let first = by_user.create(SKILLS, named("a", "1")).await.unwrap();
    let mut written: Vec<LibraryItem> = vec![first.clone()];
    for (revision, writer, name) in [(1, &by_model, "b"), (2, &by_user, "c")] {
        world.clock.advance(Duration::from_secs(1));
        let next = named(name, &(revision + 1).to_string());
        written.push(writer.update(SKILLS, &first.id, revision, next).await.unwrap());
    }
    for item in &written {
        let found = by_user.get_revision(SKILLS, &first.id, item.revision).await.unwrap();
        assert_eq!(found.as_ref(), Some(item), "text, writer and time");
    }
    for unknown in [0, 4, u64::MAX] {
        assert_eq!(by_user.get_revision(SKILLS, &first.id, unknown).await.unwrap(), None, "{unknown}");
    }
    assert_eq!(by_user.get_revision(PROMPTS, &first.id, 1).await.unwrap(), None, "of another family");
    by_user.create(SKILLS, named("a", "x")).await.unwrap();
}

#[tokio::test]
async fn s0_149_the_latest_revisions_are_kept() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let id = updated(&library, PROMPTS, KEPT + 5).await;
    assert_eq!(text(&library, PROMPTS, &id, 5).await, None);
    for kept in [6, 30, KEPT + 5, KEPT + 6] {
        assert_eq!(text(&library, PROMPTS, &id, kept).await, Some(kept.to_string()));
    }
    assert_eq!(count(&world).await, i64::try_from(KEPT).unwrap());
}

#[tokio::test]
async fn revisions_of_other_families_are_not_kept() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let id = updated(&library, LibraryFamily::Memory, 2).await;
    assert_eq!(count(&world).await, 0);
    assert_eq!(text(&library, LibraryFamily::Memory, &id, 1).await, None);
    assert_eq!(text(&library, LibraryFamily::Memory, &id, 3).await.as_deref(), Some("3"));
}

/// An update that is refused leaves nothing. On a server, two connections write.
#[tokio::test]
async fn s0_148_of_updates_at_once_one_is_kept() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let id = updated(&library(&world, &acme), SKILLS, 0).await;
    let mut stores = vec![world.agent_store.clone(); 4];
    if database::is_server() {
        stores.extend(vec![world.beside().await; 4]);
    }
    let update = async |number: usize| {
        let library = stores[number].library(scope(&acme), Provenance::default());
        library.update(SKILLS, &id, 1, content(&format!("by {number}"))).await
    };
    let ended = futures_util::future::join_all((0..stores.len()).map(update)).await;
    assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1, "{ended:?}");
    assert!(ended.iter().all(|ended| matches!(ended, Ok(_) | Err(agents::Error::Changed { .. }))), "{ended:?}");
    let library = library(&world, &acme);
    assert_eq!((count(&world).await, text(&library, SKILLS, &id, 1).await.as_deref()), (1, Some("1")));
    let refused = library.update(SKILLS, &id, 1, content("late")).await;
    assert!(matches!(refused, Err(agents::Error::Changed { .. })), "{refused:?}");
    assert_eq!((count(&world).await, text(&library, SKILLS, &id, 3).await), (1, None));
}

#[tokio::test]
async fn who_sees_an_item_sees_its_revisions() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let other = world.organization("other").await;
    let bob = Principal { account: AccountId::parse("bob#2").unwrap(), ..acme.clone() };
    let new = NewUser { id: bob.user(), role: RoleName::parse("author").unwrap() };
    world.store.access().create_user(&acme.organization, new).await.unwrap();
    let own = library(&world, &acme);
    let id = updated(&own, SKILLS, 1).await;
    let of_bob = library(&world, &bob);
    for stranger in [of_bob.clone(), of_app(&world, &acme, Some("shop")), library(&world, &other)] {
        for revision in [1, 2] {
            assert_eq!(stranger.get_revision(SKILLS, &id, revision).await.unwrap(), None);
        }
    }
    own.share(SKILLS, &id, &bob.user()).await.unwrap();
    assert_eq!(text(&of_bob, SKILLS, &id, 1).await.as_deref(), Some("1"));
}

#[tokio::test]
async fn revisions_go_with_their_item() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let (deleted, stays) = (updated(&library, SKILLS, 2).await, updated(&library, SKILLS, 1).await);
    library.delete(SKILLS, &deleted).await.unwrap();
    for revision in 1..=3 {
        assert_eq!(library.get_revision(SKILLS, &deleted, revision).await.unwrap(), None);
    }
    world.clock.advance(Duration::from_hours(31 * 24));
    world.agent_store.delete_expired_library_items().await.unwrap();
    assert_eq!((count(&world).await, text(&library, SKILLS, &stays, 1).await.as_deref()), (1, Some("1")));
}
