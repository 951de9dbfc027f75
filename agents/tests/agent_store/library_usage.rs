//! The bytes that items of the Library take, and lists that read no more than they show.

use std::time::Duration;

use agents::{LibraryContent, LibraryFamily, LibraryFilter, LibraryRange};
use serde_json::json;

use crate::database;
use crate::library::{bob, content, library};
use crate::world::World;

const SKILLS: LibraryFamily = LibraryFamily::Skills;
const PROMPTS: LibraryFamily = LibraryFamily::Prompts;
const MEMORY: LibraryFamily = LibraryFamily::Memory;
const MEBIBYTE: usize = 1 << 20;

/// The bytes of the organisation, which has most of all.
async fn bytes(world: &World) -> i64 {
    database::number(world, "SELECT max(bytes) FROM library_usage").await
}

fn full(refused: Result<impl std::fmt::Debug, agents::Error>) -> (u64, u64) {
    match refused {
        Err(error @ agents::Error::LibraryFull { used, limit, .. }) => {
            assert_eq!(error.code(), "quota_exceeded");
            (used, limit)
        }
        other => panic!("{other:?}"),
    }
}

/// A large content of a family whose lists leave it out, and one whose lists have it.
#[tokio::test]
async fn the_bytes_of_a_user_are_bounded_and_a_deletion_frees_them_at_once() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    for family in [SKILLS, MEMORY] {
        let library = library(&world, &acme);
        let large = library.create(family, content(&"x".repeat(MEBIBYTE / 2))).await.unwrap();
        let small = library.create(family, content("small")).await.unwrap();
        let (used, limit) = full(library.create(family, content(&"y".repeat(MEBIBYTE / 2))).await);
        assert!(used > MEBIBYTE as u64 / 2 && limit == MEBIBYTE as u64, "{used} {limit}");
        full(library.update(family, &small.id, 1, content(&"y".repeat(MEBIBYTE / 2))).await);
        assert_eq!(library.get(family, &small.id).await.unwrap().unwrap().body["content"], "small");
        // The bound is one of bytes.
        full(library.create(family, content(&"ü".repeat(MEBIBYTE / 4))).await);
        let after = library.update(family, &small.id, 1, content("smaller")).await.unwrap();
        library.delete(family, &large.id).await.unwrap();
        let next = library.create(family, content(&"y".repeat(MEBIBYTE / 2))).await.unwrap();
        for item in [after.id, next.id] {
            library.delete(family, &item).await.unwrap();
        }
        assert_eq!(bytes(&world).await, 0, "all is free");
    }
}

#[tokio::test]
async fn earlier_revisions_count_and_are_free_with_their_item() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let text = |letter: &str| content(&letter.repeat(MEBIBYTE / 5));
    let item = library.create(SKILLS, text("a")).await.unwrap();
    for revision in 1..=3 {
        library.update(SKILLS, &item.id, revision, text("b")).await.unwrap();
    }
    full(library.update(SKILLS, &item.id, 4, text("c")).await);
    assert_eq!(library.get(SKILLS, &item.id).await.unwrap().unwrap().revision, 4);
    assert_eq!(library.get_revision(SKILLS, &item.id, 1).await.unwrap().unwrap().body, text("a").body);
    library.delete(SKILLS, &item.id).await.unwrap();
    assert_eq!(bytes(&world).await, 0);
}

#[tokio::test]
async fn the_users_of_an_organisation_share_its_bytes() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (ada, bob) = (library(&world, &acme), library(&world, &bob(&world, &acme).await));
    ada.create(PROMPTS, content(&"x".repeat(MEBIBYTE * 9 / 10))).await.unwrap();
    let (_, limit) = full(bob.create(PROMPTS, content(&"x".repeat(MEBIBYTE * 9 / 10))).await);
    assert_eq!(limit, 3 * MEBIBYTE as u64 / 2, "that of the organisation");
    bob.create(PROMPTS, content(&"x".repeat(MEBIBYTE / 4))).await.unwrap();
    let other = world.organization("other").await;
    library(&world, &other).create(PROMPTS, content(&"x".repeat(MEBIBYTE * 9 / 10))).await.unwrap();
}

