//! Failing calls of the server on its data, under the work of all clients: a full disk, a bad disk, no descriptors.

use std::time::Duration;

use fastrand::Rng;
use nix::errno::Errno;

use super::interposer::{Fault, Interposer, OPEN, SYNC, WRITE};
use super::run::{Run, Setting};

/// The calls that fail, and their errors.
const FAULTS: [(&str, u64, Errno); 5] = [
    ("write", WRITE, Errno::ENOSPC),
    ("write", WRITE, Errno::EIO),
    ("fsync", SYNC, Errno::EIO),
    ("fsync", SYNC, Errno::ENOSPC),
    ("open", OPEN, Errno::EMFILE),
];
/// The number of the call that fails, and how many fail from there on.
const CALLS: [(u64, u64); 3] = [(1, 1), (4, 20), (23, 1)];
/// Further ones for a long run.
const MORE_CALLS: [(u64, u64); 8] = [(2, 1), (3, 5), (5, 1), (8, 100), (13, 1), (40, 3), (60, 1), (90, 50)];
/// Kills of a long run.
const LONG_RUN: u64 = 100;
const WORK: Duration = Duration::from_millis(700);

#[test]
fn failing_calls_lose_and_double_nothing() {
    let seed = super::number("LATHE_KILL_SEED").unwrap_or_else(|| Rng::new().u64(..));
    println!("LATHE_KILL_SEED={seed}");
    let is_long = super::number("LATHE_KILLS").is_some_and(|kills| kills >= LONG_RUN);
    let more = if is_long { &MORE_CALLS[..] } else { &[] };
    let interposer = Interposer::new();
    let setting = Setting { name: "faults", seed, clients: 3, servers: vec![interposer.options()], is_faulty: true };
    let mut run = Run::new(setting);
    let mut failed = 0;
    for (call, kinds, error) in FAULTS {
        for &(first, count) in CALLS.iter().chain(more) {
            let place = fail(&mut run, &interposer, Fault { kinds, first, count, error: Some(error) });
            println!("{error} from {call} {first} on, {count} times: {}", place.as_deref().unwrap_or("no such call"));
            failed += u64::from(place.is_some());
        }
    }
    run.compare(true);
    run.tally.print(&run.entries, &run.findings);
    assert!(failed as usize >= FAULTS.len() * 2, "only {failed} faults happened");
}

/// Works while calls fail, then kills the server. Returns the last call that failed.
fn fail(run: &mut Run, interposer: &Interposer, fault: Fault) -> Option<String> {
    let server = run.servers[0].clone();
    let mut place = None;
    run.work(|killer| {
        interposer.arm(&server, fault);
        std::thread::sleep(WORK);
        place = interposer.disarm();
        // A failure that is over costs no restart.
        killer.is_acknowledged();
        killer.kill_now();
    });
    run.tally.killed("a busy server");
    run.restart();
    run.compare(true);
    run.settle();
    place
}
