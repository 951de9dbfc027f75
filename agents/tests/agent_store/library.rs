//! Items of the Library.

use std::collections::HashSet;
use std::time::Duration;

use agents::{Library, LibraryContent, LibraryFamily, LibraryFilter, LibraryRange, LibraryScope, Provenance};
use registry::{AccountId, CallerName, LibraryItemId, NewUser, Principal, RoleName, UserId};
use serde_json::json;

use crate::world::World;

const MEMORY: LibraryFamily = LibraryFamily::Memory;
const SKILLS: LibraryFamily = LibraryFamily::Skills;
const ALL: LibraryRange = LibraryRange { limit: 200, offset: 0 };

pub fn library(world: &World, principal: &Principal) -> Library {
    of_app(world, principal, None)
}

pub fn of_app(world: &World, principal: &Principal, app: Option<&str>) -> Library {
    let scope = LibraryScope { app: app.map(|app| CallerName::parse(app).unwrap()), ..scope(principal) };
    let workflow = Some(CallerName::parse("nightly").unwrap());
    world.agent_store.library(scope, Provenance { workflow, is_trusted: true, ..Provenance::default() })
}

/// The items of a user outside of all applications.
pub fn scope(principal: &Principal) -> LibraryScope {
    LibraryScope { organization: principal.organization.clone(), account: principal.account.clone(), app: None }
}

pub fn content(text: &str) -> LibraryContent {
    let body = json!({"content": text}).as_object().cloned().unwrap();
    LibraryContent { body, ..LibraryContent::default() }
}

async fn texts(library: &Library, filter: LibraryFilter, range: LibraryRange) -> Vec<String> {
    let items = library.list(MEMORY, &filter, range).await.unwrap();
    items.iter().map(|item| item.body["content"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_item_is_read_back_with_its_provenance() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let written = LibraryContent { label: Some("fact".into()), tags: vec!["a".into()], ..content("one") };
    let created = library.create(MEMORY, written).await.unwrap();
    assert_eq!((created.revision, created.created_at), (1, created.updated_at));
    let Provenance { workflow, is_trusted, .. } = &created.provenance;
    assert_eq!((workflow.as_ref().map(CallerName::as_str), *is_trusted), (Some("nightly"), true));
    assert_eq!(library.get(MEMORY, &created.id).await.unwrap(), Some(created.clone()));
    assert_eq!(library.get(LibraryFamily::Rules, &created.id).await.unwrap(), None, "of another family");
}

#[tokio::test]
async fn lists_are_filtered_and_newest_first() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    for (number, label, tags) in [(1, "a", &["x", "y"][..]), (2, "b", &["x"]), (3, "a", &[])] {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let written = LibraryContent { label: Some(label.into()), tags, ..content(&number.to_string()) };
        library.create(MEMORY, written).await.unwrap();
        world.clock.advance(Duration::from_millis(2));
    }
    let filter = |label: Option<&str>, tags: &[&str]| LibraryFilter {
        label: label.map(ToOwned::to_owned),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
    };
    assert_eq!(texts(&library, filter(None, &[]), ALL).await, ["3", "2", "1"]);
    assert_eq!(texts(&library, filter(Some("a"), &[]), ALL).await, ["3", "1"]);
    assert_eq!(texts(&library, filter(None, &["x"]), ALL).await, ["2", "1"]);
    assert_eq!(texts(&library, filter(Some("a"), &["x", "y"]), ALL).await, ["1"]);
    assert_eq!(texts(&library, filter(None, &["none"]), ALL).await, Vec::<String>::new());
    let second = LibraryRange { limit: 1, offset: 1 };
    assert_eq!(texts(&library, filter(None, &[]), second).await, ["2"]);
}

async fn revisions(library: &Library, family: LibraryFamily, limit: u32) -> Vec<(LibraryItemId, u64)> {
    let page = library.page(family, None, limit).await.unwrap();
    page.into_iter().map(|item| (item.id, item.revision)).collect()
}

#[tokio::test]
async fn revisions_are_those_of_the_listed_items() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let first = library.create(MEMORY, content("1")).await.unwrap();
    world.clock.advance(Duration::from_millis(2));
    let second = library.create(MEMORY, content("2")).await.unwrap();
    library.update(MEMORY, &first.id, 1, content("3")).await.unwrap();
    let newest_first = [(second.id.clone(), 1), (first.id.clone(), 2)];
    assert_eq!(revisions(&library, MEMORY, 10).await, newest_first);
    assert_eq!(revisions(&library, MEMORY, 1).await, newest_first[..1]);
    assert_eq!(revisions(&library, SKILLS, 10).await, []);
    assert_eq!(revisions(&of_app(&world, &acme, Some("crm")), MEMORY, 10).await, []);
    library.delete(MEMORY, &second.id).await.unwrap();
    assert_eq!(revisions(&library, MEMORY, 10).await, newest_first[1..]);
}

