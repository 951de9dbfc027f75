//! The runner processes of a server, and which of them gets a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use registry::Digest;
use tokio::sync::{mpsc, oneshot, watch};

use super::flight::Job;
use super::keeper::{Common, Keeper, Request, Seat};
use super::messages::RunNumber;
use super::starter::Starter;
use crate::codes::Codes;
use crate::config::Runners;
use crate::{Config, Error, Executed, Execution, Ports};

/// Runs executions in processes of their own. Clones are one pool.
#[derive(Clone)]
pub struct Pool(Arc<Shared>);

struct Shared {
    places: Vec<Place>,
    runs: AtomicU64,
    alive: watch::Receiver<usize>,
}

struct Place {
    requests: mpsc::UnboundedSender<Request>,
    seat: Arc<Seat>,
}

impl Pool {
    /// Starts the keepers, whose runners are ready some milliseconds later, on the runtime of the caller.
    ///
    /// # Errors
    /// When there is no runtime, or the system has no thread to give.
    pub fn start(config: &Config, runners: &Runners, codes: Codes) -> Result<Self, Error> {
        let starter = Starter::new().map_err(|error| Error::internal(format!("starting the runners: {error}")))?;
        let (alive, is_alive) = watch::channel(0);
        let common = Arc::new(Common {
            starter,
            command: runners.command.clone(),
            // A runner gets all of them while it is the only one.
            parallel_runs_max: u32::try_from(config.runs.parallel_max).unwrap_or(u32::MAX),
            codes,
            alive,
            said: AtomicBool::new(false),
        });
        let places = (0..runners.count.max(1)).map(|_| Place::start(&common)).collect();
        Ok(Self(Arc::new(Shared { places, runs: AtomicU64::new(0), alive: is_alive })))
    }

    /// How many runners are alive, now and later.
    #[must_use]
    pub fn alive(&self) -> watch::Receiver<usize> {
        self.0.alive.clone()
    }

    /// Has every runner load a component, so that its first run need not wait for that.
    pub fn load(&self, component: &Digest) {
        for place in &self.0.places {
            drop(place.requests.send(Request::Load(*component))); // a keeper that has ended has no runs
        }
    }

    /// Runs one input. How it ends is in the answer, also when its runner died; `Err` is the host's fault.
    ///
    /// # Errors
    /// `Internal` when the code cannot be loaded, or no runner starts.
    pub async fn run(&self, execution: Box<Execution>, ports: Ports) -> Result<Executed, Error> {
        let run = self.0.runs.fetch_add(1, Ordering::Relaxed);
        let mut taken = Taken::of(self.0.emptiest()?, run);
        let (answer, ended) = oneshot::channel();
        let job = Job { execution, ports, answer };
        let sent = taken.place.requests.send(Request::Run(run, Box::new(job)));
        sent.map_err(|_| Error::internal("the runner's keeper has ended"))?;
        let executed = ended.await;
        taken.is_over = true;
        executed.map_err(|_| Error::internal("the run was lost"))?
    }
}

impl Shared {
    /// The runner with the fewest runs. One that is being replaced gets some only when there is no other.
    fn emptiest(&self) -> Result<&Place, Error> {
        let order = |place: &&Place| {
            let seat = &place.seat;
            (!seat.is_alive.load(Ordering::Relaxed), seat.runs.load(Ordering::Relaxed))
        };
        self.places.iter().min_by_key(order).ok_or_else(|| Error::internal("there is no runner"))
    }
}

impl Place {
    fn start(common: &Arc<Common>) -> Self {
        let (requests, inbox) = mpsc::unbounded_channel();
        let seat = Arc::<Seat>::default();
        Keeper { common: common.clone(), seat: seat.clone(), requests: inbox }.start();
        Self { requests, seat }
    }
}

/// A run's share of its runner. Dropping it frees the share, and stops the run if it goes on.
struct Taken<'p> {
    place: &'p Place,
    run: RunNumber,
    is_over: bool,
}

impl<'p> Taken<'p> {
    fn of(place: &'p Place, run: RunNumber) -> Self {
        place.seat.runs.fetch_add(1, Ordering::Relaxed);
        Self { place, run, is_over: false }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.place.seat.runs.fetch_sub(1, Ordering::Relaxed);
        if !self.is_over {
            drop(self.place.requests.send(Request::Cancel(self.run))); // without a keeper there is no run
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Code, Compiled, Limits};

    fn pool(command: &[&str]) -> (Pool, tempfile::TempDir) {
        let cache = tempfile::tempdir().unwrap();
        let config = Config::new(cache.path().into(), [1; 32], "unused");
        let codes = Codes::new(Compiled::open(&config.cache_dir, config.cache_key).unwrap());
        let command = command.iter().map(|&word| word.to_owned()).collect();
        (Pool::start(&config, &Runners { command, count: 2 }, codes).unwrap(), cache)
    }

    fn execution() -> Execution {
        Execution {
            code: Code { component: Digest::of(b"a component"), bundle: Arc::default() },
            tool_input: String::new(),
            metadata: String::new(),
            config: String::new(),
            conversation: String::new(),
            user_variables: String::new(),
            limits: Limits::DEFAULT,
            group: 0,
            taping: crate::Taping::Off,
        }
    }

    /// What they say stands where a runner's first message would.
    #[tokio::test]
    async fn programs_that_are_no_runners_fail_runs_and_keep_nobody_waiting() {
        let programs: [&[&str]; 5] = [
            &[],
            &["/nowhere/at/all"],
            &["true"],
            &["sh", "-c", "cat >&0"],
            &["sh", "-c", r"printf '\377\377\377\377' >&0; exec sleep 60"],
        ];
        for program in programs {
            let (pool, _cache) = pool(program);
            let run = tokio::time::timeout(Duration::from_secs(10), pool.run(Box::new(execution()), Ports::closed()));
            let error = run.await.unwrap_or_else(|_| panic!("{program:?} kept a run waiting")).unwrap_err();
            assert!(matches!(error, Error::Internal { .. }), "{program:?}: {error}");
            assert_eq!(*pool.alive().borrow(), 0, "{program:?}");
        }
    }

    #[tokio::test]
    async fn runs_go_where_there_are_the_fewest() {
        let (pool, _cache) = pool(&["cat"]);
        let numbers = |place: &Place| place.seat.runs.load(Ordering::Relaxed);
        let taken: Vec<_> = (0..5).map(|run| Taken::of(pool.0.emptiest().unwrap(), run)).collect();
        assert_eq!(pool.0.places.iter().map(numbers).collect::<Vec<_>>(), [3, 2]);
        // One that is alive comes before one that is not, whatever it has.
        pool.0.places[0].seat.is_alive.store(true, Ordering::Relaxed);
        assert!(std::ptr::eq(pool.0.emptiest().unwrap(), &raw const pool.0.places[0]));
        drop(taken);
        assert_eq!(pool.0.places.iter().map(numbers).collect::<Vec<_>>(), [0, 0]);
    }
}
