//! The pool of runner processes, which assigns each run to a runner.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use registry::Digest;
use tokio::sync::{mpsc, oneshot, watch};

use super::in_flight_run::Job;
use super::messages::RunNumber;
use super::spawner::ProcessSpawner;
use super::supervisor::{Request, RunnerStatus, RunnerSupervisor, SupervisorContext};
use crate::config::Runners;
use crate::sandbox::code::CodeStore;
use crate::{Config, Error, Executed, Execution, Ports};

/// Runs executions in runner processes. Clones share the processes.
#[derive(Clone)]
pub struct RunnerPool(Arc<PooledRunners>);

struct PooledRunners {
    runners: Vec<RunnerHandle>,
    runs: AtomicU64,
    alive: watch::Receiver<usize>,
}

struct RunnerHandle {
    requests: mpsc::UnboundedSender<Request>,
    status: Arc<RunnerStatus>,
}

impl RunnerPool {
    /// Starts the supervisors on the caller's runtime. Their runners are ready some milliseconds later.
    ///
    /// # Errors
    /// When there is no runtime, or the system has no thread.
    pub fn start(config: &Config, runners: &Runners, codes: CodeStore) -> Result<Self, Error> {
        let spawner = ProcessSpawner::new("runners");
        let spawner = spawner.map_err(|error| Error::internal(format!("runners cannot be started: {error}")))?;
        let (alive, is_alive) = watch::channel(0);
        let context = Arc::new(SupervisorContext {
            spawner,
            command: runners.command.clone(),
            // A single living runner gets all runs.
            parallel_runs_max: config.instances_max(),
            codes,
            alive,
            has_warned: AtomicBool::new(false),
        });
        let runners = (0..runners.count.max(1)).map(|_| RunnerHandle::start(&context)).collect();
        Ok(Self(Arc::new(PooledRunners { runners, runs: AtomicU64::new(0), alive: is_alive })))
    }

    /// Returns a channel that always has the current number of living runners.
    #[must_use]
    pub fn alive(&self) -> watch::Receiver<usize> {
        self.0.alive.clone()
    }

    /// Loads a component into every runner, before its first run.
    pub fn load(&self, component: &Digest) {
        for runner in &self.0.runners {
            drop(runner.requests.send(Request::Load(*component))); // a supervisor that has ended has no runs
        }
    }

    /// Runs one input. The result tells how the run ended, also when its runner died; `Err` is a fault of the host.
    ///
    /// # Errors
    /// `Internal` when the code cannot be loaded, or no runner starts.
    pub async fn run(&self, execution: Box<Execution>, ports: Ports) -> Result<Executed, Error> {
        let run = self.0.runs.fetch_add(1, Ordering::Relaxed);
        let mut assigned = AssignedRun::new(self.0.find_least_loaded()?, run);
        let (answer, ended) = oneshot::channel();
        let job = Job { execution, ports, answer };
        let sent = assigned.runner.requests.send(Request::Run(run, Box::new(job)));
        sent.map_err(|_| Error::internal("the runner's supervisor has ended"))?;
        let executed = ended.await;
        assigned.is_over = true;
        executed.map_err(|_| Error::internal("the run was lost"))?
    }
}

impl PooledRunners {
    /// Returns the runner with the fewest runs, preferring living ones to those that are being replaced.
    fn find_least_loaded(&self) -> Result<&RunnerHandle, Error> {
        let order = |runner: &&RunnerHandle| {
            let status = &runner.status;
            (!status.is_alive.load(Ordering::Relaxed), status.runs.load(Ordering::Relaxed))
        };
        self.runners.iter().min_by_key(order).ok_or_else(|| Error::internal("the pool has no runner"))
    }
}

impl RunnerHandle {
    fn start(context: &Arc<SupervisorContext>) -> Self {
        let (requests, inbox) = mpsc::unbounded_channel();
        let status = Arc::<RunnerStatus>::default();
        RunnerSupervisor { context: context.clone(), status: status.clone(), requests: inbox }.start();
        Self { requests, status }
    }
}

/// A run counted at its runner. Dropping it before the run is over cancels the run.
struct AssignedRun<'p> {
    runner: &'p RunnerHandle,
    run: RunNumber,
    is_over: bool,
}

impl<'p> AssignedRun<'p> {
    fn new(runner: &'p RunnerHandle, run: RunNumber) -> Self {
        runner.status.runs.fetch_add(1, Ordering::Relaxed);
        Self { runner, run, is_over: false }
    }
}

impl Drop for AssignedRun<'_> {
    fn drop(&mut self) {
        self.runner.status.runs.fetch_sub(1, Ordering::Relaxed);
        if !self.is_over {
            drop(self.runner.requests.send(Request::Cancel(self.run))); // without a supervisor there is no run
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Code, CodeBundle, CodeCache, Limits};

    fn pool(command: &[&str]) -> (RunnerPool, tempfile::TempDir) {
        let cache = tempfile::tempdir().unwrap();
        let config = Config::new(cache.path().into(), [1; 32], "unused");
        let codes = CodeStore::new(CodeCache::open(&config.cache_dir, config.cache_key).unwrap());
        let command = command.iter().map(|&word| word.to_owned()).collect();
        (RunnerPool::start(&config, &Runners { command, count: 2 }, codes).unwrap(), cache)
    }

    fn execution() -> Execution {
        Execution {
            code: Code { component: Digest::of(b"a component"), bundle: CodeBundle::default() },
            documents: crate::RunDocuments::default(),
            limits: Limits::DEFAULT,
            group: 0,
            tape_mode: crate::TapeMode::Off,
            interaction: crate::Interaction::default(),
        }
    }

    /// These programs fail in place of a runner's first message.
    #[tokio::test]
    async fn programs_that_are_not_runners_fail_their_runs() {
        let programs: [&[&str]; 5] = [
            &[],
            &["/nowhere/at/all"],
            &["true"],
            &["sh", "-c", "cat >&0"],
            &["sh", "-c", r"printf '\377\377\377\377' >&0; exec sleep 60"],
        ];
        for program in programs {
            let (pool, _cache) = pool(program);
            let run = tokio::time::timeout(Duration::from_secs(300), pool.run(Box::new(execution()), Ports::closed()));
            let error = run.await.unwrap_or_else(|_| panic!("{program:?} kept a run waiting")).unwrap_err();
            assert!(matches!(error, Error::Internal { .. }), "{program:?}: {error}");
            assert_eq!(*pool.alive().borrow(), 0, "{program:?}");
        }
    }

    #[tokio::test]
    async fn runs_go_to_the_least_loaded_runner() {
        let (pool, _cache) = pool(&["cat"]);
        let numbers = |runner: &RunnerHandle| runner.status.runs.load(Ordering::Relaxed);
        let assigned: Vec<_> = (0..5).map(|run| AssignedRun::new(pool.0.find_least_loaded().unwrap(), run)).collect();
        assert_eq!(pool.0.runners.iter().map(numbers).collect::<Vec<_>>(), [3, 2]);
        // A living runner is preferred, however many runs it has.
        pool.0.runners[0].status.is_alive.store(true, Ordering::Relaxed);
        assert!(std::ptr::eq(pool.0.find_least_loaded().unwrap(), &raw const pool.0.runners[0]));
        drop(assigned);
        assert_eq!(pool.0.runners.iter().map(numbers).collect::<Vec<_>>(), [0, 0]);
    }
}
