//! `lathe worker`: builds for a server on the same machine.

use std::path::PathBuf;

use anyhow::Context;
use builder::{Worker, WorkerEndpoint, WorkerError};
use clap::Args;
use registry::{DataDir, KeyRing, inspect_database};
use runner::Compiler;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::builds::BuildSettings;
use super::file::SettingsFile;
use super::given::Given;
use super::registries;
use super::signals::FORCED_EXIT_CODE;
use super::telemetry::{LogSettings, Telemetry};
use super::{CACHE_KEY_LABEL, DataArguments, Location, Signals, THIS_PROGRAM, find_program};
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Parallel builds of a worker. A build may take one core and 1 GB of memory.
const JOBS_DEFAULT: u16 = 1;
const JOBS_MAX: i64 = 32;

/// The arguments of `lathe worker`.
pub type WorkerArguments = Given<WorkerSettings>;

/// The settings of a worker. Those that it shares with its server may be in the settings file.
#[derive(Clone, Debug, Default, Args)]
pub struct WorkerSettings {
    #[command(flatten)]
    data: DataArguments,
    /// Builds at the same time [default: 1]
    ///
    /// 1 to 32.
    #[arg(long, env = "LATHE_WORKER_JOBS", value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=JOBS_MAX))]
    jobs: Option<u16>,
    /// Cache of compiled code and downloaded packages; safe to delete [default: workers/cache in the data directory]
    ///
    /// Several workers may share it. A server must not, since its key is another one.
    #[arg(long, env = "LATHE_WORKER_CACHE", value_name = "DIRECTORY")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    log: LogSettings,
    #[command(flatten)]
    builds: BuildSettings,
}

impl WorkerSettings {
    fn read(arguments: &WorkerArguments) -> anyhow::Result<Self> {
        let named = arguments.apply_to(Self::default())?.data.config;
        let file = SettingsFile::load_or_refuse(named.as_deref())?;
        let of_file = Self { data: file.read()?, log: file.read()?, builds: file.read()?, ..Self::default() };
        Ok(arguments.apply_to(of_file)?)
    }

    fn jobs(&self) -> usize {
        self.jobs.unwrap_or(JOBS_DEFAULT).into()
    }
}

pub async fn run(arguments: &WorkerArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let settings = WorkerSettings::read(arguments)?;
    let location = settings.data.locate_of_worker()?;
    let telemetry = Telemetry::start(&settings.log, None)?;
    let (stop, mut stopped) = watch::channel(false);
    let signals = Signals::catch()?;
    require_known_schema(&location).await?;
    let endpoint = WorkerEndpoint::new(DataDir::open(&location.directory)?.workers(), THIS_PROGRAM);
    let socket = endpoint.socket();
    let (config, compiler) = build_parts(&settings, &endpoint)?;
    let (worker, scratch) = Worker::open(config, compiler, endpoint)?;
    let watching = tokio::spawn(watch_signals(signals, stop, worker.builds_running()));
    tokio::select! {
        // The compiling child process ends with the future.
        _ = stopped.wait_for(|stop| *stop) => {}
        () = prepare(&worker) => {}
    }
    let document = json!({"socket": socket, "jobs": settings.jobs()});
    let message = format!("building for {} (parallel builds: {})", socket.display(), settings.jobs());
    let reporting = tokio::spawn(report_connection(worker.connected(), move || screen.answer(&document, || message)));
    let checking = tokio::spawn(registries::log_checks(settings.builds.registries().urls()));
    let served = worker.serve(settings.jobs(), stopped).await;
    [watching, reporting, checking].iter().for_each(JoinHandle::abort);
    drop(scratch);
    telemetry.end().await;
    match served {
        Ok(()) => Ok(Outcome::Done),
        Err(error @ WorkerError::Refused(_)) => Err(Failure::refused(
            error.to_string(),
            "start the server and its workers from the same program file; a service manager that restarts this worker does so",
        )),
        Err(error @ WorkerError::Forbidden { .. }) => {
            Err(Failure::refused(error.to_string(), "give the server's data directory with --data"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Refuses to build for a database of another program, or of a newer release, whose server would refuse the worker. A worker needs
/// no database: one that cannot be reached from here is no reason.
async fn require_known_schema(location: &Location) -> anyhow::Result<()> {
    match inspect_database(&location.database, &location.directory).await {
        Ok(Some(_)) => {}
        Ok(None) => tracing::info!(
            data = %location.directory.display(),
            "no server has used this data directory yet; the worker waits for one"
        ),
        Err(error @ (registry::Error::DatabaseNewer { .. } | registry::Error::DatabaseForeign { .. })) => {
            return Err(error.into());
        }
        Err(error) => tracing::debug!(%error, "the database of the server cannot be looked at"),
    }
    Ok(())
}

/// The configuration and the compiler, with a key and a cache of their own: the server must not take their output for
/// code that it compiled itself.
fn build_parts(settings: &WorkerSettings, endpoint: &WorkerEndpoint) -> anyhow::Result<(builder::Config, Compiler)> {
    let own = DataDir::open(endpoint.directory()).context("opening the directory of build workers")?;
    let keys = KeyRing::load(&own).context("opening the directory of build workers")?;
    let (program, cache) = (find_program()?, settings.cache.clone().unwrap_or_else(|| own.cache()));
    let compiler = Compiler::open(&runner::Config::new(cache.clone(), keys.derive(CACHE_KEY_LABEL), &program))?;
    Ok((settings.builds.clone().apply_to(builder::Config::new(cache, endpoint.scratch(), &program)), compiler))
}

/// Compiles the Python image and checks the sandbox before the first build needs them.
async fn prepare(worker: &Worker) {
    tracing::info!(
        "preparing the language image, which takes seconds the first time; then the worker connects to its server"
    );
    match worker.prepare().await {
        Ok(()) => {}
        Err(error) if error.is_passing() => {
            tracing::warn!(%error, "compiling a language image was interrupted; the next build tries it again");
        }
        Err(error) => {
            tracing::error!(%error, "a language image does not compile; tools in this language cannot be built")
        }
    }
    if let Err(missing) = worker.sandbox().await {
        tracing::warn!(
            reason = missing.reason,
            remedy = missing.remedy,
            "builds cannot be confined; languages that run an author's code natively are refused"
        );
    }
}

/// Stops the worker after its running builds at the first signal, and immediately at the second.
async fn watch_signals(mut signals: Signals, stop: watch::Sender<bool>, builds: watch::Receiver<usize>) {
    let signal = signals.next().await;
    match *builds.borrow() {
        0 => tracing::info!(%signal, "stopping: no build is running"),
        builds => {
            tracing::info!(%signal, builds, "stopping after the running builds, for which the worker waits; a second signal stops at once")
        }
    }
    stop.send_replace(true);
    signals.next().await;
    std::process::exit(FORCED_EXIT_CODE);
}

/// Reports once that the server has accepted the worker.
async fn report_connection(mut connected: watch::Receiver<usize>, report: impl FnOnce() -> anyhow::Result<Outcome>) {
    if connected.wait_for(|count| *count > 0).await.is_ok()
        && let Err(error) = report()
    {
        tracing::debug!(%error, "stdout is closed");
    }
}
