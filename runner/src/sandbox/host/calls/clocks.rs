//! The clocks that a tool sees, with a resolution of one millisecond.

use wasmtime::Result;
use wasmtime::component::Resource;
use wasmtime_wasi::clocks::WasiClocksView;
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::clocks::{monotonic_clock, wall_clock};

use crate::sandbox::host::environment::Environment;
use crate::sandbox::host::host_call::HostCall;
use crate::sandbox::host::state::Host;
use crate::sandbox::tape::ReplayStopped;

/// Resolution of both clocks. A finer one would help a guest to measure the caches that it shares with other guests.
const RESOLUTION_NS: u64 = 1_000_000;
const MILLISECONDS: u64 = 1_000;

impl wall_clock::Host for HostCall<'_> {
    fn now(&mut self) -> Result<wall_clock::Datetime> {
        let value = match &mut self.environment {
            Environment::Live(clock) => Some(clock.read_wall()),
            Environment::Strict(strict) => strict.read_wall(),
            Environment::Lenient(lenient) => Some(lenient.read_wall()),
        };
        self.recorder.record_wall(value.unwrap_or_default());
        let value = value.ok_or(ReplayStopped)?;
        let nanoseconds = u32::try_from(value % MILLISECONDS * RESOLUTION_NS)?;
        Ok(wall_clock::Datetime { seconds: value / MILLISECONDS, nanoseconds })
    }

    fn resolution(&mut self) -> Result<wall_clock::Datetime> {
        Ok(wall_clock::Datetime { seconds: 0, nanoseconds: u32::try_from(RESOLUTION_NS)? })
    }
}

impl monotonic_clock::Host for HostCall<'_> {
    fn now(&mut self) -> Result<u64> {
        let value = match &mut self.environment {
            Environment::Live(clock) => Some(clock.read_monotonic()),
            Environment::Strict(strict) => strict.read_monotonic(),
            Environment::Lenient(lenient) => Some(lenient.read_monotonic()),
        };
        self.recorder.record_monotonic(value.unwrap_or_default());
        Ok(value.ok_or(ReplayStopped)?.saturating_mul(RESOLUTION_NS))
    }

    fn resolution(&mut self) -> Result<u64> {
        Ok(RESOLUTION_NS)
    }

    fn subscribe_instant(&mut self, when: u64) -> Result<Resource<DynPollable>> {
        let now = match &self.environment {
            Environment::Live(clock) => clock.read_monotonic().saturating_mul(RESOLUTION_NS),
            Environment::Strict(_) => when,
            Environment::Lenient(lenient) => lenient.nanoseconds(),
        };
        self.subscribe(when.saturating_sub(now))
    }

    fn subscribe_duration(&mut self, duration: u64) -> Result<Resource<DynPollable>> {
        self.subscribe(duration)
    }
}

impl Host {
    /// Creates a timer. A replay answers timers from the tape, so that their real duration is zero.
    fn subscribe(&mut self, nanoseconds: u64) -> Result<Resource<DynPollable>> {
        let real = if matches!(self.environment, Environment::Live(_)) { nanoseconds } else { 0 };
        let pollable = monotonic_clock::Host::subscribe_duration(&mut self.clocks(), real)?;
        if let Environment::Lenient(lenient) = &mut self.environment {
            lenient.set_timer(pollable.rep(), lenient.nanoseconds().saturating_add(nanoseconds));
        }
        Ok(pollable)
    }
}
