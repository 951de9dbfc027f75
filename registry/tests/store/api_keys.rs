//! API keys: creation, lists, expiry, revocation, and their tokens.

use std::time::Duration;

use registry::{
    AccountId, ApiKeyId, ApiKeyName, ErrorKind, IssuedKey, NewApiKey, NewUser, OrganizationId, Page, RoleName, SignIn,
    SignedIn, StoreOptions, UserId,
};

use crate::fixtures::{World, holds};

/// The first user of an organisation.
fn ann() -> AccountId {
    AccountId::parse("ann#1").unwrap()
}

fn new(account: &AccountId) -> NewApiKey {
    NewApiKey { account: account.clone(), name: None, expires_at: None }
}

fn id(key: &IssuedKey) -> ApiKeyId {
    ApiKeyId::parse(&key.api_key_id).unwrap()
}

async fn token(world: &World, key: &IssuedKey) -> Option<String> {
    let (organization, user) = (&key.organization, key.user.as_str());
    let sign_in = SignIn { organization, api_key_id: &key.api_key_id, api_key: key.api_key.expose(), user };
    match world.store.access().sign_in(sign_in).await.unwrap() {
        SignedIn::Issued(token) => Some(token.id_token.expose().to_owned()),
        SignedIn::Refused(_) => None,
    }
}

async fn acme(world: &World) -> OrganizationId {
    world.organization("acme").await.organization
}

#[tokio::test]
async fn a_key_is_listed_without_its_secret() {
    let world = World::new().await;
    let acme = acme(&world).await;
    let name = ApiKeyName::parse("ci").unwrap();
    let end = world.clock.now().after(Duration::from_hours(48));
    let new = NewApiKey { account: ann(), name: Some(name.clone()), expires_at: Some(end) };
    world.clock.advance(Duration::from_mins(90));
    let key = world.store.access().create_api_key(&acme, new).await.unwrap();
    let list = async || world.store.access().list_api_keys(&acme, None, Page::first(9)).await.unwrap().items;
    let shown = list().await.remove(0);
    assert_eq!((shown.id.clone(), shown.name, shown.expires_at), (id(&key), Some(name), Some(end)));
    assert_eq!((shown.last_used_at, shown.revoked_at), (None, None));
    assert!(key.api_key.expose().starts_with(&shown.id.prefix()));
    token(&world, &key).await.unwrap();
    let used = list().await[0].last_used_at.unwrap().as_milliseconds();
    let age = world.clock.now().as_milliseconds() - used;
    assert!(used % 3_600_000 == 0 && (0..3_600_000).contains(&age), "used in this hour: {used}");
    assert!(!holds(&world.stored_bytes().await, key.api_key.expose().as_bytes()));
}

#[tokio::test]
async fn a_page_of_keys_begins_after_the_last_one() {
    let world = World::new().await;
    let acme = acme(&world).await;
    let mut keys = Vec::new();
    for _ in 0..3 {
        keys.push(id(&world.store.access().create_api_key(&acme, new(&ann())).await.unwrap()));
    }
    let first = world.store.access().list_api_keys(&acme, Some(&ann()), Page::first(2)).await.unwrap();
    world.store.access().create_api_key(&acme, new(&ann())).await.unwrap();
    let page = Page { limit: 9, token: first.next.unwrap() };
    let rest = world.store.access().list_api_keys(&acme, Some(&ann()), page).await.unwrap();
    let shown: Vec<_> = first.items.iter().chain(&rest.items).map(|key| key.id.clone()).collect();
    assert_eq!((shown.len(), &shown[..3]), (4, &keys.into_iter().rev().collect::<Vec<_>>()[..]));
    let other = world.organization("other").await.organization;
    assert!(world.store.access().list_api_keys(&other, None, page).await.is_err(), "a token is good for its list");
}

#[tokio::test]
async fn an_expired_key_is_refused_with_its_tokens() {
    let world = World::new().await;
    let acme = acme(&world).await;
    let end = world.clock.now().after(Duration::from_mins(3));
    let key =
        world.store.access().create_api_key(&acme, NewApiKey { expires_at: Some(end), ..new(&ann()) }).await.unwrap();
    let token_before = token(&world, &key).await.unwrap();
    world.clock.advance(Duration::from_mins(3) - Duration::from_millis(1));
    assert!(world.store.access().authenticate(&token_before).await.unwrap().is_some());
    assert!(token(&world, &key).await.is_some());
    world.clock.advance(Duration::from_millis(1));
    assert!(world.store.access().authenticate(&token_before).await.unwrap().is_none());
    assert!(token(&world, &key).await.is_none());
}

