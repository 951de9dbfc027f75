//! Fuzzing of the HTTP API: valid requests, damaged at random in their HTTP, in their JSON, or in both.
//!
//! For every request the server answers with a status below 500 or closes the connection, logs no error, and uses no
//! more memory at the end than in the middle. A run prints its seed. `LATHE_ATTACK_SEED` repeats it, and
//! `LATHE_ATTACK_FIRST` and `LATHE_ATTACK_CASES` select a part of it.

mod exchange;
mod http;
mod json;
mod message;
mod requests;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;
use parking_lot::Mutex;
use serde_json::json;

use crate::harness::{Server, Team};
use message::Message;

/// Cases in a plain test run.
const CASES: u64 = 10_000;
/// Concurrent clients, more than the server has cores.
const CLIENTS: u64 = 16;
/// Most memory that the second half of the cases may add. The caches of the allocator and the database are full by
/// then.
const GROWTH_KIB_MAX: u64 = 32 * 1024;
/// Texts in the log of a server with an internal error.
const FAULTS: [&str; 3] = ["panicked", "request failed", " ERROR "];

#[test]
fn no_bytes_make_the_server_fail() {
    let seed = number("LATHE_ATTACK_SEED").unwrap_or_else(|| fastrand::u64(..));
    let first = number("LATHE_ATTACK_FIRST").unwrap_or(0);
    let cases = number("LATHE_ATTACK_CASES").unwrap_or(CASES);
    println!("LATHE_ATTACK_SEED={seed} LATHE_ATTACK_FIRST={first} LATHE_ATTACK_CASES={cases}");
    let server = Server::private(&Default::default());
    let team = Team::on(&server);
    let tool = team.tool("target").body("return str(tool_input)[:200]").published();
    let other = team.joined_by("eve", "auditor");
    // Some requests delete objects of their own organisation. This tool is in another organisation, and must remain.
    let bystander = Team::on(&server);
    let untouched = bystander.tool("untouched").body("return str(tool_input)[:200]").published();
    let requests = requests::proper(&team, &other, tool.id());
    let seen = Mutex::new(BTreeMap::new());
    let run = |cases: Range<u64>| attack(&server, &requests, seed, cases, &seen);

    for message in &requests {
        let answer = exchange::of_proper(server.address(), &message.bytes());
        // Requests to delete name objects that do not exist.
        let expected: &[u8] = if message.method == b"DELETE" { b"HTTP/1.1 404" } else { b"HTTP/1.1 20" };
        assert!(answer.starts_with(expected), "{}\n{}", message.text(), String::from_utf8_lossy(&answer));
    }
    let middle = first + cases / 2;
    run(first..middle);
    let before = resident_kib(&server);
    run(middle..first + cases);
    let after = resident_kib(&server);

    let seen = seen.into_inner();
    println!("{cases} requests: {seen:?}; resident {before} KiB in the middle, {after} KiB at the end");
    assert_eq!(untouched.invoke(json!({"a": 1})).output(), "{'a': 1}");
    let grown = after.saturating_sub(before);
    assert!(grown < GROWTH_KIB_MAX.max(cases / 32), "the second half of the requests left {grown} KiB, seed {seed}");
}

type Seen = Mutex<BTreeMap<String, u64>>;

fn attack(server: &Arc<Server>, requests: &[Message], seed: u64, cases: Range<u64>, seen: &Seen) {
    let next = AtomicU64::new(cases.start);
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while let Some(case) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|case| *case < cases.end) {
                    let status = check(server, requests, seed, case);
                    *seen.lock().entry(status).or_default() += 1;
                }
            });
        }
    });
    for fault in FAULTS {
        let lines = server.log_about(fault);
        assert!(lines.is_empty(), "seed {seed}, a case of {cases:?} left in the log: {lines}");
    }
}

/// The status of the response to a damaged request, which must not be a server error.
fn check(server: &Server, requests: &[Message], seed: u64, case: u64) -> String {
    let mut rng = Rng::with_seed(seed ^ (case + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let request = &requests[rng.usize(..requests.len())];
    let bytes = spoilt(request.clone(), &mut rng);
    let answer = exchange::of(server.address(), &bytes);
    if let Some(wrong) = exchange::wrong(&answer) {
        let (sent, answer) = (message::shown(&bytes), message::shown(&answer));
        panic!("seed {seed}, case {case}: {wrong}\n--- sent\n{sent}\n--- answered\n{answer}");
    }
    exchange::status(&answer)
}

fn spoilt(mut message: Message, rng: &mut Rng) -> Vec<u8> {
    let kind = rng.u8(..10);
    if kind < 7 && !message.body.is_empty() {
        message.body = json::spoilt(&message.body, rng);
    }
    if kind >= 4 {
        (0..rng.usize(1..3)).for_each(|_| http::spoil(&mut message, rng));
    }
    let mut bytes = message.bytes();
    if kind == 9 {
        http::damage(&mut bytes, rng);
    }
    bytes
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}")))
}

fn resident_kib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process_id())).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
