//! Comparison of the HTTP API with other servers that run the same tool, in one run and with one client.
//!
//! They are measured when `LATHE_LOAD_PEERS` names the folder that `peers/install.sh` filled. `just bench-peers` does
//! both.

mod python;
mod server;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::client::{Caller, Client};
use super::{CLIENTS, one, together};
use python::Python;
use server::PeerServer;

/// Rounds in which each server is measured in turn. A printed ratio is the median over the rounds, so that other load
/// on the machine affects both sides of it.
const ROUNDS: usize = 15;
/// Concurrent CPython processes. More of them than cores gain nothing.
const PROCESSES: usize = 2;

/// A server or tool to measure, and the number of clients for its rate.
pub struct Called<'a> {
    name: &'static str,
    clients: usize,
    caller: Box<dyn Fn() -> Box<dyn Caller> + Sync + 'a>,
}

impl<'a> Called<'a> {
    pub fn new<C: Caller + 'static>(name: &'static str, caller: impl Fn() -> C + Sync + 'a) -> Self {
        Self { name, clients: CLIENTS, caller: Box::new(move || Box::new(caller())) }
    }
}

/// Results of the rounds, in order.
struct Measured {
    name: &'static str,
    clients: usize,
    p50s_ms: Vec<f64>,
    rates: Vec<f64>,
}

/// Measures tools and peers, `time` for each of two figures, and prints ratios between them.
pub fn compare(folder: &Path, time: Duration, tools: Vec<Called<'_>>) {
    let tool_count = tools.len();
    let wasmtime = PeerServer::wasmtime(folder);
    let workerd = PeerServer::workerd(folder);
    let python = Python::find();
    let body = json!({"text": "hello"});
    let mut called = tools;
    called.push(Called::new("wasmtime serve", || Client::of_peer(wasmtime.address, &body)));
    called.push(Called::new("workerd", || Client::of_peer(workerd.address, &body)));
    called.push(Called { clients: PROCESSES, ..Called::new("CPython process per call", || python.clone()) });
    for one in &called {
        let answer = (one.caller)().answered().1;
        assert!(answer.contains("HELLO"), "{} is no equal: {answer}", one.name);
    }
    let measured = measure(&called, time / u32::try_from(ROUNDS).expect("few"));
    print(&measured[..tool_count], &measured[tool_count..]);
}

fn measure(called: &[Called<'_>], time: Duration) -> Vec<Measured> {
    let mut figures = vec![(Vec::new(), Vec::new()); called.len()];
    for _ in 0..ROUNDS {
        for (called, (p50s_ms, _)) in called.iter().zip(&mut figures) {
            p50s_ms.push(one(time, &called.caller).p50());
        }
        for (called, (_, rates)) in called.iter().zip(&mut figures) {
            rates.push(together(time, called.clients, &called.caller));
        }
    }
    let both = called.iter().zip(figures);
    both.map(|(&Called { name, clients, .. }, (p50s_ms, rates))| Measured { name, clients, p50s_ms, rates }).collect()
}

/// Returns the first quartile, the median and the third quartile.
fn quarters(figures: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| figures[figures.len() * quarter / 4])
}

fn middle(figures: &[f64]) -> f64 {
    quarters(figures.iter().copied())[1]
}

/// Formats a ratio with its quartiles.
fn ratio(figures: &[f64], others: &[f64]) -> String {
    let [low, middle, high] = quarters(figures.iter().zip(others).map(|(figure, other)| figure / other));
    format!("{middle:.3} ({low:.3} to {high:.3})")
}

fn print(tools: &[Measured], peers: &[Measured]) {
    println!("beside peers: one client, p50 in milliseconds; several clients, calls a second");
    for Measured { name, clients, p50s_ms, rates } in tools.iter().chain(peers) {
        let (p50_ms, rate) = (middle(p50s_ms), middle(rates));
        println!("{name:<40}{p50_ms:>10.3}{clients:>10} clients{rate:>10.0}");
    }
    for tool in tools {
        for peer in peers {
            println!("{}, 1 client: {} x p50 of {}", tool.name, ratio(&tool.p50s_ms, &peer.p50s_ms), peer.name);
        }
        for peer in peers {
            let (ratio, clients) = (ratio(&tool.rates, &peer.rates), peer.clients);
            println!("{}, {} clients: {ratio} x rate of {} ({clients})", tool.name, tool.clients, peer.name);
        }
    }
}

/// The directory of the peers' tools.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("tests").join("load/peers")
}
