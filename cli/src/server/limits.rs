//! How much a server admits at once: flags, and the table `[limits]` of the settings file.

use std::num::NonZeroUsize;
use std::time::Duration;

use api::ConnectionLimits;
use clap::Args;
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
}

impl Limits {
    /// What is not given here comes from `other`.
    pub fn or(self, other: Self) -> Self {
        Self {
            connections: self.connections.or(other.connections),
            connections_per_address: self.connections_per_address.or(other.connections_per_address),
            keep_alive_seconds: self.keep_alive_seconds.or(other.keep_alive_seconds),
        }
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
}
