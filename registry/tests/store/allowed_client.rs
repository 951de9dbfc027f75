//! A client whose access a user allows.

use registry::{AgentId, AuthorizationTerms, IssuedKey, OrganizationId, PkceChallenge, Principal};

use crate::fixtures::World;

pub const CLIENT: &str = "https://app.example.com/client.json";
pub const RESOURCE: &str = "https://tools.example.com/v1/acme/mcp/team";
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/// Creates a key of a user, who allows the access of a client with it. Returns the code, too.
pub async fn allow(world: &World, organization: &OrganizationId, user: &str) -> (IssuedKey, Principal, String) {
    let new = world.new_key(organization, user).await;
    let key = world.store.access().create_api_key(organization, new).await.unwrap();
    let principal = world.store.access().authenticate_key(key.api_key.expose()).await.unwrap().unwrap();
    let code = world
        .store
        .access()
        .authorize_client(&principal, &agent(), terms())
        .await
        .unwrap()
        .unwrap()
        .expose()
        .to_owned();
    (key, principal, code)
}

/// The agent at which clients act.
pub fn agent() -> AgentId {
    AgentId::parse("6ab13d50a3c20f6f6e5d4c3b").unwrap()
}

pub fn terms() -> AuthorizationTerms {
    AuthorizationTerms {
        client_id: CLIENT.into(),
        redirect_uri: Some("https://app.example.com/cb".into()),
        resource: RESOURCE.into(),
        challenge: PkceChallenge::of_verifier(VERIFIER).unwrap(),
    }
}
