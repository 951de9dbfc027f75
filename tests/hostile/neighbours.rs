//! All hostile tools concurrently, without a pause, beside a well-behaved tool of another organisation.
//!
//! A plain test run takes a few seconds, `just neighbour` longer. `LATHE_NEIGHBOUR_SECONDS` sets the duration.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;
use tokio::time::Instant;

use super::case::Expect;
use super::component::component;
use super::installed::Installer;
use crate::harness::{Options, Server, Team, Tool, input};

/// Duration of the attack. Before it, the neighbour is alone for half as long.
const SECONDS: u64 = 4;
/// Interval between calls of the neighbour: twenty a second.
const PACE: Duration = Duration::from_millis(50);
/// Concurrent calls of the neighbour, fewer than its organisation may have. Beyond it a call waits for another one, and the wait
/// counts.
const OUTSTANDING_MAX: usize = 16;
/// Concurrent calls of the hostile organisation, of ten inputs each: more than it gets permits.
const CALLERS: usize = 8;

#[test]
fn neighbours_of_hostile_tools_are_served() {
    let seconds = std::env::var("LATHE_NEIGHBOUR_SECONDS").ok();
    let seconds = seconds.map_or(SECONDS, |text| text.parse().expect("LATHE_NEIGHBOUR_SECONDS is a number"));
    let server = Server::private(&Options::default());
    let (team, hostile) = (Team::on(&server), Team::on(&server));
    let neighbour = team.tool("neighbour").body("return tool_input['text'].upper()").published();
    let installer = Installer::new(&hostile);
    let mut tools = Vec::new();
    for case in super::cases().into_iter().filter(|case| !matches!(case.expect, Expect::Refused(_))) {
        tools.push((installer.install(&case.name(), &component(case.guest.1), case.settings), case.input()));
    }
    calls(&neighbour, Duration::from_secs(1)); // warm-up
    let idle = calls(&neighbour, Duration::from_secs(seconds) / 2);
    let (over, attacks, refused) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let beside = std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (tools, over, attacks, refused) = (&tools, &over, &attacks, &refused);
            scope.spawn(move || {
                for (tool, hostile) in tools.iter().cycle().skip(caller * tools.len() / CALLERS) {
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    let status = attack(tool, hostile);
                    attacks.fetch_add(u64::from(status == 200), Ordering::Relaxed);
                    refused.fetch_add(u64::from(status != 200), Ordering::Relaxed);
                }
            });
        }
        let beside = calls(&neighbour, Duration::from_secs(seconds));
        over.store(true, Ordering::Relaxed);
        beside
    });
    let (attacks, refused) = (attacks.into_inner(), refused.into_inner());
    println!("{} tools, {attacks} calls of ten inputs in {seconds} s, {refused} refused as too many", tools.len());
    println!("neighbour alone:  {}", figures(&idle));
    println!("neighbour beside: {}", figures(&beside));
    assert!(attacks > 0);
    assert_eq!(server.log_about("panicked"), "");
}

fn attack(tool: &Tool<'_>, hostile: &serde_json::Value) -> u16 {
    let answer = tool.invoke_request(&json!({"inputs": vec![input(hostile); 10]})).send();
    assert!([200, 429].contains(&answer.status), "{answer}");
    answer.status
}

/// Returns the durations of calls made at a steady pace, whether earlier ones have ended or not. All of them succeed.
fn calls(tool: &Tool<'_>, time: Duration) -> Vec<Duration> {
    let count = u32::try_from(time.as_millis() / PACE.as_millis()).expect("a few");
    let (start, times, next) = (Instant::now(), Mutex::new(Vec::new()), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..OUTSTANDING_MAX {
            scope.spawn(|| {
                while let Some(call) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|call| *call < count) {
                    let due = start + PACE * call;
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    assert_eq!(tool.invoke(json!({"text": "hello"})).output(), "HELLO");
                    times.lock().push(due.elapsed());
                }
            });
        }
    });
    let mut times = times.into_inner();
    times.sort_unstable();
    times
}

fn figures(times: &[Duration]) -> String {
    let at = |hundredth: usize| times[(times.len() * hundredth / 100).min(times.len() - 1)].as_secs_f64() * 1_000.0;
    format!("{} calls, p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms", times.len(), at(50), at(99), at(100))
}
