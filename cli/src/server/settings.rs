//! The settings of a server: flags, environment variables, settings file and defaults, merged.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use api::{PublicUrl, RateLimits, TrustedProxies};
use clap::Args;
use ipnet::IpNet;
use registry::{DataDir, DatabaseLocation, SecretValue};
use runner::EgressConfig;

use super::builds::{BuildArguments, BuildWorkers, RUST_TOOLCHAIN_VARIABLE, bubblewrap};
use super::egress::EgressSettings;
use super::embeddings::EmbeddingSettings;
use super::file::{SettingsFile, is_file_ignored};
use super::limits::LimitSettings;
use super::model::ModelArguments;
use super::proxies::{self, TRUSTED_PROXIES_VARIABLE};
use super::rate_limits::{Profile, RateLimitSettings};
use super::storage::StorageSettings;
use super::telemetry::{LogFormat, MetricsListen};
use crate::failure::Failure;
use crate::output::Screen;
use crate::programs;

/// Loopback: other machines reach the server only if its operator asks for it.
const LISTEN_DEFAULT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
const DATA_DEFAULT: &str = "./lathe-data";
pub(super) const LOG_DEFAULT: &str = "info";
/// Time between SIGTERM and the end of listening, of a server that may have others beside it: proxies and Kubernetes take a few
/// seconds to send requests elsewhere. A server with a data directory of its own has none, since its requests have no
/// other place to go.
const DRAIN_DELAY_BESIDE_OTHERS: Duration = Duration::from_secs(5);
/// More than the cores of any machine. An idle runner takes some megabytes.
const RUNNERS_MAX: i64 = 1_024;

/// The data directory and the settings file, for every command that works on a data directory.
#[derive(Clone, Debug, Default, Args)]
pub struct DataArguments {
    /// The data directory [default: ./lathe-data]
    #[arg(long, env = "LATHE_DATA", value_name = "DIRECTORY")]
    data: Option<PathBuf>,
    /// URL of a Postgres database, such as postgres://user@host/database [default: SQLite in the data directory]
    #[arg(long, env = "LATHE_DATABASE", value_name = "URL", hide_env_values = true, value_parser = database_url)]
    database: Option<DatabaseLocation>,
    /// The settings file, such as lathe.toml [default: none]
    #[arg(long, env = "LATHE_CONFIG", value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

impl DataArguments {
    /// The data directory, for a command that only reads it. A settings file that is not named is ignored.
    pub fn directory_to_read(&self) -> anyhow::Result<PathBuf> {
        self.clone().directory_or(SettingsFile::load(self.config.as_deref())?.data)
    }

    /// The data directory and the database, for a command that changes them. A settings file that is not named is an error.
    pub fn location(&self) -> anyhow::Result<Location> {
        let file = SettingsFile::load_or_refuse(self.config.as_deref())?;
        self.clone().location_or(file.data, file.database)
    }

    /// The data directory and the database, for a command that only reads them. A settings file that is not named is ignored.
    pub fn location_to_read(&self) -> anyhow::Result<Location> {
        let file = SettingsFile::load(self.config.as_deref())?;
        self.clone().location_or(file.data, file.database)
    }

    /// The data directory and the database, for a command that may create them, or prints what only its server accepts. A directory that
    /// is not named has to be that of a server that runs: the current directory may be any other.
    pub fn location_of_server(&self) -> anyhow::Result<Location> {
        let file = SettingsFile::load_or_refuse(self.config.as_deref())?;
        let is_named = self.data.is_some() || file.data.is_some();
        let location = self.clone().location_or(file.data, file.database)?;
        if is_named || DataDir::has_server(&location.directory) {
            Ok(location)
        } else {
            Err(not_named(&location.directory))
        }
    }

    pub(super) fn location_or(self, data: Option<PathBuf>, database: Option<String>) -> anyhow::Result<Location> {
        let from_file = database.as_deref().map(database_url).transpose()?;
        let database = self.database.clone().or(from_file).unwrap_or_default();
        Ok(Location { directory: self.directory_or(data)?, database })
    }

    /// Whether the current directory has a settings file that is not named.
    pub fn ignores_file(&self) -> bool {
        is_file_ignored(self.config.as_deref())
    }

    /// The bubblewrap program that a server with these arguments uses.
    pub fn bubblewrap(&self) -> anyhow::Result<Option<PathBuf>> {
        Ok(bubblewrap(SettingsFile::load(self.config.as_deref())?.bubblewrap))
    }