#[tokio::test]
async fn a_list_has_no_contents_and_the_sizes_of_them() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    for (family, field) in [(SKILLS, "content"), (PROMPTS, "content"), (LibraryFamily::Preferences, "supersedes")] {
        let body = json!({"name": "one", field: "ü".repeat(500)}).as_object().cloned().unwrap();
        let created = library.create(family, LibraryContent { body: body.clone(), ..LibraryContent::default() }).await;
        let created = created.unwrap();
        assert_eq!((&created.body, created.content_bytes), (&body, 1_000));
        let range = LibraryRange { limit: 9, offset: 0 };
        let listed = library.list(family, &LibraryFilter::default(), range).await.unwrap();
        let paged = library.page(family, None, 9).await.unwrap();
        assert_eq!(listed, paged);
        assert_eq!((listed[0].body.get(field), listed[0].content_bytes), (None, 1_000));
        assert_eq!(listed[0].body["name"], "one");
        assert_eq!(library.get(family, &created.id).await.unwrap(), Some(created.clone()));
        library.count_use(family, &created.id).await.unwrap();
        assert_eq!(library.get(family, &created.id).await.unwrap().unwrap().body[field], body[field]);
    }
}

#[tokio::test]
async fn pages_follow_each_other_over_own_and_shared_items() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let bob = bob(&world, &acme).await;
    let (ada, of_bob) = (library(&world, &acme), library(&world, &bob));
    let mut all = Vec::new();
    for number in 0..7 {
        let owner = if number % 2 == 0 { &ada } else { &of_bob };
        world.clock.advance(Duration::from_millis(2));
        let item = owner.create(PROMPTS, content(&number.to_string())).await.unwrap();
        if number % 2 == 1 {
            of_bob.share(PROMPTS, &item.id, &acme.user()).await.unwrap();
            of_bob.share(PROMPTS, &item.id, &bob.user()).await.unwrap();
        }
        all.push(item.id);
    }
    all.sort_unstable();
    all.reverse();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = ada.page(PROMPTS, after.as_ref(), 2).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
        seen.extend(page.into_iter().map(|item| item.id));
    }
    assert_eq!(seen, all);
    assert_eq!(ada.ids_with(PROMPTS, "", 3).await.unwrap(), all[..3]);
    let id = all[4].as_str();
    assert_eq!(ada.ids_with(PROMPTS, id, 3).await.unwrap(), [all[4].clone()]);
    assert_eq!(ada.ids_with(PROMPTS, &format!("{id}0"), 3).await.unwrap(), []);
    assert_eq!(ada.ids_with(PROMPTS, "%", 3).await.unwrap(), []);
    of_bob.delete(PROMPTS, &all[1]).await.unwrap();
    assert_eq!(ada.page(PROMPTS, None, 9).await.unwrap().len(), 6);
}

/// Whoever watches a list of another user's items learns of each change of them.
#[tokio::test]
async fn the_fingerprint_changes_with_items_that_others_share() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let bob = bob(&world, &acme).await;
    let (ada, of_bob) = (library(&world, &acme), library(&world, &bob));
    let mut seen = vec![ada.fingerprint(PROMPTS).await.unwrap()];
    let item = of_bob.create(PROMPTS, content("x")).await.unwrap();
    assert_eq!(ada.fingerprint(PROMPTS).await.unwrap(), seen[0], "not shared yet");
    of_bob.share(PROMPTS, &item.id, &acme.user()).await.unwrap();
    seen.push(ada.fingerprint(PROMPTS).await.unwrap());
    of_bob.update(PROMPTS, &item.id, 1, content("y")).await.unwrap();
    seen.push(ada.fingerprint(PROMPTS).await.unwrap());
    of_bob.count_use(PROMPTS, &item.id).await.unwrap();
    assert_eq!(ada.fingerprint(PROMPTS).await.unwrap(), seen[2], "a use is no change");
    of_bob.delete(PROMPTS, &item.id).await.unwrap();
    seen.push(ada.fingerprint(PROMPTS).await.unwrap());
    ada.create(SKILLS, content("x")).await.unwrap();
    assert_eq!(ada.fingerprint(PROMPTS).await.unwrap(), seen[3], "of another family");
    ada.create(PROMPTS, content("x")).await.unwrap();
    seen.push(ada.fingerprint(PROMPTS).await.unwrap());
    assert!(seen.windows(2).all(|pair| pair[0] != pair[1]), "{seen:?}");
}
