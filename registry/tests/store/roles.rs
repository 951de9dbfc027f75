//! Custom roles.

use registry::{ErrorKind, Grant, Grants, NewUser, Permission, RoleName, UserId};

use crate::fixtures::World;

fn role(name: &str) -> RoleName {
    RoleName::parse(name).unwrap()
}

fn grants(permissions: &[Permission]) -> Grants {
    Grants::new(permissions.iter().map(|permission| Grant::new(*permission, Vec::new()).unwrap()).collect()).unwrap()
}

fn user(id: &str) -> UserId {
    UserId::parse(id).unwrap()
}

#[tokio::test]
async fn roles_are_created_read_changed_and_deleted() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    let other = world.organization("other").await.organization;
    let store = &world.store;
    store.access().create_role(&acme, role("tester"), grants(&[Permission::TestTool])).await.unwrap();
    let names: Vec<String> =
        store.access().list_roles(&acme).await.unwrap().into_iter().map(|r| r.name.into()).collect();
    assert_eq!(names, ["admin", "author", "invoker", "auditor", "tester"]);
    assert_eq!(store.access().list_roles(&other).await.unwrap().len(), 4);
    store.access().modify_role(&acme, &role("tester"), grants(&[Permission::GetTool])).await.unwrap();
    let shown = store.access().get_role(&acme, &role("tester")).await.unwrap().unwrap();
    assert_eq!((shown.grants, shown.custom.is_some()), (grants(&[Permission::GetTool]), true));
    assert!(store.access().get_role(&other, &role("tester")).await.unwrap().is_none());
    for refused in [
        store.access().modify_role(&other, &role("tester"), grants(&[])).await,
        store.access().delete_role(&other, &role("tester")).await,
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::NotFound);
    }
    store.access().delete_role(&acme, &role("tester")).await.unwrap();
    assert!(store.access().get_role(&acme, &role("tester")).await.unwrap().is_none());
}

#[tokio::test]
async fn names_are_unique_and_built_in_roles_cannot_be_changed() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    let store = &world.store;
    store.access().create_role(&acme, role("tester"), Grants::default()).await.unwrap();
    for name in ["tester", "admin", "auditor"] {
        let taken = store.access().create_role(&acme, role(name), Grants::default()).await.unwrap_err();
        assert_eq!(taken.code(), "already_exists", "{name}");
    }
    let modified = store.access().modify_role(&acme, &role("invoker"), Grants::everything()).await.unwrap_err();
    let deleted = store.access().delete_role(&acme, &role("invoker")).await.unwrap_err();
    assert_eq!([modified.code(), deleted.code()], ["role_built_in"; 2]);
}

#[tokio::test]
async fn roles_are_bounded() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    for number in 0..60 {
        world.store.access().create_role(&acme, role(&format!("role{number}")), Grants::default()).await.unwrap();
    }
    let refused = world.store.access().create_role(&acme, role("more"), Grants::default()).await.unwrap_err();
    assert_eq!(refused.code(), "too_many");
    assert!(world.store.access().get_role(&acme, &role("more")).await.unwrap().is_none());
}

#[tokio::test]
async fn a_role_in_use_cannot_be_deleted() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    world.store.access().create_role(&acme, role("tester"), Grants::default()).await.unwrap();
    let bob = NewUser { id: user("bob"), role: role("tester") };
    world.store.access().create_user(&acme, bob).await.unwrap();
    let refused = world.store.access().delete_role(&acme, &role("tester")).await.unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, "role_in_use"));
    world.store.access().set_user_role(&acme, &user("bob"), role("invoker")).await.unwrap();
    world.store.access().delete_role(&acme, &role("tester")).await.unwrap();
}

#[tokio::test]
async fn users_have_the_grants_of_their_role() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    world.store.access().create_role(&acme, role("tester"), grants(&[Permission::TestTool])).await.unwrap();
    world.store.access().create_user(&acme, NewUser { id: user("bob"), role: role("tester") }).await.unwrap();
    let token = world.token_of(&acme, "bob").await;
    let may = async |permission| world.store.access().authenticate(&token).await.unwrap().unwrap().may(permission);
    assert!(may(Permission::TestTool).await && !may(Permission::GetTool).await);
    assert!(may(Permission::OwnAccount).await, "everybody has this");
    world.store.access().modify_role(&acme, &role("tester"), grants(&[Permission::GetTool])).await.unwrap();
    assert!(!may(Permission::TestTool).await && may(Permission::GetTool).await);
}

#[tokio::test]
async fn a_custom_role_can_administer_and_the_last_such_user_stays() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    let store = &world.store;
    store.access().create_role(&acme, role("chief"), grants(&[Permission::Administer])).await.unwrap();
    store.access().set_user_role(&acme, &user("ann"), role("chief")).await.unwrap();
    let refused = store.access().modify_role(&acme, &role("chief"), grants(&[Permission::GetTool])).await.unwrap_err();
    assert_eq!(refused.code(), "last_administrator");
    assert!(
        store.access().get_role(&acme, &role("chief")).await.unwrap().unwrap().grants.allow(Permission::Administer)
    );
    assert_eq!(store.access().remove_user(&acme, &user("ann")).await.unwrap_err().code(), "last_administrator");
}