/// Adds the user `bob` to an organisation.
pub async fn bob(world: &World, of: &Principal) -> Principal {
    let bob = Principal { account: AccountId::parse("bob#2").unwrap(), ..of.clone() };
    let new = NewUser { id: bob.user(), role: RoleName::parse("author").unwrap() };
    world.store.access().create_user(&bob.organization, new).await.unwrap();
    bob
}

#[tokio::test]
async fn a_fingerprint_changes_when_an_item_is_created_changed_or_deleted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let empty = library.fingerprint(MEMORY).await.unwrap();
    let first = library.create(MEMORY, content("1")).await.unwrap();
    let one = library.fingerprint(MEMORY).await.unwrap();
    world.clock.advance(Duration::from_millis(2));
    let second = library.create(MEMORY, content("2")).await.unwrap();
    let two = library.fingerprint(MEMORY).await.unwrap();
    library.update(MEMORY, &first.id, 1, content("3")).await.unwrap();
    let changed = library.fingerprint(MEMORY).await.unwrap();
    assert_eq!(library.fingerprint(MEMORY).await.unwrap(), changed, "nothing has changed");
    library.delete(MEMORY, &second.id).await.unwrap();
    let deleted = library.fingerprint(MEMORY).await.unwrap();
    let seen = [empty, one, two, changed, deleted];
    assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len(), "{seen:?}");
}

#[tokio::test]
async fn a_fingerprint_changes_with_the_items_that_others_share() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let bob = bob(&world, &acme).await;
    let (of_ann, of_bob) = (library(&world, &acme), library(&world, &bob));
    let item = of_ann.create(MEMORY, content("1")).await.unwrap();
    let (own, before) = (of_ann.fingerprint(MEMORY).await.unwrap(), of_bob.fingerprint(MEMORY).await.unwrap());
    of_ann.share(MEMORY, &item.id, &bob.user()).await.unwrap();
    let shared = of_bob.fingerprint(MEMORY).await.unwrap();
    assert_ne!(shared, before);
    assert_eq!(of_ann.fingerprint(MEMORY).await.unwrap(), own, "the owner sees the same items");
    of_ann.update(MEMORY, &item.id, 1, content("2")).await.unwrap();
    assert_ne!(of_bob.fingerprint(MEMORY).await.unwrap(), shared);
    of_ann.delete(MEMORY, &item.id).await.unwrap();
    assert_eq!(of_bob.fingerprint(MEMORY).await.unwrap(), before);
}

#[tokio::test]
async fn a_fingerprint_is_of_one_family_and_one_application() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let empty = library.fingerprint(MEMORY).await.unwrap();
    of_app(&world, &acme, Some("crm")).create(MEMORY, content("x")).await.unwrap();
    library.create(SKILLS, content("x")).await.unwrap();
    assert_eq!(library.fingerprint(MEMORY).await.unwrap(), empty);
    assert_ne!(library.fingerprint(SKILLS).await.unwrap(), empty);
}

#[tokio::test]
async fn of_two_changes_of_a_revision_one_is_refused() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let created = library.create(MEMORY, content("1")).await.unwrap();
    let update = |text: &str| library.update(MEMORY, &created.id, 1, content(text));
    let refused = match tokio::join!(update("2"), update("3")) {
        (Ok(item), Err(refused)) | (Err(refused), Ok(item)) => {
            assert_eq!(item.revision, 2);
            refused
        }
        both => panic!("{both:?}"),
    };
    assert!(matches!(refused, agents::Error::Changed { .. }), "{refused}");
}

