//! How much a server admits at once: flags, and the table `[limits]` of the settings file.

use std::num::NonZeroUsize;
use std::time::Duration;

use api::ConnectionLimits;
use clap::Args;
use runner::Bounds;
use serde::Deserialize;

#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Connections at once; each takes a file descriptor [default: 768]
    #[arg(long, env = "LATHE_CONNECTIONS", value_name = "COUNT")]
    pub connections: Option<NonZeroUsize>,
    /// Of these from one address; with a proxy in front, all of them come from its own [default: 512]
    #[arg(long, env = "LATHE_CONNECTIONS_PER_ADDRESS", value_name = "COUNT")]
    pub connections_per_address: Option<NonZeroUsize>,
    /// How long a connection may be idle between two requests; longer than in the proxy in front [default: 75]
    #[arg(long, env = "LATHE_KEEP_ALIVE_SECONDS", value_name = "SECONDS")]
    pub keep_alive_seconds: Option<u64>,
    /// Runs at once of one organisation [default: three quarters of all]
    #[arg(long, env = "LATHE_ORGANIZATION_PARALLEL_RUNS", value_name = "COUNT")]
    pub organization_parallel_runs: Option<NonZeroUsize>,
    /// Runs of one organisation that may wait for a place [default: three quarters of all]
    #[arg(long, env = "LATHE_ORGANIZATION_QUEUED_RUNS", value_name = "COUNT")]
    pub organization_queued_runs: Option<usize>,
    /// Builds at once; each may take a core and a gigabyte [default: 2]
    #[arg(long, env = "LATHE_PARALLEL_BUILDS", value_name = "COUNT")]
    pub parallel_builds: Option<NonZeroUsize>,
    /// Builds that may wait for a place before callers are told to come back [default: 16]
    #[arg(long, env = "LATHE_QUEUED_BUILDS", value_name = "COUNT")]
    pub queued_builds: Option<usize>,
    /// Builds at once of one organisation [default: three quarters of all]
    #[arg(long, env = "LATHE_ORGANIZATION_PARALLEL_BUILDS", value_name = "COUNT")]
    pub organization_parallel_builds: Option<NonZeroUsize>,
    /// Builds of one organisation that may wait for a place [default: three quarters of all]
    #[arg(long, env = "LATHE_ORGANIZATION_QUEUED_BUILDS", value_name = "COUNT")]
    pub organization_queued_builds: Option<usize>,
}

impl Limits {
    /// What is not given here comes from `other`.
    pub fn or(self, other: Self) -> Self {
        Self {
            connections: self.connections.or(other.connections),
            connections_per_address: self.connections_per_address.or(other.connections_per_address),
            keep_alive_seconds: self.keep_alive_seconds.or(other.keep_alive_seconds),
            organization_parallel_runs: self.organization_parallel_runs.or(other.organization_parallel_runs),
            organization_queued_runs: self.organization_queued_runs.or(other.organization_queued_runs),
            parallel_builds: self.parallel_builds.or(other.parallel_builds),
            queued_builds: self.queued_builds.or(other.queued_builds),
            organization_parallel_builds: self.organization_parallel_builds.or(other.organization_parallel_builds),
            organization_queued_builds: self.organization_queued_builds.or(other.organization_queued_builds),
        }
    }

    /// `parallel` and `queued` are those of the process.
    pub fn of_runs(&self, default: Bounds, parallel: Option<u32>, queued: Option<usize>) -> Bounds {
        let parallel = parallel.and_then(|runs| usize::try_from(runs).ok()).unwrap_or(default.parallel_max);
        let process = (parallel, queued.unwrap_or(default.queued_max));
        bounds(process, self.organization_parallel_runs, self.organization_queued_runs)
    }

    pub fn of_builds(&self, default: Bounds) -> Bounds {
        let parallel = self.parallel_builds.map_or(default.parallel_max, NonZeroUsize::get);
        let process = (parallel, self.queued_builds.unwrap_or(default.queued_max));
        bounds(process, self.organization_parallel_builds, self.organization_queued_builds)
    }

    pub fn of_connections(&self) -> ConnectionLimits {
        let default = ConnectionLimits::default();
        ConnectionLimits {
            connections_max: self.connections.map_or(default.connections_max, NonZeroUsize::get),
            connections_per_address_max: self
                .connections_per_address
                .map_or(default.connections_per_address_max, NonZeroUsize::get),
            idle_time_max: self.keep_alive_seconds.map_or(default.idle_time_max, Duration::from_secs),
            ..default
        }
    }
}

/// What an organisation has by default follows from what the process has.
fn bounds(
    (parallel_max, queued_max): (usize, usize),
    organization_parallel_max: Option<NonZeroUsize>,
    organization_queued_max: Option<usize>,
) -> Bounds {
    let shared = Bounds::shared(parallel_max, queued_max);
    Bounds {
        organization_parallel_max: organization_parallel_max
            .map_or(shared.organization_parallel_max, NonZeroUsize::get),
        organization_queued_max: organization_queued_max.unwrap_or(shared.organization_queued_max),
        ..shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_counts_and_the_rest_is_the_crates() {
        let flags = Limits { connections: NonZeroUsize::new(9), ..Limits::default() };
        let file = Limits { connections: NonZeroUsize::new(8), keep_alive_seconds: Some(7), ..Limits::default() };
        let limits = flags.or(file).of_connections();
        assert_eq!((limits.connections_max, limits.idle_time_max), (9, Duration::from_secs(7)));
        assert_eq!(limits.header_time_max, ConnectionLimits::default().header_time_max);
    }

    #[test]
    fn an_organizations_share_follows_the_process() {
        let limits = Limits { organization_queued_runs: Some(1), ..Limits::default() };
        let runs = limits.of_runs(Bounds::shared(32, 256), Some(8), None);
        let expected =
            Bounds { parallel_max: 8, queued_max: 256, organization_parallel_max: 6, organization_queued_max: 1 };
        assert_eq!(runs, expected);
        assert_eq!(limits.of_builds(Bounds::shared(1, 3)), Bounds::shared(1, 3));
    }
}
