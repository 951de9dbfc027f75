//! Items of the Library.

use std::time::Duration;

use registry::{
    CallerName, Error, LibraryContent, LibraryFamily, LibraryFilter, LibraryItemId, LibraryRange, LibraryScope,
    LibraryShelf, Principal, Provenance,
};
use serde_json::json;

use crate::fixtures::World;

const ALL: LibraryRange = LibraryRange { limit: 200, offset: 0 };

pub fn shelf(principal: &Principal, family: LibraryFamily) -> LibraryShelf {
    let scope = LibraryScope { organization: principal.organization.clone(), user: principal.user.clone(), app: None };
    LibraryShelf { scope, family }
}

pub fn content(text: &str) -> LibraryContent {
    let body = json!({"content": text}).as_object().cloned().unwrap();
    LibraryContent { body, ..LibraryContent::default() }
}

async fn texts(world: &World, shelf: &LibraryShelf, filter: LibraryFilter, range: LibraryRange) -> Vec<String> {
    let items = world.store.list_library_items(shelf, &filter, range).await.unwrap();
    items.iter().map(|item| item.body["content"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_item_is_read_back_with_its_provenance() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let memories = shelf(&acme, LibraryFamily::Memory);
    let workflow = Some(CallerName::parse("nightly").unwrap());
    let provenance = Provenance { workflow, is_trusted: true, ..Provenance::default() };
    let written = LibraryContent { label: Some("fact".into()), tags: vec!["a".into()], ..content("one") };
    let created = world.store.create_library_item(&memories, written, provenance.clone()).await.unwrap();
    assert_eq!((created.revision, &created.provenance, created.created_at), (1, &provenance, created.updated_at));
    assert_eq!(world.store.get_library_item(&memories, &created.id).await.unwrap(), Some(created.clone()));
    let rules = shelf(&acme, LibraryFamily::Rules);
    assert_eq!(world.store.get_library_item(&rules, &created.id).await.unwrap(), None, "of another family");
}

#[tokio::test]
async fn lists_are_filtered_and_newest_first() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let memories = shelf(&acme, LibraryFamily::Memory);
    for (number, label, tags) in [(1, "a", &["x", "y"][..]), (2, "b", &["x"]), (3, "a", &[])] {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let written = LibraryContent { label: Some(label.into()), tags, ..content(&number.to_string()) };
        world.store.create_library_item(&memories, written, Provenance::default()).await.unwrap();
        world.clock.advance(Duration::from_millis(2));
    }
    let filter = |label: Option<&str>, tags: &[&str]| LibraryFilter {
        label: label.map(ToOwned::to_owned),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
    };
    assert_eq!(texts(&world, &memories, filter(None, &[]), ALL).await, ["3", "2", "1"]);
    assert_eq!(texts(&world, &memories, filter(Some("a"), &[]), ALL).await, ["3", "1"]);
    assert_eq!(texts(&world, &memories, filter(None, &["x"]), ALL).await, ["2", "1"]);
    assert_eq!(texts(&world, &memories, filter(Some("a"), &["x", "y"]), ALL).await, ["1"]);
    assert_eq!(texts(&world, &memories, filter(None, &["none"]), ALL).await, Vec::<String>::new());
    let second = LibraryRange { limit: 1, offset: 1 };
    assert_eq!(texts(&world, &memories, filter(None, &[]), second).await, ["2"]);
}

#[tokio::test]
async fn an_old_revision_is_not_changed() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let memories = shelf(&acme, LibraryFamily::Memory);
    let created = world.store.create_library_item(&memories, content("1"), Provenance::default()).await.unwrap();
    let update =
        |text: &str| world.store.update_library_item(&memories, (&created.id, 1), content(text), Provenance::default());
    let (first, second) = tokio::join!(update("2"), update("3"));
    let refused = match (first, second) {
        (Ok(item), Err(refused)) | (Err(refused), Ok(item)) => {
            assert_eq!(item.revision, 2);
            refused
        }
        both => panic!("{both:?}"),
    };
    assert!(matches!(refused, Error::Changed { .. }), "{refused}");
}

#[tokio::test]
async fn keys_are_unique_among_the_live_items_of_an_owner_and_an_application() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let skills = shelf(&acme, LibraryFamily::Skills);
    let keyed = || LibraryContent { key: Some("refund".into()), ..content("x") };
    let create = |shelf: LibraryShelf| {
        let store = world.store.clone();
        async move { store.create_library_item(&shelf, keyed(), Provenance::default()).await }
    };
    let first = create(skills.clone()).await.unwrap();
    assert!(matches!(create(skills.clone()).await, Err(Error::Exists { .. })));
    let mut of_app = skills.clone();
    of_app.scope.app = Some(CallerName::parse("shop").unwrap());
    let other = create(of_app.clone()).await.unwrap();
    assert_eq!(other.app, of_app.scope.app);
    assert_eq!(world.store.get_library_item(&skills, &other.id).await.unwrap(), None, "of another application");
    assert_eq!(world.store.find_library_item(&skills, "refund").await.unwrap().unwrap().id, first.id);
    world.store.delete_library_item(&skills, &first.id).await.unwrap();
    assert_eq!(world.store.find_library_item(&skills, "refund").await.unwrap(), None);
    create(skills).await.unwrap();
}

#[tokio::test]
async fn an_item_is_shared_by_its_owner_with_a_member() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let artifacts = shelf(&acme, LibraryFamily::Artifacts);
    let created = world.store.create_library_item(&artifacts, content("report"), Provenance::default()).await.unwrap();
    let stranger = registry::UserId::parse("nobody").unwrap();
    let refused = world.store.share_library_item(&artifacts, &created.id, &stranger).await;
    assert!(matches!(refused, Err(Error::UserUnknown { .. })));
    let other = LibraryItemId::parse("000000000000000000000000").unwrap();
    let refused = world.store.share_library_item(&artifacts, &other, &acme.user).await;
    assert!(matches!(refused, Err(Error::NotFound { .. })));
}

#[tokio::test]
async fn the_items_of_an_organization_are_bounded_and_deleted_ones_leave_after_a_month() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let memories = shelf(&acme, LibraryFamily::Memory);
    let create = || world.store.create_library_item(&memories, content("x"), Provenance::default());
    let first = create().await.unwrap();
    for _ in 1..60 {
        create().await.unwrap();
    }
    assert!(matches!(create().await, Err(Error::TooMany { limit: 60, .. })));
    world.store.delete_library_item(&memories, &first.id).await.unwrap();
    assert_eq!(world.store.delete_expired_library_items().await.unwrap(), 0);
    assert!(create().await.is_err());
    world.clock.advance(Duration::from_hours(31 * 24));
    assert_eq!(world.store.delete_expired_library_items().await.unwrap(), 1);
    create().await.unwrap();
}