#[tokio::test]
async fn keys_are_unique_among_the_live_items_of_an_owner_and_an_application() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (library, of_shop) = (library(&world, &acme), of_app(&world, &acme, Some("shop")));
    let keyed = || LibraryContent { key: Some("refund".into()), ..content("x") };
    let first = library.create(SKILLS, keyed()).await.unwrap();
    assert!(matches!(library.create(SKILLS, keyed()).await, Err(agents::Error::Store(registry::Error::Exists { .. }))));
    let other = of_shop.create(SKILLS, keyed()).await.unwrap();
    assert_eq!(other.app.as_ref().map(CallerName::as_str), Some("shop"));
    assert_eq!(library.get(SKILLS, &other.id).await.unwrap(), None, "of another application");
    assert_eq!(library.find(SKILLS, "refund").await.unwrap().unwrap().id, first.id);
    library.delete(SKILLS, &first.id).await.unwrap();
    assert_eq!(library.find(SKILLS, "refund").await.unwrap(), None);
    library.create(SKILLS, keyed()).await.unwrap();
}

#[tokio::test]
async fn an_item_is_shared_by_its_owner_with_a_member() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let created = library.create(LibraryFamily::Artifacts, content("report")).await.unwrap();
    let stranger = UserId::parse("nobody").unwrap();
    let refused = library.share(LibraryFamily::Artifacts, &created.id, &stranger).await;
    assert!(matches!(refused, Err(registry::Error::UserUnknown { .. })));
    let other = LibraryItemId::parse("000000000000000000000000").unwrap();
    let refused = library.share(LibraryFamily::Artifacts, &other, &acme.user()).await;
    assert!(matches!(refused, Err(registry::Error::NotFound { .. })));
}

#[tokio::test]
async fn the_items_of_an_organization_are_bounded_and_deleted_ones_leave_after_a_month() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let create = || library.create(MEMORY, content("x"));
    let first = create().await.unwrap();
    for _ in 1..60 {
        create().await.unwrap();
    }
    assert!(matches!(create().await, Err(agents::Error::Store(registry::Error::TooMany { limit: 60, .. }))));
    library.delete(MEMORY, &first.id).await.unwrap();
    assert_eq!(world.agent_store.delete_expired_library_items().await.unwrap(), 0);
    assert!(create().await.is_err());
    world.clock.advance(Duration::from_hours(31 * 24));
    assert_eq!(world.agent_store.delete_expired_library_items().await.unwrap(), 1);
    create().await.unwrap();
}

/// Postgres can store no NUL in a text, and compares no JSON with one.
#[tokio::test]
async fn a_nul_is_refused_where_lists_compare_it_and_kept_in_the_content() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let nul = || "a\0b".to_owned();
    let refused = [
        LibraryContent { key: Some(nul()), ..content("x") },
        LibraryContent { label: Some(nul()), ..content("x") },
        LibraryContent { tags: vec![nul()], ..content("x") },
    ];
    for content in refused {
        assert!(matches!(
            library.create(MEMORY, content).await,
            Err(agents::Error::Store(registry::Error::Invalid(_)))
        ));
    }
    let created = library.create(MEMORY, content(&nul())).await.unwrap();
    assert_eq!(library.get(MEMORY, &created.id).await.unwrap().unwrap().body["content"], nul());
    assert_eq!(library.find(SKILLS, &nul()).await.unwrap(), None);
    let filter = LibraryFilter { tags: vec![nul()], ..LibraryFilter::default() };
    assert!(matches!(library.list(MEMORY, &filter, ALL).await, Err(registry::Error::Invalid(_))));
}

#[tokio::test]
async fn a_link_leads_to_its_artifact_for_a_while() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let report = library.create(LibraryFamily::Artifacts, content("report")).await.unwrap();
    let token = library.sign_download(&report.id).unwrap();
    world.clock.advance(Duration::from_secs(15 * 60 - 1));
    assert_eq!(world.agent_store.downloaded(&token).await.unwrap(), Some(report));
    world.clock.advance(Duration::from_secs(1));
    assert!(matches!(world.agent_store.downloaded(&token).await, Err(agents::Error::DownloadExpired)));
    let memory = library.create(MEMORY, content("secret")).await.unwrap();
    let token = library.sign_download(&memory.id).unwrap();
    assert_eq!(world.agent_store.downloaded(&token).await.unwrap(), None, "of another family");
}

