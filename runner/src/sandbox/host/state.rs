//! The host state of one run.

use std::sync::Arc;
use std::time::Duration;

use registry::{ContentCollector, Cost, Denied, Granted, Ledger, Used};
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use super::cpu::Cpu;
use super::environment::{Environment, Prepared};
use super::http::Http;
use super::log::Log;
use super::log_messages::LogMessages;
use super::random::Random;
use super::status::Status;
use super::times::{DurationParts, Times};
use crate::interaction::{Asked, Interaction};
use crate::limits::Limits;
use crate::sandbox::bindings::{image, tool};
use crate::sandbox::engine::Limiter;
use crate::sandbox::outcome::Outcome;
use crate::sandbox::ports::{Ports, SharedEventSink};
use crate::sandbox::run_end::LimitExceeded;
use crate::sandbox::tape::{Bodies, Counts, Effect, End, Recorder, ReplayStopped, TapeMode, TapeResult};

/// The host state of one run.
pub struct Host {
    wasi: WasiCtx,
    pub(super) table: ResourceTable,
    pub(super) bundle: Arc<[u8]>,
    pub(crate) limiter: Limiter,
    pub(crate) status: Status,
    pub(crate) log: Log,
    pub(super) log_messages: LogMessages,
    pub(crate) content: ContentCollector,
    pub(crate) cpu: Cpu,
    pub(crate) times: Times,
    /// Whether the tool was called and received its documents.
    pub(crate) is_called: bool,
    /// Host calls. [`WasiView::ctx`] and `HostCall` count them.
    host_calls: u64,
    pub(super) random: Random,
    pub(super) environment: Environment,
    pub(super) recorder: Recorder,
    pub(super) http: Http,
    pub(super) interaction: Interaction,
    pub(crate) asked: Asked,
}

/// The code and settings of one run, as its host needs them.
pub struct HostSettings<'a> {
    pub bundle: Arc<[u8]>,
    pub limits: &'a Limits,
    pub tape_mode: TapeMode,
    pub interaction: Interaction,
}

impl Host {
    pub fn new(settings: HostSettings<'_>, ports: Ports) -> Self {
        let HostSettings { bundle, limits, tape_mode, interaction } = settings;
        let times = Times::start();
        let log = Log::new(limits.stdio_bytes, times.clone());
        let mut wasi = WasiCtxBuilder::new();
        wasi.stdout(log.clone()).stderr(log.clone()).allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles);
        let events = SharedEventSink::from(ports.events);
        let Prepared { environment, seed, is_recorded } = Environment::of(tape_mode);
        Self {
            wasi: wasi.build(),
            table,
            bundle,
            limiter: Limiter::new(limits),
            status: Status::new(limits, events.clone()),
            log,
            log_messages: LogMessages::new(events),
            content: ContentCollector::default(),
            cpu: Cpu::default(),
            times,
            is_called: false,
            host_calls: 0,
            random: Random::new(seed),
            environment,
            recorder: Recorder::new(is_recorded.then_some(seed)),
            http: Http::new(ports.http),
            interaction,
            asked: Asked::default(),
        }
    }

    /// Checks whether the guest may continue.
    ///
    /// # Errors
    /// When the guest exceeded its computing time or its number of host calls.
    pub fn tick(&self, limits: &Limits) -> Result<(), LimitExceeded> {
        if self.host_calls > limits.host_calls {
            return Err(LimitExceeded::HostCalls);
        }
        if self.cpu.read_milliseconds() > limits.cpu_ms { Err(LimitExceeded::Cpu) } else { Ok(()) }
    }

    /// Counts a host call.
    pub(super) const fn count_call(&mut self) -> &mut Self {
        self.host_calls = self.host_calls.saturating_add(1);
        self
    }

    /// Records an effect. In a replay of the same code, the effect must be the next one of the tape.
    pub(super) fn record_effect(&mut self, effect: impl FnOnce(&mut Bodies) -> Effect) -> wasmtime::Result<()> {
        if let Environment::Strict(strict) = &self.environment
            && strict.is_over()
        {
            return Err(ReplayStopped.into());
        }
        self.recorder.push(self.log.bytes(), effect);
        if let Environment::Strict(strict) = &mut self.environment {
            strict.pass(self.recorder.last())?;
        }
        Ok(())
    }

    /// The host interfaces that the guest has used up to now. Effects are counted only when a tape is made.
    pub fn read_usage(&self) -> HostUsage {
        HostUsage { counts: self.recorder.counts(), effects: self.recorder.effects() }
    }

    /// Describes what the guest printed or holds open, if anything.
    pub fn find_leftovers(&self) -> Option<&'static str> {
        if self.log.bytes() > 0 {
            return Some("prints");
        }
        (!self.table.is_empty()).then_some("opens something of the host")
    }

    /// Ends the tape with the outcome of the run, or with the reason why the run was stopped.
    pub fn end_tape(&mut self, outcome: Result<&Outcome, End>) -> TapeResult {
        let log = &self.log;
        self.recorder.end(log.bytes(), || match outcome {
            Ok(outcome) => End::whole(outcome, log.read_text().as_bytes()),
            Err(end) => end,
        })
    }

    /// Resources that the run used and was refused up to now, for a run of this duration.
    pub fn build_ledger(&self, output_bytes: u64, duration: Duration) -> Ledger {
        let (status_events, status_events_refused) = self.status.counts();
        let counts = self.recorder.counts();
        Ledger {
            granted: Granted::default(),
            used: Used {
                clock_reads: counts.wall_reads + counts.monotonic_reads,
                random_bytes: counts.random_bytes,
                status_events,
                log_bytes: self.log.bytes(),
                output_bytes,
                http: Vec::new(),  // the server counts requests
                ..Used::default()  // the server knows the names of variables
            },
            refused: Denied { status_events: status_events_refused, ..Denied::default() },
            cost: self.compute_cost(duration),
        }
    }

    fn compute_cost(&self, duration: Duration) -> Cost {
        let DurationParts { guest, host, waiting } = self.times.compute_parts(duration);
        let microseconds = |part: Duration| u64::try_from(part.as_micros()).unwrap_or(u64::MAX);
        Cost {
            cpu_ms: self.cpu.read_milliseconds(),
            guest_us: microseconds(guest),
            host_us: microseconds(host),
            waiting_us: microseconds(waiting),
            memory_peak_bytes: self.limiter.memory_peak,
        }
    }
}

/// The host interfaces that a guest has used up to some moment.
#[derive(Clone, Copy)]
pub struct HostUsage {
    counts: Counts,
    effects: usize,
}

impl HostUsage {
    /// Describes what the guest has used since `before`, if anything. Some engines read clocks themselves, so that
    /// clock readings count only with `counts_clocks`.
    pub fn describe_since(self, before: Self, counts_clocks: bool) -> Option<&'static str> {
        let Counts { wall_reads, monotonic_reads, random_bytes, .. } = self.counts.since(before.counts);
        if random_bytes > 0 {
            return Some("takes random bytes");
        }
        if counts_clocks && wall_reads + monotonic_reads > 0 {
            return Some("looks at the time");
        }
        (self.effects > before.effects).then_some("waits, or sends something")
    }
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let Self { wasi, table, .. } = self.count_call();
        WasiCtxView { ctx: wasi, table }
    }
}

impl tool::lathe::tool::types::Host for Host {}
impl image::lathe::tool::compiler::Host for Host {}
