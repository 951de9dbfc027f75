//! Three nodes behind nginx with the configuration of `deploy/`: a restart of one node after the other under load.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nix::sys::signal::Signal;
use serde_json::json;
use tempfile::TempDir;

use crate::harness::{Answer, Nodes, Options, Request, Team, eventually, free_port, input, needs};

const CONFIGURATION: &str = include_str!("../../deploy/nginx.conf");
const CLIENTS: usize = 4;

/// nginx with the nodes as its upstream servers.
struct Proxy {
    child: Child,
    url: String,
    _folder: TempDir,
}

impl Proxy {
    /// `None` without nginx.
    #[track_caller]
    fn before(nodes: &Nodes) -> Option<Self> {
        let program = needs::NGINX.require(program())?;
        let (folder, port) = (TempDir::new().expect("a folder"), free_port());
        let mut text = CONFIGURATION.replace("listen 8080;", &format!("listen 127.0.0.1:{port};"));
        for (number, server) in (1..).zip(&nodes.servers) {
            text = text.replace(&format!("node-{number}:8080"), &server.address().to_string());
        }
        text = text.replace("/run/nginx.pid", &format!("{}/pid", folder.path().display()));
        assert!(!text.contains("node-"), "the configuration has other nodes: {text}");
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, text).expect("a configuration");
        let mut command = Command::new(program);
        command.args(["-e", "stderr", "-g", "daemon off;", "-p"]).arg(folder.path()).arg("-c").arg(file);
        let child = command.stdin(Stdio::null()).spawn().expect("nginx starts");
        let proxy = Self { child, url: format!("http://127.0.0.1:{port}"), _folder: folder };
        eventually("the start of nginx", || proxy.get("/health/live").ok());
        Some(proxy)
    }

    fn get(&self, path: &str) -> Result<(), ()> {
        let answer = Request::to(&self.url, "GET", path).try_send().map_err(|_| ())?;
        if answer.status == 200 { Ok(()) } else { Err(()) }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg("-QUIT").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

fn program() -> Option<PathBuf> {
    ["/usr/sbin/nginx", "/usr/bin/nginx"].map(PathBuf::from).into_iter().find(|path| path.exists())
}

/// Calls the tool through the proxy until `stop`, each time with an idempotency key. A call that no server answered is
/// repeated, as clients do: nginx does not know whether a server has begun it. Returns the answers that were not 200.
fn call(proxy: &Proxy, team: &Team, path: &str, load: &Load) -> Vec<String> {
    let mut refused = Vec::new();
    while !load.stop.load(Ordering::Relaxed) {
        let key = format!("call-{}", load.calls.fetch_add(1, Ordering::Relaxed));
        let ask = || {
            let request = Request::to(&proxy.url, "POST", path).bearer(&team.token).header("idempotency-key", &key);
            request.json(&json!({"inputs": [input(&json!({}))]})).try_send_by_proxy()
        };
        let answer = eventually("an answer", || {
            let answer = ask().filter(|answer| !is_ending(answer));
            load.repeated.fetch_add(usize::from(answer.is_none()), Ordering::Relaxed);
            answer
        });
        if answer.status != 200 {
            refused.push(format!("{}: {}", answer.status, String::from_utf8_lossy(&answer.body)));
        }
    }
    refused
}

/// Whether the server that answered is about to end, and did not begin the call.
fn is_ending(answer: &Answer) -> bool {
    answer.status == 503 && answer.code() == "shutting_down"
}

/// What the clients share.
#[derive(Default)]
struct Load {
    stop: AtomicBool,
    calls: AtomicUsize,
    repeated: AtomicUsize,
}

#[test]
fn a_rolling_restart_under_load_loses_no_call() {
    let options = Options { arguments: vec!["--connections-per-address".into(), "1000".into()], ..Options::default() };
    let Some(mut nodes) = Nodes::start_with(3, &options) else { return };
    let team = nodes.team();
    let tool = team.tool("greet").body("return 'hello'").published();
    let path = format!("/v1/{}/tool/{}/version/%3E%3D0/invoke", team.organization, tool.id());
    let Some(proxy) = Proxy::before(&nodes) else { return };
    let load = Load::default();
    let refused: Vec<String> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| call(&proxy, &team, &path, &load))).collect();
        for node in 0..3 {
            let before = load.calls.load(Ordering::Relaxed);
            eventually("calls", || (load.calls.load(Ordering::Relaxed) > before + 20).then_some(()));
            restart(&mut nodes, node);
        }
        load.stop.store(true, Ordering::Relaxed);
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    });
    let number = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    println!("{} calls, {} of them repeated, {} refused", number(&load.calls), number(&load.repeated), refused.len());
    assert!(refused.is_empty(), "{refused:#?}");
}

/// Stops a node, which finishes its work, and starts it again on its address.
fn restart(nodes: &mut Nodes, node: usize) {
    let server = nodes.servers[node].clone();
    server.signal(Signal::SIGTERM);
    assert!(server.ended().success());
    let listen = server.address().to_string();
    nodes.servers[node] = server.restarted(|options| options.listen = Some(listen));
    let ready: &Arc<_> = &nodes.servers[node];
    eventually("readiness", || (ready.request("GET", "/health/ready").send().status == 200).then_some(()));
}
