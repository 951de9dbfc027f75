//! The host boundary: everything a tool can see enters here.
//!
//! One file per capability.

mod called;
mod clock;
mod cpu;
mod http;
mod log;
mod poll;
mod random;
mod source;
mod status;
mod times;
pub(crate) mod variables;

pub use status::Event as StatusDocument;

use called::{Called, Calls};

use std::sync::Arc;
use std::time::Duration;

use registry::{Cost, Denied, Granted, Ledger, Used};
use wasmtime::Engine;
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::p2::bindings::{clocks, random as rand};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_io::bindings::wasi::io::poll as wasi_poll;

use crate::bindings::image::lathe::tool::bundle;
use crate::bindings::tool::lathe::tool;
use crate::limits::{Limiter, Limits};
use crate::stopped::Spent;
use crate::tape::{Counts, End, Recorder, Taped, Taping};
use crate::{Outcome, Ports};

/// The host's side of one run.
pub struct Host {
    wasi: WasiCtx,
    table: ResourceTable,
    bundle: Arc<[u8]>,
    pub(crate) limiter: Limiter,
    pub(crate) status: status::Status,
    pub(crate) log: log::Log,
    pub(crate) cpu: cpu::Cpu,
    pub(crate) times: times::Times,
    /// Whether the tool was called, and has its documents.
    pub(crate) is_called: bool,
    /// Calls of the host, as [`WasiView::ctx`] and the interfaces of our own count them.
    host_calls: u64,
    random: random::Random,
    source: source::Source,
    recorder: Recorder,
    http: http::Http,
}

impl Host {
    pub fn new(bundle: Arc<[u8]>, limits: &Limits, taping: Taping, ports: Ports) -> Self {
        let times = times::Times::start();
        let log = log::Log::new(limits.stdio_bytes, times.clone());
        let mut wasi = WasiCtxBuilder::new();
        wasi.stdout(log.clone()).stderr(log.clone()).allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles);
        let (source, seed, is_taped) = source::Source::of(taping);
        Self {
            wasi: wasi.build(),
            table,
            bundle,
            limiter: Limiter::new(limits),
            status: status::Status::new(limits, ports.events),
            log,
            cpu: cpu::Cpu::default(),
            times,
            is_called: false,
            host_calls: 0,
            random: random::Random::new(seed),
            source,
            recorder: Recorder::new(is_taped.then_some(seed)),
            http: http::Http::new(ports.http),
        }
    }

    /// Whether the guest may go on.
    ///
    /// # Errors
    /// When its computing time, or its number of calls, is beyond a limit.
    pub fn tick(&self, limits: &Limits) -> Result<(), Spent> {
        if self.host_calls > limits.host_calls {
            return Err(Spent::HostCalls);
        }
        if self.cpu.milliseconds() > limits.cpu_ms { Err(Spent::Cpu) } else { Ok(()) }
    }

    /// One more call.
    fn counted(&mut self) -> &mut Self {
        self.host_calls = self.host_calls.saturating_add(1);
        self
    }

    /// What the guest has had of the world.
    pub fn seen(&self) -> Seen {
        Seen { counts: self.recorder.counts(), effects: self.recorder.effects() }
    }

    /// What of the host the guest still has, or has left behind.
    pub fn keeps_hold(&self) -> Option<&'static str> {
        if self.log.bytes() > 0 {
            return Some("prints");
        }
        (!self.table.is_empty()).then_some("opens something of the host")
    }

    /// Ends the tape, with how the run ended unless it was stopped.
    pub fn end_tape(&mut self, outcome: Result<&Outcome, End>) -> Taped {
        let log = &self.log;
        self.recorder.end(log.bytes(), || match outcome {
            Ok(outcome) => End::whole(outcome, log.text().as_bytes()),
            Err(end) => end,
        })
    }

    /// What the run used, was refused and cost, up to now, given how long it took.
    pub fn ledger(&self, output_bytes: u64, duration: Duration) -> Ledger {
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
                http: Vec::new(),  // counted where requests are admitted
                ..Used::default()  // names are known to the server
            },
            refused: Denied { http_requests: 0, status_events: status_events_refused },
            cost: self.cost(duration),
        }
    }

    fn cost(&self, duration: Duration) -> Cost {
        let times::Parts { guest, host, waiting } = self.times.parts(duration);
        let microseconds = |part: Duration| u64::try_from(part.as_micros()).unwrap_or(u64::MAX);
        Cost {
            cpu_ms: self.cpu.milliseconds(),
            guest_us: microseconds(guest),
            host_us: microseconds(host),
            waiting_us: microseconds(waiting),
            memory_peak_bytes: self.limiter.memory_peak,
        }
    }
}

/// What a guest has had of the world up to some moment, when a tape is made.
#[derive(Clone, Copy)]
pub struct Seen {
    counts: Counts,
    effects: usize,
}

impl Seen {
    /// What it has had since then. Some engines look at the time themselves, so that looks tell nothing.
    pub fn since(self, before: Self, counts_looks: bool) -> Option<&'static str> {
        let Counts { wall_reads, monotonic_reads, random_bytes, .. } = self.counts.since(before.counts);
        if random_bytes > 0 {
            return Some("takes random bytes");
        }
        if counts_looks && wall_reads + monotonic_reads > 0 {
            return Some("looks at the time");
        }
        (self.effects > before.effects).then_some("waits, or sends something")
    }
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let Self { wasi, table, .. } = self.counted();
        WasiCtxView { ctx: wasi, table }
    }
}

impl bundle::Host for Called<'_> {
    async fn load(&mut self) -> Vec<u8> {
        self.bundle.to_vec()
    }
}

impl tool::types::Host for Host {}
impl crate::bindings::image::lathe::tool::compiler::Host for Host {}

/// Links what the worlds import, and nothing else.
pub fn linker(engine: &Engine) -> wasmtime::Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    // What differs from one run to the next is ours, so that a tape can stand in for it.
    linker.allow_shadowing(true);
    wasi_poll::add_to_linker::<_, Calls>(&mut linker, Host::called)?;
    clocks::wall_clock::add_to_linker::<_, Calls>(&mut linker, Host::called)?;
    clocks::monotonic_clock::add_to_linker::<_, Calls>(&mut linker, Host::called)?;
    rand::random::add_to_linker::<_, Calls>(&mut linker, Host::called)?;
    rand::insecure::add_to_linker::<_, Calls>(&mut linker, Host::called)?;
    rand::insecure_seed::add_to_linker::<_, Calls>(&mut linker, Host::called)?;
    linker.allow_shadowing(false);
    tool::status::add_to_linker::<_, Calls>(&mut linker, Host::called)?;
    tool::http::add_to_linker::<_, Calls>(&mut linker, Host::called)?;
    bundle::add_to_linker::<_, Calls>(&mut linker, Host::called)?;
    Ok(linker)
}