#[tokio::test]
async fn an_expiry_is_in_the_future_and_at_most_ten_years_ahead() {
    let world = World::new().await;
    let acme = acme(&world).await;
    let now = world.clock.now();
    for end in [now, registry::Timestamp::from_milliseconds(0), now.after(Duration::from_hours(24 * 366 * 11))] {
        let refused =
            world.store.access().create_api_key(&acme, NewApiKey { expires_at: Some(end), ..new(&ann()) }).await;
        assert_eq!(refused.unwrap_err().code(), "invalid_value", "{end}");
    }
}

#[tokio::test]
async fn a_revoked_key_and_its_tokens_end_immediately_also_for_other_processes() {
    let world = World::new().await;
    let acme = acme(&world).await;
    let key = world.store.access().create_api_key(&acme, new(&ann())).await.unwrap();
    let kept = world.store.access().create_api_key(&acme, new(&ann())).await.unwrap();
    let (ended, going_on) = (token(&world, &key).await.unwrap(), token(&world, &kept).await.unwrap());
    assert!(world.store.access().authenticate(&ended).await.unwrap().is_some());
    world.store.access().revoke_api_key(&acme, None, &id(&key)).await.unwrap();
    assert!(world.store.access().authenticate(&ended).await.unwrap().is_none());
    assert!(token(&world, &key).await.is_none());
    assert!(world.store.access().authenticate(&going_on).await.unwrap().is_some());
    // A second revocation changes nothing.
    let listed = async || world.store.access().list_api_keys(&acme, None, Page::first(9)).await.unwrap().items;
    let revoked_at = listed().await.iter().find(|shown| shown.id == id(&key)).unwrap().revoked_at;
    world.clock.advance(Duration::from_secs(5));
    world.store.access().revoke_api_key(&acme, None, &id(&key)).await.unwrap();
    assert_eq!(listed().await.iter().find(|shown| shown.id == id(&key)).unwrap().revoked_at, revoked_at);
}

#[tokio::test]
async fn a_key_itself_is_checked_like_its_tokens() {
    let world = World::new().await;
    let acme = acme(&world).await;
    let end = world.clock.now().after(Duration::from_mins(3));
    let (revoked, expiring) = (new(&ann()), NewApiKey { expires_at: Some(end), ..new(&ann()) });
    let revoked = world.store.access().create_api_key(&acme, revoked).await.unwrap();
    let expiring = world.store.access().create_api_key(&acme, expiring).await.unwrap();
    let check = async |key: &str| world.store.access().authenticate_key(key).await.unwrap();
    let principal = check(expiring.api_key.expose()).await.unwrap();
    let key = principal.key.unwrap();
    assert_eq!((principal.organization, principal.account, key.ends_at), (acme.clone(), ann(), Some(end)));
    assert_eq!(key.id.as_str(), expiring.api_key_id);
    let [wrong, unknown] =
        [id(&expiring), ApiKeyId::parse("aaaaaaaaaaaa").unwrap()].map(|id| id.make_key(&"a".repeat(43)));
    for wrong in [wrong.expose(), unknown.expose(), "", "lk__"] {
        assert!(check(wrong).await.is_none(), "{wrong}");
    }
    assert!(check(revoked.api_key.expose()).await.is_some());
    world.store.access().revoke_api_key(&acme, None, &id(&revoked)).await.unwrap();
    assert!(check(revoked.api_key.expose()).await.is_none());
    world.clock.advance(Duration::from_mins(3));
    assert!(check(expiring.api_key.expose()).await.is_none());
    let shown = world.store.access().list_api_keys(&acme, None, Page::first(9)).await.unwrap().items;
    assert!(shown[..2].iter().all(|key| key.last_used_at.is_some()), "{shown:?}");
}

