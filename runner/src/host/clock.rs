//! The clocks that a tool sees, a millisecond coarse: the world's, or those of a tape.

use std::time::Instant;

use wasmtime::Result;
use wasmtime::component::Resource;
use wasmtime_wasi::clocks::WasiClocksView;
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::clocks::{monotonic_clock, wall_clock};

use super::source::Source;
use crate::tape::Stopped;

/// Finer time would help a guest to time its neighbours' caches.
const RESOLUTION_NS: u64 = 1_000_000;
const MILLISECONDS: u64 = 1_000;

/// The world's time. It starts with the run, so that it tells nothing of the host.
pub struct World {
    started: Instant,
    /// Where the time of day began, in milliseconds since 1970, when it is not the world's own.
    set_to: Option<u64>,
}

impl World {
    #[expect(clippy::disallowed_methods, reason = "this is the boundary that gives guests time")]
    pub fn start() -> Self {
        Self { started: Instant::now(), set_to: None }
    }

    /// From where somebody set the time of day it goes on as fast as the world's.
    pub fn start_at(clock_ms: u64) -> Self {
        Self { set_to: Some(clock_ms), ..Self::start() }
    }

    fn monotonic(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn wall(&self) -> u64 {
        match self.set_to {
            Some(clock_ms) => clock_ms.saturating_add(self.monotonic()),
            None => u64::try_from(registry::Clock::system().now().as_milliseconds()).unwrap_or_default(),
        }
    }
}

impl wall_clock::Host for super::Called<'_> {
    fn now(&mut self) -> Result<wall_clock::Datetime> {
        let value = match &mut self.source {
            Source::World(world) => Some(world.wall()),
            Source::Strict(strict) => strict.wall(),
            Source::Free(free) => Some(free.wall()),
        };
        self.recorder.wall(value.unwrap_or_default());
        let value = value.ok_or(Stopped)?;
        let nanoseconds = u32::try_from(value % MILLISECONDS * RESOLUTION_NS)?;
        Ok(wall_clock::Datetime { seconds: value / MILLISECONDS, nanoseconds })
    }

    fn resolution(&mut self) -> Result<wall_clock::Datetime> {
        Ok(wall_clock::Datetime { seconds: 0, nanoseconds: u32::try_from(RESOLUTION_NS)? })
    }
}

impl monotonic_clock::Host for super::Called<'_> {
    fn now(&mut self) -> Result<u64> {
        let value = match &mut self.source {
            Source::World(world) => Some(world.monotonic()),
            Source::Strict(strict) => strict.monotonic(),
            Source::Free(free) => Some(free.monotonic()),
        };
        self.recorder.monotonic(value.unwrap_or_default());
        Ok(value.ok_or(Stopped)?.saturating_mul(RESOLUTION_NS))
    }

    fn resolution(&mut self) -> Result<u64> {
        Ok(RESOLUTION_NS)
    }

    fn subscribe_instant(&mut self, when: u64) -> Result<Resource<DynPollable>> {
        let now = match &self.source {
            Source::World(world) => world.monotonic().saturating_mul(RESOLUTION_NS),
            Source::Strict(_) => when,
            Source::Free(free) => free.nanoseconds(),
        };
        self.subscribe(when.saturating_sub(now))
    }

    fn subscribe_duration(&mut self, duration: u64) -> Result<Resource<DynPollable>> {
        self.subscribe(duration)
    }
}

impl super::Host {
    /// In a replay nobody ever waits for it.
    fn subscribe(&mut self, nanoseconds: u64) -> Result<Resource<DynPollable>> {
        let real = if matches!(self.source, Source::World(_)) { nanoseconds } else { 0 };
        let pollable = monotonic_clock::Host::subscribe_duration(&mut self.clocks(), real)?;
        if let Source::Free(free) = &mut self.source {
            free.timer(pollable.rep(), free.nanoseconds().saturating_add(nanoseconds));
        }
        Ok(pollable)
    }
}
