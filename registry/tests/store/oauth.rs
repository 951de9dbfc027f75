//! Authorisations of OAuth clients: codes, tokens, their renewal and their end.

use std::time::Duration;

use registry::{
    AuthorizationTerms, IssuedAccess, IssuedKey, NewUser, PkceChallenge, Principal, Refresh, RoleName, UserId,
};

use crate::allowed_client::{CLIENT, RESOURCE, agent, allow, terms};
use crate::fixtures::World;

/// A user who has allowed the access of a client.
struct Allowed {
    world: World,
    key: IssuedKey,
    principal: Principal,
    code: String,
}

impl Allowed {
    async fn new() -> Self {
        let world = World::new().await;
        let organization = world.organization("acme").await.organization;
        let role = RoleName::parse("invoker").unwrap();
        world.store.access().create_user(&organization, NewUser { id: user(), role }).await.unwrap();
        let (key, principal, code) = allow(&world, &organization, "bob").await;
        Self { world, key, principal, code }
    }

    async fn exchange(&self) -> Option<IssuedAccess> {
        self.world.store.access().exchange_code(&self.code, terms()).await.unwrap()
    }

    async fn refresh(&self, issued: &IssuedAccess) -> Option<IssuedAccess> {
        let refresh_token = issued.refresh_token.expose();
        let refresh = Refresh { refresh_token, client_id: CLIENT, resource: Some(RESOURCE.to_owned()) };
        self.world.store.access().refresh_access(refresh).await.unwrap()
    }

    async fn is_accepted(&self, issued: &IssuedAccess) -> bool {
        self.user_of(issued, RESOURCE).await.is_some()
    }

    async fn user_of(&self, issued: &IssuedAccess, resource: &str) -> Option<Principal> {
        self.world.store.access().authenticate_access(issued.access_token.expose(), resource).await.unwrap()
    }
}

fn user() -> UserId {
    UserId::parse("bob").unwrap()
}

#[tokio::test]
async fn a_token_is_its_users_and_for_its_resource_until_it_expires() {
    let allowed = Allowed::new().await;
    let issued = allowed.exchange().await.unwrap();
    let found = allowed.user_of(&issued, RESOURCE).await.unwrap();
    assert_eq!((found.account.user_str(), &found.grants), ("bob", &allowed.principal.grants));
    assert!(allowed.user_of(&issued, "https://tools.example.com/v1/acme/mcp/other").await.is_none());
    allowed.world.clock.advance(Duration::from_mins(59));
    assert!(allowed.is_accepted(&issued).await);
    allowed.world.clock.advance(Duration::from_mins(1));
    assert!(!allowed.is_accepted(&issued).await, "an hour later");
}

#[tokio::test]
async fn a_code_is_exchanged_on_its_terms_only() {
    let allowed = Allowed::new().await;
    let other = PkceChallenge::of_verifier(&"a".repeat(43)).unwrap();
    for (what, terms) in [
        ("client", AuthorizationTerms { client_id: "https://evil.example/c".into(), ..terms() }),
        ("redirect URI", AuthorizationTerms { redirect_uri: Some("https://evil.example/cb".into()), ..terms() }),
        ("resource", AuthorizationTerms { resource: "https://tools.example.com/v1/acme/mcp/x".into(), ..terms() }),
        ("challenge", AuthorizationTerms { challenge: other, ..terms() }),
    ] {
        assert!(allowed.world.store.access().exchange_code(&allowed.code, terms).await.unwrap().is_none(), "{what}");
    }
    assert!(allowed.world.store.access().exchange_code("lac_x_y", terms()).await.unwrap().is_none());
    let without = AuthorizationTerms { redirect_uri: None, ..terms() };
    assert!(
        allowed.world.store.access().exchange_code(&allowed.code, without).await.unwrap().is_some(),
        "RFC 6749 requires it no more"
    );
}

#[tokio::test]
async fn a_code_lasts_for_a_minute() {
    let allowed = Allowed::new().await;
    allowed.world.clock.advance(Duration::from_mins(1));
    assert!(allowed.exchange().await.is_none());
}

#[tokio::test]
async fn the_second_use_of_a_code_ends_the_tokens_of_the_first() {
    let allowed = Allowed::new().await;
    let issued = allowed.exchange().await.unwrap();
    assert!(allowed.is_accepted(&issued).await);
    assert!(allowed.exchange().await.is_none());
    assert!(!allowed.is_accepted(&issued).await);
    assert!(allowed.refresh(&issued).await.is_none());
}

#[tokio::test]
async fn two_uses_at_the_same_time_are_one_at_most() {
    let allowed = Allowed::new().await;
    let (one, other) = tokio::join!(allowed.exchange(), allowed.exchange());
    assert!(one.is_none() || other.is_none());
}

