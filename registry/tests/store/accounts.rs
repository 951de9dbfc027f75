//! Organisations, keys and tokens.

use std::time::Duration;

use registry::{
    ErrorKind, IssuedKey, NewOrganization, OrganizationId, Permission, SignIn, SignInRefused, SignedIn, UserId,
};

use crate::fixtures::{World, holds};

async fn acme(world: &World) -> IssuedKey {
    let organization = OrganizationId::parse("acme").unwrap();
    let user = UserId::parse("ann").unwrap();
    world.store.access().create_organization(NewOrganization { organization, user }).await.unwrap()
}

async fn sign_in(world: &World, organization: &str, key: &IssuedKey, api_key: &str, user: &str) -> SignedIn {
    let organization = &OrganizationId::parse(organization).unwrap();
    let sign_in = SignIn { organization, api_key_id: &key.api_key_id, api_key, user };
    world.store.access().sign_in(sign_in).await.unwrap()
}

async fn token(world: &World, key: &IssuedKey) -> String {
    match sign_in(world, "acme", key, key.api_key.expose(), "ann").await {
        SignedIn::Issued(token) => token.id_token.expose().to_owned(),
        SignedIn::Refused(reason) => panic!("{reason}"),
    }
}

#[tokio::test]
async fn the_first_user_is_an_administrator() {
    let world = World::new().await;
    let key = acme(&world).await;
    let token = token(&world, &key).await;
    let principal = world.store.access().authenticate(&token).await.unwrap().unwrap();
    assert_eq!(principal.account.user_str(), "ann");
    assert!(Permission::ALL.iter().all(|permission| principal.may(*permission)));
}

#[tokio::test]
async fn an_organization_is_created_once() {
    let world = World::new().await;
    let key = acme(&world).await;
    let again = NewOrganization { organization: key.organization, user: key.user };
    let error = world.store.access().create_organization(again).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, "already_exists"));
}

#[tokio::test]
async fn organizations_are_listed_by_name() {
    let world = World::new().await;
    assert!(world.store.access().list_organizations().await.unwrap().is_empty());
    let zeta = world.organization("zeta").await;
    world.tool(&zeta, "lookup").await;
    acme(&world).await;
    let listed = world.store.access().list_organizations().await.unwrap();
    let listed: Vec<_> = listed.iter().map(|found| (found.id.as_str(), found.users, found.tools)).collect();
    assert_eq!(listed, [("acme", 1, 0), ("zeta", 1, 1)]);
}

#[tokio::test]
async fn all_wrong_credentials_get_the_same_refusal() {
    let world = World::new().await;
    let key = acme(&world).await;
    let other = IssuedKey { api_key_id: "unknown".to_owned(), ..key.clone() };
    let right = key.api_key.expose();
    let last = if right.ends_with('0') { "1" } else { "0" };
    let mistyped = format!("{}{last}", &right[..right.len() - 1]);
    for (key, api_key, user) in [
        (&key, "lk_wrong", "ann"),
        (&key, &*mistyped, "ann"),
        (&key, right, "bob"),
        (&other, right, "ann"),
        (&key, "", "ann"),
    ] {
        let refused = sign_in(&world, "acme", key, api_key, user).await;
        assert!(matches!(refused, SignedIn::Refused(SignInRefused::BadCredentials)), "{api_key} {user}");
    }
    let refused = sign_in(&world, "nobody", &key, right, "ann").await;
    assert!(matches!(refused, SignedIn::Refused(SignInRefused::UnknownOrganization)));
}

#[tokio::test]
async fn a_token_names_its_user_and_expires() {
    let world = World::new().await;
    let key = acme(&world).await;
    world.organization("other").await;
    let token = token(&world, &key).await;
    // Once from the database and once from the cache.
    for _ in 0..2 {
        let principal = world.store.access().authenticate(&token).await.unwrap().unwrap();
        assert_eq!(principal.organization, key.organization);
    }
    for wrong in ["no such token", "", &"A".repeat(43), &token[..42], &format!("{token}A")] {
        assert!(world.store.access().authenticate(wrong).await.unwrap().is_none(), "{wrong}");
    }
    world.clock.advance(Duration::from_mins(11));
    assert!(world.store.access().authenticate(&token).await.unwrap().is_none());
}

#[tokio::test]
async fn neither_keys_nor_tokens_are_stored_in_plain_text() {
    let world = World::new().await;
    let key = acme(&world).await;
    let token = token(&world, &key).await;
    let bytes = world.stored_bytes().await;
    assert!(!holds(&bytes, key.api_key.expose().as_bytes()));
    assert!(!holds(&bytes, token.as_bytes()));
}
