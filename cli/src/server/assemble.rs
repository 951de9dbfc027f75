//! Assembles a server, for `serve` and the demo.

use std::path::PathBuf;
use std::time::Duration;

use agents::{AgentServices, AgentStore};
use anyhow::Context;
use api::{App, Parts, Readiness, Server};
use builder::{Builder, BuilderServices};
use registry::{Artifacts, Clock, DataDir, DataDirLock, KeyRing, NodeDescription, Nodes, Store, StoreOptions};
use repository::{GitProgram, GitServer, Repositories, RepositorySharing};
use runner::Invoker;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::caches::drop_expired_entries;
use super::configs::{
    configure_agent_store, configure_agents, configure_api, configure_builder, configure_registry, configure_runner,
    is_external, locate_cache,
};
use super::heartbeat::fire_tasks;
use super::settings::Settings;
use super::sweep::{collect_hourly, repair_packs, sweep_hourly};
use super::telemetry::{Metrics, StallWatch};
use super::vectors::make_vectors;
use super::{node, storage};
use crate::failure::Failure;

/// Label from which the key of the compiled code cache is derived.
pub const CACHE_KEY_LABEL: &str = "compiled code cache";

/// Pause after a failure to prepare the images; each further one is twice as long.
const PREPARE_PAUSE_MIN: Duration = Duration::from_secs(1);
/// Longest pause: the time that a server stays unready after the machine works again.
const PREPARE_PAUSE_MAX: Duration = Duration::from_secs(10);

// Parts of the server that are ready some time after the start.
const IMAGES: &str = "language images";
const RUNNERS: &str = "runners";

/// A server that listens and does not serve yet.
pub struct Assembled {
    server: Server,
    app: App,
    builder: Builder,
    agents: AgentServices,
    git: GitServer,
    runners: Option<watch::Receiver<usize>>,
    artifacts: Artifacts,
    clock: Clock,
    metrics: Option<(Server, Metrics)>,
    has_workers: bool,
    /// Prevents a second server on the data directory.
    _lock: DataDirLock,
}

impl Assembled {
    pub fn url(&self) -> String {
        format!("http://{}", self.server.local_address())
    }

    /// Serves until `shutdown` and for the delay that it returns, then finishes the running requests and their records.
    pub async fn serve(self, shutdown: impl Future<Output = Duration>) -> anyhow::Result<()> {
        let agent_store = self.agents.store().clone();
        let store = agent_store.registry();
        let _stalls = StallWatch::start(Handle::current()).context("starting the runtime watchdog")?;
        let checking = tokio::spawn(check_sandbox(self.builder.clone(), self.has_workers));
        let preparing =
            tokio::spawn(prepare(self.builder, self.agents.invoker().clone(), self.app.readiness().clone()));
        let watching = tokio::spawn(watch_runners(self.runners, self.app.readiness().clone()));
        let metrics = tokio::spawn(serve_metrics(self.metrics, self.clock, store.clone()));
        let sweeping = tokio::spawn(sweep_hourly(agent_store.clone(), self.artifacts));
        let embedding = tokio::spawn(make_vectors(agent_store.clone()));
        let firing = tokio::spawn(fire_tasks(self.agents.due_tasks.clone()));
        let dropping = tokio::spawn(drop_expired_entries(self.agents.clone()));
        let repairing = tokio::spawn(repair_packs(self.git.clone()));
        let collecting = tokio::spawn(collect_hourly(self.git));
        let keeping = store.is_shared().then(|| tokio::spawn(node::keep(store.clone(), self.agents.invoker().clone())));
        let taking_over = tokio::spawn(api::take_over_publications(self.app.clone()));
        let carrying_on = tokio::spawn(api::take_over_agent_runs(self.app.clone()));
        let served = api::serve(self.server, self.app, shutdown).await;
        preparing.abort();
        checking.abort();
        watching.abort();
        sweeping.abort();
        embedding.abort();
        firing.abort();
        dropping.abort();
        repairing.abort();
        collecting.abort();
        taking_over.abort();
        carrying_on.abort();
        leave(&store.nodes(), keeping).await;
        store.close().await;
        // Metrics are served until the end, so that operators see the shutdown.
        metrics.abort();
        Ok(served?)
    }
}

