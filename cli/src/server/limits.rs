//! Limits on parallel work of a server: flags, and the table `[limits]` of the settings file.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use api::{ConnectionLimits, RequestBounds, TrustedProxies};
use clap::Args;
use registry::AdmissionBounds;
use repository::GitLimits;
use serde::Deserialize;

const MEGABYTE: u64 = 1024 * 1024;

#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Connections at the same time; each takes a file descriptor [default: 768]
    ///
    /// At least 1.
    #[arg(long, env = "LATHE_CONNECTIONS", value_name = "COUNT")]
    pub connections: Option<NonZeroUsize>,
    /// Connections per client address, except those of --trusted-proxies [default: 512]
    #[arg(long, env = "LATHE_CONNECTIONS_PER_ADDRESS", value_name = "COUNT")]
    pub connections_per_address: Option<NonZeroUsize>,
    /// Requests in progress per organisation; further ones get 429 [default: half of --connections]
    ///
    /// The response has `retry-after`; see [requests in progress](limits.md#requests-in-progress).
    #[arg(long, env = "LATHE_REQUESTS_PER_ORGANIZATION", value_name = "COUNT")]
    pub requests_per_organization: Option<NonZeroUsize>,
    /// Requests in progress per user [default: a third of --connections]
    #[arg(long, env = "LATHE_REQUESTS_PER_USER", value_name = "COUNT")]
    pub requests_per_user: Option<NonZeroUsize>,
    /// Streams of MCP clients that listen to changes, per organisation [default: a quarter of --connections]
    ///
    /// See [requests in progress](limits.md#requests-in-progress).
    #[arg(long, env = "LATHE_STREAMS_PER_ORGANIZATION", value_name = "COUNT")]
    pub streams_per_organization: Option<NonZeroUsize>,
    /// Streams of MCP clients that listen to changes, per user [default: a twelfth of --connections]
    #[arg(long, env = "LATHE_STREAMS_PER_USER", value_name = "COUNT")]
    pub streams_per_user: Option<NonZeroUsize>,
    /// Seconds that a connection may idle between two requests; set more than your proxy has [default: 75]
    #[arg(long, env = "LATHE_KEEP_ALIVE_SECONDS", value_name = "SECONDS")]
    pub keep_alive_seconds: Option<u64>,
    /// Seconds after SIGTERM in which the server is not ready and still serves everything [default: 5 with --database, otherwise 0]
    ///
    /// Set more than the proxy keeps idle connections to the server; see [updates without an
    /// interruption](../how-to/scale-out.md#update-without-an-interruption).
    #[arg(long, env = "LATHE_DRAIN_DELAY_SECONDS", value_name = "SECONDS")]
    pub drain_delay_seconds: Option<u16>,
    /// Runs per organisation at the same time [default: three quarters of --parallel-runs]
    ///
    /// At least 1; by default less than all.
    #[arg(long, env = "LATHE_ORGANIZATION_PARALLEL_RUNS", value_name = "COUNT")]
    pub organization_parallel_runs: Option<NonZeroUsize>,
    /// Runs per organisation that may wait in the queue [default: three quarters of --queued-runs]
    ///
    /// Further ones get 429 with `retry-after`.
    #[arg(long, env = "LATHE_ORGANIZATION_QUEUED_RUNS", value_name = "COUNT")]
    pub organization_queued_runs: Option<usize>,
    /// Inputs of all running and waiting runs, in MiB; three quarters of it per organisation [default: 128]
    ///
    /// Beyond it callers get 503 or 429 with `retry-after`.
    #[arg(long, env = "LATHE_INPUT_MEGABYTES", value_name = "MIB")]
    pub input_megabytes: Option<NonZeroU32>,
    /// Builds at the same time; each may take one core and 1 GB of memory [default: 2]
    ///
    /// At least 1.
    #[arg(long, env = "LATHE_PARALLEL_BUILDS", value_name = "COUNT")]
    pub parallel_builds: Option<NonZeroUsize>,
    /// Builds that may wait in the queue; further ones get 503 [default: 16]
    #[arg(long, env = "LATHE_QUEUED_BUILDS", value_name = "COUNT")]
    pub queued_builds: Option<usize>,
    /// Builds per organisation at the same time [default: three quarters of --parallel-builds]
    ///
    /// At least 1; by default less than all.
    #[arg(long, env = "LATHE_ORGANIZATION_PARALLEL_BUILDS", value_name = "COUNT")]
    pub organization_parallel_builds: Option<NonZeroUsize>,
    /// Builds per organisation that may wait in the queue [default: three quarters of --queued-builds]
    #[arg(long, env = "LATHE_ORGANIZATION_QUEUED_BUILDS", value_name = "COUNT")]
    pub organization_queued_builds: Option<usize>,
    /// Git fetches and pushes at the same time, at least 2; half of them per organisation [default: 8]
    ///
    /// Each may use a core and 512 MiB of address space; see [limits](limits.md#runs-builds-and-git-operations).
    #[arg(long, env = "LATHE_PARALLEL_GIT", value_name = "COUNT")]
    pub parallel_git: Option<NonZeroUsize>,
    /// Disk space per organisation's repository, in MiB [default: 1024]
    ///
    /// See [limits](limits.md#repositories).
    #[arg(long, env = "LATHE_REPOSITORY_MEGABYTES", value_name = "MIB")]
    pub repository_megabytes: Option<NonZeroU32>,
}

