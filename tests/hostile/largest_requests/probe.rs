//! The server as others see it during an attack: its readiness, a call of another organisation, its memory and its work.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::wire::Sent;

/// Pause between two probes.
const PACE: Duration = Duration::from_millis(50);
/// Probes without any response of success, after which the server counts as gone.
const TRIES_MAX: usize = 2_000;
/// A process that takes no more ticks of CPU time than this in a period is idle. Probes cost less.
const IDLE_PERIOD: Duration = Duration::from_millis(300);
const IDLE_TICKS_MAX: u64 = 5;
/// Periods after which the next attack begins in any case.
const IDLE_TRIES_MAX: usize = 100;

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

/// The memory and the work of a process, read from `/proc`.
pub struct Load {
    process: u32,
}

impl Load {
    pub fn of(process: u32) -> Self {
        Self { process }
    }

    /// Waits until the process has nothing to do: what a server does for clients that have left belongs to their attack.
    pub fn wait_until_idle(&self) {
        for _ in 0..IDLE_TRIES_MAX {
            let before = self.ticks();
            std::thread::sleep(IDLE_PERIOD);
            if self.ticks() <= before + IDLE_TICKS_MAX {
                return;
            }
        }
    }

    /// Ticks of CPU time, of which a second has a hundred: fields 14 and 15, counted after the name, which may have spaces.
    fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process)).unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
        fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
    }

    /// Begins to measure the peak anew.
    pub fn forget_peak(&self) {
        // A kernel without this file shows the peak since the start, which is no less.
        let _ = std::fs::write(format!("/proc/{}/clear_refs", self.process), "5");
    }

    /// Bytes at present.
    pub fn now(&self) -> u64 {
        self.memory("VmRSS:")
    }

    /// The most bytes since the peak was forgotten.
    pub fn peak(&self) -> u64 {
        self.memory("VmHWM:")
    }

    fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process)).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap_or_default();
        kibibytes << 10
    }
}
