//! Users: adding, changing roles, removing. An administrator always remains.

use registry::{
    BegunOperation, Digest, ErrorKind, IdempotencyKey, NewOperation, NewOrganization, NewUser, Once, OperationKind,
    OrganizationId, Page, Permission, RoleName, ToolId, UserId,
};

use crate::fixtures::World;

fn user(id: &str) -> UserId {
    UserId::parse(id).unwrap()
}

fn role(name: &str) -> RoleName {
    RoleName::parse(name).unwrap()
}

async fn add(world: &World, organization: &OrganizationId, id: &str, name: &str) -> Result<(), registry::Error> {
    world.store.access().create_user(organization, NewUser { id: user(id), role: role(name) }).await
}

#[tokio::test]
async fn users_are_listed_with_their_roles() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    let other = world.organization("other").await.organization;
    add(&world, &acme, "bob", "author").await.unwrap();
    add(&world, &acme, "cy", "invoker").await.unwrap();
    let first = world.store.access().list_users(&acme, Page::first(2)).await.unwrap();
    let rest = world.store.access().list_users(&acme, Page { limit: 2, token: first.next.unwrap() }).await.unwrap();
    let all: Vec<_> = first.items.iter().chain(&rest.items).map(|u| (u.account.user_str(), u.role.as_str())).collect();
    assert_eq!(all, [("ann", "admin"), ("bob", "author"), ("cy", "invoker")]);
    assert!(rest.next.is_none());
    assert!(world.store.access().list_users(&other, Page { limit: 2, token: first.next.unwrap() }).await.is_err());
    assert_eq!(world.store.access().list_users(&other, Page::first(9)).await.unwrap().items.len(), 1);
    assert!(world.store.access().get_user(&other, &user("bob")).await.unwrap().is_none());
}

#[tokio::test]
async fn a_page_begins_after_the_last_one_while_users_are_added_and_removed() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    for id in ["bob", "cy", "dan"] {
        add(&world, &acme, id, "invoker").await.unwrap();
    }
    let first = world.store.access().list_users(&acme, Page::first(2)).await.unwrap();
    world.store.access().remove_user(&acme, &user("bob")).await.unwrap();
    add(&world, &acme, "aaron", "invoker").await.unwrap();
    let rest = world.store.access().list_users(&acme, Page { limit: 9, token: first.next.unwrap() }).await.unwrap();
    assert_eq!(rest.items.iter().map(|user| user.account.user_str()).collect::<Vec<_>>(), ["cy", "dan", "aaron"]);
    let page = world.store.access().list_users(&acme, Page::first(3)).await.unwrap().next.unwrap();
    for id in ["cy", "dan", "aaron"] {
        world.store.access().remove_user(&acme, &user(id)).await.unwrap();
    }
    let rest = world.store.access().list_users(&acme, Page { limit: 9, token: page }).await.unwrap();
    assert!(rest.items.is_empty() && rest.next.is_none());
    add(&world, &acme, "eve", "invoker").await.unwrap();
    let rest = world.store.access().list_users(&acme, Page { limit: 9, token: page }).await.unwrap();
    assert_eq!(rest.items.len(), 1, "a position is given once");
}

#[tokio::test]
async fn a_new_user_with_an_old_id_gets_none_of_the_idempotency_keys() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    add(&world, &acme, "bob", "author").await.unwrap();
    let bob = async || world.store.access().authenticate(&world.token_of(&acme, "bob").await).await.unwrap().unwrap();
    let first = bob().await;
    let begin = async |bob| {
        let once = Once { key: IdempotencyKey::parse("k").unwrap(), request: Digest::of(b"x") };
        let tool = ToolId::parse(&"a".repeat(24)).unwrap();
        let new = NewOperation { kind: OperationKind::Invoke, tool, once: Some(once), request: None };
        world.store.operations().begin_operation(bob, new).await.unwrap()
    };
    assert!(matches!(begin(&first).await, BegunOperation::New(_)));
    assert!(matches!(begin(&first).await, BegunOperation::Repeated(_)));
    world.store.access().remove_user(&acme, &user("bob")).await.unwrap();
    add(&world, &acme, "bob", "author").await.unwrap();
    assert!(matches!(begin(&bob().await).await, BegunOperation::New(_)));
}

#[tokio::test]
async fn reserved_ids_are_refused() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    for id in ["me", "signin_with_api_key", ".", ".."] {
        assert_eq!(add(&world, &acme, id, "invoker").await.unwrap_err().kind(), ErrorKind::Invalid, "{id}");
    }
    for (organization, id) in [(".", "ann"), ("..", "ann"), ("other", "me"), ("other", "..")] {
        let organization = OrganizationId::parse(organization).unwrap();
        let new = NewOrganization { organization, user: user(id) };
        assert_eq!(world.store.access().create_organization(new).await.unwrap_err().kind(), ErrorKind::Invalid, "{id}");
    }
}

