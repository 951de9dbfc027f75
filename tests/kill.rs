//! Kills at random instants. Clients publish, push, invoke and change variables; the server is killed and started again
//! on the same data, and a ledger of what was acknowledged is compared with what the server and its database have.
//!
//! `LATHE_KILLS` is the number of kills, `LATHE_KILLS_DATABASE` one of `sqlite` and `postgres`, both by default. A run prints its seed, and `LATHE_KILL_SEED` repeats its actions and instants.
//! The kernel still schedules clients and server differently, so that a failure may take several runs.

mod action;
mod answers;
mod client;
mod damage;
mod database;
mod evidence;
mod faults;
mod findings;
mod interposer;
mod ledger;
mod moments;
mod nodes;
mod proxy;
mod records;
mod repository;
mod run;
mod stage;
mod steps;
mod strike;
mod tally;
mod values;
mod versions;

use fastrand::Rng;

use crate::harness::Options;
use run::{Run, Setting};

/// Kills in a plain test run.
const KILLS: u64 = 5;
const CLIENTS: u64 = 4;
/// Comparisons of the whole ledger in a run. The others compare what came since the one before.
const DEEP_COMPARISONS: u64 = 50;

#[test]
fn kills_lose_and_double_nothing() {
    if std::env::var("LATHE_KILLS_DATABASE").is_ok_and(|database| database != "sqlite") {
        return;
    }
    let kills = number("LATHE_KILLS").unwrap_or(KILLS);
    let seed = number("LATHE_KILL_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("LATHE_KILL_SEED={seed} LATHE_KILLS={kills}");
    let servers = vec![Options::default()];
    let mut run = Run::new(Setting { name: "kills", seed, clients: CLIENTS, servers, is_faulty: false });
    let mut rng = Rng::with_seed(seed);
    let mut cycle = 0;
    while run.tally.count() < kills {
        run.kill(moments::moment(cycle, run.start, &mut rng));
        run.restart();
        run.compare(cycle % kills.div_ceil(DEEP_COMPARISONS) == 0);
        run.settle();
        cycle += 1;
    }
    run.compare(true);
    run.refuses_nothing();
    run.tally.print(&run.entries, &run.findings);
    run.findings.assert_none();
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}")))
}
