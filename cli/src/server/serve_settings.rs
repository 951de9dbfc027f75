//! The settings of a server. Each is a field here or in the struct of its group, from which clap makes the flag and the variable, serde the
//! key of the settings file, and `arguments/tests/configuration.rs` the row of the reference.
//!
//! The first paragraph of a field's comment is its help. The reference has the others, too.

use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use api::PublicUrl;
use clap::Args;
use clap::builder::{EnumValueParser, TypedValueParser};
use registry::DatabaseLocation;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::builds::{BuildSettings, BuildWorkers};
use super::data::DataArguments;
use super::egress::EgressSettings;
use super::embeddings::EmbeddingSettings;
use super::limits::LimitSettings;
use super::model::AgentModelSettings;
use super::proxies::ProxySettings;
use super::rate_limits::{Profile, RateLimitSettings};
use super::run_limits::RunLimitSettings;
use super::storage::StorageSettings;
use super::telemetry::{LogSettings, MetricsListen};

/// Loopback: other machines reach the server only if its operator asks for it.
const LISTEN_DEFAULT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
/// Time between SIGTERM and the end of listening, of a server that may have others beside it: proxies and Kubernetes take a few
/// seconds to send requests elsewhere. A server with a data directory of its own has none, since its requests have no
/// other place to go.
const DRAIN_DELAY_BESIDE_OTHERS: Duration = Duration::from_secs(5);
/// More than the cores of any machine. An idle runner takes some megabytes.
const RUNNERS_MAX: i64 = 1_024;