    /// The Rust toolchain that a server with these arguments uses.
    pub fn rust_toolchain(&self) -> anyhow::Result<Option<PathBuf>> {
        let named = std::env::var_os(RUST_TOOLCHAIN_VARIABLE).map(PathBuf::from);
        let from_file = SettingsFile::load(self.config.as_deref())?.rust_toolchain;
        Ok(named.or(from_file).or_else(programs::rust_toolchain))
    }

    /// The proxies that a server with these arguments trusts.
    pub fn trusted_proxies(&self) -> anyhow::Result<Vec<IpNet>> {
        proxies::read(proxies::of_environment().or(SettingsFile::load(self.config.as_deref())?.trusted_proxies))
    }

    /// The settings of builds that a server with these arguments uses.
    pub fn builds(&self) -> anyhow::Result<BuildArguments> {
        Ok(BuildArguments::of_environment()?.or(SettingsFile::load(self.config.as_deref())?.take_builds()))
    }

    /// The storage that a server with these arguments uses, unless the data directory names one.
    pub fn storage(&self) -> anyhow::Result<StorageSettings> {
        Ok(StorageSettings::of_environment()?.or(SettingsFile::load(self.config.as_deref())?.storage()))
    }

    /// The data directory and the database of a process beside a server. A directory that is not named has to be there.
    pub(super) fn location_of_worker(
        self,
        data: Option<PathBuf>,
        database: Option<String>,
    ) -> anyhow::Result<Location> {
        let is_named = self.data.is_some() || data.is_some();
        let location = self.location_or(data, database)?;
        if is_named || DataDir::has_key(&location.directory) {
            Ok(location)
        } else {
            Err(not_named(&location.directory))
        }
    }

    /// The absolute path of the data directory. Child processes of the server work in other directories.
    pub(super) fn directory_or(self, from_file: Option<PathBuf>) -> anyhow::Result<PathBuf> {
        let directory = self.data.or(from_file).unwrap_or_else(|| PathBuf::from(DATA_DEFAULT));
        std::path::absolute(&directory).with_context(|| format!("finding the data directory {}", directory.display()))
    }
}

/// The refusal of a directory that is neither named nor that of a server.
fn not_named(directory: &Path) -> anyhow::Error {
    let path = directory.display();
    if !DataDir::has_key(directory) {
        let hint = "name the data directory of the server with --data, or run this where `lathe serve` was started";
        return Failure::coded("not_found", format!("there is no data directory {path}"), hint);
    }
    let hint = format!("start `lathe serve` first; or add --data {path} if it is the right one");
    Failure::refused(format!("no server runs on the data directory {path}"), hint)
}

/// Where an installation has its data.
#[derive(Clone, Debug)]
pub struct Location {
    /// The data directory, an absolute path.
    pub directory: PathBuf,
    pub database: DatabaseLocation,
}

impl Location {
    /// A data directory with its database.
    pub fn of_files(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), database: DatabaseLocation::DataDirectory }
    }

    /// Says which data directory a command uses: the default one depends on the current directory.
    pub fn announce(&self, screen: Screen) {
        screen.note(format!("data directory: {}", self.directory.display()));
    }
}

/// Reads the URL of a database server.
pub fn database_url(text: &str) -> anyhow::Result<DatabaseLocation> {
    let is_postgres = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
    let expected = "expected a URL like postgres://user:password@host:5432/database";
    anyhow::ensure!(is_postgres, "{expected}; leave it out for SQLite in the data directory");
    Ok(DatabaseLocation::Url(SecretValue::new(text.to_owned())))
}