/// Tells the other servers that this one has ended.
async fn leave(nodes: &Nodes, keeping: Option<JoinHandle<()>>) {
    let Some(keeping) = keeping else { return };
    keeping.abort();
    if let Err(error) = nodes.leave().await {
        tracing::warn!(%error, "other servers will find out by themselves that this one has ended");
    }
}

/// Compiles and loads the language images before the first tool needs them. Until then the server answers requests and
/// is not ready. A failure is tried again: the machine may have been short of memory.
async fn prepare(builder: Builder, invoker: Invoker, readiness: Readiness) {
    let (mut pause, began) = (PREPARE_PAUSE_MIN, Instant::now());
    loop {
        match builder.prepare().await {
            Ok(image) => {
                invoker.load_early(&image);
                readiness.has(IMAGES);
                tracing::info!(
                    duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
                    "the language image is ready"
                );
                return;
            }
            Err(error) if error.is_passing() => {
                readiness
                    .lacks(IMAGES, "compiling an image was interrupted, and is tried again; the log has the reason");
                let again_s = pause.as_secs();
                tracing::warn!(%error, again_s, "compiling a language image was interrupted; the server tries it again");
            }
            Err(error) => {
                readiness.lacks(IMAGES, "an image does not compile; the log has the reason");
                tracing::error!(%error, "a language image does not compile; tools in this language cannot be built");
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PREPARE_PAUSE_MAX);
    }
}

/// Checks the build sandbox before the first build needs it, so that the operator learns early what is missing.
async fn check_sandbox(builder: Builder, has_workers: bool) {
    if has_workers {
        return; // Workers check their own sandbox.
    }
    match builder.sandbox().await {
        Ok(sandbox) => tracing::debug!(bubblewrap = %sandbox.program().display(), "the build sandbox works"),
        Err(missing) => tracing::warn!(
            reason = missing.reason,
            remedy = missing.remedy,
            "builds cannot be confined; languages that run an author's code natively are refused"
        ),
    }
}

/// Reports the server as not ready while no runner is alive.
async fn watch_runners(runners: Option<watch::Receiver<usize>>, readiness: Readiness) {
    let Some(mut runners) = runners else { return };
    loop {
        match *runners.borrow_and_update() {
            0 => readiness.lacks(RUNNERS, "no runner is alive; the log has the reason"),
            _ => readiness.has(RUNNERS),
        }
        if runners.changed().await.is_err() {
            return; // The server ends.
        }
    }
}

async fn serve_metrics(metrics: Option<(Server, Metrics)>, clock: Clock, store: Store) {
    let Some((server, metrics)) = metrics else { return };
    let upkeep = metrics.clone().run_upkeep();
    let render = move || {
        store.measure_connections();
        metrics.render()
    };
    server.serve_metrics(&clock, render, upkeep).await;
}

/// Starts the metrics listener and recorder, if configured. Samples recorded before this are lost.
async fn start_metrics(settings: &Settings) -> anyhow::Result<Option<(Server, Metrics)>> {
    let Some(server) = settings.values.metrics_listen.unwrap_or_default().bind().await? else { return Ok(None) };
    Ok(Some((server, Metrics::start()?)))
}

/// Opens everything that a server needs, dependencies first. Requests are served from [`Assembled::serve`] on.
pub async fn assemble(settings: &Settings) -> anyhow::Result<Assembled> {
    let git = find_git()?;
    let data = DataDir::open(&settings.location.directory)?;
    let lock = data.lock()?;
    let server = Server::bind(settings.values.listen()).await?;
    let clock = Clock::system();
    let metrics = start_metrics(settings).await?;
    let keys = KeyRing::load(&data)?;
    let options = StoreOptions {
        data: &data,
        database: settings.location.database.clone(),
        keys: &keys,
        clock: clock.clone(),
        config: configure_registry(settings),
    };
    let agent_store = AgentStore::open(options, configure_agent_store(settings)?).await?;
    let store = agent_store.registry();
    store.nodes().describe(describe(&server));
    begin(store).await?;
    let artifacts = settings.values.storage.open(&data, &keys).await?;
    let program = find_program()?;
    let runner_default = runner::Config::new(locate_cache(settings, &data), keys.derive(CACHE_KEY_LABEL), &program);
    let runner_default = runner::Config { base_url: build_base_url(settings, &server), ..runner_default };
    let runner_config = configure_runner(settings, runner_default);
    let agents =
        AgentServices::start(&runner_config, configure_agents(settings)?, agent_store.clone(), artifacts.clone())?;
    let git_config = repository::Config { root: data.git(), hook_program: PathBuf::from(&program) };
    let records = storage::open_shared_repositories(store, &artifacts).await?;
    let records = storage::take_restored_packs(records, &data).await?;
    let sharing = records.map(|records| RepositorySharing { records, git: git.clone(), copies: data.git_copies() });
    let repositories = Repositories::open(git_config, clock.clone(), sharing).await?;
    let services = BuilderServices {
        store: store.clone(),
        artifacts: artifacts.clone(),
        repositories: repositories.clone(),
        invoker: agents.invoker().clone(),
    };
    let builder = Builder::new(configure_builder(settings, &data, &program), services).await?;
    let git = GitServer::new(repositories.clone(), git, settings.values.limits.git())?;
    let config = configure_api(settings);
    let parts =
        Parts { agents: agents.clone(), builder: builder.clone(), repositories, git, clock: clock.clone(), config };
    let git = parts.git.clone();
    let runners = parts.agents.invoker().runners_alive();
    let app = App::new(parts);
    app.readiness()
        .lacks(IMAGES, "the image of Python is being compiled, once on this machine; the log says when it is ready");
    Ok(Assembled {
        server,
        app,
        builder,
        agents,
        git,
        runners,
        artifacts,
        clock,
        metrics,
        has_workers: is_external(settings),
        _lock: lock,
    })
}

/// What the list of a database's servers says about this one.
fn describe(server: &Server) -> NodeDescription {
    NodeDescription {
        name: read_machine_name(),
        address: server.local_address().to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// The name of this machine or container; empty when the kernel does not tell.
fn read_machine_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").map_or_else(|_| String::new(), |name| name.trim().to_owned())
}

/// The URL that clients reach the server by, for links to it.
fn build_base_url(settings: &Settings, server: &Server) -> String {
    let local = || format!("http://{}", server.local_address());
    settings.values.public_url.as_ref().map_or_else(local, ToString::to_string)
}

fn find_git() -> anyhow::Result<GitProgram> {
    GitProgram::find()
        .map_err(|error| Failure::refused(error.to_string(), "`lathe doctor` shows the command that installs git"))
}

/// Closes the history records of runs that an earlier start of the server did not finish. Servers that share a database tell
/// each other first that they are there: after an outage of the database, those that live may not have done so yet, and
/// [`node::keep`] waits for them.
async fn begin(store: &Store) -> anyhow::Result<()> {
    let nodes = store.nodes();
    if store.is_shared() {
        nodes.heartbeat().await?;
        nodes.count().await?;
        return Ok(());
    }
    let closed = nodes.close_orphans().await?;
    nodes.count().await?;
    if closed > 0 {
        tracing::warn!(closed, "some runs of an earlier start did not finish; their history records are closed");
    }
    Ok(())
}

/// The path of this program, which is also the compiler, the bundler and the git hook.
pub fn find_program() -> anyhow::Result<String> {
    let path = std::env::current_exe().context("finding this program's own path")?;
    path.into_os_string().into_string().map_err(|path| {
        let message = format!("the path {} is not UTF-8", PathBuf::from(path).display());
        Failure::refused(message, "move the program to a directory whose name is UTF-8")
    })
}