#[tokio::test]
async fn a_user_is_added_once_with_an_existing_role() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    let again = add(&world, &acme, "ann", "author").await.unwrap_err();
    assert_eq!((again.kind(), again.code()), (ErrorKind::Conflict, "already_exists"));
    let unknown = add(&world, &acme, "bob", "baker").await.unwrap_err();
    assert_eq!((unknown.kind(), unknown.code()), (ErrorKind::Invalid, "role_unknown"));
    assert!(world.store.access().get_user(&acme, &user("bob")).await.unwrap().is_none());
}

#[tokio::test]
async fn users_are_bounded() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    for number in 1..100 {
        add(&world, &acme, &format!("user{number}"), "invoker").await.unwrap();
    }
    assert_eq!(add(&world, &acme, "one-more", "invoker").await.unwrap_err().code(), "too_many");
    world.store.access().remove_user(&acme, &user("user7")).await.unwrap();
    add(&world, &acme, "one-more", "invoker").await.unwrap();
}

#[tokio::test]
async fn a_role_change_and_a_removal_take_effect_immediately() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    add(&world, &acme, "bob", "author").await.unwrap();
    let token = world.token_of(&acme, "bob").await;
    let principal = world.store.access().authenticate(&token).await.unwrap().unwrap();
    assert!(principal.may(Permission::CreateTool) && !principal.may(Permission::Administer));
    world.store.access().set_user_role(&acme, &user("bob"), role("auditor")).await.unwrap();
    let principal = world.store.access().authenticate(&token).await.unwrap().unwrap();
    assert!(!principal.may(Permission::CreateTool) && principal.may(Permission::GetInvocation));
    world.store.access().remove_user(&acme, &user("bob")).await.unwrap();
    assert!(world.store.access().authenticate(&token).await.unwrap().is_none());
    // A new user with the same id gets nothing of the first one.
    add(&world, &acme, "bob", "admin").await.unwrap();
    assert!(world.store.access().authenticate(&token).await.unwrap().is_none());
    assert!(
        world
            .store
            .access()
            .list_api_keys(&acme, Some(&world.account(&acme, "bob").await), Page::first(9))
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

#[tokio::test]
async fn the_last_administrator_cannot_be_removed() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    world.organization("other").await;
    add(&world, &acme, "bob", "author").await.unwrap();
    let demoted = world.store.access().set_user_role(&acme, &user("ann"), role("author")).await.unwrap_err();
    assert_eq!((demoted.kind(), demoted.code()), (ErrorKind::Conflict, "last_administrator"));
    let removed = world.store.access().remove_user(&acme, &user("ann")).await.unwrap_err();
    assert_eq!(removed.code(), "last_administrator");
    assert_eq!(world.store.access().get_user(&acme, &user("ann")).await.unwrap().unwrap().role, role("admin"));
    world.store.access().set_user_role(&acme, &user("bob"), role("admin")).await.unwrap();
    let without_a_key = world.store.access().remove_user(&acme, &user("ann")).await.unwrap_err();
    assert_eq!(without_a_key.code(), "last_administrator");
    world.token_of(&acme, "bob").await;
    world.store.access().remove_user(&acme, &user("ann")).await.unwrap();
    assert_eq!(world.store.access().remove_user(&acme, &user("bob")).await.unwrap_err().code(), "last_administrator");
    let key = world.store.access().list_api_keys(&acme, None, Page::first(1)).await.unwrap().items.remove(0);
    let revoked = world.store.access().revoke_api_key(&acme, None, &key.id).await.unwrap_err();
    assert_eq!(revoked.code(), "last_administrator");
    let next = world.store.access().create_api_key(&acme, world.new_key(&acme, "bob").await).await;
    next.unwrap();
    world.store.access().revoke_api_key(&acme, None, &key.id).await.unwrap();
}

#[tokio::test]
async fn users_of_other_organizations_are_not_found() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    let other = world.organization("other").await.organization;
    add(&world, &acme, "bob", "author").await.unwrap();
    let store = &world.store;
    let kinds = [
        store.access().set_user_role(&other, &user("bob"), role("admin")).await.unwrap_err().kind(),
        store.access().remove_user(&other, &user("bob")).await.unwrap_err().kind(),
    ];
    assert_eq!(kinds, [ErrorKind::NotFound; 2]);
    assert_eq!(store.access().get_user(&acme, &user("bob")).await.unwrap().unwrap().role, role("author"));
}
