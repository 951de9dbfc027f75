//! Runs one input: instantiates the component, calls it, drops it. Without access to the store or the network.

mod loaded_components;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use wasmtime::{Engine, Store, UpdateDeadline};

use crate::sandbox::bindings::tool::lathe::tool::types::{Context, ToolError};
use crate::sandbox::code::CodeStore;
use crate::sandbox::engine::{EngineCapacity, FairScheduler, Ticker};
use crate::sandbox::executed::Executed;
use crate::sandbox::execution::RunDocuments;
use crate::sandbox::host::{Host, HostSettings};
use crate::sandbox::memory_reuse::{self, MemoryRefusals, MemoryReuse, Pagemap};
use crate::sandbox::outcome::{self, Outcome};
use crate::sandbox::tape::End;
use crate::sandbox::{run_end, stopped_calls};
use crate::{Config, Error, Execution, Ports};
use loaded_components::{Engines, LoadedComponent, LoadedComponents};

struct Job {
    execution: Box<Execution>,
    ports: Ports,
    answer: oneshot::Sender<Result<Executed, Error>>,
}

/// Runs executions interleaved, on one thread of this process.
///
/// Instances that are created and dropped on several threads of one process contend for its address space, and slow each
/// other down.
#[derive(Clone)]
pub struct Sandbox {
    jobs: mpsc::UnboundedSender<Job>,
}

impl Sandbox {
    /// Starts the guest thread, which loads compiled code from the store.
    ///
    /// # Errors
    /// When the engine's settings do not fit the machine.
    pub fn start(config: &Config, codes: CodeStore) -> Result<Self, Error> {
        let guests = GuestRuntime::new(config.instances_max(), Some(codes), Pagemap::open())?;
        let (jobs, inbox) = mpsc::unbounded_channel();
        spawn(guests, inbox).map_err(|error| Error::internal(error.to_string()))?;
        Ok(Self { jobs })
    }

    /// Runs one input. The result tells how the run ended; `Err` is a fault of the host.
    ///
    /// # Errors
    /// `Internal` when the code cannot be loaded or the guest thread is gone.
    pub async fn run(&self, execution: Box<Execution>, ports: Ports) -> Result<Executed, Error> {
        let (answer, ended) = oneshot::channel();
        self.jobs.send(Job { execution, ports, answer }).map_err(|_| Error::internal("the guest thread has ended"))?;
        ended.await.map_err(|_| Error::internal("the run was lost"))?
    }
}

/// State shared by all runs of a process, which are on one thread.
pub(crate) struct GuestRuntime {
    pub(crate) components: LoadedComponents,
    ticker: Ticker,
    scheduler: Arc<FairScheduler>,
}

fn spawn(guests: GuestRuntime, inbox: mpsc::UnboundedReceiver<Job>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("guests".into()).spawn(move || {
        runtime.block_on(serve(inbox, Arc::new(guests)));
    })?;
    Ok(())
}

async fn serve(mut inbox: mpsc::UnboundedReceiver<Job>, guests: Arc<GuestRuntime>) {
    while let Some(Job { execution, ports, answer }) = inbox.recv().await {
        let guests = guests.clone();
        tokio::spawn(async move {
            let (ended, store) = guests.execute(execution, ports).await;
            drop(answer.send(ended)); // the caller may be gone
            drop(store); // takes time, so it comes after the answer
        });
    }
}

impl GuestRuntime {
    /// Makes the engines of this process, for a number of concurrent runs.
    ///
    /// # Errors
    /// When the engine's settings do not fit the machine.
    pub(crate) fn new(runs: u32, codes: Option<CodeStore>, pagemap: Option<Pagemap>) -> Result<Self, Error> {
        let capacity = EngineCapacity::new(runs);
        let pool = memory_reuse::build_pool_engine(capacity)?;
        let ticker = Ticker::start(&pool).map_err(|error| Error::internal(error.to_string()))?;
        let engines = Engines { pool, memory_reuse: MemoryReuse::new(capacity, pagemap), ticker: ticker.clone() };
        Ok(Self { components: LoadedComponents::new(engines, codes)?, ticker, scheduler: Arc::default() })
    }

