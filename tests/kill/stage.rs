//! What the clients of a run share: the ledger, which servers were killed, and whether the database is away.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::action::Outcome;
use super::ledger::Ledger;

/// Time in which the other servers close what a dead one left, and an outage of the database is over for all. That takes up to
/// 11 s where other processes use the processors; the rest is for slower machines.
pub const TAKEOVER_MAX: Duration = Duration::from_secs(30);
/// Codes of refusals because of work that is still open: of a dead server, or from before an outage of the database.
const OPEN_WORK: [&str; 2] = ["operation_in_progress", "request_in_progress"];
/// The code of a repeated call whose first attempt was cut off with its server.
const INTERRUPTED: &str = "operation_interrupted";
/// Longest call, whatever happens to the database meanwhile. The end of a run is tried for 30 s.
const CALL_MAX: Duration = Duration::from_secs(45);

pub struct Stage {
    pub ledger: Ledger,
    /// Whether files fail on purpose, so that the server may end or refuse work.
    pub is_faulty: bool,
    killed: Vec<AtomicBool>,
    is_over: AtomicBool,
    trouble: Mutex<Trouble>,
    findings: Mutex<Vec<String>>,
}

/// The last disturbances.
#[derive(Default)]
struct Trouble {
    is_away: bool,
    /// The end of the last outage of the database.
    was_away: Option<Instant>,
    /// The last death of a server.
    death: Option<Instant>,
    longest_call: Duration,
}

impl Stage {
    pub fn new(directory: &Path, nodes: usize, is_faulty: bool) -> Self {
        Self {
            ledger: Ledger::create(directory),
            is_faulty,
            killed: (0..nodes).map(|_| AtomicBool::new(false)).collect(),
            is_over: AtomicBool::new(false),
            trouble: Mutex::default(),
            findings: Mutex::default(),
        }
    }

    pub const fn nodes(&self) -> usize {
        self.killed.len()
    }

    /// Whether several servers share the database.
    pub const fn is_shared(&self) -> bool {
        self.nodes() > 1
    }

    pub fn set_killed(&self, node: usize, killed: bool) {
        if killed {
            self.trouble.lock().death = Some(Instant::now());
        }
        self.killed[node].store(killed, Ordering::SeqCst);
    }

    pub fn is_killed(&self, node: usize) -> bool {
        self.killed[node].load(Ordering::SeqCst)
    }

    /// The servers that were not killed.
    pub fn alive(&self) -> Vec<usize> {
        (0..self.nodes()).filter(|node| !self.is_killed(*node)).collect()
    }

    /// Ends the work of the clients.
    pub fn set_over(&self, is_over: bool) {
        self.is_over.store(is_over, Ordering::SeqCst);
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    pub fn set_away(&self, is_away: bool) {
        let mut trouble = self.trouble.lock();
        (trouble.is_away, trouble.was_away) = (is_away, Some(Instant::now()));
    }

    /// Whether the database was away at some time since then.
    pub fn was_away(&self, since: Instant) -> bool {
        let trouble = self.trouble.lock();
        trouble.is_away || trouble.was_away.is_some_and(|end| end > since)
    }

    /// Notes a refusal that no disturbance excuses, and a call that took too long.
    pub fn judge(&self, call: &str, began: Instant, outcome: &Outcome) {
        let time = began.elapsed();
        let mut findings = Vec::new();
        if time > CALL_MAX {
            findings.push(format!("{call} took {time:?}"));
        }
        if !self.is_excused(began, outcome) {
            findings.push(format!("{call} was refused without a reason: {outcome:?}"));
        }
        let mut trouble = self.trouble.lock();
        trouble.longest_call = trouble.longest_call.max(time);
        self.findings.lock().extend(findings);
    }

    pub fn longest_call(&self) -> Duration {
        self.trouble.lock().longest_call
    }

    pub fn take_findings(&self) -> Vec<String> {
        std::mem::take(&mut *self.findings.lock())
    }

    fn is_excused(&self, began: Instant, outcome: &Outcome) -> bool {
        let Outcome::Refused { status, code } = outcome else { return true };
        let lately = began.checked_sub(TAKEOVER_MAX).unwrap_or(began);
        let has_died = self.trouble.lock().death.is_some_and(|at| at > lately);
        match status {
            // The first use of a connection that died meanwhile.
            503 if code == "database_unavailable" => self.was_away(lately),
            503 => self.was_away(began),
            409 if code == INTERRUPTED => true,
            409 => OPEN_WORK.contains(&code.as_str()) && (has_died || self.was_away(lately)),
            _ => false,
        }
    }
}