impl LimitSettings {
    /// The bounds of runs, with the bounds of the process in `parallel` and `queued`.
    pub fn runs(&self, default: AdmissionBounds, parallel: Option<u32>, queued: Option<usize>) -> AdmissionBounds {
        let parallel = parallel.and_then(|runs| usize::try_from(runs).ok()).unwrap_or(default.parallel_max);
        let shared = AdmissionBounds::shared(parallel, queued.unwrap_or(default.queued_max));
        apply_shares(shared, self.organization_parallel_runs, self.organization_queued_runs)
    }

    /// The bytes of the inputs of runs.
    pub fn input_bytes(&self, default: usize) -> usize {
        let megabytes = self.input_megabytes.and_then(|megabytes| usize::try_from(megabytes.get()).ok());
        megabytes.map_or(default, |megabytes| megabytes.saturating_mul(1 << 20))
    }

    pub fn builds(&self, default: AdmissionBounds) -> AdmissionBounds {
        let parallel = self.parallel_builds.map_or(default.parallel_max, NonZeroUsize::get);
        let shared = AdmissionBounds::shared(parallel, self.queued_builds.unwrap_or(default.queued_max));
        apply_shares(shared, self.organization_parallel_builds, self.organization_queued_builds)
    }

    pub fn git(&self) -> GitLimits {
        let default = GitLimits::default();
        let bytes = |megabytes: NonZeroU32| u64::from(megabytes.get()) * MEGABYTE;
        GitLimits {
            operations: self.parallel_git.map_or(default.operations, |count| GitLimits::operations(count.get())),
            repository_bytes_max: self.repository_megabytes.map_or(default.repository_bytes_max, bytes),
        }
    }

    /// The bounds of requests in progress.
    pub fn requests(&self) -> RequestBounds {
        RequestBounds {
            per_organization: self.requests_per_organization.map(NonZeroUsize::get),
            per_user: self.requests_per_user.map(NonZeroUsize::get),
            streams_per_organization: self.streams_per_organization.map(NonZeroUsize::get),
            streams_per_user: self.streams_per_user.map(NonZeroUsize::get),
        }
    }

    /// The limits of connections, of which those of `trusted_proxies` are of many clients.
    pub fn connections(&self, trusted_proxies: TrustedProxies) -> ConnectionLimits {
        let default = ConnectionLimits::default();
        ConnectionLimits {
            trusted_proxies,
            connections_max: self.connections.map_or(default.connections_max, NonZeroUsize::get),
            connections_per_address_max: self
                .connections_per_address
                .map_or(default.connections_per_address_max, NonZeroUsize::get),
            idle_time_max: self.keep_alive_seconds.map_or(default.idle_time_max, Duration::from_secs),
            ..default
        }
    }
}

/// Replaces the shares of one organisation by settings.
fn apply_shares(
    shared: AdmissionBounds,
    organization_parallel: Option<NonZeroUsize>,
    organization_queued: Option<usize>,
) -> AdmissionBounds {
    AdmissionBounds {
        organization_parallel_max: organization_parallel.map_or(shared.organization_parallel_max, NonZeroUsize::get),
        organization_queued_max: organization_queued.unwrap_or(shared.organization_queued_max),
        ..shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_win_over_the_defaults_of_the_crates() {
        let settings = LimitSettings {
            connections: NonZeroUsize::new(9),
            keep_alive_seconds: Some(7),
            ..LimitSettings::default()
        };
        let limits = settings.connections(TrustedProxies::default());
        assert_eq!((limits.connections_max, limits.idle_time_max), (9, Duration::from_secs(7)));
        assert_eq!(limits.header_time_max, ConnectionLimits::default().header_time_max);
    }

    #[test]
    fn git_limits_have_defaults() {
        assert_eq!(LimitSettings::default().git(), GitLimits::default());
        let limits = LimitSettings {
            parallel_git: NonZeroUsize::new(3),
            repository_megabytes: NonZeroU32::new(5),
            ..LimitSettings::default()
        };
        let git = limits.git();
        assert_eq!((git.operations.parallel_max, git.repository_bytes_max), (3, 5 * MEGABYTE));
        assert_eq!(git.operations.organization_parallel_max, 1);
    }

    #[test]
    fn an_organizations_share_follows_the_process() {
        let limits = LimitSettings { organization_queued_runs: Some(1), ..LimitSettings::default() };
        let runs = limits.runs(AdmissionBounds::shared(32, 256), Some(8), None);
        let expected = AdmissionBounds {
            parallel_max: 8,
            queued_max: 256,
            organization_parallel_max: 6,
            organization_queued_max: 1,
        };
        assert_eq!(runs, expected);
        assert_eq!(limits.builds(AdmissionBounds::shared(1, 3)), AdmissionBounds::shared(1, 3));
    }
}
