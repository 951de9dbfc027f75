//! The host boundary: everything a tool can see enters here.
//!
//! One file per capability.

mod clock;
mod count;
mod cpu;
mod http;
mod log;
mod random;
mod status;
pub(crate) mod variables;

pub use status::Event as StatusDocument;

use std::sync::Arc;

use count::Count;
use registry::{Cost, Denied, Granted, Ledger, Used};
use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use crate::Ports;
use crate::bindings::image::lathe::tool::bundle;
use crate::bindings::tool::lathe::tool;
use crate::limits::{Limiter, Limits};
use crate::stopped::Spent;

/// The most random bytes one call may ask for.
const RANDOM_BYTES_MAX: u64 = 64 << 10;
/// The host's side of one run.
pub struct Host {
    wasi: WasiCtx,
    table: ResourceTable,
    bundle: Arc<[u8]>,
    pub(crate) limiter: Limiter,
    pub(crate) status: status::Status,
    pub(crate) log: log::Log,
    pub(crate) cpu: cpu::Cpu,
    /// Calls of the host, as [`WasiView::ctx`] and the interfaces of our own count them.
    host_calls: u64,
    clock_reads: Count,
    random_bytes: Count,
    http: http::Http,
}

impl Host {
    pub fn new(bundle: Arc<[u8]>, limits: &Limits, ports: Ports) -> Self {
        let log = log::Log::new(limits.stdio_bytes);
        let (clock_reads, random_bytes) = (Count::default(), Count::default());
        let mut wasi = WasiCtxBuilder::new();
        wasi.stdout(log.clone())
            .stderr(log.clone())
            .wall_clock(clock::Wall(clock_reads.clone()))
            .monotonic_clock(clock::Monotonic::start(clock_reads.clone()))
            .secure_random(random::source(random_bytes.clone()))
            .insecure_random(random::source(random_bytes.clone()))
            .max_random_size(RANDOM_BYTES_MAX)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false);
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles);
        Self {
            wasi: wasi.build(),
            table,
            bundle,
            limiter: Limiter::new(limits),
            status: status::Status::new(limits, ports.events),
            log,
            cpu: cpu::Cpu::default(),
            host_calls: 0,
            clock_reads,
            random_bytes,
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

    /// Every function of the host begins here.
    fn called(&mut self) -> &mut Self {
        self.host_calls = self.host_calls.saturating_add(1);
        self
    }

    /// What the run used, was refused and cost, up to now.
    pub fn ledger(&self, output_bytes: u64) -> Ledger {
        let (status_events, status_events_refused) = self.status.counts();
        Ledger {
            granted: Granted::default(),
            used: Used {
                clock_reads: self.clock_reads.get(),
                random_bytes: self.random_bytes.get(),
                status_events,
                log_bytes: self.log.bytes(),
                output_bytes,
                http: Vec::new(), // counted where requests are admitted
            },
            refused: Denied { http_requests: 0, status_events: status_events_refused },
            cost: Cost { cpu_ms: self.cpu.milliseconds(), memory_peak_bytes: self.limiter.memory_peak },
        }
    }
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let Self { wasi, table, .. } = self.called();
        WasiCtxView { ctx: wasi, table }
    }
}

impl bundle::Host for Host {
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
    tool::status::add_to_linker::<_, HasSelf<_>>(&mut linker, Host::called)?;
    tool::http::add_to_linker::<_, HasSelf<_>>(&mut linker, Host::called)?;
    bundle::add_to_linker::<_, HasSelf<_>>(&mut linker, Host::called)?;
    Ok(linker)
}
