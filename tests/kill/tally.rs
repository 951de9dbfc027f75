//! The table at the end of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::action::{Kind, MIX};
use super::findings::Findings;
use super::ledger::{Entries, Entry};

/// Actions by their outcome.
#[derive(Default)]
struct Counts {
    acknowledged: u64,
    refused: u64,
    cut_off: u64,
}

pub struct Tally {
    /// Kills by what was killed.
    kills: BTreeMap<&'static str, u64>,
    pub orphans: usize,
    /// The longest restart, and the number of kills before it.
    longest_restart: (Duration, u64),
    began: Instant,
}

impl Counts {
    fn add(&mut self, entry: &Entry) {
        let settled = u64::from(entry.outcome.is_some());
        // Each attempt but the last was cut off.
        self.cut_off += entry.attempts - settled;
        self.acknowledged += u64::from(entry.is_acknowledged());
        self.refused += settled - u64::from(entry.is_acknowledged());
    }
}

impl Tally {
    pub fn begin() -> Self {
        Self { kills: BTreeMap::new(), orphans: 0, longest_restart: (Duration::ZERO, 0), began: Instant::now() }
    }

    pub fn print(&self, entries: &Entries, findings: &Findings) {
        let mut counts: BTreeMap<Kind, Counts> = BTreeMap::new();
        entries.all.values().for_each(|entry| counts.entry(entry.action.what.kind()).or_default().add(entry));
        let kills: Vec<_> = self.kills.iter().map(|(what, count)| format!("{count} of {what}")).collect();
        println!("{} kills: {}", self.count(), kills.join(", "));
        println!("{:<24}{:>14}{:>10}{:>10}", "actions", "acknowledged", "refused", "cut off");
        for (kind, _) in MIX {
            let Counts { acknowledged, refused, cut_off } = counts.remove(&kind).unwrap_or_default();
            println!("{:<24}{acknowledged:>14}{refused:>10}{cut_off:>10}", name(kind));
        }
        let [lost, doubled, half_published, other] = findings.counts();
        println!("lost {lost}, doubled {doubled}, half-published {half_published}, other faults {other}");
        let (time, kills) = self.longest_restart;
        println!("orphans closed {}, longest restart {} ms, after kill {kills}", self.orphans, time.as_millis());
        println!("{:.2} s for each kill", self.began.elapsed().as_secs_f64() / self.count().max(1) as f64);
    }

    pub fn restarted(&mut self, time: Duration) {
        self.longest_restart = self.longest_restart.max((time, self.count()));
    }

    pub fn killed(&mut self, what: &'static str) {
        *self.kills.entry(what).or_default() += 1;
    }

    pub fn count(&self) -> u64 {
        self.kills.values().sum()
    }
}

const fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Invoke => "invoke",
        Kind::Publish => "publish",
        Kind::Push => "push",
        Kind::Change => "variable, deprecation",
    }
}