    /// Runs one input. Returns the run's store as well, since dropping it takes time.
    pub(crate) async fn execute(
        &self,
        mut execution: Box<Execution>,
        ports: Ports,
    ) -> (Result<Executed, Error>, Option<Store<Host>>) {
        let component = match self.components.get(&execution.code.component) {
            Ok(component) => component,
            Err(Error::Rejected { reason }) => return (Ok(Executed::rejected(&reason)), None),
            Err(error) => return (Err(error), None),
        };
        #[expect(clippy::disallowed_methods, reason = "a duration, measured where the run is")]
        let started = Instant::now();
        let (limits, group) = (execution.limits, execution.group);
        let bundle = execution.code.bundle.bytes().clone();
        let refusals = component.memories.clone().map(MemoryRefusals::new);
        let mut store = build_store(component.tool.engine(), &mut execution, ports);
        store.data_mut().limiter.refusals = refusals.clone().map(|refusals| Box::new(refusals) as _);
        let _ticking = self.ticker.run();
        let (cpu, times) = (store.data().cpu.clone(), store.data().times.clone());
        let call = cpu.measure(times.measure(call(&mut store, &component, execution)));
        let call = self.scheduler.clone().run(group, call);
        let timed_out =
            |_| EndedCall { outcome: outcome::build_wall_timeout(limits.wall()), stopped: Some(End::Clock) };
        let ended = tokio::time::timeout(limits.wall(), call).await.unwrap_or_else(timed_out);
        let mut executed = build_executed(store.data_mut(), ended, started.elapsed());
        let Outcome::Failed { exception_stack_trace, .. } = &mut executed.outcome else {
            return (Ok(executed), Some(store));
        };
        if let Some(refusals) = &refusals
            && stopped_calls::is_out_of_memory(exception_stack_trace)
        {
            exception_stack_trace.extend(refusals.read_stack_trace(&bundle));
        }
        let Some(memories) = component.memories.as_ref().filter(|_| exception_stack_trace.is_empty()) else {
            return (Ok(executed), Some(store));
        };
        // The interpreter was stopped: its memory has the calls that it was in. All runs are on this thread, so the next memory
        // that is returned is that of this run.
        let read = memories.read_next(move |memory| stopped_calls::read_stack_trace(memory, &bundle));
        drop(store);
        *exception_stack_trace = read.try_recv().unwrap_or_default();
        (Ok(executed), None)
    }
}

/// How a call of a tool ended.
struct EndedCall {
    outcome: Outcome,
    /// `None` if the call ended by itself.
    stopped: Option<End>,
}

fn build_executed(host: &mut Host, call: EndedCall, duration: Duration) -> Executed {
    let EndedCall { outcome, stopped } = call;
    let tape = host.end_tape(stopped.map_or(Ok(&outcome), Err));
    let output_bytes = if let Outcome::Succeeded { output } = &outcome { output.len() as u64 } else { 0 };
    let logs = host.log.build_printed(host.status.describe_refusals());
    let (ledger, content) = (host.build_ledger(output_bytes, duration), host.content.take());
    let asked = std::mem::take(&mut host.asked);
    Executed { outcome, duration, is_called: host.is_called, logs, content, ledger, tape, asked }
}

fn build_store(engine: &Engine, execution: &mut Execution, ports: Ports) -> Store<Host> {
    let limits = execution.limits;
    let tape_mode = std::mem::take(&mut execution.tape_mode);
    let interaction = std::mem::take(&mut execution.interaction);
    let bundle = execution.code.bundle.bytes().clone();
    let settings = HostSettings { bundle, limits: &limits, tape_mode, interaction };
    let host = Host::new(settings, ports);
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

async fn call(store: &mut Store<Host>, component: &LoadedComponent, execution: Box<Execution>) -> EndedCall {
    let limits = execution.limits;
    let outcome = match try_call(&mut *store, component, execution).await {
        Ok(Ok(output)) if output.len() > limits.output_bytes => {
            outcome::failed("output_too_large", "the output is larger than the host reads")
        }
        Ok(Ok(output)) => Outcome::Succeeded { output },
        Ok(Err(raised)) => outcome::build_raised(raised),
        Err(error) => {
            let stopped = run_end::find_early_end(&error);
            let (memory_refused, printed) = (store.data().limiter.memory_refused, store.data().log.read_text());
            let panicked = run_end::find_panic(&error, memory_refused, &printed);
            let outcome = panicked.unwrap_or_else(|| run_end::build_outcome(&error, &limits, memory_refused));
            let is_interpreter = component.memories.is_some();
            let outcome = if is_interpreter { outcome } else { run_end::with_functions(outcome, &error) };
            return EndedCall { outcome, stopped };
        }
    };
    EndedCall { outcome, stopped: None }
}

async fn try_call(
    store: &mut Store<Host>,
    component: &LoadedComponent,
    execution: Box<Execution>,
) -> wasmtime::Result<Result<String, ToolError>> {
    let tool = component.tool.instantiate_async(&mut *store).await.map_err(run_end::mark_instantiation)?;
    let RunDocuments { tool_input, metadata, config, conversation, user_variables } = execution.documents;
    store.data_mut().is_called = true;
    let context = Context { tool_input, metadata, config, conversation, user_variables };
    tool.call_run_tool(store, &context).await
}
