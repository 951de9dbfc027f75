//! A server with a closed database, as for a moment during a shutdown: every operation answers 503 with `retry-after`.

#[path = "../../api/tests/it/parts.rs"]
mod parts;

use std::time::Duration;

use api::{App, Server};
use registry::{NewOrganization, OrganizationId, SignIn, SignedIn, Store, UserId};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::refusals::all_are;
use crate::harness::Request;

pub fn on_a_closed_store() {
    let runtime = Runtime::new().expect("a runtime");
    let directory = TempDir::new().expect("a directory");
    let (stop, stopped) = oneshot::channel::<Duration>();
    let (url, token, served) = runtime.block_on(async {
        let parts = parts::build_parts(directory.path(), api::Config::default(), registry::Clock::system()).await;
        let store = parts.agents.store().registry().clone();
        let token = signed_in(&store).await;
        store.close().await;
        let server = Server::bind("127.0.0.1:0".parse().expect("an address")).await.expect("a port");
        let url = format!("http://{}", server.local_address());
        let served = api::serve(server, App::new(parts), async { stopped.await.unwrap_or_default() });
        (url, token, tokio::spawn(served))
    });
    all_are(503, |method, path| Request::to(&url, method, &format!("/v1/acme{path}")).bearer(&token));
    stop.send(Duration::ZERO).expect("the server runs");
    runtime.block_on(served).expect("it ends").expect("in order");
}

/// A token that is not in the server's cache, so that the server has to look it up.
async fn signed_in(store: &Store) -> String {
    let (organization, user) = (OrganizationId::parse("acme").expect("an id"), "ada");
    let new = NewOrganization { organization: organization.clone(), user: UserId::parse(user).expect("an id") };
    let key = store.access().create_organization(new).await.expect("an organisation");
    let sign_in =
        SignIn { organization: &organization, api_key_id: &key.api_key_id, api_key: key.api_key.expose(), user };
    match store.access().sign_in(sign_in).await.expect("an answer") {
        SignedIn::Issued(token) => token.id_token.expose().to_owned(),
        SignedIn::Refused(refused) => panic!("{refused}"),
    }
}
