//! The one place where a server is put together; `serve` and the demo both call it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use api::{App, Parts, Readiness, Server};
use builder::source::{GitConfig, GitProgram, GitServer, Repositories};
use builder::{Builder, WorkersPlace};
use registry::{Artifacts, Clock, DataDir, DataDirLock, KeyRing, Store};
use runner::{Invoker, Runners};
use tokio::sync::watch;

use super::Settings;
use super::builds::BuildWorkers;
use super::sweep::sweep_hourly;
use super::telemetry::Metrics;
use crate::failure::Failure;

/// Keeps the key of the compiled code apart from every other that is derived.
pub const CACHE_KEY_LABEL: &str = "compiled code cache";

/// This program as it is in memory: a runner started after an upgrade of the file must still speak as this server does.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// A part of the server that takes its time to be ready.
const IMAGES: &str = "language images";
const RUNNERS: &str = "runners";

/// A server that listens and does not answer yet.
pub struct Assembled {
    server: Server,
    app: App,
    builder: Builder,
    invoker: Invoker,
    runners: Option<watch::Receiver<usize>>,
    store: Store,
    clock: Clock,
    metrics: Option<(Server, Metrics)>,
    has_workers: bool,
    /// No second server on this directory for as long as this one lives.
    _lock: DataDirLock,
}

impl Assembled {
    pub fn address(&self) -> SocketAddr {
        self.server.local_address()
    }

    /// Serves until `shutdown`, then finishes and records what runs.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) -> anyhow::Result<()> {
        let looking = tokio::spawn(look_for_sandbox(self.builder.clone(), self.has_workers));
        let preparing = tokio::spawn(prepare(self.builder, self.invoker, self.app.readiness().clone()));
        let watching = tokio::spawn(watch_runners(self.runners, self.app.readiness().clone()));
        let metrics = tokio::spawn(serve_metrics(self.metrics, self.clock));
        let sweeping = tokio::spawn(sweep_hourly(self.store.clone()));
        let served = self.server.serve(self.app, shutdown).await;
        preparing.abort();
        looking.abort();
        watching.abort();
        sweeping.abort();
        self.store.close().await;
        // To the last moment, so that the end can be watched.
        metrics.abort();
        Ok(served?)
    }
}

/// Compiles the language images, and has them loaded, before the first tool needs them; until then the server answers and
/// is not ready.
async fn prepare(builder: Builder, invoker: Invoker, readiness: Readiness) {
    match builder.prepare().await {
        Ok(_) => {
            invoker.load_early(builder.image_digest());
            readiness.has(IMAGES);
            tracing::debug!("the language images are ready");
        }
        Err(error) => {
            readiness.lacks(IMAGES, "one does not compile; the log says why");
            tracing::error!(%error, "a language image does not compile; its tools cannot be built");
        }
    }
}

/// Looks before the first build needs it, so that its operator learns what it lacks.
async fn look_for_sandbox(builder: Builder, has_workers: bool) {
    if has_workers {
        return; // it is theirs, and they look
    }
    match builder.workbench().sandbox().await {
        Ok(sandbox) => tracing::debug!(bubblewrap = %sandbox.program().display(), "builds can be confined"),
        Err(missing) => tracing::warn!(
            reason = missing.reason,
            remedy = missing.remedy,
            "builds cannot be confined; languages that run an author's code natively are refused"
        ),
    }
}

/// Without a runner there is nothing to send requests to.
async fn watch_runners(runners: Option<watch::Receiver<usize>>, readiness: Readiness) {
    let Some(mut runners) = runners else { return };
    loop {
        match *runners.borrow_and_update() {
            0 => readiness.lacks(RUNNERS, "none is alive; the log says why"),
            _ => readiness.has(RUNNERS),
        }
        if runners.changed().await.is_err() {
            return; // the server ends
        }
    }
}

async fn serve_metrics(metrics: Option<(Server, Metrics)>, clock: Clock) {
    let Some((server, metrics)) = metrics else { return };
    let keeping_up = metrics.clone().keep_up();
    server.serve_metrics(&clock, move || metrics.render(), keeping_up).await;
}

/// The listener and the recorder, if the operator wants them. Before anything is counted.
async fn metrics(settings: &Settings, clock: &Clock) -> anyhow::Result<Option<(Server, Metrics)>> {
    let Some(server) = settings.metrics_listen.bind().await? else { return Ok(None) };
    Ok(Some((server, Metrics::start(clock)?)))
}

/// The store of a data directory, for commands that need no server.
pub async fn open_store(directory: &Path) -> anyhow::Result<Store> {
    let data = DataDir::open(directory)?;
    let keys = KeyRing::load(&data)?;
    Ok(Store::open(&data, &keys, Clock::system(), registry::Config::default()).await?)
}

