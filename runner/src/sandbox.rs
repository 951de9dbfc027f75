//! One run: instantiate, call, drop. Knows no store and no network.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use wasmtime::{Engine, Store, UpdateDeadline};

use crate::bindings::tool::lathe::tool::types::{Context, ToolError};
use crate::codes::Codes;
use crate::engine::{self, Room};
use crate::guest::{Components, Images, Prepared};
use crate::host::Host;
use crate::outcome::{Executed, Outcome};
use crate::slots::{Idle, Pagemap, Stacks};
use crate::tape::{End, Taped};
use crate::ticker::Ticker;
use crate::turns::Turns;
use crate::{Config, Error, Execution, Ports, stopped};

struct Job {
    execution: Box<Execution>,
    ports: Ports,
    answer: oneshot::Sender<Result<Executed, Error>>,
}

/// Runs executions on a thread of its own, interleaved.
///
/// One thread, because instances that come and go on several threads of one
/// process contend for its address space and get slower together.
#[derive(Clone)]
pub struct Sandbox {
    jobs: mpsc::UnboundedSender<Job>,
}

impl Sandbox {
    /// Starts the guest thread over compiled code.
    ///
    /// # Errors
    /// When the engine's settings do not fit the machine.
    pub fn start(config: &Config, codes: Codes) -> Result<Self, Error> {
        let parallel_runs_max = u32::try_from(config.runs.parallel_max).unwrap_or(u32::MAX);
        let guests = Guests::new(parallel_runs_max, Some(codes), Pagemap::open())?;
        let (jobs, inbox) = mpsc::unbounded_channel();
        spawn(guests, inbox).map_err(|error| Error::internal(error.to_string()))?;
        Ok(Self { jobs })
    }

    /// Runs one input. How it ends is in the answer; `Err` is the host's fault.
    ///
    /// # Errors
    /// `Internal` when the code cannot be loaded or the guest thread is gone.
    pub async fn run(&self, execution: Box<Execution>, ports: Ports) -> Result<Executed, Error> {
        let (answer, ended) = oneshot::channel();
        self.jobs.send(Job { execution, ports, answer }).map_err(|_| Error::internal("the guest thread has ended"))?;
        ended.await.map_err(|_| Error::internal("the run was lost"))?
    }
}

/// What runs of this process share. All of them are on one thread.
pub(crate) struct Guests {
    pub(crate) components: Components,
    ticker: Ticker,
    turns: Arc<Turns>,
}

fn spawn(guests: Guests, inbox: mpsc::UnboundedReceiver<Job>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("guests".into()).spawn(move || {
        runtime.block_on(serve(inbox, Arc::new(guests)));
    })?;
    Ok(())
}

async fn serve(mut inbox: mpsc::UnboundedReceiver<Job>, guests: Arc<Guests>) {
    while let Some(Job { execution, ports, answer }) = inbox.recv().await {
        let guests = guests.clone();
        tokio::spawn(async move {
            let (ended, store) = guests.execute(execution, ports).await;
            drop(answer.send(ended)); // who asked may have gone
            drop(store); // takes time, and nobody waits for it
        });
    }
}

impl Guests {
    /// Makes the engines of this process, for as many runs at once.
    ///
    /// # Errors
    /// When the engine's settings do not fit the machine.
    pub(crate) fn new(runs: u32, codes: Option<Codes>, pagemap: Option<Pagemap>) -> Result<Self, Error> {
        let room = Room::new(runs);
        let engine = engine::engine(room).map_err(Error::engine)?;
        let ticker = Ticker::start(&engine).map_err(|error| Error::internal(error.to_string()))?;
        let pagemap = pagemap.map(Arc::new);
        let images = Images { room, pagemap, stacks: Stacks::default(), idle: Idle::default(), ticker: ticker.clone() };
        let components = Components::new(&engine, images, codes)?;
        Ok(Self { components, ticker, turns: Arc::default() })
    }

