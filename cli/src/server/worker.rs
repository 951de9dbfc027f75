//! `lathe worker`: builds for a server on the same machine.

use std::path::PathBuf;

use anyhow::Context;
use builder::{Worker, WorkerError, WorkersPlace};
use clap::Args;
use registry::{DataDir, KeyRing};
use runner::Compiler;
use serde_json::json;
use tokio::sync::watch;

use super::builds::{BuildArguments, BuildSettings};
use super::file::SettingsFile;
use super::serve::IMPATIENT_EXIT_CODE;
use super::settings::LOG_DEFAULT;
use super::telemetry::{LogFormat, Telemetry};
use super::{CACHE_KEY_LABEL, DataArguments, Signals, THIS_PROGRAM, program};
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Each may take a core and a gigabyte.
const JOBS_DEFAULT: u16 = 1;
const JOBS_MAX: i64 = 32;

#[derive(Clone, Debug, Default, Args)]
pub struct WorkerArguments {
    #[command(flatten)]
    data: DataArguments,
    /// Builds at once [default: 1]
    #[arg(long, env = "LATHE_WORKER_JOBS", value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=JOBS_MAX))]
    jobs: Option<u16>,
    /// Where it keeps compiled code, fetched packages and snapshots of its own [default: workers/cache in the data directory]
    #[arg(long, env = "LATHE_WORKER_CACHE", value_name = "DIRECTORY")]
    cache: Option<PathBuf>,
    /// What to log: a level, or directives such as builder=debug,info [default: info]
    #[arg(long, env = "LATHE_LOG", value_name = "DIRECTIVES")]
    log: Option<String>,
    /// The form of the log on stderr [default: human]
    #[arg(long, env = "LATHE_LOG_FORMAT", value_enum)]
    log_format: Option<LogFormat>,
    #[command(flatten)]
    builds: BuildArguments,
}

/// What a worker is made of.
struct Settings {
    /// Of its server.
    data: PathBuf,
    jobs: usize,
    cache: Option<PathBuf>,
    log: String,
    log_format: LogFormat,
    builds: BuildSettings,
}

impl Settings {
    fn read(arguments: WorkerArguments) -> anyhow::Result<Self> {
        let mut file = SettingsFile::load(arguments.data.config.as_deref())?;
        Ok(Self {
            jobs: arguments.jobs.unwrap_or(JOBS_DEFAULT).into(),
            cache: arguments.cache,
            builds: arguments.builds.or(&mut file),
            log: arguments.log.or(file.log).unwrap_or_else(|| LOG_DEFAULT.to_owned()),
            log_format: arguments.log_format.or(file.log_format).unwrap_or_default(),
            data: arguments.data.directory_or(file.data)?,
        })
    }
}

pub async fn run(arguments: WorkerArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let settings = Settings::read(arguments)?;
    let telemetry = Telemetry::start(&settings.log, settings.log_format, None)?;
    let signals = Signals::catch()?;
    let place = WorkersPlace::new(workers_of(&settings)?, THIS_PROGRAM);
    let socket = place.socket();
    let (config, compiler) = parts(&settings, &place)?;
    let (worker, room) = Worker::open(config, compiler, place)?;
    prepare(&worker).await;
    let (stop, stopped) = watch::channel(false);
    let watching = tokio::spawn(watch_signals(signals, stop));
    let telling = tokio::spawn(tell(worker.connected(), settings.jobs, socket, screen));
    let served = worker.serve(settings.jobs, stopped).await;
    watching.abort();
    telling.abort();
    drop(room);
    telemetry.end().await;
    match served {
        Ok(()) => Ok(Outcome::Done),
        Err(error @ WorkerError::Refused(_)) => Err(Failure::refused(
            error.to_string(),
            "start server and workers again from the same file; a service manager that restarts this one does it",
        )),
        Err(error @ WorkerError::Forbidden { .. }) => {
            Err(Failure::refused(error.to_string(), "`--data` names the directory of the server"))
        }
        Err(error) => Err(error.into()),
    }
}

/// The directory that belongs to workers, which a server makes.
fn workers_of(settings: &Settings) -> anyhow::Result<PathBuf> {
    Ok(DataDir::open(&settings.data)?.workers())
}

/// With a key and a cache of its own: nothing here may be taken for code that the server has compiled.
fn parts(settings: &Settings, place: &WorkersPlace) -> anyhow::Result<(builder::Config, Compiler)> {
    let own = DataDir::open(place.directory()).context("opening the directory of build workers")?;
    let keys = KeyRing::load(&own).context("opening the directory of build workers")?;
    let (program, cache) = (program()?, settings.cache.clone().unwrap_or_else(|| own.cache()));
    let compiler = Compiler::open(&runner::Config::new(cache.clone(), keys.derive(CACHE_KEY_LABEL), &program))?;
    Ok((settings.builds.over(builder::Config::new(cache, place.scratch(), &program)), compiler))
}

/// What the first build would wait for, and what its operator should know before it.
async fn prepare(worker: &Worker) {
    let workbench = worker.workbench();
    if let Err(error) = workbench.images().python_code().await {
        tracing::error!(%error, "a language image does not compile; its tools cannot be built");
    }
    if let Err(missing) = workbench.sandbox().await {
        tracing::warn!(
            reason = missing.reason,
            remedy = missing.remedy,
            "builds cannot be confined; languages that run an author's code natively are refused"
        );
    }
}

/// The first signal lets builds come to their end; the second one does not.
async fn watch_signals(mut signals: Signals, stop: watch::Sender<bool>) {
    let signal = signals.next().await;
    tracing::info!(signal, "stopping: what is being built comes to its end; again to stop at once");
    stop.send_replace(true);
    signals.next().await;
    std::process::exit(IMPATIENT_EXIT_CODE);
}

/// Says once that the server has let it in.
async fn tell(mut connected: watch::Receiver<usize>, jobs: usize, socket: PathBuf, screen: Screen) {
    if connected.wait_for(|count| *count > 0).await.is_ok() {
        let document = json!({"socket": socket, "jobs": jobs});
        let told = screen.answer(&document, || format!("building for {}, {jobs} at a time", socket.display()));
        if let Err(error) = told {
            tracing::debug!(%error, "nobody reads what is said");
        }
    }
}
