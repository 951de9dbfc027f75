//! The host of the database vanishes: writes and reads fail in time, and go on when it is back.

use std::time::Duration;

use registry::{Config, DatabaseLocation, ErrorKind, Principal, RunId, SecretValue};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::cluster::Cluster;
use crate::database::is_server;
use crate::fixtures::World;
use crate::relay::Relay;

/// Ends a test that would wait for ever. No test measures with it.
const PATIENCE: Duration = Duration::from_secs(300);

/// A store that reaches its database through a relay, and a run from before the outage.
struct Behind {
    relay: Relay,
    world: World,
    acme: Principal,
    before: RunId,
    _cluster: Cluster,
}

impl Behind {
    async fn start() -> Option<Self> {
        let cluster = Cluster::start()?;
        let url = cluster.url("postgres");
        let relay = Relay::before(&url);
        let world = world_behind(&relay, &url).await;
        let acme = world.organization("acme").await;
        let before = world.answered(&acme, "before").await;
        Some(Self { relay, world, acme, before, _cluster: cluster })
    }
}

async fn world_behind(relay: &Relay, url: &str) -> World {
    let database = DatabaseLocation::Url(SecretValue::new(relay.url(url)));
    let config = Config { list_time_max: Duration::from_secs(2), ..Config::for_tests() };
    World::in_database(TempDir::new().unwrap(), config, database).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_fail_in_time_and_go_on_over_another_path() {
    if is_server() {
        return;
    }
    let Some(Behind { relay, world, acme, before, _cluster }) = Behind::start().await else { return };

    relay.vanish();
    for attempt in ["over the connection from before", "without a connection"] {
        let written = timeout(PATIENCE, world.store.check_writable()).await.expect("an answer in time");
        assert_eq!(written.expect_err("nothing is written").kind(), ErrorKind::Unavailable, "{attempt}");
        let read = timeout(PATIENCE, world.store.history().get_invocation(&acme.organization, &before)).await;
        let refused = read.expect("an answer in time").expect_err("nothing is read");
        assert_eq!(refused.kind(), ErrorKind::Unavailable, "{attempt}");
    }

    relay.return_on_another_path();
    world.store.check_writable().await.expect("the first write succeeds");
    let after = world.answered(&acme, "after").await;
    for run in [before, after] {
        let found =
            world.store.history().get_invocation(&acme.organization, &run).await.expect("the first read succeeds");
        assert!(found.is_some());
    }
}

/// The connections from before are silent, and no call was made while the host was away.
#[tokio::test(flavor = "multi_thread")]
async fn no_call_fails_after_an_outage_without_calls() {
    if is_server() {
        return;
    }
    let Some(Behind { relay, world, acme, before, _cluster }) = Behind::start().await else { return };
    relay.vanish();
    relay.return_on_another_path();
    assert!(world.store.history().get_invocation(&acme.organization, &before).await.expect("a read").is_some());
    world.answered(&acme, "after").await;
}

/// Connections that were just given back, and whose answer does not come, are neither lost to their pool nor waited for at the
/// end. The test has one thread: the host vanishes before the pool can ask.
#[tokio::test]
async fn connections_given_back_to_a_host_that_is_gone_are_replaced() {
    if is_server() {
        return;
    }
    let Some(Behind { relay, world, acme, before, _cluster }) = Behind::start().await else { return };
    let used = 2 * Config::for_tests().reader_connections;
    for _ in 0..used {
        assert!(world.store.history().get_invocation(&acme.organization, &before).await.expect("a read").is_some());
        relay.vanish();
        relay.return_on_another_path();
    }
    let read = timeout(PATIENCE, world.store.history().get_invocation(&acme.organization, &before)).await;
    assert!(read.expect("an answer in time").expect("a read").is_some());
    assert!(world.store.history().get_invocation(&acme.organization, &before).await.expect("a read").is_some());
    relay.vanish();
    timeout(PATIENCE, world.store.close()).await.expect("the end of the store");
}

/// Notices of other servers arrive again, also without an end of the connection that received them.
#[tokio::test(flavor = "multi_thread")]
async fn notices_arrive_again_over_another_path() {
    if is_server() {
        return;
    }
    let Some(cluster) = Cluster::start() else { return };
    let url = cluster.url("postgres");
    let relay = Relay::before(&url);
    let world = world_behind(&relay, &url).await;
    timeout(PATIENCE, world.store.cancellation_requested()).await.expect("a connection");
    relay.vanish();
    relay.return_on_another_path();
    // Those of the loss and of the new connection: notices may have been missed.
    timeout(PATIENCE, async {
        for _ in 0..2 {
            world.store.cancellation_requested().await;
        }
    })
    .await
    .expect("notices");
}