    /// Runs one input. What is left of it comes along, since dropping it takes time.
    pub(crate) async fn execute(
        &self,
        mut execution: Box<Execution>,
        ports: Ports,
    ) -> (Result<Executed, Error>, Option<Store<Host>>) {
        let prepared = match self.components.get(&execution.code.component) {
            Ok(prepared) => prepared,
            Err(Error::Rejected { reason }) => return (Ok(Executed::rejected(&reason)), None),
            Err(error) => return (Err(error), None),
        };
        #[expect(clippy::disallowed_methods, reason = "a duration, measured where the run is")]
        let started = Instant::now();
        let (limits, group) = (execution.limits, execution.group);
        let mut store = store(prepared.engine(), &mut execution, ports);
        let _ticking = self.ticker.run();
        let (cpu, times) = (store.data().cpu.clone(), store.data().times.clone());
        let call = cpu.counts(times.counts(call(&mut store, &prepared, execution)));
        let call = self.turns.clone().take(group, call);
        let (outcome, stopped) = match tokio::time::timeout(limits.wall(), call).await {
            Ok(ended) => ended,
            Err(_) => (Outcome::timed_out("timeout_wall", limits.wall()), Some(End::Clock)),
        };
        let taped = store.data_mut().end_tape(stopped.map_or(Ok(&outcome), Err));
        (Ok(executed(outcome, started.elapsed(), taped, store.data())), Some(store))
    }
}

fn executed(outcome: Outcome, duration: Duration, taped: Taped, host: &Host) -> Executed {
    let output_bytes = if let Outcome::Succeeded { output } = &outcome { output.len() as u64 } else { 0 };
    let logs = host.log.text() + &host.status.refusals();
    Executed { outcome, duration, is_called: host.is_called, logs, ledger: host.ledger(output_bytes, duration), taped }
}

fn store(engine: &Engine, execution: &mut Execution, ports: Ports) -> Store<Host> {
    let limits = execution.limits;
    let host = Host::new(execution.code.bundle.clone(), &limits, std::mem::take(&mut execution.taping), ports);
    let mut store = Store::new(engine, host);
    store.limiter(|host| &mut host.limiter);
    store.set_hostcall_fuel(limits.hostcall_bytes);
    store.set_max_component_handles(limits.handles);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |context| {
        context.data().tick(&limits)?;
        Ok(UpdateDeadline::Yield(1))
    });
    store
}

/// How it ended, and what stopped it if it did not end by itself.
async fn call(store: &mut Store<Host>, prepared: &Prepared, execution: Box<Execution>) -> (Outcome, Option<End>) {
    let limits = execution.limits;
    let outcome = match try_call(&mut *store, prepared, execution).await {
        Ok(Ok(output)) if output.len() > limits.output_bytes => {
            Outcome::failed("output_too_large", "the output is larger than the host reads")
        }
        Ok(Ok(output)) => Outcome::Succeeded { output },
        Ok(Err(raised)) => Outcome::raised(raised),
        Err(error) => {
            let end = stopped::early(&error);
            let (memory_refused, printed) = (store.data().limiter.memory_refused, store.data().log.text());
            let panicked = stopped::panicked(&error, memory_refused, &printed);
            return (panicked.unwrap_or_else(|| stopped::outcome(&error, &limits, memory_refused)), end);
        }
    };
    (outcome, None)
}

async fn try_call(
    store: &mut Store<Host>,
    prepared: &Prepared,
    execution: Box<Execution>,
) -> wasmtime::Result<Result<String, ToolError>> {
    let tool = prepared.instantiate_async(&mut *store).await.map_err(stopped::while_instantiated)?;
    let Execution { tool_input, metadata, config, conversation, user_variables, .. } = *execution;
    store.data_mut().is_called = true;
    let context = Context { tool_input, metadata, config, conversation, user_variables };
    tool.call_run_tool(store, &context).await
}