/// The settings of a server. `None` stands for the default of the crate that owns the setting.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default)]
pub struct ServeSettings {
    #[command(flatten)]
    #[serde(skip)]
    pub data: DataArguments,
    /// Address to listen on; port 0 takes a free port [default: 127.0.0.1:8080]
    #[arg(long, env = "LATHE_LISTEN", value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// URL under which clients reach the server, such as https://tools.example.com [default: loopback addresses]
    ///
    /// [MCP clients](../how-to/connect-an-mcp-client.md) may use it besides loopback addresses.
    #[arg(long, env = "LATHE_PUBLIC_URL", value_name = "URL")]
    #[serde(deserialize_with = "parse_text")]
    pub public_url: Option<PublicUrl>,
    #[command(flatten)]
    #[serde(skip)]
    pub proxies: ProxySettings,
    /// Lets OAuth clients of MCP endpoints register themselves, besides those with a metadata document [default: off]
    ///
    /// See [clients](oauth.md#clients).
    #[arg(long, env = "LATHE_OAUTH_REGISTRATION", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOLEAN")]
    pub oauth_registration: Option<bool>,
    #[command(flatten)]
    #[serde(skip)]
    pub log: LogSettings,
    /// Runner processes, which run tools; each has one thread [default: one per core]
    ///
    /// 1 to 1,024 [processes](../explanation/processes.md#runners).
    #[arg(long, env = "LATHE_RUNNERS", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=RUNNERS_MAX))]
    pub runners: Option<u32>,
    /// Runs at the same time, over all runners [default: 32]
    ///
    /// At least 1; each may use the memory of its version.
    #[arg(long, env = "LATHE_PARALLEL_RUNS", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub parallel_runs: Option<u32>,
    /// Runs that may wait in the queue; further ones get 503 [default: 256]
    ///
    /// The response has `retry-after`.
    #[arg(long, env = "LATHE_QUEUED_RUNS", value_name = "COUNT")]
    pub queued_runs: Option<usize>,
    /// Live versions per tool [default: 50]
    ///
    /// At least 1; beyond it a publish is refused.
    #[arg(long, env = "LATHE_LIVE_VERSIONS", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub live_versions: Option<u32>,
    /// Hours that idempotency keys and asynchronous operations are kept [default: 24]
    ///
    /// At least 1.
    #[arg(long, env = "LATHE_OPERATION_HOURS", value_name = "HOURS", value_parser = clap::value_parser!(u32).range(1..))]
    pub operation_hours: Option<u32>,
    /// Hours that recordings for replays and recorded responses are kept; 0 records nothing [default: 168]
    ///
    /// See [replay](../explanation/replay.md) and [recorded answers](outbound-http.md#recorded-answers).
    #[arg(long, env = "LATHE_TAPE_HOURS", value_name = "HOURS")]
    pub tape_hours: Option<u32>,
    /// Days that ended runs stay in the history, unless a legal hold keeps them [default: for ever]
    ///
    /// See [the history](../how-to/keep-and-delete-the-history.md).
    #[arg(long, env = "LATHE_HISTORY_DAYS", value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    pub history_days: Option<u32>,
    /// Size of an organisation's Library with earlier versions of items, in MiB [default: 4096]
    ///
    /// At least 1; see [limits](limits.md#the-library).
    #[arg(long, env = "LATHE_LIBRARY_MEGABYTES", value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    pub library_megabytes: Option<u32>,
    /// Size of one user's part of it, in MiB [default: 256]
    ///
    /// At least 1.
    #[arg(long, env = "LATHE_LIBRARY_USER_MEGABYTES", value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    pub library_user_megabytes: Option<u32>,
    /// Cache of compiled code and downloaded packages; safe to delete [default: cache in the data directory]
    ///
    /// Servers with the same master key may [share it](#the-cache).
    #[arg(long, env = "LATHE_CACHE", value_name = "DIRECTORY")]
    pub cache: Option<PathBuf>,
    #[command(flatten)]
    #[serde(skip)]
    pub storage: StorageSettings,
    #[command(flatten)]
    #[serde(skip)]
    pub builds: BuildSettings,
    /// Processes that build: the server itself, or `lathe worker` processes [default: internal]
    ///
    /// `internal` or [`external`](../how-to/run-build-workers.md).
    #[arg(long, env = "LATHE_BUILD_WORKERS", value_enum)]
    pub build_workers: Option<BuildWorkers>,
    #[command(flatten)]
    pub limits: LimitSettings,
    #[command(flatten)]
    pub egress: EgressSettings,
    #[command(flatten)]
    #[serde(skip)]
    pub embeddings: EmbeddingSettings,
    #[command(flatten)]
    #[serde(skip)]
    pub model: AgentModelSettings,
    /// Rate limits per user and operation; [rate_limits] in the settings file sets single ones [default: off]
    ///
    /// `off`, or `contract` for the [documented numbers](limits.md#rate-limits).
    #[arg(long, env = "LATHE_RATE_LIMITS", value_parser = EnumValueParser::<Profile>::new().map(RateLimitSettings::from))]
    pub rate_limits: Option<RateLimitSettings>,
    /// Upper bounds of the limits that versions choose, which only the settings file has.
    #[arg(skip)]
    pub run_limits: RunLimitSettings,
    /// Address for Prometheus metrics, or off; port 0 takes a free port [default: 127.0.0.1:9464]
    ///
    /// See [metrics](monitoring.md#metrics).
    #[arg(long, env = "LATHE_METRICS_LISTEN", value_name = "ADDRESS:PORT")]
    pub metrics_listen: Option<MetricsListen>,
    /// Collector that receives traces, by OTLP over HTTP [default: none]
    ///
    /// See [traces](monitoring.md#traces).
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,
}

impl ServeSettings {
    pub fn listen(&self) -> SocketAddr {
        self.listen.unwrap_or(LISTEN_DEFAULT)
    }

    /// Time between SIGTERM and the end of listening.
    pub fn drain_delay(&self) -> Duration {
        let default = match self.data.database {
            None | Some(DatabaseLocation::DataDirectory) => Duration::ZERO,
            Some(DatabaseLocation::Url(_)) => DRAIN_DELAY_BESIDE_OTHERS,
        };
        self.limits.drain_delay_seconds.map_or(default, |seconds| Duration::from_secs(seconds.into()))
    }
}

/// Reads a text of the settings file like one of the command line.
fn parse_text<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(deserializer: D) -> Result<Option<T>, D::Error> {
    String::deserialize(deserializer)?.parse().map(Some).map_err(Error::custom)
}