#[tokio::test]
async fn a_refresh_token_is_used_once_and_lasts_for_thirty_days() {
    let allowed = Allowed::new().await;
    let first = allowed.exchange().await.unwrap();
    let second = allowed.refresh(&first).await.unwrap();
    assert!(allowed.is_accepted(&second).await && allowed.is_accepted(&first).await);
    let foreign = Refresh { refresh_token: second.refresh_token.expose(), client_id: "other", resource: None };
    assert!(allowed.world.store.access().refresh_access(foreign).await.unwrap().is_none());
    allowed.world.clock.advance(Duration::from_secs(10));
    assert!(allowed.refresh(&first).await.is_none(), "used");
    assert!(!allowed.is_accepted(&second).await, "the reuse ends all tokens");
    assert!(allowed.refresh(&second).await.is_none());

    let allowed = Allowed::new().await;
    let issued = allowed.exchange().await.unwrap();
    allowed.world.clock.advance(Duration::from_hours(30 * 24));
    assert!(allowed.refresh(&issued).await.is_none(), "thirty days later");
}

#[tokio::test]
async fn a_client_may_use_a_refresh_token_again_for_ten_seconds() {
    let allowed = Allowed::new().await;
    let first = allowed.exchange().await.unwrap();
    let (one, other) = tokio::join!(allowed.refresh(&first), allowed.refresh(&first));
    let (one, other) = (one.expect("the first use"), other.expect("one at the same time"));
    allowed.world.clock.advance(Duration::from_millis(9_999));
    let lost = allowed.refresh(&first).await.expect("a lost answer");
    for issued in [&one, &other, &lost] {
        assert!(allowed.is_accepted(issued).await && allowed.refresh(issued).await.is_some());
    }
    let foreign = Refresh { refresh_token: first.refresh_token.expose(), client_id: "other", resource: None };
    assert!(allowed.world.store.access().refresh_access(foreign).await.unwrap().is_none());
    assert!(!allowed.is_accepted(&lost).await, "another client that knows a used token ends the authorisation");

    let allowed = Allowed::new().await;
    let first = allowed.exchange().await.unwrap();
    let second = allowed.refresh(&first).await.unwrap();
    allowed.world.clock.advance(Duration::from_secs(10));
    assert!(allowed.refresh(&first).await.is_none(), "ten seconds later");
    assert!(!allowed.is_accepted(&second).await);
}

#[tokio::test]
async fn a_client_revokes_its_own_tokens() {
    let allowed = Allowed::new().await;
    let issued = allowed.exchange().await.unwrap();
    let revoke =
        async |token: &str, client: &str| allowed.world.store.access().revoke_access(token, client).await.unwrap();
    revoke(issued.access_token.expose(), "other").await;
    revoke(issued.refresh_token.expose(), "other").await;
    assert!(allowed.is_accepted(&issued).await);
    revoke(issued.access_token.expose(), CLIENT).await;
    assert!(!allowed.is_accepted(&issued).await);
    let next = allowed.refresh(&issued).await.unwrap();
    revoke(next.refresh_token.expose(), CLIENT).await;
    assert!(!allowed.is_accepted(&next).await && allowed.refresh(&next).await.is_none());
    revoke("lat_x_y", CLIENT).await;
}

#[tokio::test]
async fn tokens_end_with_their_user_and_with_the_key() {
    let allowed = Allowed::new().await;
    let issued = allowed.exchange().await.unwrap();
    assert!(allowed.is_accepted(&issued).await);
    allowed.world.store.access().remove_user(&allowed.principal.organization, &user()).await.unwrap();
    assert!(!allowed.is_accepted(&issued).await && allowed.refresh(&issued).await.is_none());

    let allowed = Allowed::new().await;
    let issued = allowed.exchange().await.unwrap();
    let key = allowed.key.api_key_id.parse().unwrap();
    assert!(allowed.is_accepted(&issued).await);
    allowed.world.store.access().revoke_api_key(&allowed.principal.organization, None, &key).await.unwrap();
    assert!(!allowed.is_accepted(&issued).await && allowed.refresh(&issued).await.is_none());

    let allowed = Allowed::new().await;
    let key = allowed.key.api_key_id.parse().unwrap();
    allowed.world.store.access().revoke_api_key(&allowed.principal.organization, None, &key).await.unwrap();
    assert!(allowed.exchange().await.is_none(), "the key was revoked before the exchange");
}

#[tokio::test]
async fn a_changed_role_holds_for_tokens() {
    let allowed = Allowed::new().await;
    let issued = allowed.exchange().await.unwrap();
    let before = allowed.user_of(&issued, RESOURCE).await.unwrap().grants;
    let role = RoleName::parse("auditor").unwrap();
    allowed.world.store.access().set_user_role(&allowed.principal.organization, &user(), role).await.unwrap();
    assert_ne!(allowed.user_of(&issued, RESOURCE).await.unwrap().grants, before);
}

