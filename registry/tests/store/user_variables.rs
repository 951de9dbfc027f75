//! The variables of users: sealed, replaced, bounded, and gone with their user.

use registry::{
    AccountId, Error, NewUser, NewUserVariable, Principal, RoleName, SecretValue, UserVariableName, UserVariables,
};

use crate::fixtures::{World, holds};

fn named(name: &str) -> UserVariableName {
    UserVariableName::parse(name).unwrap()
}

impl World {
    async fn set(&self, user: &Principal, name: &str, value: &str, is_sensitive: bool) -> registry::Result<()> {
        let new = NewUserVariable { name: named(name), value: SecretValue::new(value.into()), is_sensitive };
        self.store.access().set_user_variable(user, &user.account, new).await
    }

    async fn opened(&self, user: &Principal) -> (Vec<(String, String)>, Vec<(String, String)>) {
        let UserVariables { nonsensitive, sensitive } =
            self.store.access().user_variables(&user.organization, &user.account).await.unwrap();
        let plain = nonsensitive.into_iter().map(|(name, value)| (name.into(), value));
        let secret = sensitive.into_iter().map(|(name, value)| (name.into(), value.expose().to_owned()));
        (plain.collect(), secret.collect())
    }
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.into(), value.into())
}

#[tokio::test]
async fn a_variable_is_replaced_and_removed() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    assert_eq!(world.opened(&acme).await, (Vec::new(), Vec::new()));
    world.set(&acme, "customer", "1", false).await.unwrap();
    world.set(&acme, "pin", "1234", true).await.unwrap();
    assert_eq!(world.opened(&acme).await, (vec![pair("customer", "1")], vec![pair("pin", "1234")]));
    world.set(&acme, "customer", "2", true).await.unwrap();
    assert_eq!(world.opened(&acme).await, (Vec::new(), vec![pair("customer", "2"), pair("pin", "1234")]));
    world.store.access().remove_user_variable(&acme.organization, &acme.account, &named("pin")).await.unwrap();
    assert_eq!(world.opened(&acme).await, (Vec::new(), vec![pair("customer", "2")]));
    let again = world.store.access().remove_user_variable(&acme.organization, &acme.account, &named("pin")).await;
    assert!(matches!(again, Err(Error::NotFound { what: "variable" })), "{again:?}");
}

#[tokio::test]
async fn the_values_of_sensitive_variables_are_not_shown() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    world.set(&acme, "pin", "1234", true).await.unwrap();
    world.set(&acme, "customer", "8812", false).await.unwrap();
    let shown = world.store.access().list_user_variables(&acme.organization, &acme.account).await.unwrap();
    let shown: Vec<_> = shown.iter().map(|shown| (shown.name.as_str(), shown.value.as_deref())).collect();
    assert_eq!(shown, [("customer", Some("8812")), ("pin", None)]);
}

#[tokio::test]
async fn values_are_sealed() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    world.set(&acme, "pin", "unmistakable-secret", true).await.unwrap();
    world.set(&acme, "customer", "unmistakable-plain", false).await.unwrap();
    assert!(!holds(&world.stored_bytes().await, b"unmistakable"));
}

#[tokio::test]
async fn a_user_has_twenty_variables_of_each_kind() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    for number in 0..20 {
        world.set(&acme, &format!("plain_{number}"), "x", false).await.unwrap();
        world.set(&acme, &format!("secret_{number}"), "x", true).await.unwrap();
    }
    for (name, is_sensitive) in [("one_more", false), ("one_more", true), ("plain_0", true)] {
        let refused = world.set(&acme, name, "x", is_sensitive).await;
        assert!(matches!(refused, Err(Error::TooMany { .. })), "{name}: {refused:?}");
    }
    world.set(&acme, "plain_0", "y", false).await.unwrap();
    let long = world.set(&acme, "plain_0", &"x".repeat(8 * 1024 + 1), false).await;
    assert!(matches!(long, Err(Error::Invalid(_))), "{long:?}");
}

#[tokio::test]
async fn variables_belong_to_a_user_of_an_organization() {
    let world = World::new().await;
    let (acme, other) = (world.organization("acme").await, world.organization("other").await);
    let bob = Principal { account: AccountId::parse("bob#2").unwrap(), ..acme.clone() };
    let missing = world.set(&bob, "pin", "1", true).await;
    assert!(matches!(missing, Err(Error::NotFound { what: "user" })), "{missing:?}");
    let new = || NewUser { id: bob.user(), role: RoleName::parse("author").unwrap() };
    world.store.access().create_user(&acme.organization, new()).await.unwrap();
    world.set(&bob, "pin", "1", true).await.unwrap();
    assert_eq!(world.opened(&acme).await.1, []);
    assert_eq!(world.opened(&Principal { account: bob.account.clone(), ..other }).await.1, []);
    world.store.access().remove_user(&acme.organization, &bob.user()).await.unwrap();
    world.store.access().create_user(&acme.organization, new()).await.unwrap();
    assert_eq!(world.opened(&bob).await.1, [], "the values are gone");
    assert!(matches!(world.set(&bob, "pin", "1", true).await, Err(Error::NotFound { what: "user" })));
    let bob = Principal { account: world.account(&acme.organization, "bob").await, ..acme };
    assert_eq!(world.opened(&bob).await.1, [], "a new user has nothing of the former one");
}