#[derive(Clone, Debug, Default, Args)]
pub struct ServeArguments {
    #[command(flatten)]
    data: DataArguments,
    /// Address to listen on; port 0 takes a free port [default: 127.0.0.1:8080]
    #[arg(long, env = "LATHE_LISTEN", value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// URL under which clients reach the server, such as https://tools.example.com [default: loopback addresses]
    #[arg(long, env = "LATHE_PUBLIC_URL", value_name = "URL")]
    public_url: Option<PublicUrl>,
    /// Networks of proxies whose X-Forwarded-For or Forwarded names the client, such as 10.1.0.0/16 [default: none]
    #[arg(long, env = TRUSTED_PROXIES_VARIABLE, value_name = "CIDR,…", value_delimiter = ',')]
    trusted_proxies: Option<Vec<String>>,
    /// Lets OAuth clients of MCP endpoints register themselves, besides those with a metadata document [default: off]
    #[arg(long, env = "LATHE_OAUTH_REGISTRATION", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOLEAN")]
    oauth_registration: Option<bool>,
    /// Log level, or directives such as api=debug,info [default: info]
    #[arg(long, env = "LATHE_LOG", value_name = "DIRECTIVES")]
    log: Option<String>,
    /// Format of the log on stderr [default: human]
    #[arg(long, env = "LATHE_LOG_FORMAT", value_enum)]
    log_format: Option<LogFormat>,
    /// Runner processes, which run tools; each has one thread [default: one per core]
    #[arg(long, env = "LATHE_RUNNERS", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=RUNNERS_MAX))]
    runners: Option<u32>,
    /// Runs at the same time, over all runners [default: 32]
    #[arg(long, env = "LATHE_PARALLEL_RUNS", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    parallel_runs: Option<u32>,
    /// Runs that may wait in the queue; further ones get 503 [default: 256]
    #[arg(long, env = "LATHE_QUEUED_RUNS", value_name = "COUNT")]
    queued_runs: Option<usize>,
    /// Live versions per tool [default: 50]
    #[arg(long, env = "LATHE_LIVE_VERSIONS", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    live_versions: Option<u32>,
    /// Hours that idempotency keys and asynchronous operations are kept [default: 24]
    #[arg(long, env = "LATHE_OPERATION_HOURS", value_name = "HOURS", value_parser = clap::value_parser!(u32).range(1..))]
    operation_hours: Option<u32>,
    /// Hours that recordings for replays and recorded responses are kept; 0 records nothing [default: 168]
    #[arg(long, env = "LATHE_TAPE_HOURS", value_name = "HOURS")]
    tape_hours: Option<u32>,
    /// Days that ended runs stay in the history, unless a legal hold keeps them [default: for ever]
    #[arg(long, env = "LATHE_HISTORY_DAYS", value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    history_days: Option<u32>,
    /// Size of an organisation's Library with earlier versions of items, in MiB [default: 4096]
    #[arg(long, env = "LATHE_LIBRARY_MEGABYTES", value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    library_megabytes: Option<u32>,
    /// Size of one user's part of it, in MiB [default: 256]
    #[arg(long, env = "LATHE_LIBRARY_USER_MEGABYTES", value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    library_user_megabytes: Option<u32>,
    /// Cache of compiled code and downloaded packages; safe to delete [default: cache in the data directory]
    #[arg(long, env = "LATHE_CACHE", value_name = "DIRECTORY")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    storage: StorageSettings,
    #[command(flatten)]
    builds: BuildArguments,
    /// Processes that build: the server itself, or `lathe worker` processes [default: internal]
    #[arg(long, env = "LATHE_BUILD_WORKERS", value_enum)]
    build_workers: Option<BuildWorkers>,
    #[command(flatten)]
    limits: LimitSettings,
    #[command(flatten)]
    egress: EgressSettings,
    #[command(flatten)]
    embeddings: EmbeddingSettings,
    #[command(flatten)]
    model: ModelArguments,
    /// Rate limits per user and operation; [rate_limits] in the settings file sets single ones [default: off]
    #[arg(long, env = "LATHE_RATE_LIMITS", value_enum)]
    rate_limits: Option<Profile>,
    /// Address for Prometheus metrics, or off; port 0 takes a free port [default: 127.0.0.1:9464]
    #[arg(long, env = "LATHE_METRICS_LISTEN", value_name = "ADDRESS:PORT")]
    metrics_listen: Option<MetricsListen>,
    /// Collector that receives traces, by OTLP over HTTP [default: none]
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,
}

/// The settings of a server. `None` stands for the default of the crate that owns the setting.
#[derive(Clone, Debug)]
pub struct Settings {
    pub listen: SocketAddr,
    pub public_url: Option<PublicUrl>,
    pub oauth_registration: bool,
    pub trusted_proxies: TrustedProxies,
    pub location: Location,
    pub log: String,
    pub log_format: LogFormat,
    pub runners: Option<u32>,
    pub parallel_runs: Option<u32>,
    pub queued_runs: Option<usize>,
    pub live_versions: Option<u32>,
    pub operation_hours: Option<u32>,
    pub tape_hours: Option<u32>,
    pub history_days: Option<u32>,
    pub library_megabytes: Option<u32>,
    pub library_user_megabytes: Option<u32>,
    pub cache: Option<PathBuf>,
    pub storage: StorageSettings,
    pub builds: BuildArguments,
    pub build_workers: BuildWorkers,
    pub limits: LimitSettings,
    pub egress: EgressConfig,
    pub embeddings: EmbeddingSettings,
    pub model: ModelArguments,
    /// Upper bounds of the limits that versions choose.
    pub run_limits: runner::Limits,
    pub rate_limits: RateLimits,
    pub metrics_listen: MetricsListen,
    pub otlp_endpoint: Option<String>,
}

