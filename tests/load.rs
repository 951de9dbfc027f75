//! Latency and throughput of calls over HTTP.
//!
//! A plain test run measures each figure for a moment, which tests the measurement itself. `just load` measures each
//! for `LATHE_LOAD_SECONDS`, with the profile `dist`. Figures are printed, and never fail a test.

mod agents;
mod client;
mod figures;
mod peers;
mod run_steps;
mod tasks;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::harness::{Options, Server, Site, Team, Tool, eventually, input};
use crate::hostile::installed::{Installer, Settings};
use client::{Caller, Client};
use figures::Figures;
use peers::Called;

const SECONDS: f64 = 0.1;
const CLIENTS: usize = 32;
/// The tool of `cargo bench -p runner`.
const RUST_TOOL: &[u8] = include_bytes!("../runner/benches/guests/echo.wasm");
/// Tools that do the same as the peers' tool, without status events.
const RUST_EQUAL: &[u8] = include_bytes!("load/peers/tool.wasm");
const PYTHON_EQUAL: &str = "return {'text': tool_input['text'].upper()}";
const PYTHON_TOOL: &str = "send_status_event('working')\nreturn {'text': tool_input['text'].upper()}";
const WAITING_TOOL: &str = "
    from amigo_tool_scaffold.http import fetch
    answer = await fetch(tool_input['url'])
    return str(answer.status)
";
/// Response time of the site that the waiting tool calls.
const WAITING_MS: u64 = 50;
/// Size of a record in the file that is flushed for comparison.
const FLUSHED_BYTES: usize = 4 << 10;
const FLUSHES: usize = 200;

#[test]
fn calls_under_load() {
    let (time, _) = measured();
    let server = Server::private(&reaching_loopback());
    let team = Team::on(&server);
    let rust = Installer::new(&team).install("rust", RUST_TOOL, Settings::default());
    let python = team.tool("python").body(PYTHON_TOOL).published();
    let site = Site::serve();
    let allowed = format!("allowed_hosts = ['{}']", site.address);
    let waiting = team.tool("waiting").body(WAITING_TOOL).manifest(&allowed).published();
    let text = input(&json!({"text": "hello"}));
    let wait = input(&json!({"url": site.url(&format!("/wait/{WAITING_MS}"))}));

    println!("one client, milliseconds");
    let flush = flushes(server.data());
    flush.print("flush of the disk");
    one(time, || Client::get(&server, "/health/live")).print("health, nothing recorded");
    let rust_once = one(time, || calling(&team, &rust, &text, 1));
    rust_once.print("rust tool");
    one(time, || calling(&team, &python, &text, 1)).print("python tool");
    one(time, || calling(&team, &python, &text, 10)).print("python tool, ten inputs");
    let waits = [1, 10].map(|inputs| one(time, || calling(&team, &waiting, &wait, inputs)));
    waits[0].print("python tool that waits 50 ms on HTTP");
    waits[1].print("the same, ten inputs");
    println!("rust tool, beyond one flush: {:.3} ms", rust_once.p50() - flush.p50());
    println!("ten inputs that wait: {:.2} times one", waits[1].p50() / waits[0].p50());

    println!("{CLIENTS} clients, calls a second");
    for (name, client) in [
        ("health, nothing recorded", &(|| Client::get(&server, "/health/live")) as &(dyn Fn() -> Client + Sync)),
        ("rust tool", &|| calling(&team, &rust, &text, 1)),
        ("python tool", &|| calling(&team, &python, &text, 1)),
    ] {
        println!("{name:<40}{:>10.0}", together(time, CLIENTS, client));
    }
    if let Some(folder) = std::env::var_os("LATHE_LOAD_PEERS") {
        let rust = Installer::new(&team).install("rust_equal", RUST_EQUAL, Settings::default());
        let python = team.tool("python_equal").body(PYTHON_EQUAL).published();
        let rust = Called::new("rust tool", || calling(&team, &rust, &text, 1));
        let python = Called::new("python tool", || calling(&team, &python, &text, 1));
        peers::compare(Path::new(&folder), time, vec![rust, python]);
    }
    let cold = cold(&server, calling(&team, &python, &text, 1));
    println!("first call of a python version after a restart: {:.1} ms, second {:.1} ms", cold[0], cold[1]);
}

/// The time of each figure, and whether it is long enough for figures that mean something.
fn measured() -> (Duration, bool) {
    let seconds = std::env::var("LATHE_LOAD_SECONDS").ok();
    let is_long = seconds.is_some();
    let seconds = seconds.map_or(SECONDS, |text| text.parse().expect("LATHE_LOAD_SECONDS is a number"));
    (Duration::from_secs_f64(seconds), is_long)
}

fn reaching_loopback() -> Options {
    let arguments = ["--egress-networks", "127.0.0.0/8"].map(str::to_owned).to_vec();
    Options { arguments, ..Options::default() }
}

fn calling(team: &Team, tool: &Tool<'_>, input: &Value, inputs: usize) -> Client {
    Client::new(team, tool, &json!({"inputs": vec![input; inputs]}))
}

/// Measures a flush of some bytes on the disk that has the records.
fn flushes(data: &Path) -> Figures {
    let mut file = File::create(data.join("flushed")).expect("a file");
    let flush = || {
        let started = Instant::now();
        file.write_all(&[7; FLUSHED_BYTES]).expect("room");
        file.sync_data().expect("a flush");
        started.elapsed()
    };
    std::iter::repeat_with(flush).take(FLUSHES).collect()
}

/// Calls sequentially, at least once, and does not count the first call.
fn one<C: Caller>(time: Duration, client: impl Fn() -> C) -> Figures {
    let mut client = client();
    client.call();
    let end = Instant::now() + time;
    let first = client.call();
    std::iter::once(first).chain(std::iter::from_fn(|| (Instant::now() < end).then(|| client.call()))).collect()
}

/// Returns the calls per second of many concurrent clients.
fn together<C: Caller>(time: Duration, count: usize, client: &(dyn Fn() -> C + Sync)) -> f64 {
    let started = Instant::now();
    let calls: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..count).map(|_| scope.spawn(|| one(time, client).count())).collect();
        clients.into_iter().map(|client| client.join().expect("calls that are answered")).sum()
    });
    calls as f64 / started.elapsed().as_secs_f64()
}

/// Returns the durations of the first two calls after a restart, in milliseconds.
fn cold(server: &Server, client: Client) -> [f64; 2] {
    server.signal(nix::sys::signal::Signal::SIGTERM);
    server.ended();
    let again = server.restarted(|_| {});
    eventually("readiness", || (again.request("GET", "/health/ready").send().status == 200).then_some(()));
    let mut client = client.moved_to(&again);
    [client.call(), client.call()].map(|time| time.as_secs_f64() * 1e3)
}
