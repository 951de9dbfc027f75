//! Three nodes behind nginx with the configuration of `deploy/`: a restart of one node after the other under load.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nix::sys::signal::Signal;
use serde_json::json;

use crate::harness::{Nodes, Options, Proxy, Request, Team, eventually, input};

const CLIENTS: usize = 4;

/// Calls the tool through the proxy until the end of the load, each time once. Returns the calls that failed.
fn call(proxy: &Proxy, team: &Team, path: &str, load: &Load) -> Vec<String> {
    let mut failed = Vec::new();
    while !load.stop.load(Ordering::Relaxed) {
        let request = Request::to(&proxy.url, "POST", path).bearer(&team.token);
        let answer = request.json(&json!({"inputs": [input(&json!({}))]})).try_send_by_proxy();
        load.calls.fetch_add(1, Ordering::Relaxed);
        match answer {
            None => failed.push("no server answered".to_owned()),
            Some(answer) if answer.status == 200 => {}
            Some(answer) => failed.push(answer.to_string()),
        }
    }
    failed
}

/// What the clients share.
#[derive(Default)]
struct Load {
    stop: AtomicBool,
    calls: AtomicUsize,
}

impl Load {
    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

/// The nodes announce their end for as long as in production, which is longer than nginx keeps idle connections to them.
#[test]
fn a_rolling_restart_under_load_drops_no_call() {
    let arguments = ["--connections-per-address", "1000", "--drain-delay-seconds", "5"].map(str::to_owned).to_vec();
    let Some(mut nodes) = Nodes::start_with(3, &Options { arguments, ..Options::default() }) else { return };
    let team = nodes.team();
    let tool = team.tool("greet").body("return 'hello'").published();
    let path = format!("/v1/{}/tool/{}/version/%3E%3D0/invoke", team.organization, tool.id());
    let Some(proxy) = Proxy::before(&nodes) else { return };
    let load = Load::default();
    let failed: Vec<String> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| call(&proxy, &team, &path, &load))).collect();
        for node in 0..3 {
            let before = load.calls();
            eventually("calls", || (load.calls() > before + 20).then_some(()));
            restart(&mut nodes, node);
        }
        load.stop.store(true, Ordering::Relaxed);
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    });
    println!("{} calls during the restart of three nodes, {} of them failed", load.calls(), failed.len());
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Stops a node, which finishes its work, and starts it again on its address.
fn restart(nodes: &mut Nodes, node: usize) {
    let server = nodes.servers[node].clone();
    server.signal(Signal::SIGTERM);
    let announced = || match server.request("GET", "/health/ready").try_send() {
        Ok(answer) => (answer.status == 503).then(|| answer.code()),
        Err(error) => Some(format!("the end came first: {error}")),
    };
    assert_eq!(eventually("the announcement", announced), "shutting_down");
    assert!(server.ended().success());
    let listen = server.address().to_string();
    nodes.servers[node] = server.restarted(|options| options.listen = Some(listen));
    let ready = &nodes.servers[node];
    eventually("readiness", || (ready.request("GET", "/health/ready").send().status == 200).then_some(()));
}
