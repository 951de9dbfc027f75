//! What a strike ends: a server, both, or the database.

use std::time::Duration;

use super::nodes::{notices, recover};
use super::proxy::Proxy;
use super::run::Killer;
use crate::harness::Cluster;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strike {
    Node(usize),
    BothNodes,
    /// The database crashes, and recovers at its start.
    Crash,
    /// The database ends its sessions and shuts down, as the old server of a failover does, and is away for a while.
    Failover,
    /// The connection ends after a commit, before its answer.
    LostCommits,
}

/// The strikes of a round.
pub const STRIKES: [Strike; 8] = [
    Strike::Node(0),
    Strike::Node(1),
    Strike::Node(0),
    Strike::Node(1),
    Strike::BothNodes,
    Strike::Crash,
    Strike::Failover,
    Strike::LostCommits,
];

/// Time without a database.
const AWAY: Duration = Duration::from_secs(3);
/// Commits that are lost one after the other: the start of runs, their end, and other writes.
const LOST_COMMITS: usize = 6;
/// Time in which the commits are lost.
const LOSING: Duration = Duration::from_secs(2);

impl Strike {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Node(0) => "the first server",
            Self::Node(_) => "the second server",
            Self::BothNodes => "both servers",
            Self::Crash => "a crash of Postgres",
            Self::Failover => "Postgres away for 3 s",
            Self::LostCommits => "lost answers of commits",
        }
    }

    /// Returns when what is alive works.
    pub fn hit(self, killer: &Killer<'_>, cluster: &mut Cluster, proxy: &Proxy) {
        match self {
            Self::Node(node) => killer.kill(node),
            Self::BothNodes => (0..killer.servers.len()).for_each(|node| killer.kill(node)),
            Self::Crash => killer.without_database(|| cluster.crash()),
            Self::Failover => killer.without_database(|| {
                std::thread::scope(|scope| {
                    scope.spawn(|| cluster.restart("-INT", AWAY));
                    killer.servers.iter().for_each(|server| notices(server));
                });
            }),
            Self::LostCommits => killer.without_database(|| {
                proxy.lose_commits(LOST_COMMITS);
                std::thread::sleep(LOSING);
                proxy.lose_commits(0);
            }),
        }
    }
}

impl Killer<'_> {
    /// Calls may be refused until all servers have the database again.
    fn without_database(&self, meanwhile: impl FnOnce()) {
        self.stage.set_away(true);
        meanwhile();
        recover(self);
        self.stage.set_away(false);
    }
}