#[tokio::test]
async fn another_process_sees_a_revocation() {
    let world = World::new().await;
    let acme = acme(&world).await;
    let key = world.store.access().create_api_key(&acme, new(&ann())).await.unwrap();
    let token = token(&world, &key).await.unwrap();
    let config = registry::Config::for_tests();
    let other = registry::Store::open(StoreOptions { config, ..world.options() }).await.unwrap();
    assert!(other.access().authenticate(&token).await.unwrap().is_some());
    world.store.access().revoke_api_key(&acme, None, &id(&key)).await.unwrap();
    // The cache of the other process expires after a second.
    while other.access().authenticate(&token).await.unwrap().is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn only_an_owner_or_an_administrator_revokes() {
    let world = World::new().await;
    let acme = acme(&world).await;
    let other = world.organization("other").await.organization;
    let bob = AccountId::parse("bob#2").unwrap();
    let key = world.store.access().create_api_key(&acme, new(&ann())).await.unwrap();
    for (organization, owner) in [(&acme, Some(&bob)), (&other, None), (&other, Some(&ann()))] {
        let refused = world.store.access().revoke_api_key(organization, owner, &id(&key)).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotFound);
    }
    assert!(token(&world, &key).await.is_some());
    world.store.access().revoke_api_key(&acme, Some(&ann()), &id(&key)).await.unwrap();
    assert!(token(&world, &key).await.is_none());
}

#[tokio::test]
async fn keys_are_only_for_existing_users() {
    let world = World::new().await;
    let acme = acme(&world).await;
    world.organization("other").await;
    let refused =
        world.store.access().create_api_key(&acme, new(&AccountId::parse("bob#2").unwrap())).await.unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Invalid, "user_unknown"));
}

#[tokio::test]
async fn keys_are_bounded_per_user_and_per_organization() {
    let world = World::new().await;
    let acme = acme(&world).await;
    // The organisation was created with one key.
    for _ in 1..50 {
        world.store.access().create_api_key(&acme, new(&ann())).await.unwrap();
    }
    let refused = world.store.access().create_api_key(&acme, new(&ann())).await.unwrap_err();
    assert_eq!(refused.to_string(), "at most 50 valid keys of a user");
    for name in ["bob", "cy"] {
        let user = NewUser { id: UserId::parse(name).unwrap(), role: RoleName::parse("invoker").unwrap() };
        world.store.access().create_user(&acme, user).await.unwrap();
    }
    for number in 50..120 {
        let user = world.account(&acme, if number < 90 { "bob" } else { "cy" }).await;
        world.store.access().create_api_key(&acme, new(&user)).await.unwrap();
    }
    let refused = world.store.access().create_api_key(&acme, new(&world.account(&acme, "cy").await)).await.unwrap_err();
    assert_eq!(refused.to_string(), "at most 120 valid keys of an organization");
}

#[tokio::test]
async fn the_tokens_of_a_key_are_bounded() {
    let mut world = World::new().await;
    let acme = acme(&world).await;
    let key = world.store.access().create_api_key(&acme, new(&ann())).await.unwrap();
    let first = token(&world, &key).await.unwrap();
    world.clock.advance(Duration::from_secs(1));
    let second = token(&world, &key).await.unwrap();
    for _ in 2..30 {
        token(&world, &key).await.unwrap();
    }
    assert!(world.store.access().authenticate(&first).await.unwrap().is_some());
    token(&world, &key).await.unwrap();
    world.restart().await;
    assert!(world.store.access().authenticate(&first).await.unwrap().is_none(), "the oldest makes room");
    assert!(world.store.access().authenticate(&second).await.unwrap().is_some());
}

#[tokio::test]
async fn invalid_keys_are_bounded() {
    let world = World::new().await;
    let acme = acme(&world).await;
    let bob = UserId::parse("bob").unwrap();
    let user = NewUser { id: bob, role: RoleName::parse("invoker").unwrap() };
    world.store.access().create_user(&acme, user).await.unwrap();
    let bob = world.account(&acme, "bob").await;
    let of_bob = world.store.access().create_api_key(&acme, new(&bob)).await.unwrap();
    world.store.access().revoke_api_key(&acme, None, &id(&of_bob)).await.unwrap();
    for _ in 0..205 {
        world.clock.advance(Duration::from_secs(1));
        let key = world.store.access().create_api_key(&acme, new(&ann())).await.unwrap();
        world.store.access().revoke_api_key(&acme, None, &id(&key)).await.unwrap();
    }
    let last = world.store.access().create_api_key(&acme, new(&ann())).await.unwrap();
    let listed = world.store.access().list_api_keys(&acme, None, Page::first(1000)).await.unwrap().items;
    let ended = listed.iter().filter(|key| key.revoked_at.is_some()).count();
    assert_eq!((ended, listed.len()), (201, 203), "all but the oldest, another's, the first key and the last");
    assert!(listed.iter().any(|key| key.id == id(&of_bob)), "nobody's keys push out another's");
    assert!(token(&world, &last).await.is_some());
}