/// Opens everything a server needs, innermost first. Nothing is served before [`Assembled::serve`].
pub async fn assemble(settings: &Settings) -> anyhow::Result<Assembled> {
    let git = find_git()?;
    let data = DataDir::open(&settings.data)?;
    let lock = data.lock()?;
    let server = Server::bind(settings.listen).await?;
    let clock = Clock::system();
    let metrics = metrics(settings, &clock).await?;
    let keys = KeyRing::load(&data)?;
    let store = Store::open_locked(&data, &lock, &keys, clock.clone(), registry_config(settings)).await?;
    close_orphans(&store).await?;
    let artifacts = Artifacts::open(&data)?;
    let program = program()?;
    let runner_config = runner_config(settings, &data, &keys, &program);
    let invoker = Invoker::start(&runner_config, store.clone(), artifacts.clone(), clock.clone())?;
    let git_config = GitConfig { root: data.git(), hook_program: PathBuf::from(&program) };
    let repositories = Repositories::new(&git_config, clock.clone())?;
    let builder = Builder::new(
        builder_config(settings, &data, &program),
        store.clone(),
        artifacts,
        repositories.clone(),
        invoker.clone(),
    )
    .await?;
    let git = GitServer::new(repositories.clone(), git)?;
    let config =
        api::Config { connections: settings.limits.of_connections(), rate_limits: settings.rate_limits.clone() };
    let parts = Parts {
        store: store.clone(),
        invoker: invoker.clone(),
        builder: builder.clone(),
        repositories,
        git,
        clock: clock.clone(),
        config,
    };
    let runners = parts.invoker.runners_alive();
    let app = App::new(parts);
    app.readiness().lacks(IMAGES, "their code is being compiled");
    let has_workers = is_external(settings);
    Ok(Assembled { server, app, builder, invoker, runners, store, clock, metrics, has_workers, _lock: lock })
}

fn find_git() -> anyhow::Result<GitProgram> {
    GitProgram::find()
        .map_err(|error| Failure::refused(error.to_string(), "`lathe doctor` shows the command that installs git"))
}

/// Runs that an earlier start of the server began and never finished get their end in the history.
async fn close_orphans(store: &Store) -> anyhow::Result<()> {
    let closed = store.close_orphans().await?;
    if closed > 0 {
        tracing::warn!(closed, "runs of an earlier start were never finished; their records say so now");
    }
    Ok(())
}

/// This program's own path: it is its own compiler, bundler and git hook.
pub fn program() -> anyhow::Result<String> {
    let path = std::env::current_exe().context("finding this program's own path")?;
    path.into_os_string().into_string().map_err(|path| {
        let message = format!("the path {} is not UTF-8", PathBuf::from(path).display());
        Failure::refused(message, "move the program to a directory with a plain name")
    })
}

fn registry_config(settings: &Settings) -> registry::Config {
    let default = registry::Config::default();
    let hours = |hours: u32| Duration::from_hours(u64::from(hours.max(1)));
    registry::Config {
        live_versions_max: settings.live_versions.unwrap_or(default.live_versions_max),
        operation_retention: settings.operation_hours.map_or(default.operation_retention, hours),
        tape_retention: settings.tape_hours.map_or(default.tape_retention, |hours| Duration::from_hours(hours.into())),
        ..default
    }
}

fn runner_config(settings: &Settings, data: &DataDir, keys: &KeyRing, program: &str) -> runner::Config {
    let default = runner::Config::new(cache(settings, data), keys.derive(CACHE_KEY_LABEL), program);
    let runners = Runners::new(THIS_PROGRAM);
    let count = settings.runners.and_then(|count| usize::try_from(count).ok()).unwrap_or(runners.count);
    runner::Config {
        runners: Some(Runners { count, ..runners }),
        egress: settings.egress.clone(),
        runs: settings.limits.of_runs(default.runs, settings.parallel_runs, settings.queued_runs),
        limits_max: settings.run_limits,
        ..default
    }
}

fn builder_config(settings: &Settings, data: &DataDir, program: &str) -> builder::Config {
    let default = builder::Config::new(cache(settings, data), data.scratch(), program);
    builder::Config {
        workers: is_external(settings).then(|| WorkersPlace::new(data.workers(), THIS_PROGRAM)),
        builds: settings.limits.of_builds(default.builds),
        limits_max: settings.run_limits,
        ..settings.builds.over(default)
    }
}

fn is_external(settings: &Settings) -> bool {
    settings.build_workers == BuildWorkers::External
}

/// What can be made again; several data directories with the same master key may share it.
fn cache(settings: &Settings, data: &DataDir) -> PathBuf {
    settings.cache.clone().unwrap_or_else(|| data.cache())
}