#[tokio::test]
async fn expired_authorisations_are_deleted() {
    // The clock of the tests is earlier than that of the database, by which rows expire.
    let allowed = Allowed::new().await;
    let _unused = allowed.world.store.access().authorize_client(&allowed.principal, &agent(), terms()).await.unwrap();
    let issued = allowed.exchange().await.unwrap();
    let deleted = allowed.world.store.access().delete_expired_authorizations().await.unwrap();
    assert!(deleted >= 1, "{deleted}");
    drop(issued);
}

/// Registers clients, each a millisecond after the last one.
struct Registrations {
    world: World,
}

impl Registrations {
    async fn register(&self, address: &str) -> String {
        self.world.clock.advance(Duration::from_millis(1));
        let uris = vec!["http://127.0.0.1/cb".to_owned()];
        let registered = self.world.store.access().register_client("Editor".to_owned(), uris, address.to_owned()).await;
        registered.unwrap().client_id
    }

    async fn register_many(&self, address: &str, count: usize) -> Vec<String> {
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(self.register(address).await);
        }
        clients
    }

    /// Registers clients that a user authorises.
    async fn register_used(&self, principal: &Principal, count: usize) -> Vec<String> {
        let clients = self.register_many("192.0.2.200", count).await;
        for client in &clients {
            self.world.clock.advance(Duration::from_millis(1));
            self.world.store.access().note_client_use(principal, client).await.unwrap();
        }
        clients
    }

    async fn are_known(&self, clients: &[String]) -> Vec<bool> {
        let mut known = Vec::new();
        for client in clients {
            known.push(self.world.store.access().registered_client(client).await.unwrap().is_some());
        }
        known
    }

    /// Another user of an organisation.
    async fn user(&self, of: &Principal, name: &str) -> Principal {
        let (id, role) = (UserId::parse(name).unwrap(), RoleName::parse("invoker").unwrap());
        self.world.store.access().create_user(&of.organization, NewUser { id, role }).await.unwrap();
        Principal { account: self.world.account(&of.organization, name).await, ..of.clone() }
    }
}

#[tokio::test]
async fn an_address_replaces_its_own_registrations() {
    let registrations = Registrations { world: World::new().await };
    let other = registrations.register("192.0.2.1").await;
    let clients = registrations.register_many("192.0.2.2", 101).await;
    let known = registrations.are_known(&clients).await;
    assert_eq!((known[0], known[1..].iter().all(|known| *known)), (false, true));
    assert_eq!(registrations.are_known(&[other]).await, [true]);
}

#[tokio::test]
async fn the_address_with_most_registrations_makes_room_for_others() {
    let registrations = Registrations { world: World::new().await };
    let lonely = registrations.register("192.0.2.1").await;
    let mut crowds = Vec::new();
    for number in 2..12 {
        crowds.push(registrations.register_many(&format!("192.0.2.{number}"), 100).await);
    }
    let new = registrations.register("192.0.2.100").await;
    assert_eq!(registrations.are_known(&[lonely, new]).await, [true, true]);
    let mut known = 0;
    for crowd in &crowds {
        known += registrations.are_known(crowd).await.iter().filter(|known| **known).count();
    }
    assert_eq!(known, 998);
}

#[tokio::test]
async fn clients_of_an_organization_are_no_burden_of_others() {
    let registrations = Registrations { world: World::new().await };
    let ann = registrations.world.organization("acme").await;
    let other = registrations.world.organization("other").await;
    let kept = registrations.register_used(&other, 1).await;
    let of_ann = registrations.register_used(&ann, 21).await;
    let known = registrations.are_known(&of_ann).await;
    assert_eq!((known[0], known[1..].iter().all(|known| *known)), (false, true), "a user has twenty");
    // The oldest client is replaced, and one that is used again is not the oldest.
    registrations.world.clock.advance(Duration::from_millis(1));
    registrations.world.store.access().note_client_use(&ann, &of_ann[1]).await.unwrap();
    registrations.register_used(&ann, 1).await;
    assert_eq!(registrations.are_known(&of_ann[1..4]).await, [true, false, true]);

    let bob = registrations.user(&ann, "bob").await;
    let of_bob = registrations.register_used(&bob, 5).await;
    for name in ["cem", "dan", "eve", "fay"] {
        let user = registrations.user(&ann, name).await;
        registrations.register_used(&user, 20).await;
    }
    assert!(registrations.are_known(&of_bob).await.iter().all(|known| *known), "one of a user with more is replaced");
    assert_eq!(registrations.are_known(&kept).await, [true], "the client of another organisation");
}

#[tokio::test]
async fn a_client_of_two_organizations_is_kept_for_each() {
    let registrations = Registrations { world: World::new().await };
    let ann = registrations.world.organization("acme").await;
    let other = registrations.world.organization("other").await;
    let shared = registrations.register_used(&other, 1).await;
    registrations.world.store.access().note_client_use(&ann, &shared[0]).await.unwrap();
    registrations.register_used(&ann, 21).await;
    assert_eq!(registrations.are_known(&shared).await, [true], "the other organisation uses it");
    registrations.world.store.access().note_client_use(&ann, "lcl_unknown").await.unwrap();
}