#[tokio::test]
async fn an_old_link_to_a_public_artifact_ends_when_its_owner_is_removed() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let bob = bob(&world, &acme).await;
    let library = library(&world, &bob);
    let report = library.create(LibraryFamily::Artifacts, with(json!({"is_public": true}))).await.unwrap();
    let token = library.sign_download(&report.id).unwrap();
    world.clock.advance(Duration::from_hours(24));
    assert_eq!(world.agent_store.downloaded(&token).await.unwrap(), Some(report));
    world.store.access().remove_user(&bob.organization, &bob.user()).await.unwrap();
    assert!(matches!(world.agent_store.downloaded(&token).await, Err(agents::Error::DownloadExpired)));
}

/// An item with these fields.
fn with(fields: serde_json::Value) -> LibraryContent {
    LibraryContent { body: fields.as_object().cloned().unwrap(), ..LibraryContent::default() }
}

#[tokio::test]
async fn a_link_to_a_public_artifact_works_until_it_is_deleted() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let report = library.create(LibraryFamily::Artifacts, with(json!({"is_public": true}))).await.unwrap();
    let token = library.sign_download(&report.id).unwrap();
    world.clock.advance(Duration::from_hours(24));
    assert_eq!(world.agent_store.downloaded(&token).await.unwrap(), Some(report.clone()));
    library.delete(LibraryFamily::Artifacts, &report.id).await.unwrap();
    assert!(matches!(world.agent_store.downloaded(&token).await, Err(agents::Error::DownloadExpired)));
}

#[tokio::test]
async fn everyone_in_the_organisation_finds_an_artifact_that_is_shared_with_it() {
    let world = World::new().await;
    let (acme, other) = (world.organization("acme").await, world.organization("other").await);
    let of_ada = library(&world, &acme);
    let bea = LibraryScope { account: AccountId::parse("bea#2").unwrap(), ..scope(&acme) };
    let of_bea = world.agent_store.library(bea, Provenance::default());
    for (fields, is_found) in [
        (json!({}), false),
        (json!({"shared_to_org": false, "is_public": false}), false),
        (json!({"shared_to_org": true}), true),
        (json!({"is_public": true}), true),
    ] {
        let saved = of_ada.create(LibraryFamily::Artifacts, with(fields.clone())).await.unwrap();
        assert_eq!(of_bea.get(LibraryFamily::Artifacts, &saved.id).await.unwrap(), None, "{fields}");
        let found = of_bea.artifact_of_organization(&saved.id).await.unwrap();
        assert_eq!(found.is_some(), is_found, "{fields}");
        let revision = of_bea.artifact_revision_of_organization(&saved.id).await.unwrap();
        assert_eq!(revision, is_found.then_some(1), "{fields}");
        let found = library(&world, &other).artifact_of_organization(&saved.id).await.unwrap();
        assert_eq!(found, None, "of another organisation: {fields}");
        of_ada.delete(LibraryFamily::Artifacts, &saved.id).await.unwrap();
        assert_eq!(of_bea.artifact_revision_of_organization(&saved.id).await.unwrap(), None, "{fields}");
    }
    let memory = of_ada.create(MEMORY, with(json!({"shared_to_org": true}))).await.unwrap();
    assert_eq!(of_bea.artifact_of_organization(&memory.id).await.unwrap(), None, "of another family");
    assert_eq!(of_bea.artifact_revision_of_organization(&memory.id).await.unwrap(), None, "of another family");
}

#[tokio::test]
async fn a_use_is_counted_and_is_no_change() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let library = library(&world, &acme);
    let skill = library.create(SKILLS, content("x")).await.unwrap();
    for uses in 1..=3 {
        library.count_use(SKILLS, &skill.id).await.unwrap();
        let found = library.get(SKILLS, &skill.id).await.unwrap().unwrap();
        assert_eq!((&found.body["usage_count"], &found.body["content"]), (&json!(uses), &json!("x")));
        assert_eq!((found.revision, found.updated_at), (1, skill.updated_at));
    }
    of_app(&world, &acme, Some("shop")).count_use(SKILLS, &skill.id).await.unwrap();
    let found = library.get(SKILLS, &skill.id).await.unwrap().unwrap();
    assert_eq!(found.body["usage_count"], 3, "of another application");
}
