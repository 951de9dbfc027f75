//! A server beside others on the same database.

use std::time::{Duration, Instant};

use registry::{Nodes, Store};
use runner::Invoker;
use tokio::time::{MissedTickBehavior, interval};

/// Tells the other servers that this one is there, closes what servers that are gone left open, and cancels its runs that users
/// cancel at other servers.
pub async fn keep(store: Store, invoker: Invoker) {
    let nodes = store.nodes();
    let mut beats = interval(Nodes::HEARTBEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heartbeats = Heartbeats::default();
    loop {
        tokio::select! {
            _ = beats.tick() => heartbeats.beat(&nodes).await,
            () = store.cancellation_requested() => {}
        }
        cancel(&store, &invoker).await;
    }
}

async fn cancel(store: &Store, invoker: &Invoker) {
    match store.operations().requested_cancellations().await {
        Ok(requests) => requests.iter().for_each(|request| invoker.cancel_requested(request)),
        Err(error) => tracing::debug!(%error, "cannot look for runs to cancel"),
    }
}

/// The heartbeats of this server.
#[derive(Default)]
struct Heartbeats {
    /// When the series of heartbeats without a failure or a pause began, and its last one.
    series: Option<(Instant, Instant)>,
}

impl Heartbeats {
    async fn beat(&mut self, nodes: &Nodes) {
        let beaten = nodes.heartbeat().await;
        if let Err(error) = &beaten {
            tracing::warn!(%error, "other servers cannot see this one: the database took no heartbeat");
        }
        if let Err(error) = nodes.count().await {
            tracing::debug!(%error, "the servers of the database cannot be counted");
        }
        if self.may_judge(beaten.is_ok()) {
            close_orphans(nodes).await;
        }
    }

    /// Whether this server has been there for so long that it would have seen the heartbeats of the others. After a failure of
    /// the database, all servers have missed heartbeats.
    #[expect(clippy::disallowed_methods, reason = "a duration, independent of the wall clock")]
    fn may_judge(&mut self, has_beaten: bool) -> bool {
        let now = Instant::now();
        let goes_on = |last: &Instant| now.duration_since(*last) < Nodes::HEARTBEAT + Duration::from_secs(2);
        let began = self.series.filter(|(_, last)| goes_on(last)).map_or(now, |(began, _)| began);
        self.series = has_beaten.then_some((began, now));
        has_beaten && now.duration_since(began) >= Nodes::GONE_AFTER
    }
}

/// Closes what servers that are gone left open.
pub async fn close_orphans(nodes: &Nodes) {
    match nodes.close_orphans().await {
        Ok(0) => {}
        Ok(closed) => {
            tracing::warn!(closed, "some runs did not finish, because their server is gone; their records are closed")
        }
        Err(error) => tracing::error!(%error, "cannot close what servers that are gone left open"),
    }
}
