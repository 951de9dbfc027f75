//! The server as others see it during an attack: its readiness, a call of another organisation, and its memory.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::wire::Sent;

/// Pause between two probes.
const PACE: Duration = Duration::from_millis(50);
/// Probes without any response of success, after which the server counts as gone.
const TRIES_MAX: usize = 2_000;

/// The slowest probes of a kind, and how many were answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Probed {
    pub count: usize,
    pub refused: usize,
    pub slowest: Duration,
}

/// Sends probes until the attack is over and one of them succeeded.
pub fn probe(address: SocketAddr, request: &Sent, is_over: &AtomicBool) -> Probed {
    let mut probed = Probed::default();
    loop {
        let began = Instant::now();
        let returned = request.send(address);
        probed.count += 1;
        probed.refused += usize::from(returned.status != 200);
        probed.slowest = probed.slowest.max(began.elapsed());
        let is_answered = probed.refused < probed.count;
        if is_over.load(Ordering::Relaxed) && (is_answered || probed.count >= TRIES_MAX) {
            return probed;
        }
        std::thread::sleep(PACE);
    }
}

/// The memory of a process, read from `/proc`.
pub struct Memory {
    process: u32,
}

impl Memory {
    pub fn of(process: u32) -> Self {
        Self { process }
    }

    /// Begins to measure the peak anew.
    pub fn forget_peak(&self) {
        // A kernel without this file shows the peak since the start, which is no less.
        let _ = std::fs::write(format!("/proc/{}/clear_refs", self.process), "5");
    }

    /// Bytes at present.
    pub fn now(&self) -> u64 {
        self.read("VmRSS:")
    }

    /// The most bytes since the peak was forgotten.
    pub fn peak(&self) -> u64 {
        self.read("VmHWM:")
    }

    fn read(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process)).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap_or_default();
        kibibytes << 10
    }
}