impl Settings {
    pub fn read(arguments: ServeArguments) -> anyhow::Result<Self> {
        let file = SettingsFile::load_or_refuse(arguments.data.config.as_deref())?;
        Self::merge(arguments, file)
    }

    fn merge(arguments: ServeArguments, mut file: SettingsFile) -> anyhow::Result<Self> {
        let builds = arguments.builds.or(file.take_builds());
        let storage = arguments.storage.or(file.storage());
        let embeddings = arguments.embeddings.or(file.embeddings());
        let model = arguments.model.or(file.model());
        let rate_limits = arguments.rate_limits.map(RateLimitSettings::from).or(file.rate_limits);
        Ok(Self {
            listen: arguments.listen.or(file.listen).unwrap_or(LISTEN_DEFAULT),
            public_url: public_url(arguments.public_url, file.public_url)?,
            oauth_registration: arguments.oauth_registration.or(file.oauth_registration).unwrap_or_default(),
            trusted_proxies: proxies::read(arguments.trusted_proxies.or(file.trusted_proxies))?.into(),
            location: arguments.data.location_or(file.data, file.database)?,
            log: arguments.log.or(file.log).unwrap_or_else(|| LOG_DEFAULT.to_owned()),
            log_format: arguments.log_format.or(file.log_format).unwrap_or_default(),
            runners: arguments.runners.or(file.runners),
            parallel_runs: arguments.parallel_runs.or(file.parallel_runs),
            queued_runs: arguments.queued_runs.or(file.queued_runs),
            live_versions: arguments.live_versions.or(file.live_versions),
            operation_hours: arguments.operation_hours.or(file.operation_hours),
            tape_hours: arguments.tape_hours.or(file.tape_hours),
            history_days: arguments.history_days.or(file.history_days),
            library_megabytes: arguments.library_megabytes.or(file.library_megabytes),
            library_user_megabytes: arguments.library_user_megabytes.or(file.library_user_megabytes),
            storage,
            cache: arguments.cache.or(file.cache),
            builds,
            build_workers: arguments.build_workers.or(file.build_workers).unwrap_or_default(),
            limits: arguments.limits.or(file.limits),
            egress: arguments.egress.or(file.egress).read()?,
            embeddings,
            model,
            run_limits: file.run_limits.caps()?,
            metrics_listen: arguments.metrics_listen.or(file.metrics_listen).unwrap_or_default(),
            otlp_endpoint: arguments.otlp_endpoint.or(file.otlp_endpoint),
            rate_limits: rate_limits.map_or_else(|| Ok(RateLimits::off()), RateLimitSettings::read)?,
        })
    }

    /// Time between SIGTERM and the end of listening.
    pub fn drain_delay(&self) -> Duration {
        let default = match self.location.database {
            DatabaseLocation::DataDirectory => Duration::ZERO,
            DatabaseLocation::Url(_) => DRAIN_DELAY_BESIDE_OTHERS,
        };
        self.limits.drain_delay_seconds.map_or(default, |seconds| Duration::from_secs(seconds.into()))
    }

    /// Settings of the demo's server: a free loopback port, a data directory of its own, and from the user's environment
    /// only the settings of builds.
    pub fn for_demo(data: PathBuf) -> anyhow::Result<Self> {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let metrics_listen = MetricsListen::Off;
        let arguments = ServeArguments { builds: BuildArguments::of_environment()?, ..ServeArguments::default() };
        let location = Location::of_files(data);
        Ok(Self { listen, location, metrics_listen, ..Self::merge(arguments, SettingsFile::default())? })
    }
}

fn public_url(argument: Option<PublicUrl>, file: Option<String>) -> anyhow::Result<Option<PublicUrl>> {
    let Some(text) = file.filter(|_| argument.is_none()) else { return Ok(argument) };
    let refused = |error| Failure::usage(format!("public_url {error}"), "correct it in the settings file");
    text.parse().map(Some).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
        let file = || SettingsFile {
            listen: Some("127.0.0.1:2".parse().expect("an address")),
            data: Some("from-file".into()),
            ..SettingsFile::default()
        };
        let arguments =
            ServeArguments { listen: Some("127.0.0.1:1".parse().expect("an address")), ..ServeArguments::default() };
        let settings = Settings::merge(arguments, file()).expect("merged");
        assert_eq!(settings.listen.port(), 1);
        assert!(settings.location.directory.is_absolute() && settings.location.directory.ends_with("from-file"));
        assert_eq!(settings.log, LOG_DEFAULT);
    }
}
